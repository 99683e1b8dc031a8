"""A stored answer is returned for the data it was computed from, and for no other.

Noise at δ > 0 is bounded here by less than the difference of the counts, so which data an answer is
about can be read from it with certainty.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter
from leastnoise.tables import ProtectedTable
from leastnoise.tables.sources.place import table_place

SOME = ln.Privacy("0.5", "1e-6")
LIMIT = ln.Privacy(20, "1e-3")
FEW, MANY = 150, 6800


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ln.Ledger]:
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT) as opened:
        yield opened


def frame(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"x": range(rows)})


def written(path: Path, rows: int) -> Path:
    path.parent.mkdir(exist_ok=True)
    frame(rows).to_csv(path, index=False)
    return path


def protected(source: object, ledger: Any, **how: Any) -> ProtectedTable:
    return ln.protect(source, unit=None, ledger=ledger, **how)


def counted(source: object, ledger: Any, **how: Any) -> Any:
    """Count the rows of a source, and check that the answer is about as many as there were."""
    return protected(source, ledger, **how).count(privacy=SOME)


def about(answer: Any, rows: int) -> bool:
    assert answer.max_error < (MANY - FEW) / 2
    return bool(abs(answer.value - rows) <= answer.max_error)


def charges(ledger: ln.Ledger) -> int:
    return len(ledger.releases)


# -------------------------------------------------------------------------------- data in memory


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_in_memory_must_be_named_where_a_ledger_records(kind: Any, ledger: ln.Ledger) -> None:
    data = kind({"x": [1, 2]})
    with pytest.raises(
        InvalidParameter, match=r"^In-memory data needs name= when a ledger is used\. .*name='"
    ):
        protected(data, ledger)
    protected(data, ln.UNRECORDED).count(privacy=SOME)
    protected(data, ledger, name="people").count(privacy=SOME)


def test_two_frames_in_one_ledger_have_an_answer_each(ledger: ln.Ledger) -> None:
    first = counted(frame(FEW), ledger, name="patients")
    second = counted(frame(MANY), ledger, name="staff")
    assert (about(first, FEW), about(second, MANY)) == (True, True)
    assert (second.receipt.reused, charges(ledger)) == (False, 2)


def test_the_data_never_enters_the_key(ledger: ln.Ledger) -> None:
    # The control of the test above. Whether data changed must not be seen from whether answers do.
    first = counted(frame(FEW), ledger, name="patients")
    second = counted(frame(MANY), ledger, name="patients")
    assert second.value == first.value
    assert (second.receipt.reused, second.receipt.at) == (True, first.receipt.at)
    assert charges(ledger) == 1


def test_a_frame_under_one_name_may_become_a_frame_of_another_kind(ledger: ln.Ledger) -> None:
    counted(frame(FEW), ledger, name="patients")
    for same in (pl.DataFrame(frame(FEW)), pa.table(frame(FEW))):
        assert counted(same, ledger, name="patients").receipt.reused
    other = frame(FEW).rename(columns={"x": "y"})
    assert not counted(other, ledger, name="patients").receipt.reused


# ----------------------------------------------------------------------------------------- files


def test_files_of_one_name_in_two_folders_have_an_answer_each(
    tmp_path: Path, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for folder, rows in (("a", FEW), ("b", MANY)):
        written(tmp_path / folder / "people.csv", rows)
        monkeypatch.chdir(tmp_path / folder)
        answers.append(counted("people.csv", ledger))
        assert about(answers[-1], rows)
    assert [one.receipt.reused for one in answers] == [False, False]


def test_one_file_has_one_answer_however_its_path_is_typed(
    tmp_path: Path, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a" / "people.csv", FEW)
    monkeypatch.chdir(tmp_path)
    first = counted(path, ledger)
    typed = ["a/people.csv", "./a/people.csv", "a/../a/people.csv", str(path), Path("a/people.csv")]
    for place in typed:
        again = counted(place, ledger)
        assert (again.receipt.reused, again.value) == (True, first.value)
    monkeypatch.chdir(tmp_path / "a")
    assert counted("people.csv", ledger).receipt.reused
    assert charges(ledger) == 1


def test_a_pattern_is_another_source_than_a_file_and_than_one_in_another_folder(
    tmp_path: Path, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        written(tmp_path / folder / "people-1.csv", FEW)
    monkeypatch.chdir(tmp_path)
    for source in ("a/people-1.csv", "a/people-*.csv", "b/people-*.csv", "*/people-1.csv"):
        assert not counted(source, ledger).receipt.reused
    assert counted(tmp_path / "a" / "people-*.csv", ledger).receipt.reused


def test_a_folder_named_like_a_pattern_is_no_pattern(
    tmp_path: Path, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``*.csv`` in the folder ``w[1]`` is not the pattern ``w[1]/*.csv``, which reads ``w1``."""
    for folder, rows in (("w[1]", 500), ("w1", 1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("x\n" + "1\n" * rows, encoding="utf-8")
    values = []
    for place, pattern in ((tmp_path / "w[1]", "*.csv"), (tmp_path, "w[1]/*.csv")):
        monkeypatch.chdir(place)
        with ln.protect(pattern, unit=None, ledger=ledger) as table:
            values.append(table.count(privacy=ln.Privacy("0.4", "1e-7")).value)
    assert values[0] > 300
    assert values[1] < 200


def test_a_path_leads_where_the_operating_system_goes(tmp_path: Path, ledger: ln.Ledger) -> None:
    """What is above a link is what is above its target, and not what stands before it."""
    near = written(tmp_path / "people.csv", FEW)
    far = written(tmp_path / "real" / "people.csv", MANY)
    (tmp_path / "real" / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "sub")
    first = counted(far, ledger)
    for typed in ("link/../people.csv", "link/.././people.csv", "link/../sub/../people.csv"):
        again = counted(f"{tmp_path}/{typed}", ledger)
        assert about(again, MANY)
        assert again.value == first.value
    pattern = counted(f"{tmp_path}/link/../people*.csv", ledger)
    assert about(pattern, MANY)
    assert not pattern.receipt.reused
    assert about(counted(near, ledger), FEW)
    near.unlink()
    assert counted(f"{tmp_path}/link/../people.csv", ledger).receipt.reused


def test_a_file_that_is_named_like_a_pattern_is_another_source(
    tmp_path: Path, ledger: ln.Ledger
) -> None:
    written(tmp_path / "g1.csv", FEW)
    assert about(counted(tmp_path / "g*.csv", ledger), FEW)
    written(tmp_path / "g*.csv", MANY)
    answer = counted(tmp_path / "g*.csv", ledger)
    assert not answer.receipt.reused
    assert about(answer, MANY)


def test_slashes_that_say_nothing_make_no_other_source(tmp_path: Path, ledger: ln.Ledger) -> None:
    path = written(tmp_path / "people.csv", FEW)
    counted(path, ledger)
    for typed in (f"/{path}", f"//{path}", str(path).replace("/", "//")):
        assert counted(typed, ledger).receipt.reused


def test_a_named_file_may_be_moved_and_a_name_is_no_path(tmp_path: Path, ledger: ln.Ledger) -> None:
    path = written(tmp_path / "people.csv", FEW)
    assert not counted(path, ledger).receipt.reused
    assert not counted(path, ledger, name=str(path)).receipt.reused
    moved = path.rename(tmp_path / "moved.csv")
    assert counted(moved, ledger, name=str(path)).receipt.reused


def test_a_nightly_job_over_one_path_says_the_version(tmp_path: Path, ledger: ln.Ledger) -> None:
    path = tmp_path / "people.csv"
    for version, rows in (("2026-11-17", FEW), ("2026-11-18", MANY)):
        written(path, rows)
        answer = counted(path, ledger, version=version)
        assert (answer.receipt.reused, about(answer, rows)) == (False, True)
        assert counted(path, ledger, version=version).receipt.reused
    assert not counted(path, ledger).receipt.reused
    assert charges(ledger) == 3


@pytest.mark.parametrize("what", ["name", "version"])
@pytest.mark.parametrize("wrong", ["", "a\nb", 2026, "x" * 1001])
def test_names_and_versions_are_strings_that_can_be_printed(what: str, wrong: object) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{what} must be .* 1 to 1000 printable"):
        protected(frame(1), ln.UNRECORDED, **{what: wrong})


# --------------------------------------------------------------------------------- explicit keys


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"name": "staff"}, r"'staff'\."),
        ({"name": "patients", "version": "2"}, r"'patients' \(version '2'\)\."),
    ],
)
def test_an_explicit_key_is_rejected_for_other_data(
    how: dict[str, str], said: str, ledger: ln.Ledger
) -> None:
    protected(frame(FEW), ledger, name="patients").count(privacy=SOME, key="rows")
    with pytest.raises(InvalidParameter, match="key 'rows' was used for 'patients', got " + said):
        protected(frame(MANY), ledger, **how).count(privacy=SOME, key="rows")
    assert charges(ledger) == 1


