"""``Count``: the number of rows."""

from dataclasses import dataclass
from typing import ClassVar

from leastnoise.deprecation import renamed_arguments
from leastnoise.tables.answers import Subject
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import Query, make_title
from leastnoise.tables.registration import Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters


@dataclass(frozen=True)
class Count(Query):
    """The number of rows.

    >>> Count(by="region", max_groups=1, groups=["north", "south"]).title
    'count by region'
    """

    selects_nothing: ClassVar[tuple[str, ...]] = ("ask",)

    @renamed_arguments(keys="groups")
    def __init__(
        self,
        *,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
    ) -> None:
        self._start(
            by=by, groups=groups, where=bind_parameters(where, params), max_groups=max_groups
        )

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title("count", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "count"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: rows per unit."""
        return subject.rows_per_unit

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group."""
        return PlannedQuery(query=self, rows=rows, numbers=(self.group_count(rows.unit),))
