"""``Contender``: a row of a comparison, which is noise of one family with its cost and errors."""

import math
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.calibration import Problem
from leastnoise.core.exact import as_float, format_ratio
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import Noise, Smooth
from leastnoise.deprecation import RenamedAttribute
from leastnoise.mechanism import Mechanism, farthest, half_width, revealing_probability
from leastnoise.planning.closed_forms import discretize_shared
from leastnoise.planning.numeric_query import DEFAULT_CONFIDENCE

CERTIFIED = "certified"
STORED = {CERTIFIED: "least"}  # what files call it, as up to 0.5.0


@dataclass(frozen=True, slots=True)
class Contender:
    """Noise of one family that satisfies the guarantee of a comparison: a row of its table.

    Attributes:
        family: The name of the family; ``"certified"`` for the noise that :func:`calibrate` finds
            without a family.
        noise: The noise distribution of the theorem: continuous, or on the integers.
        cost: The expected cost of one answer: exact, or a proved upper bound.
        ratio: The cost divided by the lower bound; ``math.inf`` if the bound is 0.
        radius: The maximum error of the discretized noise, rounding included; ``math.inf`` if the
            noise is unbounded.
        half_width: The error that 95% of releases stay within, rounding included.
        infinity_mass: The largest probability of an output that is impossible for a neighbor
            (:attr:`leastnoise.Profile.infinity_mass` of the discretized noise).
        exact_probability: The probability of an exact release
            (:attr:`leastnoise.Mechanism.exact_probability`).
        mechanism: The mechanism of each release; None for Gaussian noise that several releases
            share, because one of them does not satisfy a stated part of the total guarantee.
    """

    family: str
    noise: Noise
    cost: Fraction
    ratio: Fraction | float
    radius: Fraction | float
    half_width: Fraction
    infinity_mass: Fraction
    exact_probability: Fraction
    mechanism: Mechanism | None
    impossible = RenamedAttribute[Fraction]("infinity_mass")

    @classmethod
    def of(cls, family: str, mechanism: Mechanism, bound: Fraction) -> "Contender":
        """Return the row of a mechanism."""
        return cls(
            family=family,
            noise=mechanism.noise,
            cost=mechanism.cost,
            ratio=_times(mechanism.cost, bound),
            radius=farthest(mechanism),
            half_width=half_width(mechanism, DEFAULT_CONFIDENCE),
            infinity_mass=revealing_probability(mechanism),
            exact_probability=mechanism.exact_probability,
            mechanism=mechanism,
        )

    @classmethod
    def shared(cls, family: str, noise: Smooth, problem: Problem, bound: Fraction) -> "Contender":
        """Return the row of Gaussian noise that several releases share."""
        discretized = discretize_shared(noise, problem.sensitivity, integer=problem.integer)
        ideal = discretized if problem.integer else noise
        cost = ideal.expected(problem.cost)
        rounding = rounding_error(discretized.step, integer=problem.integer)
        return cls(
            family=family,
            noise=ideal,
            cost=cost,
            ratio=_times(cost, bound),
            radius=math.inf,
            half_width=discretized.half_width_in_steps(DEFAULT_CONFIDENCE) * discretized.step
            + rounding,
            infinity_mass=Fraction(0),  # the noise is unbounded
            exact_probability=discretized.weight(0) if problem.integer else Fraction(0),
            mechanism=None,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the row for JSON, with exact numbers as strings and the cost as a float too."""
        return {
            "family": STORED.get(self.family, self.family),
            "noise": repr(self.noise),
            "cost": format_ratio(self.cost),
            "cost_float": as_float(self.cost) if math.isfinite(as_float(self.cost)) else None,
            "ratio": None if isinstance(self.ratio, float) else format_ratio(self.ratio),
            "radius": None if isinstance(self.radius, float) else format_ratio(self.radius),
            "half_width_95": format_ratio(self.half_width),
            "impossible": format_ratio(self.infinity_mass),
            "exact_probability": format_ratio(self.exact_probability),
        }


def _times(cost: Fraction, bound: Fraction) -> Fraction | float:
    if bound > 0:
        return cost / bound
    return Fraction(1) if cost <= bound else math.inf
