"""Gaussian noise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import (
    Interval,
    Number,
    gamma,
    normal_density,
    normal_quantile_series,
    normal_tail,
    parse_positive,
    pi,
    power,
)
from leastnoise.core.noise.kinds import Smooth

_HALF = Fraction(1, 2)
# Up to this exponent even moments are computed as the product they are.
_LARGEST_EXACT = 1 << 10


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Smooth):
    """The normal distribution of standard deviation σ, which is unbounded.

    At sensitivity Δ it is (ε, δ)-private exactly for Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ) ≤ δ,
    at every ε ≥ 0 (Balle and Wang 2018, Theorem 8).

    ============ ==========================================
    P(X > x)     Φ(−x/σ)
    E |X|ᵖ       σᵖ·2^(p/2)·Γ((p+1)/2)/√π
    ============ ==========================================

    Args:
        sigma: σ > 0, the standard deviation.

    >>> Gaussian(3).variance()
    Fraction(9, 1)
    """

    sigma: Fraction

    stored: ClassVar = {"sigma": "rational"}
    radius = math.inf  # the noise is unbounded

    def __init__(self, sigma: Number) -> None:
        object.__setattr__(self, "sigma", parse_positive(sigma, "sigma"))

    def scaled(self, factor: Number) -> "Gaussian":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        return Gaussian(parse_positive(factor, "factor") * self.sigma)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose φ(size/σ)/σ."""
        return normal_density(size / self.sigma, bits).scaled(1 / self.sigma)

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose Φ(−size/σ)."""
        return normal_tail(size / self.sigma, bits)

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose σ·φ(z) − size·Φ(−z) with z = size/σ."""
        far = size / self.sigma
        more = bits + 8 + 2 * int(far + 1).bit_length()  # the difference is smaller by 1/z²
        cut = normal_density(far, more) - normal_tail(far, more).scaled(far)
        return Interval(max(Fraction(0), cut.lower), cut.upper).scaled(self.sigma)

    def moment(self, p: Fraction) -> Interval:
        """Enclose σᵖ·2^(p/2)·Γ((p+1)/2)/√π: exact, 1·3·5…(p−1)·σᵖ, for even p."""
        if p.denominator == 1 and p % 2 == 0 and p <= _LARGEST_EXACT:
            odd = math.prod(range(1, int(p), 2))
            return Interval.exact(odd) * power(self.sigma, p)
        root = power(pi().lower, _HALF).lower, power(pi().upper, _HALF).upper
        shape = gamma((p + 1) / 2) * Interval(*root).inverted()
        return shape * power(Fraction(2), p / 2) * power(self.sigma, p)

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q: with z = Q/σ, the nth derivative is Pₙ(z)·(−1/φ(z))ⁿ.

        All coefficients of the polynomials Pₙ (:func:`normal_quantile_series`) are positive, and
        both z and 1/φ(z) fall as the tail grows.
        """
        return normal_quantile_series(tail, terms, self.sigma, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval:
        """Enclose d/2 − εσ²/d."""
        return Interval.exact(shift / 2) - epsilon.scaled(self.sigma**2 / shift)
