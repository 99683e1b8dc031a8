"""Ibis tables: an accepted operation fails for no value, of any type, on any engine.

A table of each engine has a column of every type, with the extreme values of the type. Every
operation is tried on every pair of columns, and on every column with every literal. It must be
rejected by its types alone, or run to its end.
"""

import datetime
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import partial
from operator import methodcaller
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pytest

from leastnoise.errors import QueryFailed, Unsupported
from leastnoise.tables.bounding.bounding import Selection
from leastnoise.tables.bounding.lattice import Lattice
from leastnoise.tables.sources import Source, fetch, open_source

TEXTS = ["''", "'x'", "'NaN'", "'1e999'", "'-0'", "'infinity'", "'99999-01-01'", "'ß\u0130é'"]
TEXTS += ["'00000000-0000-0000-0000-00000000000g'", "'2020-02-30'", "'" + "z" * 5_000 + "'"]
DOUBLES = ["'nan'", "'inf'", "'-inf'", "'1e308'", "'-1e308'", "'5e-324'", "'-0.0'", "'0.1'"]

DUCKDB = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "127"],
    "INTEGER": ["-2147483648", "2147483647", "0"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "0"],
    "UBIGINT": ["0", "18446744073709551615"],
    "HUGEINT": [str(-(2**127)), str(2**127 - 1), "0"],
    "UHUGEINT": [str(2**128 - 1), "0"],
    "FLOAT": ["'nan'", "'inf'", "'-inf'", "'3e38'", "'1e-45'", "'-0.0'"],
    "DOUBLE": DOUBLES,
    "DECIMAL(4,2)": ["99.99", "-99.99", "0"],
    "DECIMAL(38,0)": ["9" * 38, "-" + "9" * 38, "0"],
    "DECIMAL(38,37)": ["9." + "9" * 37, "-9." + "9" * 37, "0"],
    "VARCHAR": TEXTS,
    "ENUM('a', 'b')": ["'a'", "'b'"],
    "DATE": ["'infinity'", "'-infinity'", "'5000000-01-01'", "'0001-01-01'", "'4000-01-01 (BC)'"],
    "TIMESTAMP": ["'infinity'", "'-infinity'", "'294246-01-01'", "'0001-01-01'"],
    "TIMESTAMP_S": ["'infinity'", "'290000-01-01'", "'0001-01-01'"],
    "TIMESTAMP_NS": ["'infinity'", "'2262-01-01'", "'1700-01-01'"],
    "TIMESTAMPTZ": ["'infinity'", "'-infinity'"],
    "TIME": ["'00:00:00'", "'24:00:00'"],
    "INTERVAL": ["'1000000 years'", "'-5 days'"],
    "UUID": ["'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    "BLOB": [r"'\xFF\x00'", "''"],
    "BIT": ["'1'", "'0101'"],
    "JSON": ["'{}'", "'1e999'", "'\"x\"'"],
    "INTEGER[]": ["[1, NULL]", "[]"],
    "STRUCT(a INTEGER)": ["{'a': 1}"],
}
POSTGRES = {
    "boolean": ["true", "false"],
    "smallint": ["-32768", "32767"],
    "integer": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807"],
    "oid": ["0", "4294967295"],
    "real": ["'nan'", "'inf'", "'-inf'", "'3e38'", "'1e-45'", "'-0.0'"],
    "double precision": DOUBLES,
    "numeric": ["'nan'", "'inf'", "'-inf'", "1e400", "-1e400", "1e-400", "0"],
    "numeric(4,2)": ["99.99", "-99.99", "'nan'"],
    "numeric(60,40)": ["1e19", "1e-40", "'nan'"],
    "money": ["'92233720368547758.07'", "'-92233720368547758.08'"],
    "text": TEXTS,
    "varchar(9)": ["'x'", "''", "'1e999'"],
    "char(4)": ["'x'", "''", "'NaN'"],
    "name": ["'x'", "''"],
    "mood": ["'a'", "'b'"],
    "domain_text": ["'x'", "''"],
    "date": ["'infinity'", "'-infinity'", "'5000000-01-01'", "'0001-01-01'", "'4713-01-01 BC'"],
    "timestamp": ["'infinity'", "'-infinity'", "'294276-01-01'", "'4713-01-01 BC'"],
    "timestamp(0)": ["'infinity'", "'294276-01-01'"],
    "timestamptz": ["'infinity'", "'-infinity'", "'294276-01-01'"],
    "time": ["'00:00:00'", "'24:00:00'"],
    "interval": ["'100000000 years'", "'-5 days'"],
    "uuid": ["'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    "bytea": [r"'\xff00'", "''"],
    "json": ["'{}'", "'1e999'"],
    "bit(3)": ["B'101'"],
    "integer[]": ["'{1,NULL}'", "'{}'"],
    "inet": ["'::1'"],
}
SPARK = {
    "boolean": ["true", "false"],
    "tinyint": ["-128Y", "127Y"],
    "int": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808L", "9223372036854775807L"],
    "float": ["'nan'", "'infinity'", "'-infinity'", "'3e38'", "'1e-45'", "'-0.0'"],
    "double": ["'nan'", "'infinity'", "'-infinity'", "'1e308'", "'5e-324'", "'-0.0'"],
    "decimal(4,2)": ["99.99", "-99.99"],
    "decimal(38,0)": ["9" * 38 + "BD", "-" + "9" * 38 + "BD"],
    "decimal(38,37)": ["9." + "9" * 37 + "BD", "-9." + "9" * 37 + "BD"],
    "string": TEXTS,
    "date": ["'+294247-01-01'", "'0001-01-01'", "'-4000-01-01'"],
    "timestamp": ["'+294246-01-01'", "'0001-01-01'"],
    "timestamp_ntz": ["'+294246-01-01'", "'0001-01-01'"],
    "binary": ["X'FF00'", "X''"],
    "array<int>": ["array(1, NULL)"],
}
LITERALS: list[Any] = [
    *[True, 0, 1, -1, 50, 127, 300, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)],
    *[0.0, 1.5, 0.125, 5.0, 1e20, 1e308, 1e-7, 1e-50, math.inf, math.nan],
    *["", "x", "1", "a", "2020-02-29", "2020-02-30", "2020-01-01 12:00:00", "infinity"],
    *["00000000-0000-0000-0000-000000000000", datetime.date(2020, 2, 29)],
    *[datetime.datetime(2020, 2, 29, 1), Decimal("1.5"), Decimal(10) ** 20],  # noqa: DTZ001 -- naive
]
SOME = [
    True,
    1,
    300,
    1.5,
    1e308,
    1e-50,
    math.inf,
    "x",
    "2020-02-29",
    datetime.date(2020, 2, 29),
    Decimal("1.5"),
]
Expressions = Iterator[tuple[str, Callable[[], Any]]]


