"""The numbers, tables and curves of the paper at Δ = 1, each recomputed by its own formula."""

from fractions import Fraction
from typing import Any

from leastnoise.core.exact import (
    Number,
    as_float,
    error_function,
    exponential,
    inverse_error_function,
    logarithm,
    pi,
    power,
)
from leastnoise.core.noise import (
    DiscreteUniform,
    Gaussian,
    Laplace,
    Noise,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2
from leastnoise.mechanism import calibrate
from leastnoise.paper.rearrangement import Rearrangement, rearrange
from leastnoise.plots import Look

HALF = Fraction(1, 2)


def least(delta: Fraction, cost: Cost) -> Fraction:
    """Return the minimal cost among symmetric unimodal (0, δ)-private noise (GDGK19, Theorem 3)."""
    return calibrate(Privacy(delta=delta), sensitivity=1, cost=cost).cost


def papers_sigma(delta: Fraction) -> Fraction:
    """Return σ = Δ/2δ, sufficient for (0, δ) (GDGK19, Theorem 6, after Balle and Wang 2018)."""
    return 1 / (2 * delta)


def tight_sigma(delta: Fraction) -> Fraction:
    """Return an upper bound of the smallest σ at which Gaussian noise satisfies (0, δ).

    The total variation distance is 2Φ(Δ/2σ) − 1 = erf(Δ/(2√2·σ)), so σ = Δ/(2√2·erf⁻¹(δ)).
    """
    root = power(Fraction(8), HALF).lower
    return 1 / (root * inverse_error_function(delta).lower)


def classic_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound of σ = (1/ε)·√(2·ln(1.25/δ)) (Dwork and Roth 2014, Theorem A.1)."""
    return power(2 * logarithm(Fraction(5, 4) / delta).upper, HALF).upper / epsilon


def gaussian_distance(sigma: Fraction) -> Fraction:
    """Return an upper bound of the total variation distance of Gaussian noise and a shift by 1."""
    return error_function(1 / (power(Fraction(8), HALF).lower * sigma)).upper


def gaussian_cost(sigma: Fraction, cost: Cost) -> Fraction:
    """Return an upper bound of E|X| = σ√(2/π), or E X² = σ², of Gaussian noise."""
    if cost is l2:
        return sigma**2
    return sigma * power(2 / pi().lower, HALF).upper


def staircase_cost(epsilon: Fraction, cost: Cost) -> Fraction:
    """Return an upper bound of the minimal cost among all ε-private noise.

    It is that of the staircase (Geng and Viswanath 2016).

    ℓ1: e^{ε/2}/(e^ε − 1). ℓ2: (2^{−2/3}·b^{2/3}·(1+b)^{2/3} + b)/(1−b)² with b = e^{−ε}.
    """
    if cost is l1:
        return exponential(epsilon / 2).upper / (exponential(epsilon).lower - 1)
    b = exponential(-epsilon)
    third = Fraction(2, 3)
    roots = power(b.upper * (1 + b.upper) / 2, third).upper
    return (roots + b.upper) / (1 - b.upper) ** 2


def equal_distance(epsilon: Fraction) -> Fraction:
    """Return an upper bound of tanh(ε/2), the total variation distance that ε-privacy allows."""
    grown = exponential(epsilon)
    return (grown.upper - 1) / (grown.lower + 1)


def comb(delta: Number, sensitivity: Number) -> Steps:
    """Return the comb, the optimal noise of any shape for squared errors at large δ.

    It is a counterexample to the paper's footnote 1 (docs/theory/comb.md).

    Args:
        delta: δ of the guarantee (0, δ), at least 0.62653….
        sensitivity: Δ, how much one person can change the true answer.

    Raises:
        InvalidParameter: If an argument is invalid.

    >>> noise = comb("0.9", sensitivity=1)
    >>> noise.is_unimodal, round(float(noise.expected(l2)), 6)
    (False, 0.054441)
    """
    privacy = Privacy(delta=delta)
    noise = calibrate(privacy, sensitivity=sensitivity, cost=l2, family="comb").noise
    assert isinstance(noise, Steps)  # noqa: S101 -- the family has no other noise
    return noise


def f(alpha: Fraction, delta: Fraction, p: int) -> Fraction:
    """Return (1−α)ᵖ⁺¹/(δ−α)ᵖ, to which the cost of P_α is proportional (proof of Theorem 3)."""
    return (1 - alpha) ** (p + 1) / (delta - alpha) ** p


def f_slope(alpha: Fraction, delta: Fraction, p: int) -> Fraction:
    """Return f′(α) = (1−α)ᵖ·(α − (p+1)δ + p)/(δ−α)ᵖ⁺¹, as in the proof of Theorem 3."""
    return (1 - alpha) ** p * (alpha - (p + 1) * delta + p) / (delta - alpha) ** (p + 1)


def discrete_uniform_cost(shift: int, delta: Fraction, cost: Cost) -> Fraction:
    """Return the cost of plain discrete uniform noise for an integer query."""
    reach = -(-(shift / delta - 1) // 2)
    return DiscreteUniform(reach=int(reach)).expected(cost)


def discrete_least(shift: int, delta: Fraction, cost: Cost) -> Fraction:
    """Return the minimal cost among symmetric unimodal noise for an integer query."""
    return calibrate(Privacy(delta=delta), sensitivity=shift, cost=cost, integer=True).cost


def discrete_bound(shift: int, delta: Fraction, cost: Cost) -> Fraction:
    """Return a proved lower bound among noise of any shape for an integer query."""
    mechanism = calibrate(
        Privacy(delta=delta), sensitivity=shift, cost=cost, integer=True, shape="any", solve=False
    )
    return mechanism.certificate.lower_bound


Row = dict[str, Any]
TRUE_GAIN = "gain, true E|X|"
GRID = [Fraction(i, 100) for i in range(1, 100)]


def table(cost: Cost) -> list[Row]:
    """Return Table 1 (ℓ1) or 2 (ℓ2) at a few δ: Gaussian noise, stated and tight, and optimal."""
    chosen = [Fraction(1, 1000), Fraction(1, 100), *(Fraction(i, 10) for i in range(1, 10))]
    return [_compare(delta, cost) for delta in [*chosen, Fraction(99, 100)]]


RATIO_LOOKS = {
    "magnitude, as the paper has it": Look(0, dashed=True),
    "magnitude, σ = Δ/2δ": Look(2),
    "magnitude, tight Gaussian": Look(0),
    "power, as the paper has it": Look(1, dashed=True),
    "power, tight Gaussian": Look(1),
}
CONSISTENCY_LOOKS = {f"Δ = {shift}": Look(i) for i, shift in enumerate(range(2, 9))}
READING_LOOKS = {
    "ℓ1, δ = ε": Look(0, dashed=True),
    "ℓ1, δ = tanh(ε/2)": Look(0),
    "ℓ2, δ = ε": Look(1, dashed=True),
    "ℓ2, δ = tanh(ε/2)": Look(1),
}


def ratios() -> list[Row]:
    """Return the last figure: the optimum over Gaussian noise, by the paper's σ and the tight σ."""
    rows = []
    for cost, name in ((l1, "magnitude"), (l2, "power")):
        for delta in GRID:
            row = _compare(delta, cost)
            for curve, gain in (
                ("as the paper has it", "gain as stated"),
                ("σ = Δ/2δ", TRUE_GAIN),
                ("tight Gaussian", "gain over the tight one"),
            ):
                if gain not in row:
                    continue
                rows.append({"δ": row["δ"], "value": 1 / row[gain], "curve": f"{name}, {curve}"})
    return rows


def consistency() -> list[Row]:
    """Return the relative excess cost of discrete uniform noise over the integer optimum, by δ.

    At δ = 1/n for even n, where no uniform noise fits exactly.
    """
    deltas = sorted({Fraction(1, 2 * round(10 ** (i / 12))) for i in range(61)}, reverse=True)
    return [
        {
            "δ": as_float(delta),
            "value": as_float(
                discrete_uniform_cost(shift, delta, l1) / discrete_least(shift, delta, l1) - 1
            ),
            "curve": f"Δ = {shift}",
        }
        for shift in range(2, 9)
        for delta in deltas
    ]


def readings() -> list[Row]:
    """Return the ratio of minimal costs under ε and under (0, δ), at ε = δ and equal distance."""
    rows = []
    for cost, name in ((l1, "ℓ1"), (l2, "ℓ2")):
        for epsilon in GRID:
            pure = staircase_cost(epsilon, cost)
            for curve, delta in (
                ("δ = ε", epsilon),
                ("δ = tanh(ε/2)", equal_distance(epsilon)),
            ):
                ratio = as_float(pure / least(delta, cost))
                rows.append({"ε": as_float(epsilon), "value": ratio, "curve": f"{name}, {curve}"})
    return rows


def p_alphas() -> dict[str, Uniform]:
    """Return P_α at δ = 0.8, Δ = 1, for three point masses at 0."""
    privacy = Privacy(delta=Fraction(4, 5))
    masses = (Fraction(0), Fraction(3, 10), Fraction(3, 5))
    return {
        f"α = {as_float(a):g}": Uniform.for_privacy(privacy, sensitivity=1, atom=a) for a in masses
    }


def densities() -> dict[str, Gaussian | Laplace | Steps]:
    """Return noise that is not constant on cells of Δ = 1; the last has a point mass at 0."""
    ends = [Fraction(n, 10) for n in (3, 8, 14, 22, 30)]
    heights = [Fraction(n, 800) for n in (180, 132, 84, 48, 39)]
    breaks = [*(-x for x in reversed(ends)), *ends]
    steps = Steps(breaks, [*reversed(heights), *heights[1:]], {0: Fraction(2, 5)})
    return {"Gaussian": Gaussian(1), "Laplace": Laplace(1), "steps": steps}


def proof() -> Rearrangement:
    """Return the proof of Theorem 2 for noise in steps, at δ = 0.6, Δ = 3, ℓ2."""
    heights = [Fraction(h, 40) for h in (1, 2, 3, 6, 8, 8, 6, 3, 2, 1)]
    staircase = Steps(range(-5, 6), heights)
    return rearrange(staircase, Privacy(delta=Fraction(3, 5)), sensitivity=3, cost=l2, cells=3)


def smooth_proofs() -> dict[str, Rearrangement]:
    """Return the proof of Theorem 2 for noise with other densities, at δ = 0.5, Δ = 1, ℓ2."""
    start: dict[str, Noise] = {
        "Laplace": Laplace(1),
        "Gaussian": Gaussian(1),
        "truncated Laplace": TruncatedLaplace(1, 3),
        "staircase": Staircase(1, Fraction(1, 3), HALF),
    }
    privacy = Privacy(delta=HALF)
    return {
        name: rearrange(noise, privacy, sensitivity=1, cost=l2, cells=8)
        for name, noise in start.items()
    }


def _compare(delta: Fraction, cost: Cost) -> Row:
    """Return the costs and gains at one δ.

    The paper takes σ = Δ/2δ for E|X|, so a row of ℓ1 also has the true E|X| of that noise. E X² is
    σ², as in the paper.
    """
    stated = papers_sigma(delta) ** (1 if cost is l1 else 2)
    tight = gaussian_cost(tight_sigma(delta), cost)
    best = least(delta, cost)
    wide = gaussian_cost(papers_sigma(delta), cost)
    columns = {
        "Gaussian as stated": stated,
        "Gaussian, true E|X|": wide,
        "tight Gaussian": tight,
        "optimum": best,
        "gain as stated": stated / best,
        TRUE_GAIN: wide / best,
        "gain over the tight one": tight / best,
    }
    if cost is not l1:
        del columns["Gaussian, true E|X|"], columns[TRUE_GAIN]
    return {"δ": as_float(delta), **{name: as_float(number) for name, number in columns.items()}}
