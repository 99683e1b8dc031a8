"""Queries omit what the defaults of a table state."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from leastnoise.tables.defaults import NO_DEFAULTS, TableDefaults

PEOPLE = pa.table(
    {
        "person": list(range(60)),
        "region": ["north", "south", "west"] * 20,
        "sex": ["f", "m"] * 30,
        "income": [1000 * n for n in range(60)],
    }
)
DEFAULTS = TableDefaults(
    bounds={"income": (Fraction(0), Fraction(50_000))},
    groups={"region": ("north", "south", "west"), "sex": ("f", "m")},
    edges={"income": (Decimal(0), Decimal(20_000), Decimal(60_000))},
    max_rows=1,
    max_groups=4,
)
NEARLY_EXACT = ln.Privacy(200)  # a count is moved with probability below 2e^−99


@pytest.fixture
def people() -> Any:
    table = ln.protect(PEOPLE, unit="person", max_rows=1, ledger=ln.UNRECORDED)
    return replace(table, defaults=DEFAULTS)


def test_a_query_without_bounds_has_those_of_the_table(people: Any) -> None:
    assert people.sum("income", privacy=ln.Privacy(1)).subject.bounds == (0, 50_000)
    assert people.mean("income", privacy=ln.Privacy(1)).subject.bounds == (0, 50_000)
    assert people.median("income", privacy=ln.Privacy(1)).grid.high == 50_000


def test_completing_adds_nothing_to_a_query_that_states_all() -> None:
    query = ln.Sum("income", bounds=(1, 2), by="region", groups=["north"], max_groups=1)
    assert query.complete(DEFAULTS) == query
    assert query.complete(DEFAULTS).to_dict() == query.to_dict()


def test_groups_are_all_combinations_of_the_groups_of_columns() -> None:
    query = ln.Count(by=["region", "sex"]).complete(DEFAULTS)
    assert query.groups == tuple(
        (region, sex) for region in ("north", "south", "west") for sex in ("f", "m")
    )
    assert query.max_groups == 4


def test_groups_of_other_columns_are_discovered() -> None:
    query = ln.Count(by=["region", "town"]).complete(DEFAULTS)
    assert query.discovered
    assert query.max_groups == 4


@pytest.mark.parametrize(
    ("query", "most"),
    [
        (ln.Count(by="region"), 3),  # there are three groups
        (ln.Count(by="sex"), 2),
        (ln.Count(by="sex", max_groups=1), 1),
        (ln.Histogram("income"), 2),
        (ln.Histogram("income", by="region"), 4),
        (ln.Count(), None),
        (ln.Quantile("income", "1/2", by="region"), 3),
    ],
)
def test_a_unit_is_in_at_most_as_many_groups_as_there_are(query: Any, most: int | None) -> None:
    assert query.complete(DEFAULTS).max_groups == most


def test_ranges_are_those_of_the_table(people: Any) -> None:
    found = people.histogram("income", privacy=NEARLY_EXACT)
    assert [round(one.value) for one in found.answers] == [20, 40]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (ln.Mean("income"), "bounds must be given for 'income', here or in a card, got none"),
        (ln.Sum("income", by="region"), "bounds must be given for 'income', here or in a card"),
        (ln.Quantile("age", "0.9"), "bounds must be given for 'age', here or in a card"),
        (ln.Histogram("income"), "edges must be given for 'income', here or in a card, got none"),
    ],
)
def test_a_query_without_bounds_needs_defaults(query: Any, problem: str) -> None:
    with pytest.raises(InvalidParameter, match=problem.replace("(", r"\(")):
        query.complete(NO_DEFAULTS)
    with pytest.raises(InvalidParameter, match="here or in a card"):
        query.to_dict()


def test_nothing_is_charged_for_a_query_that_cannot_be_completed(tmp_path: Any) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=ln.Privacy(1)) as ledger:
        table = ln.protect(PEOPLE, unit="person", max_rows=1, ledger=ledger, name="people")
        for ask in (table.mean, table.sum, table.median, table.histogram):
            with pytest.raises(InvalidParameter, match="here or in a card"):
                ask("income", share="1/10")
        with pytest.raises(InvalidParameter, match="here or in a card"):
            table.explain(ln.Mean("income"), error=10)
        assert ledger.releases == []


def test_a_completed_query_has_the_key_of_one_that_states_the_same(tmp_path: Any) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=ln.Privacy(1)) as ledger:
        table = ln.protect(PEOPLE, unit="person", max_rows=1, ledger=ledger, name="people")
        first = table.sum("income", bounds=(0, 50_000), share="1/10")
        again = replace(table, defaults=DEFAULTS).sum("income", share="1/10")
        assert again.receipt is not None
        assert again.receipt.reused
        assert again.value == first.value