def test_an_explicit_key_is_rejected_for_other_columns(ledger: ln.Ledger) -> None:
    protected(frame(FEW), ledger, name="patients").count(privacy=SOME, key="rows")
    other = frame(FEW).rename(columns={"x": "y"})
    with pytest.raises(InvalidParameter, match="got 'patients' with other columns or filters"):
        protected(other, ledger, name="patients").count(privacy=SOME, key="rows")


# --------------------------------------------------------------------------- on the command line


def command(folder: Path, *arguments: str) -> Any:
    base = ["--row-is-unit", "--epsilon", "0.5", "--delta", "1e-6", "--ledger", "../people.ledger"]
    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(main, ["count", "people.csv", *base, "--json", *arguments])
    finally:
        os.chdir(before)


def test_the_command_line_tells_folders_names_and_versions_apart(
    tmp_path: Path, ledger: ln.Ledger
) -> None:
    for folder, rows in (("a", FEW), ("b", MANY)):
        written(tmp_path / folder / "people.csv", rows)
    expected = 0
    for folder in ("a", "b"):
        for options in ([], ["--name", f"people of {folder}"], ["--version", "2026-11"]):
            expected += 1
            first = command(tmp_path / folder, *options)
            assert (first.exit_code, charges(ledger)) == (0, expected), first.output
            again = command(tmp_path / folder, *options)
            assert (again.exit_code, charges(ledger)) == (0, expected), again.output
    # One name in both folders: the caller says that it is the same data.
    assert command(tmp_path / "b", "--name", "people of a").exit_code == 0
    assert charges(ledger) == expected


