"""The PostgreSQL store alone: what it refuses, what it survives, and what it never says."""

import builtins
import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from leastnoise.core.privacy import Privacy
from leastnoise.errors import (
    InvalidParameter,
    LeastnoiseError,
    LedgerDamaged,
    LedgerUnavailable,
    Unsupported,
)
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import CHARGE, Row
from leastnoise.ledger.stores import open_store
from leastnoise.ledger.stores import postgres as store_module
from leastnoise.ledger.stores.postgres import PostgresStore
from leastnoise.ledger.stores.sqlite import SqliteStore
from tests.support.ledger_files import PRICE, counting
from tests.support.postgres_servers import Server
from tests.support.processes import forked, waited

LIMIT = Privacy(epsilon=1)
PASSWORD = "correct-horse"


@pytest.fixture
def database(postgres: Server) -> Iterator[str]:
    address = postgres.database()
    yield address
    postgres.clear(address)


def asked(address: str, *statements: str) -> list[Any]:
    """Do something to a database behind the ledger's back."""
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def release(ledger: Ledger, key: str | None = None) -> int:
    return int(counting().release(7, ledger=ledger, key=key).value)


def silent(error: BaseException, *secrets: str) -> None:
    """Check that neither an error nor anything behind it holds a secret."""
    assert error.__context__ is None
    assert error.__cause__ is None
    told = "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)
    for secret in secrets:
        assert secret not in told


# ------------------------------------------------------------------------------------ append-only


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE leastnoise.rows SET body = '{}' WHERE seq = 1",
        "DELETE FROM leastnoise.rows",
        "TRUNCATE leastnoise.rows",
    ],
)
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_rows_are_never_changed(database: str, statement: str, role: str) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        release(ledger)
        before = list(ledger.rows())
        with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
            asked(database, f"SET session_replication_role = {role}", statement)
        assert list(ledger.rows()) == before


GUARDS_OFF = "ALTER TABLE leastnoise.rows DISABLE TRIGGER rows_stay"
GUARDS_ON = "ALTER TABLE leastnoise.rows ENABLE ALWAYS TRIGGER rows_stay"


@pytest.mark.parametrize(
    "edit",
    [
        [GUARDS_OFF],
        [GUARDS_OFF, "UPDATE leastnoise.rows SET at = 'then' WHERE seq = 4", GUARDS_ON],
        [GUARDS_OFF, "DELETE FROM leastnoise.rows WHERE seq = 4", GUARDS_ON],
        [GUARDS_OFF, "DELETE FROM leastnoise.rows WHERE seq = 5", GUARDS_ON],
        ["UPDATE leastnoise.head SET seq = 4"],
        ["UPDATE leastnoise.head SET hash = 'another'"],
        ["DELETE FROM leastnoise.head"],
        ["DROP INDEX leastnoise.rows_by_key"],
        ["ALTER TABLE leastnoise.rows DROP COLUMN payload"],
        [
            "DROP TRIGGER rows_stay ON leastnoise.rows",
            "ALTER TABLE leastnoise.rows ALTER COLUMN version TYPE text",
        ],
    ],
)
def test_what_was_edited_releases_nothing(database: str, edit: list[str]) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        release(ledger)
    rows = asked(database, "SELECT count(*) FROM leastnoise.rows")
    asked(database, *edit)
    with pytest.raises(LedgerDamaged, match="Nothing was released"), Ledger(database) as ledger:
        release(ledger)
    if len(edit) < 3:
        assert asked(database, "SELECT count(*) FROM leastnoise.rows") == rows


# ------------------------------------------------------------------------------------ both stores


def test_both_stores_keep_the_same_rows(database: str, tmp_path: Path) -> None:
    kept = []
    for where in (database, str(tmp_path / "file")):
        store = open_store(where, timeout=10, create=True)
        with store.writing() as page:
            first = Row(
                1, 1, CHARGE, "ключ \x1f" + "€" * 1500, "then", '{"ε":"1/10"}', b"\0\xff", "h1"
            )
            second = Row(2, 1, CHARGE, "", "now", "{}", b"", "h2")
            page.append(first)
            page.append(second)
        with store.reading() as page:
            kept.append(
                [
                    list(page.rows(0)),
                    list(page.rows(1)),
                    page.of(first.key),
                    page.of(""),
                    page.of("no such key"),
                    page.head(),
                ]
            )
        store.close()
    assert kept[0] == kept[1]
    assert kept[0][:3] == [[first, second], [second], [first]]


