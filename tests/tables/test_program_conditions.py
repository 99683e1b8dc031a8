# ruff: noqa: DTZ001
"""Conditions that programs build: columns, values and parameters, never pasted into a text."""

import math
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter
from leastnoise.tables import ProtectedTable
from leastnoise.tables.where import parse_condition
from leastnoise.tables.where.nodes import Comparison, Literal

HOSTILE = [
    *("O'Hare", "' or 1 = 1 --", "'; drop table t; --", "\\", "\\'", '"', "/* x */", ":dest"),
    *("''", "a' or 'a' = 'a", "${spark.app.id}", "%", "_", "ß😀", " ", "--", "x') or ('1' = '1"),
]


@pytest.fixture
def flights() -> Iterator[ProtectedTable]:
    frame = pa.table({"dest": [*HOSTILE, "plain", None], "age": [*range(len(HOSTILE)), 5, 6]})
    with ln.protect(frame, unit=None, ledger=ln.UNRECORDED) as table:
        yield table


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (ln.col("age") >= 18, "age >= 18"),
        (ln.col("a b") == "it's", "\"a b\" = 'it''s'"),
        (ln.col("x") != 0.1, "x != 0.1"),
        (ln.col("x") < Decimal("1E+3"), "x < 1000"),
        (ln.col("x") > Fraction(4, 2), "x > 2"),
        (ln.col("x") <= np.int64(7), "x <= 7"),
        (ln.col("flag") == True, "flag = true"),  # noqa: E712 -- of a column
        (ln.col("day") >= date(2024, 2, 29), "day >= date '2024-02-29'"),
        (ln.col("at") < datetime(2024, 2, 29), "at < timestamp '2024-02-29 00:00:00'"),
        (
            ln.col("timestamp") == datetime(1, 1, 1, 2, 3, 4, 5),
            "timestamp = timestamp '0001-01-01 02:03:04.000005'",
        ),
        (ln.col("at") > "2024-02-29 12:30", "at > '2024-02-29 12:30'"),
        (ln.col("a").isin(["x", "y"]), "a in ('x', 'y')"),
        (~ln.col("a").isin((1, 2)), "not a in (1, 2)"),
        (ln.col("a").between(1, 2.5), "a between 1 and 2.5"),
        (ln.col("a").is_null() | ln.col("b").is_not_null(), "a is null or b is not null"),
        (ln.col("a").like(r"50\%%"), r"a like '50\%%'"),
        ((ln.col("a") > 1) & ((ln.col("b") > 2) | (ln.col("c") > 3)), "a > 1 and (b > 2 or c > 3)"),
        (~((ln.col("a") > 1) & (ln.col("b") > 2)), "not (a > 1 and b > 2)"),
        (ln.col("arr") - ln.col("dep") > 15, "arr - dep > 15"),
        (ln.col("arr") > ln.col("dep"), "arr > dep"),
        ((1 - ln.col("a")) * 2 / 3 + ln.col("b") < 0, "(1 - a) * 2 / 3 + b < 0"),
        (-ln.col("a") >= ln.col("joined").month(), "-1 * a >= month(joined)"),
        (ln.col("t").hour().isin([8, 9]), "hour(t) in (8, 9)"),
    ],
)
def test_a_condition_of_a_program_is_that_of_its_text(made: Any, text: str) -> None:
    assert str(made) == text
    assert parse_condition(text) == made
    assert ln.Count(where=made) == ln.Count(where=text)
    assert ln.Count(where=made).to_dict() == ln.Count(where=text).to_dict()


