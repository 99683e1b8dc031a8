"""Sources of records: the same rows from each of them, and nothing of a record in any message."""

import csv
import datetime
import gc
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.errors import InvalidParameter, QueryFailed, Unsupported
from leastnoise.tables.sources import Source, fetch, open_source

CANARY = "canary7Q"
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("score", pa.float64()),
        ("member", pa.bool_()),
        ("born", pa.date32()),
        ("price", pa.decimal128(10, 2)),
    ]
)
ROWS: list[tuple[Any, ...]] = [
    (1, "ann", 1.5, True, datetime.date(1990, 1, 31), "3.25"),
    (2, CANARY, -2.0, False, None, None),
    (3, None, None, None, datetime.date(1970, 1, 1), "-1.00"),
    (None, 'O\'Neil, "x"; y', 0.5, True, datetime.date(2020, 2, 29), "0.00"),
]
KINDS = dict(
    zip(SCHEMA.names, ["integer", "text", "real", "boolean", "date", "decimal"], strict=True)
)
ODD = {'a "q" b': 1, "ü 'x'; --": 2, "a.b{c}%s": 3, "SELECT": 4}


def arrow(rows: list[tuple[Any, ...]] = ROWS) -> pa.Table:
    columns = [list(column) for column in zip(*rows, strict=True)]
    columns[-1] = [value and Decimal(value) for value in columns[-1]]
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)],
        schema=SCHEMA,
    )


def text(value: object) -> str | None:
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


def write_csv(path: Path, rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.names)
        writer.writerows(["" if value is None else text(value) for value in row] for row in rows)


def make_postgres(connection: Any) -> None:
    connection.execute(
        "CREATE TABLE people (id bigint, name text, score double precision, member boolean, "
        "born date, price numeric(10, 2))"
    )
    for row in ROWS:
        connection.execute("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", row)


# ------------------------------------------------------------------------- a fixture for each kind


@pytest.fixture
def making(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Source]:
    """Open the rows above as one kind of source."""

    def csv_file() -> Source:
        write_csv(tmp_path / "people.csv", ROWS)
        return open_source(tmp_path / "people.csv")

    def csv_files() -> Source:
        for number in (1, 2):
            write_csv(tmp_path / f"part-{number}.csv", ROWS[2 * number - 2 : 2 * number])
        return open_source(str(tmp_path / "part-*.csv"))

    def parquet_file() -> Source:
        pq.write_table(arrow(), tmp_path / "people.parquet")
        return open_source(str(tmp_path / "people.parquet"))

    def parquet_files() -> Source:
        for number in (1, 2):
            part = arrow(ROWS[2 * number - 2 : 2 * number])
            pq.write_table(part, tmp_path / f"part-{number}.pq")
        return open_source(tmp_path / "part-?.pq")

    def duckdb() -> Source:
        return open_source(request.getfixturevalue("duck").create_table("people", arrow()))

    def postgres() -> Source:
        connection = request.getfixturevalue("pg")
        make_postgres(connection.con)
        return open_source(connection.table("people"))

    def address() -> Source:
        where = request.getfixturevalue("pg_address")
        with psycopg.connect(where, autocommit=True) as connection:
            make_postgres(connection)
        return open_source(where, "people")

    def spark() -> Source:
        connection = request.getfixturevalue("spark")
        rows = arrow().to_pylist()
        schema = (
            "id long, name string, score double, member boolean, born date, price decimal(10, 2)"
        )
        frame = connection._session.createDataFrame(rows, schema)
        frame.createOrReplaceTempView("people")
        return open_source(connection.table("people"))

    kinds: dict[str, Callable[[], Source]] = {
        "CSV": csv_file,
        "CSVs": csv_files,
        "Parquet": parquet_file,
        "Parquets": parquet_files,
        "pandas": lambda: open_source(
            arrow().to_pandas(types_mapper=pd.ArrowDtype),
        ),
        "polars": lambda: open_source(pl.from_arrow(arrow())),
        "Arrow": lambda: open_source(arrow()),
        "DuckDB": duckdb,
        "PostgreSQL": postgres,
        "address": address,
        "Spark": spark,
    }
    return lambda kind: kinds[kind]()


KIND_NAMES = [
    *["CSV", "CSVs", "Parquet", "Parquets", "pandas", "polars", "Arrow"],
    *["DuckDB", "PostgreSQL", "address", pytest.param("Spark", marks=pytest.mark.long)],
]


