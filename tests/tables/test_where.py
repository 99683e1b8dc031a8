# ruff: noqa: DTZ001, DTZ901
"""Conditions: what is read and what is refused, and that they mean the same on every engine.

The meaning is held against an evaluator of its own below: three-valued logic over Fractions.
"""

import math
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.errors import InvalidParameter
from leastnoise.tables.sources import Source, fetch, open_source
from leastnoise.tables.where import check, parse_condition, truth
from leastnoise.tables.where.neighbors import float_below
from leastnoise.tables.where.nodes import (
    SIGNS,
    Comparison,
    Joined,
    Literal,
    Node,
    Not,
    join_nodes,
)
from tests.support.expression_values import matches, worth
from tests.support.postgres_servers import Server

Row = dict[str, Any]

# ------------------------------------------------------------------------------------ the rows

TINY = 5e-324
LARGEST = 1.7976931348623157e308
# Per column: DuckDB's type, PostgreSQL's, Spark's, and values at the corners of the type.
COLUMNS: dict[str, tuple[str, str, str, list[Any]]] = {
    "small": ("SMALLINT", "SMALLINT", "SMALLINT", [-32768, -1, 0, 1, 2, 3, 32767]),
    "long": ("BIGINT", "BIGINT", "BIGINT", [-(2**63), -2, 0, 2, 2**53 + 1, 2**63 - 1]),
    "half": (
        "FLOAT",
        "REAL",
        "FLOAT",
        [float(np.float32(0.1)), 16777216.0, -2.5, -0.0, math.nan, math.inf, -math.inf, 2.0**-149],
    ),
    "real": (
        "DOUBLE",
        "DOUBLE PRECISION",
        "DOUBLE",
        [
            *(0.1, 0.3, 0.1 + 0.2, TINY, -TINY, LARGEST, -LARGEST, 2.0**53, 1.2345678901234567),
            *(math.inf, -math.inf, math.nan, 0.0, -0.0),
        ],
    ),
    "price": (
        "DECIMAL(10, 2)",
        "NUMERIC(10, 2)",
        "DECIMAL(10, 2)",
        [Decimal(text) for text in ("0", "0.10", "-0.01", "2.50", "99999999.99", "-99999999.99")],
    ),
    "long price": (
        "DECIMAL(38, 19)",
        "NUMERIC(38, 19)",
        "DECIMAL(38, 19)",
        [Decimal(text) for text in ("0.1", "0.1000000000000000001", "9" * 19 + "." + "9" * 19)],
    ),
    "word": (
        "VARCHAR",
        "TEXT",
        "STRING",
        ["", "a", "A", "a ", "it's", 'q"q', "back\\slash", "\\'", "ß", "100%s", "${spark.app.id}"],
    ),
    "flag": ("BOOLEAN", "BOOLEAN", "BOOLEAN", [True, False]),
    "day": (
        "DATE",
        "DATE",
        "DATE",
        [date(1, 1, 1), date(1582, 10, 10), date(2024, 2, 29), date(9999, 12, 31)],
    ),
    "at": (
        "TIMESTAMP",
        "TIMESTAMP",
        "TIMESTAMP_NTZ",
        [
            *(datetime(1, 1, 1), datetime(2024, 2, 29), datetime(2024, 2, 29, 12, 30)),
            *(datetime(2024, 3, 31, 2, 30), datetime(2024, 2, 29, 12, 30, 0, 1)),
            *(datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.max),
        ],
    ),
}
ROWS: list[Row] = [
    {"row": place, **{name: [*values, None][place % (len(values) + 1)] for name, values in table}}
    for table in [[(name, column[3]) for name, column in COLUMNS.items()]]
    for place in range(60)
]
NUMBERS = [
    *(Fraction(text) for text in ("0", "1", "-1", "2", "2.5", "-2.5", "0.1", "0.3", "0.005")),
    *(Fraction(value) for value in (0.1, 0.3, 0.1 + 0.2, TINY, LARGEST, 1.2345678901234567)),
    *(Fraction(value) for value in (32767, 32768, -32768, -32769, 16777217, 2**53, 2**53 + 1)),
    *(Fraction(value) for value in (2**63 - 1, 2**63, -(2**63), -(2**63) - 1)),
    *(Fraction(text) for text in ("1e400", "-1e400", "1e-400", "-1e-400", "1e309", "-1e309")),
    *(Fraction(text) for text in ("99999999.99", "99999999.991", "1e8", "-99999999.995")),
    *(Fraction(text) for text in ("0.1000000000000000001", "0.10000000000000000005", "1e19")),
]
WORDS = [*COLUMNS["word"][3], "x", "'; DROP TABLE rows; --", "''", "\\"]
DAYS = [*COLUMNS["day"][3], date(2024, 3, 1)]
TIMES = [*COLUMNS["at"][3], datetime(2024, 2, 29, 12, 29, 59, 999999), datetime(2024, 3, 1)]


