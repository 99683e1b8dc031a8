"""The ledger when things go wrong: killed at every step, disks full and failing, files cut short.

Commits are many here, so most tests work where a commit costs little; some are on the real disk.
"""

import os
import random
import resource
import signal
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
)
from leastnoise.ledger import Unrecorded
from leastnoise.ledger.rows import ANSWER, CHARGE
from leastnoise.mechanism.recording import Place
from tests.ledger_files import FILES, Privacy, child, copied, ln, mechanism, quick_folder

release: Any = import_module("leastnoise.mechanism.release")
MECHANISM = mechanism()
LIMIT = Privacy("0.3")


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as name:
        yield Path(name)


# ------------------------------------------------------------------ a child that dies


class Statements(sqlite3.Connection):
    """A connection that tells of every statement, before and after it."""

    told: Callable[[str, str], None]

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        type(self).told("before", sql)
        cursor = super().execute(sql, *parameters)
        type(self).told("after", sql)
        return cursor


@contextmanager
def telling(told: Callable[[str, str], None]) -> Iterator[None]:
    """Have connections that are opened meanwhile tell of every statement."""
    factory = type("Telling", (Statements,), {"told": staticmethod(told)})
    connect = sqlite3.connect
    sqlite3.connect = partial(connect, factory=factory)  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = connect


@contextmanager
def drawing(told: Callable[[], object]) -> Iterator[None]:
    """Have it told when noise is drawn."""
    way = release.way

    def telling_way(law: Any) -> Callable[[Any], int]:
        drawn = way(law)

        def draw(tape: Any) -> int:
            told()
            return int(drawn(tape))

        return draw

    release.way = telling_way
    try:
        yield
    finally:
        release.way = way


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ask(at: Path, **options: Any) -> int:
    """Open the ledger and release, as after a crash."""
    with ln.Ledger(at, **options) as ledger:
        index: int = MECHANISM.release(1, ledger=ledger, key="k").index
        return index


def killed(at: Path, step: int, when: str, **options: Any) -> bytes:
    """Release in a child that is killed before or after a statement; return what it said.

    w when it begins to write, d when it draws, a and the answer when it has one, a dot at its end:
    there are fewer statements.
    """

    def work(say: Callable[[bytes], object]) -> None:
        steps = count()

        def told(now: str, sql: str) -> None:
            if sql == "BEGIN IMMEDIATE":
                say(b"w")
            if now == when and next(steps) == step:
                die()

        with telling(told), drawing(lambda: say(b"d")):
            say(f"a{ask(at, **options)}a".encode())

    return child(work)[1]()


def hold_together(at: Path, said: bytes, before: int = 0, **options: Any) -> None:
    """Check a ledger after a crash against what the killed process had said."""
    charges = answers = 0
    stored = None
    if at.exists():
        with sqlite3.connect(at) as reader:
            try:
                rows = reader.execute("SELECT kind, body FROM rows WHERE key = 'k'").fetchall()
            except sqlite3.OperationalError:  # killed before there was a table
                rows = []
        charges = sum(kind == CHARGE for kind, _ in rows)
        answers = sum(kind == ANSWER for kind, _ in rows)
        stored = [body for kind, body in rows if kind == ANSWER]
    assert charges <= 1, "charged twice"
    assert answers <= charges, "answered without a charge"
    assert charges or b"d" not in said, "drawn without a charge"
    assert answers or b"a" not in said, "left without being stored"
    index = ask(at, **options)
    if b"a" in said:
        assert index == int(said.split(b"a")[1]), "another answer under the same key"
    if stored:
        assert f'"{index:x}"' in stored[0]
    with ln.Ledger(at) as ledger:
        again = MECHANISM.release(1, ledger=ledger, key="k")
        assert again.index == index, "another answer the second time"
        assert ledger.spent == Privacy(Fraction(before + 1, 10)), "not charged once"


