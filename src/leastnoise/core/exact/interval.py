"""A real number between two rationals."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number known to lie in [lower, upper]; exact when the two ends meet."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def exact(cls, number: Fraction | int) -> "Interval":
        """Return the interval that contains only this number."""
        number = Fraction(number)
        return cls(number, number)

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lower == self.upper

    @property
    def middle(self) -> Fraction:
        """The midpoint, for uses that need no bound."""
        return (self.lower + self.upper) / 2

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(self.lower - other.upper, self.upper - other.lower)

    def scaled(self, factor: Fraction | int) -> "Interval":
        """Return an enclosure of ``factor`` times the number."""
        ends = (self.lower * factor, self.upper * factor)
        return Interval(*ends) if factor.numerator >= 0 else Interval(ends[1], ends[0])

    def __mul__(self, other: "Interval") -> "Interval":
        if self.lower.numerator >= 0 and other.lower.numerator >= 0:
            return Interval(self.lower * other.lower, self.upper * other.upper)
        ends = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Interval(min(ends), max(ends))

    def reciprocal(self) -> "Interval":
        """Return an enclosure of 1 / the number, for intervals above 0."""
        return Interval(1 / self.upper, 1 / self.lower)

    def shortened(self, bits: int) -> "Interval":
        """Return a slightly wider interval whose ends have about ``bits`` binary digits each."""
        return Interval(_short_below(self.lower, bits), -_short_below(-self.upper, bits))

    def is_narrow(self, bits: int) -> bool:
        """Whether the interval is narrower than 2^−bits of its ends."""
        smaller = min(abs(self.lower), abs(self.upper))
        return self.lower * self.upper >= 0 and (self.upper - self.lower) * (1 << bits) <= smaller


def _short_below(end: Fraction, bits: int) -> Fraction:
    """Return the end itself if it is short; otherwise round it down to ``bits`` binary digits."""
    numerator, denominator = end.numerator, end.denominator
    if max(numerator.bit_length(), denominator.bit_length()) <= bits:
        return end
    shift = bits + denominator.bit_length() - numerator.bit_length()
    if shift >= 0:
        return Fraction((numerator << shift) // denominator, 1 << shift)
    return Fraction(numerator // (denominator << -shift) << -shift)
