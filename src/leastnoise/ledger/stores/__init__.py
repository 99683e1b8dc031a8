"""The stores of ledgers: a SQLite file, or a PostgreSQL database for a team."""

import os
import re
from pathlib import Path

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.ledger.stores.base import POSTGRES, Page, Store, unavailable_error

__all__ = [
    "Page",
    "Store",
    "check_address",
    "is_path",
    "open_store",
    "unavailable_error",
]


# Marks of a connection string, as opposed to a path.
_CONNECTION = re.compile(r"://|\b(password|user|host|dbname)\s*=", re.IGNORECASE)


def check_address(where: object) -> str:
    """Return a path or a connection string as a string; reject anything else."""
    text = os.fspath(where) if isinstance(where, str | os.PathLike) else ""
    is_connection = isinstance(text, str) and bool(_CONNECTION.search(text))
    known = isinstance(text, str) and (not is_connection or text.startswith(POSTGRES))
    usable = isinstance(text, str) and text and "\0" not in text and known
    if usable and (is_connection or is_path(text)):
        return text
    # A connection string can contain a password, so the message does not quote it.
    got = "a connection string of another kind" if is_connection else quote(where)
    raise InvalidParameter(
        "A ledger must be the path of a file, or postgresql://…",
        got=got,
        fix="Write 'people.ledger', for example.",
    )


def is_path(text: str) -> bool:
    """Return whether a string can be a file name: without NUL and lone surrogates."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def open_store(where: str, *, timeout: float, create: bool) -> Store:
    """Return the store at an address: a path, or a PostgreSQL connection string."""
    if where.startswith(POSTGRES):
        from leastnoise.ledger.stores.postgres import PostgresStore

        return PostgresStore(where, timeout=timeout, create=create)
    from leastnoise.ledger.stores.sqlite import SqliteStore

    return SqliteStore(Path(where), timeout=timeout, create=create)
