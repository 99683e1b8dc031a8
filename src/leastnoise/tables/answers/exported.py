"""The columns that a table of answers is exported as: plain Python values of one kind each."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from leastnoise.errors import Unsupported
from leastnoise.tables.answers.figures import (
    BOUND,
    CELL_LOW,
    LOW,
    MIDDLE,
    RANK_ERROR,
    SUM,
    VALUE,
    columns_of,
    figures_of,
    whole_columns,
)
from leastnoise.tables.answers.rounding import float_above, float_below, float_near

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

INTEGER, REAL, TEXT, BOOLEAN, DATE = "integer", "real", "text", "boolean", "date"
_KINDS: dict[type, str] = {int: INTEGER, str: TEXT, bool: BOOLEAN, date: DATE}
# To the nearest; every other real figure is an end above or an error, and rounded up.
_NEAREST = (VALUE, SUM, MIDDLE)
_ROWS_AT_ONCE = 10_000
_SHORTEST, _LONGEST = 1 << 63, 10**38


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: What it is called.
        kind: What it holds.
        values: Its values; None for null.
        long: Whether some whole number does not fit into 64 bits.
        nulls: Whether there are nulls.
    """

    name: str
    kind: str
    values: list[Any]
    long: bool = False
    nulls: bool = False


def exported(answers: "GroupedAnswers") -> list[Column]:
    """Return the columns of a table.

    Raises:
        Unsupported: If a number is too long for the types that other programs have.
    """
    figures = columns_of(answers.answers)
    names = key_names(answers.names, figures)
    columns = [_key(name, [key[i] for key in answers.keys]) for i, name in enumerate(names)]
    whole = whole_columns(answers.answers)
    read = [_whole if name in whole else _reading(name) for name in figures]
    lists: list[list[Any]] = [[] for _ in figures]
    rows = figures_of(answers.answers)
    while block := list(islice(rows, _ROWS_AT_ONCE)):  # all at once, their ratios would take a GB
        for i, (values, number) in enumerate(zip(lists, read, strict=True)):
            column = (row[i] for row in block)
            values += [None if figure is None else number(*figure) for figure in column]
    by_name = dict(zip(figures, lists, strict=True))
    if BOUND not in whole and RANK_ERROR not in figures:
        by_name[BOUND] = _widened(by_name[BOUND], by_name[VALUE])
    return columns + [
        _integers(name, values)
        if name in whole
        else Column(name, REAL, values, nulls=None in values)
        for name, values in by_name.items()
    ]


def key_names(names: Sequence[str], figures: Sequence[str]) -> list[str]:
    """Return what the columns to group by are called beside the figures.

    ``value`` becomes ``value_key``; in capitals too, for many programs see no difference.
    """
    taken = {name.casefold() for name in (*figures, *names)}
    clashing = {name.casefold() for name in figures}
    found = []
    for name in names:
        free = name
        while free.casefold() in clashing or (free != name and free.casefold() in taken):
            free = f"{free}_key"
        taken.add(free.casefold())
        found.append(free)
    return found


def _key(name: str, values: Sequence[Any]) -> Column:
    kind = _KINDS[type(values[0])] if values else TEXT
    return _integers(name, list(values)) if kind == INTEGER else Column(name, kind, list(values))


def _integers(name: str, values: list[Any]) -> Column:
    numbers = [number for number in values if number is not None]
    least, most = min(numbers, default=0), max(numbers, default=0)
    if max(-least, most) >= _LONGEST:
        raise Unsupported(
            "exported whole numbers must have at most 38 digits; got one that has more. "
            "Use rows(), which are exact."
        )
    long = least < -_SHORTEST or most >= _SHORTEST
    return Column(name, INTEGER, values, long=long, nulls=len(numbers) < len(values))


def _reading(name: str) -> Callable[[int, int], float]:
    if name in _NEAREST:
        return float_near
    return float_below if name in (LOW, CELL_LOW) else float_above


def _whole(upper: int, lower: int) -> int:
    return upper // lower


def _widened(bounds: list[Any], values: list[float]) -> list[Any]:
    """Return bounds that hold of values as floats: half an ulp of the largest more, rounded up."""
    off = math.ulp(max(map(abs, values), default=0.0)) / 2
    return [bound if bound is None else math.nextafter(bound + off, math.inf) for bound in bounds]
