"""The ledger when its database fails: disks full and failing, locked, and faults by the dice.

Commits are many here, so files are where a commit costs little.
"""

import os
import resource
import signal
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from leastnoise.ledger.recording import Recording
from leastnoise.ledger.rows import ANSWER, CHARGE
from leastnoise.ledger.stores.sqlite import SqliteStore
from tests.support.ledger_files import Privacy, child, ln, mechanism, quick_folder
from tests.support.postgres_servers import Server
from tests.support.random_faults import play
from tests.support.traced_database import InDatabase
from tests.support.traced_ledgers import (
    GAUSSIAN_LIMIT,
    LIMIT,
    SECRET,
    Alarm,
    InFile,
    Kept,
    ask,
    charged_for,
    drawing,
    drawn_first,
    hold_together,
    in_small,
    never_stored,
    wrong_everywhere,
)

MECHANISM = mechanism()


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as name:
        yield Path(name)


# ------------------------------------------------------------------ a disk that is full


def release_until_full(kept: InFile, size: int) -> list[str]:
    """Release in a child whose files may not grow beyond a size; check what is left."""
    kept.again()
    at = kept.where

    def work(say: Callable[[bytes], object]) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(1)[1]))
        try:
            ledger = ln.Ledger(at)
        except (LedgerUnavailable, LedgerDamaged) as error:
            say(f"none={type(error).__name__} ".encode())
            return
        for nth in range(4):
            try:
                with drawing(partial(charged_for, kept, f"{nth}")):
                    index = MECHANISM.release(1, ledger=ledger, key=f"{nth}").index
                say(f"{nth}={index} ".encode())
            except LedgerUnavailable:
                say(f"{nth}=full ".encode())
            except Alarm:
                say(f"{nth}=early ".encode())

    said = [word.split("=") for word in child(work)[1]().decode().split() if "=" in word]
    assert "early" not in dict(said).values(), "drawn without a charge"
    with ln.Ledger(at) as ledger:
        ledger.verify()
        rows = list(ledger.rows())
        for key, index in said:
            if key != "none" and index != "full":
                assert MECHANISM.release(1, ledger=ledger, key=key).index == int(index)
        answered = {key for key, index in said if index not in ("full", "LedgerUnavailable")}
        charged = [row.key for row in rows if row.kind == CHARGE]
        assert answered <= set(charged)
        assert len(charged) == len(set(charged))
        for nth in range(4):  # there is room again
            MECHANISM.release(1, ledger=ledger, key=f"{nth}")
        assert ledger.spent == Privacy("0.4")
        ledger.verify()
    return [index for _, index in said]


def test_a_full_disk_answers_nothing_and_loses_nothing(folder: Path) -> None:
    kept = InFile(folder)
    kept.begin(0, limit=Privacy(1))
    sizes = (*range(0, 40000, 1500), *range(40000, 140000, 6000))
    ends = [release_until_full(kept, size) for size in sizes]
    assert all("full" in end or "LedgerUnavailable" in end for end in ends[:3])
    assert any("full" in end and end[0] != "full" for end in ends)  # full in the midst of it
    assert "full" not in ends[-1]
    assert len(ends[-1]) == 4


# ------------------------------------------------------------------ a server's disk that is full


def release_on_a_full_server(kept: InDatabase, server: Server, values: int, size: int) -> list[str]:
    """Release where a session's files may not grow beyond a size; check what is left.

    Return what became of each release.
    """
    kept.again()
    kept.begin_a_log()
    given: dict[str, Any] = {}
    ends: list[str] = []
    many = np.zeros(values, dtype=int)
    with ln.Ledger(kept.where, timeout=60) as ledger:
        ledger.verify()
        session = ledger._chain._store._connection.info.backend_pid
        server.limit(session, size)
        for key in KEYS:
            try:
                with drawing(partial(charged_for, kept, key)):
                    given[key] = MECHANISM.release(many, ledger=ledger, key=key).values
                ends.append("answered")
            except LedgerUnavailable as error:
                ends.append("lost" if "or was lost" in str(error) else "full")
            found = [(kind, key) for kind, key, _ in kept.rows()]
            assert all((kind, key) in found for key in given for kind in (CHARGE, ANSWER))
        server.limit(session, -1)
        for key in KEYS:
            again = insisted(partial(MECHANISM.release, many, ledger=ledger, key=key)).values
            assert key not in given or (again == given[key]).all()
        ledger.verify()
        assert ledger.spent == LIMIT
    assert [kind for kind, *_ in kept.rows()].count(CHARGE) == len(KEYS)
    return ends


