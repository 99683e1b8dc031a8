"""Parse the numbers that callers pass as exact rationals, or reject them."""

from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, log
from numbers import Integral, Rational, Real

from leastnoise.core.exact.format import quote
from leastnoise.errors import InvalidParameter, Text, Words, parameter

Number = int | float | Fraction | Decimal | str

# Enough for 1e-4900 … 1e4900; a string such as "1e999999999" would use up all memory.
_LARGEST_BITS = 1 << 14
_LARGEST_EXPONENT = 4_900
_LARGEST_VALUE_BITS = 1 << 17
_LONGEST_TEXT = 4_300  # the longest integer that Python reads


def parse_rational(value: object, name: Text) -> Fraction:
    """Return ``value``, a parameter called ``name``, as an exact rational.

    An error names the option of the command line, if the parameter has one.

    Integers, fractions and decimals are exact. A string is a decimal (``"1e-6"``) or a ratio
    (``"1/3"``). A float stands for the shortest decimal that prints as it, so 0.1 is 1/10.

    Raises:
        InvalidParameter: If the value is none of these, or is not finite.

    >>> parse_rational(0.1, "delta"), parse_rational("1e-6", "delta")
    (Fraction(1, 10), Fraction(1, 1000000))
    """
    try:
        exact = value if type(value) is Fraction else _read(value)
    except _TooLongError:
        exact = Fraction(1 << _LARGEST_BITS)
    if exact is None:
        raise InvalidParameter(
            _name(name) + " must be a finite number",
            got=quote(value),
            fix=Words(
                "Use an int, float, Fraction or Decimal, or a string such as '0.1', '1e-6' or "
                "'1/3'.",
                "Write it as 0.1, 1e-6 or 1/3.",
            ),
        )
    if max(abs(exact.numerator).bit_length(), exact.denominator.bit_length()) > _LARGEST_BITS:
        raise InvalidParameter(
            _name(name)
            + f" must be between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT} in size, "
            f"with at most {_LARGEST_BITS} binary digits",
            got="another number",
            fix="Use a shorter number.",
        )
    return exact


def parse_positive(value: object, name: Text) -> Fraction:
    """Return ``value`` as an exact rational greater than zero, or reject it."""
    exact = parse_rational(value, name)
    if exact <= 0:
        raise InvalidParameter(
            _name(name) + " must be greater than 0",
            got=quote(value),
            fix="Use a positive number.",
        )
    return exact


def parse_count(value: object, name: Text, *, least: int) -> int:
    """Return ``value`` as an integer of at least ``least``, or reject it."""
    exact = parse_rational(value, name)
    if exact.denominator != 1 or exact < least:
        raise InvalidParameter(
            _name(name) + f" must be an integer of at least {least}",
            got=quote(value),
            fix=f"Use, for example, {max(least, 1)}.",
        )
    return exact.numerator


def parse_confidence(
    value: object, *, name: str = "confidence", below_one: str | None = None
) -> Fraction:
    """Return a confidence as an exact rational above 0 and at most 1, or reject it.

    ``below_one`` rejects 1 too; it is the phrase used in the message. Default: 1 is allowed.
    """
    level = parse_rational(value, name)
    if 0 < level < 1 or (level == 1 and below_one is None):
        return level
    raise InvalidParameter(
        _name(name) + f" must be above 0 {below_one or 'and at most 1'}",
        got=quote(value),
        fix="Use, for example, 0.95.",
    )


def _name(name: Text) -> Words:
    """Return a name in the words of Python and of the command line."""
    return name if isinstance(name, Words) else parameter(name)


def exact_ratio(value: object) -> tuple[int, int]:
    """Return a value to be released as (numerator, denominator), exactly as it is stored.

    Unlike in a parameter, a float stands for its binary value here, because a value is data. The
    error names the type of the value and never its content.
    """
    if type(value) is float and isfinite(value):
        return value.as_integer_ratio()
    if type(value) is int and value.bit_length() <= _LARGEST_VALUE_BITS:
        return value, 1
    try:
        ratio = _value_ratio(value)
    except Exception:  # noqa: BLE001 -- another package's error could quote the value
        ratio = None
    if ratio is not None and max(abs(ratio[0]), ratio[1]).bit_length() <= _LARGEST_VALUE_BITS:
        return ratio
    if _is_number(value):
        raise InvalidParameter(
            "The value to release must be finite",
            got=f"NaN, infinity or a number over {_LARGEST_VALUE_BITS:,} bits",
            fix="Replace such values by a rule that does not depend on the data.",
        )
    name = type(value).__name__
    raise InvalidParameter(
        "The value to release must be a number",
        got=f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}",
        fix="Pass an int, float, Fraction or Decimal, or a numpy array of floats or integers.",
    )


def _is_number(value: object) -> bool:
    """Whether the type of a value is one of numbers; False if asking for it raises an error."""
    try:
        number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
        return number and not _is_duration(value)
    except Exception:  # noqa: BLE001 -- another package's error could quote the value
        return False


def _value_ratio(value: object) -> tuple[int, int] | None:
    """Parse a value of another type, or return None if it is not a finite number."""
    if isinstance(value, bool) or _is_duration(value):
        return None  # a boolean is not a number here
    if isinstance(value, Integral):
        return int(value), 1
    if isinstance(value, Rational):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, Decimal):
        within = value.is_finite() and (not value or abs(value.adjusted()) <= _LARGEST_VALUE_BITS)
        return (value or Decimal(0)).as_integer_ratio() if within else None
    if isinstance(value, Real) and hasattr(value, "as_integer_ratio"):
        numerator, denominator = value.as_integer_ratio()  # numpy's other floats; raises for NaN
        return int(numerator), int(denominator)
    return None


def as_float(exact: Fraction | float) -> float:
    """Return the nearest float, which is infinite beyond the largest one (IEEE 754's rule)."""
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def as_log(number: Fraction) -> float:
    """Return the natural logarithm of a number ≥ 0 of any length, as a float."""
    if not number:
        return -inf
    return log(number.numerator) - log(number.denominator)


def _read(value: object) -> Fraction | None:
    """Parse a parameter, or return None if it is not a finite number."""
    if isinstance(value, bool) or _is_duration(value):
        return None
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float):
        return Fraction(Decimal(float.__repr__(value))) if isfinite(value) else None
    if isinstance(value, Decimal):
        return _read_decimal(value)
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, Real) and isfinite(value):
        return _read_text(str(value))  # numpy's other floats print their shortest decimal
    return None


def _read_decimal(value: Decimal) -> Fraction | None:
    if not value.is_finite():
        return None
    if value and abs(value.adjusted()) > _LARGEST_EXPONENT:
        raise _TooLongError
    return Fraction(value)


def _read_text(text: str) -> Fraction | None:
    if len(text) > _LONGEST_TEXT:
        raise _TooLongError
    upper, slash, lower = text.partition("/")
    try:
        if slash:
            return Fraction(int(upper), int(lower))
        return _read_decimal(Decimal(text))
    except (ArithmeticError, ValueError):
        return None


def _is_duration(value: object) -> bool:
    """Whether this is numpy's timedelta64, which is registered as an integer."""
    return getattr(getattr(value, "dtype", None), "kind", "") == "m"


class _TooLongError(Exception):
    """A number has more digits than any guarantee needs."""