def of_two(one: Any, two: Any) -> Expressions:
    """Yield operations on two operands, of which the first is a column: one of each kind."""
    yield "==", lambda: one == two
    yield "between", lambda: one.between(two, two)
    yield "isin", lambda: one.isin([two])
    yield "coalesce", lambda: ibis.coalesce(one, two)
    yield "simple", lambda: one.cases((two, 1), else_=0)
    yield "concat", lambda: one + two
    yield "contains", lambda: one.contains(two)


def more_of_two(one: Any, two: Any) -> Expressions:
    """Yield the other operations on two operands."""
    yes = one.notnull()
    yield "!=", lambda: one != two
    yield "<", lambda: one < two
    yield ">=", lambda: one >= two
    yield "between columns", lambda: one.between(one, two)
    yield "isin both", lambda: one.isin([one, two])
    yield "ifelse", lambda: yes.ifelse(two, one)
    yield "cases", lambda: ibis.cases((one.isnull(), one), else_=two)
    yield "simple results", lambda: one.cases((one, two), else_=one)
    yield "startswith", lambda: one.startswith(two)
    yield "endswith", lambda: one.endswith(two)


def of_one(one: Any) -> Expressions:
    yield "column", lambda: one
    yield "cast", lambda: one.cast("string")
    yield "cast short", lambda: one.cast("string(3)")
    for name in ("isnull", "isnan", "lower", "upper", "length", "year", "month", "day"):
        yield name, partial(methodcaller(name), one)
    yield "year ==", lambda: one.year() == 2020
    yield "lower ==", lambda: one.lower().isin(["x", "nan"])


