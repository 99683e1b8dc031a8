"""Laplace noise, unbounded and truncated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, overload

from leastnoise.core.exact import (
    Interval,
    Number,
    cut_decay,
    cut_decay_area,
    decay,
    decay_complement,
    exponential,
    exponential_quantile_series,
    format_exact,
    gamma,
    logarithm,
    lower_gamma,
    parse_positive,
    power,
)
from leastnoise.core.noise.base import outside, read_guarantee
from leastnoise.core.noise.kinds import Smooth, widen
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import InvalidParameter

_HALF = Fraction(1, 2)
# Beyond this many scales the tail is below 2^-250000, and only this bound is used.
_FARTHEST = 1 << 18
# A larger radius would only cut off values that are never sampled.
_WIDEST = 1 << 17


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Smooth):
    """The density e^(−|x|/b) / 2b, unbounded (Dwork, McSherry, Nissim and Smith 2006).

    At sensitivity Δ it satisfies (ε, δ) exactly if b ≥ Δ / (ε − 2·ln(1−δ)). Construct it by its
    scale, or by ε, δ or both and Δ (:meth:`for_privacy`).

    ============ ===========================
    P(X > x)     e^(−x/b) / 2, for x ≥ 0
    E |X|ᵖ       Γ(p+1)·bᵖ
    ============ ===========================

    Args:
        scale: b > 0, which is E |X|.
        epsilon: ε of a guarantee. Default: 0.
        delta: δ of a guarantee. Default: 0.
        sensitivity: Δ, with a guarantee.

    Raises:
        InvalidParameter: If an argument is invalid, or a scale and a guarantee are both given.

    >>> Laplace(2).variance(), Laplace(epsilon="0.5", sensitivity=1)
    (Fraction(8, 1), Laplace(scale=2))
    """

    scale: Fraction

    stored: ClassVar = {"scale": "rational"}
    radius = math.inf  # the noise is unbounded

    @overload
    def __init__(self, scale: Number) -> None: ...

    @overload
    def __init__(self, *, epsilon: Number, delta: Number = ..., sensitivity: Number) -> None: ...

    @overload
    def __init__(self, *, delta: Number, sensitivity: Number) -> None: ...

    def __init__(self, scale: Number | None = None, **guarantee: Number | None) -> None:
        if scale is None or guarantee:
            scale = _find_scale(scale, guarantee)
        object.__setattr__(self, "scale", parse_positive(scale, "scale"))

    @classmethod
    def for_privacy(cls, privacy: Privacy, *, sensitivity: Number) -> "Laplace":
        """Return Laplace noise of the smallest scale for (ε, δ): Δ / (ε − 2·ln(1−δ)).

        At a shift of Δ it needs δ(ε) = 1 − e^((ε − Δ/b)/2) for ε < Δ/b. At δ = 0 the scale is Δ/ε
        exactly: Dwork, McSherry, Nissim and Smith 2006, Theorem 1. Otherwise it is rounded up
        slightly.

        Args:
            privacy: The guarantee, with ε > 0 or δ > 0.
            sensitivity: Δ, how much one person can change the true answer.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> Laplace.for_privacy(Privacy("0.5"), sensitivity=1)
        Laplace(scale=2)
        """
        epsilon, delta = as_privacy(privacy, "Privacy(1)").epsilon, privacy.delta
        exact = parse_positive(sensitivity, "sensitivity")
        if not epsilon and not delta:
            raise outside("Laplace noise", "ε > 0 or δ > 0", privacy)
        if not delta:
            return Laplace(exact / epsilon)
        gained = epsilon - 2 * logarithm(1 - delta).upper
        return widen(Laplace, exact / gained, privacy, exact)

    def scaled(self, factor: Number) -> "Laplace":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        return Laplace(parse_positive(factor, "factor") * self.scale)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2b."""
        return self.tail(size, bits).scaled(1 / self.scale)

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2."""
        if size > _FARTHEST * self.scale:
            return Interval(Fraction(0), self.tail(_FARTHEST * self.scale, bits).upper)
        return decay(size / self.scale, bits).scaled(_HALF)

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose b·e^(−size/b) / 2."""
        return self.tail(size, bits).scaled(self.scale)

    def moment(self, p: Fraction) -> Interval:
        """Enclose Γ(p+1)·bᵖ: exact for integers p."""
        return gamma(p + 1) * power(self.scale, p)

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q = −b·ln 2q: b·(−1/q)ⁿ/n for n ≥ 1."""
        return exponential_quantile_series(tail, terms, self.scale, None, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose (d − εb)/2: the ratio is e^((d − 2x)/b) between 0 and d, and e^(d/b) before 0."""
        if epsilon.lower * self.scale >= shift:
            return None
        return (Interval.exact(shift) - epsilon.scaled(self.scale)).scaled(_HALF)


