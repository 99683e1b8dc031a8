"""Errors name what to do in the words of Python and of the command line: texts of version 0.5.0."""

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest

import leastnoise as ln
from leastnoise.cli.app import format_error
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    LedgerUnavailable,
    Words,
)
from leastnoise.tables import ProtectedTable

BOTH = ln.Privacy(1, "1e-6")
HISTOGRAM: Any = ln.Histogram
ONE_GROUP: Any = {"by": "region", "max_groups": 1, "privacy": ln.Privacy(1)}


def people(**how: Any) -> ProtectedTable:
    frame = pd.DataFrame({"id": [1], "region": ["north"], "age": [3]})
    return ln.protect(frame, ledger=ln.UNRECORDED, **{"unit": "id", "max_rows": 1, **how})


def never_stored() -> None:
    def full(*_: object) -> None:
        raise LedgerUnavailable("The disk is full", fix="Free some space.")

    with ln.Ledger("a.ledger", limit=BOTH) as ledger, patch.object(ln.Ledger, "store", full):
        ln.calibrate(ln.Privacy("0.1"), sensitivity=1).release(1, ledger=ledger, key="visits")


def misspelled() -> None:
    ln.Ledger("people.ledger", limit=BOTH).close()
    Path("peple.csv").touch()
    ln.Ledger("peple.ledger")


def overspent() -> None:
    with ln.Ledger("a.ledger", limit=BOTH) as ledger:
        ln.calibrate(ln.Privacy(2), sensitivity=1).release(1, ledger=ledger)


def begun_otherwise(**how: Any) -> None:
    ln.Ledger("a.ledger", limit=BOTH).close()
    ln.Ledger("a.ledger", **how)


def over_a_file() -> None:
    Path("t.csv").touch()
    people().count(groups=["north"], **ONE_GROUP).to_csv("t.csv")


def too_long() -> None:
    found = people().count(groups=["north"], **ONE_GROUP)
    replace(found, keys=((10**40,),)).to_arrow()