def kill_everywhere(
    folder: Path, times: int, *, new: bool = False, after: bool = True
) -> dict[str, int]:
    """Kill a release before and after each of its statements; return how many there were."""
    base, at = folder / "base", folder / "ledger"
    options: dict[str, Any] = {"limit": LIMIT} if new else {}
    if not new:
        with ln.Ledger(base, limit=LIMIT) as ledger:
            MECHANISM.release(1, ledger=ledger, key="before")
    found = {}
    for when in ("before", "after") if after else ("before",):
        for step in count():
            # After a statement is before the next, but for what is said between: once will do.
            for _ in range(times if when == "before" else 1):
                copied(base, at)
                said = killed(at, step, when, **options)
                hold_together(at, said, before=int(not new), **options)
                if b"w" not in said:  # only opened and read: once will do
                    break
            if b"." in said:
                found[when] = step
                break
    return found


@pytest.mark.parametrize("new", [False, True])
def test_killed_at_every_step(folder: Path, new: bool) -> None:
    steps = kill_everywhere(folder, 1 if new else 5, new=new)
    assert steps["before"] == steps["after"] > 30


@pytest.mark.long
@pytest.mark.parametrize("new", [False, True])
def test_killed_at_every_step_a_hundred_times(folder: Path, new: bool) -> None:
    kill_everywhere(folder, 10 if new else 100, new=new, after=False)


def test_killed_at_every_step_on_the_real_disk(tmp_path: Path) -> None:
    kill_everywhere(tmp_path, 1, after=False)


def drawn_first(self: Place, spending: Any, release: Any, form: Any) -> Any:
    """Release in the wrong order: what is drawn is charged and stored afterwards."""
    assert not isinstance(self.ledger, Unrecorded)
    written = form.written(release())
    receipt = self.ledger.charge(spending(), self.key, fresh=self.fresh)
    stored = self.ledger.stored(receipt) or self.ledger.store(receipt, *written)
    return form.read(stored.content, stored.payload), stored.receipt


def never_stored(self: Place, spending: Any, release: Any, form: Any) -> Any:
    """Release without storing."""
    assert not isinstance(self.ledger, Unrecorded)
    receipt = self.ledger.charge(spending(), self.key, fresh=self.fresh)
    return release(), receipt


def always_charged(self: Place, spending: Any, release: Any, form: Any) -> Any:
    """Charge again whenever it is asked again."""
    assert not isinstance(self.ledger, Unrecorded)
    receipt = self.ledger.charge(spending(), self.key, fresh=True)
    stored = self.ledger.store(receipt, *form.written(release()))
    return form.read(stored.content, stored.payload), stored.receipt


@pytest.mark.parametrize(
    ("naive", "how"),
    [
        (drawn_first, "drawn without a charge"),
        (never_stored, "left without being stored|another answer"),
        (always_charged, "charged twice|another answer"),
    ],
)
def test_killing_catches_a_release_in_the_wrong_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch, naive: Any, how: str
) -> None:
    """The tests above can fail."""
    monkeypatch.setattr(Place, "released", naive)
    with pytest.raises(AssertionError, match=how):
        kill_everywhere(folder, 1)


def kill_whenever(folder: Path, times: int, seed: int) -> None:
    """Kill a process that releases on and on at any moment, also within a statement."""
    at, dice = folder / "ledger", random.Random(seed)
    ln.Ledger(at, limit=Privacy(10**6)).close()
    given: dict[bytes, int] = {}
    charges = 0
    for turn in range(times):

        def work(say: Callable[[bytes], object], turn: int = turn) -> None:
            with ln.Ledger(at) as ledger:
                for nth in count():
                    key = f"{turn}-{nth}"
                    say(b"q%s " % key.encode())
                    index = MECHANISM.release(1, ledger=ledger, key=key).index
                    say(b"%s=%d " % (key.encode(), index))

        process, end = child(work)
        time.sleep(dice.uniform(0.005, 0.03))
        os.kill(process, signal.SIGKILL)
        words = end().split(b" ")
        given |= {word.split(b"=")[0]: int(word.split(b"=")[1]) for word in words if b"=" in word}
        asked = sum(word.startswith(b"q") for word in words)
        answered = sum(b"=" in word for word in words)
        with ln.Ledger(at) as ledger:
            after = sum(row.kind == CHARGE for row in ledger.rows())
            assert answered <= after - charges <= asked <= answered + 1
            assert ledger.spent == Privacy(Fraction(after, 10))
            for key, index in dice.sample(sorted(given.items()), min(3, len(given))):
                again = MECHANISM.release(1, ledger=ledger, key=key.decode())
                assert again.index == index
            charges = after
    with ln.Ledger(at) as ledger:
        ledger.verify()
        for key, index in given.items():
            again = MECHANISM.release(1, ledger=ledger, key=key.decode())
            assert (again.index, again.receipt.again) == (index, True)
        assert ledger.spent == Privacy(Fraction(charges, 10))
    assert given