def decimal(number: Fraction) -> Decimal:
    """Return a number in the one form that a condition holds it in."""
    context = Context(prec=5_000, Emin=-9_999, Emax=9_999, traps=[Inexact])
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return context.normalize(quotient)


# ------------------------------------------------------------------------- an independent meaning


def absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def compare(value: Any, operator: str, other: Any) -> bool | None:
    """Return what a comparison of two values says, in numbers without rounding."""
    if absent(value):
        return None
    if isinstance(other, Decimal):
        if isinstance(value, float) and math.isinf(value):
            order = 1 if value > 0 else -1
        else:
            difference = Fraction(value) - read_beside(value, other)
            order = (difference > 0) - (difference < 0)
    elif isinstance(value, date):
        if isinstance(other, str):
            other = (datetime if len(other) > 10 else date).fromisoformat(other)
        if isinstance(value, datetime) and not isinstance(other, datetime):
            other = datetime(other.year, other.month, other.day)
        order = (value > other) - (value < other)
    else:
        order = 0 if value == other else 2
    signs = {"=": (0,), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "!=": (-1, 1, 2)}
    return order in signs[operator]


def read_beside(value: Any, number: Decimal) -> Fraction:
    """Return a number as it is read beside a float: as the nearest one, if there is one."""
    if isinstance(value, float) and math.isfinite(float(number)):
        return Fraction(float(number))
    return Fraction(number)


