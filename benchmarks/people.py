"""A table of made-up people's rows, and the same questions about it, asked of several.

Each job is one call that reads the table and returns figures: leastnoise's whole answer with its
noise, the query that it asks the engine, and what one would write in SQL without noise.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

import leastnoise as ln
from leastnoise.ledger import UNRECORDED
from leastnoise.tables import ProtectedTable
from leastnoise.tables.execute import run
from leastnoise.tables.release import prepare

HIGH, MAX_ROWS = 1000, 3
PLAIN, BY_HAND = "SQL, GROUP BY", "SQL, bounded by hand"
TOGETHER, COUNTED, SUMMED = "count and sum", "count", "sum"
BOUNDED = "count and sum, per unit"
QUERY, BOUNDED_QUERY = "its query", "its query, per unit"

PRIVACY = ln.Privacy(1, "1e-6")
# Every fifth of the rows has a person of its own; three in four of a person's rows are in one
# group. All by a hash: the same table every time.
_TABLE = """
COPY (
  SELECT (CASE WHEN hash(7 * i + 1) % 4 > 0 THEN hash(11 * u + 2) ELSE hash(7 * i + 3) END
           % $groups) :: INTEGER AS g,
         hash(7 * i + 4) % 1000000 / 1000.0 :: DOUBLE AS x,
         u
  FROM (SELECT i, (hash(7 * i + 5) % greatest(1, $rows // 5)) :: BIGINT AS u
        FROM range($rows) AS t(i))
) TO '$path' (FORMAT parquet)
"""
_PLAIN = "SELECT g, count(*), sum(x) FROM '{path}' GROUP BY g"
_BY_HAND = f"""
WITH each AS (
  SELECT u, g, count(*) AS n,
         sum(floor(greatest(0, least({HIGH}, coalesce(x, 0))) * 1024 + 0.5) :: BIGINT) AS s
  FROM '{{path}}'
  WHERE u IS NOT NULL AND g BETWEEN 0 AND {{groups}} - 1
  GROUP BY u, g
), chosen AS (
  SELECT *, row_number() OVER (PARTITION BY u ORDER BY md5('salt:' || u || ':' || g), g) AS place
  FROM each
)
SELECT g, sum(least(n, {MAX_ROWS})), sum(greatest(0, least({MAX_ROWS * HIGH * 1024}, s)))
FROM chosen
WHERE place = 1
GROUP BY g
"""  # noqa: S608 -- of our own numbers


def written(path: Path, rows: int) -> None:
    """Write the table of so many rows."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            _TABLE.replace("$rows", str(rows))
            .replace("$path", str(path))
            .replace("$groups", str(groups(rows)))
        )


def groups(rows: int) -> int:
    """Return how many groups a table has: 1,000, and fewer if it is small."""
    return max(2, min(1000, rows // 100))


def jobs(path: Path, rows: int) -> dict[str, Callable[[], object]]:
    """Return what is asked about a table, each as a call."""
    connection = duckdb.connect()
    return {
        PLAIN: lambda: connection.sql(_PLAIN.format(path=path)).fetchall(),
        BY_HAND: lambda: connection.sql(_BY_HAND.format(path=path, groups=groups(rows))).fetchall(),
        **asked(str(path), rows),
    }


def asked(source: Any, rows: int) -> dict[str, Callable[[], object]]:
    """Return what is asked of leastnoise: where a row is a unit, and where a person is."""
    alone = ln.protect(source, unit=None, ledger=UNRECORDED)
    bounded = ln.protect(source, unit="u", max_rows=MAX_ROWS, ledger=UNRECORDED)
    count, total = questions(rows)
    both = [count, total]
    return {
        TOGETHER: partial(alone.ask, both, privacy=PRIVACY),
        COUNTED: partial(alone.ask, [count], privacy=PRIVACY),
        SUMMED: partial(alone.ask, [total], privacy=PRIVACY),
        QUERY: _query(alone, both),
        BOUNDED: partial(bounded.ask, both, privacy=PRIVACY),
        BOUNDED_QUERY: _query(bounded, both),
    }


def questions(rows: int) -> tuple[ln.Count, ln.Sum]:
    """Return the count and the sum by group, for groups that are known."""
    keys = list(range(groups(rows)))
    return ln.Count(by="g", max_groups=1, groups=keys), ln.Sum(
        "x", bounds=(0, HIGH), by="g", max_groups=1, groups=keys
    )


def _query(table: ProtectedTable, both: list[Any]) -> Callable[[], object]:
    """Return what asks the engine and does no more: no noise is planned for, none is drawn."""
    prepared = prepare(both, table.source, table.unit, PRIVACY)
    return partial(run, table.source, prepared.batches)
