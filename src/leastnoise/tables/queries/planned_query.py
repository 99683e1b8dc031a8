"""``PlannedQuery``: a query with its rows, groups and released numbers.

Everything here is public. Columns are looked up in the schema of the table, and no row is read.
"""

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import parse_count, quote
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE, Selection, Summed, among
from leastnoise.tables.keys import Key
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Comparison, Joined, Node, truth

if TYPE_CHECKING:
    from leastnoise.tables.queries.query import Query

_GROUPABLE = ("integer", "text", "boolean", "date", "timestamp")
_NUMBERS = ("integer", "real", "decimal")
# More keys than this are not written into a query. Other groups are then removed from its result.
_MOST_WRITTEN = 1000
# The names of columns in a query. They must differ from those of tables.
_GROUP, _BIN = "leastnoise_g", "leastnoise_c"


@dataclass(frozen=True)
class TableUnit:
    """The privacy unit of a table, with its contribution bound and neighboring datasets.

    Attributes:
        column: The column that names units; None if every row is a unit.
        max_rows: Maximum rows per unit per group; None if each query states it.
        neighbors: ``"add_remove"`` or ``"replace"``.
    """

    column: str | None
    max_rows: int | None
    neighbors: str

    def __post_init__(self) -> None:
        if self.max_rows is not None:
            parse_count(self.max_rows, "max_rows", least=1)
        if self.neighbors not in (ADD_REMOVE, REPLACE):
            raise InvalidParameter(
                parameter("neighbors") + f" must be {ADD_REMOVE!r} or {REPLACE!r}",
                got=quote(self.neighbors),
                fix=f"Use {ADD_REMOVE!r} (add or remove one unit) or {REPLACE!r}.",
            )


@dataclass(frozen=True)
class Unit(TableUnit):
    """The privacy unit of a query, which always has a contribution bound."""

    max_rows: int


@dataclass(frozen=True, repr=False)  # the repr of an Ibis expression may show rows
class Rows:
    """The rows of a source that a query is about.

    Queries about the same rows have equal tables, because conditions are sorted.

    Attributes:
        source: The source.
        unit: The privacy unit.
        conditions: Conditions that must all be true; none of them is joined by "and".
        numbers: Columns of strings that must be numbers.
        filters: Further Ibis conditions that must all be true.
    """

    source: Source
    unit: Unit
    conditions: frozenset[Node] = frozenset()
    numbers: frozenset[str] = frozenset()
    filters: tuple[Any, ...] = ()

    @classmethod
    def where(cls, source: Source, unit: Unit, condition: Node | None) -> "Rows":
        """Return the rows for which a condition is true; all rows without a condition."""
        if condition is None:
            return cls(source, unit)
        if isinstance(condition, Joined) and condition.word == "and":
            return cls(source, unit, frozenset(condition.terms))
        return cls(source, unit, frozenset({condition}))

    @property
    def words(self) -> list[str]:
        """The conditions as strings, sorted, without those of ``filters``."""
        # "number income" is not a valid condition, so the words are unambiguous.
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
        """Omit the rows without a value: NULL, NaN, and strings that are not numbers."""
        if self.source.is_text(column):
            return replace(self, numbers=self.numbers | {column})
        return replace(self, conditions=self.conditions | {Comparison(column, "is not null")})

    def among(self, by: tuple[str, ...], keys: tuple[Key, ...] | None) -> "Rows":
        """Omit the rows of other groups."""
        few = _limit_keys(keys)
        if few is None:
            return self
        columns = [self.source.value(name, self.table) for name in by]
        return self.filter(among(columns, few, self.source.engine))

    def filter(self, condition: Any) -> "Rows":
        """Omit the rows for which an Ibis condition is not true."""
        return replace(self, filters=(*self.filters, condition))


