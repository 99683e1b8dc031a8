"""What tests of faults share: ledgers that tell of every statement, on either store.

A :class:`Kept` is one ledger that can be put back as it was, have its statements told, fail them,
and be read by other means than a ``Ledger``.
"""

import os
import random
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from leastnoise.ledger import Unrecorded
from leastnoise.ledger.recording import Recording
from leastnoise.ledger.rows import ANSWER, CHARGES
from tests.support.ledger_files import FILES, Privacy, child, copied, ln, mechanism
from tests.support.processes import apart, on_one_core

release: Any = import_module("leastnoise.core.release")
LIMIT = Privacy("0.3")
# A limit whose default allocation has room for three releases of 0.1, and not for four.
GAUSSIAN_LIMIT = Privacy(1, "1e-6")

# Told before and after a statement: when, the statement, and its connection if there is one.
Told = Callable[[str, str, Any], None]
T = TypeVar("T")
Found = tuple[str, str, str]  # of a row: kind, key, body
SELECT = "SELECT kind, key, body FROM {} ORDER BY seq"
SECRET = "secret words"  # what a database says may quote data


class Kept(Protocol):
    """A ledger on one of the stores."""

    where: Any
    errors: ClassVar[dict[str, type[Exception]]]

    def begin(self, releases: int, limit: Any = LIMIT, **options: Any) -> None:
        """Begin it, with so many releases to be there whenever it is put back."""

    def again(self) -> None:
        """Put it back as it was begun."""

    def nothing(self) -> None:
        """Have nothing there."""

    def rows(self) -> list[Found]:
        """Return the rows that everyone sees, without being told of."""

    def telling(self, told: Told) -> Any:
        """Have every statement told within a block."""

    def fail(self, name: str, connection: Any) -> None:
        """Fail as the database does that has this error."""

    def lose(self, dice: random.Random, connection: Any) -> None:
        """Go wrong in a way of this store's own."""


# ------------------------------------------------------------------ a file


class Statements(sqlite3.Connection):
    """A connection that tells of every statement, before and after it."""

    told: Told

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        type(self).told("before", sql, self)
        cursor = super().execute(sql, *parameters)
        try:
            type(self).told("after", sql, self)
        except BaseException:
            cursor.close()  # SQLite gives none where it fails; a traceback would keep this one
            raise
        return cursor


_connect = sqlite3.connect


class InFile:
    """A ledger in a SQLite file."""

    errors: ClassVar[dict[str, type[Exception]]] = {
        name: LedgerDamaged if name in ("CORRUPT", "NOTADB") else LedgerUnavailable
        for name in (
            "BUSY",
            "BUSY_SNAPSHOT",
            "LOCKED",
            "PROTOCOL",
            "NOMEM",
            "READONLY",
            "READONLY_DBMOVED",
            "FULL",
            "IOERR",
            "IOERR_FSYNC",
            "IOERR_SHORT_READ",
            "CANTOPEN",
            "PERM",
            "CORRUPT",
            "NOTADB",
        )
    }

    def __init__(self, folder: Path) -> None:
        self.where: Any = folder / "ledger"
        self._base = folder / "base"

    def begin(self, releases: int, limit: Any = LIMIT, **options: Any) -> None:
        begun(self._base, releases, limit, **options)
        self.again()

    def again(self) -> None:
        copied(self._base, self.where)

    def nothing(self) -> None:
        for end in FILES:
            Path(f"{self.where}{end}").unlink(missing_ok=True)

    def rows(self) -> list[Found]:
        if not self.where.exists():
            return []
        with closing(_connect(self.where)) as reader:
            try:
                return reader.execute(SELECT.format("rows")).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):  # killed before there was one
                    return []
                raise

    @contextmanager
    def telling(self, told: Told) -> Iterator[None]:
        factory = type("Telling", (Statements,), {"told": staticmethod(told)})
        sqlite3.connect = partial(_connect, factory=factory)  # type: ignore[assignment]
        try:
            yield
        finally:
            sqlite3.connect = _connect

    def fail(self, name: str, connection: Any) -> None:
        error = sqlite3.OperationalError(SECRET)
        error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
        raise error

    def lose(self, dice: random.Random, connection: Any) -> None:
        self.fail("IOERR", connection)