@pytest.fixture(params=KIND_NAMES)
def source(request: pytest.FixtureRequest, making: Callable[[str], Source]) -> Source:
    return making(request.param)


def test_each_source_has_the_same_rows(source: Source) -> None:
    """NULLs too; in a CSV file they are empty fields, and everything is text."""
    columns = ["id", "name", "member", "born"]
    rows = fetch(source, source.table.select(*columns))
    expected = [(row[0], row[1], row[3], row[4]) for row in ROWS]
    if source.text:
        expected = [tuple(text(value) for value in row) for row in expected]  # type: ignore[misc]  # of any length
    assert sorted(rows, key=repr) == sorted(expected, key=repr)


def test_each_source_knows_its_columns(source: Source) -> None:
    assert dict(source.kinds) == (dict.fromkeys(KINDS, "text") if source.text else KINDS)


def test_figures_are_whole_numbers_of_python(source: Source) -> None:
    """Also sums that an engine returns as decimals."""
    table, score = source.table, source.number("score")
    big = (1 << 62) + 1
    one = ibis.literal(big, "int64").cast("decimal(38, 0)")
    asked = table.mutate(score=score, big=one).aggregate(
        n=ibis._.count(),
        twice=(ibis._.score * 2).floor().cast("int64").sum(),
        big=ibis._.big.sum(),
        none=ibis.cases((ibis._.count() > 99, 1)),
    )
    [row] = fetch(source, asked)
    assert row == (4, 0, 4 * big, None)
    assert [type(value) for value in row[:3]] == [int] * 3


def test_a_query_is_shown_without_being_asked(source: Source) -> None:
    shown = source.sql(source.table.filter(source.table["name"].isnull()))
    assert "IS NULL" in shown
    assert CANARY not in shown


# ------------------------------------------------------------------------- what is heard


