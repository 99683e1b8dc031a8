"""The mechanisms that the paper cites, with their costs, and the limit of truncated Laplace noise.

All costs are at Δ = 1. docs/theory/cited-systems.md explains the table and proves the limit.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from leastnoise import plots
from leastnoise.accounting import Profile
from leastnoise.core.exact import as_float, logarithm, power
from leastnoise.core.noise import DiscreteSteps, Gaussian, Run, Staircase
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Mechanism, calibrate, calibrate_pair
from leastnoise.paper import numbers
from leastnoise.plots import Look

if TYPE_CHECKING:
    from altair.typing import ChartType

# The guarantee at which mechanisms are compared, and its parts for those that use one parameter.
COMMON = Privacy("0.5", "0.01")
PURE = Privacy("0.5")
ADDITIVE = Privacy(delta="0.01")

_HALF = Fraction(1, 2)
_MOST_COINS = 2000


@dataclass(frozen=True)
class CitedMechanism:
    """A mechanism that the paper cites, with the call that returns its cost.

    Attributes:
        name: The mechanism.
        source: The publication, with the number of its result where leastnoise relies on one.
        privacy: The guarantee that the mechanism satisfies: (0.5, 0.01), or only its ε or its δ.
        call: A Python expression for the expected cost, with the cost function ``cost``.
        amplitude: E|X| at Δ = 1, rounded up; for two answers, of both together.
        power: E X² at Δ = 1, rounded up; None if the source is about E|X| only.
        answers: "real", "integer" or "two real".
    """

    name: str
    source: str
    privacy: Privacy
    call: str
    amplitude: Fraction
    power: Fraction | None
    answers: str = "real"


def cited_mechanisms() -> list[CitedMechanism]:
    """Return every mechanism that the paper cites, with its cost at ε = 0.5 and δ = 0.01.

    A mechanism at δ = 0 or ε = 0 uses only one of the two parameters. Its guarantee is stronger.

    >>> gaussian = cited_mechanisms()[3]
    >>> gaussian.source, f"{float(gaussian.amplitude):.4f}"
    ('Balle and Wang 2018, Theorem 8', '2.5109')
    """
    staircase = "Geng and Viswanath 2016, The Optimal Noise-Adding Mechanism"
    discrete = "Geng and Viswanath 2016, Optimal Noise Adding Mechanisms for Approximate DP"
    return [
        _make_family_row("optimal (0, δ) noise", "GDGK19, Theorems 2 and 3", ADDITIVE, "uniform"),
        _make_family_row(
            "Laplace", "Dwork, McSherry, Nissim and Smith 2006, Theorem 1", PURE, "laplace"
        ),
        _make_family_row(
            "Gaussian, classic", "Dwork and Roth 2014, Theorem A.1", COMMON, "classic_gaussian"
        ),
        _make_family_row(
            "Gaussian, analytic", "Balle and Wang 2018, Theorem 8", COMMON, "gaussian"
        ),
        _make_row(
            "Gaussian, σ = Δ/2δ",
            "Balle and Wang 2018, Theorem 2",
            ADDITIVE,
            "ln.Mechanism.from_noise(ln.noise.Gaussian(50), ln.Privacy(delta='0.01'), "
            "sensitivity=1, cost=cost).cost",
            lambda cost: _verify_cost(Gaussian(50), ADDITIVE, cost),
        ),
        _make_family_row("staircase", staircase, PURE, "staircase"),
        CitedMechanism(
            "staircase in the plane",
            "Geng, Kairouz, Oh and Viswanath 2015",
            PURE,
            "calibrate_pair(ln.Privacy('0.5'), sensitivity=1).cost",
            calibrate_pair(PURE, sensitivity=1).cost,
            None,
            "two real",
        ),
        _make_row(
            "concentrated around 0 (d = Δ/4)",
            "Soria-Comas and Domingo-Ferrer 2013",
            PURE,
            "ln.Mechanism.from_noise(paper.concentrated_noise('0.5'), ln.Privacy('0.5'), "
            "sensitivity=1, cost=cost).cost",
            lambda cost: _verify_cost(concentrated_noise("0.5"), PURE, cost),
        ),
        _make_family_row(
            "geometric",
            "Ghosh, Roughgarden and Sundararajan 2009 and 2012, Theorem 1.2",
            PURE,
            "geometric",
            integer=True,
        ),
        _make_family_row(
            "geometric, for minimax users",
            "Gupte and Sundararajan 2010",
            PURE,
            "geometric",
            integer=True,
        ),
        _make_family_row("discrete uniform", discrete, ADDITIVE, "uniform", integer=True),
        _make_family_row("discrete (ε, δ) noise", discrete, COMMON, "canonical", integer=True),
        _make_family_row(
            "truncated Laplace",
            "Geng, Ding, Guo and Kumar 2020, Theorem 1",
            COMMON,
            "truncated_laplace",
        ),
        _make_row(
            "Gaussian, by Rényi DP",
            "Mironov 2017, Proposition 3 and Corollary 3",
            COMMON,
            "ln.Mechanism.from_noise(ln.noise.Gaussian(paper.renyi_sigma(ln.Privacy('0.5', "
            "'0.01'))), ln.Privacy('0.5', '0.01'), sensitivity=1, cost=cost).cost",
            lambda cost: _verify_cost(Gaussian(renyi_sigma(COMMON)), COMMON, cost),
        ),
        _make_row(
            "binomial",
            "Agarwal, Suresh, Yu, Kumar and McMahan 2018 (cpSGD)",
            COMMON,
            "paper.binomial_noise(ln.Privacy('0.5', '0.01')).expected(cost)",
            binomial_noise(COMMON).expected,
            answers="integer",
        ),
    ]


def concentrated_noise(epsilon: str) -> Staircase:
    """Return noise of Soria-Comas and Domingo-Ferrer: constant up to d = Δ/4, then in steps of Δ.

    Its levels fall by a factor of at most e^ε. The best d depends on the cost; the staircase of
    Geng and Viswanath has it.
    """
    exact = calibrate(Privacy(epsilon), sensitivity=1).noise
    assert isinstance(exact, Staircase)  # noqa: S101 -- the optimal noise for every ε > 0
    return Staircase(1, Fraction(1, 4), exact.ratio)


def binomial_noise(privacy: Privacy) -> DiscreteSteps:
    """Return Bin(n, 1/2) − n/2 for the smallest even n that satisfies (ε, δ) at Δ = 1.

    cpSGD adds this noise to vectors. Here n follows from the exact δ(ε) for one integer, not from
    the bound for vectors in that paper.

    Args:
        privacy: The guarantee, with δ > 0.

    Raises:
        InvalidParameter: If δ is 0, or more than 2000 coins are necessary.

    >>> binomial_noise(Privacy("0.5", "0.01")).farthest
    21
    """

    def satisfies(half: int) -> bool:
        # An end of the noise reveals the shift, so δ is at least its probability.
        if Fraction(1, 4**half) > privacy.delta:
            return False
        return Profile(_toss(half), sensitivity=1).delta(privacy.epsilon) <= privacy.delta

    # Further coins are noise that is added afterwards, which never raises δ.
    halves = range(1, _MOST_COINS // 2 + 1)
    place = bisect_left(halves, True, key=satisfies)
    if place == len(halves):
        raise InvalidParameter(
            f"privacy must be a guarantee that at most {_MOST_COINS} coins satisfy",
            got=str(privacy),
            fix="Use a larger ε or δ.",
        )
    return _toss(halves[place])


def _toss(half: int) -> DiscreteSteps:
    """Return Bin(n, 1/2) − n/2 for n = 2·half."""
    runs = (Run(i - half, 1, comb(2 * half, i)) for i in range(2 * half + 1))
    return DiscreteSteps(Fraction(1), tuple(runs))


def renyi_sigma(privacy: Privacy) -> Fraction:
    """Return the smallest σ at Δ = 1 for which Rényi DP proves (ε, δ), rounded up.

    Gaussian noise has the Rényi divergence α/2σ² of order α (Mironov 2017, Corollary 3). So it
    satisfies ε = α/2σ² + ln(1/δ)/(α−1) for every α > 1 (Proposition 3). The best α gives
    ε = 1/2σ² + u/σ with u = √(2·ln(1/δ)), that is, σ = (u + √(u² + 2ε))/2ε.

    >>> round(float(renyi_sigma(Privacy("0.5", "0.01"))), 3)
    6.23
    """
    squared = 2 * logarithm(1 / privacy.delta).upper
    roots = power(squared, _HALF).upper + power(squared + 2 * privacy.epsilon, _HALF).upper
    return roots / (2 * privacy.epsilon)


def _make_family_row(
    name: str, source: str, privacy: Privacy, family: str, *, integer: bool = False
) -> CitedMechanism:
    parts = {"": privacy.epsilon, "delta=": privacy.delta}
    arguments = {key: f"'{as_float(number):g}'" for key, number in parts.items() if number}
    if len(arguments) == 2:
        guarantee = f"ln.Privacy({arguments['']}, {arguments['delta=']})"
    else:
        ((key, number),) = arguments.items()
        guarantee = f"ln.Privacy({key}{number})"
    integers = ", integer=True" if integer else ""
    return _make_row(
        name,
        source,
        privacy,
        f"ln.calibrate({guarantee}, sensitivity=1, cost=cost{integers}, family='{family}').cost",
        lambda cost: (
            calibrate(privacy, sensitivity=1, cost=cost, integer=integer, family=family).cost
        ),
        answers="integer" if integer else "real",
    )


def _make_row(
    name: str,
    source: str,
    privacy: Privacy,
    call: str,
    compute: Callable[[Cost], Fraction],
    *,
    answers: str = "real",
) -> CitedMechanism:
    return CitedMechanism(name, source, privacy, call, compute(l1), compute(l2), answers)


def _verify_cost(noise: Gaussian | Staircase, privacy: Privacy, cost: Cost) -> Fraction:
    """Return the expected cost of noise, after verifying its guarantee."""
    return Mechanism.from_noise(noise, privacy, sensitivity=1, cost=cost).cost


# ------------------------------------------------------------------- truncated Laplace noise

# How δ depends on ε on the way to 0.
PATHS: dict[str, Callable[[Fraction], Fraction]] = {
    "δ = √ε": lambda epsilon: power(epsilon, _HALF).upper,
    "δ = ε": lambda epsilon: epsilon,
    "δ = ε²": lambda epsilon: epsilon**2,
}
TRUNCATED_LOOKS = {
    f"{name}, {path}": Look(color, dashed=name == "ℓ2")
    for color, path in enumerate(PATHS)
    for name in ("ℓ1", "ℓ2")
}


def truncated_laplace_ratio(epsilon: Fraction, delta: Fraction, cost: Cost) -> Fraction:
    """Return the cost of truncated Laplace noise over a proved lower bound for noise of any shape.

    >>> float(truncated_laplace_ratio(Fraction(1, 100), Fraction(1, 100), l1)) < 1.0002
    True
    """
    mechanism = calibrate(
        Privacy(epsilon, delta),
        sensitivity=1,
        cost=cost,
        shape="any",
        family="truncated_laplace",
        solve=False,
    )
    return mechanism.cost / mechanism.certificate.lower_bound


def truncated_laplace_ratios() -> list[dict[str, float | str]]:
    """Return the relative excess cost of truncated Laplace noise as ε and δ tend to 0.

    The excess is over a proved lower bound for noise of any shape, along three paths of δ.
    """
    return [
        {
            "ε": as_float(epsilon),
            "δ": as_float(path(epsilon)),
            "value": as_float(truncated_laplace_ratio(epsilon, path(epsilon), cost) - 1),
            "curve": f"{cost_name}, {name}",
        }
        for name, path in PATHS.items()
        for cost, cost_name in ((l1, "ℓ1"), (l2, "ℓ2"))
        for epsilon in (Fraction(1, 4**i) for i in range(2, 11))
    ]


def truncated_laplace_over_staircase(epsilon: Fraction, delta: Fraction, cost: Cost) -> Fraction:
    """Return the cost of truncated Laplace noise over that of the staircase for ε.

    The staircase satisfies (ε, 0), so at a fixed ε a limit above 1 as δ → 0 means that truncated
    Laplace noise is not asymptotically optimal.
    """
    cut = calibrate(Privacy(epsilon, delta), sensitivity=1, cost=cost, family="truncated_laplace")
    return cut.certificate.cost / numbers.staircase_cost(epsilon, cost)


def truncated_laplace_chart() -> "ChartType":
    """Draw the excess cost of truncated Laplace noise as ε and δ tend to 0."""
    return plots.curves(
        truncated_laplace_ratios(),
        TRUNCATED_LOOKS,
        x="ε",
        y="relative excess",
        title="Truncated Laplace noise above a lower bound for all noise",
        log="xy",
        points=True,
    )