def test_rows_come_in_parts_and_all_of_them(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts end by the number of rows or of bytes; one row may be larger than a part."""
    rows, size = 7, 3000
    query = store_module._SOME.replace(f"LIMIT {store_module._ROWS}", f"LIMIT {rows}")
    query = query.replace(f"before < {store_module._BYTES}", f"before < {size}")
    monkeypatch.setattr(store_module, "_SOME", query)
    monkeypatch.setattr(store_module, "_ROWS", rows)
    monkeypatch.setattr(store_module, "_BYTES", size)
    fetched: list[int] = []
    select = store_module._Page._select

    def selected(page: Any, query: str, value: int | str) -> list[Row]:
        found = select(page, query, value)
        fetched.append(sum(len(row.body.encode()) + len(row.payload) for row in found[:-1]))
        assert len(found) <= rows
        return found

    monkeypatch.setattr(store_module._Page, "_select", selected)
    store = PostgresStore(database, timeout=10, create=True)
    sizes = [0] * 20 + [2999, 1, 0, 5000, 3000, 0, 1] + [700] * 9 + [0] * 7
    written = [
        Row(
            number,
            1,
            CHARGE,
            "",
            "",
            "€" * (size // 9),
            b"x" * (size - size // 9 * 3),
            f"h{number}",
        )
        for number, size in enumerate(sizes, 1)
    ]
    with store.writing() as page:
        for row in written:
            page.append(row)
    with store.reading() as page:
        assert list(page.rows(0)) == written
        assert len(fetched) >= len(sizes) // rows
        assert max(fetched) < size
        for after in range(len(sizes) + 1):
            assert list(page.rows(after)) == written[after:]
    store.close()


def test_a_page_that_is_read_shows_one_state(database: str) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        store = PostgresStore(database, timeout=10, create=False)
        with store.reading() as page:
            head = page.head()
            release(ledger)
            assert [row.head for row in page.rows(0)][-1] == head
        with store.reading() as page:
            assert page.head().seq == head.seq + 3  # a mechanism, a charge, an answer
        store.close()


def test_the_head_moves_from_where_it_must_have_been(database: str) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        head = ledger.head
        store = PostgresStore(database, timeout=10, create=False)
        with pytest.raises(LedgerDamaged, match="not"), store.writing() as page:
            page.append(Row(head.seq + 2, 1, CHARGE, "", "", "{}", b"", "h"))
        store.close()
        assert ledger.verify() == head


# ------------------------------------------------------------------------------------ lost


def test_a_connection_that_was_lost_is_made_anew(database: str) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        first = release(ledger, "a")
        asked(
            database,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'leastnoise' AND datname = current_database()",
        )
        assert release(ledger, "a") == first
        release(ledger, "b")
        assert ledger.spent == Privacy(2 * PRICE.epsilon)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("statement", ["WITH moved AS", "COMMIT"])
def test_a_connection_lost_within_a_charge_is_told_and_the_key_tells_the_rest(
    database: str, statement: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute: Callable[..., Any] = psycopg.Connection.execute
    lost: list[str] = []

    def cut(connection: Any, query: Any, *rest: Any, **more: Any) -> Any:
        if lost or not str(query).strip().startswith(statement):
            return execute(connection, query, *rest, **more)
        lost.append(statement)
        if when == "after":
            execute(connection, query, *rest, **more)
        connection.pgconn.finish()
        return execute(connection, "SELECT 1")

    with Ledger(database, limit=LIMIT) as ledger:
        ledger.verify()
        monkeypatch.setattr(psycopg.Connection, "execute", cut)
        with pytest.raises(LedgerUnavailable, match="server cannot be reached") as caught:
            release(ledger, "a")
        silent(caught.value)
        assert lost == [statement]
        committed = (statement, when) == ("COMMIT", "after")
        assert ledger.spent == (PRICE if committed else Privacy(0))
        assert release(ledger, "a") == release(ledger, "a")
        assert ledger.spent == PRICE


def test_a_failed_transaction_is_not_taken_for_a_committed_one(database: str) -> None:
    """COMMIT rolls such a one back and is no error; an error that is swallowed must not do so."""
    with Ledger(database, limit=LIMIT) as ledger:
        head = ledger.head
        store = PostgresStore(database, timeout=10, create=False)
        with (
            pytest.raises(LedgerDamaged, match="Nothing was released"),
            store.writing(),
            contextlib.suppress(psycopg.errors.UniqueViolation),
        ):
            store._connection.execute("INSERT INTO leastnoise.rows TABLE leastnoise.rows")
        store.close()
        assert ledger.verify() == head


def test_who_stops_with_the_lock_loses_it(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that vanished would otherwise keep everyone waiting for hours."""
    with Ledger(database, limit=LIMIT, timeout=60) as ledger:
        monkeypatch.setattr(store_module, "_PATIENCE", 50)  # ms
        stopped = PostgresStore(database, timeout=0.05, create=False)

        def late() -> None:
            with stopped.writing() as page:
                release(ledger)  # waits until the lock is free
                page.append(Row(page.head().seq + 1, 1, CHARGE, "", "", "{}", b"", "h"))

        with pytest.raises(LedgerUnavailable, match="cannot be reached, or was lost"):
            late()
        with stopped.reading() as page:
            assert page.head() == ledger.head
        stopped.close()


def test_a_child_does_not_end_its_parents_session(database: str) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        ledger.verify()
        (before,) = asked(database, SESSIONS)
        assert waited([forked(ledger.close), forked(lambda: release(ledger))]) == [0, 0]
        assert settled_sessions(database) == [before]
        assert ledger.spent == PRICE


def settled_sessions(database: str) -> list[Any]:
    """Return our sessions; the server may list one for a moment after its process has ended."""
    for _ in range(500):
        found = asked(database, SESSIONS)
        if len(found) <= 1:
            break
        time.sleep(0.01)
    return found


SESSIONS = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'leastnoise' "
    "AND datname = current_database()"
)