def test_expressions_of_a_program_are_stored_as_their_text() -> None:
    query = ln.Sum(ln.col("a") - ln.col("b"), bounds=(0, 1), by=ln.col("d").month(), groups=[1])
    assert query == ln.Sum("a - b", bounds=(0, 1), by="month(d)", groups=[1])
    assert ln.Count(by=[ln.col("a b"), "c"]).by == ("a b", "c")
    assert repr(ln.col("a") + 1) == "<column expression a + 1>"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ln.col("a") == None,  # noqa: E711 -- of a column
            r"must be a string, .* got an object of type NoneType\. Ask for",
        ),
        (
            lambda: ln.col("a") > -math.inf,
            "must be a string, a boolean, a finite number, a date or a timestamp, got",
        ),
        (
            lambda: ln.col("a") > datetime(2024, 1, 1, tzinfo=UTC),
            "without a time zone, got one with a time zone",
        ),
        (lambda: ln.col("a") == b"x", "got an object of type bytes"),
        (lambda: ln.col("a") > Fraction(1, 3), "got an object of type Fraction"),
        (lambda: ln.col("a") > 10**5000, "must have at most 800 digits and an exponent of at mo"),
        (lambda: ln.col("a") == "x\ny", r"with the control character U\+000A"),
        (lambda: ln.col("a").isin("abc"), r"isin\(\) must be given a list, got 'abc'"),
        (lambda: ln.col(""), r"The column of col\(\) must be named by a string"),
        (lambda: ln.Count(where=ln.col("a").isin([])), r"where a value \(a number"),
        (lambda: ln.Count(where=ln.col("a").isin([1, "x"])), "a number like the value before it"),
        (
            lambda: ln.Count(where=ln.col("a") > "x"),
            "where a number, a date or a timestamp is expected. Strings",
        ),
        (lambda: ln.Count(where=ln.col("a").like("x\\")), "a backslash that escapes nothing"),
        (lambda: ln.Count(where=ln.col("a") / 0 > 1), "where a number other than 0 is expected"),
        (
            lambda: ln.Count(where=ln.col("a") + "x" == 1),
            "no operator beside text, booleans or dates",
        ),
        (
            lambda: ln.Count(where=ln.col("a")),  # type: ignore[arg-type]
            "where must be a condition as a string",
        ),
        (lambda: ln.Count(where=ln.col("x\0") > 1), r"the control character U\+0000"),
    ],
)
def test_what_a_program_gets_wrong_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_conditions_have_no_truth() -> None:
    with pytest.raises(TypeError, match=r"join conditions by &, \| and ~"):
        _ = 1 < ln.col("a") < 2
    with pytest.raises(TypeError, match=r"join conditions by &, \| and ~"):
        _ = (ln.col("a") > 1) and (ln.col("b") > 2)
    with pytest.raises(TypeError, match="a column is neither true nor false"):
        _ = not ln.col("a")
    with pytest.raises(TypeError, match="must be joined with a condition, not str"):
        _ = (ln.col("a") > 1) & "b > 2"  # type: ignore[operator]
    with pytest.raises(TypeError, match="unhashable"):
        hash(ln.col("a"))


# ---------------------------------------------------------------------------------- parameters


def pasted(value: str) -> str:
    """The naive control: a value pasted into the text."""
    return f"dest = '{value}'"


@pytest.mark.parametrize("value", HOSTILE)
def test_a_parameter_is_one_value_whatever_it_contains(flights: ProtectedTable, value: str) -> None:
    query = ln.Count(where="dest = :dest", params={"dest": value})
    assert query.where == Comparison("dest", "=", (Literal("text", value),))
    assert query == ln.Count(where=ln.col("dest") == value)
    sql = flights.explain(query, privacy=ln.Privacy(1)).to_text(sql=True)
    assert f"'{value.replace(chr(39), chr(39) * 2)}'" in sql
    answer = flights.count(where="dest = :dest", params={"dest": value}, privacy=ln.Privacy(50))
    assert answer.value == 1  # with noise other than 0 in one of 10²¹ answers


def test_a_pasted_value_changes_the_condition() -> None:
    """The control: what a parameter prevents. The text is another condition, or none."""
    connection = duckdb.connect()
    rows = connection.sql(
        f"SELECT count(*) FROM (VALUES ('x'), ('y')) t(dest) WHERE {pasted(HOSTILE[1])}"
    ).fetchall()
    assert rows == [(2,)]
    evil = "x' or dest != 'x"
    assert str(parse_condition(pasted(evil))) == "dest = 'x' or dest != 'x'"
    bound = ln.Count(where="dest = :d", params={"d": evil}).where
    assert str(bound) == "dest = 'x'' or dest != ''x'"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_any_text_is_a_parameter(value: str) -> None:
    condition = parse_condition("a = :v and b > 1", {"v": value})
    assert parse_condition(str(condition)) == condition
    assert condition == (ln.col("a") == value) & (ln.col("b") > 1)


