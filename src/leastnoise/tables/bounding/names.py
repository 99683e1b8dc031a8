"""Names of units and groups as texts that all engines write alike."""

from collections.abc import Sequence
from datetime import date
from typing import Any


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
