"""``plan_query``: plan a query about a table, and check the plan of a query class."""

from dataclasses import replace

from leastnoise.errors import InvalidParameter, parameter
from leastnoise.tables.queries.planned_query import (
    PlannedQuery,
    Rows,
    TableUnit,
    Unit,
    find_unit,
)
from leastnoise.tables.queries.query import Query
from leastnoise.tables.sources import Source


def plan_query(query: Query, source: Source, of_table: TableUnit) -> PlannedQuery:
    """Plan a query: the rows that count, the released numbers and their sensitivities.

    Args:
        query: The query.
        source: The table.
        of_table: The privacy unit of the table. A query may state another ``max_rows``.

    Raises:
        InvalidParameter: If the query does not fit the table.
        TypeError: If the class of the query is incomplete.
    """
    check_is_query(query)
    unit = find_unit(of_table, query.find_max_rows(of_table.max_rows))
    query.check(source)
    _check_max_groups(query, unit)
    planned = query.plan(Rows.where(source, unit, query.where))
    if replace(planned.rows.unit, max_rows=unit.max_rows) != unit:  # a plan may lower max_rows
        raise TypeError(f"{type(query).__name__} must plan for the privacy unit of its table")
    _check_parts(planned)
    _check_shifts(planned)
    _ = planned.selection  # raises an error here if it cannot bound contributions
    return planned


def check_is_query(query: object) -> None:
    """Reject anything but a query."""
    if not isinstance(query, Query):
        raise InvalidParameter(
            "A query must be a Count, Sum, Mean, Histogram or Quantile",
            got=f"an object of type {type(query).__name__}",
            fix="Write, for example, [Count()].",
        )


def _check_max_groups(query: Query, unit: Unit) -> None:
    """Reject a query without ``max_groups`` if a unit can be in several groups."""
    if query.max_groups is None and query.several_groups(unit):
        raise InvalidParameter(
            "Set " + parameter("max_groups") + f", the maximum groups per {unit.column}",
            fix="Use 1 if everybody is in one group; larger values add noise.",
        )


def _check_parts(planned: PlannedQuery) -> None:
    """Raise a TypeError if the methods that a query class inherits do not fit its plan.

    They would release a wrong number, or show groups by a wrong number, after the charge.
    """
    kind, numbers, discovered = type(planned.query), planned.numbers, planned.query.discovered
    returned = planned.counted + len(planned.sums)
    if not planned.query.makes_numbers and returned != len(numbers):
        raise TypeError(
            f"{kind.__name__} lacks add_noise: it releases other numbers than the engine's"
        )
    if kind.answers is Query.answers and len(numbers) > 1 + discovered:
        raise TypeError(f"{kind.__name__} lacks answers: it releases several numbers")
    if discovered and (numbers[0].step != 1 or numbers[0].shift != planned.rows.unit.max_rows):
        raise TypeError(f"{kind.__name__} lacks deciding_count, the first number of its query")


def _check_shifts(planned: PlannedQuery) -> None:
    """Raise a TypeError if a query understates the sensitivity of a number.

    A query that computes its own numbers, as a quantile does, proves their sensitivity itself.
    """
    kind = type(planned.query)
    if planned.query.makes_numbers:
        return
    if planned.bin is not None and not planned.query.groups_itself:
        raise TypeError(f"{kind.__name__} lacks groups_itself: its bins are groups")
    contribution = planned.query.contribution(planned.rows.unit)
    shifts = [contribution.count] * planned.counted
    shifts += [contribution.sum(summed.low, summed.high) for summed in planned.sums]
    for number, shift in zip(planned.numbers, shifts, strict=True):
        if number.shift < shift or number.touched < contribution.touched:
            raise TypeError(f"{kind.__name__} understates the sensitivity of {number.name}")
