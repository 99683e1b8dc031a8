"""A ledger in a PostgreSQL database, for a team: one per database, in its own schema.

A write transaction locks the single row of ``head`` before it reads anything, so that nobody can
spend between its check and its charge. The UPDATE that advances the head names the expected old
one. COMMIT returns when the rows are on the server's disk.

A connection string can contain a password, and messages of PostgreSQL can quote it or stored data.
No error of leastnoise contains either, or refers to an error that does.
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
    unavailable_error,
)
from leastnoise.ledger.stores.postgres_errors import (
    connection_string_error,
    damage_error,
    translate_errors,
)

if TYPE_CHECKING:
    from psycopg import Connection


_MARK = f"leastnoise ledger, version {SCHEMA}"
_MARKED = _MARK.removesuffix(str(SCHEMA))
# Strings are compared byte by byte, whatever the locale of the database. The index is a hash index,
# because a key can be longer than an entry of a B-tree.
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
# This reads the tables of the catalog. to_regclass reads a cache that is not renewed while waiting
# for a lock, so it would miss tables that were created meanwhile.
_FOUND = """
SELECT current_setting('server_encoding'), current_setting('fsync'), relname,
    obj_description(pg_class.oid, 'pg_class')
FROM (SELECT) AS always LEFT JOIN pg_catalog.pg_class ON relname = 'head' AND relnamespace = (
    SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'leastnoise')
"""
# The kind, row security, children, columns, indexes, triggers and rules of both tables. Additional
# ones could hide or delete charges.
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
# Rows are fetched in batches of at most _ROWS rows and about _BYTES bytes, so a long ledger, or
# one with large answers, is never in memory as a whole. The first batch is a few rows of any size,
# because usually there are no more, or no more are needed.
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
# This shows one state of the ledger, whatever others commit meanwhile.
_READ = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {timeouts};
SELECT seq, hash FROM leastnoise.head
"""
# READ COMMITTED, whatever the server's default: each statement sees everything committed before it
# started, so statements after the lock see the rows of its last holder. A stronger level would show
# the state before the wait, and would have to fail. Settings are for one transaction, because a
# pool may run the next one in another session. A setting stronger than "on" is not changed.
_WRITE = """
BEGIN ISOLATION LEVEL READ COMMITTED; {timeouts};
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
SELECT seq, hash FROM leastnoise.head FOR UPDATE
"""
_LONGEST = (1 << 31) - 1  # ms, the largest timeout of PostgreSQL
_PATIENCE = 10_000  # ms, the shortest time before a stopped process loses the lock that it holds


class PostgresStore:
    """The rows of a ledger in a PostgreSQL database.

    A role needs USAGE of the schema ``leastnoise``, SELECT and INSERT on ``rows``, SELECT and
    UPDATE on ``head``. To create the ledger, a role must be allowed to create all of these.
    """

    def __init__(self, where: str, *, timeout: float, create: bool) -> None:
        """Connect; create the tables if there are none; reject a schema that is not a ledger."""
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
        with translate_errors():
            self._connection = self._connect()

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
        with self._lock, translate_errors():
            connection, head = self._begin_transaction(begin.format(timeouts=self._timeouts))
            try:
                yield _Page(connection, head)
                # A transaction that failed is rolled back by COMMIT, without an error.
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    raise damage_error()
            except BaseException:
                _roll_back(connection)
                raise

    def _begin_transaction(self, begin: str) -> tuple["Connection", Head]:
        """Begin a transaction; retry once if the connection was lost since its last use."""
        import psycopg

        connection = self._get_connection()
        try:
            return connection, _begin_and_read_head(connection, begin)
        except BaseException as error:
            # An interrupt can also close the connection; it must not be retried.
            lost = connection.closed and isinstance(error, psycopg.Error)
            _roll_back(connection)
            if not lost:
                raise
        connection = self._get_connection()
        try:
            return connection, _begin_and_read_head(connection, begin)
        except BaseException:
            _roll_back(connection)
            raise

    def _get_connection(self) -> "Connection":
        """Return the connection of this process; one inherited by a fork must not be used."""
        if self._closed:
            raise unavailable_error("it was closed", "Open it again.")
        if self._process != os.getpid():
            self._inherited.append(self._connection)  # closing it would end the parent's session
            self._connection, self._process = self._connect(), os.getpid()
        elif self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> "Connection":
        import psycopg

        # No prepared statements, because a pool may run the next one in another session.
        connection = psycopg.connect(**self._parameters, autocommit=True, prepare_threshold=None)
        try:
            if not self._has_ledger(connection):
                self._create_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _has_ledger(self, connection: "Connection") -> bool:
        """Return whether there is a ledger; reject another schema, and a server without fsync."""
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
            raise _foreign_error()
        if mark != _MARK:
            raise Unsupported(
                f"This version of leastnoise reads ledgers of version {SCHEMA}",
                got="one of another version",
                fix="Install the version of leastnoise that wrote it.",
            )
        return True

    def _create_tables(self, connection: "Connection") -> None:
        """Create the tables, unless another process was faster."""
        import psycopg

        connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; {self._timeouts}")
        try:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
            if not self._has_ledger(connection):
                connection.execute(_TABLES)
            connection.execute("COMMIT")
            return
        except (psycopg.errors.DuplicateTable, psycopg.errors.DuplicateFunction):
            _roll_back(connection)
        except BaseException:
            _roll_back(connection)
            raise
        raise _foreign_error()


