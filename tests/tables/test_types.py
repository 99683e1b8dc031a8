# ruff: noqa: DTZ001
"""``types=`` and timestamps: total, the same on every engine, and in every answer."""

import datetime as dt
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

import leastnoise as ln
from leastnoise import UNRECORDED, Privacy, protect
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter
from leastnoise.tables.sources import fetch, open_source

ENGINES = ["duck", "pg", pytest.param("spark", marks=pytest.mark.long)]
PRICE = Privacy(1, "1e-6")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


HOSTILE = [
    "", " ", "5", " 5 ", "+5", "-5", "--5", "5.", "5.0", "5.00000000000000000000", "5.5", ".5", ".",
    "1e3", "1E+03", "1e269", "1e270", "1e-269", "1e400", "1e-400", "9" * 18, "9" * 19, "9" * 30,
    "9" * 31, "0" * 400 + "1", "0x10", "1_000", "1,5", "١٢", "5\n", "\n5", "5\r", "\t5", "\u00a05",
    "nan", "NaN", "inf", "-Infinity", "NULL", "true", "TRUE", "t", "yes", "Y", "1", "0", "off",
    "0.1", "-0.000000000000000001", "+9.999999999999999999", "9" * 18 + "." + "9" * 18, "5e0",
    "0.1000000000000000000", "FALſE", "f", "5,0", "no",
    "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01",
    "0001-01-01", "0004-02-29", "9999-12-31", "10000-01-01", "2024-04-31", "2024-13-01", "24-1-1",
    "2024/02/29", "2024-02-29 BC", "infinity", "epoch", "now", "today", "2024-02-29 12:30",
    "2024-02-29T12:30:59", " 2024-02-29 23:59:59.999999", "2024-02-29 12:30:59.9999999",
    "2024-02-29 24:00", "2024-02-29 12:30:60", "2024-02-29 12:30Z", "2024-02-29 12:30+01",
    "2024-02-29  12:30", "2024-02-29 12:30:5", "2024-02-29 12:30:59.5 ", "a'b", "\\", "x" * 5000,
    "ß", "\U0001f600", "5" + " " * 159, "5" + " " * 160, "5" + " " * 200 + "x", None,
]  # fmt: skip


def as_int(text: str) -> int | None:
    text = text.strip(" ")
    known = re.fullmatch(r"([+-]?[0-9]{1,18})(\.0{0,20})?", text, re.ASCII)
    return int(known[1]) if known else None


def as_float(text: str) -> float | None:
    text = text.strip(" ")
    known = re.fullmatch(r"[+-]?(\d{0,30})(\.(\d{0,30}))?([eE][+-]?(\d{1,3}))?", text, re.ASCII)
    if known is None or not (known[1] or known[3]) or int(known[5] or 0) > 269:
        return None
    return float(text)


def as_decimal(text: str) -> Decimal | None:
    text = text.strip(" ")
    known = re.fullmatch(r"[+-]?([0-9]{0,18})([.]([0-9]{0,18}))?", text)
    return Decimal(text) if known and (known[1] or known[3]) else None


def as_bool(text: str) -> bool | None:
    words = {
        "true": 1,
        "t": 1,
        "yes": 1,
        "y": 1,
        "1": 1,
        "false": 0,
        "f": 0,
        "no": 0,
        "n": 0,
        "0": 0,
    }
    found = words.get(text.strip(" ").lower())
    return None if found is None else bool(found)


def as_date(text: str) -> dt.date | None:
    time = as_time(text)
    if time is not None:
        return time.date()
    text = text.strip(" ")
    try:
        return (
            dt.date.fromisoformat(text)
            if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
            else None
        )
    except ValueError:
        return None


def as_time(text: str) -> dt.datetime | None:
    text = text.strip(" ")
    shape = "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
    try:
        return dt.datetime.fromisoformat(text) if re.fullmatch(shape, text) else None
    except ValueError:
        return None


READERS: dict[str, Callable[[str], Any]] = {
    "int": as_int, "float": as_float, "decimal": as_decimal, "bool": as_bool,
    "date": as_date, "timestamp": as_time, "text": lambda text: text,
}  # fmt: skip


