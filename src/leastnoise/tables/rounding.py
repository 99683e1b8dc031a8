"""Rounding of figures: values to the nearest, interval ends outward."""

import math
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import format_rounded, format_to_place, magnitude
from leastnoise.mechanism import float_above, float_below, float_near

__all__ = [
    "bin_place",
    "float_above",
    "float_below",
    "float_near",
    "format_bin",
    "format_down",
    "format_error",
    "format_nearest",
    "format_rows",
    "format_up",
    "place_for",
    "printed_error",
    "root_above",
    "root_below",
]

# The bits of a number whose square root is rounded to an integer.
_ROOT_BITS = 126


def place_for(width: Fraction, otherwise: Fraction) -> Fraction:
    """Return the decimal place of a thousandth of an interval's width; further digits are noise.

    If the width is 0, return the decimal place of a millionth of ``otherwise``.
    """
    return Fraction(10) ** magnitude(width / 1000 if width else otherwise / 1_000_000)


def format_bin(low: Fraction, high: Fraction) -> str:
    """Print the edges of a bin, rounded outward.

    The decimal place is that of a hundredth of the width, or that of ones if the bin is wide, so
    integer edges print in full.
    """
    unit = bin_place(low, high)
    return f"{format_down(low, unit)} to {format_up(high, unit)}"


def bin_place(low: Fraction, high: Fraction) -> Fraction:
    """Return the decimal place to which the edges of a bin are printed."""
    return min(Fraction(10) ** magnitude((high - low) / 100), Fraction(1))


def format_rows(error: Fraction) -> str:
    """Print a rank error in rows, rounded up."""
    return f"{format_up(error, Fraction(1))} rows"


def format_down(number: Fraction, unit: Fraction) -> str:
    """Print a number rounded down to a decimal place."""
    return format_to_place(math.floor(number / unit) * unit, unit)


def format_up(number: Fraction, unit: Fraction) -> str:
    """Print a number rounded up to a decimal place."""
    return format_to_place(math.ceil(number / unit) * unit, unit)


def format_nearest(number: Fraction, unit: Fraction) -> str:
    """Print a number rounded to the nearest multiple of a decimal place."""
    return format_to_place(round(number / unit) * unit, unit)


def printed_error(
    error: Fraction,
    value: Fraction,
    unit: Fraction,
    range_: tuple[Fraction, Fraction] | None = None,
) -> Fraction:
    """Return an error plus the error of printing the value to a decimal place.

    If ``range_`` contains the true value and the printed one, the error is at most its length.
    """
    printed = round(value / unit) * unit
    total = error + abs(printed - value)
    if range_ is not None and range_[0] <= printed <= range_[1]:
        total = min(total, range_[1] - range_[0])
    return total


def format_error(error: Fraction) -> str:
    """Print an error rounded up."""
    return format_rounded(error, 4, ROUND_CEILING)


def root_below(square: Fraction) -> Fraction:
    """Return the square root of a number ≥ 0, rounded down within a factor of 1 − 2⁻⁶³.

    >>> root_below(Fraction(9, 4))
    Fraction(3, 2)
    """
    root, scale, _ = _find_root(square)
    return Fraction(root, scale)


def root_above(square: Fraction) -> Fraction:
    """Return the square root of a number ≥ 0, rounded up within a factor of 1 + 2⁻⁶³.

    >>> root_above(Fraction(2)) ** 2 > 2
    True
    """
    root, scale, exact = _find_root(square)
    return Fraction(root if exact else root + 1, scale)


def _find_root(square: Fraction) -> tuple[int, int, bool]:
    """Return an integer and a scale whose quotient is a root rounded down, and if it is exact.

    square·scale² is at least 2¹²⁶, so the integer is at least 2⁶³, unless the square is 0.
    """
    over, under = square.as_integer_ratio()
    if not over:
        return 0, 1, True
    shift = max(0, (_ROOT_BITS - over.bit_length() + under.bit_length() + 2) // 2)
    scaled, rest = divmod(over << 2 * shift, under)
    root = math.isqrt(scaled)
    return root, 1 << shift, not rest and root * root == scaled
