"""A ledger in a SQLite file.

With WAL and synchronous=FULL, COMMIT returns when the rows are on disk. BEGIN IMMEDIATE takes the
write lock before anything is read, so that nobody can spend between the check and the charge of
another. The UPDATE that advances the head names the expected old one.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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
    unavailable_error,
)
from leastnoise.ledger.stores.sqlite_errors import damage_error, translate_errors
from leastnoise.ledger.stores.sqlite_schema import check_schema, create_tables
from leastnoise.suggestions import find_nearest_file

_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # on systems whose fsync does not reach the disk
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_PAUSE = 0.005  # seconds between two attempts to switch a new file to WAL


class SqliteStore:
    """The rows of a ledger in a SQLite file, with its WAL and shared-memory file beside it."""

    def __init__(self, path: Path, *, timeout: float, create: bool) -> None:
        """Open the file, or create it; reject a file that is not a ledger."""
        if os.path.isdir(path):  # False for a name that is too long
            raise InvalidParameter(
                f"{str(path)!r} is a folder", fix="Pass the path of a file in it, for the ledger."
            )
        if not create and not _exists(path):
            raise _missing_error(path)
        self._path, self._timeout, self._create = path, timeout, create
        self._path_now = Path(os.path.realpath(path))  # if the working directory changes
        self._address = self._path_now.as_uri()
        self._files: list[tuple[int, int]] = []
        self._lock = RLock()  # one connection, many threads
        self._closed = False
        if self._path_now in _LOST:
            raise _lost_error()
        with translate_errors():
            self._connection: sqlite3.Connection | None = self._connect()
        self._create = False
        _STORES.add(self)

    def reading(self) -> AbstractContextManager["_Page"]:
        """Open a page that shows one state of the ledger."""
        return self._transaction("BEGIN", written=False)

    def writing(self) -> AbstractContextManager["_Page"]:
        """Open a page that nobody else can append to."""
        return self._transaction("BEGIN IMMEDIATE", written=True)

    def _check_same_files(self) -> None:
        """Raise an error if the file or its WAL was replaced since it was opened.

        If other code of this process opens and closes the file, the system drops the locks of
        SQLite. Another process may then believe that it is the last user, and delete the WAL.
        Nobody else would read anything written after that.
        """
        try:
            stats = [os.stat(f"{self._path_now}{end}") for end in ("", "-wal")]
        except OSError:
            stats = []
        files = [(each.st_dev, each.st_ino) for each in stats]
        if not self._files:
            self._files = files
        if not files or files != self._files:
            _LOST.add(self._path_now)
            raise _lost_error()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def prepare_fork(self) -> None:
        """Close the file before a fork, because parent and child must not share it."""
        self._lock.acquire()
        if self._connection is not None and not self._connection.in_transaction:
            self._connection.close()
            self._connection = None

    def resume_after_fork(self, *, child: bool) -> None:
        """Release the lock after a fork; in a child, disable a store with an open transaction."""
        if child and self._connection is not None:  # the transaction is the parent's
            self._closed = True
        self._lock.release()

    @contextmanager
    def _transaction(self, begin: str, *, written: bool) -> Iterator["_Page"]:
        with self._lock, translate_errors():
            connection = self._get_connection()
            page = _Page(connection)
            try:
                connection.execute(begin)
                if written:
                    self._check_same_files()
                yield page
                connection.execute("COMMIT")
                if written:
                    self._check_same_files()
            except BaseException:
                self._roll_back(connection, page)
                raise

    def _roll_back(self, connection: sqlite3.Connection, page: "_Page") -> None:
        """Roll back; if that fails, close the connection, so that a new one is opened later."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except BaseException as error:
            self._connection = None
            page.close()
            connection.close()
            if not isinstance(error, sqlite3.Error):
                raise

    def _get_connection(self) -> sqlite3.Connection:
        """Return the connection; open one if there is none, as after a fork."""
        if self._closed:
            raise unavailable_error("it was closed", "Open it again.")
        if self._path_now in _LOST:
            raise _lost_error()
        if self._connection is None:
            self._connection, self._files = self._connect(), []
        return self._connection

    def _connect(self) -> sqlite3.Connection:
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
                self._create_tables(connection)
            self._check_is_ledger(connection)
        except sqlite3.DatabaseError as error:
            connection.close()
            new = self not in _STORES  # a file that was a ledger before is damaged
            if new and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
                raise self._foreign_error(self._path) from None
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables in an empty file; two processes may try at once."""
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

    def _check_is_ledger(self, connection: sqlite3.Connection) -> None:
        """Reject a file that is not a ledger, or is one of a later version."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise self._foreign_error(self._path)
        if schema != SCHEMA:
            raise Unsupported(
                f"This version of leastnoise reads ledgers of version {SCHEMA}",
                got=f"one of version {schema}",
                fix="Install the version of leastnoise that wrote it.",
            )
        check_schema(connection)

    @staticmethod
    def _foreign_error(path: Path) -> InvalidParameter:
        return InvalidParameter(
            f"{path.name!r} is not a leastnoise ledger", fix="Choose another path."
        )


