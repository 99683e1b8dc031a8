"""Processes that race for the last of a limit, and are killed while they do, on both stores.

A race shows nothing if the loser cannot be seen: the same race is run with two ledgers that read,
check and write, and both overspend.
"""

import json
import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import psycopg
import pytest

from leastnoise.core.privacy import Privacy
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
)
from leastnoise.ledger.allocations import Allocations
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import CHARGE
from leastnoise.ledger.stores import open_store
from tests.support.ledger_files import PRICE, counting
from tests.support.postgres_servers import Server
from tests.support.processes import Outlet, apart, forked, killed, waited
from tests.support.racing_processes import PATIENT, Found, Race, begun, killing, spend, times

# ------------------------------------------------------------------------------------ killed


def test_kills_do_not_overspend(place: str, tmp_path: Path) -> None:
    apart(partial(killing, kills=60), place, Outlet(tmp_path / "published"))


def test_kills_do_not_overspend_an_allocation(place: str, tmp_path: Path) -> None:
    apart(partial(killing, kills=40, allocation=True), place, Outlet(tmp_path / "published"))


@pytest.mark.long
def test_many_kills_do_not_overspend_an_allocation(places: Iterator[str], tmp_path: Path) -> None:
    for part in range(2):
        work = partial(killing, kills=250, allocation=True)
        apart(work, next(places), Outlet(tmp_path / f"published{part}"))


@pytest.mark.long
def test_a_thousand_kills_do_not_overspend(places: Iterator[str], tmp_path: Path) -> None:
    for part in range(4):  # so that there is always something left to race for
        apart(partial(killing, kills=250), next(places), Outlet(tmp_path / f"published{part}"))


def holding(place: str) -> int:
    """Return a process that holds the lock for writing, with a row written, and keeps it."""
    told, tell = os.pipe()

    def hold() -> None:
        with Ledger(place) as ledger:
            ledger.verify()
            with open_store(place, timeout=PATIENT, create=False).writing() as page:
                last = next(page.rows(page.head().seq - 1))
                page.append(last.after(last.head, CHARGE, "unfinished", {}))
                os.write(tell, b".")
                time.sleep(PATIENT)

    child = forked(hold)
    assert os.read(told, 1) == b"."
    os.close(told)
    os.close(tell)
    return child


def test_who_is_killed_with_the_lock_leaves_neither_lock_nor_row(place: str) -> None:
    begun(place, 1)
    with Ledger(place) as ledger:
        before = ledger.head
        child = holding(place)
        killed(child)
        assert ledger.verify() == before
        counting().release(7, ledger=ledger)
        assert ledger.remaining == Privacy(0)


def test_a_ledger_that_stays_locked_answers_nothing(place: str) -> None:
    begun(place, 1)
    child = holding(place)
    os.kill(child, signal.SIGSTOP)
    try:
        with Ledger(place, timeout="0.1") as ledger:
            with pytest.raises(LedgerUnavailable, match="past the timeout"):
                counting().release(7, ledger=ledger, key="a")
            assert ledger.spent == Privacy(0)  # to read is not to wait
    finally:
        killed(child)
    with Ledger(place) as ledger:
        counting().release(7, ledger=ledger, key="a")
        assert ledger.remaining == Privacy(0)


# ------------------------------------------------------------------------------------ one key


def retried(
    place: str, published: Outlet, *, processes: int, threads: int, times_each: int
) -> None:
    """Ask one question from everywhere at once."""
    begun(place, 3)
    everyone = get_context("fork").Barrier(processes)

    def ask(ledger: Ledger) -> None:
        for _ in range(times_each):
            answer = counting().release(7, ledger=ledger, key="the one question")
            assert answer.receipt is not None
            published.say(answer.value, answer.receipt.charge, answer.receipt.head)

    def work() -> None:
        with Ledger(place, timeout=PATIENT) as ledger:
            crew = [threading.Thread(target=ask, args=(ledger,)) for _ in range(threads)]
            everyone.wait(PATIENT)
            for thread in crew:
                thread.start()
            for thread in crew:
                thread.join()

    assert waited([forked(work) for _ in range(processes)]) == [0] * processes
    said = published.lines()
    assert len(said) == processes * threads * times_each  # nobody fell out
    assert len({tuple(line) for line in said}) == 1
    found = Found(place)
    assert found.charges == Counter({"the one question": 1})
    assert found.stored == [("the one question", int(said[0][0]))]
    assert found.spent == PRICE


