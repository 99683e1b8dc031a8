"""A condition as an expression that means the same on every engine.

Negations are first moved to the comparisons, so that only ``and`` and ``or`` join them. De Morgan's
laws and OPPOSITES hold in three-valued logic too. Both words are monotone, so a comparison that is
NULL may then count as false: the row is omitted in both cases.

Each comparison is rewritten with a value of the column's own type, such that it is true for exactly
the same values of the column. Then no engine converts a column or rounds a value by its own rules,
and no value is out of range.
"""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.where.comparable import CONVERT, check_pair, compare_pair
from leastnoise.tables.where.literals import read_day, read_moment
from leastnoise.tables.where.neighbors import find_neighbors, write_decimal
from leastnoise.tables.where.nodes import (
    OPPOSITES,
    Comparison,
    Joined,
    Literal,
    Node,
    Not,
    Value,
    comparisons,
)
from leastnoise.tables.where.patterns import matches
from leastnoise.tables.where.values import Columns, write_time

if TYPE_CHECKING:
    import ibis.expr.types as ir

# For each kind of column, the kinds of its literals, and their description in errors.
_VALUES = {
    **dict.fromkeys(("integer", "real", "decimal"), (("number",), "numbers")),
    "text": (("text",), "strings, as in 'north'"),
    "boolean": (("boolean",), "true and false"),
    "date": (("date",), "dates, as in date '2024-02-29'"),
    "timestamp": (
        ("date", "timestamp"),
        "timestamps without a zone, as in timestamp '2024-02-29 12:30:00', or dates",
    ),
}
_LIKE = ("like", "not like")
_UNORDERED = ("=", "!=", "in", "not in", *_LIKE)
_OPERATIONS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def check(root: Node, source: Columns) -> None:
    """Reject columns that do not exist or cannot be compared with the given values."""
    for comparison in comparisons(root):
        kind = source.kind(comparison.column)
        if kind not in _VALUES:
            raise InvalidParameter(
                "A condition must be about columns of numbers, strings, booleans or dates",
                got=f"the column {_quote(comparison.column)} of another type",
                fix=CONVERT,
            )
        _check_values(comparison, kind, source)


def _check_values(comparison: Comparison, kind: str, source: Columns) -> None:
    comparable, called = _VALUES[kind]
    column, operator = comparison.column, comparison.operator
    for value in comparison.values:
        if not isinstance(value, Literal):
            check_pair(column, operator, value, source)
            continue
        if kind == "text" and value.kind == "text" and operator not in _UNORDERED:
            word = "date" if read_day(str(value.value)) else "timestamp"
            raise InvalidParameter(
                "Strings have no order in a condition",
                got=f"{_quote(column)} {operator} {value}",
                fix=f"Write {word} {value}."
                if source.is_text(column)
                else "If they are dates or times, convert the column by "
                + Words(f"types={{{quote(str(column))}: {word!r}}}", f"--type {column}={word}")
                + ".",
            )
        # A column of strings is parsed as the kind that it is compared with.
        if source.is_text(column):
            continue
        stated = value if operator in _LIKE else read_moment(value, kind)
        if stated.kind not in comparable:
            shown = str(value)
            raise InvalidParameter(
                f"A condition must compare {_quote(column)}, {_describe(column)} of kind "
                f"{kind}, with {called}",
                got=f"the {value.kind} {shown[:40]}{'…' * (len(shown) > 40)}",
                fix="Give a value of the column's kind.",
            )


def _quote(column: str | Value) -> str:
    return quote(column if isinstance(column, str) else str(column))


def _describe(column: str | Value) -> str:
    return "a column" if isinstance(column, str) else "an expression"


def truth(root: Node, source: Columns, table: "ir.Table") -> "ir.BooleanValue":
    """Return the expression of a condition that :func:`check` accepts."""
    return _build_condition(root, _Comparisons(source, table), negated=False)


