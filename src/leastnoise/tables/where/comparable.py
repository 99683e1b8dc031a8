"""Comparisons of two columns or expressions of one kind.

Two integers, and two decimals of one type, are compared exactly, and other numbers as their nearest
doubles. Strings are compared by their bytes. A row with a NULL or NaN on either side is not true.
"""

from functools import cache
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.where.arithmetic import to_double
from leastnoise.tables.where.nodes import Column, Value
from leastnoise.tables.where.values import NUMBERS, Columns

if TYPE_CHECKING:
    import ibis.expr.types as ir

_OPERATIONS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
CONVERT = "Use another column, or convert it by " + Words(
    'types=: times with a zone to "timestamp"; pandas objects by astype("string").',
    "--type: times with a zone to timestamp.",
)
_LONGEST = 1 << 28  # bytes of a string that PostgreSQL converts in any encoding


def check_pair(left: str | Value, operator: str, right: Value, columns: Columns) -> None:
    """Reject two columns that are not of one kind, or have no order."""
    kinds = [_find_group(left, columns), _find_right(left, operator, right, columns)]
    texts = [columns.is_text(side) for side in (left, right)]
    if kinds[0] != kinds[1] and not any(texts):
        raise InvalidParameter(
            "A condition must compare columns of one kind",
            got=f"{quote(str(left))} of kind {kinds[0]} and {quote(str(right))} of kind {kinds[1]}",
            fix="Compare numbers with numbers, strings with strings, or dates with dates.",
        )
    unordered = all(texts) or any(kind in ("text", "boolean") for kind in kinds if not any(texts))
    if unordered and operator not in ("=", "!="):
        raise InvalidParameter(
            "Columns of strings or booleans must be compared by = or !=",
            got=f"{quote(str(left))} {operator} {quote(str(right))}",
            fix="If the strings are numbers, write their difference, as in a - b > 0. "
            "Or convert both columns with " + Words("types=", "--type") + ".",
        )


def compare_pair(
    left: str | Value, operator: str, right: Value, columns: Columns, table: "ir.Table"
) -> Any:
    """Return whether two columns satisfy an operator."""
    kinds = [_find_group(side, columns) for side in (left, right)]
    texts = [columns.is_text(side) for side in (left, right)]

    def read(side: str | Value, *, text: bool, beside: str) -> Any:
        parsed = text and not all(texts) and beside != "text"
        return columns.parse(side, beside, table) if parsed else columns.value(side, table)

    aligned = align(
        read(left, text=texts[0], beside=kinds[1]),
        read(right, text=texts[1], beside=kinds[0]),
        columns.engine,
    )
    comparison = _OPERATIONS[operator](*aligned)
    for value in aligned:
        if value.type().is_floating():
            comparison = comparison & ~value.isnan()
        elif value.type().is_decimal() and columns.engine == "postgres":
            comparison = comparison & ~(value == _nan())
    return comparison


def _find_right(left: str | Value, operator: str, right: Value, columns: Columns) -> str:
    """Return the kind on the right; a name that is no column may be a text without quotes."""
    try:
        return _find_group(right, columns)
    except InvalidParameter as error:
        if not isinstance(right, Column):
            raise
        rejected, written = error, f"{left} {operator} '{right.name}'"
    raise InvalidParameter(
        rejected.problem,
        got=rejected.got,
        fix=Words(rejected.fix, rejected.advice) + f" Text is in single quotes, as in {written}.",
    )


def _find_group(side: str | Value, columns: Columns) -> str:
    kind = columns.kind(side)
    if kind == "other":
        raise InvalidParameter(
            "A condition must be about columns of numbers, strings, booleans or dates",
            got=f"the column {quote(str(side))} of another type",
            fix=CONVERT,
        )
    return "number" if kind in NUMBERS else kind


def align(left: Any, right: Any, engine: str) -> tuple[Any, Any]:
    """Return two values of one kind as two that an engine compares without a failing conversion."""
    kinds = left.type(), right.type()
    if all(kind.is_string() for kind in kinds):
        return (_to_bytes(left), _to_bytes(right)) if engine == "postgres" else (left, right)
    if not all(kind.is_numeric() for kind in kinds):
        return left, right
    if all(kind.is_integer() for kind in kinds):
        unsigned = any(kind.is_unsigned_integer() and kind.nbytes == 8 for kind in kinds)
        wide = "decimal(20, 0)"  # has all integers of 64 bits
        return (left.cast(wide), right.cast(wide)) if unsigned else (left, right)
    if kinds[0].copy(nullable=True) == kinds[1].copy(nullable=True) and kinds[0].is_decimal():
        return left, right
    return to_double(left, engine), to_double(right, engine)


def _to_bytes(text: Any) -> Any:
    """Return a string of PostgreSQL as bytes: two columns may have different collations.

    The blanks that pad CHAR(n) are removed. A string that may be too long to convert is NULL.
    """
    import ibis

    convert, measure, unpad = _functions()
    text = unpad(text)
    known = measure(text) <= _LONGEST
    return ibis.cases((known, convert(text, "UTF8")), else_=ibis.null("binary"))


@cache
def _functions() -> tuple[Any, Any, Any]:
    import ibis

    builtin = ibis.udf.scalar.builtin

    @builtin(name="convert_to", signature=(("string", "string"), "binary"))
    def convert(text, encoding):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    @builtin(name="octet_length", signature=(("string",), "int64"))
    def measure(text):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    @builtin(name="text", signature=(("string",), "string"))
    def unpad(text):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    return convert, measure, unpad


def _nan() -> Any:
    import ibis

    return ibis.literal("NaN").cast("decimal")
