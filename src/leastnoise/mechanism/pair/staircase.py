"""Staircase noise in the plane, for two answers at once: continuous and discretized."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.core.exact import (
    Number,
    exact_power,
    fixed_power,
    format_exact,
    parse_count,
    parse_rational,
    power_sums,
    quote,
)
from leastnoise.core.noise import Stairs
from leastnoise.errors import InvalidParameter


@dataclass(frozen=True, init=False, repr=False)
class PlanarStaircase(Stairs):
    """The two-dimensional staircase of Geng, Kairouz, Oh and Viswanath (2015).

    ‖x‖ is |x₁| + |x₂|. Between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is
    a·bⁿ⁺¹. It never rises with ‖x‖ and falls by b over Δ, so by the triangle inequality a shift by
    ‖d‖ ≤ Δ changes it by a factor of at most 1/b: (ε, 0)-private for e^ε ≥ 1/b, whatever γ is.

    The density falls by a(1−b)bⁿ at the edge of the diamond ‖x‖ < (n+γ)Δ. A diamond of radius r has
    the area 2r², over which ‖x‖ adds up to 4r³/3. With S_k = Σ bⁿ(n+γ)ᵏ over n ≥ 0:

    ============ ======================
    a            1 / 2Δ²(1−b)S₂
    E‖X‖         (2/3)·Δ·S₃/S₂
    ============ ======================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls. 0 and 1 are the same noise.
        ratio: b, 0 < b < 1, a little above e^−ε.

    >>> PlanarStaircase(period=1, gamma=1, ratio="1/2").cost
    Fraction(26, 9)
    """

    @property
    def height(self) -> Fraction:
        """The density a at 0, or what it would be there where γ is 0."""
        second = power_sums(self.ratio, self.gamma, 2)[2]
        return 1 / (2 * self.period**2 * (1 - self.ratio) * second)

    @property
    def cost(self) -> Fraction:
        """E‖X‖ = E|X₁| + E|X₂|, exactly."""
        _, _, second, third = power_sums(self.ratio, self.gamma, 3)
        return Fraction(2, 3) * self.period * third / second

    def density(self, x: Number, y: Number) -> Fraction:
        """Return the density at (x, y), exactly; that on the outer side where it falls."""
        size = abs(parse_rational(x, "x")) + abs(parse_rational(y, "y"))
        periods, part = divmod(size / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))


# Powers are enclosed to so many binary digits of what they are compared with.
_BITS = 256


@dataclass(frozen=True, repr=False)
class DiscretePlanarStaircase:
    """Weight bᵐ for lattice points at ‖i‖ = mP + r, r < edge, and bᵐ⁺¹ for edge ≤ r < P.

    ‖i‖ = |i₁| + |i₂| counts steps. Private: the weight never rises with ‖i‖, and P steps further
    out it is b times as much; ‖i‖ and ‖i + d‖ differ by at most ‖d‖; so for ‖d‖ ≤ P the weights of
    i and i + d are at most a factor 1/b apart: (ε, 0)-private at P steps for e^ε ≥ 1/b.

    The weight falls by (1−b)bᵐ behind the m-th diamond, that of radius N = mP + edge − 1. A diamond
    of radius N has 2N² + 2N + 1 points. So the noise is a mixture of uniform ones on diamonds, and
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
                f"got {format_exact(self.step)} and {format_exact(self.ratio)}. Give such numbers."
            )
        if parse_count(self.edge, "edge", least=1) > parse_count(self.steps, "steps", least=1):
            raise InvalidParameter(
                "a staircase must fall within its period; "
                f"got {quote(self.edge)} of {quote(self.steps)} steps before the fall. "
                "Give an edge of at most the steps."
            )

    def __repr__(self) -> str:
        """Print the noise by its step, its period and its ratio."""
        return (
            f"DiscretePlanarStaircase(step={format_exact(self.step)}, "
            f"period={format_exact(self.period)}, ratio={format_exact(self.ratio)})"
        )

    @property
    def period(self) -> Fraction:
        """The length of a period."""
        return self.steps * self.step

    @property
    def radius(self) -> float:
        """Infinite: the noise is unbounded."""
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
                f"got a confidence of {format_exact(confidence)}. Give one below 1, such as 0.999."
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
