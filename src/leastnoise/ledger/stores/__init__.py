"""Where a ledger is kept: a file, or a team's database."""

import os
import re
from pathlib import Path

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.ledger.stores.base import POSTGRES, Page, Store, unavailable

__all__ = [
    "Page",
    "Store",
    "check_address",
    "is_path",
    "open_store",
    "unavailable",
]


# What is meant as a connection string and not as a path.
_CONNECTION = re.compile(r"://|\b(password|user|host|dbname)\s*=", re.IGNORECASE)


def check_address(where: object) -> str:
    """Return a path or a connection string as a text; refuse what is neither."""
    text = os.fspath(where) if isinstance(where, str | os.PathLike) else ""
    connects = isinstance(text, str) and bool(_CONNECTION.search(text))
    known = isinstance(text, str) and (not connects or text.startswith(POSTGRES))
    usable = isinstance(text, str) and text and "\0" not in text and known
    if usable and (connects or is_path(text)):
        return text
    # A connection string can hold a password: only its kind is named.
    got = "a connection string of another kind" if connects else quote(where)
    raise InvalidParameter(
        "A ledger must be the path of a file, or postgresql://…",
        got=got,
        fix="Write 'people.ledger', for example.",
    )


def is_path(text: str) -> bool:
    """Return whether a text can be the name of a file: without NUL and lone surrogates."""
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
