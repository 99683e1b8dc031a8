"""Column expressions: the same values on every engine, for every value, and never an error.

The values are held against tests/support/expression_values.py, which computes with Fractions.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.errors import InvalidParameter, QueryFailed
from leastnoise.tables.sources import Source, fetch, open_source
from leastnoise.tables.where import Node, Value, check, col, parse_condition, truth
from leastnoise.tables.where import parse_expression as parse
from leastnoise.tables.where.nodes import Arithmetic, Column, Literal, Part
from tests.support.expression_values import Row, matches, nearest, worth
from tests.support.postgres_servers import Server

TINY, LARGEST = 5e-324, 1.7976931348623157e308
REALS = [
    *(0.0, -0.0, 0.1, -0.3, 1.5, 2.0**53 + 2, TINY, -TINY, 2.0**-75, 2.0**-76, -(2.0**-74)),
    *(LARGEST, -LARGEST, 2.0**500, -(2.0**501), 1e300, math.inf, -math.inf, math.nan, 1e-300),
]
COLUMNS: dict[str, tuple[str, str, str, list[Any]]] = {
    "small": ("SMALLINT", "SMALLINT", "SMALLINT", [-32768, -3, 0, 1, 7, 32767]),
    "long": (
        "BIGINT",
        "BIGINT",
        "BIGINT",
        [-(2**63), -(2**53) - 1, -(2**53), -2, 0, 2, 3, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1],
    ),
    "other": ("BIGINT", "BIGINT", "BIGINT", [5, 2**63 - 1, -(2**63), -1, 2**52, 0, 94906267]),
    "real": ("DOUBLE", "DOUBLE PRECISION", "DOUBLE", REALS),
    "second": ("DOUBLE", "DOUBLE PRECISION", "DOUBLE", [*REALS[7:], *REALS[:6]]),
    "price": (
        *("DECIMAL(10, 2)", "NUMERIC(10, 2)", "DECIMAL(10, 2)"),
        [Decimal(text) for text in ("0.10", "-0.01", "2.50", "99999999.99", "-99999999.99")],
    ),
    "wide": (
        *("DECIMAL(38, 19)", "NUMERIC(38, 19)", "DECIMAL(38, 19)"),
        [
            Decimal(text)
            for text in ("0.1", "0.1000000000000000001", "9" * 19 + "." + "9" * 19, "-1e-19")
        ],
    ),
    "word": (
        *("VARCHAR", "TEXT", "STRING"),
        ["", "a", "a%", "a_", "ab\ncd", "a\\b", "\\", "ß€😀", "A", "a\r\nb", "%", "_", "a b"],
    ),
    "term": ("VARCHAR", "TEXT", "STRING", ["", "A", "a", "a%", "x", "😀", "a\\b"]),
    "flag": ("BOOLEAN", "BOOLEAN", "BOOLEAN", [True, False]),
    "sign": ("BOOLEAN", "BOOLEAN", "BOOLEAN", [True, True, False]),
    "day": (
        *("DATE", "DATE", "DATE"),
        [
            *(date(1, 1, 1), date(1582, 10, 10), date(1900, 3, 1), date(2020, 12, 31)),
            *(date(2021, 1, 3), date(2021, 1, 4), date(2024, 2, 29), date(9999, 12, 31)),
        ],
    ),
    "end": ("DATE", "DATE", "DATE", [date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)]),
}
KINDS = {"word": "text", "term": "text", "flag": "boolean", "sign": "boolean"}
ROWS: list[Row] = [
    {
        "row": place,
        **{
            name: [*values, None][place * step % (len(values) + 1)]
            for step, (name, (*_, values)) in enumerate(COLUMNS.items(), start=1)
        },
    }
    for place in range(300)
]
NUMBERS = ("small", "long", "other", "real", "second", "price", "wide")
DAYS = ("day", "end")


def schema(engine: int) -> str:
    return ", ".join(f'"{name}" {column[engine]}' for name, column in COLUMNS.items())


@pytest.fixture(scope="module")
def duck_rows() -> Iterator[Source]:
    connection = ibis.duckdb.connect()
    extra = "big UBIGINT, huge HUGEINT, far DATE"
    connection.raw_sql(f'CREATE TABLE people ("row" INTEGER, {schema(0)}, {extra})')
    marks = ", ".join("?" * (len(COLUMNS) + 4))
    odd = [
        (2**64 - 1, 2**127 - 1, "infinity"),
        (0, -(2**127), "-infinity"),
        (2**53 + 1, 10**38, "5881580-07-10"),
        (2**63, 3, "5877642-06-25 (BC)"),
        (None, None, None),
    ]
    rows = [[*row.values(), *odd[row["row"] % 5]] for row in ROWS]
    connection.con.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    yield open_source(connection.table("people"))
    connection.disconnect()


@pytest.fixture(scope="module")
def postgres_rows(postgres: Server) -> Iterator[Source]:
    address = postgres.database()
    extra = 'free NUMERIC, far DATE, padded CHAR(3), german TEXT COLLATE "C"'
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE TABLE people ("row" INTEGER, {schema(1)}, {extra})'.encode())
        marks = ", ".join(["%s"] * (len(COLUMNS) + 5))
        odd = [
            (Decimal("NaN"), "infinity", "a", "a"),
            (Decimal("Infinity"), "-infinity", "a%", "A"),
            (Decimal("1e5000"), "4713-01-01 BC", "", None),
            (Decimal("-1e-5000"), "5874897-12-31", None, ""),
            (None, None, "ab", "a%"),
        ]
        rows = [(*row.values(), *odd[row["row"] % 5]) for row in ROWS]
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO people VALUES ({marks})".encode(), rows)
        yield open_source(ibis.postgres.from_connection(connection).table("people"))
        connection.execute("DROP TABLE people")
    postgres.clear(address)


@pytest.fixture(scope="module")
def spark_rows(spark: Any) -> Source:
    kinds = f"`row` INTEGER, {schema(2)}".replace('"', "`")
    frame = spark._session.createDataFrame([tuple(row.values()) for row in ROWS], kinds)
    frame.createOrReplaceTempView("expression_people")
    return open_source(spark.table("expression_people"))


# -------------------------------------------------------------------------------------- values

CONSTANTS = [Literal("number", Decimal(text)) for text in ("0", "1", "-3", "0.1", "1e20", "2.5")]
DIVISORS = [value for value in CONSTANTS if value.value]
LEAVES: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from(NUMBERS).map(Column),
    st.builds(
        Part,
        st.sampled_from(["year", "quarter", "month", "week", "weekday", "day"]),
        st.sampled_from(DAYS).map(Column),
    ),
)


def join(parts: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    constants = st.sampled_from(CONSTANTS)
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*"), parts, parts),
        st.builds(Arithmetic, st.sampled_from("+-*"), constants, parts),
        st.builds(Arithmetic, st.sampled_from("+-*"), parts, constants),
        st.builds(Arithmetic, st.just("/"), parts, st.sampled_from(DIVISORS)),
    )


EXPRESSIONS = st.recursive(LEAVES, join, max_leaves=5)
COMPUTED = EXPRESSIONS.filter(lambda node: not isinstance(node, Column))
TOGETHER = st.lists(COMPUTED, min_size=10, max_size=10)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same number; the sign of 0 does not count."""
    return one == other and type(one) is type(other)


