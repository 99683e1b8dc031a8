"""``Histogram``: the number of rows in each range of a column."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any, ClassVar, Self

from leastnoise.core.exact import Number, format_exact, format_ratio, parse_rational, quote
from leastnoise.deprecation import renamed_arguments
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.json_types import Json
from leastnoise.tables.answers import Subject, at_most
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.keys import Groups, Key
from leastnoise.tables.queries.bounded_query import note_text
from leastnoise.tables.queries.decimals import to_decimal
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit, check_numeric
from leastnoise.tables.queries.query import Query, make_title, parse_column
from leastnoise.tables.sources import Source
from leastnoise.tables.table_query import ColumnName, Columns
from leastnoise.tables.where import Comparison, Literal, Node, Parameters, bind_parameters, truth

_MOST_EDGES = 1_001


@dataclass(frozen=True)
class Histogram(Query):
    """The number of rows in each range of a column.

    Args:
        column: The column.
        edges: The ends of the ranges, in increasing order. Each range includes its lower edge, and
            the last range includes both. Rows outside all ranges, or without a value, are omitted.
            Default: those of the table's card.
    """

    keys_in_order: ClassVar[bool] = False
    groups_itself: ClassVar[bool] = True

    column: str
    edges: tuple[Decimal, ...] | None = field(kw_only=True, default=None)

    @renamed_arguments(keys="groups")
    def __init__(
        self,
        column: ColumnName,
        *,
        edges: Sequence[Number] | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> None:
        self._start(
            column=column,
            edges=edges,
            by=by,
            groups=groups,
            where=bind_parameters(where, params),
            max_groups=max_groups,
            max_rows=max_rows,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("column", parse_column(self.column, "the column of a histogram"))
        if self.edges is not None:
            self._set("edges", parse_edges(self.edges))
        if self.column in self.by:
            raise InvalidParameter(
                "The column of a histogram must not be one to group by",
                got=f"{self.column!r} as both",
                fix="Omit it from " + Words("by", "--by") + ".",
            )

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title(f"histogram of {self.column}", self.by)

    @property
    def bin_edges(self) -> tuple[Decimal, ...]:
        """The ends of the ranges. A query without edges has them once it is complete."""
        if self.edges is None:
            raise _missing_edges(self.column)
        return self.edges

    @property
    def ranges(self) -> list[str]:
        """The names of the ranges."""
        *ranges, last = pairwise(format_exact(Fraction(edge)) for edge in self.bin_edges)
        return [*(f"[{low}, {high})" for low, high in ranges), f"[{last[0]}, {last[1]}]"]

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        edges = [format_ratio(Fraction(edge)) for edge in self.bin_edges]
        return super().to_dict() | {"column": self.column, "edges": edges}

    def complete(self, defaults: TableDefaults) -> Self:
        """Return the query with the defaults of its table in place of what it omits."""
        if self.edges is None and self.column not in defaults.edges:
            raise _missing_edges(self.column)
        query = self if self.edges else replace(self, edges=defaults.edges[self.column])
        return Query.complete(query, defaults)

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or of another kind."""
        super().check(source)
        if self.discovered or self.follows:
            raise InvalidParameter(
                "A histogram by group requires public groups",
                got=Words("by without groups", "--by without --group"),
                fix=Words("Add groups=.", "Add --group."),
            )
        check_numeric(source, self.column, booleans=False)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The names of the key columns; the last part of a key is its range."""
        return (*self.by, self.column)

    @cached_property
    def answered_groups(self) -> tuple[Key, ...]:
        """The groups to answer for: every range of every group."""
        ranges = range(len(self.bin_edges) - 1)
        keys = super().answered_groups or ((),)
        return tuple((*key, place) for key, place in product(keys, ranges))

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "count"

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        low, high = (
            format_exact(Fraction(edge)) for edge in (self.bin_edges[0], self.bin_edges[-1])
        )
        outside = f"rows whose {self.column} is missing or outside [{low}, {high}]"
        return *super().omitted(unit), outside

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: rows and ranges per unit."""
        if subject.max_groups is None:
            return subject.rows_per_unit
        unit, per = subject.per_unit, "group and range" if self.by else "range"
        rows, ranges = at_most(subject.max_rows, "row"), at_most(subject.max_groups, "range")
        together = " in all groups together" if self.by else ""
        return f"{rows} {unit} per {per}, {ranges} {unit}{together}"

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return *super().notes(rows), *note_text(rows.source, self.column)

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group and range."""
        rows = rows.among(self.by, self.groups)
        numbers = (self.group_count(rows.unit),)
        return PlannedQuery(query=self, rows=rows, numbers=numbers, bin=self._number_ranges(rows))

    def _number_ranges(self, rows: Rows) -> Any:
        """Return the number of a row's range, or NULL; values are compared as in ``where``."""
        import ibis

        def compare(sign: str, edge: Decimal) -> Any:
            comparison = Comparison(self.column, sign, (Literal("number", edge),))
            return truth(comparison, rows.source, rows.table)

        *starts, end = self.bin_edges
        cases = [(compare(">", end), ibis.null("int64"))]
        cases += [
            (compare(">=", start), ibis.literal(place, "int64"))
            for place, start in reversed(list(enumerate(starts)))
        ]
        return ibis.cases(*cases, else_=ibis.null("int64"))

    def name_keys(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the keys with the names of their ranges."""
        ranges = self.ranges
        return tuple((*key[:-1], ranges[int(str(key[-1]))]) for key in keys)


_EDGE = Words("Each edge", "Each edge of --edges")


def _missing_edges(column: str) -> InvalidParameter:
    return InvalidParameter(
        parameter("edges") + f" must be given for {quote(column)}, here or in a card",
        got="none",
        fix="Write, for example, " + Words("edges=[0, 18, 65, 120]", "--edges 0,18,65,120") + ".",
    )


def parse_edges(edges: object) -> tuple[Decimal, ...]:
    """Return the caller's edges as exact decimals."""
    edges = edges.tolist() if hasattr(edges, "tolist") else edges  # an array
    if not isinstance(edges, tuple | list | range) or not 2 <= len(edges) <= _MOST_EDGES:
        raise InvalidParameter(
            parameter("edges") + f" must be a list of 2 to {_MOST_EDGES} increasing numbers",
            got=quote(edges),
            fix="Write, for example, "
            + Words("edges=[0, 18, 65, 120]", "--edges 0,18,65,120")
            + ".",
        )
    parsed = tuple(to_decimal(parse_rational(edge, _EDGE), _EDGE) for edge in edges)
    if any(a >= b for a, b in pairwise(parsed)):
        raise InvalidParameter(
            parameter("edges") + " must increase",
            got="two neighboring edges that do not",
            fix="Sort the edges, and write each edge once.",
        )
    return parsed
