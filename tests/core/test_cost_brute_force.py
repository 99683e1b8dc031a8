"""The cost of noise that is not Gaussian in an allocation, by brute force on small lattices.

Every shift up to Δ in both directions and many ε: δ(ε) is summed point by point, in 50 digits, and
compared with γ + (1 − γ)·δ_μ(ε). The weights of Laplace noise come from its distribution function
here, those of piecewise constant noise are the integers that are sampled. A smaller cost must fail
the same comparison, unless it is that of any noise with the guarantee.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import leastnoise
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_guarantee, cost_of_noise
from leastnoise.core.noise import Laplace, LatticeNoise, Rounded, TruncatedLaplace
from leastnoise.core.privacy import Privacy

ln: Any = leastnoise
DIGITS = 50
# Points beyond this mass are omitted on each side.
REST = mpmath.mpf(10) ** -25
SLACK = 1000 * REST
PLACES = 50

Distribution = list[mpmath.mpf]


def of_fraction(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def laplace_law(scale: Fraction, step: Fraction, radius: Fraction | None) -> Distribution:
    """P(kg − g/2 < X < kg + g/2) of Laplace noise, cut at ±radius or where it is negligible."""
    b, g = of_fraction(scale), of_fraction(step)
    end = -b * mpmath.log(REST) if radius is None else of_fraction(radius)
    cut = mpmath.exp(-end / b) if radius is not None else mpmath.mpf(0)

    def tail(x: mpmath.mpf) -> mpmath.mpf:
        """P(X > x) for x ≥ 0."""
        return max((mpmath.exp(-x / b) - cut) / (1 - cut) / 2, mpmath.mpf(0))

    last = int(mpmath.ceil(end / g))
    tails = [tail((k + mpmath.mpf(1) / 2) * g) for k in range(last + 1)]
    right = [a - b for a, b in zip(tails, [*tails[1:], mpmath.mpf(0)], strict=True)]
    return [*reversed(right), 1 - 2 * tails[0], *right]


def sampled_law(noise: LatticeNoise) -> Distribution:
    """The probabilities of the integers that are sampled."""
    total, last = noise.total, 0
    while noise.weight(last + 1) and mpmath.mpf(noise.weight(last + 1)) / total > REST:
        last += 1
    return [mpmath.mpf(noise.weight(abs(k))) / total for k in range(-last, last + 1)]


def needed(distribution: Distribution, shift: int, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The largest δ(ε) over all shifts up to one, in both directions."""
    factor = mpmath.exp(epsilon)
    most = mpmath.mpf(0)
    for moved in range(1, shift + 1):
        empty = [mpmath.mpf(0)] * moved
        one, other = [*distribution, *empty], [*empty, *distribution]
        for here, there in ((one, other), (other, one)):
            pairs = zip(here, there, strict=True)
            most = max(most, mpmath.fsum(max(a - factor * b, 0) for a, b in pairs))
    return most


def granted(cost: GaussianCost, epsilon: mpmath.mpf) -> mpmath.mpf:
    """γ + (1 − γ)·δ_μ(ε)."""
    gamma, square = of_fraction(cost.failure), of_fraction(cost.square)
    if not square:
        return gamma
    mu = mpmath.sqrt(square)
    near, far = mpmath.ncdf(mu / 2 - epsilon / mu), mpmath.ncdf(-mu / 2 - epsilon / mu)
    return gamma + (1 - gamma) * (near - mpmath.exp(epsilon) * far)


def places(epsilon: Fraction) -> list[mpmath.mpf]:
    """ε from 0 to beyond the guarantee's, more of them than the proof has pieces."""
    most = of_fraction(max(epsilon, Fraction(1, 10)))
    return [most * k / PLACES * 2 for k in range(PLACES)] + [10 * most, mpmath.mpf(30)]


def of_family(family: str, privacy: Privacy, **details: Any) -> Callable[[], Any]:
    return lambda: ln.calibrate(privacy, family=family, **details)


