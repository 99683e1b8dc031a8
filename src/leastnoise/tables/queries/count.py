"""``Count``: how many rows there are."""

from dataclasses import dataclass
from typing import Any

from leastnoise.tables.queries.query import Query, Rows
from leastnoise.tables.queries.question import Question, make_title


@dataclass(frozen=True)
class Count(Question):
    """How many rows there are.

    >>> Count(by="region", keys=["north", "south"]).title
    'count by region'
    """

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return make_title("count", self.by)

    def selection_words(self) -> dict[str, Any]:
        """Return what a sum of the same rows returns, too."""
        selected = self.to_dict()
        del selected["ask"]
        return selected

    def query(self, rows: Rows) -> Query:
        """Count the rows of each group."""
        return Query(question=self, rows=rows, numbers=(self.group_count(rows.unit),))