def check_values(source: Source, nodes: list[Value]) -> None:
    """Ask an engine for expressions in one query, and compare each value of each row."""
    asked = {f"c{place}": source.value(str(node)) for place, node in enumerate(nodes)}
    found = fetch(source, source.table.select(source.table["row"], **asked))
    assert len(found) == len(ROWS)
    for number, *values in found:
        for node, value in zip(nodes, values, strict=True):
            assert same(value, worth(node, ROWS[number])), f"{node} of {ROWS[number]}"


def corners() -> list[Value]:
    """Every operation of every two columns of numbers, and every part of every date."""
    pairs: list[Value] = [
        Arithmetic(operator, Column(one), Column(other))
        for operator, one, other in product("+-*", NUMBERS, NUMBERS)
    ]
    pairs += [Arithmetic("/", Column(name), value) for name, value in product(NUMBERS, DIVISORS)]
    parts = ("year", "quarter", "month", "week", "weekday", "day")
    return [*pairs, *[Part(part, Column(name)) for part, name in product(parts, DAYS)]]


def test_every_operation_on_duckdb(duck_rows: Source) -> None:
    check_values(duck_rows, corners())


def test_every_operation_on_postgres(postgres_rows: Source) -> None:
    check_values(postgres_rows, corners())


@pytest.mark.long
def test_every_operation_on_spark(spark_rows: Source) -> None:
    check_values(spark_rows, corners())


