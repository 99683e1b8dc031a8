"""Folders of Parquet files, lists of files, DuckDB databases, DataFrames of Spark, LazyFrames."""

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from leastnoise import UNRECORDED, Ledger, Privacy, protect
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources import fetch, open_source

ROWS = pa.table({"id": range(6), "region": ["n", "s", "n", "é", None, "s"]})


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "people.parquet"
    (folder / ".hidden").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    parquet.write_table(ROWS.slice(0, 3), folder / "part-0.snappy.parquet")
    parquet.write_table(ROWS.slice(3), folder / "part-1.snappy.parquet")
    for ignored in ("_SUCCESS", ".part-0.crc", "_temporary/x.parquet", ".hidden/y"):
        (folder / ignored).write_bytes(b"no Parquet")
    source = open_source(folder)
    assert sorted(fetch(source, source.table)) == [*zip(*ROWS.to_pydict().values(), strict=True)]
    assert source.words["of"] == str(folder)
    (folder / "more.csv").write_text("a\n")
    with pytest.raises(InvalidParameter, match="a folder without Parquet files, or with other"):
        open_source(folder)


def test_partitions_are_columns_of_text_or_converted(tmp_path: Path) -> None:
    names = ["year=2024/kind=a%2Fb", "year=2023/kind=x", "year=__HIVE_DEFAULT_PARTITION__/kind=05"]
    for number, name in enumerate(names):
        (tmp_path / "t" / name).mkdir(parents=True)
        parquet.write_table(ROWS.slice(number, 1), tmp_path / "t" / name / "p.parquet")
    source = open_source(tmp_path / "t")
    assert dict(source.kinds) == {"id": "integer", "region": "text", "year": "text", "kind": "text"}
    assert sorted(fetch(source, source.table.select("id", "year", "kind"))) == [
        (0, "2024", "a/b"), (1, "2023", "x"), (2, None, "05")
    ]  # fmt: skip
    source = open_source(tmp_path / "t", types={"year": int})
    assert sorted(fetch(source, source.table.select("id", "year"))) == [
        (0, 2024),
        (1, 2023),
        (2, None),
    ]
    (tmp_path / "t" / "year=2025").mkdir()
    parquet.write_table(ROWS, tmp_path / "t" / "year=2025" / "p.parquet")
    with pytest.raises(InvalidParameter, match="must lie in folders of the same partitions"):
        open_source(tmp_path / "t")


def test_a_partition_is_not_named_like_a_column(tmp_path: Path) -> None:
    (tmp_path / "t" / "ID=1").mkdir(parents=True)
    parquet.write_table(ROWS, tmp_path / "t" / "ID=1" / "p.parquet")
    with pytest.raises(InvalidParameter, match="A partition must have another name"):
        open_source(tmp_path / "t")


@pytest.mark.long
def test_a_folder_that_spark_has_written(spark: Any, tmp_path: Path) -> None:
    session = spark._session
    rows = [(i, f"p{i % 7}", i % 3) for i in range(100)]
    frame = session.createDataFrame(rows, "id bigint, name string, part int")
    frame.repartition(3).write.parquet(str(tmp_path / "plain"))
    frame.write.partitionBy("part").parquet(str(tmp_path / "parts"))
    plain = open_source(tmp_path / "plain")
    assert sorted(fetch(plain, plain.table)) == rows
    parts = open_source(tmp_path / "parts", types={"part": int})
    assert sorted(fetch(parts, parts.table)) == rows


def test_opening_reads_no_row(tmp_path: Path) -> None:
    """Files whose rows cannot be read open like others: only the query fails, in constant words."""
    parquet.write_table(ROWS, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + b"\xff" * 60 + whole[64:])
    assert dict(open_source(tmp_path / "a.parquet").kinds) == {"id": "integer", "region": "text"}
    for name, start, types in (
        ("a.csv", b"id;region\n", None), ("a.jsonl", b"", {"id": int, "region": str})
    ):  # fmt: skip
        kinds = set()
        for row in (b"", b'1;"x', b"\xff\xfe", b'{"id": 1', b'"' * 999):
            (tmp_path / name).write_bytes(start + row)
            how: dict[str, Any] = {"delimiter": ";"} if name == "a.csv" else {}
            kinds.add(json.dumps(dict(open_source(tmp_path / name, types=types, **how).kinds)))
        assert len(kinds) == 1