def texts_of(engine: str, request: pytest.FixtureRequest, cells: list[str | None]) -> Any:
    """Return a table of strings, each with its place, on an engine."""
    backend = request.getfixturevalue(engine)
    if engine == "duck":
        backend.con.register("given", pa.table({"i": range(len(cells)), "c": cells}))
        backend.con.execute("CREATE OR REPLACE TABLE texts AS FROM given")
    elif engine == "pg":
        backend.con.execute("CREATE TABLE texts (i bigint, c text)")
        with backend.con.cursor() as cursor:
            cursor.executemany("INSERT INTO texts VALUES (%s, %s)", [*enumerate(cells)])
    else:
        session = backend._session
        session.createDataFrame([*enumerate(cells)], "i bigint, c string").createOrReplaceTempView(
            "texts"
        )
    return backend.table("texts")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", READERS)
def test_hostile_cells_convert_alike_on_every_engine(
    type_: str, engine: str, request: pytest.FixtureRequest
) -> None:
    """The expected values are read by Python, cell by cell."""
    table = texts_of(engine, request, HOSTILE)
    source = open_source(table, types={"c": type_})
    table = source.table
    if type_ == "decimal":  # as their digits: the rows of a result have no decimals
        assert str(table["c"].type()) == "decimal(36, 18)"
        table = table.mutate(c=table["c"].cast("string"))
    rows = dict(fetch(source, table))
    if type_ == "decimal":
        rows = {place: cell and Decimal(cell) for place, cell in rows.items()}
    expected = [
        None if cell is None or (len(cell) > 160 and type_ != "text") else READERS[type_](cell)
        for cell in HOSTILE
    ]
    found = [rows[place] for place in range(len(HOSTILE))]
    assert found == expected
    assert [type(cell) for cell in found] == [type(cell) for cell in expected]
    assert sum(cell is not None for cell in found) >= 4


def test_a_long_text_makes_nothing_fail(pg: Any) -> None:
    """PostgreSQL cannot match a regular expression with 300 MB: the naive control fails."""
    pg.con.execute("CREATE TABLE long (c text)")
    pg.con.execute("INSERT INTO long VALUES (repeat('9', 300000000)), ('7')")
    with pytest.raises(Exception, match=r"memory|too long|invalid"), pg.con.transaction():
        pg.con.execute("SELECT c ~ '^[0-9]{1,18}$' FROM long")
    source = open_source(pg.table("long"), types={"c": int})
    assert sorted(fetch(source, source.table), key=str) == [(7,), (None,)]


REALS = [0.0, -0.0, 1.0, -3.0, 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e300, math.inf, -math.inf,
         math.nan, 5e-324, None]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["double", "real"])
def test_floats_are_integers_or_missing(
    kind: str, engine: str, request: pytest.FixtureRequest
) -> None:
    backend = request.getfixturevalue(engine)
    cells = [
        x if kind == "double" else (None if x is None else float(np.float32(x)))
        for x in REALS
        if kind == "double" or x != 1e300
    ]
    if engine == "spark":
        name = "double" if kind == "double" else "float"
        frame = backend._session.createDataFrame([*enumerate(cells)], f"i int, c {name}")
        frame.createOrReplaceTempView("reals")
    else:
        name = "double precision" if kind == "double" else "real"
        backend.con.execute(f"CREATE TABLE reals (i int, c {name})")
        for place, cell in enumerate(cells):
            text = "NULL" if cell is None else f"CAST('{cell}' AS {name})"
            backend.con.execute(f"INSERT INTO reals VALUES ({place}, {text})")
    source = open_source(backend.table("reals"), types={"c": int})
    rows = dict(fetch(source, source.table))
    expected = [
        int(x) if x is not None and x.is_integer() and -(2**63) <= x < 2**63 else None
        for x in cells
    ]
    assert [rows[place] for place in range(len(cells))] == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_and_booleans_are_integers_or_missing(
    engine: str, request: pytest.FixtureRequest
) -> None:
    backend = request.getfixturevalue(engine)
    values = (
        "(1, 5.00, true), (2, 5.01, false), (3, -9999999999999999999999.00, NULL), (4, 0, NULL)"
    )
    create = "CREATE TABLE" if engine != "spark" else "CREATE OR REPLACE TEMP VIEW"
    columns = "CAST(i AS int) AS i, CAST(d AS decimal(30, 2)) AS d, b"
    sql = f"{create} mixed AS SELECT {columns} FROM (VALUES {values}) AS v(i, d, b)"
    backend._session.sql(sql) if engine == "spark" else backend.con.execute(sql)
    source = open_source(backend.table("mixed"), types={"d": int, "b": int, "i": float})
    assert source.kinds == {"i": "real", "d": "integer", "b": "integer"}
    assert sorted(fetch(source, source.table)) == [
        (1.0, 5, 1), (2.0, None, 0), (3.0, None, None), (4.0, 0, None)
    ]  # fmt: skip