def test_a_closed_ledger_says_so(database: str) -> None:
    ledger = Ledger(database, limit=LIMIT)
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerUnavailable, match="it was closed"):
        release(ledger)


# ------------------------------------------------------------------------------------ refused


def test_a_read_only_database_answers_nothing(database: str) -> None:
    Ledger(database, limit=LIMIT).close()
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    asked(database, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with Ledger(database, limit=LIMIT) as ledger:
        with pytest.raises(LedgerUnavailable, match="its database is read-only") as caught:
            release(ledger)
        silent(caught.value)
        assert ledger.spent == Privacy(0)


def test_a_user_without_rights_is_told_so(database: str, postgres: Server) -> None:
    Ledger(database, limit=LIMIT).close()
    asked(
        database,
        "DROP ROLE IF EXISTS analyst",
        "CREATE ROLE analyst LOGIN",
        "GRANT USAGE ON SCHEMA leastnoise TO analyst",
        "GRANT SELECT ON ALL TABLES IN SCHEMA leastnoise TO analyst",
    )
    mine = database.replace("postgres@", "analyst@")
    try:
        with Ledger(mine) as ledger:
            assert ledger.remaining == LIMIT
            with pytest.raises(LedgerUnavailable, match="this user may not use its tables"):
                release(ledger)
            asked(
                database,
                "GRANT INSERT ON leastnoise.rows TO analyst",
                "GRANT UPDATE ON leastnoise.head TO analyst",
            )
            release(ledger)
    finally:
        asked(database, "DROP OWNED BY analyst", "DROP ROLE analyst")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (psycopg.errors.DiskFull, "disk is full"),
        (psycopg.errors.IoError, "disk failed"),
        (psycopg.errors.OutOfMemory, "out of memory"),
        (psycopg.errors.TooManyConnections, "no connection free"),
        (psycopg.errors.LockNotAvailable, "past the timeout"),
        (psycopg.errors.QueryCanceled, "past the timeout"),
        (psycopg.errors.DeadlockDetected, "past the timeout"),
        (psycopg.errors.AdminShutdown, "cannot be reached, or was lost"),
        (psycopg.errors.CrashShutdown, "cannot be reached, or was lost"),
        (psycopg.errors.CannotConnectNow, "cannot be reached, or was lost"),
        (psycopg.errors.IdleInTransactionSessionTimeout, "cannot be reached, or was lost"),
        (psycopg.errors.ProgramLimitExceeded, "larger than its database takes"),
        (psycopg.errors.InvalidPassword, "rejects this user"),
        (psycopg.errors.DataCorrupted, None),
        (psycopg.errors.IndexCorrupted, None),
        (psycopg.errors.UndefinedTable, None),
        (psycopg.errors.InternalError_, None),
    ],
)
def test_errors_of_the_server_are_said_in_our_words(
    database: str,
    state: type[psycopg.Error],
    said: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Ledger(database, limit=LIMIT) as ledger:
        ledger.verify()

        def fail(*_: object) -> None:
            raise state(f"could not do it for {PASSWORD}")

        with monkeypatch.context() as patched:
            patched.setattr(store_module._Page, "append", fail)
            wanted = LedgerUnavailable if said else LedgerDamaged
            with pytest.raises(wanted, match=said or "Restore an intact copy") as caught:
                release(ledger, "a")
            silent(caught.value, PASSWORD)
        release(ledger, "a")
        assert ledger.spent == PRICE


def test_a_database_without_a_ledger_is_not_one(database: str) -> None:
    with pytest.raises(InvalidParameter, match="No ledger in this database") as caught:
        Ledger(database)
    silent(caught.value, database)
    assert asked(database, "SELECT to_regnamespace('leastnoise')::text") == [(None,)]


@pytest.mark.parametrize("table", ["head", "rows"])
def test_another_schema_of_that_name_is_left_alone(database: str, table: str) -> None:
    asked(database, "CREATE SCHEMA leastnoise", f"CREATE TABLE leastnoise.{table} (a text)")
    with pytest.raises(InvalidParameter, match=r"is something else\. Choose another") as caught:
        Ledger(database, limit=LIMIT)
    silent(caught.value)
    assert asked(database, f"SELECT * FROM leastnoise.{table}") == []


def test_an_empty_schema_may_be_prepared(database: str) -> None:
    asked(database, "CREATE SCHEMA leastnoise")
    with Ledger(database, limit=LIMIT) as ledger:
        release(ledger)


def test_a_later_version_is_refused(database: str) -> None:
    Ledger(database, limit=LIMIT).close()
    asked(database, "COMMENT ON TABLE leastnoise.head IS 'leastnoise ledger, version 2'")
    with pytest.raises(Unsupported, match="reads ledgers of version 1"):
        Ledger(database)


def test_a_database_in_another_encoding_is_refused(database: str, postgres: Server) -> None:
    asked(
        database,
        "DROP DATABASE IF EXISTS latin",
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    )
    with pytest.raises(Unsupported, match="got encoding LATIN1 and fsync on"):
        Ledger(postgres.address("latin"), limit=LIMIT)


def test_a_commit_waits_for_the_disk_whatever_the_server_says(database: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    for default, wanted in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        asked(database, f"ALTER DATABASE {name} SET synchronous_commit = {default}")
        store = PostgresStore(database, timeout=10, create=True)
        with store.writing():
            found = store._connection.execute("SHOW synchronous_commit").fetchone()
        assert found == (wanted,)
        store.close()


def test_a_stronger_isolation_by_default_changes_nothing(database: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    asked(database, f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    Ledger(database, limit=LIMIT).close()

    def spend() -> None:
        with Ledger(database, timeout=60) as ledger:
            for _ in range(5):
                release(ledger)

    assert waited([forked(spend) for _ in range(2)]) == [0, 0]
    with Ledger(database) as ledger:
        assert ledger.spent == LIMIT


# ------------------------------------------------------------------------------------ secrets


@pytest.mark.parametrize(
    ("address", "wanted", "said"),
    [
        ("postgresql://ann:{}@[::1/x", InvalidParameter, "got one that cannot be read"),
        ("postgresql://ann:{}%zz@host/x", InvalidParameter, "got one that cannot be read"),
        ("postgresql://ann:{}@host/x?no_such=1", InvalidParameter, "got one that cannot be read"),
        ("postgresql://ann:{}@host/x?connect_timeout=a", InvalidParameter, "cannot be read"),
        ("postgresql://ann:{}\0@host/x", InvalidParameter, "A ledger"),
        ("postgresql://ann:{}\ud800@host/x", InvalidParameter, "got one that cannot be read"),
        ("postgresql://ann:{}@127.0.0.1:1/x", LedgerUnavailable, "server cannot be reached"),
        ("postgres://ann:{}@/x?host=/nowhere", LedgerUnavailable, "server cannot be reached"),
    ],
)
def test_a_password_is_never_said(
    address: str,
    wanted: type[LeastnoiseError],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = address.format(PASSWORD)
    with caplog.at_level(0), pytest.raises(wanted, match=said) as caught:
        Ledger(address, limit=LIMIT, timeout=2)
    silent(caught.value, PASSWORD)
    assert PASSWORD not in caplog.text


def test_an_address_is_not_read_up_to_a_nul_alone() -> None:
    with pytest.raises(InvalidParameter, match="got one that cannot be read") as caught:
        PostgresStore(f"postgresql://ann:{PASSWORD}\0@host/x", timeout=2, create=True)
    silent(caught.value, PASSWORD)


def test_a_ledger_does_not_print_its_address(database: str) -> None:
    secret = database.replace("postgres@", f"postgres:{PASSWORD}@")
    with Ledger(secret, limit=LIMIT) as ledger:
        store = ledger._chain._store
        told = [repr(ledger), str(ledger), repr(store), repr(ledger._chain), repr(ledger.account)]
        told += [repr(row) for row in ledger.rows()]
    assert PASSWORD not in "".join(told)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def importing(name: str, *rest: Any) -> Any:
        if name.startswith("psycopg"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(Unsupported, match=r"pip install .leastnoise\[postgres\]"):
        Ledger(f"postgresql://ann:{PASSWORD}@host/x", limit=LIMIT)


def test_psycopg_is_imported_on_first_use() -> None:
    code = "import leastnoise, sys; leastnoise.Ledger; sys.exit('psycopg' in sys.modules)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


def test_the_choice_of_a_store_is_by_the_address(database: str, tmp_path: Path) -> None:
    stores = [
        open_store(where, timeout=1, create=True) for where in (database, str(tmp_path / "a"))
    ]
    assert [type(store) for store in stores] == [PostgresStore, SqliteStore]
    for store in stores:
        store.close()
