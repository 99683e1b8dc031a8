"""The names of units and groups in a query: compared with given keys, and as strings to hash."""

from collections.abc import Sequence
from datetime import date
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ibis.expr.types as ir


def among(columns: Sequence["ir.Value"], keys: Sequence[tuple[Any, ...]]) -> "ir.BooleanValue":
    """Return whether the columns together hold one of the keys.

    Each column is looked up in a list of its values. If the keys are not all combinations of these,
    the columns joined to a string are looked up in another list. A condition for each key would
    take engines seconds.
    """
    import ibis

    # By place: zip would make an iterator for each key.
    parts = [sorted({key[place] for key in keys}) for place in range(len(columns))]
    each = (_in(column, part) for column, part in zip(columns, parts, strict=True))
    held: ir.BooleanValue = ibis.and_(*each)
    if prod(map(len, parts)) == len(set(keys)):
        return held
    return held & join_texts([to_text(column) for column in columns]).isin(
        list(map(_written, keys))
    )


def _in(column: Any, part: list[Any]) -> Any:
    """Return whether a column holds one of some sorted values; a range is faster than a list."""
    if column.type().is_integer() and part[-1] - part[0] == len(part) - 1:
        return column.between(part[0], part[-1])
    return column.isin(part)


def _written(key: tuple[Any, ...]) -> str:
    """Return a key as :func:`join_texts` writes it."""
    *before, last = (_part(part) for part in key)
    return "".join(f"{len(part)}:{part}" for part in before) + last


def _part(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, date):
        return str(part.year * 10_000 + part.month * 100 + part.day)
    return str(part)


def join_texts(texts: Sequence[Any]) -> Any:
    """Return one string that identifies several: each but the last after its length."""
    import ibis

    *before, last = texts
    for part in reversed(before):
        last = part.length().cast("string") + ibis.literal(":") + part + last
    return last


def to_text(value: Any) -> Any:
    """Return a name as a string that is the same on all engines.

    A date is written as one number, because engines print dates by their settings; dates outside
    of the years 1 to 9999 as the first or the last date within.
    """
    import ibis

    if value.type().is_date():
        first, last = ibis.literal(date.min), ibis.literal(date.max)
        day = ibis.cases((value > last, last), (value < first, first), else_=value)
        year, month, number = (part.cast("int64") for part in (day.year(), day.month(), day.day()))
        value = year * 10_000 + month * 100 + number
    return value.cast("string")