@given(nodes=TOGETHER)
@settings(max_examples=6, deadline=None)
def test_expressions_on_duckdb(duck_rows: Source, nodes: list[Value]) -> None:
    check_values(duck_rows, nodes)


@pytest.mark.long
@given(nodes=TOGETHER)
@settings(max_examples=30, deadline=None)
def test_expressions_at_length(
    duck_rows: Source, postgres_rows: Source, spark_rows: Source, nodes: list[Value]
) -> None:
    for source in (duck_rows, postgres_rows, spark_rows):
        check_values(source, nodes)


@given(COMPUTED)
@settings(max_examples=200)
def test_an_expression_prints_as_what_it_is(node: Value) -> None:
    assert parse(str(node)) == node


def test_the_largest_product_and_the_smallest_do_not_fail(postgres_rows: Source) -> None:
    """Seven factors of the largest and of the smallest size; a plain product fails."""
    nodes = [parse(" * ".join(["real"] * 7)), parse(" * ".join(["second"] * 6) + " / 1e-22")]
    check_values(postgres_rows, nodes)
    plain = postgres_rows.table.select(c=postgres_rows.table.real * postgres_rows.table.real)
    with pytest.raises(QueryFailed, match="The engine failed to run the query"):
        fetch(postgres_rows, plain)


def test_odd_types_of_duckdb(duck_rows: Source) -> None:
    texts = ["big + 0", "huge * 1", "year(far)", "week(far) + 0"]
    rows = fetch(duck_rows, duck_rows.table.select(**{t: duck_rows.value(t) for t in texts}))
    most, real = 2**53, float(2**127)
    assert set(rows) == {
        (most, real, None, None),
        (0, -real, None, None),
        (most, 1e38, None, None),
        (most, 3.0, None, None),
        (None, None, None, None),
    }


def test_odd_types_of_postgres(postgres_rows: Source) -> None:
    texts = ["free + 0", "year(far)"]
    table = postgres_rows.table
    rows = fetch(postgres_rows, table.select(**{t: postgres_rows.value(t) for t in texts}))
    large = float(2**500)
    assert set(rows) == {(None, None), (large, None), (0.0, None)}
    same_blanks = "padded like 'a' and padded = german or padded = 'ab' and padded like 'ab'"
    assert len(kept(postgres_rows, parse_condition(same_blanks))) == 2 * len(ROWS) // 5
    # Columns of two collations: PostgreSQL fails to compare them as they are.
    assert kept(postgres_rows, parse_condition("german != word")) == [
        row["row"]
        for row in ROWS
        if (german := ["a", "A", None, "", "a%"][row["row"] % 5]) is not None
        and row["word"] not in (None, german)
    ]


# ---------------------------------------------------------------------- comparisons and like


def kept(source: Source, condition: Node) -> list[int]:
    check(condition, source)
    found = source.table.filter(truth(condition, source, source.table))
    return sorted(int(row) for (row,) in fetch(source, found.select("row")))