class _Comparisons:
    """Comparisons of the columns of a table."""

    def __init__(self, source: Columns, table: "ir.Table") -> None:
        self._source, self._engine, self._table = source, source.engine, table

    def compare(self, comparison: Comparison, operator: str) -> Any:
        """Return whether a column satisfies an operator with the values of a comparison."""
        name = comparison.column
        for other in comparison.values:
            if not isinstance(other, Literal):
                return compare_pair(name, operator, other, self._source, self._table)
        values = tuple(value for value in comparison.values if isinstance(value, Literal))
        if operator not in _LIKE:
            kind = self._source.kind(name)
            values = tuple(read_moment(value, kind) for value in values)
        match operator:
            case "is null":
                column = self._value(name)
                no_number = self._is_nan(column)
                return column.isnull() if no_number is None else column.isnull() | no_number
            case "is not null":
                return self._all(self._value(name))
            case "like" | "not like":
                match = matches(self._value(name), str(values[0].value), self._engine)
                return ~match if operator == "not like" else match
            case "in" | "not in":
                return self._among(name, values, negated=operator == "not in")
            case "between":
                low, high = values
                return self._compare_value(name, ">=", low) & self._compare_value(name, "<=", high)
            case "not between":
                low, high = values
                return self._compare_value(name, "<", low) | self._compare_value(name, ">", high)
            case _:
                return self._compare_value(name, operator, values[0])

    def _compare_value(self, name: str | Value, operator: str, value: Literal) -> Any:
        """Return whether a column satisfies the operator with the value."""
        column = self._read(name, value)
        number = self._number(value, column.type())
        if number is None:
            return _OPERATIONS[operator](column, self._plain(value, column.type()))
        operator, bound = self._round_bound(column.type(), operator, number)
        if bound is None:  # the same for every number, NULL for NULL
            return self._all(column) if operator == "true" else _never()
        if self._large(column.type(), bound):
            return _compare_digits(column, operator, int(bound))
        comparison = _OPERATIONS[operator](column, self._as_type(column.type(), bound))
        # On all three engines NaN is greater than every number and equal to itself.
        return self._but_nan(column, comparison) if operator in (">", ">=", "!=") else comparison

    def _among(self, name: str | Value, values: tuple[Literal, ...], *, negated: bool) -> Any:
        """Return whether a column is one of some values, or none of them."""
        column = self._read(name, values[0])
        numbers = [self._number(value, column.type()) for value in values]
        if numbers[0] is None:
            listed = [self._plain(value, column.type()) for value in dict.fromkeys(values)]
            return column.notin(listed) if negated else column.isin(listed)
        bounds = [
            bound
            for number in dict.fromkeys(numbers)
            if number is not None
            and (bound := self._round_bound(column.type(), "=", number)[1]) is not None
        ]
        if not bounds:
            return self._all(column) if negated else _never()
        large = [bound for bound in bounds if self._large(column.type(), bound)]
        bounds = [bound for bound in bounds if bound not in large]
        parts = list[Any]()
        if large:
            digits = column.cast("string")
            listed = [str(int(bound)) for bound in large]
            parts.append(digits.notin(listed) if negated else digits.isin(listed))
        if 0 in bounds:
            # Alone: in a long list Spark compares floats by their bits, and −0.0 has others.
            bounds.remove(Fraction(0))
            zero = self._as_type(column.type(), Fraction(0))
            parts.append(column != zero if negated else column == zero)
        if bounds:
            listed = [self._as_type(column.type(), number) for number in bounds]
            parts.append(column.notin(listed) if negated else column.isin(listed))
        return self._but_nan(column, reduce(and_, parts)) if negated else reduce(or_, parts)

    def _value(self, name: str | Value) -> Any:
        return self._source.value(name, self._table)

    def _read(self, name: str | Value, value: Literal) -> Any:
        """Return a column; strings are parsed as the kind of ``value``, else NULL."""
        if not self._source.is_text(name) or value.kind == "text":
            return self._value(name)
        return self._source.parse(name, value.kind, self._table)

    def _number(self, value: Literal, kind: Any) -> Fraction | None:
        """Return the number that a column is compared with; None for values of other kinds.

        Floats are compared with the double nearest to the literal, as in SQL: 0.1 equals what was
        stored as 0.1.
        """
        if not isinstance(value.value, Decimal):
            return None
        number = Fraction(value.value)
        if not kind.is_floating():
            return number
        try:
            return Fraction(float(number))  # the nearest one: IEEE 754's rule, and Python's
        except OverflowError:
            return number

    def _plain(self, value: Literal, kind: Any) -> Any:
        """Return a text, boolean or date as an expression; beside times, the midnight of a date."""
        import ibis

        day = value.value
        if not isinstance(day, date):
            return ibis.literal(day)
        if isinstance(day, datetime):
            return write_time(day.isoformat(" "), self._engine)
        if kind.is_timestamp():
            return write_time(f"{day.isoformat()} 00:00:00", self._engine)
        return ibis.literal(day, type="date")

    def _as_type(self, kind: Any, number: Fraction) -> Any:
        """Return a number that a type has, as a value of that type."""
        import ibis

        if kind.is_integer():
            return ibis.literal(int(number), type=kind)
        if self._hugeint(kind):
            return ibis.literal(int(number), type="int64")
        # From strings, which every engine parses exactly; 0.1 in a query is not a float everywhere.
        if kind.is_floating():
            return ibis.literal(repr(float(number))).cast("float64")
        return ibis.literal(write_decimal(number)).cast("decimal" if self._boundless else kind)

    def _hugeint(self, kind: Any) -> bool:
        """Return whether a type may be DuckDB's HUGEINT, which Ibis reports as decimal(38, 0).

        HUGEINT has larger numbers. If it is compared with a decimal, DuckDB casts it, which fails
        for these numbers.
        """
        wide = kind.is_decimal() and (kind.precision, kind.scale) == (38, 0)
        return bool(wide and self._engine == "duckdb")

    def _large(self, kind: Any, number: Fraction) -> bool:
        """Return whether a number is too large for a literal that a HUGEINT is compared with."""
        return self._hugeint(kind) and abs(number) >= 1 << 63

    @property
    def _boundless(self) -> bool:
        return self._engine == "postgres"

    def _round_bound(
        self, kind: Any, operator: str, number: Fraction
    ) -> tuple[str, Fraction | None]:
        """Return an operator and a value of the type that are true for the same values of it.

        If there is no such value, the second is None and the first "true" or "false".
        """
        if kind.is_decimal() and self._boundless:
            return operator, number
        below, above = find_neighbors(kind, number, beyond=self._hugeint(kind))
        if below == above:
            return operator, below
        # The number lies strictly between two neighbors of the type, or beyond its last value. No
        # value equals it. Smaller values are those up to the neighbor below, and larger values are
        # those from the neighbor above. If there is no neighbor below, no integer or decimal is
        # smaller, and only −∞ is a smaller float.
        if operator in ("=", "!="):
            return ("false" if operator == "=" else "true"), None
        if operator in ("<", "<="):
            if below is None:
                return ("<", above) if kind.is_floating() else ("false", None)
            if above is None and not kind.is_floating():
                return "true", None
            return "<=", below
        if above is None:
            return (">", below) if kind.is_floating() else ("false", None)
        if below is None and not kind.is_floating():
            return "true", None
        return ">=", above

    def _all(self, column: Any) -> Any:
        """Return a condition that is true for every number, and NULL or false for NULL and NaN."""
        return self._but_nan(column, column.notnull())

    def _but_nan(self, column: Any, comparison: Any) -> Any:
        no_number = self._is_nan(column)
        return comparison if no_number is None else comparison & ~no_number

    def _is_nan(self, column: Any) -> Any:
        """Return whether a column is NaN; None if it cannot be."""
        import ibis

        if column.type().is_floating():
            return column.isnan()
        if column.type().is_decimal() and self._boundless:  # PostgreSQL's decimals have a NaN
            return column == ibis.literal("NaN").cast("decimal")
        return None