class Ears:
    """All that is heard of an error: messages, tracebacks, logs and both streams."""

    def __init__(self, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
        self._caplog, self._capfd = caplog, capfd
        caplog.set_level(logging.DEBUG)

    def hear_nothing(self, work: Callable[[], object], *, secret: str = CANARY) -> QueryFailed:
        """Let a query fail, and see that a secret is nowhere."""
        self._capfd.readouterr()
        self._caplog.clear()
        with pytest.raises(QueryFailed, match="The engine failed to run the query") as caught:
            work()
        error = caught.value
        assert (error.__cause__, error.__context__) == (None, None)
        heard = [repr(error), *self._capfd.readouterr(), self._caplog.text]
        heard += traceback.format_exception(error)
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if "leastnoise" in frame.f_globals["__name__"]:
                heard += map(repr, frame.f_locals.values())
        assert not [part for part in heard if secret in part]
        return error


@pytest.fixture
def ears(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Ears:
    return Ears(caplog, capfd)


def test_a_query_that_fails_at_a_record_does_not_tell_of_it(source: Source, ears: Ears) -> None:
    name = source.table["name"]
    failing = source.table.filter(name == ibis.literal("canary") + ibis.literal("7Q"))
    failing = failing.select(n=failing["name"].cast("int64"))
    said = str(ears.hear_nothing(lambda: fetch(source, failing)))
    # Always the same words, and the next query is answered.
    overflowing = source.table.select(
        n=(source.number("score").isnull().cast("int64") + ((1 << 63) - 1))
    )
    assert said == str(ears.hear_nothing(lambda: fetch(source, overflowing)))
    assert fetch(source, source.table.aggregate(n=source.table.count())) == [(4,)]


@pytest.mark.parametrize("kind", ["PostgreSQL", pytest.param("Spark", marks=pytest.mark.long)])
def test_a_division_by_zero_does_not_tell_where(
    kind: str, making: Callable[[str], Source], ears: Ears
) -> None:
    """DuckDB divides by zero without an error."""
    source = making(kind)
    numerator = source.table["id"]
    divided = source.table.select(n=numerator / (numerator - numerator))
    ears.hear_nothing(lambda: fetch(source, divided))


def test_a_dropped_connection_does_not_tell(pg_address: str, ears: Ears) -> None:
    with psycopg.connect(pg_address, autocommit=True) as connection:
        make_postgres(connection)
        source = open_source(pg_address, "people")
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        ears.hear_nothing(lambda: fetch(source, source.table))
        ears.hear_nothing(lambda: fetch(source, source.table))


@pytest.mark.parametrize("kind", ["CSV", "CSVs", "Parquet", "Parquets"])
def test_a_file_deleted_or_spoiled_before_it_is_asked(
    kind: str, making: Callable[[str], Source], tmp_path: Path, ears: Ears
) -> None:
    source = making(kind)
    for path in tmp_path.iterdir():
        path.unlink()
    ears.hear_nothing(lambda: fetch(source, source.table))


def test_a_column_dropped_before_it_is_asked(pg: Any, ears: Ears) -> None:
    make_postgres(pg.con)
    source = open_source(pg.table("people"))
    pg.con.execute("ALTER TABLE people DROP COLUMN name")
    ears.hear_nothing(lambda: fetch(source, source.table))


def test_a_source_says_nothing_of_its_records(source: Source) -> None:
    assert CANARY not in repr(source) + str(source)
    before, ibis.options.interactive = ibis.options.interactive, True
    try:
        assert CANARY not in repr(source) + str(source)
    finally:
        ibis.options.interactive = before


# ------------------------------------------------------------------------- names


@pytest.mark.parametrize("kind", ["CSV", "Parquet", "pandas", "polars", "Arrow", "DuckDB", "pg"])
def test_names_of_columns_may_be_anything(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = pa.table({name: [value] for name, value in ODD.items()})
    if kind == "CSV":
        table.to_pandas().to_csv(tmp_path / "odd.csv", index=False)
        source = open_source(tmp_path / "odd.csv")
    elif kind == "Parquet":
        pq.write_table(table, tmp_path / "odd.parquet")
        source = open_source(tmp_path / "odd.parquet")
    elif kind == "DuckDB":
        source = open_source(request.getfixturevalue("duck").create_table('odd "t"', table))
    elif kind == "pg":
        connection = request.getfixturevalue("pg")
        columns = ", ".join(
            f"{value} AS {psycopg.sql.Identifier(name).as_string()}" for name, value in ODD.items()
        )
        connection.con.execute(f'CREATE TABLE "odd ""t""" AS SELECT {columns}')
        source = open_source(connection.table('odd "t"'))
    else:
        frames = {"pandas": table.to_pandas(), "polars": pl.from_arrow(table), "Arrow": table}
        source = open_source(frames[kind])
    assert list(source.kinds) == list(ODD)
    for name, value in ODD.items():
        asked = source.table.filter(source.table[name].notnull()).select(name)
        assert fetch(source, asked) in ([(value,)], [(str(value),)])
        assert source.kind(name) == source.kinds[name]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nmae", r"^No column 'nmae' in an Arrow table. Did you mean 'name'\?$"),
        ("zzz", "No column 'zzz' in an Arrow table. Check the names"),
        (7, "A column must be named by a string, got 7. Pass its name."),
        (["name"], "got an object of type list"),
    ],
)
def test_a_missing_column_is_refused_with_a_hint(column: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        open_source(arrow()).kind(column)


TWICE = pd.DataFrame([[1, 2]], columns=["a", "a"])


@pytest.mark.parametrize(
    "frame",
    [
        TWICE,
        pd.DataFrame({"a": [1], "A": [2]}),
        pd.DataFrame({"": [1]}),
        pd.DataFrame({1: [1]}),
        pd.DataFrame(),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        pl.DataFrame({"a": [1], "A": [2]}),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
    ids=["twice", "case", "empty", "number", "none", "levels", "polars", "Arrow"],
)
def test_a_frame_must_name_its_columns_apart(frame: object) -> None:
    with pytest.raises(InvalidParameter, match="differ in more than case"):
        open_source(frame)


def test_python_objects_in_a_frame_are_not_looked_at() -> None:
    """They could be anything: what is asked about them is refused by their type."""
    objects = pd.Series(["x", 3, None, 1.5, object(), "\ud800"], dtype=object)
    source = open_source(pd.DataFrame({"o": objects, "n": range(6)}))
    assert dict(source.kinds) == {"o": "other", "n": "integer"}
    assert fetch(source, source.table[["n"]]) == [(n,) for n in range(6)]


def test_categories_are_what_they_mean() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", None])})
    for source in (
        open_source(frame),
        open_source(pl.from_pandas(frame)),
        open_source(pa.table(frame)),
    ):
        assert source.kinds["c"] == "text"
        assert fetch(source, source.table) == [("u",), ("v",), (None,)]


# ------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_path_must_lead_to_a_file(ending: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"No file at .*\. Check the spelling"):
        open_source(tmp_path / f"none.{ending}")
    with pytest.raises(InvalidParameter, match=r"No file matches .*\. Check the spelling"):
        open_source(tmp_path / f"none*.{ending}")
    (tmp_path / f"folder.{ending}").mkdir()
    with pytest.raises(InvalidParameter, match="' is a folder without Parquet files, or with"):
        open_source(tmp_path / f"folder.{ending}")


@pytest.mark.parametrize(
    "place",
    ["http://x/a.csv", "https://x/a.parquet", "s3://b/a.csv", "gs://b/a.pq", "file:///a.csv",
     "hf://a/b.csv", "sqlite://a.csv"],
)  # fmt: skip
def test_an_address_is_no_path(place: str) -> None:
    with pytest.raises(Unsupported, match="A file must be on this machine"):
        open_source(place)


@pytest.mark.parametrize("place", ["s3:/b/a.csv", "http:a.csv", "select 1.csv", "a'b [1]*?.csv"])
def test_a_path_is_nothing_but_a_path(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not an address, a query or a pattern, if there is a file of that name."""
    monkeypatch.chdir(tmp_path)
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_text("a\nx\n")
    Path("a'b 1zz.csv").write_text("a\nanother\n")
    source = open_source(place)
    assert source.name == place
    assert fetch(source, source.table) == [("x",)]


def test_folders_of_hive_are_no_columns(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    (tmp_path / "year=2020" / "a.csv").write_text("a\nx\n")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "year=2020" / "a.parquet")
    for ending in ("csv", "parquet"):
        assert list(open_source(tmp_path / "**" / f"*.{ending}").kinds) == ["a"]


@pytest.mark.parametrize("name", ["people.xlsx", "people", "people.parquet.gz", "people.json"])
def test_another_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="No file at"):
        open_source(tmp_path / name)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(Unsupported, match=r"end in \.csv, \.tsv, \.parquet or \.pq"):
        open_source(tmp_path / name)


def test_a_file_that_is_not_what_it_says_is_refused(tmp_path: Path) -> None:
    for name, content in {
        "a.parquet": CANARY.encode() * 9,
        "b.parquet": b"",
        "c.csv": b"\xff\xfe" + CANARY.encode(),
        "d.csv": b'"' + CANARY.encode(),
        "e.csv": f"{CANARY}\0".encode() * (1 << 18),
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            InvalidParameter, match=r"The file cannot be read|not a CSV|too long"
        ) as caught:
            open_source(tmp_path / name)
        assert CANARY not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None


@pytest.mark.parametrize("content", ["", "\n", "PAR1\x15\x04,b\n", "a\0b\n"])
def test_a_file_without_names_is_no_csv_file(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(InvalidParameter, match=r"The CSV file is empty|not a CSV file"):
        open_source(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ["a,,b\n", "a,b,a\n", "a,A\n", ",\n"])
def test_a_csv_file_must_name_its_columns(header: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(header)
    with pytest.raises(InvalidParameter, match="must name its columns, with names that differ"):
        open_source(tmp_path / "a.csv")


def test_files_read_together_must_have_the_same_columns(tmp_path: Path) -> None:
    for number, names in enumerate(["a,b", "b,a"]):
        (tmp_path / f"{number}.csv").write_text(f"{names}\n1,2\n")
    for number, column in enumerate([[1], ["x"]]):
        pq.write_table(pa.table({"a": column}), tmp_path / f"{number}.parquet")
    for ending in ("csv", "parquet"):
        with pytest.raises(InvalidParameter, match="must have the same columns"):
            open_source(tmp_path / f"*.{ending}")


@pytest.mark.parametrize("source", [None, 7, b"people.csv", [1], pl.Series([1]), pd.Series([1])])
def test_something_else_is_refused_by_its_type(source: object) -> None:
    with pytest.raises(InvalidParameter, match=f"of type {type(source).__name__}"):
        open_source(source)
    with pytest.raises(InvalidParameter, match="A path must be a string without NUL"):
        open_source("a\0.csv")


def test_another_engine_is_refused() -> None:
    table = ibis.sqlite.connect().create_table("people", schema={"a": "int64"})
    with pytest.raises(Unsupported, match=r"DuckDB, PostgreSQL, Spark.*, got a table of sqlite"):
        open_source(table)
    with pytest.raises(Unsupported, match="got a table of no engine, or of several"):
        open_source(ibis.table({"a": "int64"}, name="people"))
    with pytest.raises(Unsupported, match="must be of a database, got one in memory"):
        open_source(ibis.memtable(arrow()))


def test_rows_of_an_ibis_table_may_be_left_out_and_columns_computed(duck: Any) -> None:
    table = duck.create_table("people", arrow())
    chosen = table.filter(table.id > 1).select(text=table.id.cast("string") + "!")
    source = open_source(chosen)
    assert (source.name, fetch(source, source.table)) == ("people", [("2!",), ("3!",)])


@pytest.mark.parametrize(
    "mixed",
    [
        lambda table: table.limit(1),
        lambda table: table.distinct(),
        lambda table: table.order_by("id"),
        lambda table: table.sample(0.5),
        lambda table: table.union(table),
        lambda table: table.join(table.view(), "id"),
        lambda table: table.aggregate(n=table.count()),
        lambda table: table.mutate(n=ibis.row_number()),
        lambda table: table.mutate(n=table.id.max()),
        lambda table: table.mutate(n=ibis.random()),
        lambda table: table.filter(table.id == table.id.max()),
        lambda table: table.filter(table.id.isin(table.id)),
        lambda table: table.select(n=ibis.array([1, 2]).unnest()),
    ],
)
def test_an_ibis_table_where_rows_meet_is_refused(mixed: Callable[[Any], Any], duck: Any) -> None:
    """One person's row would change what the others' are, or how many."""
    table = mixed(duck.create_table("people", arrow()))
    with pytest.raises(Unsupported, match="rows could affect each other"):
        open_source(table)


# ------------------------------------------------------------------------- addresses


def test_an_address_needs_a_table_that_is_there(pg_address: str) -> None:
    with pytest.raises(InvalidParameter, match="must be named by table=, got None"):
        open_source(pg_address)
    with pytest.raises(
        InvalidParameter, match=r"must name a table of the database .*, got 'none'"
    ) as caught:
        open_source(pg_address, "none")
    assert caught.value.__context__ is None
    with pytest.raises(InvalidParameter, match="table= names a table of a database"):
        open_source(arrow(), "people")


@pytest.mark.parametrize("kind", ["numeric(2, 5)", "regclass", "regtype"])
def test_a_column_that_ibis_does_not_know_is_the_reason(
    kind: str, pg: Any, pg_address: str
) -> None:
    pg.con.execute(f"CREATE TABLE people (x int, y {kind})")
    with pytest.raises(Unsupported, match=r"'people' has a column of a type .* Create a view"):
        open_source(pg_address, table="people")
    pg.con.execute("CREATE VIEW fewer AS SELECT x FROM people")
    assert open_source(pg_address, table="fewer").kinds == {"x": "integer"}


def test_a_table_may_be_named_with_its_schema(pg: Any, pg_address: str) -> None:
    pg.con.execute('CREATE SCHEMA other; CREATE TABLE other."People" AS SELECT 7 AS a')
    try:
        source = open_source(pg_address, "other.People")
        assert (source.name, fetch(source, source.table)) == ("other.People", [(7,)])
    finally:
        pg.con.execute("DROP SCHEMA other CASCADE")


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{CANARY}@127.0.0.1:1/people",
        f"postgres://ann:{CANARY}@[/people",
        f"postgresql://ann@/people?nonsense={CANARY}",
    ],
)
def test_a_password_is_in_no_message(
    address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(
        InvalidParameter,
        match=r"The connection to the PostgreSQL server failed\. Nothing was charged",
    ) as caught:
        open_source(address, "people")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    heard = [str(caught.value), caplog.text, *capfd.readouterr()]
    assert not [part for part in heard if CANARY in part]


# ------------------------------------------------------------------------- CSV, whatever is in it


GOOD = [("1", "x"), ("2", "y")]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b\n1,x\n2,y\n", GOOD),
        (b"a,b\n1,x\n2,y", GOOD),
        (b"a,b\r\n1,x\r\n2,y\r\n", GOOD),
        (b"\xef\xbb\xbfa,b\n1,x\n2,y\n", GOOD),
        (b"a,b\n1,x\n3\n2,y\n", GOOD),
        (b"a,b\n1,x,more,and more\n2,y\n", GOOD),
        (b"a,b\n\n1,x\n\n\n2,y\n\n", GOOD),
        (b"a,b\n1,x\n3,\xff\xfe\n2,y\n", GOOD),
        (b"a,b\n1,x\n3," + b"z" * 3_000_000 + b"\n2,y\n", GOOD),
        (b'a,b\n1,"x y"\n2,"p,""q"""\n', [("1", "x y"), ("2", 'p,"q"')]),
        (b'a,b\n1,x\n3,"x\ny"\n2,y\n', GOOD),
        (b"a,b\r1,x\r2,y\r", GOOD),
        (b'a,b\n1,\n,""\n', [("1", None), (None, None)]),
        (b"a,b\n1, x \nNULL,NA\n", [("1", " x "), ("NULL", "NA")]),
        (b"a,b\n1,#x\n#2,y\n", [("1", "#x"), ("#2", "y")]),
        (b"a,b\n007,1e5\n2020-01-01,true\n", [("007", "1e5"), ("2020-01-01", "true")]),
        (b"a,b\n1,x;y\n2,x\ty\n", [("1", "x;y"), ("2", "x\ty")]),
        (b"a,b\n", []),
        (b"a,b", []),
        (b'"a","b"\n1,x\n2,y\n', GOOD),
    ],
)
def test_a_csv_file_is_read_by_rule(
    content: bytes, rows: list[tuple[str | None, str | None]], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    source = open_source(tmp_path / "a.csv")
    assert list(source.kinds) == ["a", "b"]
    assert fetch(source, source.table) == rows


pieces = st.sampled_from(
    [b"1", b"x", b",", b"\n", b"\r", b"\r\n", b'"', b"\xff", b"\0", b" ", b"#", b"\\", b"\xc3\xa9"]
)


@pytest.fixture(scope="module")
def any_csv(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Source]:
    """A file, opened before it is known what will be in it."""
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_bytes(b"a,b\n")
    return path, open_source(path)


@given(body=st.lists(pieces, max_size=60).map(b"".join) | st.binary(max_size=60))
def test_nothing_in_a_csv_file_makes_reading_fail(
    body: bytes, any_csv: tuple[Path, Source]
) -> None:
    path, source = any_csv
    path.write_bytes(b"a,b\n" + body)
    table = source.table
    rows = fetch(source, table)
    assert all(len(row) == 2 for row in rows)
    numbers = table.mutate(n=source.number("a")).aggregate(n=ibis._.n.count())
    [(found,)] = fetch(source, numbers)
    assert found >= sum(value is not None and value.isdecimal() for value, _ in rows)


@pytest.mark.parametrize(
    ("field", "number"),
    [("1", 1), ("-2.5", -2.5), ("1e3", 1000), ("x", None), ("1,5", None), ("", None), ("é", None)],
)
def test_texts_are_read_as_numbers_or_not_at_all(
    field: str, number: float | None, tmp_path: Path
) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b"], [field, "."]])
    source = open_source(tmp_path / "a.csv")
    assert fetch(source, source.table.select(n=source.number("a"))) == [(number,)]


# ------------------------------------------------------------------------- what is loaded and left


def test_our_duckdb_fetches_nothing_and_clears_up_after_itself() -> None:
    source = open_source(arrow())
    settings = source.table.get_backend().settings
    assert settings["autoinstall_known_extensions"] in (False, "false")
    assert settings["autoload_known_extensions"] in (False, "false")
    folder = Path(settings["temp_directory"])
    assert folder.stat().st_mode & 0o077 == 0
    del source, settings
    gc.collect()
    assert not folder.exists()


def test_ibis_is_loaded_on_first_use() -> None:
    script = (
        "import sys, leastnoise.tables.sources.source, leastnoise.tables.sources.engine\n"
        "print({'ibis', 'pandas', 'pyarrow', 'numpy', 'psycopg'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout == "set()\n"


def test_without_ibis_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(Unsupported, match=r"pip install 'leastnoise\[tables\]'"):
        open_source(arrow())


def test_spark_that_answers_from_afar_keeps_its_log_elsewhere(duck: Any) -> None:
    """A session over a network has no context whose log could be switched off."""

    class Session:
        @property
        def sparkContext(self) -> None:
            raise RuntimeError(CANARY)

        def sql(self, sql: str) -> Any:
            return SimpleNamespace(collect=lambda: [(1,)])

    backend = SimpleNamespace(_session=Session(), compile=lambda _: "SELECT 1")
    table: Any = SimpleNamespace(get_backend=lambda: backend)
    source = Source(table, "pyspark", "people", False, {})
    assert fetch(source, ibis.literal(1).as_table()) == [(1,)]