# ------------------------------------------------------------------------------------- databases


def test_tables_of_duckdb_are_told_apart_by_file_and_schema(
    tmp_path: Path, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("a.db", "b.db"):
        duck = ibis.duckdb.connect(file)
        duck.raw_sql("CREATE SCHEMA s; CREATE TABLE s.people (x int); CREATE TABLE people (x int)")
        assert not counted(duck.table("people"), ledger).receipt.reused
        assert not counted(duck.table("people", database="s"), ledger).receipt.reused
        assert counted(duck.table("people", database="main"), ledger).receipt.reused
        duck.disconnect()
    monkeypatch.chdir("/")
    duck = ibis.duckdb.connect(tmp_path / "a.db")
    assert counted(duck.table("people"), ledger).receipt.reused
    duck.raw_sql(f"ATTACH '{tmp_path}/b.db' AS other")
    assert counted(duck.table("people", database="other.main"), ledger).receipt.reused
    duck.disconnect()
    assert charges(ledger) == 4


def test_a_search_path_of_several_schemas_is_no_place(tmp_path: Path, ledger: ln.Ledger) -> None:
    """Which of the schemas has the table is not known: an answer about main.people came back."""
    duck = ibis.duckdb.connect(tmp_path / "a.db")
    duck.raw_sql("CREATE SCHEMA s1; CREATE SCHEMA s2; CREATE TABLE people (x int)")
    duck.raw_sql("CREATE TABLE s2.people (x int)")
    assert not counted(duck.table("people"), ledger).receipt.reused
    duck.raw_sql("SET search_path = 's1,s2'")
    with pytest.raises(InvalidParameter, match="In-memory data needs name="):
        counted(duck.table("people"), ledger)
    assert not counted(duck.table("people", database="s2"), ledger).receipt.reused
    duck.raw_sql("SET search_path = 's2'")
    assert counted(duck.table("people"), ledger).receipt.reused
    duck.disconnect()


def test_what_duckdb_holds_in_memory_must_be_named(tmp_path: Path, ledger: ln.Ledger) -> None:
    memory, file = ibis.duckdb.connect(), ibis.duckdb.connect(tmp_path / "a.db")
    memory.raw_sql("CREATE TABLE people (x int)")
    file.raw_sql("CREATE TABLE people (x int); CREATE TEMP TABLE passing (x int)")
    file.con.register("given", pa.table({"x": [1]}))
    file.raw_sql("CREATE TEMP VIEW seen AS SELECT 1 AS x")
    for table in (memory.table("people"), *map(file.table, ("passing", "given", "seen"))):
        with pytest.raises(InvalidParameter, match="In-memory data needs name="):
            protected(table, ledger)
        protected(table, ledger, name="people")
    protected(file.table("people"), ledger)
    # A temporary table hides the other one.
    file.raw_sql("CREATE TEMP TABLE people (x int)")
    with pytest.raises(InvalidParameter, match="In-memory data needs name="):
        protected(file.table("people"), ledger)
    memory.disconnect()
    file.disconnect()


def test_filters_and_columns_of_an_ibis_table_are_part_of_it(duck: Any, ledger: ln.Ledger) -> None:
    duck.raw_sql("CREATE TABLE people (x int, y int); CREATE TABLE moved (x int, y int)")

    def sources(t: Any) -> list[Any]:
        return [
            t,
            t.filter(t.x > 1),
            t.filter(t.x > 2),
            t.filter(t.y > 1),
            t.filter(t.x >= 1),
            t.select("x", y=t.x),
            t.select("x", y=ibis.ifelse(t.x > 1, t.x, t.y)),
            t.select("x", "y"),
        ]

    for source in sources(duck.table("people")):
        assert not counted(source, ledger, name="people").receipt.reused
    for source in sources(duck.table("moved")):
        assert counted(source, ledger, name="people").receipt.reused


@pytest.mark.usefixtures("pg_address")
def test_tables_of_postgres_are_told_apart_by_database_and_schema(
    postgres: Any, pg_address: str, ledger: ln.Ledger
) -> None:
    other = postgres.database()
    for address in (pg_address, other):
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA s")
            connection.execute("CREATE TABLE s.people (x int); CREATE TABLE people (x int)")
            connection.execute("CREATE TEMP TABLE passing (x int)")
            backend = ibis.postgres.from_connection(connection)
            for table in ("people", "s.people"):
                assert not counted(address, ledger, table=table).receipt.reused
            assert counted(address, ledger, table="public.people").receipt.reused
            assert counted(backend.table("people"), ledger).receipt.reused
            assert counted(backend.table("people", database="s"), ledger).receipt.reused
            connection.execute("SET search_path = s")
            assert counted(backend.table("people"), ledger).receipt.reused
            with pytest.raises(InvalidParameter, match="In-memory data needs name="):
                protected(backend.table("passing"), ledger)
            connection.execute("DROP SCHEMA s CASCADE")
    assert charges(ledger) == 4
    said = [str(release.asked["of"]) for release in ledger.releases]
    assert all("people" in one and "password" not in one for one in said)
    with psycopg.connect(other, autocommit=True) as connection:
        connection.execute("DROP TABLE people")
    postgres.clear(other)


def test_servers_of_postgres_are_told_apart_by_their_address(pg: Any) -> None:
    """A host name can stand for several servers: hostaddr says which."""
    pg.con.execute("CREATE TABLE people (x int)")
    table = pg.table("people").op()

    def place(host: str, address: str, given: bytes | None) -> Any:
        info = SimpleNamespace(host=host, port=5432, dbname="d", hostaddr=address)
        options = [SimpleNamespace(keyword=b"hostaddr", val=given)]
        catalog = pg.con.transaction, pg.con.cursor
        con = SimpleNamespace(
            info=info,
            pgconn=SimpleNamespace(info=options),
            transaction=catalog[0],
            cursor=catalog[1],
        )
        found = table_place(table, SimpleNamespace(con=con), "postgres")
        assert found is not None
        return found.parts

    assert place("db", "10.0.0.1", b"10.0.0.1") != place("db", "10.0.0.2", b"10.0.0.2")
    # What a name server says may change, and so does not count.
    assert place("db", "10.0.0.1", None) == place("db", "10.0.0.2", None)
    assert place("db", "10.0.0.1", None) == ("postgres", "db", "5432", "d", "public", "people")
    assert place("/run/pg", "", None) == place("/run/pg/", "", None) == place("//run/pg", "", None)


@pytest.mark.long
def test_tables_of_spark_are_told_apart_and_views_of_a_session_named(
    spark: Any, ledger: ln.Ledger
) -> None:
    session = spark._session
    session.range(3).createOrReplaceTempView("passing")
    with pytest.raises(InvalidParameter, match="In-memory data needs name="):
        protected(spark.table("passing"), ledger)
    protected(spark.table("passing"), ledger, name="people")
    session.sql("CREATE DATABASE other")
    try:
        for name in ("default.lasting", "other.lasting"):
            session.range(3).write.saveAsTable(name)
            database, _, table = name.partition(".")
            assert not counted(spark.table(table, database=database), ledger).receipt.reused
        assert counted(spark.table("lasting"), ledger).receipt.reused
        assert charges(ledger) == 2
    finally:
        session.sql("DROP TABLE default.lasting")
        session.sql("DROP DATABASE other CASCADE")


# ------------------------------------------------------------------------------ ledgers of 0.5.0

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "0.5.0.ledger"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ln.Ledger]:
    shutil.copy(GOLDEN, tmp_path / "old.ledger")
    shutil.copy(ln.tables.census(), tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    with ln.Ledger(tmp_path / "old.ledger") as opened:
        yield opened


def recount(ledger: ln.Ledger, source: object = "people.csv", **how: Any) -> Any:
    terms = {one: how.pop(one) for one in ("key", "fresh") if one in how}
    people = ln.protect(source, unit="person_id", max_rows=1, ledger=ledger, **how)
    return people.count(privacy=ln.Privacy("0.1"), **terms)


def test_a_ledger_of_0_5_0_returns_its_answers_by_their_keys(old: ln.Ledger) -> None:
    before = old.spent
    again: Any = recount(old, key="count")
    assert (again.receipt.reused, old.spent) == (True, before)
    assert again.receipt.at == next(one.answered for one in old.releases if one.key == "count")
    old.verify()


def test_a_default_key_of_0_5_0_is_charged_once_more(old: ln.Ledger) -> None:
    before = charges(old)
    assert not recount(old).receipt.reused
    assert recount(old).receipt.reused
    assert charges(old) == before + 1


@pytest.mark.parametrize("how", [{"name": "people"}, {"version": "2"}, {"source": "./people.csv"}])
def test_a_key_of_0_5_0_is_rejected_for_a_source_that_is_said_otherwise(
    how: dict[str, Any], old: ln.Ledger
) -> None:
    before = charges(old)
    with pytest.raises(InvalidParameter, match=r"key 'count' was used for 'people\.csv', got '"):
        recount(old, key="count", **how)
    assert charges(old) == before


def test_a_key_of_0_5_0_can_be_charged_anew(old: ln.Ledger) -> None:
    before = charges(old)
    recount(old, key="count", fresh=True)
    assert charges(old) == before + 1
    assert recount(old, key="count").receipt.reused
    old.verify()


@pytest.mark.parametrize(("low", "same"), [(-5, True), (0, True), (20, False)])
def test_a_sum_of_0_5_0_is_returned_only_if_missing_values_counted_the_same(
    low: int, same: bool, tmp_path: Path, ledger: ln.Ledger
) -> None:
    """0.5.0 counted them as the bound nearest to 0, which is 0 unless the bounds exclude it."""
    path = written(tmp_path / "people.csv", FEW)
    people, asked = protected(path, ledger), ln.Sum("x", bounds=(low, 30))
    spending = people.explain(asked, privacy=SOME).prepared.spending()
    assert spending.formerly is not None
    formerly: dict[str, Any] = spending.formerly
    (question,) = formerly["questions"]
    then = {"ask": "sum", "column": "x", "bounds": [str(low), "30"]}
    assert (question == then) == same
    words = spending.formerly | {"questions": [then]}
    receipt = ledger.charge(replace(spending, asked=words), "sum")
    if same:
        assert people.ask([asked], privacy=SOME, key="sum")[0].receipt.charge == receipt.charge  # type: ignore[union-attr]
    else:
        with pytest.raises(InvalidParameter, match="used with a different query"):
            people.ask([asked], privacy=SOME, key="sum")
    assert charges(ledger) == 1
