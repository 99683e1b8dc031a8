"""The privacy units of charges: one neighbor relation for each dataset, and units in every report.

Each test of the ledger runs once with SQLite and once with PostgreSQL.
"""

import json
import re
import shutil
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import leastnoise
from leastnoise.cli import main
from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged
from leastnoise.ledger import Accounts, DeclaredUnit, Ledger, Spending
from leastnoise.ledger.rows import CHARGE, Row
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE, Contribution
from tests.support.ledger_files import PRICE, charged, counting, described
from tests.support.processes import Outlet, forked, waited

ln: Any = leastnoise
P = ln.Privacy
GOLDEN = Path(__file__).parents[1] / "golden" / "0.5.0.ledger"
EACH = "a guarantee for a privacy unit that is covered by each of them"
MIXED = "guarantee for adding or removing one unit, and not for replacing one"
REJECTED = {
    REPLACE: r"Dataset 'data' has the neighbor relation add-remove, got a query "
    r"with replace-one; nothing was charged\. Pass neighbors='add_remove', or use another dataset",
    ADD_REMOVE: r"'data' has the neighbor relation replace-one, got a query with add-remove; "
    r"nothing was charged\. Pass neighbors='replace', or use another dataset",
}


def spending(neighbours: str, unit: str | None = "person", epsilon: str = "0.1") -> Spending:
    """What a query of a table charges, as far as a ledger reads it."""
    mechanisms = described(noise="some")
    asked: dict[str, Any] = {"answer": "tables", "unit": unit, "neighbours": neighbours}
    asked |= {"questions": [{}], "noise": [list(mechanisms)]}
    return Spending(P(epsilon), mechanisms, asked)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What charges as 0.5.0 did, whatever the relation."""

    def charge(ledger: Ledger, *each: Spending) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(Accounts, "check_relation", lambda *_: None)
            for one in each:
                ledger.charge(one)

    return charge


def words(*command: str) -> str:
    done = CliRunner().invoke(main, ["ledger", *command])
    assert done.exit_code == 0, done.output
    return re.sub(r"(?<=\w)- (?=\w)", "-", " ".join(done.output.split()))  # at a line's end


def reports(where: str) -> dict[str, str]:
    """Every report that states a total of the first dataset."""
    with Ledger(where) as ledger:
        declared: Any = ledger.export(unit="person")
    loss = declared["deployment"]["privacy_loss"]
    return {
        "show": words("show", where),
        "explain": words("show", where, "--explain"),
        "json": json.loads(words("show", where, "--json"))["means"],
        "unit": loss["privacy_unit_description"],
        "parameters": loss["privacy_parameters_description"],
    }


# ------------------------------------------------------------------------------ neighbor relations


@pytest.mark.parametrize(("first", "other"), [(ADD_REMOVE, REPLACE), (REPLACE, ADD_REMOVE)])
def test_a_dataset_has_one_neighbor_relation(place: str, first: str, other: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        receipt = ledger.charge(spending(first), "a")
        before = ledger.head
        for fresh in (False, True):
            with pytest.raises(InvalidParameter, match=REJECTED[other]):
                ledger.charge(spending(other), "b", fresh=fresh)
        with (
            Ledger(place, analyst="ann", analyst_limit=P(1)) as hers,
            pytest.raises(InvalidParameter, match=REJECTED[other]),
        ):
            hers.charge(spending(other, "household"))  # whoever asks, and whatever the unit
        assert [row.kind for row in ledger.rows()][before.seq :] == ["limit"]
        assert ledger.spent == PRICE
        assert ledger.charge(spending(first), "a").charge == receipt.charge
        assert not ledger.charge(spending(first, None), "c").reused
        assert ledger.account.neighbors == first
    with Ledger(place, dataset="other", limit=P(1)) as ledger:
        ledger.charge(spending(other))
        assert ledger.account.neighbors == other
        ledger.verify()


def test_the_relation_is_checked_before_the_budget_and_after_it_nothing_is_charged(
    place: str,
) -> None:
    with Ledger(place, limit=P("0.1")) as ledger:
        with pytest.raises(BudgetExceeded, match="Not enough budget in dataset 'data': this"):
            ledger.charge(spending(REPLACE, epsilon="0.2"))
        ledger.charge(spending(ADD_REMOVE))  # a rejected charge leaves no relation behind
        with pytest.raises(InvalidParameter, match=REJECTED[REPLACE]):
            ledger.charge(spending(REPLACE))


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_a_charge_without_a_table_declares_nothing_and_fits_every_relation(
    place: str, relation: str
) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        counting().release(7, ledger=ledger)
        assert (ledger.account.units, ledger.account.undeclared) == ((), True)
        assert ledger.account.neighbors is None
        ledger.charge(spending(relation))
        counting().release(7, ledger=ledger)
        charged(ledger, "0.1")
        assert ledger.account.units == (DeclaredUnit("person", relation),)
        assert ledger.account.undeclared


def test_every_account_states_the_units_of_its_own_charges(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        ledger.charge(spending(ADD_REMOVE, "person"))
    with Ledger(place, analyst="ann") as ledger:
        ledger.charge(spending(ADD_REMOVE, None))
        whole, hers = ledger.accounts
    row, person = DeclaredUnit(None, ADD_REMOVE), DeclaredUnit("person", ADD_REMOVE)
    assert (whole.units, hers.units) == ((person, row), (row,))
    assert not whole.undeclared


def test_of_processes_that_charge_at_once_one_relation_wins(place: str, tmp_path: Path) -> None:
    """Eight processes, four for each relation, race for the first charge of each dataset."""
    processes, datasets = 8, [f"set{number}" for number in range(12)]
    for name in datasets:
        Ledger(place, dataset=name, limit=P(1)).close()
    everyone, told = get_context("fork").Barrier(processes), Outlet(tmp_path / "told")

    def work(relation: str) -> None:
        for name in datasets:
            with Ledger(place, dataset=name, timeout=120) as ledger:
                ledger.verify()
                everyone.wait(120)
                try:
                    ledger.charge(spending(relation))
                except InvalidParameter:
                    told.say(name, relation, "rejected")
                else:
                    told.say(name, relation, "charged")

    relations = [ADD_REMOVE, REPLACE] * (processes // 2)
    children = [forked(lambda relation=relation: work(relation)) for relation in relations]  # type: ignore[misc]
    assert waited(children) == [0] * processes
    said = [tuple(line) for line in told.lines()]
    with Ledger(place, dataset=datasets[0]) as ledger:
        ledger.verify()
        found = {account.dataset: account for account in ledger.accounts}
    for name in datasets:
        won = found[name].neighbors
        (lost,) = {ADD_REMOVE, REPLACE} - {won}
        assert not found[name].mixed
        assert sorted(line for line in said if line[0] == name) == sorted(
            [(name, won, "charged")] * 4 + [(name, lost, "rejected")] * 4
        )
        assert found[name].spent == P("0.4")


def test_a_ledger_that_is_open_learns_the_relation_of_another_process(place: str) -> None:
    with Ledger(place, limit=P(1)) as one, Ledger(place) as other:
        assert one.spent == other.spent == P(0)
        one.charge(spending(ADD_REMOVE))
        with pytest.raises(InvalidParameter, match=REJECTED[REPLACE]):
            other.charge(spending(REPLACE))


def test_what_is_kept_does_not_grow_with_the_charges(tmp_path: Path) -> None:
    """And no charge reads the rows before it, beyond those of its key and of others since."""
    with Ledger(tmp_path / "a.ledger", limit=P(1000)) as ledger:
        for _ in range(200):
            ledger.charge(spending(ADD_REMOVE))
        known = ledger._chain._accounts
        assert known.units == {("data", None): frozenset({DeclaredUnit("person", ADD_REMOVE)})}
        followed: list[int] = []
        follow = Accounts.follow

        def counted(self: Accounts, rows: Any) -> None:
            listed = list(rows)
            followed.append(len(listed))
            follow(self, iter(listed))

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Accounts, "follow", counted)
            ledger.charge(spending(ADD_REMOVE))
        assert sum(followed) == 1


# ------------------------------------------------------------------------------ tables


FRAME = pd.DataFrame({"person": range(30), "household": [n // 2 for n in range(30)]})


def test_queries_of_tables_declare_their_unit_and_relation(place: str) -> None:
    with Ledger(place, limit=P(5)) as ledger:

        def protected(**how: Any) -> Any:
            return ln.protect(FRAME, ledger=ledger, name="people", **how)

        people = protected(unit="person", max_rows=1)
        stored = people.count(privacy=P("0.1"))
        protected(unit="household", max_rows=2).count(privacy=P("0.1"))
        protected(unit=None).count(privacy=P("0.1"))
        columns = [unit.column for unit in ledger.account.units]
        assert columns == ["household", "person", None]
        before = ledger.head
        replacing = protected(unit="person", max_rows=1, neighbors=REPLACE)
        with pytest.raises(InvalidParameter, match=REJECTED[REPLACE]):
            replacing.count(privacy=P("0.1"))
        assert ledger.head == before
        assert people.count(privacy=P("0.1")).value == stored.value
        assert ledger.spent == P("0.3")


def test_the_command_line_names_its_own_options(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    where = str(tmp_path / "a.ledger")
    Ledger(where, limit=P(1)).close()
    ask = ["count", str(tmp_path / "people.csv"), "--unit", "person", "--max-rows", "1"]
    ask += ["--epsilon", "0.1", "--ledger", where]
    assert CliRunner().invoke(main, ask).exit_code == 0
    done = CliRunner().invoke(main, [*ask, "--neighbors", "replace"])
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert "has the neighbor relation add-remove, got a query with replace-one" in said
    assert "Pass --neighbors add_remove, or use another dataset, --dataset" in said


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.booleans(),
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)).map(sorted),
)
def test_a_replace_one_guarantee_covers_add_remove(
    rows: int, groups: int, grouped: bool, bounds: list[int]
) -> None:
    """So the total of both is one for add-remove: no answer moves by less where a unit is replaced.

    The other way round does not hold: a sum over [-1, 1] moves by 2 if a unit is replaced.
    """
    added, replaced = (Contribution(rows, kind, groups, grouped) for kind in (ADD_REMOVE, REPLACE))
    assert replaced.touched >= added.touched
    assert replaced.count >= added.count
    assert replaced.sum(*bounds) >= added.sum(*bounds)
    for part in range(5):
        assert replaced.rank(part, 4) >= added.rank(part, 4)
    one = [Contribution(1, kind, 1, False).sum(-1, 1) for kind in (ADD_REMOVE, REPLACE)]
    assert one == [1, 2]


# ------------------------------------------------------------------------------ reports


def test_every_report_states_the_one_unit_of_all_charges(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        ledger.charge(spending(REPLACE))
    for name, text in reports(place).items():
        brief = "Covers one privacy unit: one value of 'person'."
        full = "The total is a guarantee for one privacy unit: a value of 'person'."
        assert (brief in text) == (name in ("show", "explain")), name
        assert (full in text) == (name not in ("show", "explain")), name
        assert "differ by replacing one unit by another, or by none (replace-one)." in text
        assert "declare no unit" not in text


def test_every_report_states_different_units_and_whom_the_total_covers(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        for unit in ("person", "household", None, "person"):
            ledger.charge(spending(ADD_REMOVE, unit))
        counting().release(7, ledger=ledger)
    named = "different privacy units: a value of 'household'; a value of 'person'; a row."
    for name, text in reports(place).items():
        assert named in text, name
        assert EACH in text, name
        assert "datasets differ by adding or removing one unit (add-remove)." in text
        assert "Some charges declare no unit: they cover a unit that changes each of" in text
    with Ledger(place) as ledger:
        declared: Any = ledger.export()
    (account,) = declared["evidence"]["accounts"]
    assert account["units"] == [
        {"unit": unit, "neighbours": ADD_REMOVE} for unit in ("household", "person", None)
    ]
    assert account["undeclared"] is True
    assert json.loads(words("show", place, "--json"))["accounts"] == [account]


def test_charges_that_declare_no_unit_state_none(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        counting().release(7, ledger=ledger)
    for name, text in reports(place).items():
        assert "No charge declares a privacy unit: the total is a guarantee for a unit that" in text
        assert "Neighboring" not in text, name


def test_no_report_speaks_of_a_person_without_the_unit(place: str) -> None:
    """Whatever the charges declare; also where there are none."""
    stands = '"One person" stands for one privacy unit.'
    with Ledger(place, limit=P(1, "1e-6")) as ledger:
        for more in ((), (spending(ADD_REMOVE),), (spending(ADD_REMOVE, "household"),)):
            for one in more:
                ledger.charge(one)
            said = reports(place)
            for name in ("explain", "json", "parameters"):
                assert "one person" in said[name]
                assert stands in said[name]
                units = ledger.account.describe_units(brief=name == "explain")
                assert units in said[name]
            assert all("one person" not in said[name] for name in ("show", "unit"))


def test_show_states_the_units_of_every_dataset(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        ledger.charge(spending(ADD_REMOVE, "person"))
    with Ledger(place, dataset="visits", limit=P(1), analyst="ann") as ledger:
        ledger.charge(spending(REPLACE, "visitor"))
    said = words("show", place)
    assert "Covers one privacy unit: one value of 'person'. Neighboring" in said
    assert said.count("'visits': Covers one privacy unit: one value of") == 1


def test_a_name_of_a_column_cannot_steer_the_terminal(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        ledger.charge(spending(ADD_REMOVE, "a\x1b[2J\nb"))
    assert "one value of 'a\\x1b[2J\\nb'." in words("show", place)


# ------------------------------------------------------------------------------ stored ledgers


def test_a_ledger_of_0_5_0_that_mixes_relations_is_an_add_remove_guarantee(
    place: str, unchecked: Callable[..., None]
) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        unchecked(ledger, spending(REPLACE), spending(ADD_REMOVE))
    with Ledger(place) as ledger:
        ledger.verify()
        assert ledger.account.mixed
        assert ledger.account.neighbors == ADD_REMOVE
        with pytest.raises(InvalidParameter, match=REJECTED[REPLACE]):
            ledger.charge(spending(REPLACE))
        assert ledger.spent == P("0.2")
        ledger.charge(spending(ADD_REMOVE))
        counting().release(7, ledger=ledger)
        ledger.verify()
    for name, text in reports(place).items():
        assert "The charges declare both neighbor relations, add-remove and replace-one." in text
        assert MIXED in text, name
    assert MIXED in words("verify", place)
    assert json.loads(words("verify", place, "--json"))["mixed_neighbours"] == ["data"]


def test_verify_says_nothing_of_relations_where_there_is_one(place: str) -> None:
    with Ledger(place, limit=P(1)) as ledger:
        ledger.charge(spending(REPLACE))
    assert "relation" not in words("verify", place)
    assert json.loads(words("verify", place, "--json"))["mixed_neighbours"] == []


def test_a_ledger_of_0_5_0_states_its_units_and_keeps_its_relation(tmp_path: Path) -> None:
    where = str(shutil.copy(GOLDEN, tmp_path / "people.ledger"))
    with Ledger(where) as ledger:
        ledger.verify()
        assert ledger.account.units == (DeclaredUnit("person_id", ADD_REMOVE),)
        assert ledger.account.undeclared
        with pytest.raises(InvalidParameter, match="'people' has the neighbor relation add-remo"):
            ledger.charge(spending(REPLACE))
        ledger.charge(spending(ADD_REMOVE))
        ledger.verify()
    assert "different privacy units: a value of 'person'; a value of 'person_id'" in words(
        "show", where
    )


@pytest.mark.parametrize(
    "change",
    [
        {"neighbours": "both"},
        {"neighbours": None},
        {"neighbours": ["replace"]},
        {"unit": 7},
        {"unit": ["person"]},
        {"unit": ...},
        {"neighbours": ...},
    ],
)
def test_a_unit_that_no_ledger_writes_is_damage(place: str, change: dict[str, Any]) -> None:
    """Written by hand, with hashes that are right."""
    asked = {**spending(ADD_REMOVE).asked, **change}
    asked = {name: value for name, value in asked.items() if value is not ...}
    body = {"dataset": "data", "analyst": None, "epsilon": "0", "delta": "0"}
    with Ledger(place, limit=P(1)) as ledger:
        store, head = ledger._chain._store, ledger.head
        with store.writing() as page:
            page.append(Row.after(head, CHARGE, "a", {**body, "mechanisms": [], "asked": asked}))
    with Ledger(place) as ledger:
        for use in (
            ledger.verify,
            lambda: ledger.accounts,
            lambda: list(ledger.rows()),
            ledger.export,
            lambda: counting().release(7, ledger=ledger),
        ):
            with pytest.raises(LedgerDamaged, match="row 3 has content that no ledger writes"):
                use()
    assert CliRunner().invoke(main, ["ledger", "show", place]).exit_code == 4
