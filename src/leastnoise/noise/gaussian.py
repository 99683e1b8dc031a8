"""Gaussian noise."""

import math
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.exact import (
    Interval,
    Number,
    exactly,
    gamma,
    normal_density,
    normal_quantile,
    normal_tail,
    pi,
    positive,
    power,
)
from leastnoise.noise.smooth import Smooth

_HALF = Fraction(1, 2)


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Smooth):
    """The normal law of standard deviation σ, with no largest size.

    At sensitivity Δ it is (ε, δ)-private just for Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ) ≤ δ (Balle
    and Wang 2018, Theorem 8), at every ε ≥ 0.

    ============ ==========================================
    P(X > x)     Φ(−x/σ)
    E |X|ᵖ       σᵖ·2^(p/2)·Γ((p+1)/2)/√π
    ============ ==========================================

    Args:
        sigma: σ > 0.

    >>> Gaussian(3).variance()
    Fraction(9, 1)
    """

    sigma: Fraction

    def __init__(self, sigma: Number) -> None:
        """Read σ exactly."""
        object.__setattr__(self, "sigma", positive(sigma, "σ"))

    def __repr__(self) -> str:
        """Print the law the way it is written."""
        return f"Gaussian(sigma={exactly(self.sigma)})"

    @property
    def radius(self) -> float:
        """Infinite: there is no largest size."""
        return math.inf

    def scaled(self, factor: Number) -> "Gaussian":
        """Return the law of ``factor`` times this noise, factor > 0."""
        return Gaussian(positive(factor, "factor") * self.sigma)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose φ(size/σ)/σ."""
        return normal_density(size / self.sigma, bits).scaled(1 / self.sigma)

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose Φ(−size/σ)."""
        return normal_tail(size / self.sigma, bits)

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose σ·φ(z) − size·Φ(−z) with z = size/σ."""
        far = size / self.sigma
        more = bits + 8 + 2 * int(far + 1).bit_length()  # of the difference, 1/z² is left
        cut = normal_density(far, more) - normal_tail(far, more).scaled(far)
        return Interval(max(Fraction(0), cut.lower), cut.upper).scaled(self.sigma)

    def moment(self, p: Fraction) -> Interval:
        """Enclose σᵖ·2^(p/2)·Γ((p+1)/2)/√π: exact, 1·3·5…(p−1)·σᵖ, for even p."""
        if p.denominator == 1 and p % 2 == 0:
            odd = math.prod(range(1, int(p), 2))
            return Interval.exact(odd) * power(self.sigma, p)
        root = power(pi().lower, _HALF).lower, power(pi().upper, _HALF).upper
        shape = gamma((p + 1) / 2) * Interval(*root).inverted()
        return shape * power(Fraction(2), p / 2) * power(self.sigma, p)

    def series(self, tail: Fraction, terms: int) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q: with z = Q/σ, the nth derivative is Pₙ(z)·(−1/φ(z))ⁿ.

        P₁ = 1 and Pₙ₊₁ = Pₙ′ + n·z·Pₙ, from dz/dq = −1/φ(z) and φ′ = −zφ. All coefficients of Pₙ
        are positive, and both z and 1/φ(z) fall as the tail grows.
        """
        place = normal_quantile(tail)
        found = [place.scaled(self.sigma)]
        if terms > 1:
            # φ falls: its least value over the enclosure of z is at the upper end.
            steep = Interval(
                1 / normal_density(place.lower).upper, 1 / normal_density(place.upper).lower
            ).shortened(120)
            factor, polynomial = Interval.exact(self.sigma), [1]
            for n in range(1, terms):
                factor = (factor * steep).scaled(Fraction(-1, n)).shortened(120)
                found.append((factor * _at(polynomial, place)).shortened(120))
                polynomial = _following(polynomial, n)
        return tuple(found)

    def crossing(self, move: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose d/2 − εσ²/d."""
        return Interval.exact(move / 2) - epsilon.scaled(self.sigma**2 / move)


def _at(polynomial: list[int], place: Interval) -> Interval:
    """Enclose a polynomial of positive coefficients at a place ≥ 0."""
    ends = [
        sum((c * end**i for i, c in enumerate(polynomial)), Fraction(0))
        for end in (place.lower, place.upper)
    ]
    return Interval(ends[0], ends[1]).shortened(120)


def _following(polynomial: list[int], n: int) -> list[int]:
    """Return P′ + n·z·P, by coefficients."""
    slope = [i * c for i, c in enumerate(polynomial)][1:]
    raised = [0, *(n * c for c in polynomial)]
    return [c + (slope[i] if i < len(slope) else 0) for i, c in enumerate(raised)]
