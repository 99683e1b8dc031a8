"""A planar staircase on the lattice of whole steps in both directions: what is drawn."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.errors import InvalidParameter
from leastnoise.exact import count, described, exactly
from leastnoise.exact.series import exact_power, fixed_power, power_sums

# Powers are enclosed to so many binary digits of what they are compared with.
_BITS = 256


@dataclass(frozen=True, repr=False)
class DiscretePlanarStaircase:
    """Weight bᵐ for lattice points at ‖i‖ = mP + r, r < edge, and bᵐ⁺¹ for edge ≤ r < P.

    ‖i‖ = |i₁| + |i₂| counts steps. Private: the weight never rises with ‖i‖, and P steps further
    out it is b times as much; ‖i‖ and ‖i + d‖ differ by at most ‖d‖; so for ‖d‖ ≤ P the weights of
    i and i + d are at most a factor 1/b apart: (ε, 0)-private at P steps for e^ε ≥ 1/b.

    The weight falls by (1−b)bᵐ behind the m-th diamond, that of radius N = mP + edge − 1. A diamond
    of radius N has 2N² + 2N + 1 points. So the law is a mixture of uniform ones on diamonds, and
    with h = N + 1/2 = P(m + s), s = (edge − 1/2)/P, its sums are those of :func:`power_sums`: a
    diamond's points are 2h² + 1/2, and their ‖i‖ add up to (4h³ − h)/3.

    Attributes:
        step: The length of a step.
        ratio: b.
        steps: The period P, in steps.
        edge: How many distances of each period come before the fall, 1 ≤ edge ≤ P.

    >>> DiscretePlanarStaircase(Fraction(1), Fraction(1, 2), steps=1, edge=1).probability(0, 0)
    Fraction(1, 9)
    """

    step: Fraction
    ratio: Fraction
    steps: int
    edge: int

    def __post_init__(self) -> None:
        """Check that the weights make a staircase that never rises."""
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "a staircase needs a step above 0 and a ratio between 0 and 1; "
                f"got {exactly(self.step)} and {exactly(self.ratio)}. Give such numbers."
            )
        if count(self.edge, "edge", least=1) > count(self.steps, "steps", least=1):
            raise InvalidParameter(
                "a staircase must fall within its period; "
                f"got {described(self.edge)} of {described(self.steps)} steps before the fall. "
                "Give an edge of at most the steps."
            )

    def __repr__(self) -> str:
        """Print the law by its step, its period and its ratio."""
        return (
            f"DiscretePlanarStaircase(step={exactly(self.step)}, "
            f"period={exactly(self.period)}, ratio={exactly(self.ratio)})"
        )

    @property
    def period(self) -> Fraction:
        """The length of a period."""
        return self.steps * self.step

    @property
    def radius(self) -> float:
        """Infinite: there is no largest size."""
        return math.inf

    @cached_property
    def total(self) -> Fraction:
        """All weights together."""
        return self._diamonds(0)

    @cached_property
    def cost(self) -> Fraction:
        """E‖X‖, exactly, in the unit of ``step``."""
        _, first, _, third = power_sums(self.ratio, self._shift, 3)
        sizes = (4 * self.steps**3 * third - self.steps * first) / 3
        return self.step * (1 - self.ratio) * sizes / self.total

    def weight(self, distance: int) -> Fraction:
        """Return the weight of each single point at ‖i‖ = distance ≥ 0."""
        periods, place = divmod(distance, self.steps)
        return exact_power(self.ratio, periods + (place >= self.edge))

    def probability(self, i: int, j: int) -> Fraction:
        """Return the probability of the lattice point (i, j), exactly."""
        return self.weight(abs(i) + abs(j)) / self.total

    def within(self, confidence: Fraction) -> int:
        """Return the smallest distance r, in steps, for which P(‖X‖ ≤ r) ≥ confidence is proved.

        Powers are enclosed to so many digits that no smaller r would do, unless what lies beyond it
        is 1 − confidence to within one part in 2²⁵⁶.
        """
        if confidence >= 1:
            raise InvalidParameter(
                "noise without a largest size stays within no bound for certain; "
                f"got a confidence of {exactly(confidence)}. Give one below 1, such as 0.999."
            )
        allowed, low, high = (1 - confidence) * self.total, -1, 1
        bits = _BITS + int(1 / allowed).bit_length()
        while self._beyond(high, bits) > allowed:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self._beyond(middle, bits) > allowed:
                low = middle
            else:
                high = middle
        return high

    @property
    def _shift(self) -> Fraction:
        return Fraction(2 * self.edge - 1, 2 * self.steps)

    def _diamonds(self, first: int) -> Fraction:
        """Return (1−b)·Σ bⁿ·points of diamond first + n, over n ≥ 0."""
        zeroth, _, second = power_sums(self.ratio, first + self._shift, 2)
        return (1 - self.ratio) * (2 * self.steps**2 * second + zeroth / 2)

    def _beyond(self, distance: int, bits: int) -> Fraction:
        """Return the weight of all points with ‖i‖ > distance, less than 2^−bits too high.

        Of each diamond that reaches further, the points that do.
        """
        first = max(0, (distance - self.edge + 1) // self.steps + 1)
        left = self._diamonds(first) - (2 * distance * (distance + 1) + 1)
        fine = bits + 2 * first.bit_length() + int(left).bit_length() + 8
        return left * Fraction(fixed_power(self.ratio, first, fine)[1], 1 << fine)
