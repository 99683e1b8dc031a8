"""Column expressions of a table: their kinds, and their values on an engine.

An expression is total: it fails for no row, depends on its own row only, and is NULL where an
operand is NULL. Arithmetic is in arithmetic.py. A part of a date outside the years 1 to 9999 is
NULL. A column of strings, as in a CSV file, is parsed as the kind that an expression needs, and is
NULL where it is none.
"""

from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables.where.arithmetic import check_size, compute, double, is_whole, to_operand
from leastnoise.tables.where.nodes import Arithmetic, Literal, Part, Value

if TYPE_CHECKING:
    import ibis.expr.types as ir

NUMBERS = ("integer", "real", "decimal")
_ENDS = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999")


class Columns(Protocol):
    """The columns of a table; a source."""

    @property
    def engine(self) -> str:
        """The engine of the table."""

    def kind(self, column: object) -> str:
        """Return the kind of a column or an expression; reject one that does not exist."""

    def is_text(self, column: str | Value) -> bool:
        """Return whether a column holds strings that are parsed as the kind that is needed."""

    def value(self, column: str | Value, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column or an expression as an Ibis value."""

    def parse(self, column: str | Value, kind: str, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column of strings as numbers, booleans, dates or timestamps, else NULL."""


def find_kind(node: Value, columns: Columns) -> str:
    """Return the kind of an expression; reject one that its columns do not fit."""
    match node:
        case Arithmetic(operator, left, right):
            check_size(node)
            whole = [_is_integer(side, columns) for side in (left, right)]
            return "integer" if all(whole) and operator != "/" else "real"
        case Part(part, value):
            _check_date(part, value, columns)
            return "integer"
        case _:
            return columns.kind(node)


def build_value(node: Value, columns: Columns, table: "ir.Table | None") -> "ir.Value":
    """Return the value of an expression whose kind :func:`find_kind` has returned."""
    import ibis

    match node:
        case Arithmetic():
            number, known = _build_number(node, columns, table)
            kind = "int64" if find_kind(node, columns) == "integer" else "float64"
            return ibis.cases((known, number.cast(kind)), else_=ibis.null(kind))
        case Part(part, value):
            return _build_part(part, value, columns, table)
        case _:
            return columns.value(node, table)


def _is_integer(operand: Value | Literal, columns: Columns) -> bool:
    """Return whether an operand of arithmetic is an integer; reject one that is no number."""
    if isinstance(operand, Literal):
        return is_whole(operand)
    kind = columns.kind(operand)
    if columns.is_text(operand):
        return False
    if kind not in NUMBERS:
        raise InvalidParameter(
            "Arithmetic must be on columns of integers, floats or decimals",
            got=f"{quote(str(operand))}, of kind {kind}",
            fix="Use another column, or convert it.",
        )
    return kind == "integer"


def _check_date(part: str, value: Value, columns: Columns) -> None:
    kind = columns.kind(value)
    needed = ("timestamp",) if part == "hour" else ("date", "timestamp")
    if kind not in needed and not columns.is_text(value):
        raise InvalidParameter(
            f"{part} must be of a column of {'timestamps' if part == 'hour' else 'dates'}",
            got=f"{quote(str(value))}, of kind {kind}",
            fix="Use another column, or convert it.",
        )


def _build_number(
    node: Value | Literal, columns: Columns, table: "ir.Table | None"
) -> tuple[Any, Any]:
    """Return a number as a double that is never NULL, and whether all its columns are known."""
    import ibis

    if isinstance(node, Literal):
        return double(node.value), ibis.literal(value=True)  # type: ignore[arg-type]
    if isinstance(node, Arithmetic):
        left, known = _build_number(node.left, columns, table)
        right, also_known = _build_number(node.right, columns, table)
        whole = find_kind(node, columns) == "integer"
        constant = isinstance(node.right, Literal)
        if isinstance(node.left, Literal):
            known = also_known
        elif not constant:
            known = known & also_known
        return compute(node.operator, left, right, whole=whole), known
    text = columns.is_text(node)
    column = columns.parse(node, "number", table) if text else columns.value(node, table)
    return to_operand(column, columns.engine)


def _build_part(part: str, value: Value, columns: Columns, table: "ir.Table | None") -> Any:
    """Return a part of a date or a time as an integer."""
    import ibis

    moment: Any = columns.value(value, table)
    if columns.is_text(value):
        moment = columns.parse(value, "timestamp" if part == "hour" else "date", table)
    if moment.type().is_timestamp() and part != "hour":
        moment = moment.date()
    if moment.type().is_date():
        known = moment.between(ibis.literal(date.min), ibis.literal(date.max))
    else:
        first, last = (write_time(end, columns.engine) for end in _ENDS)
        known = moment.between(first, last)
    moment = ibis.cases((known, moment), else_=ibis.null(moment.type()))
    return _PARTS[part](moment).cast("int64")


def write_time(text: str, engine: str) -> Any:
    """Return a time without a time zone as a constant; Spark has two types of times."""
    import ibis

    literal = ibis.literal(text)
    return _to_time()(literal) if engine == "pyspark" else literal.cast("timestamp(6)")


@cache
def _to_time() -> Any:
    import ibis

    @ibis.udf.scalar.builtin(name="to_timestamp_ntz", signature=(("string",), "timestamp"))
    def convert(text):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    return convert


_PARTS: dict[str, Any] = {
    "year": lambda moment: moment.year(),
    "quarter": lambda moment: moment.quarter(),
    "month": lambda moment: moment.month(),
    "week": lambda moment: moment.week_of_year(),
    "weekday": lambda moment: moment.day_of_week.index().cast("int64") + 1,
    "day": lambda moment: moment.day(),
    "hour": lambda moment: moment.hour(),
}