def _build_condition(node: Node, columns: _Comparisons, *, negated: bool) -> Any:
    """Return the condition that a node is true, or false if negated."""
    match node:
        case Not(term):
            return _build_condition(term, columns, negated=not negated)
        case Joined(word, terms):
            parts = [_build_condition(term, columns, negated=negated) for term in terms]
            return _join_balanced(and_ if (word == "and") is not negated else or_, parts)
        case _:
            operator = OPPOSITES[node.operator] if negated else node.operator
            return columns.compare(node, operator)


def _join_balanced(join: Any, parts: list[Any]) -> Any:
    """Join expressions in pairs: a long chain would nest as deep as it is long."""
    while len(parts) > 1:
        parts = [reduce(join, parts[place : place + 2]) for place in range(0, len(parts), 2)]
    return parts[0]


def _compare_digits(column: Any, operator: str, number: int) -> Any:
    """Compare a column of integers with an integer, not 0, by the digits of both.

    For two numbers of equal sign, the number with more digits is farther from 0. With equally
    many digits, it is the number whose digits come later as strings. No value is cast to a
    type that cannot represent it.
    """
    digits, bound = column.cast("string"), str(number)
    if operator in ("=", "!="):
        return _OPERATIONS[operator](digits, bound)
    outward = ">" if number > 0 else "<"
    if not operator.startswith(outward):
        return ~_compare_digits(column, OPPOSITES[operator], number)
    same_sign = ~digits.startswith("-") if number > 0 else digits.startswith("-")
    later = digits >= bound if operator.endswith("=") else digits > bound
    length = digits.length()
    return same_sign & ((length > len(bound)) | ((length == len(bound)) & later))


def _never() -> Any:
    import ibis

    return ibis.literal(value=False)
