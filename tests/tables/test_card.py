"""A dataset card: what it gives to queries, and what it forbids, with the line that does."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import leastnoise as ln
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import Spending
from leastnoise.tables import Card, create_ledger, open_table, read_card, write_skeleton
from leastnoise.tables.queries.known_rows import KnownRows

protect: Any = ln.protect
CARD = """\
source = "people.parquet"
name = "people"
version = "2026-11"
unit = "person"
neighbors = "add_remove"
max_rows = {default = 1, largest = 3}
max_groups = {default = 1, largest = 2}

[largest]
epsilon = "1/5"
delta = 1e-7
share = "1/10"

[ledger]
path = "people.ledger"
dataset = "people"
epsilon = 2
delta = 1e-6
accounting = "basic"

[analysts]
bob = {}

[analysts.ann]
epsilon = 1
delta = 5e-7

[columns.income]
type = "integer"
bounds = [0, 50_000]
edges = [0, 20000, 60000]

[columns.region]
type = "text"
groups = ["north", "south"]

[columns.age]

[columns.secret]
allowed = false
"""
PEOPLE = pa.table(
    {
        "person": list(range(60)),
        "region": ["north", "south", "west"] * 20,
        "income": [1000 * n for n in range(60)],
        "age": [18 + n for n in range(60)],
        "secret": [n % 2 for n in range(60)],
        "unlisted": list(range(60)),
    }
)


def line_of(start: str, text: str = CARD) -> int:
    """Return the number of the only line that starts with a text."""
    (line,) = (n for n, line in enumerate(text.splitlines(), 1) if line.startswith(start))
    return line


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a card beside its data, which may be changed by replacing texts."""
    pq.write_table(PEOPLE, tmp_path / "people.parquet")

    def write_card(*changes: tuple[str, str], text: str = CARD) -> Path:
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path = tmp_path / "people.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_card


