"""Lookups: columns of a public table, without a row more or less."""

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.sources import Source, fetch, join_lookup, open_source

PEOPLE = pa.table(
    {
        "id": [1, 1, 2, 3, 4],
        "region_id": [10, 20, 10, 99, None],
        "word": ["a", "b", None, "c", ""],
        "day": [date(2024, 2, 29), None, date(1, 1, 1), date(9999, 12, 31), None],
        "income": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)
REGIONS = pa.table({"region_id": [10, 20, 30], "region": ["n", "s", "e"], "size": [5, None, 7]})


def rows_of(source: Source, *names: str) -> list[tuple[Any, ...]]:
    values = {name: source.value(name) for name in names}
    return sorted(fetch(source, source.table.select(**values)), key=repr)


def test_a_row_gets_the_columns_of_its_key_or_nulls() -> None:
    joined = join_lookup(open_source(PEOPLE), REGIONS, "region_id", None)
    assert rows_of(joined, "id", "income", "region", "size") == [
        (1, 1.0, "n", 5),
        (1, 2.0, "s", None),
        (2, 3.0, "n", 5),
        (3, 4.0, None, None),
        (4, 5.0, None, None),
    ]
    assert dict(joined.kinds) == dict(open_source(PEOPLE).kinds) | {
        "region": "text",
        "size": "integer",
    }


@pytest.mark.parametrize(
    ("key", "lookup"),
    [
        ("word", pa.table({"word": ["a", "", None], "v": [1, 2, 3]})),
        ("day", pa.table({"day": [date(1, 1, 1), date(9999, 12, 31)], "v": [1, 2]})),
        ("region_id", pa.table({"region_id": pa.array([10, 99], pa.int16()), "v": [1, 2]})),
    ],
)
def test_keys_of_other_kinds(key: str, lookup: pa.Table) -> None:
    known = dict(zip(lookup[key].to_pylist(), lookup["v"].to_pylist(), strict=True))
    joined = join_lookup(open_source(PEOPLE), lookup, key, ["v"])
    expected = [
        (row["id"], None if row[key] is None else known.get(row[key])) for row in PEOPLE.to_pylist()
    ]
    assert rows_of(joined, "id", "v") == sorted(expected, key=repr)


def test_files_frames_and_commands(tmp_path: Path) -> None:
    people, regions = tmp_path / "people.csv", tmp_path / "regions.csv"
    people.write_text("id,region\n1,n\n2,s\n3,n\n")
    regions.write_text("region,size\nn,5\ns,\nw,9\n")
    with ln.protect(people, unit="id", max_rows=1, ledger=ln.UNRECORDED) as table:
        for lookup in (regions, pd.read_csv(regions).astype({"region": "string"})):
            joined = table.join(lookup, on="region")
            assert rows_of(joined.source, "size * 2") == [(10.0,), (10.0,), (None,)]
            assert joined.count(where="size * 2 > 1", privacy=ln.Privacy(1000)).value == 2
            assert joined.unit == table.unit
    command = [
        "count",
        str(people),
        *["--unit", "id", "--max-rows", "1", "--epsilon", "1000"],
    ]
    lookup = ["--lookup", f"{regions}:region", "--where", "size > 1", "--unrecorded"]
    done = subprocess.run(
        [sys.executable, "-m", "leastnoise", *command, *lookup],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.startswith("count: 2 ")


def test_the_ledger_tells_lookups_apart(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "x.ledger", limit=ln.Privacy(100)) as ledger:
        people = ln.protect(PEOPLE, unit="id", max_rows=2, ledger=ledger, name="people")
        changed = REGIONS.set_column(1, "region", pa.array(["n", "n", "n"]))
        spent = []
        for table in (
            people,
            people.join(REGIONS, on="region_id"),
            people.join(REGIONS, on="region_id", columns=["region"]),
            people.join(changed, on="region_id"),
            people.join(REGIONS, on="region_id"),
        ):
            table.count(privacy=ln.Privacy(1))
            spent.append(int(ledger.spent.epsilon))
        assert spent == [1, 2, 3, 4, 4]


# ------------------------------------------------------------------------------ a key that repeats


def test_a_lookup_that_repeats_later_multiplies_no_row() -> None:
    """The control: a plain join would count a person's row a thousand times."""
    connection = ibis.duckdb.connect()
    connection.con.register("p", PEOPLE)
    connection.raw_sql("CREATE TABLE people AS FROM p")
    connection.raw_sql("CREATE TABLE regions AS SELECT 10 AS region_id, 'n' AS region")
    people = ln.protect(connection.table("people"), unit="id", max_rows=2, ledger=ln.UNRECORDED)
    joined = people.join(connection.table("regions"), on="region_id")
    made = plan_query(ln.Count(where="region = 'n'"), joined.source, joined.unit).selection
    query = made.query()
    assert fetch(joined.source, query) == [(2,)]
    connection.raw_sql("INSERT INTO regions SELECT 10, 'n' FROM range(1000)")
    connection.raw_sql("INSERT INTO regions SELECT NULL, 'n' FROM range(1000)")
    assert fetch(joined.source, query) == [(2,)]
    plain = "SELECT count(*) FROM people LEFT JOIN regions USING (region_id) WHERE id = 2"
    assert connection.con.sql(plain).fetchall() == [(1001,)]
    with pytest.raises(InvalidParameter, match="The key 'region_id' of a lookup must be unique"):
        people.join(connection.table("regions"), on="region_id")
    connection.disconnect()


ROW = st.tuples(st.integers(1, 3), st.sampled_from([None, 0, 1, 2, -(2**63), 2**63 - 1]))
ENTRY = st.tuples(st.sampled_from([None, 0, 1, 2, 3]), st.sampled_from([None, 5, 7]), st.booleans())


def test_any_lookup_keeps_every_row() -> None:
    """Whatever the lookup holds when the query runs, also keys that repeat."""
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE people (id BIGINT, k BIGINT)")
    connection.raw_sql("CREATE TABLE entries (k BIGINT, v BIGINT, b BOOLEAN)")
    people = open_source(connection.table("people"))
    joined = join_lookup(people, connection.table("entries"), "k", None)
    sql = joined.compile(joined.table.select("id", "k", "v", "b"))

    @settings(max_examples=60, deadline=None)
    @given(st.lists(ROW, max_size=6), st.lists(ENTRY, max_size=6))
    def on_any(rows: list[Any], entries: list[Any]) -> None:
        connection.raw_sql("DELETE FROM people; DELETE FROM entries")
        for name, content in (("people", rows), ("entries", entries)):
            marks = ", ".join("?" * (2 if name == "people" else 3))
            if content:
                connection.con.executemany(f"INSERT INTO {name} VALUES ({marks})", content)
        found = connection.con.sql(sql).fetchall()
        assert sorted(map(repr, (row[:2] for row in found))) == sorted(map(repr, rows))
        for _, key, value, _ in found:
            values = [v for k, v, _ in entries if k == key is not None and v is not None]
            assert value == min(values, default=None)

    on_any()
    connection.disconnect()


# ------------------------------------------------------------------------------------- databases


def prepare(backend: Any, create: Any) -> None:
    create("CREATE TABLE people (id BIGINT, code VARCHAR(9), income BIGINT)")
    create("INSERT INTO people VALUES (1, 'a', 5), (1, 'b', 6), (2, 'a', 7), (3, NULL, 8)")
    create("CREATE TABLE codes (code VARCHAR(9), label VARCHAR(9), fine BOOLEAN)")
    create("INSERT INTO codes VALUES ('a', 'north', TRUE), ('b', 'south', FALSE)")


def check_database(people: ln.tables.ProtectedTable, lookup: Any) -> None:
    joined = people.join(lookup, on="code")
    assert rows_of(joined.source, "id", "label", "fine") == [
        (1, "north", True),
        (1, "south", False),
        (2, "north", True),
        (3, None, None),
    ]
    for label, rows in (("north", 2), ("south", 1)):
        where, params = "label = :label", {"label": label}
        found = joined.count(where=where, params=params, privacy=ln.Privacy(1000))
        assert found.value == rows
    with pytest.raises(Unsupported, match="A lookup must be on the connection of the protected ta"):
        people.join(pa.table({"code": ["a"], "x": [1]}), on="code")
    with pytest.raises(InvalidParameter, match="A lookup must be a table of the database that"):
        people.join("nothing", on="code")


def test_postgres(pg: Any, pg_address: str) -> None:
    prepare(pg, pg.con.execute)
    pg.con.execute('ALTER TABLE codes ALTER code TYPE TEXT COLLATE "C"')
    own = ln.protect(pg.table("people"), unit="id", max_rows=2, ledger=ln.UNRECORDED)
    check_database(own, pg.table("codes"))
    address: dict[str, Any] = {"unit": "id", "max_rows": 2, "ledger": ln.UNRECORDED}
    with ln.protect(pg_address, table="people", **address) as people:
        check_database(people, "public.codes")


@pytest.mark.long
def test_spark(spark: Any) -> None:
    session = spark._session
    rows = [(1, "a", 5), (1, "b", 6), (2, "a", 7), (3, None, 8)]
    codes = [("a", "north", True), ("b", "south", False)]
    for name, kinds, content in (
        ("lookup_people", "id BIGINT, code STRING, income BIGINT", rows),
        ("lookup_codes", "code STRING, label STRING, fine BOOLEAN", codes),
    ):
        session.createDataFrame(content, kinds).createOrReplaceTempView(name)
    table = spark.table("lookup_people")
    people = ln.protect(table, unit="id", max_rows=2, ledger=ln.UNRECORDED)
    check_database(people, spark.table("lookup_codes"))
    check_database(people, "lookup_codes")


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("lookup", "how", "message"),
    [
        (REGIONS, {"on": "nothing"}, "No column 'nothing' in an Arrow table"),
        (REGIONS, {"on": "word"}, "No column 'word' in an Arrow table"),
        (REGIONS, {"on": "month(day)"}, r"No column 'month\(day\)' in"),
        (
            REGIONS.rename_columns(["region_id", "Income", "x"]),
            {},
            "names that the table does not ha",
        ),
        (
            REGIONS,
            {"columns": ["region", "region"]},
            "names that the table does not have, got 'regi",
        ),
        (REGIONS, {"columns": ["other"]}, "No column 'other' in an Arrow table"),
        (REGIONS, {"columns": "region"}, "columns must be a list of names, got 'region'"),
        (REGIONS, {"columns": []}, "A lookup must have a column besides its key, got none"),
        (REGIONS, {"columns": ["region_id"]}, "and not be its key, got 'region_id'"),
        (
            pa.table({"region_id": ["10"], "x": [1]}),
            {},
            "'region_id', of kind integer in the table and of kind text in the lookup. Convert",
        ),
        (
            pa.table({"income": [1.0], "x": [1]}),
            {"on": "income"},
            "must hold integers, strings, bool",
        ),
        (
            pa.concat_tables([REGIONS, REGIONS]),
            {},
            "The key 'region_id' of a lookup must be unique",
        ),
        ("nothing.csv", {}, "No file at 'nothing.csv'"),
        (5, {}, "got an object of type int"),
    ],
)
def test_a_lookup_that_does_not_fit_is_refused(
    lookup: Any, how: dict[str, Any], message: str
) -> None:
    people = ln.protect(PEOPLE, unit="id", max_rows=1, ledger=ln.UNRECORDED)
    with pytest.raises(InvalidParameter, match=message):
        people.join(lookup, **{"on": "region_id"} | how)


def test_the_protected_table_is_no_lookup(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,name\n1,a\n")
    with (
        ln.protect(path, unit="id", max_rows=1, ledger=ln.UNRECORDED) as people,
        pytest.raises(InvalidParameter, match="A lookup must be a public table, got the prote"),
    ):
        people.join(path, on="id")
    with pytest.raises(InvalidParameter, match=r"This protected table is closed. Call protect\(\)"):
        people.join(REGIONS, on="id")
