"""A ledger in a PostgreSQL database that tells of every statement."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import psycopg

from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from tests.support.postgres_sessions import Sessions
from tests.support.traced_ledgers import LIMIT, SECRET, SELECT, Found, Told, begun


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

    def begin(self, releases: int, limit: Any = LIMIT, **options: Any) -> None:
        begun(self.where, releases, limit, **options)
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
