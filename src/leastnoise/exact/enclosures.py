"""Rigorous enclosures of irrational numbers, as pairs of rationals.

e^ε is rounded outward from the standard library's decimal arithmetic, so that certificates can be
checked where nothing else is installed. Everything else is Arb's ball arithmetic (python-flint,
loaded on first use), whose balls are turned into rationals here and nowhere else.
"""

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    import flint

# Exact powers grow with their exponent; beyond this many binary digits they are enclosed instead.
_LONGEST_EXACT_POWER = 1 << 16
_LARGEST_MAGNITUDE = 1 << 18
_GUARD_BITS = 160
# Decimal digits of e^ε while it is computed, and binary digits that are kept of it.
_DIGITS = 45
_BITS = 128


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
    length = max(base.numerator.bit_length(), base.denominator.bit_length())
    if root is not None and (root in (0, 1) or length * exponent <= _LONGEST_EXACT_POWER):
        return Interval.exact(root**exponent.numerator)
    if abs(_magnitude(base)) * exponent > _LARGEST_MAGNITUDE:
        raise InvalidParameter(
            f"a power must lie between 2^-{_LARGEST_MAGNITUDE} and 2^{_LARGEST_MAGNITUDE} to be "
            "computed; got one beyond that. Choose a smaller exponent."
        )
    return _enclosed_power(base, exponent)


def exponential(exponent: Fraction) -> Interval:
    """Enclose e^exponent, narrower than 2⁻¹²⁰ of it; exactly 1 at 0."""
    if not exponent:
        return Interval.exact(1)
    if abs(exponent) > _LARGEST_MAGNITUDE:
        raise InvalidParameter(
            f"an exponent must lie between -{_LARGEST_MAGNITUDE} and {_LARGEST_MAGNITUDE} for e to "
            "its power to be computed; got one beyond that. Choose a smaller ε."
        )
    return Interval(_exponential(exponent, ROUND_FLOOR), _exponential(exponent, ROUND_CEILING))


def error_function(argument: Fraction) -> Interval:
    """Enclose erf(argument)."""
    import flint

    with flint.ctx.workprec(_GUARD_BITS):
        ball = flint.arb(_fmpq(argument)).erf()
        return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))


def inverse_error_function(level: Fraction) -> Interval:
    """Enclose the x with erf(x) = level, for −1 < level < 1."""
    import flint

    with flint.ctx.workprec(_GUARD_BITS + level.denominator.bit_length()):
        ball = flint.arb(_fmpq(level)).erfinv()
        return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))


def pi() -> Interval:
    """Enclose π."""
    import flint

    with flint.ctx.workprec(_GUARD_BITS):
        ball = flint.arb.pi()
        return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))


def shortened_up(number: Fraction, bits: int = 128) -> Fraction:
    """Return ``number`` > 0 itself if it is short, else one just above with so many digits."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 16 * bits:
        return number
    shift = bits - _magnitude(number)
    scaled = -(-(number.numerator << max(shift, 0)) // (number.denominator << max(-shift, 0)))
    return Fraction(scaled << max(-shift, 0), 1 << max(shift, 0))


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

    # Enough to be narrow absolutely too, and to tell the powers of neighbouring integers apart.
    size = int(abs(_magnitude(base)) * exponent)
    length = base.numerator.bit_length() + base.denominator.bit_length()
    with flint.ctx.workprec(_GUARD_BITS + size + length + exponent.numerator.bit_length()):
        ball = flint.arb(_fmpq(base)) ** flint.arb(_fmpq(exponent))
        return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))


def _exponential(exponent: Fraction, way: str) -> Fraction:
    """Return e^exponent rounded down or up.

    The exponent itself is rounded that way; exp then rounds to nearest whatever the context says
    (the standard library promises that it does so correctly), so the neighbour of the result is
    beyond the truth.
    """
    context = Context(_DIGITS, way, Emin=MIN_EMIN, Emax=MAX_EMAX)
    near = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    beyond = Decimal("-Infinity" if way == ROUND_FLOOR else "Infinity")
    end = Fraction(context.next_toward(context.exp(near), beyond))
    parts = 1 << max(0, _BITS - _magnitude(end))
    whole = floor(end * parts) if way == ROUND_FLOOR else ceil(end * parts)
    return Fraction(whole, parts)


def _magnitude(base: Fraction) -> int:
    """Return the binary exponent of a number, to within one."""
    return base.numerator.bit_length() - base.denominator.bit_length()


def _fmpq(number: Fraction) -> "flint.fmpq":
    import flint

    return flint.fmpq(number.numerator, number.denominator)


def _dyadic(end: "flint.arb") -> Fraction:
    """Read an exact end of a ball, mantissa · 2^exponent, as a rational."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
