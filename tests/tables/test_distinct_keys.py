"""Units and groups in databases: two different values are two, or count nowhere."""

from typing import Any

import pytest

from leastnoise.tables.bounding.bounding import Selection
from leastnoise.tables.sources import Source, fetch, open_source

STRINGS = ["", " ", "a", "a ", "A", "é", "e\u0301", "\ufeff", "1", "01", "ss", "ß", "ﬁ", "fi", "ı"]
LARGE = [-(2**63), 2**63 - 1, 2**53, 2**53 + 1, 0, -1]
DATES = ["0001-01-01", "9999-12-31", "10000-01-01", "5000000-01-01", "infinity", "-infinity"]
# Which of these Python has: the first two.
VALUES: dict[str, tuple[list[Any], int]] = {
    "bigint": (LARGE, len(LARGE)),
    "smallint": ([-32768, 32767, 0], 3),
    "boolean": ([True, False], 2),
    "varchar": (STRINGS, len(STRINGS)),
    "date": (DATES, 2),
}
ALONE: dict[str, dict[str, tuple[list[Any], int]]] = {
    "duckdb": {"ubigint": ([0, 2**63, 2**64 - 1], 3), "enum('a', 'A')": (["a", "A"], 2)},
    "postgres": {"char(3)": (["a", "A", "b "], 3), "text": (STRINGS, len(STRINGS))},
    "pyspark": {"string": ([*STRINGS, "a\\0", "a\\0b"], len(STRINGS) + 2)},
}


def counted(source: Source, *, as_unit: bool) -> list[tuple[Any, ...]]:
    """Return the counts by c, or by another column of the units that c names."""
    table = source.table
    by = {} if as_unit else {"c": table["c"]}
    unit = "c" if as_unit else None
    how: dict[str, Any] = {"rows": 1, "groups": 1, "salt": "", "engine": source.engine}
    return fetch(source, Selection(table=table, by=by, keys=None, unit=unit, **how).query())


def check(source: Source, known: int) -> None:
    """Every value is twice in the table: a group of two rows, and a unit that counts once."""
    groups = counted(source, as_unit=False)
    assert len(groups) == len({key for key, _ in groups}) == known
    assert {n for _, n in groups} == {2}
    [(units,)] = counted(source, as_unit=True)
    assert units == known


@pytest.mark.parametrize("kind", [*VALUES, *ALONE["duckdb"]])
def test_on_duckdb(kind: str, duck: Any) -> None:
    values, known = (VALUES | ALONE["duckdb"])[kind]
    duck.con.execute(f"CREATE TABLE t (c {kind})")
    duck.con.executemany("INSERT INTO t VALUES (?)", [[value] for value in [*values, *values]])
    check(open_source(duck.table("t")), known)


@pytest.mark.parametrize("kind", [*VALUES, *ALONE["postgres"]])
def test_on_postgresql(kind: str, pg: Any) -> None:
    values, known = (VALUES | ALONE["postgres"])[kind]
    pg.con.execute(f"CREATE TABLE t (c {kind})")
    for value in [*values, *values]:
        pg.con.execute(f"INSERT INTO t VALUES (CAST(%s AS {kind}))", (str(value),))
    check(open_source(pg.table("t")), known)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bigint", "smallint", "boolean", *ALONE["pyspark"]])
def test_on_spark(kind: str, spark: Any) -> None:
    values, known = (VALUES | ALONE["pyspark"])[kind]
    texts = [f"'{value}'" for value in [*values, *values]]
    rows = " UNION ALL ".join(f"SELECT CAST({text} AS {kind}) AS c" for text in texts)
    spark._session.sql(rows).createOrReplaceTempView("apart")
    check(open_source(spark.table("apart")), known)
