"""The queries of several questions: those about the same rows are one, and read the table once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from leastnoise.errors import Unsupported
from leastnoise.tables.bounding import Summed
from leastnoise.tables.query import Prepared
from leastnoise.tables.sources import Source, attempted, fetched

Figures = list[tuple[Any, ...]]


@dataclass(frozen=True, repr=False)
class Joint:
    """A query that answers several questions.

    Attributes:
        query: An Ibis expression: a row for each group, of its key and of whole numbers.
        columns: By the place of each question, which columns of the result are its own.
        sql: The query as its engine reads it, if it was compiled.
    """

    query: Any
    columns: dict[int, tuple[int, ...]]
    sql: str | None = None

    def __repr__(self) -> str:
        """Say nothing of the table: Ibis, asked for its own, might show records."""
        return f"Joint({self.columns})"


def queries(asked: Sequence[Prepared]) -> list[Joint]:
    """Return the queries that answer all questions, as few as there can be."""
    alike: dict[str, list[int]] = {}
    for place, one in enumerate(asked):
        alike.setdefault(one.rows.words, []).append(place)
    return [_joint(asked, places) for places in alike.values()]


def compiled(source: Source, asked: Sequence[Prepared]) -> tuple[Joint, ...]:
    """Return the queries as the engine reads them; what it cannot be asked is refused."""
    joints = attempted(
        lambda: [replace(joint, sql=source.compiled(joint.query)) for joint in queries(asked)]
    )
    if joints is None:
        raise Unsupported(
            "a question must be one that its engine's language can write; this one is not. "
            "Look at its keys, bounds and edges, and ask for something plainer."
        )
    return tuple(joints)


def found(
    source: Source, asked: Sequence[Prepared], joints: Sequence[Joint] | None = None
) -> list[Figures]:
    """Ask the engine, and return the rows of each question: its keys and whole numbers."""
    results: dict[int, Figures] = {}
    for joint in queries(asked) if joints is None else joints:
        rows = fetched(source, joint.sql or joint.query)
        for place, columns in joint.columns.items():
            results[place] = _picked(rows, columns)
    return [results[place] for place in range(len(asked))]


def _picked(rows: Figures, columns: tuple[int, ...]) -> Figures:
    """Return some columns of rows."""
    if len(columns) == 1:
        return [(row[columns[0]],) for row in rows]
    return [*map(itemgetter(*columns), rows)]


def _joint(asked: Sequence[Prepared], places: list[int]) -> Joint:
    rows = asked[places[0]].rows
    counted = any(asked[place].counted for place in places)
    keys = tuple(range(len(rows.by)))
    columns: dict[int, tuple[int, ...]] = {}
    sums: list[Summed] = []
    for place in places:
        own = [*keys, *([len(keys)] if asked[place].counted else [])]
        summed = asked[place].summed
        if summed is not None:
            own.append(len(keys) + counted + len(sums))
            sums.append(summed)
        columns[place] = tuple(own)
    return Joint(rows.query(count=counted, sums=sums), columns)