def contrary(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def every(truths: list[bool | None]) -> bool | None:
    if False in truths:
        return False
    return None if None in truths else True


def some(truths: list[bool | None]) -> bool | None:
    return contrary(every([contrary(truth) for truth in truths]))


def meaning(node: Node, row: Row) -> bool | None:
    """Return whether a node is true, false or unknown (None) of a row."""
    match node:
        case Comparison(column, operator, values):
            return relation(worth(column, row), operator, [worth(value, row) for value in values])
        case Not(term):
            return contrary(meaning(term, row))
        case Joined(word, terms):
            return (every if word == "and" else some)([meaning(term, row) for term in terms])
    raise AssertionError(node)


def relation(value: Any, operator: str, others: list[Any]) -> bool | None:
    """Return what a comparison says of a value."""
    if operator in ("is null", "is not null"):
        return absent(value) is (operator == "is null")
    if operator.startswith("not "):
        return contrary(relation(value, operator.removeprefix("not "), others))
    if operator == "in":
        return some([compare(value, "=", other) for other in others])
    if operator == "between":
        low, high = others
        return every([compare(value, ">=", low), compare(value, "<=", high)])
    if operator == "like":
        return None if value is None else matches(value, others[0])
    return compare(value, operator, others[0])


# ------------------------------------------------------------------------------ random conditions

KINDS = {"word": "text", "flag": "boolean", "day": "date", "at": "timestamp"}
# Of a column, the other kinds of values that it is compared with.
BESIDE = {"day": ["day as text"], "at": ["date", "day as text", "time as text"]}
VALUES: dict[str, st.SearchStrategy[Literal]] = {
    "number": st.one_of(
        st.sampled_from(NUMBERS),
        st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
        st.decimals(-100, 100, places=3).map(Fraction),
    ).map(lambda number: Literal("number", decimal(number))),
    "text": st.sampled_from(WORDS).map(lambda word: Literal("text", word)),
    "boolean": st.booleans().map(lambda flag: Literal("boolean", flag)),
    "date": st.sampled_from(DAYS).map(lambda day: Literal("date", day)),
    "timestamp": st.sampled_from(TIMES).map(lambda time: Literal("timestamp", time)),
    "day as text": st.sampled_from(DAYS).map(lambda day: Literal("text", str(day))),
    "time as text": st.sampled_from(TIMES).map(
        lambda time: Literal("text", time.isoformat("T" if time.second else " "))
    ),
}


@st.composite
def comparisons(draw: st.DrawFn) -> Node:
    column = draw(st.sampled_from(sorted(COLUMNS)))
    kind = KINDS.get(column, "number")
    values = VALUES[draw(st.sampled_from([kind, *BESIDE.get(column, [])]))]
    form = draw(st.sampled_from(["comparison", "comparison", "list", "between", "missing"]))
    if form == "list":
        listed = draw(st.lists(values, min_size=1, max_size=14))
        return Comparison(column, draw(st.sampled_from(["in", "not in"])), tuple(listed))
    if form == "missing":
        return Comparison(column, draw(st.sampled_from(["is null", "is not null"])))
    if kind in ("text", "boolean"):
        return Comparison(column, draw(st.sampled_from(["=", "!="])), (draw(values),))
    if form == "between":
        operator = draw(st.sampled_from(["between", "not between"]))
        return Comparison(column, operator, (draw(values), draw(values)))
    return Comparison(column, draw(st.sampled_from(sorted(SIGNS))), (draw(values),))


def joins(terms: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    lists = st.lists(terms, min_size=2, max_size=3)
    return st.one_of(
        terms.map(Not),
        lists.map(lambda parts: join_nodes("and", parts)),
        lists.map(lambda parts: join_nodes("or", parts)),
    )


CONDITIONS = st.recursive(comparisons(), joins, max_leaves=6)


@given(CONDITIONS)
def test_what_is_printed_reads_as_the_same(root: Node) -> None:
    condition = parse_condition(str(root))
    assert condition == root
    assert str(condition) == str(root)


@given(CONDITIONS, st.data())
def test_spaces_case_and_brackets_change_nothing(root: Node, data: st.DataObject) -> None:
    keywords = ["and", "between", "date", "false", "in", "is", "not", "null", "or", "true"]
    keywords.append("timestamp")
    spaces = st.text(" \t\r\n", max_size=3)

    def spelled(node: Node) -> str:
        if isinstance(node, Joined):
            text = f" {node.word} ".join(f"({spelled(term)})" for term in node.terms)
        else:
            text = f"not ({spelled(node.term)})" if isinstance(node, Not) else str(node)
        return f"({text})" if data.draw(st.booleans()) else text

    words = re.findall(r"'(?:[^']|'')*'|\"[^\"]*\"|[\w.+-]+|[<>!=]+|[(),]", spelled(root))
    shouted = [word.upper() if word in keywords else word for word in words]
    text = "".join(word + " " + data.draw(spaces) for word in shouted)
    assert str(parse_condition(text)) == str(root)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("age>=18", "age >= 18"),
        ("age >= 18.0 AND((x<>1))", "age >= 18 and x != 1"),
        ("x = +1e0 or x = 10e-1 or x = 1.000", "x = 1 or x = 1 or x = 1"),
        ("x = -0.0 or x = .5 or x = 00.50", "x = 0 or x = 0.5 or x = 0.5"),
        ("x = 100000 or x = 1e30 or x = 1e-30", "x = 100000 or x = 1e30 or x = 1e-30"),
        ("a = 1 or (b = 2 or c = 3)", "a = 1 or b = 2 or c = 3"),
        ("a = 1 or (b = 2 and c = 3)", "a = 1 or b = 2 and c = 3"),
        ("(a = 1 or b = 2) and c = 3", "(a = 1 or b = 2) and c = 3"),
        ("Not a = 1 and b = 2", "not a = 1 and b = 2"),
        ("not (a = 1 and b = 2)", "not (a = 1 and b = 2)"),
        ("x BETWEEN 1 AND 2 AND y = 3", "x between 1 and 2 and y = 3"),
        ('"age" IS Not Null and "a ""b" is null', 'age is not null and "a ""b" is null'),
        ("date >= Date '2024-02-29'", "\"date\" >= date '2024-02-29'"),
        ("w = 'it''s' or w in ('''')", "w = 'it''s' or w in ('''')"),
        ('a=b AND a<>"b c"', 'a = b and a != "b c"'),
        ("a = TimeStamp '2024-02-29T12:30' ", "a = timestamp '2024-02-29 12:30:00'"),
        (
            "timestamp < timestamp '0001-01-01 00:00:00.5'",
            "timestamp < timestamp '0001-01-01 00:00:00.500000'",
        ),
        (
            "timestamp in ('2024-02-29', '2024-02-29 12:30')",
            "timestamp in ('2024-02-29', '2024-02-29 12:30')",
        ),
        ("a >= '2024-02-29' and timestamp = 5", "a >= '2024-02-29' and timestamp = 5"),
        ("a-b>3 and a -3 > b", "a - b > 3 and a - 3 > b"),
        ("((a)-(b))*2.0>=-3*c", "(a - b) * 2 >= -3 * c"),
        ("a-(b-c)-d = a*(b*c)/2", "a - (b - c) - d = a * (b * c) / 2"),
        ("a - -3 > 0 or a+ +3 > 0", "a - -3 > 0 or a + 3 > 0"),
        ("((a + b) > 1)", "a + b > 1"),
        ("(a + b) in (1, 2) or not (a) is null", "a + b in (1, 2) or not a is null"),
        ("MONTH( joined )=2 and month = 3", "month(joined) = 2 and month = 3"),
        ("month = 1 and like like 'x'", "month = 1 and like like 'x'"),
        ("year(date) = 2024 and a = date", 'year("date") = 2024 and a = "date"'),
        ("weekday((born)) NOT BETWEEN 1 and 5", "weekday(born) not between 1 and 5"),
        (r"w Not Like 'a\%\\_'", r"w not like 'a\%\\_'"),
        ("a = (5)", "a = 5"),
    ],
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_condition(text)) == canonical
    assert str(parse_condition(canonical)) == canonical


