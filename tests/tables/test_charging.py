"""What is asked of tables is charged first, and answered once for the same question."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import BudgetExceeded, InvalidParameter, QueryFailed
from leastnoise.tables import Count, GroupedAnswers, ProtectedTable, Sum
from leastnoise.tables.sources import fetch
from tests.support.processes import apart, forked, killed, waited

PRICE = ln.Privacy("0.1", "1e-6")
PURE = ln.Privacy("0.1")  # which is quicker to plan for
LIMIT = ln.Privacy(1, "1e-5")
COLUMNS = {"unit": [1, 2, 3, 3], "g": ["a", "b", "a", "a"], "x": [1.0, 2.0, 3.0, 4.0]}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ln.Ledger]:
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT) as opened:
        yield opened


@pytest.fixture
def people(ledger: ln.Ledger) -> ProtectedTable:
    return protected(ledger)


def protected(ledger: Any, **more: Any) -> ProtectedTable:
    options: dict[str, Any] = {"unit": "unit", "max_rows": 1, "name": "people"} | more
    return ln.protect(pa.table(COLUMNS), ledger=ledger, **options)


class Engine:
    """Stands before the engine: how often it is asked, and what is spent by then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ledger: ln.Ledger) -> None:
        self._ledger, self.calls = ledger, 0
        self.spent: list[ln.Privacy] = []
        monkeypatch.setattr("leastnoise.tables.execute.fetch", self)

    def __call__(self, source: Any, expression: Any) -> Any:
        self.calls += 1
        self.spent.append(self._ledger.spent)
        return fetch(source, expression)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, ledger: ln.Ledger) -> Engine:
    return Engine(monkeypatch, ledger)


def failing(source: Any, expression: Any) -> Any:
    raise QueryFailed("The engine failed to run the query", fix="Repeat it.")


# -------------------------------------------------------------------------- charged, then asked


def test_it_is_charged_before_the_engine_is_asked(people: ProtectedTable, engine: Engine) -> None:
    answer = people.count(privacy=PRICE)
    assert (engine.calls, engine.spent) == (1, [PRICE])
    assert answer.receipt is not None
    assert not answer.receipt.reused


