"""A planned query: which rows it is about, and the numbers it releases.

Everything here is public: columns are looked up in the table's schema, and no row is read.
"""

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import parse_count, quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE, Selection, Summed, among
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Key
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Comparison, Joined, Node, truth

if TYPE_CHECKING:
    from leastnoise.tables.queries.query import Query

_GROUPABLE = ("integer", "text", "boolean", "date")
_NUMBERS = ("integer", "real", "decimal")
# More keys than this are not written into a query; other groups are left out of its result.
_MOST_WRITTEN = 1000
# What the columns of a query are called: nothing that a table has.
_GROUP, _CELL = "leastnoise_g", "leastnoise_c"


@dataclass(frozen=True)
class Unit:
    """The privacy unit, and how much of a unit counts.

    Attributes:
        column: The column that names units; None where a row is a unit.
        max_rows: How many rows of a unit count in a group.
        neighbors: Whether neighboring tables have one unit more or less, or another one.
    """

    column: str | None
    max_rows: int
    neighbors: str

    def __post_init__(self) -> None:
        parse_count(self.max_rows, "max_rows", least=1)
        if self.neighbors not in (ADD_REMOVE, REPLACE):
            raise InvalidParameter(
                f"neighbors must be {ADD_REMOVE!r} or {REPLACE!r}",
                got=quote(self.neighbors),
                fix="Choose whether neighboring tables add or remove a unit, or replace one.",
            )


@dataclass(frozen=True, repr=False)  # Ibis expressions might show records
class Rows:
    """The rows of a source that a query is about.

    Two queries about the same rows have equal tables: conditions that all must be true are
    written in one order, whichever query they come from.

    Attributes:
        source: The source.
        unit: The privacy unit.
        conditions: Conditions that must all be true of a row, none of them joined by "and".
        numbers: Columns of strings that must be numbers.
        filters: Further Ibis conditions that must be true.
    """

    source: Source
    unit: Unit
    conditions: frozenset[Node] = frozenset()
    numbers: frozenset[str] = frozenset()
    filters: tuple[Any, ...] = ()

    @classmethod
    def where(cls, source: Source, unit: Unit, condition: Node | None) -> "Rows":
        """Return the rows for which a condition is true; all rows if there is none."""
        if condition is None:
            return cls(source, unit)
        if isinstance(condition, Joined) and condition.word == "and":
            return cls(source, unit, frozenset(condition.terms))
        return cls(source, unit, frozenset({condition}))

    @property
    def words(self) -> list[str]:
        """The conditions as strings, sorted, without those of ``filters``."""
        # "number income" is no condition, so it is told apart from one.
        return sorted([*map(str, self.conditions), *(f"number {name}" for name in self.numbers)])

    @cached_property
    def table(self) -> Any:
        """The rows as an Ibis expression."""
        table = self.source.table
        for condition in sorted(self.conditions, key=str):
            table = table.filter(truth(condition, self.source, table))
        for column in sorted(self.numbers):
            value = self.source.number(column)
            table = table.filter(value.notnull() & ~value.isnan())
        for filter_ in self.filters:
            table = table.filter(filter_)
        return table

    def known(self, column: str) -> "Rows":
        """Leave out the rows without a value: NULL, NaN, and strings that are not numbers."""
        if self.source.text:
            return replace(self, numbers=self.numbers | {column})
        return replace(self, conditions=self.conditions | {Comparison(column, "is not null")})

    def among(self, by: tuple[str, ...], keys: tuple[Key, ...] | None) -> "Rows":
        """Leave out the rows of groups that were not asked for."""
        written = _written(keys)
        if written is None:
            return self
        return self.filter(among([self.table[name] for name in by], written))

    def filter(self, condition: Any) -> "Rows":
        """Leave out the rows for which an Ibis condition is not true."""
        return replace(self, filters=(*self.filters, condition))


@dataclass(frozen=True, kw_only=True, repr=False)
class PlannedQuery:
    """A query with its rows and released numbers, not yet run.

    Attributes:
        query: The query.
        rows: The rows that it is about.
        numbers: The numbers that are released. If groups are discovered, the first one is the count
            that decides which are shown.
        counted: Whether the engine counts rows: the first integer of a group.
        sums: What the engine adds up: the next integers of a group.
        cell: A part of a group that no column names, if there is one: an Ibis expression.
    """

    query: "Query"
    rows: Rows
    numbers: tuple[ReleasedNumber, ...]
    counted: bool = True
    sums: tuple[Summed, ...] = ()
    cell: Any = None

    def __repr__(self) -> str:
        """Print what is asked, and no data: Ibis might show records."""
        return f"PlannedQuery({self.query.title})"

    @property
    def identities(self) -> tuple[Hashable, ...]:
        """For each number, what is equal only for numbers that are always equal before noise.

        They are about the same rows, groups and limits of a unit, and the same count or sum of
        them. Numbers that a query makes itself belong to that query.
        """
        query = self.query
        which = self.selection.identity, query.answered_groups
        if query.makes_numbers:
            own = type(query), json.dumps(query.to_dict(), sort_keys=True)
            return tuple((which, own, place) for place in range(len(self.numbers)))
        parts: list[Hashable] = [*(["count"] if self.counted else [])]
        parts += [summed.identity for summed in self.sums]
        return tuple((which, part) for part in parts)

    @cached_property
    def selection(self) -> Selection:
        """Which rows count, and by which groups.

        Which groups of a unit count is chosen by a hash with a salt. It is made of what the
        query selects, so that a sum and a count of the same rows count the same groups.
        """
        query, rows = self.query, self.rows
        words = json.dumps(query.selection_words() | {"where": rows.words}, sort_keys=True)
        by = {f"{_GROUP}{i}": rows.table[name] for i, name in enumerate(query.by)}
        if self.cell is not None:
            by[_CELL] = self.cell
        return Selection(
            table=rows.table,
            by=by,
            keys=_written(query.groups) if self.cell is None else None,
            unit=rows.unit.column,
            rows=rows.unit.max_rows,
            groups=query.groups_per_unit,
            salt=hashlib.sha256(words.encode()).hexdigest()[:32],
            engine=rows.source.engine,
        )


def check_groupable(name: str, kind: str, what: str) -> None:
    """Reject a column whose values do not name a unit or a group the same way on all engines."""
    if kind not in _GROUPABLE:
        raise InvalidParameter(
            f"{what} must hold integers, strings, booleans or dates",
            got=f"{name!r}, of kind {kind}",
            fix="Choose another column, or convert it: times to dates, numbers to integers, "
            'pandas objects by astype("string").',
        )


def check_numeric(source: Source, column: str, *, booleans: bool) -> None:
    """Reject a column that is missing, or holds something else than numbers (or booleans)."""
    kind = source.kind(column, "a column of numbers")
    if kind not in _NUMBERS and not (booleans and kind == "boolean") and not source.text:
        raise InvalidParameter(
            "a column of numbers must hold integers, floats or decimals (or booleans, for sums)",
            got=f"{column!r}, of kind {kind}",
            fix='Choose another column, or convert it: pandas objects by astype("Float64").',
        )


def _written(keys: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    return keys if keys is not None and len(keys) <= _MOST_WRITTEN else None