def test_killed_at_any_moment(folder: Path) -> None:
    kill_whenever(folder, 25, seed=1)


@pytest.mark.long
def test_killed_at_any_moment_often(folder: Path, tmp_path: Path) -> None:
    kill_whenever(folder, 150, seed=2)
    kill_whenever(tmp_path, 100, seed=3)


# ------------------------------------------------------------------ a disk that is full


def release_until_full(at: Path, size: int) -> list[str]:
    """Release in a child whose files may not grow beyond a size; check what is left."""

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
                index = MECHANISM.release(1, ledger=ledger, key=f"{nth}").index
                say(f"{nth}={index} ".encode())
            except LedgerUnavailable:
                say(f"{nth}=full ".encode())

    said = [word.split("=") for word in child(work)[1]().decode().split() if "=" in word]
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
    base = folder / "base"
    ln.Ledger(base, limit=Privacy(1)).close()
    sizes = (*range(0, 40000, 1500), *range(40000, 140000, 6000))
    at = folder / "ledger"
    ends = [release_until_full(copied(base, at), size) for size in sizes]
    assert all("full" in end or "LedgerUnavailable" in end for end in ends[:3])
    assert any("full" in end and end[0] != "full" for end in ends)  # full in the midst of it
    assert "full" not in ends[-1]
    assert len(ends[-1]) == 4


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
                with pytest.raises(LedgerUnavailable, match="locked past the time-out"):
                    MECHANISM.release(1, ledger=ledger, key=key)
        assert not drawn
        assert ledger.spent == Privacy("0.1")  # reading waits for nobody
        with pytest.raises(LedgerUnavailable, match="Try again with the same key"):
            ledger.allow(Privacy(9))
    finally:
        os.kill(process, signal.SIGKILL)
        end()
    assert MECHANISM.release(1, ledger=ledger, key="k").index == first.index
    assert not MECHANISM.release(1, ledger=ledger, key="new").receipt.again


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


CODES = {
    sqlite3.SQLITE_BUSY: LedgerUnavailable,
    sqlite3.SQLITE_BUSY_SNAPSHOT: LedgerUnavailable,
    sqlite3.SQLITE_LOCKED: LedgerUnavailable,
    sqlite3.SQLITE_PROTOCOL: LedgerUnavailable,
    sqlite3.SQLITE_NOMEM: LedgerUnavailable,
    sqlite3.SQLITE_READONLY: LedgerUnavailable,
    sqlite3.SQLITE_READONLY_DBMOVED: LedgerUnavailable,
    sqlite3.SQLITE_FULL: LedgerUnavailable,
    sqlite3.SQLITE_IOERR: LedgerUnavailable,
    sqlite3.SQLITE_IOERR_FSYNC: LedgerUnavailable,
    sqlite3.SQLITE_IOERR_SHORT_READ: LedgerUnavailable,
    sqlite3.SQLITE_CANTOPEN: LedgerUnavailable,
    sqlite3.SQLITE_PERM: LedgerUnavailable,
    sqlite3.SQLITE_CORRUPT: LedgerDamaged,
    sqlite3.SQLITE_NOTADB: LedgerDamaged,
}