# ------------------------------------------------------------------------------------- timestamps

TIMES = [
    dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 2, 29, 12, 30, 5, 60),
    dt.datetime(2024, 3, 31, 2, 30), dt.datetime(2024, 10, 27, 2, 30), None,
]  # fmt: skip


def times_of(engine: str, request: pytest.FixtureRequest) -> Any:
    """Return a table with TIMES, and with times that Python does not have."""
    backend = request.getfixturevalue(engine)
    if engine == "spark":
        session = backend._session
        rows = [
            (number % 3, None if t is None else t.isoformat()) for number, t in enumerate(TIMES)
        ]
        rows += [(0, "+10000-01-01T00:00:00"), (0, "0000-12-31T23:59:59"), (0, "+290000-01-01")]
        session.createDataFrame(rows, "u bigint, c string").createOrReplaceTempView("strings")
        session.sql(
            "CREATE OR REPLACE TEMP VIEW times AS SELECT u, CAST(c AS timestamp_ntz) AS c "
            "FROM strings"
        )
        return backend.table("times")
    backend.con.execute("CREATE TABLE times (u bigint, c timestamp)")
    cells = [(i % 3, None if t is None else str(t)) for i, t in enumerate(TIMES)]
    cells += [(0, "infinity"), (0, "-infinity"), (0, "10000-01-01"), (0, "290000-01-01")]
    cells += [(0, "0001-12-31 BC" if engine == "pg" else "0001-12-31 (BC)")]
    for u, text in cells:
        shown = "NULL" if text is None else f"CAST('{text}' AS timestamp)"
        backend.con.execute(f"INSERT INTO times VALUES ({u}, {shown})")
    return backend.table("times")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_timestamps_are_groups_and_those_that_python_lacks_are_missing(
    zone: str, engine: str, request: pytest.FixtureRequest
) -> None:
    """Two of them are in the hours that Berlin has twice or never."""
    table = times_of(engine, request)
    if engine == "spark":
        session = request.getfixturevalue("spark")._session
        session.conf.set("spark.sql.session.timeZone", zone)
    source = open_source(table)
    assert source.kinds["c"] == "timestamp"
    known = sorted(t for t in TIMES if t is not None)
    found = [row[1] for row in fetch(source, source.table)]
    assert sorted(t for t in found if t is not None) == known
    people = protect(table, unit="u", max_rows=1, ledger=UNRECORDED)
    answers: Any = people.count(
        by="c", groups=[*known, dt.datetime(2000, 1, 1)], max_groups=9, privacy=Privacy(400)
    )
    assert {
        key[0]: round(answer.value)
        for key, answer in zip(answers.keys, answers.answers, strict=True)
    } == (dict.fromkeys(known, 1) | {dt.datetime(2000, 1, 1): 0})
    if engine == "spark":
        session.conf.unset("spark.sql.session.timeZone")


@pytest.mark.long
def test_units_choose_the_same_groups_on_all_engines(request: pytest.FixtureRequest) -> None:
    from leastnoise.tables.bounding.bounding import Selection

    figures = []
    for engine in ("duck", "pg", "spark"):
        source = open_source(times_of(engine, request))
        for keys in (None, [(t,) for t in TIMES[:5]]):
            selection = Selection(
                table=source.table, by={"g": source.table["c"]}, keys=keys, unit="u", rows=1,
                groups=1, salt="salt", engine=source.engine,
            )  # fmt: skip
            figures.append(sorted(fetch(source, selection.query())))
    assert figures[0::2] == [figures[0]] * 3
    assert figures[1::2] == [figures[1]] * 3
    assert len(figures[0]) >= 2