def all_expressions(table: Any, *, full: bool) -> Expressions:
    for one in table.columns:
        for name, make in of_one(table[one]):
            yield f"{name} of {one}", make
        seconds = {two: table[two] for two in table.columns}
        seconds |= {repr(value): value for value in (LITERALS if full else SOME)}
        for two, second in seconds.items():
            operations = [of_two(table[one], second)]
            operations += [more_of_two(table[one], second)] if full else []
            for name, make in itertools.chain(*operations):
                yield f"{one} {name} {two}", make


def accepted(table: Any, *, full: bool) -> dict[str, Source]:
    """Return the sources that are accepted, by what they compute; the others are rejected."""
    found = {}
    for name, make in all_expressions(table, full=full):
        try:
            chosen = table.select(x=make())
        except Exception:  # noqa: BLE001 -- Ibis has no such expression: nothing to reject
            continue
        with suppress(Unsupported):
            found[name] = open_source(chosen)
    return {name: source for name, source in found.items() if compiles(source)}


def compiles(source: Source) -> bool:
    """Return whether Ibis has a query for it on this engine: else there is nothing to fail."""
    try:
        source.compile(source.table)
    except Exception:  # noqa: BLE001 -- whatever Ibis lacks
        return False
    return True


def used(source: Source) -> Iterator[Any]:
    """Yield how queries use a computed column: counted, compared, added up, grouped by."""
    column, kind = source.table["x"], source.kinds["x"]
    yield column.count()
    if kind in ("integer", "real", "decimal", "boolean"):
        for step in (1, 1024):
            lattice = Lattice.between((0, 1 << 20), whole=kind == "integer" and step == 1)
            yield lattice.index(column, source.engine).sum()


def group_query(source: Source) -> Any:
    """Return the query of a count by the column x."""
    return Selection(
        table=source.table,
        by={"x": source.table["x"]},
        keys=None,
        unit=None,
        rows=1,
        groups=1,
        salt="",
        engine=source.engine,
    ).query()


def failing(sources: dict[str, Source]) -> list[str]:
    """Return the accepted expressions with which a query fails."""
    failed = []
    for name, source in sources.items():
        uses = {f"u{place}": use for place, use in enumerate(used(source))}
        try:
            fetch(source, source.table.aggregate(**uses))
            if source.kinds["x"] in ("integer", "text", "boolean", "date"):
                fetch(source, group_query(source))
        except QueryFailed:
            failed.append(name)
    return failed


def fill(execute: Callable[[str], Any], types: dict[str, list[str]], cast: str) -> None:
    """Fill a table t with a column for each type, and a row for each combination of ends."""
    rows = max(map(len, types.values()))
    for row in range(rows):
        values = [cast.format(ends[row % len(ends)], kind) for kind, ends in types.items()]
        execute(f"INSERT INTO t SELECT {', '.join(values)}")
    execute(f"INSERT INTO t SELECT {', '.join(['NULL'] * len(types))}")


def check(table: Any, least: int, *, full: bool) -> None:
    sources = accepted(table, full=full)
    assert len(sources) >= least  # enough is accepted for the test to mean something
    failed = failing(sources)
    assert not failed, "; ".join(failed)


def duckdb_table(connection: Any) -> Any:
    columns = ", ".join(f'"{kind}" {kind}' for kind in DUCKDB)
    connection.con.execute(f"CREATE TABLE t ({columns})")
    fill(connection.con.execute, DUCKDB, "CAST({} AS {})")
    return connection.table("t")


def postgres_table(connection: Any) -> Any:
    connection.con.execute("CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN domain_text AS text")
    columns = ", ".join(f'"{kind}" {kind}' for kind in POSTGRES)
    connection.con.execute(f"CREATE TABLE t ({columns})")
    fill(connection.con.execute, POSTGRES, "CAST({} AS {})")
    return connection.table("t")


FULL = pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.long)])


@FULL
def test_accepted_operations_fail_for_no_value_on_duckdb(full: bool, duck: Any) -> None:
    check(duckdb_table(duck), least=250, full=full)


