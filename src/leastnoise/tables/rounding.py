"""Rounding of figures: values to the nearest, interval ends outward."""

import math
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import format_rounded, format_to_place, magnitude
from leastnoise.mechanism import float_above, float_below, float_near

__all__ = [
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
]


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
    unit = min(Fraction(10) ** magnitude((high - low) / 100), Fraction(1))
    return f"{format_down(low, unit)} to {format_up(high, unit)}"


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