def test_true_is_not_one() -> None:
    assert parse_condition("x = true") != parse_condition("x = 1")


# -------------------------------------------------------------------------------------- refusals

COMPARISON = (
    r"where a comparison \(=, !=, <, <=, >, >=, in, between, like, is null\) is expected\. "
)
VALUE = r"where a value \(a number, 'text', true, false, date '…' or timestamp '…'\) is expected\. "
WORD = r"where a column, a value, a comparison or a bracket is expected\. "
NOT_PART = WORD + "A condition compares columns with values; comments and several statements"
LEFT = r"where a column, not or \( is expected\. The column stands on the left"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"got the end at character 1 of '', where a column, not or \( is expected\. Begin a"),
        ("a", f"got the end at character 2 of 'a', {COMPARISON}A column alone is no condition"),
        ("a and b = 1", f"got 'and' at character 3 of .*, {COMPARISON}A column alone"),
        ("a =", f"got the end at character 4 of 'a =', {VALUE}Write, for example, age >= 18"),
        ("a == 1", f"got '=' at character 4 of 'a == 1', {VALUE}Write one ="),
        ("a in (b)", f"got 'b' at character 7 of .*, {VALUE}A list, between and like take values"),
        ("a between b and 2", f"got 'b' at character 11 of .*, {VALUE}A list, between and like"),
        ("a = NULL", f"got 'NULL' at character 5 of .*, {VALUE}Nothing equals NULL: write is null"),
        ("18 <= a", f"got '18' at character 1 of '18 <= a', {LEFT}: write age >= 18"),
        ("true", f"got 'true' at character 1 of 'true', {LEFT}"),
        ("'x' = a", f"got \"'x'\" at character 1 of .*, {LEFT}"),
        ("in = 3", r"got 'in' at character 1 of .* is expected\. Write a column that is called li"),
        ("a like b", f"got 'b' at character 8 of .*, {VALUE}A list, between and like take"),
        (
            "a like 5",
            "got '5' at character 8 of .*, where a pattern in single quotes is expected. I",
        ),
        (
            "a like 'x\\'",
            "at character 8 of .*, where a pattern in .* It has a backslash that esca",
        ),
        (
            r"a like 'x\y'",
            "at character 8 of .*, where a pattern in .* It has a backslash that esc",
        ),
        (
            f"a like '{'%' * 1001}'",
            "at character 8 .*, where a pattern in .* more than 1000 charac",
        ),
        ("Age Group >= 5", f"got 'Group' at .*, {COMPARISON}Write a column's name with blanks in"),
        ("HbA1c (%) > 7", f"got '%' at character 8 of .*, {NOT_PART}.* Write a column's name with"),
        ("a not 'b'", f"got 'not' at character 3 of .*, {COMPARISON}Write is null, is not nu"),
        ("a is 3", f"got 'is' at character 3 of 'a is 3', {COMPARISON}Write is null, is not null"),
        ("lower(a) = 'b'", rf"got '\(' at character 6 of .*, {COMPARISON}Functions and queries ar"),
        ("a = lower('b')", r"got '\(' at character 10 of .*, or or the end is expected. Functions"),
        ("year(lower(a)) = 1", r"got '\(' at character 11 of .*, where \) is expected. Functions"),
        ("a in (select b from c)", f"got 'select' at character 7 of .*, {VALUE}A list, between"),
        (
            "a in ()",
            rf"got '\)' at character 7 of 'a in \(\)', {VALUE}Write, for example, age >= 18",
        ),
        ("a in 1", r"got '1' at character 6 of 'a in 1', where \( and a list of values is exp"),
        ("a in (1", r"got the end at character 8 of 'a in \(1', where , or \) is expected"),
        ("a in (1, 'x')", "got \"'x'\" at character 10 of .*, where a number like the value befor"),
        ("a in ('1', true)", "got 'true' at character 12 of .*, where a text like the value befor"),
        ("a between 1 or 2", "got 'or' at character 13 of .*, where and is expected. Write it as"),
        ("a between 1 and date '2024-01-01'", "at character 17 of .*, where a number like the"),
        (
            "a between 'a' and 'b'",
            "at character 11 of .*, where a number, a date or a timestamp is expected. S",
        ),
        (
            "a < 'x'",
            "at character 5 of .*, where a number, a date or a timestamp is expected. Strings",
        ),
        (
            "a >= true",
            "got 'true' at character 6 of .*, where a number, a date or a timestamp is expected",
        ),
        ("a = 1 b = 2", "got 'b' at character 7 of .*, where and, or or the end is expected. Join"),
        ("a = 1)", r"got '\)' at character 6 of 'a = 1\)', where and, or or the end is expected"),
        ("a = 5-3", "got '-' at character 6 of 'a = 5-3', where no operator between constants is"),
        (
            "a + 'x' = 1",
            r"got '\+' at character 3 of .*, where no operator beside text, booleans or",
        ),
        (
            "a / b > 1",
            "got 'b' at character 5 of .*, where a number other than 0 is expected. Divid",
        ),
        (
            "a / 0 > 1",
            "got '0' at character 5 of .*, where a number other than 0 is expected. Divid",
        ),
        (
            "a > -b",
            rf"got '-' at character 5 of .*, {VALUE}Write -1 \* a for the negative of a col",
        ),
        ("a--1 > 0", f"got '-' at character 2 of .*, {NOT_PART}"),
        ("(5) > a", r"got '\(' at character 1 of .*, where a column, not or \( is expected"),
        ("5 > a + 1", f"got '5' at character 1 of .*, {LEFT}"),
        (
            "month(3) = 1",
            "got '3' at character 7 of .*, where a column is expected. Write it as in",
        ),
        ("month(a = 1", r"got '=' at character 9 of .*, where \) is expected. Close the bracket"),
        ("(a + b = 1", r"got the end at character 11 of .*, where and, or or \) is expected"),
        ("(a = 1", r"got the end at character 7 of '\(a = 1', where and, or or \) is expected. C"),
        ("a = date '2023-02-29'", "at character 10 of .*, where a day as 'YYYY-MM-DD' is expected"),
        ("a = date '20240229'", "at character 10 of .*, where a day as 'YYYY-MM-DD' is expected"),
        ("a = timestamp '2024-02-30 12:00'", "at character 15 of .*, where a time without a zone"),
        ("a = timestamp '2024-02-29 24:00'", "at character 15 of .*, where a time without a zone"),
        ("a = timestamp '2024-02-29 12:00Z'", "at character 15 of .*, where a time without a zone"),
        ("a = timestamp '2024-02-29 12:00+01:00'", "at character 15 of .*, where a time without"),
        ("a = timestamp '2024-02-29'", "where a time without .* Write it as in timestamp '2024-"),
        ("a = timestamp '2024-02-29 12:00:00.1234567'", "where a time without a zone as 'YYYY-"),
        ("a < '2024-02-30'", "at character 5 of .*, where a number, a date .* Write a day as '20"),
        ("a < '2024-02-28 12:00Z'", "at character 5 of .* Write a day as .* without a zone"),
        ("timestamp '2024-02-29 12:00' < a", f"got 'timestamp' at character 1 of .*, {LEFT}"),
        ("date '2024-02-29' < a", f"got 'date' at character 1 of .*, {LEFT}"),
        ("a between timestamp '2024-02-29 12:00' and date '2024-03-01'", "a timestamp like the v"),
        ("a = date 3", "got '3' at character 10 of .*, where a day as 'YYYY-MM-DD' is expected"),
        ("a = 1_000", "got '1_' at character 5 of .*, where a number is expected. Write it as 10"),
        ("a = 0x10", "got '0x' at character 5 of .*, where a number is expected"),
        ("a = 1.2.3", "got '1.2.' at character 5 of .*, where a number is expected"),
        ("a = 1e5000", "got a number that is too long at character 5 of .*, where one of at most"),
        ("a = " + "1" * 801, "got a number that is too long at character 5 of .*, where one of at"),
        ("a = 1; drop table t", f"got ';' at character 6 of .*, {NOT_PART}"),
        ("a = 1 -- and b = 2", f"got '-' at character 7 of .*, {NOT_PART}"),
        ("a = 1 /* x */", f"got '/' at character 7 of .*, {NOT_PART}"),
        ("a = 1 || b", rf"got '\|' at character 7 of .*, {NOT_PART}"),
        ("a = $1", rf"got '\$' at character 5 of .*, {NOT_PART}"),
        ("a = ?", rf"got '\?' at character 5 of .*, {NOT_PART}"),
        ("a::int = 1", f"got ':' at character 2 of .*, {NOT_PART}"),
        ("a.b = 1", rf"got '\.' at character 2 of .*, {NOT_PART}"),
        ("[a] = 1", rf"got '\[' at character 1 of .*, {NOT_PART}"),
        ("`a` = 1", f"got '`' at character 1 of .*, {NOT_PART}"),
        ("a = 1\0", r"got '\\x00' at character 6 of .*, where a column, a value"),
        ("a = 'x\0'", r"got the control character U\+0000 at character 7 of .*, where a character"),
        ("a = 'x\ny'", r"got the control character U\+000A at character 7 of"),
        ("a = '\ud800'", r"got the control character U\+D800 at character 6 of"),
        ('"a\x7f" = 1', r"got the control character U\+007F at character 3 of"),
        ('"" = 1', "got an empty name at character 1 of .*, where the name of a column is expect"),
        (
            "a = 'x",
            "got a quote ' that is not closed at character 5 of .*, where a string in single",
        ),
        (
            '"a = 1',
            'got a quote " that is not closed at character 1 of .*, where a string in single',
        ),
        ("a = 'it's'", "got a quote ' that is not closed at character 10 of"),
        (
            "a = ‘x’",
            rf"got '‘' \(LEFT SINGLE QUOTATION MARK\) at character 5 of .*, {WORD}Write it",
        ),
        ("a ＝ 1", rf"got '＝' \(FULLWIDTH EQUALS SIGN\) at character 3 of .*, {WORD}Write it in"),
        ("a ≥ 1", rf"got '≥' \(GREATER-THAN OR EQUAL TO\) at character 3 of .*, {WORD}Write it in"),
        ("a\u00a0= 1", r"got '\\xa0' \(NO-BREAK SPACE\) at character 2 of"),
        ("a = ٣", rf"got '٣' \(ARABIC-INDIC DIGIT THREE\) at character 5 of .*, {WORD}Write it in"),
        ("a = 1٣", r"got '٣' \(ARABIC-INDIC DIGIT THREE\) at character 6 of"),
        (
            "аge = 1",
            rf"got 'а' \(CYRILLIC SMALL LETTER A\) at character 1 of .*, {WORD}Write a col",
        ),
        ("a = 1 ΟR b = 2", r"got 'Ο' \(GREEK CAPITAL LETTER OMICRON\) at character 7 of"),
        (
            "(" * 40 + "a = 1" + ")" * 40,
            "got '\\(' at character 34 of .*, where nothing deeper tha",
        ),
        ("not " * 40 + "a = 1", "got 'not' at character 133 of .*, where nothing deeper than 32 b"),
        (
            "a in (" + ", ".join("1" * 1001) + ")",
            "got '1' at character 3007 of .*, where a list of",
        ),
        ("a" * 10_001, "where must have at most 10000 characters, got 10001. Give a shorter"),
        (None, 'where must be a condition as a string, got None. Write it as in where="age >= 18'),
        (b"a = 1", "where must be a condition as a string, got an object of type bytes"),
    ],
)
def test_refused(text: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        parse_condition(text)


@given(st.text(max_size=40) | st.text("ab'\"=<>!(),;-/* \\\n0.eE+notidrlu", max_size=40))
@settings(max_examples=300)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        condition = parse_condition(text)
    except InvalidParameter:
        return
    assert parse_condition(str(condition)) == condition


# --------------------------------------------------------------------------------------- sources


def columns(engine: int) -> str:
    return ", ".join(f'"{name}" {column[engine]}' for name, column in COLUMNS.items())


@pytest.fixture(scope="module")
def duck_rows() -> Iterator[Source]:
    connection = ibis.duckdb.connect()
    more = "moment TIMESTAMP, blob BLOB"
    connection.raw_sql(f'CREATE TABLE people ("row" INTEGER, {columns(0)}, {more})')
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    rows = [list(row.values()) for row in ROWS]
    connection.con.executemany(f"INSERT INTO people VALUES ({marks}, NULL, NULL)", rows)
    yield open_source(connection.table("people"))
    connection.disconnect()


@pytest.fixture(scope="module")
def postgres_rows(postgres: Server) -> Iterator[Source]:
    address = postgres.database()
    made = f'CREATE TABLE people ("row" INTEGER, {columns(1)}, free NUMERIC)'
    marks = ", ".join(["%s"] * (len(COLUMNS) + 2))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(made.encode())
        with connection.cursor() as cursor:
            rows = [(*row.values(), _free(row)) for row in ROWS]
            cursor.executemany(f"INSERT INTO people VALUES ({marks})".encode(), rows)
        yield open_source(ibis.postgres.from_connection(connection).table("people"))
        connection.execute("DROP TABLE people")
    postgres.clear(address)


@pytest.fixture(scope="module")
def spark_rows(spark: Any) -> Source:
    schema = f"`row` INTEGER, {columns(2)}".replace('"', "`")
    rows = [tuple(row.values()) for row in ROWS]
    frame = spark._session.createDataFrame(rows, schema)
    frame.createOrReplaceTempView("where_people")
    return open_source(spark.table("where_people"))


def _free(row: Row) -> Decimal | None:
    """Return a number for PostgreSQL's decimals without bounds, which include NaN and ∞."""
    values = ["NaN", "Infinity", "-Infinity", "1e500", "1e-500", "0.1", "0"]
    return Decimal(values[row["row"] % 8]) if row["row"] % 8 < 7 else None


def kept(source: Source, condition: Node) -> list[int]:
    """Return which rows an engine keeps."""
    check(condition, source)
    found = source.table.filter(truth(condition, source, source.table))
    return sorted(int(row) for (row,) in fetch(source, found.select("row")))


def meant(root: Node, rows: list[Row]) -> list[int]:
    """Return which rows are to be kept."""
    return [row["row"] for row in rows if meaning(root, row) is True]


# ---------------------------------------------------------------------------------- what they mean


def corners() -> Iterator[Node]:
    """Every column of numbers against every corner, by every operator."""
    for column in COLUMNS.keys() - KINDS.keys():
        for number in NUMBERS:
            for operator in SIGNS:
                yield Comparison(column, operator, (Literal("number", decimal(number)),))


def agreeing(source: Source, roots: list[Node], rows: list[Row]) -> None:
    """Ask an engine all conditions in few queries, and compare each."""
    table = source.table
    for first in range(0, len(roots), 200):
        asked = {
            f"c{place}": truth(root, source, table).fill_null(False)
            for place, root in enumerate(roots[first : first + 200])
        }
        found = fetch(source, table.select(table["row"], **asked))
        for place, root in enumerate(roots[first : first + 200], start=1):
            true = sorted(row[0] for row in found if row[place])
            assert true == meant(root, rows), str(root)


# Several at once: a query takes longer to prepare than to answer.
TOGETHER = st.lists(CONDITIONS, min_size=8, max_size=8)


@given(roots=TOGETHER)
@settings(max_examples=10)
def test_the_meaning_on_duckdb(duck_rows: Source, roots: list[Node]) -> None:
    agreeing(duck_rows, roots, ROWS)


@given(roots=TOGETHER)
@settings(max_examples=8)
def test_the_meaning_on_postgres(postgres_rows: Source, roots: list[Node]) -> None:
    agreeing(postgres_rows, roots, ROWS)


@pytest.mark.long
@given(roots=TOGETHER)
@settings(max_examples=10)
def test_the_meaning_at_length(
    duck_rows: Source, postgres_rows: Source, spark_rows: Source, roots: list[Node]
) -> None:
    for source in (duck_rows, postgres_rows, spark_rows):
        agreeing(source, roots, ROWS)


@pytest.mark.long
def test_every_corner_on_spark(spark_rows: Source) -> None:
    agreeing(spark_rows, list(corners()), ROWS)


@pytest.mark.long
def test_texts_and_long_conditions_on_spark(spark_rows: Source) -> None:
    for condition in (*spelled_words("="), *spelled_words("<>"), *long_conditions()):
        assert kept(spark_rows, condition) == meant(condition, ROWS)


@pytest.mark.long
def test_every_corner_on_duckdb(duck_rows: Source) -> None:
    agreeing(duck_rows, list(corners()), ROWS)


@pytest.mark.long
def test_every_corner_on_postgres(postgres_rows: Source) -> None:
    agreeing(postgres_rows, list(corners()), ROWS)


def test_postgres_decimals_without_bounds(postgres_rows: Source) -> None:
    rows = [{"row": row["row"], "free": _free(row)} for row in ROWS]
    for row in rows:  # the evaluator knows infinities as floats
        if row["free"] is not None and not row["free"].is_finite():
            row["free"] = float(row["free"])
    literals = [Literal("number", decimal(number)) for number in NUMBERS]
    roots: list[Node] = [Comparison("free", sign, (value,)) for sign in SIGNS for value in literals]
    roots += [Comparison("free", word, tuple(literals)) for word in ("not in", "in")]
    roots += [Comparison("free", word) for word in ("is not null", "is null")]
    agreeing(postgres_rows, roots, rows)
    assert kept(postgres_rows, parse_condition("free is null"))  # and so not all of it was empty
    assert kept(postgres_rows, parse_condition("free >= 1e400"))


@given(st.fractions() | st.sampled_from(NUMBERS) | st.floats(-1e40, 1e40).map(Fraction))
@settings(max_examples=100)
def test_the_float_below(number: Fraction) -> None:
    below = float_below(number, 53, -1074)
    if below is None:
        assert number < -Fraction(LARGEST)
    else:
        after = math.nextafter(float(below), math.inf)
        assert Fraction(float(below)) == below <= number
        assert math.isinf(after) or number < Fraction(after)
    half = float_below(number, 24, -149)
    if half is None:
        assert number < -Fraction(float(np.finfo(np.float32).max))
    else:
        with np.errstate(over="ignore"):  # beyond the largest is ∞, as wanted
            next_half = float(np.nextafter(np.float32(float(half)), np.float32(np.inf)))
        assert Fraction(float(np.float32(float(half)))) == half <= number
        assert math.isinf(next_half) or number < Fraction(next_half)


def spelled_words(sign: str) -> list[Node]:
    return [
        parse_condition(f"word {sign} " + "'" + word.replace("'", "''") + "'") for word in WORDS
    ]


@pytest.mark.parametrize("sign", ["=", "<>"])
def test_texts_arrive_as_they_are(duck_rows: Source, postgres_rows: Source, sign: str) -> None:
    for condition in spelled_words(sign):
        rows = meant(condition, ROWS)
        assert kept(duck_rows, condition) == kept(postgres_rows, condition) == rows


def long_conditions() -> list[Node]:
    chain = " or ".join(f"small={number}" for number in range(1, 250))
    listed = f"small in ({', '.join(map(str, range(1, 1001)))})"
    deep = "not (" * 15 + "small = 1 or long = 2" + ")" * 15
    return [parse_condition(chain), parse_condition(listed), parse_condition(deep)]


@pytest.mark.long
def test_a_long_condition_is_answered(duck_rows: Source, postgres_rows: Source) -> None:
    for condition in long_conditions():
        rows = meant(condition, ROWS)
        assert rows
        assert kept(duck_rows, condition) == kept(postgres_rows, condition) == rows


# ------------------------------------------------------------------------------- texts as sources


def test_a_csv_file_is_read_as_what_it_is_compared_with(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    cells = ["0.1", "0.10", "1e-1", "18", "-3", "abc", "", "true", "false", "2024-02-29", "nan"]
    lines = [f"{place},{cell}" for place, cell in enumerate(cells)]
    path.write_text("\n".join(["row,cell", *lines, ""]))
    source = open_source(path)
    for text, expected in {
        "cell = 0.1": [0, 1, 2],
        "cell in (0.1, 18)": [0, 1, 2, 3],
        "cell > 0": [0, 1, 2, 3],
        "cell != 18": [0, 1, 2, 4],
        "not cell between 0 and 1": [3, 4],
        "cell < 1e400": [0, 1, 2, 3, 4],
        "cell = '0.1'": [0],
        "cell in ('abc', '18')": [3, 5],
        "cell = true": [7],
        "cell != true": [8],
        "cell >= date '2024-02-01'": [9],
        "cell is null": [6],
        "cell = '2024-02-29'": [9],
        "cell >= timestamp '2024-02-28 23:59'": [9],
        "cell < timestamp '2024-02-29 00:00'": [],
        "cell is not null and not cell = 'abc'": [0, 1, 2, 3, 4, 7, 8, 9, 10],
    }.items():
        assert kept(source, parse_condition(text)) == expected, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worb = 'a'", "No column 'worb' in .*. Did you mean 'word'?"),
        ("Word = 'a'", "No column 'Word' in .*. Did you mean 'word'?"),
        ("word != north", r"'north' in .*\. Text is in single quotes, as in word != 'north'\."),
        ("word = wor", r"Did you mean 'word'\? Text is in single quotes, as in word = 'wor'\."),
        ("small = 1 or zzz = 1", "No column 'zzz' in .*. Check"),
        ("blob is null", "must be about columns of numbers, .*, got the column 'blob' of another"),
        (
            "small = '1'",
            "compare 'small', a column of kind integer, with numbers, got the text '1'",
        ),
        (
            "real = true",
            "compare 'real', a column of kind real, with numbers, got the boolean true",
        ),
        ("price in ('a')", "compare 'price', a column of kind decimal, with numbers, got the tex"),
        ("word != 1", "compare 'word', a column of kind text, with strings, as in 'north', got"),
        ("flag = 1", "compare 'flag', a column of kind boolean, with true and false, got the num"),
        ("day < 2024", "compare 'day', a column of kind date, with dates, as in date '2024-02-29'"),
        ("not day = timestamp '2024-02-29 12:30'", "kind date, with dates, .* got the timestamp "),
        ("day > '2024-02-29 12:30'", "kind date, with dates, .* got the text '2024-02-29 12:30'"),
        ("at = 'noon'", "kind timestamp, with timestamps without a zone, as in .*, got the text"),
        ("at like '2024-02-29'", "kind timestamp, with timestamps .*, got the text '2024-02-29'"),
        ("small > '2024-02-29'", "kind integer, with numbers, got the text '2024-02-29'"),
        ("word > '2024-02-29'", r"no order .* got 'word' > '2024-02-29'\. If .* types={'word': 'd"),
        ("not day = '29.2.2024'", "compare 'day', a column of kind date, with dates"),
    ],
)
def test_what_does_not_fit_the_columns(duck_rows: Source, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        check(parse_condition(text), duck_rows)


def test_reading_loads_no_engine() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from leastnoise.tables.where import parse_condition as parse; parse('a = 1'); "
        "sys.exit('ibis' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