def failure(code: int) -> sqlite3.OperationalError:
    """Return the error that SQLite raises; its words, which may quote data, are a secret."""
    error = sqlite3.OperationalError("secret words")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("code", CODES)
def test_every_error_is_told_in_our_words(folder: Path, code: int) -> None:
    at = folder / "ledger"
    ledger = ln.Ledger(at, limit=LIMIT)
    MECHANISM.release(1, ledger=ledger, key="before")
    ledger.close()

    def told(now: str, sql: str) -> None:
        if (now, sql) == ("before", "BEGIN IMMEDIATE"):
            raise failure(code)

    said = "Nothing is released"
    with telling(told), pytest.raises(CODES[code], match=said) as caught:
        ask(at)
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    hold_together(at, b"", before=1)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_CORRUPT])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_error_at_every_step_leaves_all_in_order(folder: Path, code: int, when: str) -> None:
    """Before a statement, or after it took effect, as where a COMMIT was written and not told."""
    ln.Ledger(folder / "base", limit=LIMIT).close()
    for step in count():
        at = copied(folder / "base", folder / "ledger")
        steps = count()

        def told(now: str, _: str, steps: Iterator[int] = steps, step: int = step) -> None:
            if now == when and next(steps) == step:
                raise failure(code)

        drawn: list[int] = []
        with telling(told), drawing(partial(drawn.append, 1)):
            try:
                ask(at)
            except CODES[code]:
                pass
            else:
                break
        hold_together(at, b"d" * len(drawn))
    assert next(steps) <= step
    assert step > 30


# ------------------------------------------------------------------ faults by the dice


class Dice:
    """Faults that a seed chooses, and a model of what must hold whatever it chooses."""

    def __init__(self, at: Path, seed: int) -> None:
        self.at = at
        self.dice = random.Random(seed)
        self.rate = self.dice.choice([0.005, 0.02, 0.05])
        self.answers: dict[str, set[int]] = {}
        self.fresh: set[str] = set()  # keys of which there may be several answers
        self.key = ""

    def fault(self, _: str, __: str) -> None:
        if self.dice.random() < self.rate:
            raise failure(self.dice.choice([*CODES]))

    def charges(self, key: str | None = None) -> int:
        """Count what another process sees."""
        with sqlite3.connect(self.at) as reader:
            rows = reader.execute("SELECT key FROM rows WHERE kind = 'charge'").fetchall()
        reader.close()
        return sum(key is None or found == key for (found,) in rows)

    def drawn(self) -> None:
        """Check that what is drawn was charged."""
        sqlite3.connect, connect = self.connect, sqlite3.connect
        try:
            assert self.charges(self.key) > self.answered(self.key), "drawn without a charge"
        finally:
            sqlite3.connect = connect

    def answered(self, key: str) -> int:
        with sqlite3.connect(self.at) as reader:
            rows = reader.execute(
                "SELECT count(*) FROM rows WHERE kind = 'answer' AND key = ?", (key,)
            ).fetchone()
        reader.close()
        return int(rows[0])

    def play(self) -> None:
        """Release in the midst of faults, then look at what is there without any."""
        self.connect = sqlite3.connect
        ln.Ledger(self.at, limit=LIMIT).close()
        with telling(self.fault), drawing(self.drawn):
            ledger = None
            for _ in range(self.dice.randrange(3, 9)):
                ledger = self.turn(ledger)
            if ledger is not None:
                ledger.close()
        self.settle()

    def turn(self, ledger: Any) -> Any:
        """Release once, or fail; return the ledger to go on with."""
        self.key = f"k{self.dice.randrange(5)}"
        fresh = self.dice.random() < 0.1
        self.fresh |= {self.key} if fresh else set()
        try:
            if ledger is None:
                ledger = ln.Ledger(self.at)
            index = MECHANISM.release(1, ledger=ledger, key=self.key, fresh=fresh).index
        except (LedgerUnavailable, LedgerDamaged):
            again = self.dice.random() < 0.5
            return ledger if again else None  # with the same one, or with another
        except InvalidParameter:  # when it is opened: what is no database is no ledger
            assert ledger is None
            return None
        except BudgetExceeded:
            return ledger
        known = self.answers.setdefault(self.key, set())
        assert known <= {index} or self.key in self.fresh, "another answer under the same key"
        known.add(index)
        return ledger

    def settle(self) -> None:
        """Check the model."""
        with ln.Ledger(self.at) as ledger:
            ledger.verify()
            rows = list(ledger.rows())
            charges = [row.key for row in rows if row.kind == CHARGE]
            stored = [
                (row.key, int(row.content["answer"]["index"], 16))
                for row in rows
                if row.kind == ANSWER
            ]
            assert ledger.spent == Privacy(Fraction(len(charges), 10))
            assert len(charges) <= 3, "overspent"
            assert len(stored) <= len(charges), "more answers than charges"
            for key, indices in self.answers.items():
                assert indices <= {index for found, index in stored if found == key}, "not stored"
                if key not in self.fresh:
                    again = MECHANISM.release(1, ledger=ledger, key=key)
                    assert indices == {again.index}, "another answer afterwards"
            assert ledger.spent == Privacy(Fraction(len(charges), 10))


