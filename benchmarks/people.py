"""A generated table of people, and the same queries about it in several forms.

Each job is one call that reads the table and returns numbers. The forms are the release by
leastnoise, the query that leastnoise sends to the engine, and a query without noise in plain SQL.
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
BOTH, COUNT, SUM = "count and sum", "count", "sum"
BOUNDED = "count and sum, per unit"
QUERY, BOUNDED_QUERY = "its query", "its query, per unit"
CHOSEN_BY_HAND, CHOSEN = "SQL, one of 50 groups by hash()", "count, one of 50 groups per unit"

PRIVACY = ln.Privacy(1, "1e-6")
# A person has five rows on average, three quarters of them in one group. All values come from a
# hash, so the table is always the same.
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
"""  # noqa: S608 -- built from our own numbers
# A person has ten rows on average, in any of 50 groups, so each must choose one.
SPREAD = 50
_SPREAD = """
COPY (
  SELECT (hash(11 * i + 2) % $groups) :: INTEGER AS g,
         hash(7 * i + 4) % 1000000 / 1000.0 :: DOUBLE AS x,
         (hash(7 * i + 5) % greatest(1, $rows // 10)) :: BIGINT AS u
  FROM range($rows) AS t(i)
) TO '$path' (FORMAT parquet)
"""
# The fastest that was found: DuckDB turns it into arg_min. The order of groups with equal hashes is
# left to the engine, which leastnoise must not do.
_CHOSEN_BY_HAND = f"""
WITH each AS (
  SELECT u, g, count(*) AS n FROM '{{path}}'
  WHERE u IS NOT NULL AND g BETWEEN 0 AND {SPREAD - 1}
  GROUP BY u, g
)
SELECT g, sum(least(n, {MAX_ROWS}))
FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY hash(u, g)) AS place FROM each)
WHERE place = 1
GROUP BY g
"""  # noqa: S608 -- built from our own numbers


def write(path: Path, rows: int) -> None:
    """Write the table with this many rows."""
    _write(_TABLE, path, rows, groups(rows))


def write_spread(path: Path, rows: int) -> None:
    """Write the table in which each person must choose a group."""
    _write(_SPREAD, path, rows, SPREAD)


def _write(table: str, path: Path, rows: int, groups: int) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            table.replace("$rows", str(rows))
            .replace("$path", str(path))
            .replace("$groups", str(groups))
        )


def groups(rows: int) -> int:
    """Return the number of groups of a table: 1,000, or fewer if it is small."""
    return max(2, min(1000, rows // 100))


def jobs(path: Path, rows: int) -> dict[str, Callable[[], object]]:
    """Return the jobs for a table, each as a call."""
    connection = duckdb.connect()
    return {
        PLAIN: lambda: connection.sql(_PLAIN.format(path=path)).fetchall(),
        BY_HAND: lambda: connection.sql(_BY_HAND.format(path=path, groups=groups(rows))).fetchall(),
        CHOSEN_BY_HAND: lambda: connection.sql(_CHOSEN_BY_HAND.format(path=path)).fetchall(),
        **own_jobs(str(path), rows),
    }


def own_jobs(source: Any, rows: int) -> dict[str, Callable[[], object]]:
    """Return the jobs of leastnoise, with a row or with a person as the privacy unit."""
    alone = ln.protect(source, unit=None, ledger=UNRECORDED)
    bounded = ln.protect(source, unit="u", max_rows=MAX_ROWS, ledger=UNRECORDED)
    count, total = queries(rows)
    both = [count, total]
    return {
        BOTH: partial(alone.ask, both, privacy=PRIVACY),
        COUNT: partial(alone.ask, [count], privacy=PRIVACY),
        SUM: partial(alone.ask, [total], privacy=PRIVACY),
        QUERY: _query(alone, both),
        BOUNDED: partial(bounded.ask, both, privacy=PRIVACY),
        BOUNDED_QUERY: _query(bounded, both),
        CHOSEN: partial(
            bounded.count, by="g", max_groups=1, groups=list(range(SPREAD)), privacy=PRIVACY
        ),
    }


def queries(rows: int) -> tuple[ln.Count, ln.Sum]:
    """Return the count and the sum by group, for public groups."""
    keys = list(range(groups(rows)))
    return ln.Count(by="g", max_groups=1, groups=keys), ln.Sum(
        "x", bounds=(0, HIGH), by="g", max_groups=1, groups=keys
    )


def _query(table: ProtectedTable, both: list[Any]) -> Callable[[], object]:
    """Return a call that only runs the query on the engine, without noise."""
    prepared = prepare(both, table.source, table.unit, PRIVACY)
    return partial(run, table.source, prepared.batches)
