"""Rigorous enclosures of powers, as pairs of rationals.

e^ε is rounded outward from the standard library's decimal arithmetic, so that certificates can be
checked where nothing else is installed. Irrational powers are Arb's
(:mod:`leastnoise.exact.functions`).
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, floor

from leastnoise.errors import InvalidParameter
from leastnoise.exact.functions import enclosed_power
from leastnoise.exact.interval import Interval

# Exact powers grow with their exponent; beyond this many binary digits they are enclosed instead.
_LONGEST_EXACT_POWER = 1 << 16
_LARGEST_MAGNITUDE = 1 << 18
# Binary digits that are kept of e^ε unless more are asked for.
_BITS = 128


def power(base: Fraction, exponent: Fraction) -> Interval:
    """Enclose ``base ** exponent`` for base ≥ 0, exponent > 0: exactly where it is rational.

    Otherwise the enclosure is narrower than 2⁻⁶⁴, both absolutely and relative to the number.

    >>> power(Fraction(9, 4), Fraction(1, 2))
    Interval(lower=Fraction(3, 2), upper=Fraction(3, 2))
    """
    raised, degree = exponent.as_integer_ratio()
    root = base if degree == 1 else _rational_root(base, degree)
    length = max(base.numerator.bit_length(), base.denominator.bit_length())
    if root is not None and (length * raised <= _LONGEST_EXACT_POWER * degree or root in (0, 1)):
        return Interval.exact(root if raised == 1 else root**raised)
    if abs(_magnitude(base)) * exponent > _LARGEST_MAGNITUDE:
        raise InvalidParameter(
            f"a power must lie between 2^-{_LARGEST_MAGNITUDE} and 2^{_LARGEST_MAGNITUDE} to be "
            "computed; got one beyond that. Choose a smaller exponent."
        )
    return enclosed_power(base, exponent)


def exponential(exponent: Fraction, bits: int = _BITS) -> Interval:
    """Enclose e^exponent, narrower than 2^(8 − bits) of it; exactly 1 at 0.

    For exponents near 0 so much narrower that it is told from 1.
    """
    if not exponent:
        return Interval.exact(1)
    if abs(exponent) > _LARGEST_MAGNITUDE:
        raise InvalidParameter(
            f"an exponent must lie between -{_LARGEST_MAGNITUDE} and {_LARGEST_MAGNITUDE} for e to "
            "its power to be computed; got one beyond that. Choose a smaller ε."
        )
    bits += max(0, -_magnitude(exponent) - _BITS // 2)
    return Interval(
        _exponential(exponent, bits, ROUND_FLOOR), _exponential(exponent, bits, ROUND_CEILING)
    )


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


def _exponential(exponent: Fraction, bits: int, way: str) -> Fraction:
    """Return e^exponent rounded down or up.

    The exponent itself is rounded that way; exp then rounds to nearest whatever the context says
    (the standard library promises that it does so correctly), so the neighbour of the result is
    beyond the truth.
    """
    digits = bits * 302 // 1000 + 7  # decimal ones, a few more than are kept
    context = Context(digits, way, Emin=MIN_EMIN, Emax=MAX_EMAX)
    near = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    beyond = Decimal("-Infinity" if way == ROUND_FLOOR else "Infinity")
    end = Fraction(context.next_toward(context.exp(near), beyond))
    parts = 1 << max(0, bits - _magnitude(end))
    whole = floor(end * parts) if way == ROUND_FLOOR else ceil(end * parts)
    return Fraction(whole, parts)


def _magnitude(base: Fraction) -> int:
    """Return the binary exponent of a number, to within one."""
    return base.numerator.bit_length() - base.denominator.bit_length()
