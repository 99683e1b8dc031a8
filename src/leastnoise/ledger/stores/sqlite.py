"""A ledger in a SQLite file.

WAL with synchronous=FULL: a transaction has ended when its rows are on disk. BEGIN IMMEDIATE takes
the one write lock before anything is read, so that nobody can spend between a look and a charge;
the head is moved by an UPDATE that names where it must have been.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakSet

from leastnoise.errors import (
    InvalidParameter,
    LedgerUnavailable,
    Text,
    Unsupported,
    Words,
)
from leastnoise.ledger.rows import Head, Row
from leastnoise.ledger.stores.base import (
    APPLICATION,
    COLUMNS,
    CREATE_LEDGER,
    SCHEMA,
    TYPES,
    unavailable,
)
from leastnoise.ledger.stores.sqlite_errors import broken, translated
from leastnoise.ledger.stores.sqlite_schema import check_schema, create_tables

_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # where the system's fsync is not one
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_PAUSE = 0.005  # seconds between two attempts to switch a new file to WAL


class SqliteStore:
    """The rows of a ledger in one SQLite file, and the two beside it that SQLite keeps."""

    def __init__(self, path: Path, *, timeout: float, create: bool) -> None:
        """Open the file, or make it; refuse one that is something else."""
        if not create and not _there(path):
            raise _missing(path)
        self._path, self._timeout, self._create = path, timeout, create
        self._path_now = Path(os.path.realpath(path))  # wherever the process goes
        self._address = self._path_now.as_uri()
        self._files: list[tuple[int, int]] = []
        self._lock = RLock()  # one connection, many threads
        self._closed = False
        if self._path_now in _LOST:
            raise _lost()
        with translated():
            self._connection: sqlite3.Connection | None = self._connected()
        self._create = False
        _STORES.add(self)

    def reading(self) -> AbstractContextManager["_Page"]:
        """Open a page that shows one state of the ledger."""
        return self._transaction("BEGIN", written=False)

    def writing(self) -> AbstractContextManager["_Page"]:
        """Open a page that nobody else can append to."""
        return self._transaction("BEGIN IMMEDIATE", written=True)

    def _same_files(self) -> None:
        """Refuse to go on if the file or its log is no longer what others see under its name.

        Whoever opens and closes the file by other means, within this process, has the system drop
        SQLite's locks. Then another process may take itself for the last, and delete the log: what
        is written from then on nobody else reads.
        """
        try:
            found = [os.stat(f"{self._path_now}{end}") for end in ("", "-wal")]
        except OSError:
            found = []
        files = [(each.st_dev, each.st_ino) for each in found]
        if not self._files:
            self._files = files
        if not files or files != self._files:
            _LOST.add(self._path_now)
            raise _lost()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def fork(self) -> None:
        """Get ready for a fork: nothing of SQLite's may be open on both sides of it."""
        self._lock.acquire()
        if self._connection is not None and not self._connection.in_transaction:
            self._connection.close()
            self._connection = None

    def forked(self, *, child: bool) -> None:
        """Go on after a fork."""
        if child and self._connection is not None:  # in the midst of a transaction of the parent's
            self._closed = True
        self._lock.release()

    @contextmanager
    def _transaction(self, begin: str, *, written: bool) -> Iterator["_Page"]:
        with self._lock, translated():
            connection = self._here()
            page = _Page(connection)
            try:
                connection.execute(begin)
                if written:
                    self._same_files()
                yield page
                connection.execute("COMMIT")
                if written:
                    self._same_files()
            except BaseException:
                self._give_up(connection, page)
                raise

    def _give_up(self, connection: sqlite3.Connection, page: "_Page") -> None:
        """Undo what was begun; where that fails closing does it, and the next to ask opens anew."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except BaseException as error:
            self._connection = None
            page.close()
            connection.close()
            if not isinstance(error, sqlite3.Error):
                raise

    def _here(self) -> sqlite3.Connection:
        """Return the connection, a new one after a fork."""
        if self._closed:
            raise unavailable("it was closed", "Open it again.")
        if self._path_now in _LOST:
            raise _lost()
        if self._connection is None:
            self._connection, self._files = self._connected(), []
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        if self._create:
            _create_private(self._path_now)
        connection = sqlite3.connect(
            f"{self._address}?mode=rw",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            if self._create:
                self._begin(connection)
            self._recognise(connection)
        except sqlite3.DatabaseError as error:
            connection.close()
            never = self not in _STORES  # what was a ledger before is damaged
            if never and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
                raise self._foreign(self._path) from None
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a file that holds nothing yet; two processes may try at once."""
        if connection.execute("PRAGMA schema_version").fetchone() != (0,):
            return
        _switch_to_wal(connection, self._timeout)
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
                create_tables(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _recognise(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is no ledger, or one of a later version."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise self._foreign(self._path)
        if schema != SCHEMA:
            raise Unsupported(
                f"This version of leastnoise reads ledgers of version {SCHEMA}",
                got=f"one of version {schema}",
                fix="Install the version of leastnoise that wrote it.",
            )
        check_schema(connection)

    @staticmethod
    def _foreign(path: Path) -> InvalidParameter:
        return InvalidParameter(
            "A ledger must be a file that leastnoise created",
            got=f"{str(path)!r}, which is something else",
            fix="Choose another path.",
        )


def _missing(path: Path) -> InvalidParameter:
    """Return the error for a path without a ledger, with the nearest name in its folder."""
    try:
        names = [one.name for one in path.parent.iterdir() if one.suffix == ".ledger"]
    except OSError:
        names = []
    near = get_close_matches(path.name, sorted(names), n=1)
    fix: Text = CREATE_LEDGER
    if near:
        meant = f"Did you mean {str(path.with_name(near[0]))!r}?"
        fix = Words(f"{meant} ", f"{meant}\n") + CREATE_LEDGER
    return InvalidParameter(f"No ledger at {str(path)!r}", fix=fix)


class _Page:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def close(self) -> None:
        """End what is being read: else SQLite keeps a closed connection, and its lock, for it."""
        for cursor in list(self._cursors):
            cursor.close()

    def head(self) -> Head:
        found = self._connection.execute("SELECT seq, hash FROM head").fetchall()
        if len(found) != 1 or [type(part) for part in found[0]] != [int, str] or found[0][0] < 0:
            raise broken()
        return Head(*found[0])

    def rows(self, after: int) -> Iterator[Row]:
        return self._selected("seq > ?", after)

    def of(self, key: str) -> list[Row]:
        return list(self._selected("key = ? AND key <> ''", key))

    def append(self, row: Row) -> None:
        self._connection.execute(
            f"INSERT INTO rows ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- fixed
            row,
        )
        moved = self._connection.execute(
            "UPDATE head SET seq = ?, hash = ? WHERE one = 1 AND seq = ?",
            (row.seq, row.hash, row.seq - 1),
        )
        if moved.rowcount != 1:
            raise broken()

    def check(self) -> None:
        if self._connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            raise broken()
        check_schema(self._connection)

    def _selected(self, where: str, value: Any) -> Iterator[Row]:
        cursor = self._connection.execute(
            f"SELECT {COLUMNS} FROM rows WHERE {where} ORDER BY seq",  # noqa: S608 -- fixed texts
            (value,),
        )
        self._cursors.add(cursor)
        for fields in cursor:
            if list(map(type, fields)) != TYPES:
                raise broken()
            yield Row(*fields)


# Files that are no longer what others see. All connections of a process share what SQLite knows of
# a file, so that none can be opened anew as long as there is another: only a new process can.
_LOST: set[Path] = set()


def _lost() -> LedgerUnavailable:
    return unavailable(
        "its files were replaced, or opened in this process by something else than a Ledger",
        "Restart the program, and repeat the query with the same key.",
    )


# SQLite keeps locks for a whole process. A child that inherits an open file believes in locks that
# only its parent holds; when the parent closes, the file's WAL is deleted under the child, and with
# it what the child charges. So a file is closed before a fork, and opened again on both sides.
_STORES: WeakSet[SqliteStore] = WeakSet()
_FORKING: list[SqliteStore] = []
_ONE = RLock()  # one thread at a time forks, or creates a file


def _fork() -> None:
    _ONE.acquire()
    for store in list(_STORES):
        store.fork()
        _FORKING.append(store)


def _forked(*, child: bool) -> None:
    while _FORKING:
        _FORKING.pop().forked(child=child)
    _ONE.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_fork,
        after_in_parent=lambda: _forked(child=False),
        after_in_child=lambda: _forked(child=True),
    )


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner may use, unless there is a file.

    SQLite gives the files that it puts beside it the same rights. A file that cannot be created is
    reported by SQLite, which then finds none. Only one thread at a time: the system drops a
    process's locks on a file, also those of another thread, when the file is closed.
    """
    with _ONE, suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.fchmod(file, 0o600)  # whatever the umask takes away
        finally:
            os.close(file)


def _switch_to_wal(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch a new file to WAL, and wait for other processes that do the same.

    SQLite does not wait here: if another process holds the write lock, it reports "busy" at once,
    whatever the time-out is.
    """
    ends = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, for instance
        return False
