"""The losses 0, ±h, ±2h, …, and e to their power, in whole numbers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.exact import Interval, exponential

# e^h is known to so many binary digits more than are kept.
_GUARD_BITS = 24

Bracket = tuple[int, int]


@dataclass(frozen=True)
class LossGrid:
    """Losses that are whole multiples of ``step``; probabilities are whole multiples of 2^−bits."""

    step: Fraction
    bits: int

    @property
    def one(self) -> int:
        """The probability 1."""
        return 1 << self.bits

    @cached_property
    def factor(self) -> Bracket:
        """Whole numbers around e^step, times 2^bits."""
        return self.scaled(exponential(self.step, self.bits + _GUARD_BITS))

    @cached_property
    def fall(self) -> Bracket:
        """Whole numbers around e^−step, times 2^bits."""
        return self.scaled(exponential(-self.step, self.bits + _GUARD_BITS))

    def scaled(self, number: Interval) -> Bracket:
        """Return whole numbers around a number times 2^bits."""
        return self.below(number.lower), self.above(number.upper)

    def below(self, number: Fraction) -> int:
        """Return the last whole multiple of 2^−bits that is not above a number."""
        return (number.numerator << self.bits) // number.denominator

    def above(self, number: Fraction) -> int:
        """Return the first whole multiple of 2^−bits that is not below a number."""
        return -((-number.numerator << self.bits) // number.denominator)

    def powers(self, base: Bracket, count: int) -> list[Bracket]:
        """Return whole numbers around base⁰, base¹, … base^count, times 2^bits."""
        low = high = self.one
        found = [(low, high)]
        for _ in range(count):
            low, high = low * base[0] >> self.bits, -(-high * base[1] >> self.bits)
            found.append((low, high))
        return found
