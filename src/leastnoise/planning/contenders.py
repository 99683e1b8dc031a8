"""A noise of a comparison: what it costs, how far its errors reach, and its cells in the table."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from leastnoise.calibration import Problem
from leastnoise.core.exact import as_float, format_ratio, format_rounded
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import Noise, Rounded, Smooth
from leastnoise.mechanism import Mechanism, farthest, half_width, proving
from leastnoise.planning.wanted import USUAL


@dataclass(frozen=True, slots=True)
class Contender:
    """A noise that keeps the promise of a comparison.

    Attributes:
        family: Its name: ``"least"`` for what calibrate finds without one.
        noise: The law as its theorem has it, on the line or on the integers.
        cost: The expected cost of one answer: exact or a proved upper bound.
        ratio: How many times the lower bound that is; ``math.inf`` where the bound is 0.
        radius: No error of what is drawn is larger, rounding included; ``math.inf`` where there
            is no largest.
        half_width: 95 % of what is drawn stays within this, rounding included.
        impossible: With this probability, at the most, an output proves outright that the true
            answer is not a neighbour's (:attr:`leastnoise.Profile.impossible`, as drawn).
        exact_probability: With this probability the exact value leaves
            (:attr:`leastnoise.Mechanism.exact_probability`).
        mechanism: What releases each answer; None for Gaussian noise that several releases share,
            for it keeps the promise of all of them and none of its own is stated.
    """

    family: str
    noise: Noise
    cost: Fraction
    ratio: Fraction | float
    radius: Fraction | float
    half_width: Fraction
    impossible: Fraction
    exact_probability: Fraction
    mechanism: Mechanism | None

    @classmethod
    def of(cls, family: str, mechanism: Mechanism, bound: Fraction) -> "Contender":
        """Ask a mechanism for all that is compared."""
        return cls(
            family=family,
            noise=mechanism.noise,
            cost=mechanism.cost,
            ratio=_times(mechanism.cost, bound),
            radius=farthest(mechanism),
            half_width=half_width(mechanism, USUAL),
            impossible=proving(mechanism),
            exact_probability=mechanism.exact_probability,
            mechanism=mechanism,
        )

    @classmethod
    def shared(cls, family: str, noise: Smooth, problem: Problem, bound: Fraction) -> "Contender":
        """Return a Gaussian noise that several releases share, each moved by Δ.

        It is drawn on the lattice of Δ: rounded there, each answer moves by whole steps, and the
        noise is stretched as much as that move is longer than Δ.
        """
        law: Noise = noise
        if problem.integer:
            law = drawn = Rounded(Fraction(1), noise)
        else:
            drawn = noise.discretize(problem.sensitivity)
        cost = law.expected(problem.cost)
        rounding = rounding_error(drawn.step, integer=problem.integer)
        return cls(
            family=family,
            noise=law,
            cost=cost,
            ratio=_times(cost, bound),
            radius=math.inf,
            half_width=drawn.within(USUAL) * drawn.step + rounding,
            impossible=Fraction(0),  # it has no largest size
            exact_probability=drawn.weight(0) if problem.integer else Fraction(0),
            mechanism=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: exact numbers as texts, and the cost as a float beside."""
        return {
            "family": self.family,
            "noise": repr(self.noise),
            "cost": format_ratio(self.cost),
            "cost_float": as_float(self.cost) if math.isfinite(as_float(self.cost)) else None,
            "ratio": None if isinstance(self.ratio, float) else format_ratio(self.ratio),
            "radius": None if isinstance(self.radius, float) else format_ratio(self.radius),
            "half_width_95": format_ratio(self.half_width),
            "impossible": format_ratio(self.impossible),
            "exact_probability": format_ratio(self.exact_probability),
        }


def _times(cost: Fraction, bound: Fraction) -> Fraction | float:
    if bound > 0:
        return cost / bound
    return Fraction(1) if cost <= bound else math.inf


# The columns of the table, and what stands in each.
COLUMNS = {
    "noise": "",
    "cost": "expected cost of one answer",
    "× bound": "how many times the lower bound",
    "95 % within": "95 % of the errors are no larger",
    "all within": "no error is larger",
    "proves": "probability of an output that proves which neighbour it was",
    "exact": "probability that the exact value leaves",
}
_NEVER = "–"
# More than the enclosures of irrational costs are wide: what is no further above the bound is 1.
_ROUNDING = Fraction(1, 1 << 60)


def cells_of(row: Contender) -> list[str]:
    """Return the row's cells, costs and errors rounded up."""
    radius, times = row.radius, row.ratio
    return [
        row.family,
        _up(row.cost, 6),
        _NEVER if isinstance(times, float) else _up(max(times - _ROUNDING, Fraction(1)), 5),
        f"± {_up(row.half_width, 4)}",
        _NEVER if isinstance(radius, float) else f"± {_up(radius, 6)}",
        _up(row.impossible, 3),
        _up(row.exact_probability, 3),
    ]


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
