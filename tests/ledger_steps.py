"""What tests of faults share: ledgers that tell of every statement, on either store.

A :class:`Kept` is one ledger that can be put back as it was, have its statements told, fail them,
and be read by other means than a ``Ledger``.
"""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Protocol

import psycopg
import pytest

from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from leastnoise.ledger import Unrecorded
from leastnoise.ledger.rows import ANSWER, CHARGE
from leastnoise.mechanism.recording import Place
from tests.ledger_files import FILES, Privacy, child, copied, ln, mechanism, quick_folder
from tests.ledger_sessions import Sessions
from tests.ledgers import Server, apart

release: Any = import_module("leastnoise.mechanism.release")
LIMIT = Privacy("0.3")

# Told before and after a statement: when, the statement, and its connection if there is one.
Told = Callable[[str, str, Any], None]
Found = tuple[str, str, str]  # of a row: kind, key, body
SELECT = "SELECT kind, key, body FROM {} ORDER BY seq"
SECRET = "secret words"  # what a database says may quote data


class Kept(Protocol):
    """A ledger on one of the stores."""

    where: Any
    errors: ClassVar[dict[str, type[Exception]]]

    def begin(self, releases: int, limit: Any = LIMIT) -> None:
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

    def begin(self, releases: int, limit: Any = LIMIT) -> None:
        begun(self._base, releases, limit)
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


# ------------------------------------------------------------------ a database


class InDatabase:
    """A ledger in a PostgreSQL database."""

    errors: ClassVar[dict[str, type[Exception]]] = {
        name: LedgerDamaged if name in ("DataCorrupted", "IndexCorrupted") else LedgerUnavailable
        for name in (
            "DiskFull",
            "IoError",
            "OutOfMemory",
            "InsufficientResources",
            "TooManyConnections",
            "LockNotAvailable",
            "QueryCanceled",
            "DeadlockDetected",
            "SerializationFailure",
            "AdminShutdown",
            "CrashShutdown",
            "CannotConnectNow",
            "ReadOnlySqlTransaction",
            "ConnectionFailure",
            "DataCorrupted",
            "IndexCorrupted",
        )
    }
    # With these the server ends the session, too.
    _ending = ("AdminShutdown", "CrashShutdown", "CannotConnectNow", "ConnectionFailure")

    def __init__(self, where: str) -> None:
        self.where: Any = where
        self.sessions = Sessions()
        self._owns: list[tuple[int, Any]] = []  # of a parent's, none may be used nor closed
        self._base: tuple[int, str] = (0, "")

    def close(self) -> None:
        for process, own in self._owns:
            if process == os.getpid():
                own.close()

    def begin(self, releases: int, limit: Any = LIMIT) -> None:
        begun(self.where, releases, limit)
        ((seq, hashed),) = self._do("SELECT seq, hash FROM leastnoise.head")
        self._base = seq, hashed

    def again(self) -> None:
        seq, hashed = self._base
        self._do(
            "BEGIN; ALTER TABLE leastnoise.rows DISABLE TRIGGER rows_stay; "
            f"DELETE FROM leastnoise.rows WHERE seq > {seq}; "
            "ALTER TABLE leastnoise.rows ENABLE ALWAYS TRIGGER rows_stay; "
            f"UPDATE leastnoise.head SET seq = {seq}, hash = '{hashed}'; COMMIT"
        )

    def nothing(self) -> None:
        self._do("DROP SCHEMA IF EXISTS leastnoise CASCADE")

    def rows(self) -> list[Found]:
        try:
            return self._do(SELECT.format("leastnoise.rows"))
        except psycopg.errors.UndefinedTable:
            return []

    @contextmanager
    def telling(self, told: Told) -> Iterator[None]:
        """Have every statement told, and every connection that is made."""
        execute: Any = psycopg.Connection.execute
        connect = psycopg.connect

        def telling_execute(connection: Any, query: Any, *rest: Any, **more: Any) -> Any:
            told("before", query.strip(), connection)
            cursor = execute(connection, query, *rest, **more)
            told("after", query.strip(), connection)
            return cursor

        def telling_connect(*rest: Any, **more: Any) -> Any:
            told("before", "CONNECT", None)
            connection = connect(*rest, **more)
            try:
                told("after", "CONNECT", connection)
            except BaseException:
                connection.close()  # nobody has it
                raise
            return connection

        kind: Any = psycopg.Connection
        module: Any = psycopg
        kind.execute, module.connect = telling_execute, telling_connect
        try:
            yield
        finally:
            kind.execute, module.connect = execute, connect

    def fail(self, name: str, connection: Any) -> None:
        if connection is not None and name in self._ending:
            connection.pgconn.finish()
        raise getattr(psycopg.errors, name)(SECRET)

    def lose(self, dice: random.Random, connection: Any) -> None:
        """Have the connection cut on this side, or its session ended on the other."""
        if connection is None or connection.closed:
            raise psycopg.OperationalError(SECRET)
        if dice.random() < 0.5:
            self.end(connection)  # as the next statement will notice
        else:
            connection.pgconn.finish()
            raise psycopg.OperationalError(SECRET)

    def end(self, connection: Any) -> None:
        """End a session, and wait until it has ended."""
        session = connection.info.backend_pid
        self.sessions.ended(session)
        self._do(f"SELECT pg_terminate_backend({session})")
        while self._do(f"SELECT pid FROM pg_stat_activity WHERE pid = {session}"):
            time.sleep(0.0005)

    def crash(self, connection: Any) -> None:
        """Kill the process of a session: the server ends all others and recovers."""
        own = self._own()
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.OperationalError):
            while own.cursor().execute("SELECT 1"):  # the server has yet to notice
                time.sleep(0.001)

    def begin_a_log(self) -> None:
        """Have the server's log begin a new file, which is shorter than a table may then grow."""
        self._do("SELECT pg_switch_wal()")

    def _own(self) -> Any:
        """Return a connection of this process's own, of which nothing is told."""
        if not self._owns or self._owns[-1][0] != os.getpid() or self._owns[-1][1].closed:
            self._owns.append((os.getpid(), self._connected()))
        return self._owns[-1][1]

    def _connected(self) -> Any:
        """Connect; where the server is starting, once it answers."""
        for _ in range(1500):
            with suppress(psycopg.OperationalError):
                return psycopg.Connection.connect(self.where, autocommit=True)
            time.sleep(0.02)
        raise AssertionError("the server does not answer")

    def _do(self, statement: str) -> list[Any]:
        """Do what may be done twice; again where the server was lost meanwhile."""
        while True:
            own = self._own()
            try:
                cursor = own.cursor()
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError:
                if not own.closed:
                    raise


