"""``to_decimal``: the caller's numbers as exact decimals, the type of numbers in conditions."""

from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction

from leastnoise.core.exact import format_exact
from leastnoise.errors import InvalidParameter, Words

_LONGEST = 40


def to_decimal(number: Fraction, what: Words) -> Decimal:
    """Return a number as an exact decimal; ``what`` names it in an error."""
    with localcontext(Context(prec=_LONGEST, traps=[Inexact])):
        try:
            return Decimal(number.numerator) / Decimal(number.denominator)
        except Inexact:
            raise InvalidParameter(
                what + f" must be a decimal of at most {_LONGEST} digits",
                got=format_exact(number),
                fix="Round it.",
            ) from None