def arrow_columns() -> Iterator[tuple[str, pa.Array]]:
    """Yield columns whose values have no literal in SQL, but come in through Arrow."""
    largest = 2**63 - 1
    ends = [0, 2**62, -(2**62), largest, largest - 1, -largest - 1, -largest, -largest + 5, 2**43]
    ends += [sign * (largest // 10**power + more) for sign in (1, -1) for power in (3, 6, 9)
             for more in (0, 1)]  # fmt: skip
    longs = pa.array([*ends, None], pa.int64())
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp {unit}", longs.cast(pa.timestamp(unit))
        yield f"timestamp {unit} UTC", longs.cast(pa.timestamp(unit, "UTC"))
    days = [0, 2**31 - 1, 2**31 - 2, -(2**31), -(2**31) + 1, -(2**31) + 2]
    repeated = itertools.islice(itertools.cycle(days), len(longs))
    yield "date", pa.array(list(repeated), pa.int32()).cast(pa.date32())


@FULL
@pytest.mark.parametrize("name", [name for name, _ in arrow_columns()])
def test_accepted_operations_fail_for_no_value_from_arrow(name: str, full: bool, duck: Any) -> None:
    """DuckDB's own casts reject most of these values; it copies them from Arrow as they are."""
    try:
        duck.con.register("given", pa.table({"c": dict(arrow_columns())[name]}))
        duck.con.execute("CREATE TABLE t AS FROM given")
    except duckdb.Error:  # DuckDB converts some types as it copies: no table has such values then
        assert name.endswith("UTC")
        return
    check(duck.table("t"), least=2, full=full)


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
def test_parts_and_texts_of_times_are_rejected_by_type_on_duckdb(kind: str, duck: Any) -> None:
    duck.con.execute(f"CREATE TABLE t (x {kind})")
    table = duck.table("t")
    makes: list[Callable[[Any], Any]] = [
        lambda x: x.cast("string"),
        lambda x: x.year(),
        lambda x: x.day(),
    ]
    for make in makes:
        if kind == "TIMESTAMP" and make(table.x).type().is_integer():
            assert open_source(table.select(y=make(table.x))).kinds["y"] == "integer"
            continue
        with pytest.raises(Unsupported, match=r"on timestamp.*which can fail for some rows"):
            open_source(table.select(y=make(table.x)))


@FULL
def test_accepted_operations_fail_for_no_value_on_postgresql(full: bool, pg: Any) -> None:
    check(postgres_table(pg), least=250, full=full)


@pytest.mark.long
def test_accepted_operations_fail_for_no_value_on_spark(spark: Any) -> None:
    session = spark._session
    names = {kind: f"c{place}" for place, kind in enumerate(SPARK)}
    rows = max(map(len, SPARK.values()))
    selects = [
        "SELECT "
        + ", ".join(
            f"CAST({ends[row % len(ends)]} AS {kind}) AS {names[kind]}"
            for kind, ends in SPARK.items()
        )
        for row in range(rows)
    ]
    session.sql(" UNION ALL ".join(selects)).createOrReplaceTempView("extremes")
    check(spark.table("extremes"), least=150, full=False)


@pytest.mark.long
def test_strings_of_spark_that_are_not_utf8_are_no_groups(spark: Any) -> None:
    """Python reads both as one replacement character: they count nowhere, and merge nothing."""
    cells = " UNION ALL ".join(
        f"SELECT CAST({cell} AS STRING) AS x" for cell in ("X'FF'", "X'FE'", "'a'", "'é'")
    )
    spark._session.sql(cells).createOrReplaceTempView("encoded")
    source = open_source(spark.table("encoded"))
    assert sorted(fetch(source, group_query(source))) == [("a", 1), ("é", 1)]
    naive = fetch(source, source.table)
    assert len(set(naive)) < len(naive)


def test_a_database_must_have_an_encoding_that_can_be_read(pg_address: str) -> None:
    """In SQL_ASCII a row can have bytes that are no string: the query would fail for it."""
    name = "leastnoise_ascii"
    with psycopg.connect(pg_address, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
        try:
            address = psycopg.conninfo.make_conninfo(
                pg_address, dbname=name, client_encoding="utf8"
            )
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("CREATE TABLE t AS SELECT 'a' AS s")
                table = ibis.postgres.from_connection(connection).table("t")
                with pytest.raises(Unsupported, match="must be encoded in UTF8 or LATIN1"):
                    open_source(table)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


# ------------------------------------------------------------------------- the naive control

# What version 0.5 accepted by the names of operations: the row decides whether the query fails.
CASES: dict[str, tuple[str, str, str, str, Callable[[Any], Any]]] = {
    "string in integers": (
        "duckdb", "s VARCHAR", "('1')", "('x')", lambda t: t.s.isin([1, 2])),
    "string and uuid": (
        "duckdb", "s VARCHAR, u UUID",
        "('ffffffff-ffff-ffff-ffff-ffffffffffff', NULL)", "('x', uuid())",
        lambda t: t.s == t.u),
    "date and timestamp": (
        "duckdb", "d DATE, t TIMESTAMP", "('2020-01-01', '2020-01-01')",
        "('5000000-01-01', '2020-01-01')", lambda t: t.d > t.t),
    "decimal and decimal literal": (
        "duckdb", "a DECIMAL(38, 0)", "(1)", f"({'9' * 38})", lambda t: t.a > 1.5),
    "HUGEINT and decimal": (
        "duckdb", "h HUGEINT, d DECIMAL(38, 0)", "(1, 1)", f"({2**127 - 1}, 1)",
        lambda t: t.h > t.d),
    "numeric and float8": (
        "postgres", "n numeric, f float8", "(1, 1)", "(1e400, 1)", lambda t: t.n > t.f),
    "oid and bigint": (
        "postgres", "o oid, b bigint", "(1, 1)", "(1, -9223372036854775808)",
        lambda t: t.o == t.b),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_acceptance_by_name_lets_one_row_decide(name: str, request: pytest.FixtureRequest) -> None:
    engine, columns, harmless, fatal, condition = CASES[name]
    connection = request.getfixturevalue({"duckdb": "duck", "postgres": "pg"}[engine])
    connection.con.execute(f"CREATE TABLE t ({columns})")
    connection.con.execute(f"INSERT INTO t VALUES {harmless}")
    table = connection.table("t")
    chosen = table.filter(condition(table))
    with pytest.raises(Unsupported, match="which can fail for some rows"):
        open_source(chosen)
    # As it was: the query runs, and does not with one more row.
    naive = Source(chosen, engine, "t", False, {})
    fetch(naive, chosen.count().as_table())
    connection.con.execute(f"INSERT INTO t VALUES {fatal}")
    with pytest.raises(QueryFailed, match="engine"):
        fetch(naive, chosen.count().as_table())


def test_common_conditions_are_accepted(duck: Any) -> None:
    duck.con.execute(
        "CREATE TABLE p (age INTEGER, name VARCHAR, income DECIMAL(10, 2), rate DOUBLE, born DATE, "
        "seen TIMESTAMP, member BOOLEAN)"
    )
    t = duck.table("p")
    chosen = t.filter(
        t.age >= 18, t.age.between(18, 65), t.name.isin(["a", "b"]), t.income > 1.5,
        t.income < 100_000, t.rate > 0.1, t.rate < 5, t.born > "1990-01-01",
        t.born < datetime.date(2020, 1, 1), t.seen > "2020-01-01", t.member, ~t.member,
        t.name.lower().startswith("a"), t.born.year() > 1990,
    ).mutate(
        group=ibis.cases((t.age < 18, "young"), (t.age < 65, "middle"), else_="old"),
        adult=(t.age >= 18).ifelse(1, 0), known=t.name.fill_null("unknown"),
        capped=(t.age > 99).ifelse(99, t.age), label=t.name + ":" + t.age.cast("string"),
        code=t.name.cases(("a", 1), ("b", 2), else_=None), paid=t.income.fill_null(0),
    )  # fmt: skip
    assert open_source(chosen).kinds["group"] == "text"


@pytest.mark.parametrize(
    ("make", "types"),
    [
        (lambda t: t.age > 1.5, "Greater on int32 and float64"),
        (lambda t: t.name.isin([1]), "InValues on string and int8"),
        (lambda t: ibis.coalesce(t.age, 0.5), "Coalesce on int32 and float64"),
        (lambda t: t.age == 2**40, "Equals on int32 and int64"),
    ],
)
def test_the_message_names_operation_and_types(
    make: Callable[[Any], Any], types: str, duck: Any
) -> None:
    duck.con.execute("CREATE TABLE p (age INTEGER, name VARCHAR)")
    with pytest.raises(Unsupported, match=f"got {types}, which can fail .* Store the computed"):
        open_source(duck.table("p").select(x=make(duck.table("p"))))