@contextmanager
def kept_in(store: str, server: Callable[[], Server]) -> Iterator[Kept]:
    """Keep a ledger in a file where a commit costs little, or in a database of a server's."""
    if store == "sqlite":
        with quick_folder() as folder:
            yield InFile(Path(folder))
        return
    with in_database(server()) as database, database.sessions.used_again():
        yield database


@contextmanager
def in_database(server: Server) -> Iterator[InDatabase]:
    """Keep a ledger in a database of a server's."""
    database = InDatabase(server.database())
    yield database
    database.close()
    server.answering()
    server.clear(database.where)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    """A ledger on either store, where a fault can be made."""
    with kept_in(request.param, lambda: request.getfixturevalue("quick_postgres")) as found:
        yield found


@pytest.fixture
def kept_in_database(quick_postgres: Server) -> Iterator[InDatabase]:
    """A ledger in PostgreSQL, where a fault can be made."""
    with in_database(quick_postgres) as database, database.sessions.used_again():
        yield database


@pytest.fixture
def kept_in_crashing(postgres_of_its_own: Server) -> Iterator[InDatabase]:
    """A ledger on a server that may be killed."""
    with in_database(postgres_of_its_own) as database:
        yield database


# ------------------------------------------------------------------ releases that are watched


def begun(where: Any, releases: int, limit: Any) -> None:
    """Begin a ledger with so many releases."""
    with ln.Ledger(where, limit=limit) as ledger:
        for number in range(releases):
            mechanism().release(1, ledger=ledger, key=f"before{number}")


@contextmanager
def drawing(told: Callable[[], object]) -> Iterator[None]:
    """Have it told when noise is drawn: one number, or the tape for many."""
    way, tape = release.way, release.CipherTape

    def telling_way(law: Any) -> Callable[[Any], int]:
        drawn = way(law)

        def draw(tape: Any) -> int:
            told()
            return int(drawn(tape))

        return draw

    def telling_tape(*rest: Any) -> Any:
        told()
        return tape(*rest)

    release.way, release.CipherTape = telling_way, telling_tape
    try:
        yield
    finally:
        release.way, release.CipherTape = way, tape


def charged_for(kept: Kept, key: str) -> None:
    """Check that what is being drawn for a key was charged, as others see it."""
    kinds = [kind for kind, of, _ in kept.rows() if of == key]
    assert kinds.count(CHARGE) > kinds.count(ANSWER), "drawn without a charge"


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
    charges = sum(kind == CHARGE for kind, _ in rows)
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
        assert ledger.spent == Privacy(Fraction(before + 1, 10)), "not charged once"


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
    kept: Kept, times: int, *, new: bool = False, whens: tuple[str, ...] = ("before", "after")
) -> dict[str, int]:
    """Kill a release before and after each of its statements; return how many there were."""
    options: dict[str, Any] = {"limit": LIMIT} if new else {}
    put_back = kept.nothing if new else kept.again
    if not new:
        kept.begin(1)
    found = {}
    for when in whens:
        for step in count():
            for _ in range(times):
                put_back()
                said = killed(kept, step, when, **options)
                hold_together(kept, said, before=int(not new), **options)
                if b"." in said:
                    break
            if b"." in said:
                found[when] = step
                break
    return found


def kill_often(kept: Kept, times: int, *, new: bool = False) -> None:
    """Kill a release before each of its statements so many times."""
    apart(_kill_often, kept.where, times, new)


def _kill_often(where: Any, times: int, new: bool) -> None:
    if isinstance(where, Path):
        kill_everywhere(InFile(where.parent), times, new=new, whens=("before",))
        return
    database = InDatabase(where)
    with database.sessions.used_again():
        kill_everywhere(database, times, new=new, whens=("before",))
    database.close()


# ------------------------------------------------------------------ a step that goes wrong


def wrong_everywhere(
    kept: Kept,
    when: str,
    fault: Callable[[Any], None],
    wanted: type[BaseException],
    steps: Callable[[int], bool] = lambda _: True,
) -> tuple[int, int]:
    """Have a fault before or after each statement of a release, or after some of them.

    Return how many statements there are, and how many faults were told as the wanted error.
    """
    kept.begin(1)
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