def play(folder: Path, seeds: range) -> None:
    for seed in seeds:
        at = folder / f"{seed}"
        try:
            Dice(at, seed).play()
        except AssertionError as error:
            raise AssertionError(f"with seed {seed}: {error}") from error
        for end in FILES:
            Path(f"{at}{end}").unlink(missing_ok=True)


def test_faults_by_the_dice(folder: Path) -> None:
    play(folder, range(500))


@pytest.mark.long
def test_ten_thousand_faults_by_the_dice(folder: Path) -> None:
    play(folder, range(1000, 11000))


@pytest.mark.parametrize(
    ("naive", "how"),
    [
        (drawn_first, "drawn without a charge"),
        (never_stored, "another answer|not stored"),
    ],
)
def test_the_dice_catch_a_release_in_the_wrong_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch, naive: Any, how: str
) -> None:
    """The tests above can fail."""
    monkeypatch.setattr(Place, "released", naive)
    with pytest.raises(AssertionError, match=how):
        play(folder, range(500))


# ------------------------------------------------------------------ a WAL that is cut short


class Cut:
    """A ledger whose process was killed in the midst of a transaction, and its commits."""

    def __init__(self, folder: Path) -> None:
        self.at = folder / "killed"
        self.copy = folder / "copy"
        log = f"{self.at}-wal"

        def work(say: Callable[[bytes], object]) -> None:
            def told(now: str, sql: str) -> None:
                if now == "after" and sql == "COMMIT":
                    with sqlite3.connect(self.at) as reader:
                        head = reader.execute("SELECT seq, hash FROM head").fetchone()
                    say(f"{os.path.getsize(log)} {head[0]} {head[1]}\n".encode())
                if now == "after" and sql.startswith("UPDATE head") and next(moves) == 10:
                    die()  # the last rows are in the file, and not committed

            moves = count()
            with telling(told):
                ledger = ln.Ledger(self.at, limit=Privacy(1))
                for key in ("one", "two", "three"):
                    MECHANISM.release(1, ledger=ledger, key=key)
                ledger._chain._store._connection.execute("PRAGMA cache_size = 1")
                MECHANISM.release(np.zeros(2000, dtype=int), ledger=ledger, key="many")

        lines = child(work)[1]().decode().splitlines()
        self.commits = sorted({(int(line.split()[0]), line.split()[1], line) for line in lines})
        self.size = os.path.getsize(log)
        self.last = self.commits[-1][0]
        self.log = Path(log).read_bytes()

    def head(self, length: int) -> str | None:
        """Return the head that a WAL cut to a length must give."""
        heads = [line.split() for size, _, line in self.commits if size <= length]
        return f"{heads[-1][1]}-{heads[-1][2]}" if heads else None

    def glance(self, length: int) -> None:
        """Check that a WAL cut to a length gives the head that it must, and the rows up to it."""
        copied(self.at, self.copy)
        Path(f"{self.copy}-shm").unlink()
        os.truncate(f"{self.copy}-wal", length)
        reader = sqlite3.connect(self.copy)
        (head,) = reader.execute("SELECT seq || '-' || hash FROM head").fetchone()
        (rows,) = reader.execute("SELECT max(seq) || '-' || count(*) FROM rows").fetchone()
        reader.close()
        seq = head.split("-")[0]
        assert (head, rows) == (self.head(length), f"{seq}-{seq}"), length

    def check(self, log: bytes, length: int) -> None:
        """Check that a WAL gives the head that it must; ``length`` is how much of it is good."""
        copied(self.at, self.copy)
        Path(f"{self.copy}-shm").unlink()  # it does not outlive a crash of the machine
        Path(f"{self.copy}-wal").write_bytes(log)
        head = self.head(length)
        witness = self.commits[-1][2].split()
        if head is None or head.startswith("0-"):
            with ln.Ledger(self.copy, limit=Privacy(1)) as ledger:  # nothing was there yet
                assert ledger.spent == Privacy(0, 0)
        else:
            with ln.Ledger(self.copy) as ledger:
                assert str(ledger.verify()) == head, length
                keys = [row.key for row in ledger.rows() if row.kind == CHARGE]
                assert len(keys) == len(set(keys))
                assert ledger.spent == Privacy(Fraction(len(keys), 10))
                if length < self.last:
                    with pytest.raises(LedgerDamaged, match="an older copy"):
                        ledger.verify(f"{witness[1]}-{witness[2]}")
                else:
                    ledger.verify(f"{witness[1]}-{witness[2]}")


