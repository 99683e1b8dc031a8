"""``Count``: how many rows there are."""

from dataclasses import dataclass
from typing import ClassVar

from leastnoise.deprecation import renamed_fields
from leastnoise.tables.answers import Subject
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import Query, make_title


@renamed_fields(keys="groups")
@dataclass(frozen=True)
class Count(Query):
    """How many rows there are.

    >>> Count(by="region", max_groups=1, groups=["north", "south"]).title
    'count by region'
    """

    selects_nothing: ClassVar[tuple[str, ...]] = ("ask",)

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return make_title("count", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "count"

    def contributions(self, subject: Subject) -> str:
        """Return what counts of a unit with more rows: as many of them as may count."""
        return subject.rows_per_unit

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group."""
        return PlannedQuery(query=self, rows=rows, numbers=(self.group_count(rows.unit),))
