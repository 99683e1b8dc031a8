"""The tables of a ledger in SQLite: create them, and compare those of a file with them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import astuple
from functools import cache

from leastnoise.ledger.rows import BEGINNING
from leastnoise.ledger.stores.base import APPLICATION, SCHEMA
from leastnoise.ledger.stores.sqlite_errors import damage_error

_TABLES = """
CREATE TABLE rows (
    seq INTEGER PRIMARY KEY CHECK (seq > 0), version INTEGER NOT NULL,
    kind TEXT NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL,
    payload BLOB NOT NULL, hash TEXT NOT NULL);
CREATE INDEX rows_by_key ON rows (key) WHERE key <> '';
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL,
    hash TEXT NOT NULL);
CREATE TRIGGER rows_stay BEFORE UPDATE ON rows BEGIN
    SELECT RAISE(ABORT, 'rows of a ledger are never changed'); END;
CREATE TRIGGER rows_remain BEFORE DELETE ON rows BEGIN
    SELECT RAISE(ABORT, 'rows of a ledger are never deleted'); END;
"""


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, within a transaction."""
    for statement in _split_statements(_TABLES):
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (1, ?, ?)", astuple(BEGINNING))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def check_schema(connection: sqlite3.Connection) -> None:
    """Reject a file whose schema is not exactly that of a new ledger.

    An additional trigger could delete or ignore charges, and a view could replace a table.
    """
    if _read_schema(connection) != _expected_schema():
        raise damage_error()


@cache
def _expected_schema() -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        return _read_schema(connection)


def _read_schema(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    objects = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return sorted(objects.fetchall(), key=repr)


def _split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, because executescript would end the transaction."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