def test_retries_of_one_key_are_one_charge_and_one_answer(place: str, tmp_path: Path) -> None:
    retried(place, Outlet(tmp_path / "published"), processes=8, threads=5, times_each=5)


@pytest.mark.long
def test_a_thousand_retries_are_one_charge_and_one_answer(place: str, tmp_path: Path) -> None:
    retried(place, Outlet(tmp_path / "published"), processes=10, threads=10, times_each=10)


def test_the_limits_of_analysts_and_of_the_data_set_hold_at_once(
    place: str, tmp_path: Path
) -> None:
    begun(place, 50, analyst="ada", analyst_limit=times(30))
    Ledger(place, analyst="ben", analyst_limit=times(35)).close()
    outlets = {who: Outlet(tmp_path / who) for who in ("ada", "ben")}

    def worker(number: int, who: str) -> int:
        return forked(lambda: spend(place, f"{who}{number}", outlets[who], who))

    children = [worker(number, who) for number in range(4) for who in outlets]
    assert waited(children) == [0] * 8
    found = Found(place)
    assert found.charges.total() == 50
    assert found.analysts["ada"] <= 30
    assert found.analysts["ben"] <= 35
    for who, outlet in outlets.items():
        assert len(outlet.lines()) == found.analysts[who]
    with Ledger(place) as ledger:
        spent = {account.analyst: account.spent for account in ledger.accounts}
    assert spent == {None: times(50)} | {who: times(found.analysts[who]) for who in outlets}


def test_a_ledger_begun_by_many_at_once_is_one(place: str) -> None:
    counting()
    everyone = get_context("fork").Barrier(8)

    def begin() -> None:
        everyone.wait(PATIENT)
        with Ledger(place, limit=times(5), timeout=PATIENT) as ledger:
            assert ledger.limit == times(5)

    assert waited([forked(begin) for _ in range(8)]) == [0] * 8
    with Ledger(place) as ledger:
        assert [row.kind for row in ledger.rows()] == ["opened", "limit"]


def test_a_ledger_that_was_open_at_a_fork_is_shared(place: str, tmp_path: Path) -> None:
    begun(place, 60)
    published = Outlet(tmp_path / "published")
    with Ledger(place, timeout=PATIENT) as ledger:
        assert ledger.spent == Privacy(0)

        def spend_inherited(name: str) -> None:
            for number in range(15):
                key = f"{name}-{number}"
                published.say(key, counting().release(7, ledger=ledger, key=key).value)

        def worker(name: str) -> int:
            return forked(lambda: spend_inherited(name))

        children = [worker(name) for name in ("one", "two", "three")]
        spend_inherited("parent")
        assert waited(children) == [0] * 3
    Found(place).hold(published, 60)


# ------------------------------------------------------------------------------------ controls

CAP = 3


class ReadCheckWrite:
    """A ledger as it is often written; the gate opens when everyone has read."""

    def __init__(self, gate: Callable[[], object]) -> None:
        self._gate = gate

    def read(self) -> int:
        raise NotImplementedError

    def write(self, spent: int) -> None:
        raise NotImplementedError

    def charge(self) -> bool:
        spent = self.read()
        fits = spent < CAP
        self._gate()
        if fits:
            self.write(spent + 1)
        return fits


