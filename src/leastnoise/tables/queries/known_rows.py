"""``KnownRows``: the number of rows with a value, which the error of a mean depends on."""

from dataclasses import dataclass, field
from typing import ClassVar

from leastnoise.json_types import Json
from leastnoise.tables.answers import Subject
from leastnoise.tables.queries.mean import Mean
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit, check_numeric
from leastnoise.tables.queries.query import Query, make_title
from leastnoise.tables.sources import Source


@dataclass(frozen=True)
class KnownRows(Query):
    """The number of rows that a mean counts, with the same groups.

    ``people.mean(…, error=…)`` releases it first. It is not a public query.
    """

    # As for a mean: the same rows and groups of a unit count.
    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "column")

    column: str = field(kw_only=True)

    @classmethod
    def of(cls, mean: Mean) -> "KnownRows":
        """Return the count for a mean."""
        return cls(
            column=mean.column,
            by=mean.by,
            groups=mean.groups,
            where=mean.where,
            max_groups=mean.max_groups,
            max_rows=mean.max_rows,
        )

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title(f"count of rows with {self.column}", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "count"

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        return super().to_dict() | {"column": self.column}

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or whose kind does not fit."""
        super().check(source)
        check_numeric(source, self.column, booleans=True)

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: rows per unit."""
        return subject.rows_per_unit

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group that have a value."""
        known = rows.known(self.column)
        return PlannedQuery(query=self, rows=known, numbers=(self.group_count(rows.unit),))
