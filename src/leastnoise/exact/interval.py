"""A real number between two rationals."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number known to lie in [lower, upper]; exact when the two ends meet."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def exact(cls, number: Fraction | int) -> "Interval":
        """Return the interval that holds one rational and nothing else."""
        return cls(Fraction(number), Fraction(number))

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lower == self.upper

    @property
    def middle(self) -> Fraction:
        """The midpoint: the best guess where a guess is enough."""
        return (self.lower + self.upper) / 2

    def __add__(self, other: "Interval") -> "Interval":
        """Return an enclosure of the sum."""
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: "Interval") -> "Interval":
        """Return an enclosure of the difference."""
        return Interval(self.lower - other.upper, self.upper - other.lower)

    def scaled(self, factor: Fraction | int) -> "Interval":
        """Return an enclosure of ``factor`` times the number."""
        ends = (self.lower * factor, self.upper * factor)
        return Interval(min(ends), max(ends))

    def __mul__(self, other: "Interval") -> "Interval":
        """Return an enclosure of the product."""
        ends = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Interval(min(ends), max(ends))

    def inverted(self) -> "Interval":
        """Return an enclosure of 1 / the number, for intervals above 0."""
        return Interval(1 / self.upper, 1 / self.lower)

    def shortened(self, bits: int) -> "Interval":
        """Return a slightly wider interval whose ends have about so many binary digits each."""
        return Interval(_short(self.lower, bits, floor), _short(self.upper, bits, ceil))

    def is_narrow(self, bits: int) -> bool:
        """Whether it is narrower than 2^−bits of its ends: known to so many binary digits."""
        smaller = min(abs(self.lower), abs(self.upper))
        return self.lower * self.upper >= 0 and (self.upper - self.lower) * (1 << bits) <= smaller


def _short(end: Fraction, bits: int, way: Callable[[Fraction], int]) -> Fraction:
    digits = bits + end.denominator.bit_length() - end.numerator.bit_length()
    scale = Fraction(2) ** digits
    return way(end * scale) / scale if end.denominator.bit_length() > bits else end
