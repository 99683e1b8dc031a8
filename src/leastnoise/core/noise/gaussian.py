"""Gaussian noise, unbounded and truncated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, overload

from leastnoise.core.exact import (
    Interval,
    Number,
    exponential,
    format_exact,
    gamma,
    inverse_error_function,
    logarithm,
    lower_gamma,
    normal_density,
    normal_quantile_series,
    normal_tail,
    parse_positive,
    pi,
    power,
    truncated_normal_density,
    truncated_normal_quantile_series,
    truncated_normal_tail,
    truncated_normal_tail_area,
)
from leastnoise.core.noise.base import outside, read_guarantee
from leastnoise.core.noise.kinds import PARAMETER_BITS, Smooth, widen
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import InvalidParameter

_HALF = Fraction(1, 2)
# Up to this exponent, even moments are exact products.
_LARGEST_EXACT = 1 << 10
# A radius of more standard deviations would only truncate unreachable values.
_WIDEST = 600
# Newton's method ends if δ(σ) is this close to δ, relative to δ or 1 − δ, or after _STEPS steps.
_CLOSE = Fraction(1, 1 << 60)
_STEPS = 200


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Smooth):
    """The normal distribution of standard deviation σ, which is unbounded.

    At sensitivity Δ and ε ≥ 0 it satisfies (ε, δ) exactly if
    Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ) ≤ δ (Balle and Wang 2018, Theorem 8). Construct it by σ,
    or by ε, δ and Δ (:meth:`for_privacy`).

    ============ ==========================================
    P(X > x)     Φ(−x/σ)
    E |X|ᵖ       σᵖ·2^(p/2)·Γ((p+1)/2)/√π
    ============ ==========================================

    Args:
        sigma: σ > 0, the standard deviation.
        epsilon: ε of a guarantee. Default: 0.
        delta: δ > 0 of a guarantee.
        sensitivity: Δ, with a guarantee.

    Raises:
        InvalidParameter: If an argument is invalid, or σ and a guarantee are both given.

    >>> Gaussian(3).variance()
    Fraction(9, 1)
    >>> round(Gaussian(epsilon=1, delta="1e-6", sensitivity=1).std(), 6)
    4.224679
    """

    sigma: Fraction

    stored: ClassVar = {"sigma": "rational"}
    radius = math.inf  # the noise is unbounded

    @overload
    def __init__(self, sigma: Number) -> None: ...

    @overload
    def __init__(self, *, epsilon: Number = ..., delta: Number, sensitivity: Number) -> None: ...

    def __init__(self, sigma: Number | None = None, **guarantee: Number | None) -> None:
        if sigma is None or guarantee:
            sigma = _find_sigma_of_guarantee(sigma, guarantee)
        object.__setattr__(self, "sigma", parse_positive(sigma, "sigma"))

    @classmethod
    def for_privacy(cls, privacy: Privacy, *, sensitivity: Number) -> "Gaussian":
        """Return Gaussian noise of the smallest σ for (ε, δ), rounded up slightly.

        Balle and Wang 2018, Theorem 8. At ε = 0 the smallest σ is Δ / 2Φ⁻¹((1+δ)/2).

        Args:
            privacy: The guarantee, with δ > 0.
            sensitivity: Δ, how much one person can change the true answer.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> round(Gaussian.for_privacy(Privacy(1, "1e-6"), sensitivity=1).std(), 6)
        4.224679
        """
        delta = as_privacy(privacy, "Privacy(1, '1e-6')").delta
        exact = parse_positive(sensitivity, "sensitivity")
        if not delta:
            raise outside("Gaussian noise", "δ > 0", privacy)
        if privacy.epsilon:
            return widen(Gaussian, _find_sigma(privacy) * exact, privacy, exact)
        wide = power(Fraction(8), _HALF).lower * inverse_error_function(delta).lower
        return widen(Gaussian, exact / wide, privacy, exact)

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
        return _standard_moment(p) * power(self.sigma, p)

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q: with z = Q/σ, the nth derivative is Pₙ(z)·(−1/φ(z))ⁿ.

        No coefficient of the polynomials Pₙ (:func:`normal_quantile_series`) is negative, and both
        z and 1/φ(z) fall as the tail grows.
        """
        return normal_quantile_series(tail, terms, self.sigma, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval:
        """Enclose d/2 − εσ²/d."""
        return Interval.exact(shift / 2) - epsilon.scaled(self.sigma**2 / shift)


@dataclass(frozen=True, init=False, repr=False)
class TruncatedGaussian(Smooth):
    """The normal distribution of standard deviation σ, conditioned on |X| ≤ A.

    At every shift d ≤ Δ it is within (μ, γ) for μ = Δ/σ and γ = P(X < Δ − A): with probability γ
    the shift is revealed, and otherwise the outputs are at most as different as two normal
    distributions a distance of μ apart (docs/theory/many-answers.md). No smaller γ suffices.

    ============ ==================================================
    t            Φ(−A/σ)
    P(X > x)     (Φ(−x/σ) − t) / (1 − 2t), for 0 ≤ x ≤ A
    E |X|ᵖ       σᵖ·2^(p/2)·γ((p+1)/2, A²/2σ²) / √π·(1 − 2t)
    ============ ==================================================

    Args:
        sigma: σ > 0, the standard deviation before truncation.
        radius: A > 0, the maximum size.

    >>> TruncatedGaussian(1, 2).support()
    (-2.0, 2.0)
    """

    sigma: Fraction
    width: Fraction

    stored: ClassVar = {"sigma": "rational", "radius": "rational"}

    def __init__(self, sigma: Number, radius: Number) -> None:
        object.__setattr__(self, "sigma", parse_positive(sigma, "sigma"))
        object.__setattr__(self, "width", parse_positive(radius, "radius"))
        if self.width > _WIDEST * self.sigma:
            raise InvalidParameter(
                f"radius must be at most {_WIDEST} times sigma",
                got=f"radius {format_exact(self.width)} and sigma {format_exact(self.sigma)}",
                fix="Use Gaussian(sigma).",
            )

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise, A."""
        return self.width

    def scaled(self, factor: Number) -> "TruncatedGaussian":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        by = parse_positive(factor, "factor")
        return TruncatedGaussian(by * self.sigma, by * self.width)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose φ(size/σ)/σ(1 − 2t)."""
        if size > self.width:
            return Interval.exact(0)
        density = truncated_normal_density(size / self.sigma, self._cut, bits)
        return density.scaled(1 / self.sigma)

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose (Φ(−size/σ) − t)/(1 − 2t)."""
        if size >= self.width:
            return Interval.exact(0)
        return truncated_normal_tail(size / self.sigma, self._cut, bits)

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the integral of the tail from ``size`` to A."""
        if size >= self.width:
            return Interval.exact(0)
        area = truncated_normal_tail_area(size / self.sigma, self._cut, bits)
        return area.scaled(self.sigma)

    def moment(self, p: Fraction) -> Interval:
        """Enclose σᵖ·2^(p/2)·γ((p+1)/2, A²/2σ²) / √π·(1 − 2t)."""
        root = Interval(power(pi().lower, _HALF).lower, power(pi().upper, _HALF).upper)
        divisor = (Interval.exact(1) - normal_tail(self._cut, 144).scaled(2)) * root
        within = lower_gamma((p + 1) / 2, self._cut**2 / 2) * divisor.reciprocal()
        return within * power(Fraction(2), p / 2) * power(self.sigma, p)

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q: those of Gaussian noise at t + (1 − 2t)·tail."""
        return truncated_normal_quantile_series(tail, terms, self.sigma, self._cut, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval:
        """Enclose the larger of d − A, before which x − d is impossible, and d/2 − εσ²/d."""
        edge = min(shift - self.width, self.width)
        inner = Interval.exact(shift / 2) - epsilon.scaled(self.sigma**2 / shift)
        return Interval(
            min(max(edge, inner.lower), self.width), min(max(edge, inner.upper), self.width)
        )

    @cached_property
    def _cut(self) -> Fraction:
        return self.width / self.sigma


@lru_cache(maxsize=64)
def _standard_moment(p: Fraction) -> Interval:
    """Enclose 2^(p/2)·Γ((p+1)/2)/√π, E |X|ᵖ for σ = 1."""
    root = power(pi().lower, _HALF).lower, power(pi().upper, _HALF).upper
    return gamma((p + 1) / 2) * Interval(*root).reciprocal() * power(Fraction(2), p / 2)


def _find_sigma_of_guarantee(
    sigma: Number | None, guarantee: Mapping[str, Number | None]
) -> Number | None:
    """Return σ for the guarantee that a constructor got, or σ itself."""
    target = read_guarantee("Gaussian", {"sigma": sigma}, guarantee)
    return sigma if target is None else Gaussian.for_privacy(target[0], sensitivity=target[1]).sigma


def _find_sigma(privacy: Privacy) -> Fraction:
    """Return an approximation of the smallest σ at Δ = 1, for ε > 0 and δ > 0.

    Newton's method on ln δ as a function of ln σ, whose slope is −Δ·p(t)/δ with t the place where
    the likelihood ratio is e^ε.
    """
    low, high = Fraction(0), None
    close = _CLOSE * min(privacy.delta, 1 - privacy.delta)
    # Smaller than the σ that e^ε alone and δ alone require, so Newton's method starts on one side.
    sigma = 1 / (privacy.epsilon + power(2 * privacy.epsilon, _HALF).upper + privacy.delta)
    for _ in range(_STEPS):
        sigma = Interval.exact(sigma).shortened(PARAMETER_BITS).upper
        noise = Gaussian(sigma)
        reached = noise.curve(Fraction(1)).delta_above(privacy.epsilon)[0]
        if abs(reached - privacy.delta) <= close:
            return sigma
        if reached > privacy.delta:
            low = sigma
        else:
            high = sigma
        sigma = _newton_step(noise, privacy, reached)
        if not low < sigma or (high is not None and sigma >= high):
            sigma = 2 * low if high is None else (low + high) / 2
    return sigma if high is None else high


def _newton_step(noise: Gaussian, privacy: Privacy, reached: Fraction) -> Fraction:
    """Return σ·(δ(σ)/δ)^(δ(σ)/p(t)): Newton's next σ; for large δ the same with 1 − δ."""
    place = noise.crossing(Fraction(1), Interval.exact(privacy.epsilon))
    density = noise.density(abs(place.middle), 64).middle
    target, value = privacy.delta, reached
    if 2 * privacy.delta > 1:
        target, value, density = 1 - target, 1 - value, -density
    if value <= 0 or not density:
        return Fraction(0)  # then σ is found by bisection
    exponent = logarithm(value / target, 80).middle * value / density
    bounded = max(min(exponent, Fraction(4)), Fraction(-4))
    return noise.sigma * exponential(bounded).middle
