"""Print exact numbers: exactly if short, otherwise rounded to a stated side."""

from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_LONGEST_EXACT = 12
_LONGEST_QUOTE = 40


def format_exact(
    number: Fraction | int, rounding: str = ROUND_HALF_EVEN, *, mark: str = "≈"
) -> str:
    """Print a rational exactly if short, otherwise rounded with a leading mark.

    Args:
        number: The number.
        rounding: The side to round to, as :mod:`decimal` names it. Default: the nearest.
        mark: What stands before a rounded number. Default: ``≈``.

    >>> tuple(map(format_exact, [Fraction(1, 10), Fraction(1, 3), Fraction(1, 10**6)]))
    ('0.1', '1/3', '0.000001')
    """
    number = Fraction(number)
    if number.denominator == 1 and count_bits(number) <= 80:
        return _plain(Decimal(number.numerator))
    context = Context(prec=_LONGEST_EXACT, Emin=-999_999, Emax=999_999)
    decimal = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    if Fraction(decimal) == number:
        return _plain(decimal)
    ratio = f"{number.numerator}/{number.denominator}" if count_bits(number) <= 40 else ""
    return (
        ratio
        if 0 < len(ratio) <= _LONGEST_EXACT
        else f"{mark}{format_rounded(number, 9, rounding)}"
    )


def format_short(number: Fraction | int) -> str:
    """Print a rational as :func:`format_exact` does, below 1/1000 with an exponent.

    >>> tuple(map(format_short, [Fraction(1, 5), Fraction(1, 10**7), Fraction(1, 1000), 0]))
    ('0.2', '1e-7', '0.001', '0')
    """
    return _with_exponent(format_exact(number), number)


def format_rounded(number: Fraction | int, digits: int = 6, rounding: str = ROUND_HALF_EVEN) -> str:
    """Print a rational with a number of significant digits.

    Args:
        number: The number.
        digits: The number of significant digits. Default: 6.
        rounding: The side to round to, as :mod:`decimal` names it. Default: the nearest.

    >>> format_rounded(Fraction(2, 3), 3)
    '0.667'
    """
    number = Fraction(number)
    # Decimals represent numerator and denominator exactly, so only the division rounds, and
    # ROUND_CEILING is a true ceiling.
    context = Context(prec=digits, rounding=rounding, Emin=-999_999, Emax=999_999)
    return _plain(context.divide(Decimal(number.numerator), Decimal(number.denominator)))


def format_up(number: Fraction | int, digits: int = 6) -> str:
    """Print a rational rounded up to a number of digits, below 1/1000 with an exponent.

    >>> format_up(Fraction(2, 3), 3), format_up(Fraction(1, 3 * 10**6), 3)
    ('0.667', '3.34e-7')
    """
    return _with_exponent(format_rounded(number, digits, ROUND_CEILING), number)


def format_probability(probability: Fraction, digits: int = 6) -> str:
    """Print a probability rounded up: as a percentage, below 1/1000 with an exponent.

    >>> format_probability(Fraction(1, 3), 3), format_probability(Fraction(1, 10**6))
    ('33.4%', '1e-6')
    """
    if probability < Fraction(1, 1000):
        return format_up(probability, digits)
    return f"{format_rounded(probability * 100, digits, ROUND_CEILING)}%"


def format_ratio(number: Fraction | float) -> str:
    """Print a rational in full, as ``numerator/denominator``, whatever its length; or ``inf``.

    Python does not print integers of more than 4300 digits; decimals have no such limit.
    """
    if isinstance(number, float):  # only infinities arrive as floats
        return str(number)
    upper, lower = (f"{Decimal(part):f}" for part in number.as_integer_ratio())
    return upper if lower == "1" else f"{upper}/{lower}"


def format_to_place(number: Fraction, unit: Fraction) -> str:
    """Print a rational to the decimal place just below ``unit`` > 0."""
    digits = max(magnitude(number) - magnitude(unit), 0) + 1 if number else 1
    return format_rounded(number, digits)


def magnitude(number: Fraction) -> int:
    """Return the decimal exponent of a number that is not 0: 2 for 314, −1 for 0.25."""
    context = Context(prec=3, rounding=ROUND_DOWN, Emin=-999_999, Emax=999_999)
    return context.divide(Decimal(number.numerator), Decimal(number.denominator)).adjusted()


def count_bits(*numbers: Fraction) -> int:
    """Return the number of binary digits of the longest numerator or denominator."""
    return max(max(abs(x.numerator).bit_length(), x.denominator.bit_length()) for x in numbers)


def quote(value: object) -> str:
    """Describe a parameter for an error message: numbers and short strings as they are."""
    if value is None or isinstance(value, bool | int | float | str | Decimal | Fraction | complex):
        try:
            quoted = str(value) if isinstance(value, Decimal | Fraction) else repr(value)
        except ValueError:  # an integer longer than Python prints
            return "an integer of very many digits"
        return quoted if len(quoted) <= _LONGEST_QUOTE else f"{quoted[:_LONGEST_QUOTE]}…"
    return f"an object of type {type(value).__name__}"


def _with_exponent(text: str, number: Fraction | int) -> str:
    """Return a printed number with an exponent if it is below 1/1000."""
    if "/" in text or not 0 < abs(Fraction(number)) < Fraction(1, 1000):
        return text
    sign, digits = ("≈", text[1:]) if text.startswith("≈") else ("", text)
    return f"{sign}{Decimal(digits):e}"


def _plain(decimal: Decimal) -> str:
    """Print a decimal without trailing zeros, with an exponent only far from 1."""
    digits = len(decimal.as_tuple().digits)
    decimal = decimal.normalize(Context(prec=digits, Emin=-999_999, Emax=999_999))
    if not decimal:
        return "0"
    if -7 <= decimal.adjusted() < 15 or decimal.as_tuple().exponent == 0:
        return f"{decimal:f}"
    return f"{decimal:e}".replace("e+", "e")
