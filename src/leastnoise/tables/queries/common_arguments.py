"""``CommonArguments``: the arguments of an ask that its queries share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from leastnoise.errors import InvalidParameter, parameter
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.query import Query, parse_columns
from leastnoise.tables.table_query import Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters


@dataclass(frozen=True)
class CommonArguments:
    """The arguments of each query that does not state its own.

    Attributes:
        by: The columns to group by; empty if the queries are not one table.
        groups: The groups to answer for; None to discover them.
        where: A condition; None for all rows.
        max_groups: Maximum groups per unit; None for that of the card.
        max_rows: Maximum rows per unit per group; None for that of the table.
    """

    by: tuple[str, ...] = ()
    groups: Groups | None = None
    where: str | Node | None = None
    max_groups: int | None = None
    max_rows: int | None = None

    @classmethod
    def of(
        cls,
        *,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> "CommonArguments":
        """Return the parsed arguments of a caller.

        Raises:
            InvalidParameter: If there are groups without columns to group by, or ``params`` do not
                fit ``where``.
        """
        columns = parse_columns(by)
        if groups is not None and not columns:
            raise InvalidParameter(
                parameter("groups") + " of an ask needs by",
                got="no column to group by",
                fix='Write, for example, by="region".',
            )
        return cls(columns, groups, bind_parameters(where, params), max_groups, max_rows)

    def complete(self, query: Query) -> Query:
        """Return the query with these arguments in place of those that it omits."""
        given: dict[str, Any] = {}
        if self.by and not query.by:
            given["by"] = self.by
        grouped = bool(query.by or self.by) or query.groups_itself
        if query.groups is None and (query.by or self.by) == self.by:
            given["groups"] = self.groups
        if query.where is None:
            given["where"] = self.where
        if query.max_groups is None and grouped:
            given["max_groups"] = self.max_groups
        # A count of units has no rows per unit to bound.
        if query.max_rows is None and query.find_max_rows(None) is None:
            given["max_rows"] = self.max_rows
        given = {name: value for name, value in given.items() if value is not None}
        return replace(query, **given) if given else query


def share_groups(queries: Sequence[Query], by: tuple[str, ...]) -> list[Query]:
    """Return queries of which the first one by these columns discovers groups for all of them.

    The other queries by these columns show the groups that the first one shows.
    """
    leads = True
    shared: list[Query] = []
    for query in queries:
        discovers = bool(by) and query.discovered and query.by == by
        shared.append(query if leads or not discovers else query.follow())
        leads = leads and not discovers
    return shared
