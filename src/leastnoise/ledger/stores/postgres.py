"""A ledger in a PostgreSQL database, for a team: one in each database, in a schema of its own.

A writing transaction locks the one row of ``head`` before it reads anything, so that nobody can
spend between a look and a charge; the head is moved by an UPDATE that names where it must have
been. COMMIT returns when the rows are on the server's disk.

A connection string can hold a password, and what PostgreSQL says can quote it or what was read:
neither is ever in an error of ours, nor hangs on to one.
"""

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.ledger.rows import BEGINNING, Head, Row
from leastnoise.ledger.stores.base import (
    APPLICATION,
    COLUMNS,
    CREATE_LEDGER,
    SCHEMA,
    TYPES,
    unavailable,
)
from leastnoise.ledger.stores.postgres_errors import broken, translated, unreadable

if TYPE_CHECKING:
    from psycopg import Connection


_MARK = f"leastnoise ledger, version {SCHEMA}"
_MARKED = _MARK.removesuffix(str(SCHEMA))
# Texts are compared byte by byte, whatever the language of the database. The index is of hashes:
# a key may be longer than a tree's entry.
_TABLES = f"""
CREATE SCHEMA IF NOT EXISTS leastnoise;
CREATE TABLE leastnoise.rows (
    seq bigint PRIMARY KEY CHECK (seq > 0), version integer NOT NULL,
    kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL,
    payload bytea NOT NULL, hash text COLLATE "C" NOT NULL);
CREATE INDEX rows_by_key ON leastnoise.rows USING hash (key) WHERE key <> '';
CREATE TABLE leastnoise.head (one integer PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL);
CREATE FUNCTION leastnoise.refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''rows of a ledger are never changed, nor deleted''; END';
CREATE TRIGGER rows_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON leastnoise.rows
    FOR EACH STATEMENT EXECUTE FUNCTION leastnoise.refuse();
ALTER TABLE leastnoise.rows ENABLE ALWAYS TRIGGER rows_stay;
INSERT INTO leastnoise.head VALUES (1, {BEGINNING.seq}, '{BEGINNING.hash}');
COMMENT ON TABLE leastnoise.head IS '{_MARK}';
"""  # noqa: S608 -- fixed texts, here and below
# Looked up in the catalogue's tables: to_regclass answers from a cache that waiting for a lock does
# not renew, and misses what was made meanwhile.
_FOUND = """
SELECT current_setting('server_encoding'), current_setting('fsync'), relname,
    obj_description(pg_class.oid, 'pg_class')
FROM (SELECT) AS always LEFT JOIN pg_catalog.pg_class ON relname = 'head' AND relnamespace = (
    SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'leastnoise')
"""
# Of rows and head: their kind, row security and children, columns, indices, triggers and rules.
# More of any could take charges away.
_WHOLE = """
SELECT relname::text, relkind::text, relrowsecurity, relispartition,
    (SELECT count(*) FROM pg_catalog.pg_inherits WHERE c.oid IN (inhparent, inhrelid)),
    (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
        FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0
        AND NOT attisdropped AND attgenerated = '' AND attidentity = '' AND attnotnull),
    (SELECT count(*) FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0),
    (SELECT count(*) FROM pg_catalog.pg_index WHERE indrelid = c.oid AND indisvalid AND indisready),
    (SELECT string_agg(tgname || ' ' || tgenabled::text, ', ') FROM pg_catalog.pg_trigger
        WHERE tgrelid = c.oid AND NOT tgisinternal),
    (SELECT count(*) FROM pg_catalog.pg_rewrite WHERE ev_class = c.oid)
FROM pg_catalog.pg_class AS c
WHERE oid IN (to_regclass('leastnoise.head'), to_regclass('leastnoise.rows')) ORDER BY relname
"""
_ROWS_COLUMNS = (
    "seq bigint, version integer, kind text, key text, at text, body text, payload bytea, hash text"
)
_AS_CREATED = [
    ("head", "r", False, False, 0, "one integer, seq bigint, hash text", 3, 1, None, 0),
    ("rows", "r", False, False, 0, _ROWS_COLUMNS, 8, 2, "rows_stay A", 0),
]
# Rows are fetched so many at a time, or a few more bytes than this: a long ledger, or one of large
# answers, is never in memory as a whole. A few come first, of any size: mostly there are no more,
# or no more are wanted.
_FEW = 3
_ROWS = 1000
_BYTES = 1 << 24
_FIRST = f"""
SELECT {COLUMNS} FROM leastnoise.rows WHERE seq > %s ORDER BY seq LIMIT {_FEW}
"""  # noqa: S608 -- fixed texts
_SOME = f"""
SELECT {COLUMNS} FROM (
    SELECT *, sum(octet_length(body) + octet_length(payload)) OVER (ORDER BY seq)
        - octet_length(body) - octet_length(payload) AS before
    FROM (SELECT {COLUMNS} FROM leastnoise.rows WHERE seq > %s ORDER BY seq LIMIT {_ROWS}) AS page
) AS sized WHERE before < {_BYTES} ORDER BY seq
"""  # noqa: S608 -- fixed texts
_OF = f"""
SELECT {COLUMNS} FROM leastnoise.rows WHERE key = %s AND key <> '' ORDER BY seq
"""  # noqa: S608 -- fixed texts
_APPEND = f"""
WITH moved AS (
    UPDATE leastnoise.head SET seq = %s, hash = %s WHERE one = 1 AND seq = %s RETURNING one)
INSERT INTO leastnoise.rows ({COLUMNS})
    SELECT %s::bigint, %s::integer, %s, %s, %s, %s, %s::bytea, %s FROM moved
"""  # noqa: S608 -- fixed texts
# One state of the ledger, whatever is committed meanwhile.
_READ = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {timeouts};
SELECT seq, hash FROM leastnoise.head
"""
# READ COMMITTED, whatever the server's default: each statement then sees all that was committed
# before it began, so that those after the lock see what its last holder wrote. A stronger level
# shows the state from before the wait, and would have to fail. Settings are for one transaction, as
# a pool may hand the next to another session. What is stronger than "on" stays.
_WRITE = """
BEGIN ISOLATION LEVEL READ COMMITTED; {timeouts};
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
SELECT seq, hash FROM leastnoise.head FOR UPDATE
"""
_LONGEST = (1 << 31) - 1  # of PostgreSQL's settings, in ms
_PATIENCE = 10_000  # ms, at least, before a process that stopped while it held the lock loses it


class PostgresStore:
    """The rows of a ledger in a PostgreSQL database.

    A role needs USAGE of the schema ``leastnoise``, SELECT and INSERT on ``rows``, SELECT and
    UPDATE on ``head``; whoever begins the ledger must be allowed to make them.
    """

    def __init__(self, where: str, *, timeout: float, create: bool) -> None:
        """Connect, and make the tables if there are none; refuse what is something else."""
        self._parameters = _parameters(where, timeout)
        wait = max(1, min(_LONGEST, math.ceil(timeout * 1000)))
        self._timeouts = (
            f"SET LOCAL lock_timeout = {wait}; SET LOCAL statement_timeout = {wait}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {max(wait, _PATIENCE)}"
        )
        self._create = create
        self._lock = RLock()  # one connection, many threads
        self._inherited: list[Connection] = []
        self._closed = False
        self._process = os.getpid()
        with translated():
            self._connection = self._connected()

    def reading(self) -> AbstractContextManager["_Page"]:
        """Open a page that shows one state of the ledger."""
        return self._transaction(_READ)

    def writing(self) -> AbstractContextManager["_Page"]:
        """Open a page that nobody else can append to."""
        return self._transaction(_WRITE)

    def close(self) -> None:
        """Close the connection, but not one that belongs to the process that forked this one."""
        with self._lock:
            self._closed = True
            if self._process == os.getpid():
                self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator["_Page"]:
        with self._lock, translated():
            connection, head = self._begun(begin.format(timeouts=self._timeouts))
            try:
                yield _Page(connection, head)
                # A transaction that failed is rolled back by COMMIT, without an error.
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    raise broken()
            except BaseException:
                _dropped(connection)
                raise

    def _begun(self, begin: str) -> tuple["Connection", Head]:
        """Begin a transaction; once more if the connection proves to have been lost meanwhile."""
        import psycopg

        connection = self._here()
        try:
            return connection, _first(connection, begin)
        except BaseException as error:
            # Not where somebody wants to end: an interruption can cost the connection, too.
            lost = connection.closed and isinstance(error, psycopg.Error)
            _dropped(connection)
            if not lost:
                raise
        connection = self._here()
        try:
            return connection, _first(connection, begin)
        except BaseException:
            _dropped(connection)
            raise

    def _here(self) -> "Connection":
        """Return this process's connection: one that was inherited by a fork must not be used."""
        if self._closed:
            raise unavailable("it was closed", "Open it again.")
        if self._process != os.getpid():
            self._inherited.append(self._connection)  # nor closed, which would end the other's
            self._connection, self._process = self._connected(), os.getpid()
        elif self._connection.closed:
            self._connection = self._connected()
        return self._connection

    def _connected(self) -> "Connection":
        import psycopg

        # Nothing is prepared: a pool may hand the next statement to another session.
        connection = psycopg.connect(**self._parameters, autocommit=True, prepare_threshold=None)
        try:
            if not self._recognised(connection):
                self._begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recognised(self, connection: "Connection") -> bool:
        """Tell whether there is a ledger; refuse what is none, or cannot keep its promise."""
        encoding, synced, name, mark = connection.execute(_FOUND).fetchone() or (None,) * 4
        if synced != "on" or encoding != "UTF8":
            raise Unsupported(
                "The database of a ledger must use UTF-8, on a server with fsync = on",
                got=f"encoding {encoding} and fsync {synced}",
                fix="Choose another database, or set fsync = on.",
            )
        if name is None:
            if self._create:
                return False
            raise InvalidParameter(
                "No ledger in this database",
                fix=CREATE_LEDGER,
            )
        if mark is None or not mark.startswith(_MARKED):
            raise _something_else()
        if mark != _MARK:
            raise Unsupported(
                f"This version of leastnoise reads ledgers of version {SCHEMA}",
                got="one of another version",
                fix="Install the version of leastnoise that wrote it.",
            )
        return True

    def _begin(self, connection: "Connection") -> None:
        """Make the tables, unless another process was quicker."""
        import psycopg

        connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; {self._timeouts}")
        try:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
            if not self._recognised(connection):
                connection.execute(_TABLES)
            connection.execute("COMMIT")
            return
        except (psycopg.errors.DuplicateTable, psycopg.errors.DuplicateFunction):
            _dropped(connection)
        except BaseException:
            _dropped(connection)
            raise
        raise _something_else()


