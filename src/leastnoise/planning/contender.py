"""One noise of a comparison: what it costs and what it tells."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.calibration import Question, smooth_on_lattice
from leastnoise.exact import as_float, ratio
from leastnoise.mechanism import Mechanism
from leastnoise.mechanism.answer import farthest, half_width
from leastnoise.mechanism.words import proving
from leastnoise.noise import Noise, Rounded, Smooth

USUAL = Fraction(19, 20)


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
    def shared(cls, family: str, noise: Smooth, asked: Question, bound: Fraction) -> "Contender":
        """Return a Gaussian noise that several releases share, each moved by Δ.

        It is drawn on the lattice of Δ: rounded there, each answer moves by whole steps, and the
        noise is stretched as much as that move is longer than Δ.
        """
        law: Noise = noise
        if asked.integer:
            law = drawn = Rounded(Fraction(1), noise)
        else:
            drawn = smooth_on_lattice(noise, asked.sensitivity)
        cost = law.expected(asked.cost)
        rounding = Fraction(0) if asked.integer else drawn.step / 2
        return cls(
            family=family,
            noise=law,
            cost=cost,
            ratio=_times(cost, bound),
            radius=math.inf,
            half_width=drawn.within(USUAL) * drawn.step + rounding,
            impossible=Fraction(0),  # it has no largest size
            exact_probability=drawn.weight(0) if asked.integer else Fraction(0),
            mechanism=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: exact numbers as texts, and the cost as a float beside."""
        return {
            "family": self.family,
            "noise": repr(self.noise),
            "cost": ratio(self.cost),
            "cost_float": as_float(self.cost) if math.isfinite(as_float(self.cost)) else None,
            "ratio": None if isinstance(self.ratio, float) else ratio(self.ratio),
            "radius": None if isinstance(self.radius, float) else ratio(self.radius),
            "half_width_95": ratio(self.half_width),
            "impossible": ratio(self.impossible),
            "exact_probability": ratio(self.exact_probability),
        }


def _times(cost: Fraction, bound: Fraction) -> Fraction | float:
    if bound > 0:
        return cost / bound
    return Fraction(1) if cost <= bound else math.inf