@dataclass(frozen=True, kw_only=True, repr=False)
class PlannedQuery:
    """A query with its rows and released numbers, not yet run.

    Attributes:
        query: The query.
        rows: The rows of the query.
        numbers: The released numbers. If groups are discovered, the first number is the count that
            decides which are shown.
        counted: Whether the engine counts rows, as the first integer of a group.
        sums: The sums that the engine computes, the next integers of a group.
        bin: An Ibis expression that divides groups further into bins; None if they are not divided.
        one_bin: Whether a unit counts in one bin of each of its groups. Otherwise a bin of a group
            counts as a group of its own.
    """

    query: "Query"
    rows: Rows
    numbers: tuple[ReleasedNumber, ...]
    counted: bool = True
    sums: tuple[Summed, ...] = ()
    bin: Any = None
    one_bin: bool = False

    def __repr__(self) -> str:
        """Print the title only, because the repr of an Ibis expression may show rows."""
        return f"PlannedQuery({self.query.title})"

    @property
    def identities(self) -> tuple[Hashable, ...]:
        """An identity for each number, equal only for numbers that are always equal before noise.

        Such numbers have the same rows, groups and contribution bounds, and are the same count or
        sum. Numbers that a query computes itself are identical only within equal queries.
        """
        query = self.query
        which = self.selection.identity, query.answered_groups
        if query.makes_numbers:
            # The selection has max_rows, which a query may state or omit.
            stated = query.to_dict() | {"max_rows": self.rows.unit.max_rows}
            own = type(query), json.dumps(stated, sort_keys=True)
            return tuple((which, own, place) for place in range(len(self.numbers)))
        parts: list[Hashable] = [*(["count"] if self.counted else [])]
        parts += [summed.identity for summed in self.sums]
        return tuple((which, part) for part in parts)

    @cached_property
    def selection(self) -> Selection:
        """The rows and groups that count, with contribution bounds.

        A hash with a salt chooses the groups of a unit. The salt depends on the selected rows and
        groups only, so a sum and a count of the same rows choose the same groups.
        """
        query, rows = self.query, self.rows
        words = json.dumps(query.selection_words() | {"where": rows.words}, sort_keys=True)
        by = {
            f"{_GROUP}{i}": rows.source.value(name, rows.table) for i, name in enumerate(query.by)
        }
        if self.bin is not None:
            by[_BIN] = self.bin
        return Selection(
            table=rows.table,
            by=by,
            keys=_limit_keys(query.groups) if self.bin is None else None,
            unit=rows.unit.column,
            rows=rows.unit.max_rows,
            groups=query.groups_per_unit,
            salt=hashlib.sha256(words.encode()).hexdigest()[:32],
            engine=rows.source.engine,
            bin=_BIN if self.one_bin else None,
        )


def parse_max_rows(unit: object, max_rows: int | None) -> int | None:
    """Return the rows per unit per group that a caller states for a table; None if it omits them.

    Then each query states them.
    """
    if unit is None:
        if max_rows not in (None, 1):
            raise _make_row_error(max_rows)
        return 1
    if not isinstance(unit, str):
        raise InvalidParameter(
            parameter("unit")
            + " must be the name of a column, or None if every row is a different person",
            got=quote(unit),
            fix="Name the column that identifies a person.",
        )
    return None if max_rows is None else parse_count(max_rows, "max_rows", least=1)


def find_unit(unit: TableUnit, max_rows: int | None) -> Unit:
    """Return the privacy unit of a query, for its ``max_rows`` or that of its table.

    Raises:
        InvalidParameter: If neither states it, or a row is a unit and it is not 1.
    """
    if unit.column is None and max_rows not in (None, 1):
        raise _make_row_error(max_rows)
    rows = unit.max_rows if max_rows is None else max_rows
    if rows is None:
        raise InvalidParameter(
            Words(
                "max_rows is required with unit=, in protect() or in the query",
                "--max-rows is required with --unit",
            ),
            fix="It is the maximum rows per unit per group. Write "
            + Words("max_rows=1", "--max-rows 1")
            + " if everybody has one row. More rows mean more noise.",
        )
    return Unit(unit.column, rows, unit.neighbors)


def _make_row_error(max_rows: object) -> InvalidParameter:
    return InvalidParameter(
        Words("max_rows", "--max-rows") + " must be 1 if every row is a unit",
        got=quote(max_rows),
        fix="Add " + Words("unit=", "--unit") + ", or omit it.",
    )


def check_groupable(name: str, kind: str, what: str) -> None:
    """Reject a column whose values do not identify units or groups equally on all engines."""
    if kind not in _GROUPABLE:
        raise InvalidParameter(
            f"{what} must hold integers, strings, booleans, dates or timestamps",
            got=f"{name!r}, of kind {kind}",
            fix="Choose another column, or convert it by "
            + Words("types=", "--type")
            + ': numbers to int, times with a zone to "timestamp"; pandas objects by '
            'astype("string").',
        )


def check_numeric(source: Source, column: str, *, booleans: bool) -> None:
    """Reject a column that does not exist, or is not of numbers (or booleans)."""
    kind = source.kind(column)
    if kind not in _NUMBERS and not (booleans and kind == "boolean") and not source.is_text(column):
        raise InvalidParameter(
            "A column of numbers must hold integers, floats or decimals (or booleans, for sums)",
            got=f"{column!r}, of kind {kind}",
            fix='Choose another column, or convert it: pandas objects by astype("Float64").',
        )


def _limit_keys(keys: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    return keys if keys is not None and len(keys) <= _MOST_WRITTEN else None