# What raises, what Python says, and what the command line says.
CASES: dict[str, tuple[Callable[[], object], str, str]] = {
    "allow_exact": (
        lambda: ln.calibrate(ln.Privacy(delta="0.75"), sensitivity=1).release(1),
        "With probability 0.500001 this noise adds nothing and the release is the exact value. "
        "Use a smaller ε or δ, or accept it with allow_exact=True.",
        "With probability 0.500001 this noise adds nothing and the release is the exact value. "
        "Use a smaller ε or δ, or accept it with --allow-exact.",
    ),
    "allow_exact plan": (
        lambda: ln.plan(
            ln.Privacy(delta="0.6"), [ln.NumericQuery("x", sensitivity=1)], solve=False
        ).release({"x": 1}),
        "The exact value of x is released with some probability (exact_probability). "
        "Use a smaller ε or δ, or accept it with allow_exact=True.",
        "The exact value of x is released with some probability (exact_probability). "
        "Use a smaller ε or δ, or accept it with --allow-exact.",
    ),
    "allow_exact table": (
        lambda: people().count(privacy=ln.Privacy(delta="0.75")),
        "With some probability this noise adds nothing, and exact values are released. Use a "
        "smaller ε or δ, or accept it with allow_exact=True.",
        "With some probability this noise adds nothing, and exact values are released. Use a "
        "smaller ε or δ, or accept it with --allow-exact.",
    ),
    "integer sensitivity": (
        lambda: ln.calibrate(BOTH, sensitivity="1.5", integer=True),
        "sensitivity must be an integer for integer answers, got 1.5. Round it "
        "up, or omit integer=True.",
        "--sensitivity must be an integer for integer answers, got 1.5. Round it "
        "up, or omit --integer.",
    ),
    "integer geometric": (
        lambda: ln.calibrate(BOTH, sensitivity=1, family="geometric"),
        "geometric noise requires integer answers and ε > 0, got real answers and ε = 1, δ = "
        "1e-6. Pass integer=True, or choose another family.",
        "geometric noise requires integer answers and ε > 0, got real answers and ε = 1, δ = "
        "1e-6. Pass --integer, or choose another family.",
    ),
    "integer value": (
        lambda: ln.calibrate(BOTH, sensitivity=1, integer=True).release(1.5),
        "The value to release must be an integer with integer=True, got a non-integer of type "
        "float. Omit integer=True.",
        "The value to release must be an integer with --integer, got a non-integer. "
        "Omit --integer.",
    ),
    "integer error": (
        lambda: ln.privacy_for(error="1.5", confidence="0.9", sensitivity=1, delta=0, integer=True),
        "error must be an integer for integer answers, got '1.5'. Use 1, or omit integer=True.",
        "--error must be an integer for integer answers, got '1.5'. Use 1, or omit --integer.",
    ),
    "integer wanted": (
        lambda: ln.NumericQuery("x", sensitivity="1.5", integer=True),
        "sensitivity must be an integer for integer answers, got 1.5. Round it "
        "up, or omit integer=True.",
        "--sensitivity must be an integer for integer answers, got 1.5. Round it "
        "up, or omit --integer.",
    ),
    "fresh, ledger": (
        lambda: ln.calibrate(BOTH, sensitivity=1).release(1, key="x"),
        "key= and fresh= need a ledger. Add ledger=Ledger(…), or remove both.",
        "--key and --fresh need a ledger. Add --ledger FILE, or remove both.",
    ),
    "limit": (
        lambda: ln.Ledger("none.ledger"),
        "No ledger at 'none.ledger'. Only the budget owner creates ledgers: "
        "Ledger(…, limit=Privacy(1, '1e-6')).",
        "No ledger at 'none.ledger'. Only the budget owner creates ledgers: "
        "leastnoise ledger create FILE",
    ),
    "limit near": (
        misspelled,
        "No ledger at 'peple.ledger'. Did you mean 'people.ledger'? Only the budget owner creates "
        "ledgers: Ledger(…, limit=Privacy(1, '1e-6')).",
        "No ledger at 'peple.ledger'. Did you mean 'people.ledger'? Only the budget owner creates "
        "ledgers: leastnoise ledger create FILE",
    ),
    "budget": (
        overspent,
        "Not enough budget in dataset 'data': this release needs ε = 2, δ = 0; ε = 1, δ = 1e-6 "
        "remain of ε = 1, δ = 1e-6. Nothing was charged or released. Use a smaller ε, or raise "
        "the limit.",
        "Not enough budget in dataset 'data'. Nothing was charged or released. "
        "needed ε = 2, δ = 0 remaining ε = 1, δ = 1e-6 of ε = 1, δ = 1e-6 "
        "Use a smaller --epsilon, or ask the owner of the ledger to raise the limit.",
    ),
    "limit of a dataset": (
        lambda: begun_otherwise(dataset="other"),
        "This ledger has no dataset 'other' (its first is 'data'). Check the name. To add a "
        "dataset about different people, pass limit=…; for the same people it would be a second "
        "budget.",
        "This ledger has no dataset 'other' (its first is 'data'). Check the name. To add a "
        "dataset about different people, use leastnoise ledger create FILE --dataset …; for the "
        "same people it would be a second budget.",
    ),
    "key": (
        never_stored,
        "The disk is full. The charge stands. Free some space. Repeat the query at no further "
        "cost with key='visits'.",
        "The disk is full. The charge stands. Free some space. Repeat the query at no further "
        "cost with --key 'visits'.",
    ),
    "set_limit": (
        lambda: begun_otherwise(limit=ln.Privacy(2)),
        "This ledger already exists, and the limit of dataset 'data' is ε = 1, δ = 1e-6, not "
        "ε = 2, δ = 0. Nothing was changed. To change the limit, use "
        "set_limit().",
        "This ledger already exists, and the limit of dataset 'data' is ε = 1, δ = 1e-6, not "
        "ε = 2, δ = 0. Nothing was changed. To change the limit, use "
        "leastnoise ledger set-limit FILE.",
    ),
    "overwrite": (
        over_a_file,
        "This file already exists. Choose another name, or pass overwrite=True.",
        "This file already exists. Choose another name, or pass --overwrite.",
    ),
    "formulas": (
        lambda: people().count(groups=["=1+1"], **ONE_GROUP).to_csv("f.csv"),
        "Strings in a CSV file must not begin with = + - @, a tab or a line break, because "
        "spreadsheets run them as formulas, got a string that does. Write Parquet or JSON, or pass "
        "formulas=True and warn the readers of the file.",
        "Strings in a CSV file must not begin with = + - @, a tab or a line break, because "
        "spreadsheets run them as formulas, got a string that does. Write Parquet or JSON.",
    ),
    "rows": (
        too_long,
        "Exported integers must have at most 38 digits, got an integer with more. Use "
        "rows(), which are exact.",
        "Exported integers must have at most 38 digits, got an integer with more. Use "
        "--json, which is exact.",
    ),
    "keys": (
        lambda: people().count(**ONE_GROUP),
        "Discovering groups requires δ > 0. Add a δ, such as Privacy('0.2', '1e-7'), or list the "
        "groups with groups=.",
        "Discovering groups requires δ > 0. Add --delta 1e-7 (well below 1 / number of people), "
        "or list the groups: --group north --group south",
    ),
    "no keys": (
        lambda: ln.Count(by="region", groups=[]),
        "groups must not be empty, got an empty list. Name a group, or omit groups= to discover "
        "groups.",
        "--group must not be empty, got an empty list. Name a group, or omit --group and "
        "--groups-file to discover groups.",
    ),
    "keys without by": (
        lambda: ln.Count(groups=["north"]),
        "groups= needs a column to group by, got groups without by. Add by=, or omit the groups.",
        "--group needs a column to group by, got --group without --by. Add --by, or omit the "
        "groups.",
    ),
    "by without keys": (
        lambda: people().histogram("age", edges=[0, 1], **ONE_GROUP),
        "A histogram by group requires public groups, got by without groups. Add groups=.",
        "A histogram by group requires public groups, got --by without --group. Add --group.",
    ),
    "max_groups without by": (
        lambda: ln.Count(max_groups=2),
        "max_groups requires by, got no column to group by. Add by=, or omit max_groups=.",
        "--max-groups requires --by, got no column to group by. Add --by, or omit --max-groups.",
    ),
    "unit": (
        lambda: people(unit=None, max_rows=2),
        "max_rows must be 1 if every row is a unit, got 2. Add unit=, or omit it.",
        "--max-rows must be 1 if every row is a unit, got 2. Add --unit, or omit it.",
    ),
    "max_rows": (
        lambda: people(max_rows=None).count(privacy=ln.Privacy(1)),
        "max_rows is required with unit=, in protect() or in the query. It is the maximum rows per "
        "unit per group. Write max_rows=1 if everybody has one row. More rows mean more noise.",
        "--max-rows is required with --unit. It is the maximum rows per unit per group. Write "
        "--max-rows 1 if everybody has one row. More rows mean more noise.",
    ),
    "edges": (
        lambda: HISTOGRAM("age", edges=5),
        "edges must be a list of 2 to 1001 increasing numbers, got 5. Write, for example, edges=[0,"
        " 18, 65, 120].",
        "--edges must be a list of 2 to 1001 increasing numbers, got 5. Write, for example, "
        "--edges 0,18,65,120.",
    ),
    "which table": (
        lambda: ln.protect("postgresql://user@host/db", unit=None, ledger=ln.UNRECORDED),
        "A connection string leads to a database, so the table must be named by "
        "table=, got None. Give, for example, table='people'.",
        "A connection string leads to a database, so the table must be named by "
        "--table, got none. Give, for example, --table people.",
    ),
    "table": (
        lambda: ln.protect("people.csv", table="people", unit=None, ledger=ln.UNRECORDED),
        "table= names a table of a database, so it needs a connection string or a DuckDB "
        "database, got another source. Omit it.",
        "--table names a table of a database, so it needs a connection string or a DuckDB "
        "database, got another source. Omit it.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_surface_reads_its_own_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raises, python, command = CASES[name]
    with pytest.raises(LeastnoiseError, match=re.escape(python)) as caught:
        raises()
    assert str(caught.value) == python
    details = [word for fact in caught.value.details for word in fact]
    shown = [caught.value.headline, *details, caught.value.advice]
    assert " ".join(" ".join(shown).split()) == command
    assert " ".join(format_error(caught.value).split()) == f"Error: {command}"


def test_parts_are_put_together_in_one_order() -> None:
    option = Words("integer=True", "--integer")
    error = InvalidParameter("a rule", got="this", fix="Leave out " + option + ".")
    assert str(error) == "a rule, got this. Leave out integer=True."
    assert (error.headline, error.advice) == ("a rule, got this.", "Leave out --integer.")
    assert (error.problem, error.got, error.fix) == ("a rule", "this", "Leave out integer=True.")
    assert str(InvalidParameter("a rule", got="this")) == "a rule, got this."
    assert str(InvalidParameter("a rule", fix="Do that.")) == "a rule. Do that."
    assert str(InvalidParameter(option + " was given")) == "integer=True was given"
    plain = InvalidParameter("one whole text.")
    assert str(plain) == plain.headline == plain.problem == "one whole text."


def test_the_terminal_shows_the_headline_then_details_and_advice() -> None:
    error = BudgetExceeded(
        Words("Not enough budget: ε = 2 is needed and ε = 1 remains", "Not enough budget"),
        details=[("needed", "ε = 2"), ("remaining", "ε = 1")],
        fix="Use a smaller " + Words("epsilon", "--epsilon") + ", " + "or raise the limit. " * 5,
    )
    assert format_error(error).splitlines() == [
        "Error: Not enough budget.",
        "  needed     ε = 2",
        "  remaining  ε = 1",
        "  Use a smaller --epsilon, or raise the limit. or raise the limit. or raise the",
        "  limit. or raise the limit. or raise the limit.",
    ]
    assert str(error).startswith("Not enough budget: ε = 2 is needed and ε = 1 remains. Use a sma")


def test_errors_survive_being_sent_to_another_process() -> None:
    error = BudgetExceeded(
        "a rule", got="this", fix=Words("Give by=.", "Give --by."), details=[("a", "b")]
    )
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("raises", "said"),
    [
        (
            lambda: ln.Ledger("b.ledger", limit=BOTH).charge(ln.Privacy("0.1")),  # type: ignore[arg-type]
            "A charge must be a Spending, with the mechanisms of the release. Nothing was charged, "
            "got an object of type Privacy. Pass ledger= to a release, which charges it.",
        ),
        (
            lambda: ln.Ledger(".", limit=BOTH),
            "'.' is a folder. Pass the path of a file in it, for the ledger.",
        ),
        (
            lambda: ln.protect("peple.csv", unit=None, ledger=ln.UNRECORDED),
            "No file at 'peple.csv'. Did you mean 'people.csv'?",
        ),
        (
            lambda: people().count(groups=["north"], **ONE_GROUP)["nort"],
            "This table has no group 'nort' by region. Did you mean 'north'? The groups are in "
            ".keys.",
        ),
        (
            lambda: people().count(groups=["north"], **ONE_GROUP)[7],
            "This table has no group 7 by region. The groups are in .keys.",
        ),
        (
            lambda: ln.protect(7, unit=None, ledger=ln.UNRECORDED),
            "The table must be a CSV or Parquet path, a pandas, polars, Arrow or Ibis table, or "
            "'postgresql://…', got an object of type int. Convert it, for instance to an Arrow "
            "table.",
        ),
        (
            lambda: ln.calibrate(BOTH, sensitivity=1, family="gausian"),
            "family must be one of uniform, comb, canonical, staircase, cut_staircase, geometric, "
            "laplace, truncated_laplace, gaussian, classic_gaussian, got 'gausian'. Did you mean "
            "gaussian?",
        ),
    ],
)
def test_errors_say_what_to_do_in_200_characters(
    raises: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id\n1\n")
    with pytest.raises(LeastnoiseError, match=re.escape(said)) as caught:
        raises()
    assert str(caught.value) == said
    assert len(said) <= 200
