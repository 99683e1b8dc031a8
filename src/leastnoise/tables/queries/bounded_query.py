"""``BoundedQuery``, the base of queries about the clipped values of a column."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

from leastnoise.core.exact import format_ratio, quote
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.json_types import Json
from leastnoise.tables.answers import TEXT_NOTE
from leastnoise.tables.bounding import parse_bounds
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.queries.planned_query import Rows, check_numeric
from leastnoise.tables.queries.query import Query, parse_column
from leastnoise.tables.sources import Source


@dataclass(frozen=True)
class BoundedQuery(Query):
    """The base of queries about the values of a column, clipped to bounds.

    Args:
        column: The column.
        bounds: The clipping bounds, the lower one first. Default: those of the table's card.
    """

    column: str
    bounds: tuple[Fraction, Fraction] | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("column", parse_column(self.column, "column"))
        if self.bounds is not None:
            self._set("bounds", parse_bounds(self.bounds))

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        low, high = self.clipping_bounds
        return super().to_dict() | {
            "column": self.column,
            "bounds": [format_ratio(low), format_ratio(high)],
        }

    def complete(self, defaults: TableDefaults) -> Self:
        """Return the query with the defaults of its table in place of what it omits."""
        query = super().complete(defaults)
        if query.bounds is not None:
            return query
        if query.column not in defaults.bounds:
            raise _missing_bounds(query.column)
        return replace(query, bounds=defaults.bounds[query.column])

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or whose kind does not fit."""
        super().check(source)
        check_numeric(source, self.column, booleans=True)

    @property
    def clipping_bounds(self) -> tuple[Fraction, Fraction]:
        """The clipping bounds of values. A query without bounds has them once it is complete."""
        if self.bounds is None:
            raise _missing_bounds(self.column)
        return self.bounds

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return *super().notes(rows), *note_text(rows.source, self.column)


def _missing_bounds(column: str) -> InvalidParameter:
    return InvalidParameter(
        parameter("bounds") + f" must be given for {quote(column)}, here or in a card",
        got="none",
        fix="Give, for example, "
        + Words("bounds=(0, 200_000)", "--bounds 0 200000")
        + ", chosen without looking at the data.",
    )


def note_text(source: Source, column: str) -> tuple[str, ...]:
    """Return a note if a column is text, so a value may not be a number."""
    if not source.is_text(column):
        return ()
    return (TEXT_NOTE,)
