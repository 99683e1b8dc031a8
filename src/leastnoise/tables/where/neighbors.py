"""The values of a type that are nearest to a number: floats, integers and decimals."""

from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

_EXACT = Context(prec=9_999, Emin=-99_999, Emax=99_999, traps=[Inexact])


def find_neighbors(
    kind: Any, number: Fraction, *, beyond: bool = False
) -> tuple[Fraction | None, Fraction | None]:
    """Return the greatest value of a type not above a number, and the least not below it.

    ``beyond`` means that a decimal type may have integers with one more digit.
    """
    if kind.is_floating():
        bits, lowest = (24, -149) if kind.nbytes == 4 else (53, -1074)
        mirrored = float_below(-number, bits, lowest)
        return float_below(number, bits, lowest), None if mirrored is None else -mirrored
    if kind.is_integer():
        unit, least, most = Fraction(1), kind.bounds.lower, kind.bounds.upper
    else:
        unit, most = Fraction(1, 10**kind.scale), 10 ** (kind.precision + beyond) - 1
        least = -most
    below, above = number // unit, -(-number // unit)
    return (
        None if below < least else min(below, most) * unit,
        None if above > most else max(above, least) * unit,
    )


def float_below(number: Fraction, bits: int, lowest: int) -> Fraction | None:
    """Return the greatest finite float that is not above a number; None if there is none.

    Args:
        number: Any rational number.
        bits: The precision of the format: 53 or 24.
        lowest: The exponent of its smallest positive float: −1074 or −149.
    """
    # Floats from 2ᵉ to 2ᵉ⁺¹ are the multiples of 2^(e−bits+1) there, but nowhere closer than
    # 2^lowest. Rounding down to such a multiple reaches at most the next power of two, which is a
    # float, too. In both formats the largest float is (2^bits − 1)·2^(−lowest − 2·bits + 3).
    largest = ((1 << bits) - 1) * (1 << (-lowest - 2 * bits + 3))
    if abs(number) > largest:
        return Fraction(largest) if number > 0 else None
    size = abs(number.numerator).bit_length() - number.denominator.bit_length()
    exponent = size if abs(number) >= Fraction(2) ** size else size - 1
    unit = Fraction(2) ** max(exponent - bits + 1, lowest)
    return (number // unit) * unit


def write_decimal(number: Fraction) -> str:
    """Write a finite decimal in full; the context raises for other numbers."""
    return f"{_EXACT.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"