def holds(sign: str, one: Any, other: Any) -> bool:
    """Return whether two known values of one kind compare so."""
    if any(value is None or str(value) == "nan" for value in (one, other)):
        return False
    exact = all(isinstance(value, int) for value in (one, other))
    if not exact and not isinstance(one, str | date):
        one, other = (nearest(v) if isinstance(v, Decimal) else float(v) for v in (one, other))
    if sign in ("=", "!="):
        return bool(one == other) is (sign == "=")
    return {"<": bool(one < other), "<=": bool(one <= other), ">": bool(one > other)}[sign]


PAIRS = [
    *[
        (one, sign, other)
        for one, other in product(NUMBERS, NUMBERS)
        for sign in (">", "=", "<=")
        if one != "wide" and other != "wide"
    ],
    *[("day", sign, "end") for sign in ("=", "!=", "<", "<=", ">")],
    *[
        (one, sign, other)
        for one, other in (("word", "term"), ("flag", "sign"))
        for sign in ["=", "!="]
    ],
    ("month(day)", ">", "weekday(end)"),
    ("small * 2", "<", "long - other"),
]


def check_pairs(source: Source) -> None:
    for first in range(0, len(PAIRS), 60):
        pairs = PAIRS[first : first + 60]
        conditions = [parse_condition(" ".join(pair)) for pair in pairs]
        for condition in conditions:
            check(condition, source)
        asked = {
            f"c{place}": truth(condition, source, source.table).fill_null(False)
            for place, condition in enumerate(conditions)
        }
        for number, *found in fetch(source, source.table.select(source.table["row"], **asked)):
            for (one, sign, other), value in zip(pairs, found, strict=True):
                values = (worth(parse(text), ROWS[number]) for text in (one, other))
                assert value is holds(sign, *values), (one, sign, other, ROWS[number])


def test_columns_are_compared_alike_on_duckdb(duck_rows: Source) -> None:
    check_pairs(duck_rows)


def test_columns_are_compared_alike_on_postgres(postgres_rows: Source) -> None:
    check_pairs(postgres_rows)


@pytest.mark.long
def test_columns_are_compared_alike_on_spark(spark_rows: Source) -> None:
    check_pairs(spark_rows)


PATTERNS = [
    *("", "%", "_", "a%", "%b", "a_", r"a\%", r"a\_", r"%\\%", r"\\", "%\\_", "a_b", "%cd", "a%b"),
    *("___", "ß%", "_€_", "%😀", "A", "a__b", "a\\\\b", "'", "%''%"),
]


def check_patterns(source: Source) -> None:
    words: list[str | None] = [row["word"] for row in ROWS]
    for pattern in PATTERNS:
        found = kept(source, col("word").like(pattern))
        expected = [
            place for place, word in enumerate(words) if word is not None and matches(word, pattern)
        ]
        assert found == expected, pattern
        rest = [place for place, word in enumerate(words) if word is not None]
        assert kept(source, ~col("word").like(pattern)) == sorted({*rest} - {*expected}), pattern


def test_patterns_on_duckdb(duck_rows: Source) -> None:
    check_patterns(duck_rows)


def test_patterns_on_postgres(postgres_rows: Source) -> None:
    check_patterns(postgres_rows)


