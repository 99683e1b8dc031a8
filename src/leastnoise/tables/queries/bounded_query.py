"""``BoundedQuery``, the base of queries about the clipped values of a column."""

from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.core.exact import format_ratio
from leastnoise.json_types import Json
from leastnoise.tables.answers import TEXT_NOTE
from leastnoise.tables.bounding import parse_bounds
from leastnoise.tables.queries.planned_query import Rows, check_numeric
from leastnoise.tables.queries.query import Query, parse_column
from leastnoise.tables.sources import Source


@dataclass(frozen=True)
class BoundedQuery(Query):
    """The base of queries about the values of a column, clipped to bounds.

    Args:
        column: The column.
        bounds: The clipping bounds, the lower one first.
    """

    column: str
    bounds: tuple[Fraction, Fraction] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("column", parse_column(self.column, "column"))
        self._set("bounds", parse_bounds(self.bounds))

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        low, high = self.bounds
        return super().to_dict() | {
            "column": self.column,
            "bounds": [format_ratio(low), format_ratio(high)],
        }

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or whose kind does not fit."""
        super().check(source)
        check_numeric(source, self.column, booleans=True)

    @property
    def clipping_bounds(self) -> tuple[Fraction, Fraction]:
        """The clipping bounds of values."""
        return self.bounds

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return note_text(rows.source, self.column)


def note_text(source: Source, column: str) -> tuple[str, ...]:
    """Return a note if a column is text, so a value may not be a number."""
    if not source.is_text(column):
        return ()
    return (TEXT_NOTE,)
