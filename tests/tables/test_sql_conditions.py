"""WHERE of SQL selects the rows that DuckDB selects for the same text, on any table with NULLs."""

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.tables.bounding import ADD_REMOVE
from leastnoise.tables.queries.planned_query import Unit
from leastnoise.tables.sources import Source, open_source
from leastnoise.tables.sql import read_select
from leastnoise.tables.where import Node, check_node, truth

_RNG = random.Random(20261119)
_ROWS = 120
_NAMES = "i j x y b c t u d e"
_VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    **{name: (pa.int64(), [None, -2, -1, 0, 1, 2, 3]) for name in "ij"},
    **{name: (pa.float64(), [None, -1.5, 0.0, 0.1, 0.5, 2.0, 3.25]) for name in "xy"},
    **{name: (pa.bool_(), [None, True, False]) for name in "bc"},
    **{
        name: (pa.string(), [None, "", "a", "ab", "a%", "a_b", "A", "o'b", "a\\b"]) for name in "tu"
    },
    **{
        name: (pa.date32(), [None, *(19_700 + day for day in (0, 1, 59, 60, 365))]) for name in "de"
    },
}
_TABLE = pa.table(
    {
        "id": pa.array(range(_ROWS)),
        **{
            name: pa.array(_RNG.choices(values, k=_ROWS), kind)
            for name, (kind, values) in _VALUES.items()
        },
    }
)

_constants = st.sampled_from(["-2", "0", "1", "2.5", "0.1", "1e0", "3", ".5", "-1.50", "2."])
_nonzero = st.sampled_from(["2", "-4", "0.5", "8"])
_columns = st.sampled_from(["i", "j", "x", "y", "I", '"x"', "records.i"])


def _join(left: str, sign: str, right: str) -> str:
    return f"{left} {sign} {right}"


_numbers = st.recursive(
    _columns,
    lambda inner: st.one_of(
        st.builds(_join, inner, st.sampled_from("+-*"), _columns | _constants),
        st.builds(_join, _constants, st.sampled_from("+-*"), inner),
        st.builds(_join, inner, st.just("/"), _nonzero),
        inner.map("({})".format),
        inner.map("- ({})".format),
        inner.map("- {}".format),
    ),
    max_leaves=4,
)
_parts = st.builds(
    "{}({})".format,
    st.sampled_from(["year", "MONTH", "day", "quarter", "week", "isodow"]),
    st.sampled_from("de"),
) | st.builds(
    "EXTRACT({} FROM {})".format, st.sampled_from(["year", "isodow"]), st.sampled_from("de")
)
_signs = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">=", "=="])
_equal = st.sampled_from(["=", "<>"])
_texts = st.sampled_from(["''", "'a'", "'ab'", "'o''b'", "'A'", "'zz'"])
_patterns = st.sampled_from(
    [
        *("'a%'", "'%'", "'_'", "'a!%' ESCAPE '!'", "'a!_b' ESCAPE '!'", "'%b'"),
        *("'a#%%' ESCAPE '#'", r"'a\\b' ESCAPE '\'", r"'a\b' ESCAPE '!'"),
    ]
)
_days = st.sampled_from(
    ["DATE '2023-12-09'", "'2023-12-10'", "CAST('2024-02-06' AS DATE)", "TIMESTAMP '2024-02-07'"]
)
_not = st.sampled_from(["", "NOT "])
_words = st.sampled_from(["", " NOT"])
_list = st.lists(_constants, min_size=1, max_size=3).map(", ".join)
_leaves = st.one_of(
    st.builds(_join, _numbers, _signs, _constants),
    st.builds(_join, _constants, _signs, _numbers),
    st.builds(_join, _numbers, _signs, _columns),
    st.builds(_join, _parts, _signs, st.sampled_from(["1", "2", "2024"])),
    st.builds("{}{} IN ({})".format, _numbers, _words, _list),
    st.builds("{}{} BETWEEN {} AND {}".format, _numbers, _words, _constants, _constants),
    st.builds("{} IS{} NULL".format, st.sampled_from(_NAMES.split()), _words),
    st.builds("{}{} LIKE {}".format, st.sampled_from("tu"), _words, _patterns),
    st.builds(_join, st.sampled_from("tu"), _equal, _texts | st.sampled_from("tu")),
    st.builds("{}{} IN ({}, {})".format, st.sampled_from("tu"), _words, _texts, _texts),
    st.builds(_join, st.sampled_from("de"), _signs, _days | st.sampled_from("de")),
    st.builds("d{} BETWEEN {} AND {}".format, _words, _days, _days),
    st.sampled_from(["b", "c", "b = TRUE", "c <> FALSE", "b = c", "FALSE = b"]),
)
conditions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds("{}{} AND {}".format, _not, inner, inner),
        st.builds("{} OR {}{}".format, inner, _not, inner),
        st.builds("{}({})".format, _not, inner),
        st.builds("({}) /* why */ AND ({}) -- so\n".format, inner, inner),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    connection = ibis.duckdb.connect()
    connection.create_table("records", _TABLE)
    opened = open_source(connection.table("records"))
    yield opened
    connection.disconnect()


