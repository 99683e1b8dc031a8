"""One ledger, several threads, forks and processes; in SQLite."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from leastnoise.errors import BudgetExceeded
from leastnoise.ledger.rows import ANSWER, CHARGE
from tests.support.ledger_files import Privacy, charged, child, kinds, ln, mechanism, quick_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as name:
        yield Path(name)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "people.ledger"


# ------------------------------------------------------------------ threads and processes


def test_threads_share_one_ledger(path: Path) -> None:
    ledger = ln.Ledger(path, limit=Privacy(2))
    given, together = mechanism(), threading.Barrier(32)
    own: list[Any] = []
    same: list[Any] = []
    refused: list[BudgetExceeded] = []

    def work() -> None:
        together.wait()
        same.append(given.release(1, ledger=ledger, key="same").index)
        try:
            own.append(given.release(1, ledger=ledger).index)
        except BudgetExceeded as error:
            refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(same) == 32
    assert len(set(same)) == 1
    assert (len(own), len(set(own)), len(refused)) == (19, 19, 13)
    assert ledger.remaining == Privacy(0, 0)
    assert kinds(ledger).count(CHARGE) == 20
    ledger.verify()


def test_a_ledger_can_be_used_on_both_sides_of_a_fork(path: Path) -> None:
    """Also once the parent has closed it: SQLite would delete the WAL under the child."""
    ledger = ln.Ledger(path, limit=Privacy(1))
    parent = mechanism().release(1, ledger=ledger, key="parent")
    go, gone = os.pipe()

    def work(say: Callable[[bytes], object]) -> None:
        assert mechanism().release(1, ledger=ledger, key="parent").index == parent.index
        mechanism().release(1, ledger=ledger, key="child")
        os.read(go, 1)
        mechanism().release(1, ledger=ledger, key="last")

    _, end = child(work)
    while len(kinds(ledger)) < 7:
        time.sleep(0.001)
    mechanism().release(1, ledger=ledger, key="after")
    ledger.close()
    with ln.Ledger(path) as third:  # opened and closed meanwhile, which tidies up, too
        assert third.spent == Privacy("0.3")
    os.write(gone, b".")
    assert end() == b"."
    for pipe in (go, gone):
        os.close(pipe)
    with ln.Ledger(path) as ledger:
        answered = [row.key for row in ledger.rows() if row.kind == ANSWER]
        assert answered == ["parent", "child", "after", "last"]
        assert ledger.verify().seq == 11


def test_a_fork_waits_for_other_threads_to_write(path: Path) -> None:
    """A lock that another thread holds at a fork would never be released in the child."""
    ledger = ln.Ledger(path, limit=Privacy(10**6))
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            charged(ledger, "1e-9")

    def charge(key: str, _: Callable[[bytes], object]) -> None:
        charged(ledger, 1, key=key)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for nth in range(8):
            _, end = child(partial(charge, f"child {nth}"))
            assert end() == b"."
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert math.floor(ledger.spent.epsilon) == 8
    ledger.verify()


def test_a_ledger_is_opened_and_read_while_another_process_writes(path: Path) -> None:
    ln.Ledger(path, limit=Privacy(10**6)).close()

    def work(_: Callable[[bytes], object]) -> None:
        with ln.Ledger(path) as ledger:
            while True:
                mechanism().release(1, ledger=ledger)

    process, end = child(work)
    try:
        seen = [Fraction(0)]
        for _ in range(8):
            with ln.Ledger(path) as ledger:
                seen.append(ledger.spent.epsilon)
                head = ledger.verify()
                mechanism().release(1, ledger=ledger)
                ledger.verify(head)
        assert seen == sorted(seen)
        assert all(later - before >= Fraction(1, 10) for before, later in pairwise(seen[1:]))
    finally:
        os.kill(process, signal.SIGKILL)
        end()
    with ln.Ledger(path) as ledger:
        ledger.verify()


def test_a_commit_is_on_disk_when_it_returns(path: Path) -> None:
    """No test pulls the plug; what is documented to survive that is asked for, and stays."""
    ledger = ln.Ledger(path, limit=Privacy(1))
    for _ in range(2):  # also once it was opened anew
        connection = ledger._chain._store._get_connection()
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert child(lambda _: ledger.spent)[1]() == b"."
