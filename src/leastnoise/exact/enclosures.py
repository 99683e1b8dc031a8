"""Rigorous enclosures of irrational numbers, as pairs of rationals.

Arb's ball arithmetic (through python-flint, loaded on first use) does the work; its balls are
turned into rationals rounded outward, here and nowhere else.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    import flint

# Results of a power are held as exact rationals, so their length must stay within reason.
_LARGEST_RESULT_BITS = 1 << 18
_GUARD_BITS = 96


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


def power(base: Fraction, exponent: Fraction) -> Interval:
    """Enclose ``base ** exponent`` for base ≥ 0, exponent > 0: exactly where it is rational.

    Otherwise the enclosure is narrower than 2⁻⁶⁴, both absolutely and relative to the number.

    >>> power(Fraction(9, 4), Fraction(1, 2))
    Interval(lower=Fraction(3, 2), upper=Fraction(3, 2))
    """
    root = _rational_root(base, exponent.denominator)
    largest = max(base.numerator.bit_length(), base.denominator.bit_length())
    if largest * exponent > _LARGEST_RESULT_BITS:
        raise InvalidParameter(
            f"a cost must have at most {_LARGEST_RESULT_BITS} binary digits to be computed exactly;"
            " got a power beyond that. Choose a smaller exponent p."
        )
    if root is not None:
        return Interval.exact(root**exponent.numerator)
    return _enclosed_power(base, exponent)


def _rational_root(base: Fraction, degree: int) -> Fraction | None:
    """Return the exact root if it is rational: iff numerator and denominator are both powers."""
    upper = _integer_root(base.numerator, degree)
    lower = _integer_root(base.denominator, degree)
    return None if upper is None or lower is None else Fraction(upper, lower)


def _integer_root(number: int, degree: int) -> int | None:
    """Return the exact integer root, or None if there is none."""
    if degree == 1 or number <= 1:
        return number
    if degree >= number.bit_length():
        return None  # 2**degree is already larger
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree <= number:
            low = middle
        else:
            high = middle
    return low if low**degree == number else None


def _enclosed_power(base: Fraction, exponent: Fraction) -> Interval:
    import flint  # on first use: most calls never need it

    magnitude = base.numerator.bit_length() - base.denominator.bit_length()
    size = abs(magnitude * exponent.numerator // exponent.denominator)
    with flint.ctx.workprec(_GUARD_BITS + size + exponent.numerator.bit_length() + 64):
        ball = flint.arb(_fmpq(base)) ** flint.arb(_fmpq(exponent))
        return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))


def _fmpq(number: Fraction) -> "flint.fmpq":
    import flint

    return flint.fmpq(number.numerator, number.denominator)


def _dyadic(end: "flint.arb") -> Fraction:
    """Read an exact end of a ball, mantissa · 2^exponent, as a rational."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
