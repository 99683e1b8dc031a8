"""Names of units and groups as texts that all engines write alike.

Whether a row's group is among given ones, in a query that stays short however many they are.

Names of units and groups as texts that all engines write alike.
"""

from collections.abc import Sequence
from datetime import date
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ibis.expr.types as ir


def among(columns: Sequence["ir.Value"], keys: Sequence[tuple[Any, ...]]) -> "ir.BooleanValue":
    """Return whether the columns together hold one of the keys.

    Each column is looked up in one list, and where the keys are not all there are of their parts,
    what the columns hold together in another. A condition for each key would take engines seconds.
    """
    import ibis

    # By place: zip would make an iterator for each key.
    parts = [sorted({key[place] for key in keys}) for place in range(len(columns))]
    each = (_in(column, part) for column, part in zip(columns, parts, strict=True))
    held: ir.BooleanValue = ibis.and_(*each)
    if prod(map(len, parts)) == len(set(keys)):
        return held
    return held & joined([text(column) for column in columns]).isin(list(map(_written, keys)))


def _in(column: Any, part: list[Any]) -> Any:
    """Return whether a column holds one of some values, which rise; a long list is read slowly."""
    if column.type().is_integer() and part[-1] - part[0] == len(part) - 1:
        return column.between(part[0], part[-1])
    return column.isin(part)


def _written(key: tuple[Any, ...]) -> str:
    """Return a key as the engines join it."""
    *before, last = (_part(part) for part in key)
    return "".join(f"{len(part)}:{part}" for part in before) + last


def _part(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, date):
        return str(part.year * 10_000 + part.month * 100 + part.day)
    return str(part)


def joined(texts: Sequence[Any]) -> Any:
    """Return texts as one, from which they could be told: each but the last after its length."""
    import ibis

    *before, last = texts
    for part in reversed(before):
        last = part.length().cast("string") + ibis.literal(":") + part + last
    return last


def text(value: Any) -> Any:
    """Return a name as a text that is the same on all engines.

    A date is written as one number, for how engines print it is a setting of theirs; those that
    are not in the four-digit years, and ±∞, as the last or first of them that is.
    """
    import ibis

    if value.type().is_date():
        first, last = ibis.literal(date.min), ibis.literal(date.max)
        day = ibis.cases((value > last, last), (value < first, first), else_=value)
        year, month, number = (part.cast("int64") for part in (day.year(), day.month(), day.day()))
        value = year * 10_000 + month * 100 + number
    return value.cast("string")