def test_milliseconds_of_parquet_files_are_not_read(tmp_path: Path) -> None:
    """DuckDB fails at some of them: the naive control, which reads the column, fails."""
    far = pa.array([(1 << 63) - 9, 0], pa.int64())
    parquet.write_table(pa.table({"t": far.cast(pa.timestamp("ms"))}), tmp_path / "a.parquet")
    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match="Timestamp"):
        connection.execute("SELECT max(t) FROM read_parquet(?)", [str(tmp_path / "a.parquet")])
    source = open_source(tmp_path / "a.parquet")
    assert source.kinds["t"] == "other"
    with pytest.raises(InvalidParameter, match="cannot be converted to timestamp"):
        open_source(tmp_path / "a.parquet", types={"t": "timestamp"})
    people = protect(tmp_path / "a.parquet", unit=None, ledger=UNRECORDED)
    assert people.count(privacy=Privacy(1)).max_error > 0


def test_several_files_by_a_list(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(f"id,x\n{number},a\n")
    paths = [tmp_path / "2.csv", str(tmp_path / "0.csv")]
    source = open_source(paths)
    assert sorted(fetch(source, source.table)) == [("0", "a"), ("2", "a")]
    assert source.words == open_source(paths[::-1]).words != open_source(paths[:1]).words
    assert source.short_name == "0.csv and 1 more"
    with pytest.raises(InvalidParameter, match="of one format, each once, got a file twice"):
        open_source([paths[0], paths[0]])
    with pytest.raises(InvalidParameter, match="of one format, each once, got 0 formats"):
        open_source([])
    with pytest.raises(InvalidParameter, match="No file at"):
        open_source([tmp_path / "7.csv"])


def test_a_duckdb_file_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, 'n' AS r FROM range(500) t(i)")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.other (x int)")
    before = path.read_bytes()
    with Ledger(tmp_path / "a.ledger", limit=Privacy(9)) as ledger:  # it has a place, so no name
        people = protect(path, table="people", unit="id", max_rows=1, ledger=ledger)
        assert abs(people.count(privacy=Privacy(1)).value - 500) < 100
        with pytest.raises(Exception, match="read-only"):
            people.source.table.get_backend().con.execute("DELETE FROM people.people")
        people.close()
    assert list(open_source(path, table="s.other").kinds) == ["x"]
    assert path.read_bytes() == before
    with pytest.raises(InvalidParameter, match="must name a table of the DuckDB database"):
        open_source(path, table="persons")
    with pytest.raises(InvalidParameter, match="so table= must name one"):
        open_source(path)
    with pytest.raises(InvalidParameter, match="No DuckDB database can be read at"):
        open_source(tmp_path / "none.duckdb", table="people")


def test_a_connection_is_accepted_with_a_table_and_a_relation_is_not() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(5) t(i)")
        source = open_source(connection, table="people")
        assert sorted(fetch(source, source.table)) == [(i,) for i in range(5)]
        for sql in ("FROM people", "FROM people LIMIT 2"):
            with pytest.raises(Unsupported, match=re.escape("relation.to_arrow_table()")):
                open_source(connection.sql(sql))
        assert connection.execute("SELECT count(*) FROM people").fetchall() == [(5,)]  # still open


def test_a_lazy_frame_is_collected() -> None:
    lazy = pl.LazyFrame({"a": [1, 2, 3]}).filter(pl.col("a") > 1)
    source = open_source(lazy)
    assert fetch(source, source.table) == [(2,), (3,)]
    with pytest.raises(Unsupported, match="The polars LazyFrame cannot be collected") as raised:
        open_source(pl.LazyFrame({"a": ["secret"]}).cast(pl.Int64))
    assert raised.value.__context__ is None


@pytest.mark.long
def test_a_dataframe_of_spark_is_the_table(spark: Any, tmp_path: Path) -> None:
    session = spark._session
    frame = session.createDataFrame([(i, f"g{i % 2}") for i in range(500)], "id bigint, g string")
    people = protect(frame.where("id < 400"), unit="id", max_rows=1, ledger=UNRECORDED)
    answers: Any = people.count(by="g", groups=["g0", "g1"], max_groups=1, privacy=Privacy(4))
    assert all(abs(answer.value - 200) < 40 for answer in answers.answers)
    with (
        Ledger(tmp_path / "a.ledger", limit=Privacy(1)) as ledger,
        pytest.raises(InvalidParameter, match="In-memory data needs name="),
    ):
        protect(frame, unit="id", max_rows=1, ledger=ledger)
    converted = open_source(frame, types={"id": float})
    assert dict(converted.kinds) == {"id": "real", "g": "text"}
