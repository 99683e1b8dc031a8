"""The paper's tables and curves as rows of numbers: the data behind every picture and CSV."""

from fractions import Fraction
from typing import Any

from leastnoise.costs import Cost, l1, l2
from leastnoise.exact import as_float
from leastnoise.noise import Steps, Uniform
from leastnoise.paper import numbers
from leastnoise.plots import Look
from leastnoise.privacy import Privacy
from leastnoise.rearrangement import Rearrangement, rearrange

Row = dict[str, Any]
GRID = [Fraction(i, 100) for i in range(1, 100)]


def table(cost: Cost) -> list[Row]:
    """Return Table 1 (ℓ1) or 2 (ℓ2) at a few δ: the Gaussian, stated and tight, and the optimum."""
    chosen = [Fraction(1, 1000), Fraction(1, 100), *(Fraction(i, 10) for i in range(1, 10))]
    return [_compared(delta, cost) for delta in [*chosen, Fraction(99, 100)]]


RATIO_LOOKS = {
    "magnitude, as the paper has it": Look(0, dashed=True),
    "magnitude, tight Gaussian": Look(0),
    "power, as the paper has it": Look(1, dashed=True),
    "power, tight Gaussian": Look(1),
}
CONSISTENCY_LOOKS = {f"Δ = {moved}": Look(i) for i, moved in enumerate(range(2, 9))}
READING_LOOKS = {
    "ℓ1, δ = ε": Look(0, dashed=True),
    "ℓ1, δ = tanh(ε/2)": Look(0),
    "ℓ2, δ = ε": Look(1, dashed=True),
    "ℓ2, δ = tanh(ε/2)": Look(1),
}


def ratios() -> list[Row]:
    """Return the last figure: the optimum over the Gaussian, by the paper's σ and the tight one."""
    rows = []
    for cost, name in ((l1, "magnitude"), (l2, "power")):
        for delta in GRID:
            row = _compared(delta, cost)
            for curve, gain in (
                ("as the paper has it", "gain as stated"),
                ("tight Gaussian", "gain over the tight one"),
            ):
                rows.append({"δ": row["δ"], "value": 1 / row[gain], "curve": f"{name}, {curve}"})
    return rows


def consistency() -> list[Row]:
    """Return by how much discrete uniform noise costs more than the integer optimum, against δ.

    At δ = 1/n for even n, where no uniform noise fits exactly.
    """
    deltas = sorted({Fraction(1, 2 * round(10 ** (i / 12))) for i in range(61)}, reverse=True)
    return [
        {
            "δ": as_float(delta),
            "value": as_float(
                numbers.discrete_uniform_cost(moved, delta, l1)
                / numbers.discrete_least(moved, delta, l1)
                - 1
            ),
            "curve": f"Δ = {moved}",
        }
        for moved in range(2, 9)
        for delta in deltas
    ]


def readings() -> list[Row]:
    """Return ε-privacy's least cost over (0, δ)'s, at ε = δ and at equal distance."""
    rows = []
    for cost, name in ((l1, "ℓ1"), (l2, "ℓ2")):
        for epsilon in GRID:
            pure = numbers.staircase_cost(epsilon, cost)
            for curve, delta in (
                ("δ = ε", epsilon),
                ("δ = tanh(ε/2)", numbers.equal_distance(epsilon)),
            ):
                ratio = as_float(pure / numbers.least(delta, cost))
                rows.append({"ε": as_float(epsilon), "value": ratio, "curve": f"{name}, {curve}"})
    return rows


def p_alphas() -> dict[str, Uniform]:
    """Return P_α at δ = 0.8, Δ = 1, for three masses at the origin."""
    delta = Fraction(4, 5)
    masses = (Fraction(0), Fraction(2, 5), Fraction(3, 5))
    return {f"α = {as_float(a):g}": Uniform((1 - a) / (2 * (delta - a)), a) for a in masses}


def proof() -> Rearrangement:
    """Return Theorem 2's proof from a staircase-shaped noise, at δ = 0.6, Δ = 3, ℓ2."""
    heights = [Fraction(h, 40) for h in (1, 2, 3, 6, 8, 8, 6, 3, 2, 1)]
    staircase = Steps(range(-5, 6), heights)
    return rearrange(staircase, Privacy(delta=Fraction(3, 5)), sensitivity=3, cost=l2, cells=3)


def _compared(delta: Fraction, cost: Cost) -> Row:
    stated = numbers.papers_sigma(delta) ** (1 if cost is l1 else 2)
    tight = numbers.gaussian_cost(numbers.tight_sigma(delta), cost)
    best = numbers.least(delta, cost)
    return {
        "δ": as_float(delta),
        "Gaussian as stated": as_float(stated),
        "tight Gaussian": as_float(tight),
        "optimum": as_float(best),
        "gain as stated": as_float(stated / best),
        "gain over the tight one": as_float(tight / best),
    }