def _missing_error(path: Path) -> InvalidParameter:
    """Return the error for a path without a ledger, with the nearest name in its folder."""
    near = find_nearest_file(path, [".ledger"])
    fix: Text = CREATE_LEDGER
    if near is not None:
        meant = f"Did you mean {near!r}?"
        fix = Words(f"{meant} ", f"{meant}\n") + CREATE_LEDGER
    return InvalidParameter(f"No ledger at {str(path)!r}", fix=fix)


class _Page:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def close(self) -> None:
        """Close all cursors; otherwise SQLite keeps a closed connection, and its lock, for them."""
        for cursor in list(self._cursors):
            cursor.close()

    def head(self) -> Head:
        heads = self._connection.execute("SELECT seq, hash FROM head").fetchall()
        if len(heads) != 1 or [type(field) for field in heads[0]] != [int, str]:
            raise damage_error()
        if heads[0][0] < 0:
            raise damage_error()
        return Head(*heads[0])

    def rows(self, after: int) -> Iterator[Row]:
        return self._select("seq > ?", after)

    def of(self, key: str) -> list[Row]:
        return list(self._select("key = ? AND key <> ''", key))

    def append(self, row: Row) -> None:
        self._connection.execute(
            f"INSERT INTO rows ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- fixed
            row,
        )
        update = self._connection.execute(
            "UPDATE head SET seq = ?, hash = ? WHERE one = 1 AND seq = ?",
            (row.seq, row.hash, row.seq - 1),
        )
        if update.rowcount != 1:
            raise damage_error()

    def check(self) -> None:
        if self._connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            raise damage_error()
        check_schema(self._connection)

    def _select(self, where: str, value: Any) -> Iterator[Row]:
        cursor = self._connection.execute(
            f"SELECT {COLUMNS} FROM rows WHERE {where} ORDER BY seq",  # noqa: S608 -- fixed texts
            (value,),
        )
        self._cursors.add(cursor)
        for fields in cursor:
            if list(map(type, fields)) != TYPES:
                raise damage_error()
            yield Row(*fields)


# Files that were replaced while they were open. All connections of a process share SQLite's state
# of a file, so a new connection would be wrong too while another exists. Only a new process can
# open the file again.
_LOST: set[Path] = set()


def _lost_error() -> LedgerUnavailable:
    return unavailable_error(
        "its files were replaced, or opened in this process by something other than a Ledger",
        "Restart the program, and repeat the query with the same key.",
    )


# SQLite holds locks per process. A child that inherits an open file relies on locks that only its
# parent holds. When the parent closes the file, SQLite deletes the WAL although the child uses it,
# and with it the charges of the child. So a file is closed before a fork, and reopened by both.
_STORES: WeakSet[SqliteStore] = WeakSet()
_FORKING: list[SqliteStore] = []
_FORK_OR_CREATE = RLock()  # only one thread at a time forks or creates a file


def _before_fork() -> None:
    _FORK_OR_CREATE.acquire()
    for store in list(_STORES):
        store.prepare_fork()
        _FORKING.append(store)


def _after_fork(*, child: bool) -> None:
    while _FORKING:
        _FORKING.pop().resume_after_fork(child=child)
    _FORK_OR_CREATE.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(child=False),
        after_in_child=lambda: _after_fork(child=True),
    )


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner may use, unless the file exists.

    SQLite gives the files beside it the same permissions. If the file cannot be created, SQLite
    reports that it is missing. Only one thread may do this at a time: when a file is closed, the
    system drops all locks of the process on it, those of other threads included.
    """
    with _FORK_OR_CREATE, suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.fchmod(file, 0o600)  # whatever the umask is
        finally:
            os.close(file)


def _switch_to_wal(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch a new file to WAL, and wait for other processes that do the same.

    SQLite itself does not wait here: if another process holds the write lock, it reports "busy" at
    once, whatever the timeout is.
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


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example, the name is too long
        return False