KEYS = ("one", "two", "three")


def insisted(ask: Callable[[], Any]) -> Any:
    """Ask again as long as the server is starting."""
    for _ in range(200):
        with suppress(LedgerUnavailable):
            return ask()
        time.sleep(0.05)
    raise AssertionError("there is room, and it is still away")


def test_a_full_disk_of_the_server_answers_nothing_and_loses_nothing(
    kept_in_crashing: InDatabase, postgres_of_its_own: Server
) -> None:
    """Where its log cannot be written the server starts again; else a table cannot grow."""
    kept_in_crashing.begin(0)
    release = partial(release_on_a_full_server, kept_in_crashing, postgres_of_its_own)
    assert "lost" in release(10, 8192)
    assert "full" in release(40000, 1 << 18)
    assert release(10, 1 << 26) == ["answered"] * 3


# ------------------------------------------------------------------ locked, failing


def test_locked_past_the_time_out(folder: Path) -> None:
    at = folder / "ledger"
    ledger = ln.Ledger(at, limit=LIMIT, timeout="0.05")
    first = MECHANISM.release(1, ledger=ledger, key="k")

    def work(say: Callable[[bytes], object]) -> None:
        other = sqlite3.connect(at, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        say(b".")
        time.sleep(600)

    process, end = child(work)
    try:
        while not locked(at):
            time.sleep(0.001)
        drawn: list[int] = []
        with drawing(lambda: drawn.append(1)):
            for key in (None, "k", "new"):
                with pytest.raises(LedgerUnavailable, match="locked it past the timeout"):
                    MECHANISM.release(1, ledger=ledger, key=key)
        assert not drawn
        assert ledger.spent == Privacy("0.1")  # reading waits for nobody
        with pytest.raises(LedgerUnavailable, match="Repeat the query with the same key"):
            ledger.set_limit(Privacy(9))
    finally:
        os.kill(process, signal.SIGKILL)
        end()
    assert MECHANISM.release(1, ledger=ledger, key="k").index == first.index
    assert not MECHANISM.release(1, ledger=ledger, key="new").receipt.reused


def locked(at: Path) -> bool:
    other = sqlite3.connect(at, timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    finally:
        other.close()
    return False


@pytest.mark.parametrize("timeout", [60, 1e10, 10**400])
def test_a_writer_waits_for_another_that_ends_in_time(folder: Path, timeout: float) -> None:
    at = folder / "ledger"
    ledger = ln.Ledger(at, limit=LIMIT, timeout=timeout)

    def work(say: Callable[[bytes], object]) -> None:
        other = sqlite3.connect(at, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        os.read(go, 1)
        other.execute("COMMIT")

    go, gone = os.pipe()
    _, end = child(work)
    while not locked(at):
        time.sleep(0.001)
    threading.Timer(0.1, lambda: os.write(gone, b".")).start()
    MECHANISM.release(1, ledger=ledger)
    assert end() == b"."
    os.close(go)
    os.close(gone)
    assert ledger.spent == Privacy("0.1")


# ------------------------------------------------------------------ a statement that fails


@pytest.mark.parametrize("name", InFile.errors)
def test_every_error_of_a_file_is_told_in_our_words(folder: Path, name: str) -> None:
    told_in_our_words(InFile(folder), name)


@pytest.mark.parametrize("name", InDatabase.errors)
def test_every_error_of_a_server_is_told_in_our_words(
    kept_in_database: InDatabase, name: str
) -> None:
    told_in_our_words(kept_in_database, name)


def told_in_our_words(kept: Kept, name: str) -> None:
    """Fail when a row is written: what the database says of it stays unsaid."""
    kept.begin(1)

    def told(now: str, sql: str, connection: Any) -> None:
        if now == "before" and sql.startswith(("INSERT", "WITH moved")):
            kept.fail(name, connection)

    said = "Nothing was released"
    with kept.telling(told), pytest.raises(kept.errors[name], match=said) as caught:
        ask(kept.where)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    hold_together(kept, b"", before=1)


@pytest.mark.parametrize("kind", [LedgerUnavailable, LedgerDamaged])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_error_at_every_step_leaves_all_in_order(
    kept: Kept, kind: type[Exception], when: str
) -> None:
    """Before a statement, or after it took effect, as where a COMMIT was written and not told."""
    names = {"IOERR_FSYNC", "CORRUPT", "IoError", "DataCorrupted"}
    (name,) = (name for name in names & kept.errors.keys() if kept.errors[name] is kind)
    fail = partial(kept.fail, name)
    steps, raised = wrong_everywhere(kept, when, fail, kind)
    assert steps == raised >= 23


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interruption_at_every_step_leaves_all_in_order(kept: Kept, when: str) -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    steps, raised = wrong_everywhere(kept, when, interrupt, KeyboardInterrupt)
    assert steps == raised >= 23


def test_an_interruption_that_costs_the_connection_is_no_reason_to_go_on(
    kept_in_database: InDatabase,
) -> None:
    """To connect anew is for those whose connection was lost, not for those who want to end."""

    def interrupt(connection: Any) -> None:
        if connection is not None:
            connection.pgconn.finish()
        raise KeyboardInterrupt

    steps, raised = wrong_everywhere(kept_in_database, "before", interrupt, KeyboardInterrupt)
    assert steps == raised >= 23


def test_a_file_that_cannot_be_rolled_back_is_not_kept_locked(folder: Path) -> None:
    """Also where somebody still holds what was being read: SQLite then puts off its closing."""
    kept = InFile(folder)
    kept.begin(1)
    held: list[Any] = []

    def told(now: str, sql: str, _: Any) -> None:
        if (now, sql) == ("before", "ROLLBACK"):
            raise KeyboardInterrupt

    def fail(store: SqliteStore) -> None:
        with store.writing() as page:
            held.append(page.rows(0))
            next(held[0])
            raise ValueError

    with kept.telling(told):
        store = SqliteStore(kept.where, timeout=10, create=False)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            fail(store)
    assert not locked(kept.where)
    store.close()


# ------------------------------------------------------------------ faults by the dice


def test_faults_by_the_dice(kept: Kept) -> None:
    in_small(play, kept, seeds=range(150 if isinstance(kept, InFile) else 100))


GAUSSIAN: dict[str, Any] = {"limit": GAUSSIAN_LIMIT, "accounting": "gaussian"}


def test_faults_by_the_dice_in_an_allocation(kept: Kept) -> None:
    in_small(play, kept, seeds=range(100 if isinstance(kept, InFile) else 60), **GAUSSIAN)


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_two_thousand_faults_by_the_dice_in_an_allocation(kept: Kept, part: int) -> None:
    in_small(play, kept, seeds=range(1000 * (part + 1), 1000 * (part + 2)), **GAUSSIAN)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_faults_by_the_dice(kept: Kept, part: int) -> None:
    """In parts, so that several processes can share them."""
    in_small(play, kept, seeds=range(1000 * (part + 1), 1000 * (part + 2)))


def test_a_full_disk_catches_a_release_in_the_wrong_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of full disks can fail."""
    monkeypatch.setattr(Recording, "release", drawn_first)
    kept = InFile(folder)
    kept.begin(0, limit=Privacy(1))
    with pytest.raises(AssertionError, match="drawn without a charge"):
        release_until_full(kept, 40000)


@pytest.mark.parametrize(
    ("naive", "how"),
    [
        (drawn_first, "drawn without a charge"),
        (never_stored, "another answer|not stored"),
    ],
)
@pytest.mark.parametrize("begin", [{}, GAUSSIAN], ids=["basic", "gaussian"])
def test_the_dice_catch_a_release_in_the_wrong_order(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, naive: Any, how: str, begin: dict[str, Any]
) -> None:
    """The tests above can fail."""
    monkeypatch.setattr(Recording, "release", naive)
    with pytest.raises(AssertionError, match=how):
        play(kept, range(100), **begin)