class _Page:
    def __init__(self, connection: "Connection", head: Head) -> None:
        self._connection = connection
        self._head = head

    def head(self) -> Head:
        return self._head

    def rows(self, after: int) -> Iterator[Row]:
        some = self._selected(_FIRST, after)
        yield from some
        more = len(some) == _FEW
        while more:
            some = self._selected(_SOME, some[-1].seq)
            yield from some
            # A text has at least a quarter as many characters as bytes: these were not all.
            size = 4 * sum(len(row.body) + len(row.payload) for row in some)
            more = len(some) == _ROWS or size >= _BYTES

    def of(self, key: str) -> list[Row]:
        return self._selected(_OF, key)

    def append(self, row: Row) -> None:
        moved = row.seq, row.hash, row.seq - 1
        if self._connection.execute(_APPEND, (*moved, *row)).rowcount != 1:
            raise broken()
        self._head = row.head

    def check(self) -> None:
        """Compare the tables with those that were created, and look for triggers and rules.

        PostgreSQL itself looks for damage in what it reads, if its checksums are on.
        """
        if self._connection.execute(_WHOLE).fetchall() != _AS_CREATED:
            raise broken()

    def _selected(self, query: str, value: int | str) -> list[Row]:
        # In binary, as a payload would be twice as long in text.
        found = self._connection.execute(query, (value,), binary=True).fetchall()
        if any([type(part) for part in fields] != TYPES for fields in found):
            raise broken()
        return [Row(*fields) for fields in found]