def test_when_the_engine_fails_the_charge_stands_and_is_answered_later(
    people: ProtectedTable, ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("leastnoise.tables.execute.fetch", failing)
        for _ in range(2):
            with pytest.raises(QueryFailed, match="The engine failed to run"):
                people.count(privacy=PRICE)
            assert ledger.spent == PRICE
    answer = people.count(privacy=PRICE)
    assert ledger.spent == PRICE
    assert abs(answer.value - 3) <= answer.max_error
    assert people.count(privacy=PRICE).value == answer.value
    assert len(ledger.releases) == 1


def test_what_the_ledger_has_not_left_is_refused_before_the_engine_is_asked(
    people: ProtectedTable, ledger: ln.Ledger, engine: Engine
) -> None:
    with pytest.raises(BudgetExceeded, match="Nothing was charged or released"):
        people.count(privacy=ln.Privacy(2))
    assert (engine.calls, ledger.spent) == (0, ln.Privacy(0, 0))


@pytest.mark.parametrize(
    "ask",
    [
        lambda people: people.count(by="nowhere", max_groups=1, privacy=PRICE),
        lambda people: people.sum("x", bounds=(1, 0), privacy=PRICE),
        lambda people: people.count(where="x >", privacy=PRICE),
        lambda people: people.count(by="g", max_groups=1, groups=["a", "a"], privacy=PRICE),
        lambda people: people.count(
            by="g", max_groups=1, privacy=ln.Privacy("0.1")
        ),  # to be discovered
        lambda people: people.count(privacy=PRICE, fresh="yes"),
        lambda people: people.ask([], privacy=PRICE),
    ],
)
def test_what_makes_no_sense_is_neither_charged_nor_asked(
    ask: Callable[[ProtectedTable], object],
    people: ProtectedTable,
    ledger: ln.Ledger,
    engine: Engine,
) -> None:
    with pytest.raises(InvalidParameter, match=r"must|can be|only|requires|No column"):
        ask(people)
    assert (engine.calls, ledger.spent) == (0, ln.Privacy(0, 0))


# ------------------------------------------------------------------------------ the same question


def test_the_same_question_is_free_and_has_the_same_answer(
    people: ProtectedTable, ledger: ln.Ledger, engine: Engine
) -> None:
    question = Count(by="g", max_groups=1, groups=["a", "b", "c"], where="x < 9")
    first, *others = (people.ask([question], privacy=PRICE)[0] for _ in range(3))
    assert isinstance(first, GroupedAnswers)
    same = people.count(
        by=["g"], max_groups=1, groups=("c", "b", "a"), where="x<9.0", privacy=PRICE
    )
    assert (engine.calls, ledger.spent) == (1, PRICE)
    for one in (*others, same):
        assert isinstance(one, GroupedAnswers)
        assert _values(one) == _values(first)
        assert one.receipt is not None
        assert one.receipt.reused
    # Also of a table that is opened again, in another process for instance.
    again = protected(ledger).ask([question], privacy=PRICE)[0]
    assert isinstance(again, GroupedAnswers)
    assert _values(again) == _values(first)
    assert engine.calls == 1


def test_fresh_charges_and_draws_again(people: ProtectedTable, ledger: ln.Ledger) -> None:
    people.count(privacy=PRICE)
    people.count(privacy=PRICE, fresh=True)
    assert ledger.spent == ln.Privacy("0.2", "2e-6")


def test_every_part_of_a_question_is_part_of_its_key(ledger: ln.Ledger) -> None:
    people = protected(ledger)
    asked = [
        (people, Count(), PURE),
        (people, Count(), ln.Privacy("0.1", "1e-6")),
        (people, Count(), ln.Privacy("0.2")),
        (people, Count(where="x < 3"), PURE),
        (people, Count(where="x < 4"), PURE),
        (people, Count(by="g", max_groups=1, groups=["a"]), PURE),
        (people, Count(by="g", groups=["b"]), PURE),
        (people, Count(by="g", groups=["a"], max_groups=2), PURE),
        (people, Sum("x", bounds=(0, 1)), PURE),
        (people, Sum("x", bounds=(0, 2)), PURE),
        (people, Sum("unit", bounds=(0, 1)), PURE),
        (people, ln.Mean("x", bounds=(0, 1)), PURE),
        (people, ln.Histogram("x", edges=[0, 1], max_groups=1), PURE),
        (people, ln.Histogram("x", edges=[0, 2], max_groups=1), PURE),
        (people, ln.Quantile("x", "0.5", bounds=(0, 1), bins=2), PURE),
        (people, ln.Quantile("x", "0.5", bounds=(0, 1), bins=4), PURE),
        (people, ln.Quantile("x", "0.4", bounds=(0, 1), bins=2), PURE),
        (protected(ledger, max_rows=2), Count(), PURE),
        (protected(ledger, neighbors="replace"), Count(), PURE),
        (protected(ledger, unit="g"), Count(), PURE),
        (protected(ledger, unit=None, max_rows=None), Count(), PURE),
        (protected(ledger, name="others"), Count(), PURE),
        (protected(ledger, version="2026-11"), Count(), PURE),
        (protected(ledger, version="2026-12"), Count(), PURE),
    ]  # fmt: skip
    keys = [
        table.explain(question, privacy=price).to_dict()["key"] for table, question, price in asked
    ]
    assert len(set(keys)) == len(asked)
    assert ledger.spent == ln.Privacy(0, 0)
    both = people.explain(Count(), Count(where="x < 3"), privacy=PURE).to_dict()["key"]
    assert both not in keys


def test_a_key_stands_for_one_question(people: ProtectedTable, ledger: ln.Ledger) -> None:
    people.count(privacy=PRICE, key="how many")
    with pytest.raises(InvalidParameter, match="used with a different query"):
        people.count(where="x < 3", privacy=PRICE, key="how many")
    assert ledger.spent == PRICE


def test_questions_asked_together_are_one_entry(people: ProtectedTable, ledger: ln.Ledger) -> None:
    asked = [Count(), Sum("x", bounds=(0, 4)), Count(by="g", max_groups=1, groups=["a", "b"])]
    first = people.ask(asked, privacy=PURE, key="three")
    assert len(ledger.releases) == 1
    spent = ledger.spent
    assert spent.epsilon <= PURE.epsilon
    assert spent.delta <= PURE.delta
    again = people.ask(asked, privacy=PURE, key="three")
    assert list(map(str, map(_values, again))) == list(map(str, map(_values, first)))
    assert ledger.spent == spent


def _values(answer: Any) -> Any:
    if not isinstance(answer, GroupedAnswers):
        return answer.value
    return [{name: one for name, one in row.items() if name != "reused"} for row in answer.rows()]


def test_an_unrecorded_answer_says_so() -> None:
    people = protected(ln.UNRECORDED)
    one = people.count(privacy=PRICE)
    many = people.count(by="g", max_groups=1, groups=["a"], privacy=PRICE)
    assert (one.receipt, many.receipt) == (None, None)
    assert "; not recorded\n" in str(one)
    assert "Budget     not recorded" in str(many)
    with pytest.raises(InvalidParameter, match="need a ledger"):
        people.count(privacy=PRICE, key="how many")


def test_a_ledger_must_be_given() -> None:
    with pytest.raises(InvalidParameter, match="ledger must be a Ledger, or UNRECORDED"):
        ln.protect(pa.table(COLUMNS), unit=None, ledger=None)  # type: ignore[call-overload]


# --------------------------------------------------------------------------------------- killed


def _kill_while_the_engine_works(path: Path, begun: Path) -> bool:
    """Kill a forked process between its charge and its answer; return whether it was there."""
    from leastnoise.tables import execute

    def hanging(source: Any, expression: Any) -> Any:
        begun.touch()
        signal.pause()

    def work() -> None:
        with ln.Ledger(path) as ledger:
            setattr(execute, "fetch", hanging)  # noqa: B010 -- a name that execute imports
            protected(ledger).count(privacy=PRICE)

    child = forked(work)
    while not begun.exists() and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
    return killed(child)


def _ask_three_times(path: Path, said: Path) -> list[int]:
    """Return the exit codes of three processes that write the same answer to a file."""

    def again() -> None:
        with ln.Ledger(path) as ledger, said.open("a") as file:
            file.write(f"{protected(ledger).count(privacy=PRICE).value}\n")

    return waited([forked(again) for _ in range(3)])


def test_killed_while_the_engine_works_the_charge_stands_and_there_is_one_answer(
    tmp_path: Path,
) -> None:
    """In interpreters of their own, because libraries of other tests can crash a forked process."""
    path, said = tmp_path / "people.ledger", tmp_path / "said"
    ln.Ledger(path, limit=LIMIT).close()
    assert apart(_kill_while_the_engine_works, path, tmp_path / "begun")
    with ln.Ledger(path) as ledger:
        assert ledger.spent == PRICE
    assert apart(_ask_three_times, path, said) == [0] * 3
    with ln.Ledger(path) as ledger:
        assert ledger.spent == PRICE
    lines = said.read_text().splitlines()
    assert (len(lines), len(set(lines))) == (3, 1)