def in_small(work: Callable[..., T], kept: Kept, *arguments: Any, **options: Any) -> T:
    """Do something with a ledger in an interpreter that has little in memory."""
    there: Callable[[Kept], T] = partial(work, *arguments, **options)
    found: T = apart(_with_kept, kept.where, there)
    return found


def _with_kept(where: Any, work: Callable[[Kept], T]) -> T:
    if isinstance(where, Path):
        return work(InFile(where.parent))
    on_one_core()
    # What files do without is not loaded for them.
    from tests.support.traced_database import InDatabase

    database = InDatabase(where)
    try:
        with database.sessions.used_again():
            return work(database)
    finally:
        database.close()


# ------------------------------------------------------------------ releases that are watched


def begun(where: Any, releases: int, limit: Any, **options: Any) -> None:
    """Begin a ledger with so many releases."""
    with ln.Ledger(where, limit=limit, **options) as ledger:
        for number in range(releases):
            mechanism().release(1, ledger=ledger, key=f"before{number}")


@contextmanager
def drawing(told: Callable[[], object]) -> Iterator[None]:
    """Have it told when noise is drawn: one number, or the tape for many."""
    system, tape = release.SYSTEM, release.CipherTape

    class Telling:
        """The system's tape, which has it told that a word is read."""

        def word(self, bits: int) -> int:
            told()
            return int(system.word(bits))

        def words(self, count: int) -> int:
            told()
            return int(system.words(count))

    def telling_tape(*rest: Any) -> Any:
        told()
        return tape(*rest)

    release.SYSTEM, release.CipherTape = Telling(), telling_tape
    try:
        yield
    finally:
        release.SYSTEM, release.CipherTape = system, tape


class Alarm(BaseException):
    """What a test found in the midst of a release, which withholds every other error."""


def charged_for(kept: Kept, key: str) -> None:
    """Check that what is being drawn for a key was charged, as others see it."""
    kinds = [kind for kind, of, _ in kept.rows() if of == key]
    if sum(map(kinds.count, CHARGES)) <= kinds.count(ANSWER):
        raise Alarm("drawn without a charge")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ask(where: Any, **options: Any) -> int:
    """Open the ledger and release, as after a crash."""
    with ln.Ledger(where, **options) as ledger:
        index: int = mechanism().release(1, ledger=ledger, key="k").index
        return index


def hold_together(kept: Kept, said: bytes, before: int = 0, **options: Any) -> None:
    """Check a ledger after a crash against what was said: d for a draw, a…a for an answer."""
    rows = [(kind, body) for kind, key, body in kept.rows() if key == "k"]
    charges = sum(kind in CHARGES for kind, _ in rows)
    stored = [body for kind, body in rows if kind == ANSWER]
    assert charges <= 1, "charged twice"
    assert len(stored) <= charges, "answered without a charge"
    assert charges or b"d" not in said, "drawn without a charge"
    assert stored or b"a" not in said, "left without being stored"
    with ln.Ledger(kept.where, **options) as ledger:
        index = mechanism().release(1, ledger=ledger, key="k").index
        if b"a" in said:
            assert index == int(said.split(b"a")[1]), "another answer under the same key"
        if stored:
            assert f'"{index:x}"' in stored[0]
        again = mechanism().release(1, ledger=ledger, key="k")
        assert again.index == index, "another answer the second time"
        assert charged_times(ledger) == before + 1, "not charged once"


def charged_times(ledger: Any) -> Fraction:
    """Return how many releases a ledger was charged for, by its sums alone."""
    if ledger.accounting == "basic":
        assert not ledger.spent.delta
        return Fraction(ledger.spent.epsilon * 10)
    cost = mechanism().gaussian_cost
    assert not cost.failure
    assert ledger.spent.cost.square <= ledger.spent.caps.square, "overspent"
    return Fraction(ledger.spent.cost.square / cost.square)