CALIBRATED: dict[str, tuple[Callable[[], Any], bool]] = {
    # Whether noise with the guarantee (randomized response) can cost as much.
    "geometric": (of_family("geometric", Privacy(1), sensitivity=1, integer=True), True),
    "staircase, Δ = 3": (of_family("staircase", Privacy(1), sensitivity=3, integer=True), True),
    "staircase, ε = 3": (of_family("staircase", Privacy(3), sensitivity=4, integer=True), False),
    "staircase, small ε": (
        of_family("staircase", Privacy("0.5"), sensitivity=2, integer=True),
        False,
    ),
    "uniform": (of_family("uniform", Privacy(0, "0.1"), sensitivity=1, integer=True), True),
    "uniform, Δ = 4": (of_family("uniform", Privacy(0, "0.3"), sensitivity=4, integer=True), True),
    "canonical": (of_family("canonical", Privacy(1, "1e-3"), sensitivity=1, integer=True), True),
    "truncated Laplace": (
        of_family("truncated_laplace", Privacy(1, "1e-3"), sensitivity=2, integer=True),
        False,
    ),
}


@pytest.mark.parametrize(("make", "alike"), CALIBRATED.values(), ids=CALIBRATED)
def test_calibrated_noise_is_within_its_cost(make: Callable[[], Any], alike: bool) -> None:
    mechanism = make()
    noise = mechanism.discretized.noise
    with mpmath.workdps(DIGITS):
        if isinstance(noise, Rounded):
            line: Any = noise.noise
            distribution = laplace_law(line.scale, noise.step, line.radius)
        else:
            distribution = sampled_law(noise)
        check(distribution, int(mechanism.sensitivity), mechanism.privacy, mechanism.gaussian_cost)
    if not alike:
        assert mechanism.gaussian_cost.square < cost_of_guarantee(mechanism.privacy).square


LINES = [
    (Laplace(2), Fraction(1, 4), 5, Fraction(3, 4), "0"),
    (Laplace(2), Fraction(1, 4), 5, Fraction(3, 10), "16/100"),
    (Laplace("1/2"), Fraction(1), 1, Fraction(2), "0"),
    (TruncatedLaplace(1, "17/4"), Fraction(1, 2), 2, Fraction(1), "1/10"),
    (TruncatedLaplace(3, 8), Fraction(1), 3, Fraction(1), "1/15"),
]


@pytest.mark.parametrize(("line", "step", "steps", "epsilon", "delta"), LINES)
def test_rounded_noise_is_within_its_cost(
    line: Any, step: Fraction, steps: int, epsilon: Fraction, delta: str
) -> None:
    """Shifts of several steps of a coarse lattice, under any guarantee that the noise satisfies."""
    noise, privacy = Rounded(step, line), Privacy(epsilon, delta)
    radius = line.radius if isinstance(line, TruncatedLaplace) else None
    with mpmath.workdps(DIGITS):
        distribution = laplace_law(line.scale, step, radius)
        assert (
            needed(distribution, steps, of_fraction(epsilon)) <= of_fraction(privacy.delta) + SLACK
        )
        check(distribution, steps, privacy, cost_of_noise(noise, steps * step, privacy))


def check(distribution: Distribution, shift: int, privacy: Privacy, cost: GaussianCost) -> None:
    """Check that a cost is enough at every ε, and that one that is a tenth smaller is not."""
    assert mpmath.almosteq(mpmath.fsum(distribution), 1, SLACK)
    reached = [(at, needed(distribution, shift, at)) for at in places(privacy.epsilon)]

    def suffices(square: str, failure: str) -> bool:
        less = GaussianCost(cost.square * Fraction(square), cost.failure * Fraction(failure))
        return all(delta <= granted(less, at) + SLACK for at, delta in reached)

    assert suffices("1", "1")
    assert not suffices("0.9", "1" if cost.square else "0.9")
