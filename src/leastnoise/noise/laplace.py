"""Laplace noise: a density that falls by the same factor over equal lengths."""

import math
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.exact import (
    Interval,
    Number,
    decay,
    exactly,
    exponential_quantile_series,
    gamma,
    positive,
    power,
)
from leastnoise.noise.smooth import Smooth

# Further out than so many scales the tail is below 2^-250000 and only said to be.
_FARTHEST = 1 << 18


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Smooth):
    """The density e^(−|x|/b) / 2b, with no largest size (Dwork, McSherry, Nissim and Smith 2006).

    At sensitivity Δ it is (ε, δ)-private just for b ≥ Δ / (ε − 2·ln(1−δ)).

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

    def __init__(self, scale: Number) -> None:
        """Read the scale exactly."""
        object.__setattr__(self, "scale", positive(scale, "scale"))

    def __repr__(self) -> str:
        """Print the law the way it is written."""
        return f"Laplace(scale={exactly(self.scale)})"

    @property
    def radius(self) -> float:
        """Infinite: there is no largest size."""
        return math.inf

    def scaled(self, factor: Number) -> "Laplace":
        """Return the law of ``factor`` times this noise, factor > 0."""
        return Laplace(positive(factor, "factor") * self.scale)

    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2b."""
        return self.tail(size, bits).scaled(1 / self.scale)

    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose e^(−size/b) / 2."""
        if size > _FARTHEST * self.scale:
            return Interval(Fraction(0), self.tail(_FARTHEST * self.scale, bits).upper)
        return decay(size / self.scale, bits).scaled(Fraction(1, 2))

    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose b·e^(−size/b) / 2."""
        return self.tail(size, bits).scaled(self.scale)

    def moment(self, p: Fraction) -> Interval:
        """Enclose Γ(p+1)·bᵖ: exact for whole p."""
        return gamma(p + 1) * power(self.scale, p)

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the coefficients of Q = −b·ln 2q: b·(−1/q)ⁿ/n for n ≥ 1."""
        return exponential_quantile_series(tail, terms, self.scale, None, bits)

    def crossing(self, move: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose (d − εb)/2: the ratio is e^((d − 2x)/b) between 0 and d, and e^(d/b) before 0."""
        if epsilon.lower * self.scale >= move:
            return None
        return (Interval.exact(move) - epsilon.scaled(self.scale)).scaled(Fraction(1, 2))