class _Page:
    def __init__(self, connection: "Connection", head: Head) -> None:
        self._connection = connection
        self._head = head

    def head(self) -> Head:
        return self._head

    def rows(self, after: int) -> Iterator[Row]:
        some = self._select(_FIRST, after)
        yield from some
        more = len(some) == _FEW
        while more:
            some = self._select(_SOME, some[-1].seq)
            yield from some
            # A string has at least a quarter as many characters as bytes.
            size = 4 * sum(len(row.body) + len(row.payload) for row in some)
            more = len(some) == _ROWS or size >= _BYTES

    def of(self, key: str) -> list[Row]:
        return self._select(_OF, key)

    def append(self, row: Row) -> None:
        heads = row.seq, row.hash, row.seq - 1
        if self._connection.execute(_APPEND, (*heads, *row)).rowcount != 1:
            raise damage_error()
        self._head = row.head

    def check(self) -> None:
        """Compare the tables with new ones, triggers and rules included.

        PostgreSQL itself detects damaged pages when it reads them, if its checksums are on.
        """
        if self._connection.execute(_WHOLE).fetchall() != _AS_CREATED:
            raise damage_error()

    def _select(self, query: str, value: int | str) -> list[Row]:
        # In binary, because a payload would be twice as long as text.
        rows = self._connection.execute(query, (value,), binary=True).fetchall()
        if any([type(field) for field in fields] != TYPES for fields in rows):
            raise damage_error()
        return [Row(*fields) for fields in rows]


def _parameters(where: str, timeout: float) -> dict[str, Any]:
    """Return the parameters of a connection string, with our timeouts as defaults."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Unsupported(
            "Ledgers in PostgreSQL need the 'postgres' extra",
            fix="pip install 'leastnoise[postgres]'",
        ) from None
    parameters = None
    with suppress(ProgrammingError, ValueError):  # they quote the string
        parameters = conninfo_to_dict(where) if "\0" not in where else None
    if parameters is None:
        raise connection_string_error()
    seconds = max(2, min(_LONGEST // 1000, math.ceil(timeout)))
    ours = {
        "application_name": "leastnoise",
        "connect_timeout": seconds,
        # These detect a server that vanished.
        "keepalives_idle": seconds,
        "keepalives_interval": seconds,
        "keepalives_count": 3,
        "tcp_user_timeout": 1000 * seconds,
    }
    return ours | parameters | {"client_encoding": "utf8"}


def _begin_and_read_head(connection: "Connection", begin: str) -> Head:
    """Begin a transaction; return the head, the result of the last statement in ``begin``."""
    cursor = connection.execute(begin)
    while cursor.nextset():
        pass
    heads = cursor.fetchall()
    if len(heads) != 1 or [type(field) for field in heads[0]] != [int, str]:
        raise damage_error()
    return Head(*heads[0])


def _foreign_error() -> InvalidParameter:
    return InvalidParameter(
        "A ledger must be a schema that leastnoise created",
        got="a database whose schema leastnoise is something else",
        fix="Choose another database.",
    )


def _roll_back(connection: "Connection") -> None:
    """Roll back a transaction; if that fails, close its connection."""
    import psycopg

    with suppress(psycopg.Error):
        connection.rollback()
        return
    connection.close()