@pytest.mark.parametrize(
    ("text", "params", "canonical"),
    [
        ("a = :x and b = :x", {"x": 1}, "a = 1 and b = 1"),
        ("a in :list", {"list": ["x", "y"]}, "a in ('x', 'y')"),
        ("a not in :list", {"list": (1,)}, "a not in (1)"),
        ("a in (:x, :y)", {"x": 1, "y": 2}, "a in (1, 2)"),
        ("a between :low and :high", {"low": 1, "high": 2.5}, "a between 1 and 2.5"),
        ("a like :p", {"p": "x%"}, "a like 'x%'"),
        ("a - :shift > :x * b", {"shift": 3, "x": 2}, "a - 3 > 2 * b"),
        ("day >= :day", {"day": date(2024, 2, 29)}, "day >= date '2024-02-29'"),
        ("flag = :on", {"on": True}, "flag = true"),
    ],
)
def test_parameters_are_values(text: str, params: Any, canonical: str) -> None:
    assert str(ln.Count(where=text, params=params).where) == canonical


@pytest.mark.parametrize(
    ("text", "params", "message"),
    [
        (
            "a = :x",
            None,
            r"got ':x' at character 5 of .* a parameter that is given is expected. Pass",
        ),
        ("a = :x", {"y": 1}, "where a parameter that is given is expected"),
        ("a = :x", {"x": 1, "y": 1}, "params must be named in where, got 'y', which is not"),
        ("a = 1", {"x": 1}, "params must be named in where, got 'x', which is not"),
        (None, {"x": 1}, "params must come with a condition as a string, got params without one"),
        (ln.col("a") > 1, {"x": 1}, "params must come with a condition as a string"),
        ("a = :x", {"x": [1]}, "where a single value is expected. A list is for in"),
        ("a in :x", {"x": []}, "where a list of 1 to 1000 values of one kind is expected"),
        ("a in :x", {"x": [1, "a"]}, "where a list of 1 to 1000 values of one kind is expected"),
        (
            "a > :x",
            {"x": "5"},
            "where a number, a date or a timestamp is expected. Strings and booleans",
        ),
        ("a like :x", {"x": 5}, "where a pattern in single quotes is expected"),
        ("a / :x > 1", {"x": 0}, "where a number other than 0 is expected"),
        ("a = :x", {"x": None}, "The parameter 'x' must be a string, a boolean, a finite number"),
        ("a = :x", {"x": "a\0"}, r"The parameter 'x' must be .* the control character U\+0000"),
        ("a = :x", [("x", 1)], "params must be a mapping of names to values"),
        (
            ":x = 1",
            {"x": "a"},
            "where a column, not or \\( is expected. The column stands on the left",
        ),
        ("a = ::x", {"x": 1}, "got ':' at character 5"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(text: Any, params: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ln.Count(where=text, params=params)


def test_the_ledger_tells_parameters_apart(tmp_path: Path) -> None:
    frame = pa.table({"dest": ["a", "b"]})
    with ln.Ledger(tmp_path / "x.ledger", limit=ln.Privacy(10)) as ledger:
        people = ln.protect(frame, unit=None, ledger=ledger, name="flights")
        first = people.count(where="dest = :d", params={"d": "a"}, privacy=ln.Privacy(1))
        people.count(where="dest = :d", params={"d": "b"}, privacy=ln.Privacy(1))
        again = people.count(where=ln.col("dest") == "a", privacy=ln.Privacy(1))
        assert again.value == first.value
        assert ledger.spent.epsilon == 2


# ---------------------------------------------------------------------------------- the command


def test_parameters_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flights.csv"
    path.write_text("dest,age\nO'Hare,18\nOslo,20\nRome,x\n")
    shared = ["count", str(path), "--row-is-unit", "--epsilon", "1", "--dry-run", "--sql"]
    where = ["--where", "dest in :d and age > :a"]
    params = ["--param", "d=O'Hare", "--param", "d=x=y", "--param", "a:=18"]
    main([*shared, *where, *params], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "IN ('O''Hare', 'x=y')" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--where", "a > :x", "--param", "x=1"], r"expected.\s+Write --param x:=18 for a number"),
        (["--where", "a > :x"], r"expected.\s+Pass its value, as in --param x=VALUE"),
        (["--where", "a > 1", "--param", "x=1"], "--param must be named in --where, got 'x'"),
        (["--param", "x=1"], "--param must come with --where, got --param alone"),
        (["--where", "a > :x", "--param", "x"], "--param must be a name and a value, got 'x'"),
        (
            ["--where", "a > :x", "--param", "x:=y"],
            "--param x:= must be followed by a number, true",
        ),
        (["--lookup", "x"], "--lookup must name a table and its key, got 'x'"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(SystemExit, match="2"):
        main(["count", str(path), "--row-is-unit", "--epsilon", "1", "--dry-run", *words])
    said = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert re.search(message.replace(r"\s+", " "), said), said
