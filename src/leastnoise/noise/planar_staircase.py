"""The staircase in the plane: noise for two answers at once. It is no law on the line."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.exact import Number, rational
from leastnoise.exact.series import exact_power, power_sums
from leastnoise.noise.base import Stairs


@dataclass(frozen=True, init=False, repr=False)
class PlanarStaircase(Stairs):
    """The two-dimensional staircase of Geng, Kairouz, Oh and Viswanath (2015).

    ‖x‖ is |x₁| + |x₂|. Between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is
    a·bⁿ⁺¹. It never rises with ‖x‖ and falls by b over Δ, so by the triangle inequality a move by
    ‖d‖ ≤ Δ changes it by a factor of at most 1/b: (ε, 0)-private for e^ε ≥ 1/b, whatever γ is.

    The density falls by a(1−b)bⁿ at the edge of the diamond ‖x‖ < (n+γ)Δ. A diamond of radius r has
    the area 2r², over which ‖x‖ adds up to 4r³/3. With S_k = Σ bⁿ(n+γ)ᵏ over n ≥ 0:

    ============ ======================
    a            1 / 2Δ²(1−b)S₂
    E‖X‖         (2/3)·Δ·S₃/S₂
    ============ ======================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls. 0 and 1 are the same law.
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
        size = abs(rational(x, "x")) + abs(rational(y, "y"))
        periods, part = divmod(size / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))