@pytest.fixture(scope="module")
def cut() -> Iterator[Cut]:
    with quick_folder() as name:
        yield Cut(Path(name))


FRAME = 24 + 4096


def test_a_wal_cut_anywhere_gives_what_was_committed_before(cut: Cut) -> None:
    assert len(cut.commits) > 8
    assert cut.size > cut.last + 2 * FRAME  # there are frames without a commit
    edges = range(32, cut.size + 1, FRAME)
    places = {edge + near for edge in edges for near in (-1, 0, 1)} | set(range(0, cut.size, 4999))
    for length in sorted(place for place in places if 0 <= place <= cut.size):
        cut.check(cut.log[:length], length)


@pytest.mark.long
def test_a_wal_cut_at_every_byte_after_the_last_commit(cut: Cut) -> None:
    """Of the frame after it every byte; of the commit itself and of later frames many."""
    places = {*range(cut.last - FRAME, cut.last + FRAME + 50)}
    places |= {*range(cut.commits[-2][0], cut.size + 1, 17)}
    for length in sorted(places):
        if length % 101:
            cut.glance(length)
        else:
            cut.check(cut.log[:length], length)


def test_garbage_after_the_last_commit_loses_nothing(cut: Cut) -> None:
    dice = random.Random(4)
    for length in (1, 23, 24, 25, FRAME - 1, FRAME, FRAME + 1, 10 * FRAME):
        for end in (cut.last, cut.size):
            cut.check(cut.log[:end] + dice.randbytes(length), end)
            cut.check(cut.log[:end] + bytes(length), end)
    for frame in range(32, cut.last, FRAME):  # frames that were good once, out of their place
        cut.check(cut.log[: cut.last] + cut.log[frame : frame + FRAME] * 2, cut.last)


def test_a_changed_byte_of_the_wal_gives_an_earlier_state_that_a_witness_tells(cut: Cut) -> None:
    dice = random.Random(5)
    for _ in range(60):
        place = dice.randrange(32, cut.last)
        log = bytearray(cut.log)
        log[place] ^= 1 << dice.randrange(8)
        frame = 32 + (place - 32) // FRAME * FRAME
        cut.check(bytes(log), frame)
