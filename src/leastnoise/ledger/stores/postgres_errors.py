"""What PostgreSQL says, in our words.

Its own may quote what it read, or a connection string with its password: they are neither repeated
nor kept behind an error of ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter, LeastnoiseError, LedgerDamaged
from leastnoise.ledger.stores.base import unavailable

if TYPE_CHECKING:
    from psycopg import Error


_AGAIN = "Repeat the query with the same key."
_LOST = "its server cannot be reached, or was lost", _AGAIN
_WAITED = "its database was locked past the timeout", _AGAIN
# By the beginning of the SQLSTATE (PostgreSQL's manual, appendix A). What is not here is damage.
_REASONS = {
    "08": _LOST,
    "25006": ("its database is read-only", "Use one that can be written."),
    "25P03": _LOST,  # stopped for so long within a transaction that it was ended
    "25P04": _LOST,
    "28": ("its server rejects this user", "Check the name and the password."),
    "3D": ("its server has no such database", "Create it, or check its name."),
    "40": _WAITED,
    "42501": ("this user may not use its tables", "Ask for the privileges."),
    "53100": ("its server's disk is full", f"Free some space. {_AGAIN}"),
    "53200": ("its server is out of memory", _AGAIN),
    "53300": ("its server has no connection free", _AGAIN),
    "53": ("its server lacks a resource, such as open files", _AGAIN),
    "54": ("an answer is larger than its database takes", "Release less at a time."),
    "55P03": _WAITED,
    "57014": _WAITED,
    "57P": _LOST,
    "58030": ("its server's disk failed", f"Fix it. {_AGAIN}"),
}


@contextmanager
def translated() -> Iterator[None]:
    """Say in our words what goes wrong in a block."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        ours = _said(error)
        try:
            raise ours from None
        finally:
            ours.__context__ = None  # "from None" hides it from printing alone


def unreadable() -> InvalidParameter:
    """Return the error for a connection string that is none."""
    return InvalidParameter(
        "A ledger in PostgreSQL needs a connection string, 'postgresql://user@host/database'",
        got="one that cannot be read",
        fix="Write characters such as @ and % in a password as %40 and %25.",
    )


def broken() -> LedgerDamaged:
    """Return the error for tables that are not as they were made."""
    return LedgerDamaged(
        "The ledger is damaged: the tables of this database are not as they were created. Nothing "
        "was released",
        fix="Restore an intact copy, and find out what changed it.",
    )


def _said(error: "Error") -> LeastnoiseError:
    from psycopg import InterfaceError, OperationalError, ProgrammingError

    state = error.sqlstate or ""
    if state == "XX000" and (reason := _unwritten(error)):
        return unavailable(*reason)
    for beginning, reason in _REASONS.items():
        if state.startswith(beginning):
            return unavailable(*reason)
    if not state and isinstance(error, OperationalError | InterfaceError):
        return unavailable(*_LOST)  # it never came to a server's answer
    if not state and isinstance(error, ProgrammingError):
        return unreadable()
    return broken()


def _unwritten(error: "Error") -> tuple[str, str] | None:
    """Return the reason if an "internal error" is one of writing, or None.

    PostgreSQL has codes for a disk that is full and one that fails, and this for all else that a
    system says to a write, such as a file that may not grow. Its words are in any language, the
    names of its functions are not. Where it is its log that cannot be written, it starts again.
    """
    if error.diag.severity_nonlocalized == "PANIC":
        return _LOST
    if (error.diag.source_function or "").startswith(_WRITING):
        return _REASONS["58030"]
    return None


_WRITING = ("mdextend", "mdzeroextend", "mdwrite", "XLogWrite", "XLogFileInit")