@pytest.fixture
def people(write: Write) -> Iterator[Any]:
    path = write()
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        yield table


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A table for queries that are rejected: one for all of them, because none is charged."""
    folder = tmp_path_factory.mktemp("card")
    pq.write_table(PEOPLE, folder / "people.parquet")
    path = folder / "people.toml"
    path.write_text(CARD, encoding="utf-8")
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        yield table


def check_nothing_charged(people: Any) -> None:
    assert people.ledger.releases == []
    assert people.ledger.account.spent == ln.Privacy(0)


# ------------------------------------------------------------------- what a card gives


def test_queries_omit_what_the_card_states(people: Any) -> None:
    assert people.mean("income", share="1/20").subject.bounds == (0, 50_000)
    by_region = people.count(by="region", share="1/20")
    assert by_region.keys == (("north",), ("south",))
    assert by_region.subject.max_rows == 1
    ranges = people.histogram("income", share="1/20")
    assert [key for (key,) in ranges.keys] == ["[0, 20000)", "[20000, 60000]"]
    assert by_region.subject.table == "people"
    assert by_region.subject.version == "2026-11"
    assert by_region.subject.unit == "person"
    assert {one.analyst for one in people.ledger.releases} == {"ann"}
    assert {one.dataset for one in people.ledger.releases} == {"people"}


def test_the_card_is_an_attribute(people: Any) -> None:
    assert isinstance(people.card, Card)
    assert people.card.unit == "person"
    assert people.card.analysts == {"bob": None, "ann": ln.Privacy(1, "5e-7")}
    assert repr(people.card).startswith("Card('people.toml', ")


def test_the_dry_run_needs_no_bounds(people: Any) -> None:
    said = str(people.explain(ln.Mean("income"), share="1/20"))
    assert "clipped to [0, 50000]" in said
    check_nothing_charged(people)


@pytest.mark.parametrize("given", [1, 2, 3])
def test_max_rows_may_be_given_up_to_the_largest(write: Write, given: int) -> None:
    path = write()
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann", max_rows=given) as table:
        assert table.unit.max_rows == given


def test_narrower_bounds_fewer_groups_and_fewer_edges_are_allowed(people: Any) -> None:
    assert people.sum("income", bounds=(10, 20), share="1/20").subject.bounds == (10, 20)
    assert people.count(by="region", groups=["south"], share="1/20").keys == (("south",),)
    assert len(people.histogram("income", edges=[0, 60_000], share="1/20")) == 1
    assert people.count(by="region", max_groups=2, share="1/20").subject.max_groups == 2


def test_a_column_without_bounds_takes_any(people: Any) -> None:
    assert people.mean("age", bounds=(0, 120), share="1/20").subject.bounds == (0, 120)
    with pytest.raises(InvalidParameter, match="bounds must be given for 'age', here or in a card"):
        people.mean("age", share="1/20")


def test_a_card_without_columns_allows_all(write: Write) -> None:
    text = 'source = "people.parquet"\nrow_is_unit = true\nneighbors = "replace"\n'
    with protect(card=write(text=text), ledger=ln.UNRECORDED) as table:
        assert table.unit.column is None
        assert table.unit.neighbors == "replace"
        assert table.count(where="secret = 1", privacy=ln.Privacy(200)).value == 30


def test_a_pattern_is_relative_to_the_card_whatever_its_folder_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "data [old]"
    folder.mkdir()
    for part in ("1", "2"):
        pq.write_table(PEOPLE, folder / f"part{part}.parquet")
    card = folder / "people.toml"
    card.write_text('source = "part*.parquet"\nrow_is_unit = true\n')
    with protect(card=card, ledger=ln.UNRECORDED) as table:
        assert table.count(privacy=ln.Privacy(200)).value == 120


def test_the_table_of_a_card_has_the_key_of_the_same_table_without_a_card(write: Write) -> None:
    """What a card adds is in the words of a query: a stored answer is found either way."""
    path = write()
    create_ledger(read_card(path))
    folder = path.parent
    with protect(card=path, analyst="ann") as by_card:
        first = by_card.sum("income", share="1/20")
    amount = ln.Privacy("1/20", "1/40000000")
    with ln.Ledger(folder / "people.ledger") as ledger:
        table = protect(
            folder / "people.parquet",
            unit="person",
            max_rows=1,
            name="people",
            version="2026-11",
            ledger=ledger,
        )
        again = table.sum("income", bounds=(0, 50_000), privacy=amount)
        assert again.receipt is not None
        assert again.receipt.reused
        assert again.value == first.value


# ------------------------------------------------------------------- what it forbids

AMOUNT: Any = {"share": "1/20"}
FORBIDDEN: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "wider bounds": (
        lambda people: people.mean("income", bounds=(0, 50_001), **AMOUNT),
        "bounds",
        "allows bounds of 'income' within [0, 50000], got [0, 50001]",
    ),
    "other bounds": (
        lambda people: people.median("income", bounds=(-1, 10), **AMOUNT),
        "bounds",
        "allows bounds of 'income' within [0, 50000], got [-1, 10]",
    ),
    "other edges": (
        lambda people: people.histogram("income", edges=[0, 30_000], **AMOUNT),
        "edges",
        "lists the edges of 'income', got another edge, 30000",
    ),
    "other groups": (
        lambda people: people.count(by="region", groups=["north", "west"], **AMOUNT),
        "groups",
        "lists the groups of 'region', got 1 other group",
    ),
    "max_groups": (
        lambda people: people.count(by="age", groups=[18, 19, 20, 21], max_groups=3, **AMOUNT),
        "max_groups",
        "allows max_groups of at most 2, got 3",
    ),
    "a column": (
        lambda people: people.sum("secret", bounds=(0, 1), **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a column without bounds": (
        lambda people: people.sum("secret", **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a column in by": (
        lambda people: people.count(by="secret", groups=[0, 1], **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a column in by among others": (
        lambda people: people.count(by=["region", "secret"], **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a column in where": (
        lambda people: people.count(where="age > 20 and not (secret = 1)", **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a quoted column in where": (
        lambda people: people.count(where='"secret" is null', **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "a column of a prebuilt query": (
        lambda people: people.ask([ln.Count(), ln.Mean("secret", bounds=(0, 1))], **AMOUNT),
        "allowed",
        "does not allow it",
    ),
    "bounds of a prebuilt query": (
        lambda people: people.ask([ln.Sum("income", bounds=(0, 10**6))], **AMOUNT),
        "bounds",
        "allows bounds of 'income'",
    ),
    "bounds in a dry run": (
        lambda people: people.explain(ln.Sum("income", bounds=(0, 10**6)), **AMOUNT),
        "bounds",
        "allows bounds of 'income'",
    ),
    "a column in a dry run with an error": (
        lambda people: people.explain(ln.Mean("secret", bounds=(0, 1)), error="0.1"),
        "allowed",
        "does not allow it",
    ),
    "a mean with an error": (
        lambda people: people.mean("income", bounds=(0, 10**6), error=5000),
        "bounds",
        "allows bounds of 'income'",
    ),
    "ε": (
        lambda people: people.count(privacy=ln.Privacy("0.201")),
        'epsilon = "1/5"',
        "allows ε of at most 0.2 for one release, got 0.201",
    ),
    "ε of several": (
        lambda people: people.ask([ln.Count(), ln.Sum("income")], privacy=ln.Privacy("0.3")),
        'epsilon = "1/5"',
        "allows ε of at most 0.2 for one release, got 0.3",
    ),
    "δ": (
        lambda people: people.count(by="age", privacy=ln.Privacy("0.01", "2e-7")),
        "delta = 1e-7",
        "allows δ of at most 1e-7 for one release, got 2e-7",
    ),
    "a share": (
        lambda people: people.count(share="1/9"),
        "share",
        "allows a share of at most 0.1 for one release, got 1/9",
    ),
    "a guarantee above the share": (
        lambda people: people.count(privacy=ln.Privacy("0.11")),
        "share",
        "allows a share of at most 0.1 for one release, got 0.11",
    ),
    "a dry run above the share": (
        lambda people: people.explain(ln.Count(), share="1/9"),
        "share",
        "allows a share of at most 0.1",
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_the_error_names_the_line_that_forbids(refusing: Any, name: str) -> None:
    ask, start, words = FORBIDDEN[name]
    with pytest.raises(InvalidParameter, match=re.escape(words)) as caught:
        ask(refusing)
    assert f"people.toml, line {line_of(start)} " in str(caught.value)
    check_nothing_charged(refusing)


def test_a_column_that_the_card_does_not_list_is_not_allowed(refusing: Any) -> None:
    asks: list[Callable[[], object]] = [
        lambda: refusing.sum("unlisted", bounds=(0, 1), **AMOUNT),
        lambda: refusing.count(where="unlisted = 1", **AMOUNT),
        lambda: refusing.count(by="person", groups=[1, 2], **AMOUNT),
    ]
    for ask in asks:
        with pytest.raises(InvalidParameter, match=r"people\.toml lists other columns only"):
            ask()
    check_nothing_charged(refusing)


def test_an_error_costs_at_most_the_largest_release(people: Any) -> None:
    with pytest.raises(BudgetExceeded, match=re.escape("at most ε = 0.1, δ = 0 may be")) as caught:
        people.count(error=2)
    assert f"people.toml, line {line_of('[largest]')} allows ε 0.2, δ 1e-7" in str(caught.value)
    check_nothing_charged(people)
    found = people.count(error=60)
    assert found.privacy.epsilon <= Fraction(1, 10)


def test_at_most_cannot_raise_the_largest_release(refusing: Any) -> None:
    with pytest.raises(BudgetExceeded, match=re.escape("at most ε = 0.1, δ = 0 may be")):
        refusing.count(error=2, at_most=1)
    with pytest.raises(BudgetExceeded, match=re.escape("at most ε = 0.05, δ = 0 may be")):
        refusing.count(error=2, at_most="1/20")
    check_nothing_charged(refusing)


def test_a_largest_epsilon_limits_an_error_without_a_share(write: Write) -> None:
    path = write(('share = "1/10"\n', ""))
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        with pytest.raises(BudgetExceeded, match=re.escape("at most ε = 0.2, δ = 0 may be")):
            table.count(error=2)
        target = table._aim_at_mean(
            ln.Mean("income", bounds=(0, 9)), table._parse_terms(None, None, 5, None), Fraction(5)
        )
        assert target.at_most == Fraction(1, 5)  # of the limit of the analyst, ε = 1
        check_nothing_charged(table)


def test_the_two_releases_of_a_mean_cost_at_most_the_largest_release(people: Any) -> None:
    with pytest.raises(BudgetExceeded, match=r"people\.toml, line 9 allows"):
        people.mean("income", error=500)
    assert people.ledger.account.spent.epsilon <= Fraction(1, 10)


# ------------------------------------------------------------------- attempts to go around it


@dataclass(frozen=True)
class WiderSum(ln.Sum):
    """A sum that completes and checks itself."""

    def complete(self, _: Any) -> Any:
        return self

    def check(self, _: Any) -> None:
        """Accept every table."""


@dataclass(frozen=True)
class OtherCount(ln.Count):
    """A count of a class of its own."""


@pytest.mark.parametrize(
    "query",
    [
        WiderSum("income", bounds=(Fraction(0), Fraction(10**6))),
        WiderSum("secret", bounds=(Fraction(0), Fraction(1))),
        OtherCount(),
        KnownRows(column="secret"),
    ],
)
def test_a_class_that_is_not_registered_is_rejected(refusing: Any, query: Any) -> None:
    for ask in (refusing.ask, lambda queries, **how: refusing.explain(*queries, **how)):
        with pytest.raises(InvalidParameter, match=r"registered queries only|does not allow it"):
            ask([query], **AMOUNT)
    check_nothing_charged(refusing)


def test_a_subclass_that_reads_the_source_reads_no_other_column(refusing: Any) -> None:
    """The naive control: the same call without a card returns the column."""
    open_to_all = replace(refusing.source, refused={})
    assert open_to_all.value("secret").get_name() == "secret"
    for read in (refusing.source.value, refusing.source.number, refusing.source.kind):
        with pytest.raises(InvalidParameter, match="does not allow it"):
            read("secret")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INCOME", "No column"),
        ("", "must be a name"),
        ("secret--", "must be a column or an expression|No column"),
        ('"income"', "states bounds of 'income', which do not apply to an expression"),
        ("income ", "states bounds of 'income', which do not apply to an expression"),
        ("income + 0", "states bounds of 'income', which do not apply to an expression"),
        ("secret + 0", "does not allow it"),
        ("secret * 0 + 1", "does not allow it"),
    ],
)
def test_an_expression_does_not_pass_by_the_rules(refusing: Any, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        refusing.sum(text, bounds=(0, 10**6), **AMOUNT)
    check_nothing_charged(refusing)


def test_an_expression_of_groups_does_not_pass_by_the_groups(refusing: Any) -> None:
    with pytest.raises(InvalidParameter, match="states groups of 'region', which do not apply"):
        refusing.count(by='"region"', max_groups=1, **AMOUNT)
    check_nothing_charged(refusing)


def test_bounds_are_numbers_and_no_text_to_run(refusing: Any) -> None:
    for bounds in (("0", "1; DROP TABLE"), ("0", "nan"), ("0", "inf"), (0, "1e9999")):
        with pytest.raises(InvalidParameter, match="Each end of bounds must be"):
            refusing.sum("income", bounds=bounds, **AMOUNT)
    check_nothing_charged(refusing)


def test_a_bound_that_differs_in_its_last_digit_is_another(refusing: Any) -> None:
    with pytest.raises(InvalidParameter, match="allows bounds"):
        refusing.sum("income", bounds=(0, Fraction(50_000) + Fraction(1, 10**9)), **AMOUNT)
    check_nothing_charged(refusing)


# ------------------------------------------------------------------- arguments beside the card

GIVEN: dict[str, tuple[dict[str, Any], str, str]] = {
    "source": ({"source": PEOPLE}, "source", "states the source, which is fixed"),
    "unit": ({"unit": "age"}, "unit", "states the privacy unit, which is fixed"),
    "no unit": ({"unit": None}, "unit", "states the privacy unit, which is fixed"),
    "neighbors": ({"neighbors": "replace"}, "neighbors", "states the neighbor relation"),
    "name": ({"name": "others"}, "name", "states the name, which is fixed"),
    "version": ({"version": "2"}, "version", "states the version, which is fixed"),
    "ledger": ({"ledger": ln.UNRECORDED}, "[ledger]", "states the ledger, which is fixed"),
    "max_rows": ({"max_rows": 4}, "max_rows", "allows max_rows of at most 3, got 4"),
    "no analyst": ({"analyst": None}, "[analysts]", "lists the analysts, so every query needs"),
    "another analyst": ({"analyst": "an"}, "[analysts]", "does not list this analyst, got 'an'"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_the_card_states_is_no_argument(write: Write, name: str) -> None:
    given, start, words = GIVEN[name]
    path = write()
    create_ledger(read_card(path))
    how: dict[str, Any] = {"card": path, "analyst": "ann", **given}
    with pytest.raises(InvalidParameter, match=re.escape(words)) as caught:
        protect(**how)
    assert f"people.toml, line {line_of(start)} " in str(caught.value)


def test_what_the_card_states_may_be_repeated(write: Write) -> None:
    path = write()
    create_ledger(read_card(path))
    how: dict[str, Any] = {"unit": "person", "name": "people", "neighbors": "add_remove"}
    protect(card=path, analyst="bob", **how).close()


def test_what_the_card_leaves_open_is_an_argument(write: Write) -> None:
    text = 'source = "people.parquet"\nunit = "person"\nmax_rows = 1\n'
    path = write(text=text)
    with pytest.raises(InvalidParameter, match=r"people\.toml names no ledger"):
        protect(card=path)
    with protect(card=path, ledger=ln.UNRECORDED, version="7", name="all") as table:
        found = table.count(privacy=ln.Privacy(1))
        assert (found.subject.version, found.subject.table) == ("7", "all")
    with pytest.raises(InvalidParameter, match="version must be a string of 1 to"):
        protect(card=path, ledger=ln.UNRECORDED, version="")
    for other in ("replace", "sideways"):
        with pytest.raises(InvalidParameter, match="states the neighbor relation"):
            protect(card=path, ledger=ln.UNRECORDED, neighbors=other)


def test_a_listed_analyst_is_needed_for_the_callers_ledger_too(write: Write) -> None:
    text = 'source = "people.parquet"\nunit = "person"\nmax_rows = 1\n[analysts.ann]\n'
    path = write(text=text)
    place = path.parent / "own.ledger"
    nobody = ln.Ledger(place, limit=ln.Privacy(1))
    with nobody, pytest.raises(InvalidParameter, match="line 4 lists the analysts"):
        protect(card=path, ledger=nobody)
    eve = ln.Ledger(place, analyst="eve")
    with eve, pytest.raises(InvalidParameter, match="line 4 does not list this analyst, got 'eve'"):
        protect(card=path, ledger=eve)
    with ln.Ledger(place, analyst="ann") as ledger:
        protect(card=path, ledger=ledger, name="p").close()
        assert ledger.remaining == ln.Privacy(1)  # it is still open
        with pytest.raises(InvalidParameter, match="analyst is for the ledger of a card"):
            protect(card=path, ledger=ledger, analyst="ann")
    with pytest.raises(InvalidParameter, match="line 4 lists the analysts"):
        protect(card=path, ledger=ln.UNRECORDED)


def test_protect_needs_a_unit_or_a_card() -> None:
    with pytest.raises(InvalidParameter, match="unit= or card= must be given"):
        protect(PEOPLE, ledger=ln.UNRECORDED)
    with pytest.raises(InvalidParameter, match="analyst needs a card"):
        protect(PEOPLE, unit=None, ledger=ln.UNRECORDED, analyst="ann")


# ------------------------------------------------------------------- what no card can state

WRONG: dict[str, tuple[tuple[str, str], str, str]] = {
    "unknown field": (
        ('name = "', 'nam = "'),
        "nam",
        "A card has no field 'nam' here. Did you mean name?",
    ),
    "unknown field of a column": (
        ("allowed = false", "alowed = false"),
        "alowed",
        "Did you mean allowed?",
    ),
    "unknown field of the ledger": (
        ('path = "', 'file = "'),
        "file",
        "A card has no field 'file' here. Use path,",
    ),
    "unknown field of an analyst": (
        ("delta = 5e-7", "gamma = 1"),
        "gamma",
        "A card has no field 'gamma'",
    ),
    "unknown field of the largest": (
        ('share = "1/10"', 'shares = "1/10"'),
        "shares",
        "Did you mean share?",
    ),
    "reversed bounds": (
        ("[0, 50_000]", "[50_000, 0]"),
        "bounds",
        "must be below the upper bound, got 50000 and 0. Write bounds = [0,",
    ),
    "one bound": (("[0, 50_000]", "[0]"), "bounds", "must be two numbers"),
    "a bound that is no number": (
        ("[0, 50_000]", '[0, "x"]'),
        "bounds",
        "Each end of bounds must be a finite number",
    ),
    "an infinite bound": (
        ("[0, 50_000]", "[0, inf]"),
        "bounds",
        "Each end of bounds must be a finite number",
    ),
    "falling edges": (("[0, 20000, 60000]", "[0, 60000, 20000]"), "edges", "edges must increase"),
    "a group twice": (
        ('["north", "south"]', '["north", "north"]'),
        "groups",
        "groups must not repeat",
    ),
    "no groups": (('["north", "south"]', "[]"), "groups", "groups must not be empty"),
    "groups of two types": (('["north", "south"]', '["north", 1]'), "groups", "must have one type"),
    "groups of another type": (
        ('["north", "south"]', "[1, 2]"),
        "groups",
        "groups of a column of type text must be of that type, got a group of type int",
    ),
    "a group that is a list": (
        ('["north", "south"]', '[["north"]]'),
        "groups",
        "groups must be values",
    ),
    "a type": (
        ('type = "integer"', 'type = "int"'),
        'type = "int"',
        "type must be one of integer, real,",
    ),
    "bounds of text": (
        ('groups = ["north", "south"]', "bounds = [0, 1]"),
        "bounds = [0, 1]",
        "A column of type text has no bounds",
    ),
    "edges of text": (
        ('groups = ["north", "south"]', "edges = [0, 1]"),
        "edges = [0, 1]",
        "A column of type text has no edges",
    ),
    "allowed": (
        ("allowed = false", 'allowed = "no"'),
        "allowed",
        "allowed must be true or false, got 'no'",
    ),
    "neighbors": (
        ('neighbors = "add_remove"', 'neighbors = "add"'),
        "neighbors",
        "neighbors must be one of add_remove, replace, got 'add'",
    ),
    "unit and rows": (
        ('version = "2026-11"', "row_is_unit = true"),
        "row_is_unit",
        "unit and row_is_unit exclude each other",
    ),
    "no unit": (('unit = "person"', "row_is_unit = false"), "row_is_unit", "unit must be given"),
    "max_rows": (
        ("{default = 1, largest = 3}", "0"),
        "max_rows",
        "max_rows must be an integer of at least 1, got 0",
    ),
    "max_rows above the largest": (
        ("{default = 1, largest = 3}", "{default = 4, largest = 3}"),
        "max_rows",
        "must have a default that is at most the largest",
    ),
    "unknown field of max_rows": (
        ("{default = 1, largest = 3}", "{default = 1, most = 3}"),
        "max_rows",
        "A card has no field 'most'",
    ),
    "a table of text": (
        ("[columns.age]", "[columns]\nage = 3"),
        "age",
        "This must be a table, got 3",
    ),
    "a table for a file": (
        ('version = "2026-11"', 'table = "people"'),
        "table",
        "table is for a database",
    ),
    "a source": (('"people.parquet"', "7"), "source", "source must be a path, an address"),
    "an empty source": (('"people.parquet"', '""'), "source", "source must be a path, an address"),
    "a variable": (
        ('"people.parquet"', '{env = "a b"}'),
        "source",
        "env must name an environment variable, got 'a b'",
    ),
    "a database without a table": (
        ('"people.parquet"', '{env = "PEOPLE"}'),
        "source",
        "table must be given with a database",
    ),
    "a password": (
        ('"people.parquet"', '"postgresql://me:hush@host/db"'),
        "source",
        "source must not contain a password",
    ),
    "a password in the query": (
        ('"people.parquet"', '"postgresql://host/db?password=hush"'),
        "source",
        "source must not contain a password",
    ),
    "a password of the ledger": (
        ('"people.ledger"', '"postgresql://me:hush@host/db"'),
        "path",
        "path must not contain a password",
    ),
    "a negative limit": (
        ("epsilon = 2", "epsilon = -2"),
        "epsilon = -2",
        "A limit must not be negative, got -2",
    ),
    "a limit of nothing": (
        ("epsilon = 2\ndelta = 1e-6", "epsilon = 0"),
        "epsilon = 0",
        "A limit must be positive",
    ),
    "δ of 1": (("delta = 1e-6", "delta = 1"), "delta = 1\n", "delta must be"),
    "accounting": (
        ('accounting = "basic"', 'accounting = "rdp"'),
        "accounting",
        "accounting must be one of basic, gaussian, got 'rdp'",
    ),
    "a largest share above 1": (
        ('share = "1/10"', "share = 2"),
        "share",
        "share must be at most 1",
    ),
    "a largest ε of 0": (
        ('epsilon = "1/5"', "epsilon = 0"),
        "epsilon = 0",
        "It must be greater than 0, got 0",
    ),
    "the name of an analyst": (
        ("[analysts.ann]", '[analysts."a\\tb"]'),
        '[analysts."a',
        "An analyst must be a string",
    ),
    "a lookup": (
        ("[columns.age]", '[lookups.towns]\nkey = "town"'),
        "[lookups",
        "The lookup 'towns' must have a source, a key and columns",
    ),
    "the columns of a lookup": (
        ("[columns.age]", '[lookups.towns]\nsource = "t.csv"\nkey = "town"\ncolumns = ["a", "a"]'),
        "columns = ",
        "columns must be a list of different names",
    ),
    "a field twice": (
        ('version = "2026-11"', 'name = "again"'),
        'name = "again"',
        "This field or table is defined twice",
    ),
    "a table twice": (
        ("[columns.age]", "[columns.income]"),
        "[columns.income]",
        "This field or table is defined twice",
    ),
    "no TOML": (('version = "2026-11"', "version ="), "version", "Invalid value"),
    "a date as a name": (('name = "people"', "name = 2026-11-01"), "name", "name must be a string"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_card_is_rejected_with_its_line(write: Write, name: str) -> None:
    change, start, words = WRONG[name]
    path = write(change)
    with pytest.raises(InvalidParameter, match=re.escape(words)) as caught:
        read_card(path)
    lines = path.read_text().splitlines()
    (*_, line) = (n for n, one in enumerate(lines, 1) if (one + "\n").startswith(start))
    assert str(caught.value).startswith(f"people.toml, line {line}: ")
    assert "hush" not in str(caught.value)


def test_a_limit_of_an_analyst_in_an_allocation_is_rejected(write: Write) -> None:
    for change in (('"basic"', '"gaussian"'), ('accounting = "basic"', 'allocation = "reports"')):
        with pytest.raises(InvalidParameter, match="no limit of their own in an allocation"):
            read_card(write(change))
    both = ('accounting = "basic"', 'accounting = "gaussian"\nallocation = "reports"')
    with pytest.raises(InvalidParameter, match="allocation is for accounting basic"):
        read_card(write(both))


def test_a_file_that_is_no_card_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    with pytest.raises(InvalidParameter, match=r"The card 'x\.toml' cannot be read: No such file"):
        read_card(path)
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(InvalidParameter, match="is not text in UTF-8"):
        read_card(path)
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InvalidParameter, match="is longer than 1 MiB"):
        read_card(path)
    for text in ("a = " + "[" * 100_000, "a = " + "9" * 5_000, "a = 1e9999999999999999999"):
        path.write_text(text)
        with pytest.raises(InvalidParameter, match=r"x\.toml"):
            read_card(path)


SCHEMA: dict[str, tuple[tuple[str, str], str, str]] = {
    "no such column": (("[columns.age]", "[columns.aeg]"), "[columns.aeg]", "No column 'aeg' in"),
    "no such unit": (('unit = "person"', 'unit = "persn"'), "unit", "No column 'persn' in"),
    "another type": (
        ('type = "integer"', 'type = "decimal"'),
        "type",
        "states that 'income' is of type decimal, got a column of kind integer",
    ),
    "bounds of a column of strings": (
        ('type = "text"\ngroups = ["north", "south"]', "bounds = [0, 1]"),
        "bounds = [0, 1]",
        "A column of numbers must hold integers",
    ),
    "groups of another type": (
        ("[columns.age]", '[columns.age]\ngroups = ["18"]'),
        'groups = ["18"',
        "groups for 'age' must be of kind integer",
    ),
    "no such file": (('"people.parquet"', '"peple.parquet"'), "source", "No file at"),
}


@pytest.mark.parametrize("name", SCHEMA)
def test_a_card_that_does_not_fit_its_table_is_rejected(write: Write, name: str) -> None:
    change, start, words = SCHEMA[name]
    path = write(change)
    with pytest.raises(InvalidParameter, match=re.escape(words)) as caught:
        open_table(read_card(path))
    (line, *_) = (
        n for n, one in enumerate(path.read_text().splitlines(), 1) if one.startswith(start)
    )
    assert str(caught.value).startswith(f"people.toml, line {line}")


# ------------------------------------------------------------------- the ledger


def test_the_ledger_of_a_card_is_never_created_by_a_query(write: Write) -> None:
    path = write()
    with pytest.raises(InvalidParameter, match="No ledger at") as caught:
        protect(card=path, analyst="ann")
    assert f"people.toml, line {line_of('path')}: " in str(caught.value)
    assert "leastnoise card apply people.toml" in str(caught.value)
    assert not (path.parent / "people.ledger").exists()


def test_applying_a_card_twice_changes_nothing(write: Write) -> None:
    card = read_card(write())
    once = create_ledger(card)
    with ln.Ledger(card.folder + "/people.ledger") as ledger:
        rows = len(list(ledger.rows()))
        assert ledger.limit == ln.Privacy(2, "1e-6")
        assert create_ledger(card) == once
        assert len(list(ledger.rows())) == rows
    assert [label for label, _ in once] == ["Dataset 'people'", "Analyst 'bob'", "Analyst 'ann'"]


def test_a_ledger_with_other_limits_is_rejected(write: Write) -> None:
    create_ledger(read_card(write()))
    path = write(("epsilon = 2", "epsilon = 3"))
    with pytest.raises(InvalidParameter, match="states the limit ε = 3, δ = 1e-6, got ε = 2"):
        protect(card=path, analyst="ann")
    with pytest.raises(InvalidParameter, match="already exists"):
        create_ledger(read_card(path))
    path = write(("[analysts.ann]\nepsilon = 1\n", "[analysts.ann]\nepsilon = 2\n"))
    with pytest.raises(InvalidParameter, match="states the limit ε = 2, δ = 5e-7, got ε = 1"):
        protect(card=path, analyst="ann")
    path = write(("bob = {}", "bob = {epsilon = 1}"))
    with pytest.raises(InvalidParameter, match="states the limit ε = 1, δ = 0, got none"):
        protect(card=path, analyst="bob")


def test_the_limit_of_an_analyst_is_enforced(write: Write) -> None:
    path = write(('share = "1/10"\n', ""), ("epsilon = 1\ndelta = 5e-7", 'epsilon = "1/4"'))
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        table.count(privacy=ln.Privacy("1/5"))
        with pytest.raises(BudgetExceeded, match="analyst 'ann'"):
            table.sum("income", privacy=ln.Privacy("1/5"))


def test_a_card_with_gaussian_accounting_limits_the_share(write: Write) -> None:
    ledger = ('accounting = "basic"', 'accounting = "gaussian"')
    analyst = ("epsilon = 1\ndelta = 5e-7", "")
    path = write(ledger, analyst)
    create_ledger(read_card(path))
    with pytest.raises(InvalidParameter, match="line 9 must be a share in an allocation"):
        protect(card=path, analyst="ann")
    largest = ('epsilon = "1/5"\ndelta = 1e-7\n', "")
    path = write(ledger, analyst, largest)
    with protect(card=path, analyst="ann") as table:
        assert table.count(share="1/10").receipt.allocation is not None
        spent = table.ledger.spent.share
        asks: list[Callable[[], object]] = [
            lambda: table.count(share="1/9"),
            lambda: table.count(privacy=ln.Privacy(1)),
            lambda: table.explain(ln.Count(), share="1/9"),
        ]
        for ask in asks:
            with pytest.raises(InvalidParameter, match=r"line 10 allows a share of at most 0\.1"):
                ask()
        with pytest.raises(BudgetExceeded, match=r"line 9 allows share 0\.1 for one release"):
            table.count(error=2)
        assert table.ledger.spent.share == spent


def test_a_card_names_an_allocation(write: Write) -> None:
    changes = (
        ('accounting = "basic"', 'allocation = "reports"'),
        ("epsilon = 1\ndelta = 5e-7", ""),
        ('epsilon = "1/5"\ndelta = 1e-7\n', ""),
    )
    path = write(*changes)
    create_ledger(read_card(path))
    with pytest.raises(InvalidParameter, match="This dataset has no allocation 'reports'"):
        protect(card=path, analyst="ann")
    with ln.Ledger(path.parent / "people.ledger") as ledger:
        ledger.allocate("reports", ln.Privacy("1/2", "1e-7"))
    with protect(card=path, analyst="ann") as table:
        receipt = table.count(share="1/10").receipt
        assert receipt.allocation.name == "reports"


def test_a_largest_share_needs_a_ledger(write: Write) -> None:
    start = CARD.index("[ledger]")
    path = write(text=CARD[:start])
    with pytest.raises(InvalidParameter, match="line 12 states a share of a ledger, got no ledger"):
        protect(card=path, ledger=ln.UNRECORDED)
    path = write(('share = "1/10"\n', ""), text=CARD[:start])
    with protect(card=path, ledger=ln.UNRECORDED) as table:
        table.count(privacy=ln.Privacy("1/5"))
        for how in ({"privacy": ln.Privacy("1/4")}, {"error": 3}):
            with pytest.raises(InvalidParameter, match=r"line 10 allows ε of at most 0\.2"):
                table.count(**how)


def test_close_closes_the_ledger_of_the_card(write: Write) -> None:
    path = write()
    create_ledger(read_card(path))
    table = protect(card=path, analyst="ann")
    table.close()
    with pytest.raises(InvalidParameter, match="This protected table is closed"):
        table.count(**AMOUNT)
    os.remove(path.parent / "people.ledger")


# ------------------------------------------------------------------- the hash


def test_the_hash_is_stored_with_each_release_and_the_ledger_verifies(people: Any) -> None:
    people.count(**AMOUNT)
    people.sum("income", **AMOUNT)
    releases = people.ledger.releases
    assert len(releases) == 2
    assert {one.asked["card"] for one in releases} == {people.card.hash}
    assert re.fullmatch(r"[0-9a-f]{64}", people.card.hash)
    people.ledger.verify()
    assert people.ledger.export()["format"]


def test_all_releases_of_a_mean_with_an_error_store_the_hash(tmp_path: Path) -> None:
    pq.write_table(pa.table({"income": [1, 9] * 20_000}), tmp_path / "people.parquet")
    card = tmp_path / "people.toml"
    card.write_text(
        'source = "people.parquet"\nrow_is_unit = true\n[largest]\nshare = "1/2"\n'
        '[ledger]\npath = "people.ledger"\nepsilon = 1\n[columns.income]\nbounds = [0, 10]\n'
    )
    create_ledger(read_card(card))
    with protect(card=card) as table:
        found = table.mean("income", error="0.1")
        assert found.subject.bounds == (0, 10)
        releases = table.ledger.releases
        assert len(releases) >= 2
        assert {one.asked["card"] for one in releases} == {table.card.hash}
        assert table.ledger.spent.epsilon <= Fraction(1, 2)


@pytest.mark.parametrize(
    "change",
    [
        ("[ledger]", "# a comment\n[ledger]"),
        ("bounds = [0, 50_000]", "bounds   = [ 0, 5e4, ]"),
        ("delta = 1e-7", "delta = 0.0000001"),
        ('name = "people"\nversion = "2026-11"', "version = '2026-11'\n\nname = 'people'"),
        ("bob = {}\n", "[analysts.bob]\n"),
    ],
)
def test_comments_order_and_spelling_do_not_change_the_hash(
    write: Write, change: tuple[str, str]
) -> None:
    before = read_card(write()).hash
    assert read_card(write(change)).hash == before


@pytest.mark.parametrize(
    "change",
    [
        ("bounds = [0, 50_000]", "bounds = [0, 50_001]"),
        ("bob = {}", "bob = {}\neve = {}"),
        ('share = "1/10"', 'share = "1/11"'),
        ("allowed = false", "allowed = true"),
        ("[columns.age]", "[columns.unlisted]"),
    ],
)
def test_another_content_is_another_hash(write: Write, change: tuple[str, str]) -> None:
    before = read_card(write()).hash
    assert read_card(write(change)).hash != before


def test_another_card_is_no_other_query(write: Write) -> None:
    """A query that the cards complete alike has one key: nothing is charged again."""
    path = write()
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        first = table.mean("income", **AMOUNT)
        named = table.count(key="people", **AMOUNT)
    with protect(card=write(("bob = {}", "eve = {}")), analyst="ann") as table:
        again = table.mean("income", **AMOUNT)
        assert again.receipt.reused
        assert again.value == first.value
        assert table.count(key="people", **AMOUNT).value == named.value
        assert len(table.ledger.releases) == 2
    changed = write(("bounds = [0, 50_000]", "bounds = [0, 40_000]"))
    with protect(card=changed, analyst="ann") as table:
        assert not table.mean("income", **AMOUNT).receipt.reused
        with pytest.raises(InvalidParameter, match="was used with a different query"):
            table.sum("income", key="people", **AMOUNT)


def test_a_ledger_rejects_a_hash_that_is_none(people: Any) -> None:
    prepared = people._prepare([ln.Count()], ln.Privacy("1/10"))
    spending = prepared.spending()
    assert spending.asked["card"] == people.card.hash
    for wrong in ("", "x" * 64, people.card.hash.upper(), 7):
        asked = {**spending.asked, "card": wrong}
        with pytest.raises(InvalidParameter, match="A charge must name its mechanisms"):
            people.ledger.charge(Spending(spending.privacy, spending.mechanisms, asked), "k")
    people.ledger.charge(spending, "k")


def test_the_key_of_a_query_does_not_depend_on_the_card(people: Any) -> None:
    asked = people.explain(ln.Count(), **AMOUNT).to_dict()["asked"]
    assert "card" not in asked


# ------------------------------------------------------------------- databases and files


def test_a_table_of_postgresql_is_named_by_the_environment(
    pg: Any, pg_address: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    pg.create_table("card_people", PEOPLE, overwrite=True)
    source = ('source = "people.parquet"', 'source = {env = "CARD_TEST"}\ntable = "card_people"')
    path = write(source)
    create_ledger(read_card(path))
    monkeypatch.delenv("CARD_TEST", raising=False)
    with pytest.raises(InvalidParameter, match="line 1: the environment variable CARD_TEST is not"):
        protect(card=path, analyst="ann")
    monkeypatch.setenv("CARD_TEST", pg_address)
    with protect(card=path, analyst="ann") as table:
        assert table.source.engine == "postgres"
        assert table.mean("income", **AMOUNT).subject.bounds == (0, 50_000)
        with pytest.raises(InvalidParameter, match="does not allow it"):
            table.count(where="secret = 1", **AMOUNT)
    pg.drop_table("card_people")


def test_columns_of_a_csv_file_are_text(write: Write) -> None:
    path = write(
        ("people.parquet", "people.csv"), ("[columns.age]", '[columns.age]\ntype = "integer"')
    )
    pa.csv.write_csv(PEOPLE, path.parent / "people.csv")
    create_ledger(read_card(path))
    with protect(card=path, analyst="ann") as table:
        assert table.mean("income", **AMOUNT).subject.bounds == (0, 50_000)


# ------------------------------------------------------------------- the skeleton


def test_the_skeleton_of_a_card_is_of_the_schema_alone(tmp_path: Path) -> None:
    """Two tables with other rows have the same skeleton, and a value is nowhere in it."""
    texts = set()
    for rows in (PEOPLE, PEOPLE.slice(0, 1), PEOPLE.slice(0, 0)):
        pq.write_table(rows, tmp_path / "people.parquet")
        texts.add(write_skeleton(str(tmp_path / "people.parquet"), beside=str(tmp_path)))
    (text,) = texts
    assert 'source = "people.parquet"' in text
    assert "north" not in text
    assert "59000" not in text
    assert '[columns.income]\ntype = "integer"\nallowed = false' in text


def test_a_skeleton_is_a_card_once_its_unit_is_named(tmp_path: Path) -> None:
    odd = pa.table({"a b": [1], 'quo"te': ["x"], "tab\t": [1.5], "person": [1], "ü": [True]})
    pq.write_table(odd, tmp_path / "odd.parquet")
    path = tmp_path / "odd.toml"
    text = write_skeleton(str(tmp_path / "odd.parquet"), beside=str(tmp_path))
    path.write_text(text)
    with pytest.raises(InvalidParameter, match="unit must be given"):
        read_card(path)
    path.write_text(
        text.replace("# unit =", "unit =")
        .replace("person_id", "person")
        .replace("# max_rows = 1", "max_rows = 1")
    )
    card = read_card(path)
    assert list(card.columns) == odd.column_names
    assert not any(rules.allowed for rules in card.columns.values())
    table = protect(card=card, ledger=ln.UNRECORDED)
    with table, pytest.raises(InvalidParameter, match="does not allow it"):
        table.count(where='"a b" = 1', privacy=ln.Privacy(1))


def test_the_skeleton_for_a_database_names_no_address(pg: Any, pg_address: str) -> None:
    pg.create_table("skeleton", PEOPLE, overwrite=True)
    text = write_skeleton(pg_address, "skeleton")
    pg.drop_table("skeleton")
    assert 'source = {env = "PEOPLE_DATABASE"}\ntable = "skeleton"\n' in text
    assert "://" not in text
