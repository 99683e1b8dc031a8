"""Laplace noise, unbounded and truncated."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from leastnoise.core.exact import (
    Interval,
    Number,
    cut_decay,
    cut_decay_area,
    decay,
    decayed,
    exponential_quantile_series,
    format_exact,
    gamma,
    lower_gamma,
    parse_positive,
    power,
)
from leastnoise.core.noise.kinds import Smooth
from leastnoise.errors import InvalidParameter

_HALF = Fraction(1, 2)
# Beyond this many scales the tail is below 2^-250000, and only this bound is used.
_FARTHEST = 1 << 18
# A radius of more scales would only cut off what is never sampled.
_WIDEST = 1 << 17


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Smooth):
    """The density e^(−|x|/b) / 2b, unbounded (Dwork, McSherry, Nissim and Smith 2006).

    At sensitivity Δ it is (ε, δ)-private exactly for b ≥ Δ / (ε − 2·ln(1−δ)).

    ============ ===========================
    P(X > x)     e^(−x/b) / 2, for x ≥ 0
    E |X|ᵖ       Γ(p+1)·bᵖ
    ============ ===========================

    Args:
        scale: b > 0, which is E |X|.

    >>> Laplace(2).variance()
    Fraction(8, 1)
    """

    scale: Fraction

    stored: ClassVar = {"scale": "rational"}
    radius = math.inf  # the noise is unbounded

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", parse_positive(scale, "scale"))

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
        """Enclose Γ(p+1)·bᵖ: exact for whole p."""
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

    With b = Δ/ε and A = b·ln(1 + (e^ε−1)/2δ) it is (ε, δ)-private at sensitivity Δ, for
    0 < δ < 1/2 and ε > 0 (their Theorem 1).

    ============ =====================================================
    κ            e^(−A/b)
    B            1 / 2b(1−κ)
    P(X > x)     (e^(−x/b) − κ) / 2(1−κ), for 0 ≤ x ≤ A
    E |X|ᵖ       bᵖ·γ(p+1, A/b) / (1−κ), γ the lower gamma function
    ============ =====================================================

    Args:
        scale: b > 0.
        radius: A > 0, the maximum size.

    >>> TruncatedLaplace(1, 2).support()
    (-2.0, 2.0)
    """

    scale: Fraction
    width: Fraction

    stored: ClassVar = {"scale": "rational", "radius": "rational"}

    def __init__(self, scale: Number, radius: Number) -> None:
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

    def scaled(self, factor: Number) -> "TruncatedLaplace":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        by = parse_positive(factor, "factor")
        return TruncatedLaplace(by * self.scale, by * self.width)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2b(1−κ)."""
        if size > self.width:
            return Interval.exact(0)
        here = decay(size / self.scale, bits + 8)
        return here * self._kept(bits + 8).scaled(2 * self.scale).inverted()

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
        within = lower_gamma(p + 1, self._cut)
        return within * power(self.scale, p) * self._kept(144).inverted()

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q = −b·ln(κ + 2(1−κ)q): b·(−c)ⁿ/n, c = 2(1−κ)/(κ + …)."""
        return exponential_quantile_series(tail, terms, self.scale, self._cut, bits)

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the larger of d − A, before which x − d is impossible, and (d − εb)/2."""
        edge = min(shift - self.width, self.width)
        if epsilon.lower * self.scale >= shift:
            return Interval.exact(edge)
        inner = (Interval.exact(shift) - epsilon.scaled(self.scale)).scaled(_HALF)
        return Interval(max(edge, inner.lower), max(edge, inner.upper))

    @cached_property
    def _cut(self) -> Fraction:
        return self.width / self.scale

    def _kept(self, bits: int) -> Interval:
        return decayed(self._cut, bits)
