"""What a column expression is worth in a row, in plain Python, written from docs/where.md.

Numbers are Fractions and floats: an operation is computed exactly and rounded once.
"""

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from leastnoise.tables.where.nodes import Arithmetic, Column, Literal, Part, Value

WHOLE, LARGEST, SMALLEST = 2**53, 2**500, Fraction(1, 2**75)
# By name: integers are exact, other numbers are doubles.
Row = dict[str, Any]


def worth(operand: str | Value | Literal, row: Row) -> Any:
    """Return the value of a column, a literal or an expression; None where it is NULL."""
    match operand:
        case str():
            return row[operand]
        case Column(name):
            return row[name]
        case Literal():
            return operand.value
        case Part(part, value):
            return part_of(part, worth(value, row))
        case Arithmetic(operator, left, right):
            return compute(operator, number(left, row), number(right, row))
    raise AssertionError(operand)


def number(operand: Value | Literal, row: Row) -> int | float | None:
    """Return an operand of arithmetic: an int if its kind is integer, else a float."""
    value = worth(operand, row)
    if isinstance(operand, Literal):
        exact = Fraction(value)
        whole = exact.denominator == 1 and abs(exact) <= WHOLE
        return int(exact) if whole else float(value)
    if value is None or (not isinstance(value, int) and math.isnan(value)):
        return None
    if isinstance(value, int):
        return max(-WHOLE, min(WHOLE, value))
    if isinstance(value, Decimal):
        value = nearest(value)
    if abs(value) < SMALLEST and not isinstance(operand, Arithmetic):
        return 0.0
    return float(max(-LARGEST, min(LARGEST, value)))


def nearest(value: Decimal) -> float:
    """Return the nearest double, ±∞ beyond the range."""
    return float(value)


def compute(operator: str, left: int | float | None, right: int | float | None) -> Any:
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int) and operator != "/":
        whole = {"+": left + right, "-": left - right, "*": left * right}[operator]
        return max(-WHOLE, min(WHOLE, whole))
    one, other = Fraction(left), Fraction(right)
    if operator == "/":
        exact = one / other
    else:
        exact = {"+": one + other, "-": one - other, "*": one * other}[operator]
    return float(max(Fraction(-LARGEST), min(Fraction(LARGEST), Fraction(float(exact)))))


def part_of(part: str, moment: date | datetime | None) -> int | None:
    if moment is None:
        return None
    return {
        "year": moment.year,
        "quarter": (moment.month + 2) // 3,
        "month": moment.month,
        "week": moment.isocalendar().week,
        "weekday": moment.isoweekday(),
        "day": moment.day,
        "hour": moment.hour if isinstance(moment, datetime) else None,
    }[part]


def matches(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern of like, character by character."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(matches(text[cut:], rest) for cut in range(len(text) + 1))
    if first == "\\":
        first, rest = rest[0], rest[1:]
        return text[:1] == first and matches(text[1:], rest)
    return bool(text) and first in ("_", text[0]) and matches(text[1:], rest)
