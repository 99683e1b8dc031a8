"""``Count``: how many rows there are."""

from dataclasses import dataclass
from typing import Any

from leastnoise.tables.queries.query import Query, Rows
from leastnoise.tables.queries.question import Question, titled


@dataclass(frozen=True)
class Count(Question):
    """How many rows there are.

    >>> Count(by="region", keys=["north", "south"]).title
    'count by region'
    """

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return titled("count", self.by)

    def selected(self) -> dict[str, Any]:
        """Return what a sum of the same rows returns, too."""
        selected = self.to_dict()
        del selected["ask"]
        return selected

    def query(self, rows: Rows) -> Query:
        """Count the rows of each group."""
        return self.make_query(rows, numbers=(self.count_of(rows.unit),))