@dataclass(frozen=True, init=False, repr=False)
class TruncatedLaplace(Smooth):
    """The density B·e^(−|x|/b) up to |x| = A and 0 beyond (Geng, Ding, Guo and Kumar 2020).

    With b = Δ/ε and A = b·ln(1 + (e^ε−1)/2δ) it satisfies (ε, δ) at sensitivity Δ, for
    0 < δ ≤ 1/2 and ε > 0 (their Theorem 1 for δ < 1/2; docs/theory/families.md). Construct it by
    scale and radius, or by ε, δ and Δ (:meth:`for_privacy`).

    ============ =====================================================
    κ            e^(−A/b)
    B            1 / 2b(1−κ)
    P(X > x)     (e^(−x/b) − κ) / 2(1−κ), for 0 ≤ x ≤ A
    E |X|ᵖ       bᵖ·γ(p+1, A/b) / (1−κ), γ the lower gamma function
    ============ =====================================================

    Args:
        scale: b > 0.
        radius: A > 0, the maximum size.
        epsilon: ε > 0 of a guarantee.
        delta: δ of a guarantee, 0 < δ ≤ 1/2.
        sensitivity: Δ, with a guarantee.

    Raises:
        InvalidParameter: If an argument is invalid, or parameters and a guarantee are both given.

    >>> TruncatedLaplace(1, 2).support()
    (-2.0, 2.0)
    >>> TruncatedLaplace(epsilon=1, delta="0.001", sensitivity=1).scale
    Fraction(1, 1)
    """

    scale: Fraction
    width: Fraction

    stored: ClassVar = {"scale": "rational", "radius": "rational"}

    @overload
    def __init__(self, scale: Number, radius: Number) -> None: ...

    @overload
    def __init__(self, *, epsilon: Number, delta: Number, sensitivity: Number) -> None: ...

    def __init__(
        self,
        scale: Number | None = None,
        radius: Number | None = None,
        **guarantee: Number | None,
    ) -> None:
        if scale is None or radius is None or guarantee:
            scale, radius = _find_scale_and_radius(scale, radius, guarantee)
        object.__setattr__(self, "scale", parse_positive(scale, "scale"))
        object.__setattr__(self, "width", parse_positive(radius, "radius"))
        if self.width > _WIDEST * self.scale:
            raise InvalidParameter(
                f"radius must be at most {_WIDEST} times scale",
                got=f"radius {format_exact(self.width)} and scale {format_exact(self.scale)}",
                fix="Use Laplace(scale).",
            )

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise, A."""
        return self.width

    @classmethod
    def for_privacy(cls, privacy: Privacy, *, sensitivity: Number) -> "TruncatedLaplace":
        """Return b = Δ/ε and A = b·ln(1 + (e^ε−1)/2δ), rounded up slightly.

        Geng, Ding, Guo and Kumar 2020, Theorem 1, for δ < 1/2. At δ = 1/2 the radius is Δ, and the
        guarantee holds too (docs/theory/families.md, Proposition 2).

        Args:
            privacy: The guarantee, with ε > 0 and 0 < δ ≤ 1/2.
            sensitivity: Δ, how much one person can change the true answer.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> noise = TruncatedLaplace.for_privacy(Privacy(1, "0.001"), sensitivity=1)
        >>> noise.scale, round(float(noise.radius), 6)
        (Fraction(1, 1), 6.757096)
        """
        epsilon, delta = as_privacy(privacy, "Privacy(1, '1e-6')").epsilon, privacy.delta
        exact = parse_positive(sensitivity, "sensitivity")
        if not epsilon or not 0 < delta <= _HALF:
            raise outside("truncated Laplace noise", "ε > 0 and 0 < δ ≤ 1/2", privacy)
        scale = exact / epsilon
        grown = exponential(epsilon, 256).upper
        widest = logarithm(1 + (grown - 1) / (2 * delta)).upper * scale
        return widen(lambda radius: TruncatedLaplace(scale, radius), widest, privacy, exact)

    def scaled(self, factor: Number) -> "TruncatedLaplace":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        by = parse_positive(factor, "factor")
        return TruncatedLaplace(by * self.scale, by * self.width)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2b(1−κ)."""
        if size > self.width:
            return Interval.exact(0)
        height = decay(size / self.scale, bits + 8)
        return height * self._enclose_mass(bits + 8).scaled(2 * self.scale).reciprocal()

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose (e^(−size/b) − κ) / 2(1−κ)."""
        if size >= self.width:
            return Interval.exact(0)
        return cut_decay(size / self.scale, self._cut, bits).scaled(_HALF)

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose b·(e^(−size/b) − κ·(1 + (A − size)/b)) / 2(1−κ)."""
        if size >= self.width:
            return Interval.exact(0)
        return cut_decay_area(size / self.scale, self._cut, bits).scaled(self.scale / 2)

    def moment(self, p: Fraction) -> Interval:
        """Enclose bᵖ·γ(p+1, A/b) / (1−κ)."""
        integral = lower_gamma(p + 1, self._cut)
        return integral * power(self.scale, p) * self._enclose_mass(144).reciprocal()

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q = −b·ln(κ + 2(1−κ)q): b·(−c)ⁿ/n, c = 2(1−κ)/(κ + …)."""
        return exponential_quantile_series(tail, terms, self.scale, self._cut, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the larger of d − A, below which x − d is impossible, and (d − εb)/2."""
        edge = min(shift - self.width, self.width)
        if epsilon.lower * self.scale >= shift:
            return Interval.exact(edge)
        inner = (Interval.exact(shift) - epsilon.scaled(self.scale)).scaled(_HALF)
        return Interval(max(edge, inner.lower), max(edge, inner.upper))

    @cached_property
    def _cut(self) -> Fraction:
        return self.width / self.scale

    def _enclose_mass(self, bits: int) -> Interval:
        return decay_complement(self._cut, bits)


def _find_scale(scale: Number | None, guarantee: Mapping[str, Number | None]) -> Number | None:
    """Return the scale for the guarantee that a constructor got, or the scale itself."""
    target = read_guarantee("Laplace", {"scale": scale}, guarantee)
    return scale if target is None else Laplace.for_privacy(target[0], sensitivity=target[1]).scale


def _find_scale_and_radius(
    scale: Number | None, radius: Number | None, guarantee: Mapping[str, Number | None]
) -> tuple[Number | None, Number | None]:
    """Return both parameters for the guarantee that a constructor got, or the parameters."""
    parameters = {"scale": scale, "radius": radius}
    target = read_guarantee("TruncatedLaplace", parameters, guarantee)
    if target is None:
        return scale, radius
    noise = TruncatedLaplace.for_privacy(target[0], sensitivity=target[1])
    return noise.scale, noise.width
