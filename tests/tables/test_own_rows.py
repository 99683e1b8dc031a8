"""``max_rows`` of a query: its own or that of the table, and counts of units.

Counts here have so little noise that they are the true ones, but for 1 in 10⁹⁰.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter
from leastnoise.tables import Count, Mean, ProtectedTable, Quantile, Sum
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.release import prepare

PRIVACY = ln.Privacy(1, "1e-6")
NEARLY_EXACT = ln.Privacy(1000)
# 100 persons with five rows each, three of them in the north.
VISITS = pa.table(
    {
        "person": [i // 5 for i in range(500)],
        "region": [("north", "north", "north", "south", "south")[i % 5] for i in range(500)],
        "cost": [float(i % 10) for i in range(500)],
    }
)


def visits(max_rows: int | None = None, ledger: Any = ln.UNRECORDED) -> ProtectedTable:
    return ln.protect(VISITS, unit="person", max_rows=max_rows, ledger=ledger, name="visits")


def key(table: ProtectedTable, *queries: Any) -> str:
    return prepare(queries, table.source, table.unit, PRIVACY).key


@pytest.mark.parametrize("of_table", [None, 1, 4])
@pytest.mark.parametrize(("own", "counted"), [(1, 100), (3, 300), (7, 500)])
def test_a_query_bounds_by_its_own_max_rows(of_table: int | None, own: int, counted: int) -> None:
    table = visits(of_table)
    assert table.count(max_rows=own, privacy=NEARLY_EXACT).value == counted
    (number,) = plan_query(Count(max_rows=own), table.source, table.unit).numbers
    assert number.sensitivity == own


def test_queries_of_one_ask_have_their_own_bounds_and_sensitivities() -> None:
    queries: list[Any] = [
        Count(),
        Count(max_rows=3),
        Count(max_rows=2),
        Sum("cost", bounds=(0, 9), max_rows=1),
    ]
    answers: list[Any] = visits(2).ask(queries, privacy=ln.Privacy(4000))
    assert [answer.value for answer in answers[:3]] == [200, 300, 200]
    table = visits(2)
    prepared = prepare(queries, table.source, table.unit, PRIVACY)
    assert prepared.places == ((0,), (1,), (0,), (2,))  # the third count is the first one
    shifts = [[number.sensitivity for number, _ in numbers] for _, numbers in prepared.queries]
    assert shifts == [[2], [3], [2], [9]]
    # The noise of each is made for its own sensitivity.
    assert [numbers[0][1].sensitivity for _, numbers in prepared.queries] == [2, 3, 2, 9]


@pytest.mark.parametrize(
    "query", [Count, lambda **own: Quantile("cost", "0.5", bounds=(0, 9), bins=9, **own)]
)
def test_a_max_rows_that_equals_that_of_the_table_makes_no_other_query(query: Any) -> None:
    table = visits(3)
    assert key(table, query(max_rows=3)) == key(table, query())
    assert key(table, query(max_rows=2)) != key(table, query())
    # Only the bound matters, not who states it.
    assert (
        key(visits(2), query(max_rows=3))
        == key(visits(None), query(max_rows=3))
        == key(table, query())
    )
    both = [query(max_rows=3), query()]
    assert prepare(both, table.source, table.unit, PRIVACY).places == ((0,), (0,))
    others = [query(max_rows=2), query()]
    assert prepare(others, table.source, table.unit, PRIVACY).places == ((0,), (1,))
    assert len({key(table, *both), key(table, *others), key(table, *others[::-1])}) == 3


def test_a_repeated_query_is_found_in_the_ledger_however_its_bound_is_stated(
    tmp_path: Path,
) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(9)) as ledger:
        first = visits(3, ledger).count(privacy=ln.Privacy(1))
        again = visits(1, ledger).count(max_rows=3, privacy=ln.Privacy(1))
        other = visits(3, ledger).count(max_rows=2, privacy=ln.Privacy(1))
        assert again.receipt is not None
        assert other.receipt is not None
        assert again.receipt.reused
        assert again.value == first.value
        assert not other.receipt.reused
        ledger.verify()


def test_the_groups_of_a_unit_do_not_depend_on_max_rows() -> None:
    table = visits(2)
    how: dict[str, Any] = {"by": "region", "groups": ["north", "south"], "max_groups": 1}
    queries = [Count(**how), Count(**how, max_rows=5), Count(of="units", **how)]
    salts = {plan_query(query, table.source, table.unit).selection.salt for query in queries}
    assert len(salts) == 1


def test_a_bound_that_nobody_states_is_required_before_a_charge(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(9)) as ledger:
        table = visits(None, ledger)
        with pytest.raises(InvalidParameter, match=r"max_rows is required with unit=, in protect"):
            table.ask([Count(max_rows=2), Sum("cost", bounds=(0, 9))], privacy=ln.Privacy(1))
        assert not ledger.releases
        table.ask([Count(max_rows=2), Count(of="units")], privacy=ln.Privacy(1))


@pytest.mark.parametrize("wrong", [0, -1, "two", 1.5])
def test_max_rows_must_be_a_count(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="max_rows must be"):
        Count(max_rows=wrong)


def test_a_row_that_is_a_unit_counts_once() -> None:
    rows = ln.protect(VISITS, unit=None, ledger=ln.UNRECORDED)
    assert key(rows, Count(max_rows=1)) == key(rows, Count())
    with pytest.raises(InvalidParameter, match="max_rows must be 1 if every row is a unit, got 2"):
        rows.count(max_rows=2, privacy=PRIVACY)
    assert rows.count(of="units", privacy=NEARLY_EXACT).value == 500
    # It is the same number as the count of rows, under a title and key of its own.
    both = [Count(), Count(of="units")]
    assert prepare(both, rows.source, rows.unit, PRIVACY).places == ((0,), (0,))
    assert key(rows, both[0]) != key(rows, both[1])


def test_a_count_of_units_counts_each_once_per_group() -> None:
    table = visits(4)
    assert table.count(of="units", privacy=NEARLY_EXACT).value == 100
    how: dict[str, Any] = {"by": "region", "groups": ["north", "south"], "max_groups": 2}
    by = table.count(of="units", **how, privacy=NEARLY_EXACT)
    assert [answer.value for _, answer in by] == [100, 100]
    assert str(by).startswith("count of units by region\n\nregion  units  95% interval")
    words = "each person counts once per group, at most 2 groups per person"
    assert by.subject.contributions == words
    # It does not depend on the bound of the table, and is no count of rows.
    units = Count(of="units")
    assert key(table, units) == key(visits(None), units) != key(table, Count(max_rows=1))
    places = prepare([units, Count(max_rows=1)], table.source, table.unit, PRIVACY).places
    assert places == ((0,), (0,))


def test_a_count_of_units_rejects_other_bounds_and_other_words() -> None:
    with pytest.raises(InvalidParameter, match="max_rows must be 1 in a count of units, got 2"):
        Count(of="units", max_rows=2)
    wrong: Any = "people"
    with pytest.raises(InvalidParameter, match="of must be 'rows' or 'units', got 'people'"):
        Count(of=wrong)


def test_the_largest_max_rows_of_a_card_limits_that_of_queries(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("person,region\n1,north\n1,south\n")
    card = tmp_path / "visits.toml"
    card.write_text(
        'source = "visits.csv"\nunit = "person"\nmax_rows = {default = 1, largest = 2}\n'
    )
    table = ln.protect(card=card, ledger=ln.UNRECORDED)
    assert table.count(max_rows=2, privacy=NEARLY_EXACT).value == 2
    with pytest.raises(
        InvalidParameter, match=r"visits.toml, line 3.* allows max_rows of at most 2, got 3"
    ):
        table.count(max_rows=3, privacy=PRIVACY)


def test_a_mean_with_an_error_counts_rows_by_the_same_bound(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(900)) as ledger:
        mean = visits(1, ledger).mean("cost", bounds=(0, 9), max_rows=5, error=1)
        assert abs(mean.count.value - 500) < 250  # 100 with max_rows of the table
        bounds = {one.asked["max_rows"] for one in ledger.releases if one.asked}
    assert bounds == {5}


def test_the_command_counts_units_without_max_rows(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("person\n" + "".join(f"{i // 5}\n" for i in range(500)))
    words = f"count {path} --unit person --of units --epsilon 1000 --unrecorded".split()
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("count of units: 100 ± ")
    result = CliRunner().invoke(main, [*words[:4], *words[6:]])
    assert "--max-rows N" in result.output


def test_means_of_other_bounds_share_no_number() -> None:
    table, bounds = visits(2), (0, 9)
    queries = [Mean("cost", bounds=bounds), Mean("cost", bounds=bounds, max_rows=1)]
    assert prepare(queries, table.source, table.unit, PRIVACY).places == ((0, 1), (2, 3))