class InJson(ReadCheckWrite):
    def __init__(self, path: Path, gate: Callable[[], object]) -> None:
        super().__init__(gate)
        self._path = path

    def read(self) -> int:
        return int(json.loads(self._path.read_text())) if self._path.exists() else 0

    def write(self, spent: int) -> None:
        fresh = self._path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(spent))
        fresh.replace(self._path)


class InSqlite(ReadCheckWrite):
    def __init__(self, path: Path, gate: Callable[[], object]) -> None:
        super().__init__(gate)
        self._connection = sqlite3.connect(path, timeout=PATIENT)
        self._connection.execute("CREATE TABLE IF NOT EXISTS spent (amount INTEGER)")

    def read(self) -> int:
        (spent,) = self._connection.execute("SELECT max(amount) FROM spent").fetchone()
        return spent or 0

    def write(self, spent: int) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO spent VALUES (?)", (spent,))


def charged_by_eight(work: Callable[[Callable[[], object]], bool], seen: Outlet) -> int:
    """Have eight processes charge once each, at the same time; return how many were let."""
    everyone = get_context("fork").Barrier(8)

    def charge() -> None:
        seen.say(work(lambda: everyone.wait(PATIENT)))

    assert waited([forked(charge) for _ in range(8)]) == [0] * 8
    return seen.lines().count(["True"])


@pytest.mark.parametrize("kind", [InJson, InSqlite])
def test_a_ledger_that_reads_checks_and_writes_overspends(
    kind: type[InJson | InSqlite], tmp_path: Path
) -> None:
    kind(tmp_path / "naive", lambda: None)  # the table is made by one
    let = charged_by_eight(
        lambda gate: kind(tmp_path / "naive", gate).charge(), Outlet(tmp_path / "seen")
    )
    assert let == 8 > CAP


def test_in_the_same_race_this_ledger_does_not(place: str, tmp_path: Path) -> None:
    begun(place, CAP)

    def charge(gate: Callable[[], object]) -> bool:
        with Ledger(place, timeout=PATIENT) as ledger:
            fits = ledger.remaining.epsilon >= PRICE.epsilon
            gate()  # everyone has looked, and it fits for all
            assert fits
            try:
                counting().release(7, ledger=ledger)
            except BudgetExceeded:
                return False
            return True

    assert charged_by_eight(charge, Outlet(tmp_path / "seen")) == CAP
    assert Found(place).charges.total() == CAP


def charge_allocation(place: str, gate: Callable[[], object]) -> bool:
    """Look whether a release fits into an allocation; once everyone has looked, release."""
    with Race(allocation=True).open(place) as ledger:
        fits = counting().gaussian_cost.fits(ledger.remaining.cost)  # type: ignore[attr-defined]
        gate()
        assert fits
        try:
            counting().release(7, ledger=ledger)
        except BudgetExceeded:
            return False
        return True


def test_in_the_same_race_an_allocation_is_not_overspent(place: str, tmp_path: Path) -> None:
    Race(allocation=True).begin(place, CAP)
    work = partial(charge_allocation, place)
    assert charged_by_eight(work, Outlet(tmp_path / "seen")) == CAP
    found = Found(place)
    assert found.charges.total() == CAP
    assert found.squares == CAP * counting().gaussian_cost.square


