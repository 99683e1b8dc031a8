"""Translate errors of SQLite, whose messages can quote stored data, to those of leastnoise."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from leastnoise.errors import LeastnoiseError, LedgerDamaged
from leastnoise.ledger.stores.base import unavailable_error

_LOCKED = "another process locked it past the timeout", "Repeat the query with the same key."
_REASONS = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_PERM: ("its file may not be used", "Check its permissions."),
    sqlite3.SQLITE_NOMEM: ("out of memory", "Repeat the query with the same key."),
    sqlite3.SQLITE_READONLY: ("its file or folder is read-only", "Make them writable."),
    sqlite3.SQLITE_FULL: (
        "its disk is full",
        "Free some space, and repeat the query with the same key.",
    ),
    sqlite3.SQLITE_IOERR: ("its disk failed", "Fix it, and repeat the query with the same key."),
    sqlite3.SQLITE_CANTOPEN: ("its file cannot be opened", "Check its path and permissions."),
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate the errors of a block."""
    try:
        yield
    except LeastnoiseError:
        raise
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.ProgrammingError):
            raise unavailable_error("it was closed", "Open it again.") from None
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)
        raise (unavailable_error(*reason) if reason else damage_error()) from None
    except UnicodeDecodeError:  # SQLite's message quotes data that is not UTF-8
        raise damage_error() from None


def damage_error() -> LedgerDamaged:
    """Return the error for a file that is not as it was written."""
    return LedgerDamaged(
        "The ledger is damaged: this file is not as it was written. Nothing was released",
        fix="Restore an intact copy, and find out what changed it.",
    )
