"""``Count``: the number of rows, or of units."""

from dataclasses import dataclass, field
from typing import ClassVar

from leastnoise.core.exact import quote
from leastnoise.deprecation import renamed_arguments
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.json_types import Json
from leastnoise.tables.answers import Subject
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import Query, make_title
from leastnoise.tables.table_query import Columns, Counted
from leastnoise.tables.where import Node, Parameters, bind_parameters


@dataclass(frozen=True)
class Count(Query):
    """The number of rows, or of units.

    Args:
        of: ``"rows"``, or ``"units"`` to count each unit once per group. Default: ``"rows"``.

    >>> Count(by="region", max_groups=1, groups=["north", "south"]).title
    'count by region'
    """

    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "of")

    of: Counted = field(kw_only=True, default="rows")

    @renamed_arguments(keys="groups")
    def __init__(
        self,
        *,
        of: Counted = "rows",
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> None:
        self._start(
            of=of,
            by=by,
            groups=groups,
            where=bind_parameters(where, params),
            max_groups=max_groups,
            max_rows=max_rows,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ("rows", "units"):
            raise InvalidParameter(
                parameter("of") + " must be 'rows' or 'units'",
                got=quote(self.of),
                fix="Use 'units' to count each unit once per group.",
            )
        if self.of == "units" and self.max_rows not in (None, 1):
            raise InvalidParameter(
                Words("max_rows", "--max-rows") + " must be 1 in a count of units",
                got=quote(self.max_rows),
                fix="Omit it: each unit counts once per group.",
            )

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title("count of units" if self.of == "units" else "count", self.by)

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        return super().to_dict() | ({"of": self.of} if self.of == "units" else {})

    def find_max_rows(self, of_table: int | None) -> int | None:
        """Return the rows per unit per group: 1 in a count of units."""
        return 1 if self.of == "units" else super().find_max_rows(of_table)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "units" if self.of == "units" else "count"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: rows per unit."""
        if self.of == "units":
            return f"each {subject.unit} counts once{subject.per_group}{subject.and_groups}"
        return subject.rows_per_unit

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group, one of each unit in a count of units."""
        return PlannedQuery(query=self, rows=rows, numbers=(self.group_count(rows.unit),))