def test_an_allocation_without_its_check_is_overspent_and_found_out(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail, and an audit finds what such a ledger writes."""
    Race(allocation=True).begin(place, CAP)
    with monkeypatch.context() as naive:
        naive.setattr(Allocations, "fits", lambda *_: True)
        work = partial(charge_allocation, place)
        assert charged_by_eight(work, Outlet(tmp_path / "seen")) == 8 > CAP
    with pytest.raises(LedgerDamaged, match="has content that no ledger writes"):
        Found(place)


def test_an_allocation_made_by_many_at_once_is_one_charge(place: str) -> None:
    part = Privacy("0.4", "1e-7")
    Ledger(place, limit=Privacy(1, "1e-6")).close()
    everyone = get_context("fork").Barrier(8)

    def allocate() -> None:
        with Ledger(place, timeout=PATIENT) as ledger:
            everyone.wait(PATIENT)
            assert ledger.allocate("survey", part).limit == part

    assert waited([forked(allocate) for _ in range(8)]) == [0] * 8
    with Ledger(place) as ledger:
        assert [row.kind for row in ledger.rows()] == ["opened", "limit", "allocation"]
        assert ledger.spent == part


def test_of_many_who_begin_a_ledger_with_different_accounting_some_are_rejected(
    place: str,
) -> None:
    counting()
    everyone = get_context("fork").Barrier(8)
    limit = Privacy(1, "1e-6")

    def begin(accounting: str) -> None:
        everyone.wait(PATIENT)
        problem = ""
        try:
            with Ledger(place, limit=limit, accounting=accounting, timeout=PATIENT) as ledger:
                assert ledger.accounting == accounting
        except InvalidParameter as error:
            problem = str(error)
        assert not problem or "accounting, which never changes" in problem

    def started(accounting: str) -> int:
        return forked(lambda: begin(accounting))

    assert waited([started(kind) for kind in ("basic", "gaussian") * 4]) == [0] * 8
    with Ledger(place) as ledger:
        ledger.verify()
        kinds = [row.kind for row in ledger.rows()]
        gaussian = ledger.accounting == "gaussian"
        assert kinds == ["opened", "limit", *["allocation"] * gaussian]


# ------------------------------------------------------------------------------------ the server


def insist(place: str, name: str, published: Outlet) -> None:
    """Release under fresh keys until nothing is left, asking again whenever the server is away."""
    ledger = None
    for number in range(10**6):
        answer = None
        while answer is None:
            try:
                ledger = ledger or Ledger(place, timeout=PATIENT)
                answer = counting().release(7, ledger=ledger, key=f"{name}-{number}")
            except LedgerUnavailable:
                published.say("away", name)
                time.sleep(0.05)
            except BudgetExceeded:
                return
        published.say(f"{name}-{number}", answer.value)


def crashing(server: Server, published: Outlet, *, crashes: int) -> None:
    """Have processes spend while the server is killed, whole or one session, and comes back."""
    place, cap = server.database(), 20 * crashes + 80
    begun(place, cap)

    def worker(name: str) -> int:
        return forked(lambda: insist(place, name, published))

    children = [worker(f"process{number}") for number in range(4)]
    for crash in range(crashes):
        while sum(line[0] != "away" for line in published.lines()) < 20 * (crash + 1):
            time.sleep(0.005)
        if crash % 2:
            with psycopg.connect(server.address("postgres")) as connection:
                sessions = connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'leastnoise'"
                ).fetchall()
            for (session,) in sessions[:1]:  # the server then ends all others and recovers
                os.kill(session, signal.SIGKILL)
        else:
            server.kill()
            server.start()
    assert waited(children) == [0] * len(children)
    said = published.lines()
    assert any(line[0] == "away" for line in said), "no crash was noticed"
    found = Found(place)
    assert found.charges.total() == cap
    assert set(found.charges.values()) == {1}, "a key was charged again after a crash"
    assert found.spent == times(cap)
    # Nobody was killed but the server: every charge was answered, and every answer left.
    assert found.answers.keys() == found.charges.keys()
    assert {line[0]: int(line[1]) for line in said if line[0] != "away"} == found.answers


def test_a_server_that_is_killed_loses_nothing(postgres_of_its_own: Server, tmp_path: Path) -> None:
    crashing(postgres_of_its_own, Outlet(tmp_path / "published"), crashes=3)


@pytest.mark.long
def test_a_server_that_is_killed_often_loses_nothing(
    postgres_of_its_own: Server, tmp_path: Path
) -> None:
    crashing(postgres_of_its_own, Outlet(tmp_path / "published"), crashes=20)
