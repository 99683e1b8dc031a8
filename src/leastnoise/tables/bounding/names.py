"""The names of units and groups in queries: equal on all engines, as keys and as strings."""

from collections.abc import Sequence
from datetime import date, datetime
from math import prod
from typing import TYPE_CHECKING, Any

from leastnoise.tables.sources import known_times, time_literal, time_to_text, write_time

if TYPE_CHECKING:
    import ibis.expr.types as ir


def among(
    columns: Sequence["ir.Value"], keys: Sequence[tuple[Any, ...]], engine: str
) -> "ir.BooleanValue":
    """Return whether the columns of a row are one of the keys.

    Each column is compared with a list of its values. If the keys are not all combinations of these
    values, the columns are joined to one string, which is compared with another list. A condition
    for each key would take seconds.
    """
    import ibis

    # Not by zip, which would create an iterator for each key.
    parts = [sorted({key[place] for key in keys}) for place in range(len(columns))]
    listed = (_is_listed(column, part, engine) for column, part in zip(columns, parts, strict=True))
    condition: ir.BooleanValue = ibis.and_(*listed)
    if prod(map(len, parts)) == len(set(keys)):
        return condition
    # Strings are cut one character after the longest key, so a longer string equals no key.
    longest = max(len(_part_to_text(part)) for key in keys for part in key)
    texts = [to_text(column, engine).left(longest + 1) for column in columns]
    return condition & join_texts(texts).isin(list(map(_join_key, keys)))


def _is_listed(column: Any, values: list[Any], engine: str) -> Any:
    """Return whether a column has one of the sorted values; a range is faster than a list."""
    if column.type().is_integer() and values[-1] - values[0] == len(values) - 1:
        return column.between(values[0], values[-1])
    if isinstance(values[0], datetime):
        values = [time_literal(value, engine) for value in values]
    return column.isin(values)


def _join_key(key: tuple[Any, ...]) -> str:
    *before, last = (_part_to_text(part) for part in key)
    return "".join(f"{len(part)}:{part}" for part in before) + last


def _part_to_text(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, datetime):
        return time_to_text(part)
    if isinstance(part, date):
        return str(part.year * 10_000 + part.month * 100 + part.day)
    return str(part)


def join_texts(texts: Sequence[Any]) -> Any:
    """Return one string that identifies several; the length precedes each but the last."""
    import ibis

    *before, last = texts
    for part in reversed(before):
        last = part.length().cast("string") + ibis.literal(":") + part + last
    return last


def to_text(value: Any, engine: str) -> Any:
    """Return a name as a string that is the same on all engines.

    A date is written as one number, because engines print dates by their settings.
    """
    if value.type().is_timestamp():
        return write_time(known_times(value, engine), engine)
    if value.type().is_date():
        value = day_number(value)
    return value.cast("string")


def day_number(day: Any) -> Any:
    """Return a date as the digits of its year, month and day, such as 20240229.

    Dates outside the years 1 to 9999 are replaced by the first or the last date of that range.
    """
    import ibis

    first, last = ibis.literal(date.min), ibis.literal(date.max)
    day = ibis.cases((day > last, last), (day < first, first), else_=day)
    year, month, number = (part.cast("int64") for part in (day.year(), day.month(), day.day()))
    return year * 10_000 + month * 100 + number