def read_where(text: str, source: Source) -> Node:
    """Return the condition of a query as ``ask`` has it."""
    select = read_select(
        f"SELECT COUNT(*) FROM records WHERE {text}", source, Unit("id", 1, ADD_REMOVE)
    )
    assert select.where is not None
    return check_node(select.where)


def select_ids(node: Node, source: Source) -> list[int]:
    table = source.table.filter(truth(node, source, source.table))
    return sorted(table.select("id").to_pyarrow().column("id").to_pylist())


@settings(max_examples=150, deadline=None)
@given(text=conditions)
def test_where_selects_the_rows_of_duckdb(text: str, source: Source) -> None:
    with duckdb.connect() as engine:
        engine.register("records", _TABLE)
        rows = engine.execute(f"SELECT id FROM records WHERE {text}").fetchall()
    assert select_ids(read_where(text, source), source) == sorted(row[0] for row in rows)


def test_every_operator_selects_the_rows_of_duckdb(source: Source) -> None:
    signs = ("=", "<>", "!=", "<", "<=", ">", ">=", "==")
    patterns = ("'a%'", "'_'", "'a!%' ESCAPE '!'", "'a!_b' ESCAPE '!'", "'a#%%' ESCAPE '#'")
    escapes = (r"'a\\b' ESCAPE '\'", r"'a\b' ESCAPE '!'", "'a!!%' ESCAPE '!'", "''")
    parts = ("year", "quarter", "month", "week", "day", "isodow")
    texts = [
        *(f"{left} {sign} {right}" for sign in signs for left, right in (("i", 1), (1, "i"))),
        *(f"DATE '2023-12-10' {sign} d" for sign in signs),
        *(f"t {word} {pattern}" for word in ("LIKE", "NOT LIKE") for pattern in patterns),
        *(f"u {word} {pattern}" for word in ("LIKE", "NOT LIKE") for pattern in escapes),
        *(f"{part}(d) = {number}" for part in parts for number in (1, 2, 4, 6, 12, 49, 2024)),
        *(f"x {operator} 2 > 1" for operator in "+-*/"),
        *("i NOT IN (1)", "NOT i = 1", "NOT b", "b AND c", "b OR c", "NOT (b OR i < 1)"),
    ]
    with duckdb.connect() as engine:
        engine.register("records", _TABLE)
        for text in texts:
            rows = engine.execute(f"SELECT id FROM records WHERE {text}").fetchall()
            found = select_ids(read_where(text, source), source)
            assert found == sorted(row[0] for row in rows), text


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("I >= 18.0", "i >= 18"),
        ("18 <= i", "i >= 18"),
        ("NOT i IN (1, 2)", "i not in (1, 2)"),
        ("i NOT IN (1, 2)", "i not in (1, 2)"),
        ("t IS NOT NULL", "t is not null"),
        ("NOT (i = 1)", "not i = 1"),
        ("b", "b = true"),
        ("NOT b AND c", "not b = true and c = true"),
        ("i = 1 OR j = 2 AND x < 3", "i = 1 or j = 2 and x < 3"),
        ("-i > 0", "-1 * i > 0"),
        ("i - -3 > 0", "i - -3 > 0"),
        ("(i - (j - 1)) / 2 > 0", "(i - (j - 1)) / 2 > 0"),
        ("d >= '2024-02-29'", "d >= date '2024-02-29'"),
        ("ISODOW(d) = 1", "weekday(d) = 1"),
        ("t LIKE 'a#%%' ESCAPE '#'", r"t like 'a\%%'"),
        (r"t LIKE 'a\b' ESCAPE '#'", r"t like 'a\\b'"),
        ("t = 'O''Hare'", "t = 'O''Hare'"),
    ],
)
def test_where_is_the_same_condition_as_of_methods(sql: str, where: str, source: Source) -> None:
    assert read_where(sql, source) == ln.Count(where=where).where


def test_a_long_number_is_exact(source: Source) -> None:
    digits = "12345678901234567890123456789012345678901234567890"
    assert (
        str(read_where(f"x > -{digits}", source)) == f"x > -{digits[0]}.{digits[1:].rstrip('0')}e49"
    )
