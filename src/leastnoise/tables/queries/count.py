"""``Count``: how many rows there are."""

from dataclasses import dataclass
from typing import ClassVar

from leastnoise.tables.answers import Subject
from leastnoise.tables.queries.query import Query, Rows
from leastnoise.tables.queries.question import Question, make_title


@dataclass(frozen=True)
class Count(Question):
    """How many rows there are.

    >>> Count(by="region", max_groups=1, keys=["north", "south"]).title
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

    def query(self, rows: Rows) -> Query:
        """Count the rows of each group."""
        return Query(question=self, rows=rows, numbers=(self.group_count(rows.unit),))