@pytest.mark.parametrize("engine", ENGINES)
def test_times_with_a_zone_are_converted_to_utc_if_asked(
    engine: str, request: pytest.FixtureRequest
) -> None:
    backend = request.getfixturevalue(engine)
    texts = ["2024-10-27 00:30:00.000001+00", "2024-10-27 01:30:00+00", "0001-01-01 00:00:00+00"]
    values = ", ".join(f"(CAST('{text}' AS {{}}))" for text in texts)
    if engine == "spark":
        backend._session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        backend._session.sql(
            "CREATE OR REPLACE TEMP VIEW zoned AS SELECT * FROM VALUES "
            f"{values.format(*['timestamp'] * 3)} AS v(c)"
        )
    else:
        backend.con.execute("SET TimeZone = 'Europe/Berlin'")
        backend.con.execute("CREATE TABLE zoned (c timestamptz)")
        backend.con.execute(f"INSERT INTO zoned VALUES {values.format(*['timestamptz'] * 3)}")
        backend.con.execute("INSERT INTO zoned VALUES ('infinity'), ('-infinity')")
    table = backend.table("zoned")
    source = open_source(table)
    assert source.kinds == {"c": "other"}
    source = open_source(table, types={"c": "timestamp"})
    found = sorted(t for (t,) in fetch(source, source.table) if t is not None)
    assert found == [
        dt.datetime(1, 1, 1), dt.datetime(2024, 10, 27, 0, 30, 0, 1),
        dt.datetime(2024, 10, 27, 1, 30),
    ]  # fmt: skip
    source = open_source(table, types={"c": "date"})
    assert {d for (d,) in fetch(source, source.table)} - {None} == {
        dt.date(1, 1, 1), dt.date(2024, 10, 27)
    }  # fmt: skip
    if engine == "spark":
        backend._session.conf.unset("spark.sql.session.timeZone")


UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
FAR = [0, -1, 1_709_209_805, -(1 << 63) + 9, (1 << 63) - 9, -62_135_596_801, 253_402_300_800]


@pytest.mark.parametrize("unit", UNITS)
def test_timestamps_of_frames_and_files_in_every_unit(unit: str, tmp_path: Any) -> None:
    per = UNITS[unit]
    cells = [x * per if abs(x) < 1 << 40 and abs(x * per) < 1 << 63 else x for x in FAR]
    arrow = pa.table({"c": pa.array(cells, pa.int64()).cast(pa.timestamp(unit))})

    def known(x: int) -> dt.datetime | None:
        micros = x * 1_000_000 // per if x >= 0 else -(-x * 1_000_000 // per)
        try:
            return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros)
        except OverflowError:
            return None

    expected = [known(x) for x in cells]
    frames: list[Any] = [arrow, pd.DataFrame({"c": np.array(cells, f"M8[{unit}]")})]
    if unit != "s":  # neither has it
        frames.append(pl.DataFrame({"c": pl.Series(cells).cast(pl.Datetime(unit))}))  # type: ignore[arg-type]
    if unit in ("us", "ns"):
        parquet.write_table(arrow, tmp_path / "a.parquet", version="2.6", coerce_timestamps=None)
        frames.append(tmp_path / "a.parquet")
    for frame in frames:
        source = open_source(frame)
        assert source.kinds["c"] == "timestamp"
        assert [t for (t,) in fetch(source, source.table)] == expected


@pytest.mark.parametrize("unit", ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP"])
def test_timestamps_of_duckdb_in_every_unit(unit: str, duck: Any) -> None:
    duck.con.execute(f"CREATE TABLE t (c {unit})")
    duck.con.execute("INSERT INTO t VALUES ('infinity'), ('-infinity'), ('2024-02-29 12:00:00')")
    if unit == "TIMESTAMP_MS":
        duck.con.execute("INSERT INTO t VALUES ('294247-01-10 04:00:54.775')")
    source = open_source(duck.table("t"))
    found = [t for (t,) in fetch(source, source.table)]
    assert [t for t in found if t is not None] == [dt.datetime(2024, 2, 29, 12)]


# ------------------------------------------------------------------------------------- in practice


def test_integers_with_gaps_of_pandas_are_groups() -> None:
    frame = pd.DataFrame({"month": [1, 2, None, 2, 2.5] * 200})
    with pytest.raises(InvalidParameter, match="types="):
        protect(frame, unit=None, ledger=UNRECORDED).count(by="month", privacy=PRICE)
    people = protect(frame, unit=None, ledger=UNRECORDED, types={"month": int})
    answers: Any = people.count(by="month", privacy=PRICE)
    assert list(answers.keys) == [(1,), (2,)]
    assert any("month to int" in note for note in answers.subject.notes)
    assert "month to int" in answers.subject.statement


def test_a_conversion_is_another_table_to_a_ledger(tmp_path: Any) -> None:
    """And without one, a table has the words that it had before timestamps were read."""
    frame = pa.table({"c": ["1"], "t": pa.array([0], pa.timestamp("us"))})
    plain, converted = open_source(frame), open_source(frame, types={"c": int})
    assert plain.words != converted.words
    assert open_source(frame, types={}).words == plain.words
    older = open_source(pa.table({"c": ["1"], "t": pa.array([b""], pa.binary())}))
    assert plain.words == older.words


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            {"c": "week"},
            "types must give columns the type int, float, decimal, bool, text, date or timestamp",
        ),
        ({"c": []}, "types must give columns the type"),
        ({1: int}, "types must give columns the type"),
        ("int", "types must name a type for each converted column"),
        ({"d": int}, "types names a column 'd' that the table lacks"),
        ({"n": "date"}, "A column of kind integer cannot be converted to date"),
    ],
)
def test_wrong_types_are_rejected(types: Any, message: str) -> None:
    frame = pa.table({"c": ["1"], "n": [1]})
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        protect(frame, unit=None, ledger=UNRECORDED, types=types)