@pytest.mark.long
def test_patterns_on_spark(spark_rows: Source) -> None:
    check_patterns(spark_rows)


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "word + 1",
            "Arithmetic must be on columns of integers, floats or decimals, got 'word', of",
        ),
        (
            "flag * 2",
            "Arithmetic must be on columns of integers, floats or decimals, got 'flag', of",
        ),
        ("year(small)", "year must be of a column of dates, got 'small', of kind integer"),
        ("hour(day)", "hour must be of a column of timestamps, got 'day', of kind date"),
        ("small + nothing", "No column 'nothing' in .*. Check the names"),
        ("month(dya)", "No column 'dya' in .*. Did you mean 'day'?"),
        (
            "small * 1e30",
            "A constant in arithmetic must be 0, or from 2⁻⁷⁵ to 2⁷⁵ in size, got 1e30",
        ),
        (" * ".join(["real"] * 8), "An expression must multiply at most 7 factors, got 8"),
        (" + ".join(["real"] * 34), "An expression must have at most 32 operators, got 33"),
        (
            "lower(word)",
            r"must be as in .*, got '\(' at character 6 of .* Functions and queries are",
        ),
        (
            "price * (wide + )",
            r"must be as in arr_delay - dep_delay or month\(joined\), got '\)' at character 17 of",
        ),
        ("small + " + "x" * 10_000, "A column expression must have at most 10000 characters, got"),
    ],
)
def test_an_expression_that_does_not_fit_is_refused(
    duck_rows: Source, text: str, message: str
) -> None:
    people = ln.protect(duck_rows.table, unit=None, ledger=ln.UNRECORDED)
    with pytest.raises(InvalidParameter, match=message):
        people.explain(ln.Sum(text, bounds=(0, 1)), privacy=ln.Privacy(1))
    with pytest.raises(InvalidParameter, match=message):
        people.explain(ln.Count(by=text, groups=[1]), privacy=ln.Privacy(1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "word < term",
            "Columns of strings or booleans must be compared by = or !=, got 'word' < ",
        ),
        ("flag >= sign", "Columns of strings or booleans must be compared by = or !="),
        (
            "word = small",
            "must compare columns of one kind, got 'word' of kind text and 'small' of",
        ),
        (
            "day < small",
            "must compare columns of one kind, got 'day' of kind date and 'small' of k",
        ),
        ("small like '1'", "must compare 'small', a column of kind integer, with numbers, got the"),
        (
            "month(day) = 'a'",
            r"must compare 'month\(day\)', an expression of kind integer, with num",
        ),
    ],
)
def test_columns_that_do_not_compare_are_refused(
    duck_rows: Source, text: str, message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        check(parse_condition(text), duck_rows)


def test_a_column_that_is_called_like_an_expression_is_that_column() -> None:
    frame = pa.table({"a": [5], "b": [3], "a - b": [7], "month(a)": [9]})
    source = open_source(frame)
    rows = fetch(source, source.table.select(x=source.value("a - b"), y=source.value("a-b")))
    assert rows == [(7, 2)]
    assert source.kind("month(a)") == "integer"
    with pytest.raises(InvalidParameter, match=r"No column 'a_- b' in .* mean 'a - b'\?"):
        source.kind("a_- b")


def test_a_unit_is_a_column(duck_rows: Source) -> None:
    with pytest.raises(InvalidParameter, match=r"No column 'small . 1' in"):
        ln.protect(duck_rows.table, unit="small + 1", max_rows=1, ledger=ln.UNRECORDED)


def test_csv_columns_are_parsed_as_an_expression_needs_them(tmp_path: Path) -> None:
    path = tmp_path / "flights.csv"
    lines = [
        *("row,dep,arr,day,from,to", "0,10,20.5,2024-02-29,a,a", "1,x,3,2024-13-01,a,b"),
        *("2,5,2,,,b", "3,nan,2,infinity,b,b", "4,inf,1,0001-01-01,b,"),
    ]
    path.write_text("\n".join([*lines, ""]))
    source = open_source(path)
    assert source.kind("arr - dep") == "real"
    assert not source.is_text("arr - dep")
    asked = source.table.select(d=source.value("arr - dep"), m=source.value("month(day)"))
    assert fetch(source, asked) == [
        (10.5, 2),
        (None, None),
        (-3.0, None),
        (None, None),
        (1.0 - 2.0**500, 1),
    ]
    for text, expected in {
        "arr - dep > 0": [0],
        "arr > dep - 6": [0, 2],
        '"from" = to': [0, 3],
        "to like 'b%'": [1, 2, 3],
    }.items():
        assert kept(source, parse_condition(text)) == expected, text
    with pytest.raises(InvalidParameter, match="If the strings are numbers, write their diff"):
        check(parse_condition("arr > dep"), source)


def check_times(table: Any) -> None:
    """Check a table of four times, whose last is NULL, on an engine."""
    source = open_source(table)
    source = replace(source, kinds=dict(source.kinds) | {"t": "timestamp", "u": "timestamp"})
    texts = ["hour(t)", "week(t) + 0", "weekday(t)", "year(t)"]
    rows = fetch(source, source.table.select("row", **{t: source.value(t) for t in texts}))
    assert sorted(rows) == [
        (0, 23, 53, 4, 2020),
        (1, 0, 1, 1, 2021),
        (2, 5, 1, 1, 1),
        (3, None, None, None, None),
    ]
    for text, expected in {
        "t >= date '2021-01-04'": [1],
        "t < date '2021-01-04'": [0, 2],
        "t = date '2021-01-04'": [1],
        "t in (date '2021-01-04', date '0001-01-01')": [1],
        "t is null": [3],
        "t > u": [1, 2],
        "not t > u and day(t) != 4": [0],
        "hour(t) between 1 and 30": [0, 2],
    }.items():
        assert kept(source, parse_condition(text)) == expected, text


_TIMES = [
    "(0, TIMESTAMP '2020-12-31 23:59:59.999999', TIMESTAMP '2021-12-31 00:00:00')",
    "(1, TIMESTAMP '2021-01-04 00:00:00', TIMESTAMP '2020-12-31 00:00:00')",
    "(2, TIMESTAMP '0001-01-01 05:00:00', TIMESTAMP '0001-01-01 04:59:59')",
    "(3, NULL, TIMESTAMP '2020-12-31 00:00:00')",
]


def test_times_on_duckdb(duck: Any) -> None:
    duck.raw_sql('CREATE TABLE times ("row" INTEGER, t TIMESTAMP, u TIMESTAMP)')
    duck.raw_sql("INSERT INTO times VALUES " + ", ".join(_TIMES))
    check_times(duck.table("times"))


def test_times_on_postgres(pg: Any) -> None:
    pg.con.execute('CREATE TABLE times ("row" INTEGER, t TIMESTAMP, u TIMESTAMP)')
    pg.con.execute("INSERT INTO times VALUES " + ", ".join(_TIMES))
    check_times(pg.table("times"))


@pytest.mark.long
def test_times_on_spark(spark: Any) -> None:
    values = ", ".join(_TIMES).replace("TIMESTAMP", "TIMESTAMP_NTZ")
    spark._session.sql(
        f"CREATE OR REPLACE TEMP VIEW times AS SELECT * FROM VALUES {values} AS t(`row`, t, u)"
    )
    check_times(spark.table("times"))


ANY_ROW = st.fixed_dictionaries(
    {
        "i": st.integers(-(2**63), 2**63 - 1) | st.none(),
        "j": st.integers(-(2**63), 2**63 - 1) | st.none(),
        "x": st.floats() | st.none(),
        "y": st.floats() | st.none(),
        "w": st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.none(),
        "d": st.dates() | st.none(),
    }
)
KINDS_OF = {"i": pa.int64(), "j": pa.int64(), "x": pa.float64(), "y": pa.float64()}
TYPES = pa.schema([*KINDS_OF.items(), ("w", pa.string()), ("d", pa.date32())])


@given(st.lists(ANY_ROW, min_size=1, max_size=5))
@settings(max_examples=12, deadline=None)
def test_no_row_makes_an_expression_fail(rows: list[dict[str, Any]]) -> None:
    source = open_source(pa.Table.from_pylist(rows, schema=TYPES))
    texts = ["i * j - i", "x * y * x * y / 1e-22", "i * x - j", "week(d) * i", "(x - y) * (x + y)"]
    condition = parse_condition(r"w like '%\%_%' or i > j or x <= y or i < x or year(d) != j")
    asked = [source.value(text) for text in texts]
    found = fetch(
        source,
        source.table.select(
            c=truth(condition, source, source.table),
            **{f"v{place}": value for place, value in enumerate(asked)},
        ),
    )
    assert len(found) == len(rows)
    for (_, *values), row in zip(found, rows, strict=True):
        assert all(map(same, values, [worth(parse(text), row) for text in texts]))