def _parameters(where: str, timeout: float) -> dict[str, Any]:
    """Return what to connect with: what the string says, and else time-outs like ours."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Unsupported(
            "Ledgers in PostgreSQL need the 'postgres' extra",
            fix="pip install 'leastnoise[postgres]'",
        ) from None
    given = None
    with suppress(ProgrammingError, ValueError):  # which quote the string
        given = conninfo_to_dict(where) if "\0" not in where else None
    if given is None:
        raise unreadable()
    seconds = max(2, min(_LONGEST // 1000, math.ceil(timeout)))
    ours = {
        "application_name": "leastnoise",
        "connect_timeout": seconds,
        # So that a server that vanished is noticed.
        "keepalives_idle": seconds,
        "keepalives_interval": seconds,
        "keepalives_count": 3,
        "tcp_user_timeout": 1000 * seconds,
    }
    return ours | given | {"client_encoding": "utf8"}


def _first(connection: "Connection", begin: str) -> Head:
    """Begin, and return the head: the last result of several statements in one message."""
    cursor = connection.execute(begin)
    while cursor.nextset():
        pass
    found = cursor.fetchall()
    if len(found) != 1 or [type(part) for part in found[0]] != [int, str]:
        raise broken()
    return Head(*found[0])


def _something_else() -> InvalidParameter:
    return InvalidParameter(
        "A ledger must be a schema that leastnoise created",
        got="a database whose schema leastnoise is something else",
        fix="Choose another database.",
    )


def _dropped(connection: "Connection") -> None:
    """Undo a transaction, if need be by ending its session."""
    import psycopg

    with suppress(psycopg.Error):
        connection.rollback()
        return
    connection.close()