def test_answers_by_time_are_exported(tmp_path: Any) -> None:
    times = [dt.datetime(2024, 1, 1, 12, 30), dt.datetime(2024, 1, 2, 0, 0, 0, 5)]
    people = protect(pa.table({"t": times * 300}), unit=None, ledger=UNRECORDED)
    answers: Any = people.count(by="t", privacy=PRICE)
    assert [key[0] for key in answers.keys] == times
    assert answers.to_arrow()["t"].to_pylist() == times
    assert answers.to_pandas()["t"].tolist() == [pd.Timestamp(t) for t in times]
    assert answers.to_polars()["t"].to_list() == times
    assert "2024-01-02 00:00:00.000005" in answers.to_csv(tmp_path / "a.csv").read_text()
    assert '"2024-01-01T12:30:00"' in answers.to_json(tmp_path / "a.json").read_text()


def test_a_stored_answer_by_time_is_read_again(tmp_path: Any) -> None:
    times = [dt.datetime(2024, 1, 1, 12, 30), dt.datetime(2024, 1, 2, 0, 0, 0, 5)]
    table = pa.table({"t": times * 300})
    with ln.Ledger(tmp_path / "a.ledger", limit=Privacy(2, "1e-5")) as ledger:
        people = protect(table, unit=None, ledger=ledger, name="people")
        first, again = (people.count(by="t", groups=times, privacy=PRICE) for _ in range(2))
        assert list(first.keys) == list(again.keys) == [(t,) for t in times]
        assert again.receipt is not None
        assert again.receipt.reused


@pytest.mark.parametrize("time", [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), pd.Timestamp(1)])
def test_a_group_by_time_has_no_zone_and_no_nanoseconds(time: Any) -> None:
    table = pa.table({"t": [dt.datetime(2024, 1, 1)]})
    people = protect(table, unit=None, ledger=UNRECORDED)
    with pytest.raises(InvalidParameter, match="a timestamp without a time zone"):
        people.count(by="t", groups=[time], privacy=PRICE)


def test_the_command_converts_columns(tmp_path: Any) -> None:
    lines = [f"{i},{1 + i % 2}.0,2024-01-0{1 + i % 2} 10:00" for i in range(2000)]
    (tmp_path / "a.csv").write_text("\n".join(["id,month,at", *lines]))
    options = ["--row-is-unit", "--epsilon", "1", "--delta", "1e-6", "--unrecorded"]
    path = str(tmp_path / "a.csv")
    done = run("count", path, "--by", "month", "--type", "month=int", "--json", *options)
    assert [group["key"] for group in json.loads(done.stdout)["groups"]] == [[1], [2]]
    assert "month to int" in done.stdout
    done = run(
        "count",
        path,
        "--by",
        "at",
        "--type",
        "at=timestamp",
        "--group",
        "2024-01-01 10:00",
        *options,
    )
    assert "2024-01-01 10:00" in done.stdout, done.stderr
    done = run("count", path, "--type", "month", *options)
    assert "--type must be NAME=TYPE, once for each column" in done.stderr
    done = run("count", path, "--type", "month=week", *options)
    assert "--type must give columns the type" in done.stderr