# ------------------------------------------------------------------ a child that dies


def killed(kept: Kept, step: int, when: str, **options: Any) -> bytes:
    """Release in a child that is killed before or after a statement; return what it said.

    d when it draws, a and the answer when it has one, a dot at its end: there are fewer statements.
    """

    def work(say: Callable[[bytes], object]) -> None:
        steps = count()

        def told(now: str, _: str, __: Any) -> None:
            if now == when and next(steps) == step:
                die()

        with kept.telling(told), drawing(lambda: say(b"d")):
            say(f"a{ask(kept.where, **options)}a".encode())

    return child(work)[1]()


def kill_everywhere(
    kept: Kept,
    times: int,
    *,
    new: bool = False,
    whens: tuple[str, ...] = ("before", "after"),
    until_begun: bool = False,
    gaussian: bool = False,
) -> dict[str, int]:
    """Kill a release before and after each of its statements; return how many there were.

    With ``until_begun``, up to the first at which there is a ledger. With ``gaussian``, releases
    are charged to an allocation of the whole limit.
    """
    begin: dict[str, Any] = {"limit": LIMIT}
    if gaussian:
        begin = {"limit": GAUSSIAN_LIMIT, "accounting": "gaussian"}
        _ = mechanism().gaussian_cost  # before any fork
    options: dict[str, Any] = begin if new else {}
    put_back = kept.nothing if new else kept.again
    if not new:
        kept.begin(1, **begin)
    found = {}
    for when in whens:
        for step in count():
            for _ in range(times):
                put_back()
                said = killed(kept, step, when, **options)
                over = b"." in said or (until_begun and bool(kept.rows()))
                hold_together(kept, said, before=int(not new), **options)
                if b"." in said:
                    break
            if over:
                found[when] = step
                break
    return found


# ------------------------------------------------------------------ a step that goes wrong


def wrong_everywhere(
    kept: Kept,
    when: str,
    fault: Callable[[Any], None],
    wanted: type[BaseException],
    steps: Callable[[int], bool] = lambda _: True,
    **begin: Any,
) -> tuple[int, int]:
    """Have a fault before or after each statement of a release, or after some of them.

    Return how many statements there are, and how many faults were told as the wanted error.
    """
    kept.begin(1, **begin)
    raised = 0
    for step in filter(steps, count()):
        kept.again()
        numbers, said = count(), [b""]

        def told(now: str, _: str, connection: Any, at: int = step, n: Any = numbers) -> None:
            if now == when and next(n) == at:
                fault(connection)

        with kept.telling(told), drawing(partial(said.append, b"d")):
            try:
                said.append(f"a{ask(kept.where)}a".encode())
            except wanted:
                raised += 1
        hold_together(kept, b"".join(said), before=1)
        reached = next(numbers)
        if reached <= step:
            return reached, raised
    raise AssertionError("a count has no end")


# ------------------------------------------------------------------ controls


def drawn_first(self: Recording, spending: Any, draw: Any, codec: Any) -> Any:
    """Release in the wrong order: what is drawn is charged and stored afterwards."""
    assert not isinstance(self.ledger, Unrecorded)
    written = codec.encode(draw())
    receipt = self.ledger.charge(spending(), self.key, fresh=self.fresh)
    stored = self.ledger.stored(receipt) or self.ledger.store(receipt, *written)
    return codec.decode(stored.content, stored.payload), stored.receipt


def never_stored(self: Recording, spending: Any, draw: Any, codec: Any) -> Any:
    """Release without storing."""
    assert not isinstance(self.ledger, Unrecorded)
    receipt = self.ledger.charge(spending(), self.key, fresh=self.fresh)
    return draw(), receipt


def always_charged(self: Recording, spending: Any, draw: Any, codec: Any) -> Any:
    """Charge again whenever it is asked again."""
    assert not isinstance(self.ledger, Unrecorded)
    receipt = self.ledger.charge(spending(), self.key, fresh=True)
    stored = self.ledger.store(receipt, *codec.encode(draw()))
    return codec.decode(stored.content, stored.payload), stored.receipt
