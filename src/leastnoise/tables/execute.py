"""Running queries on the engine: those with the same selection read the table together, once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from leastnoise.errors import Unsupported
from leastnoise.rendering import Progress
from leastnoise.tables.bounding import Summed
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.sources import Source, fetch, without_details

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, repr=False)
class Batch:
    """One Ibis query that answers several queries.

    Attributes:
        expression: The Ibis query, with a row for each group: its key, then integers.
        columns: For the place of each query, the columns of the result that belong to it.
    """

    expression: Any
    columns: dict[int, tuple[int, ...]]


def compile_batches(source: Source, queries: Sequence[PlannedQuery]) -> tuple[Batch, ...]:
    """Return compiled batches of queries; reject a query that the engine cannot express."""

    def compile_all() -> tuple[Batch, ...]:
        batches = make_batches(queries)
        for batch in batches:
            source.compile(batch.expression)  # the source caches the SQL
        return batches

    batches = without_details(compile_all)
    if batches is None:
        raise Unsupported(
            "The engine's SQL cannot express this query. Nothing was charged",
            fix="Check its groups, bounds and edges, or use a simpler query.",
        )
    return batches


def run(source: Source, batches: Sequence[Batch]) -> list[Rows]:
    """Run batches on the engine; return the rows of each query: a key, then integers."""
    results: dict[int, Rows] = {}
    with Progress() as report:
        for number, batch in enumerate(batches, 1):
            report(f"running query {number} of {len(batches)}")
            rows = fetch(source, batch.expression)
            for place, columns in batch.columns.items():
                results[place] = _pick_columns(rows, columns)
    return [results[place] for place in sorted(results)]


def make_batches(queries: Sequence[PlannedQuery]) -> tuple[Batch, ...]:
    """Return a batch for each distinct selection."""
    by_selection: dict[Hashable, list[int]] = {}
    for place, planned in enumerate(queries):
        by_selection.setdefault(planned.selection.identity, []).append(place)
    return tuple(_make_batch(queries, places) for places in by_selection.values())


def _make_batch(queries: Sequence[PlannedQuery], places: list[int]) -> Batch:
    selection = queries[places[0]].selection
    counted = any(queries[place].counted for place in places)
    keys = tuple(range(len(selection.by)))
    columns: dict[int, tuple[int, ...]] = {}
    sums: dict[Hashable, Summed] = {}
    for place in places:
        own = [*keys, *([len(keys)] if queries[place].counted else [])]
        for summed in queries[place].sums:
            sums.setdefault(summed.identity, summed)
            own.append(len(keys) + counted + list(sums).index(summed.identity))
        columns[place] = tuple(own)
    return Batch(selection.query(count=counted, sums=list(sums.values())), columns)


def _pick_columns(rows: Rows, columns: tuple[int, ...]) -> Rows:
    if len(columns) == 1:
        return [(row[columns[0]],) for row in rows]
    return [*map(itemgetter(*columns), rows)]
