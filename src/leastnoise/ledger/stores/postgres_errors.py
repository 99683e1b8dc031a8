"""Translate errors of PostgreSQL to those of leastnoise.

Messages of PostgreSQL can quote stored data, or a connection string with its password. No error of
leastnoise repeats them or refers to them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter, LeastnoiseError, LedgerDamaged
from leastnoise.ledger.stores.base import unavailable_error

if TYPE_CHECKING:
    from psycopg import Error


_AGAIN = "Repeat the query with the same key."
_LOST = "its server cannot be reached, or was lost", _AGAIN
_WAITED = "its database was locked past the timeout", _AGAIN
# Reasons by the start of the SQLSTATE (PostgreSQL's manual, appendix A). Others are damage.
_REASONS = {
    "08": _LOST,
    "25006": ("its database is read-only", "Use one that can be written."),
    "25P03": _LOST,  # the transaction was idle for too long
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
def translate_errors() -> Iterator[None]:
    """Translate the errors of a block."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        ours = _translate(error)
        try:
            raise ours from None
        finally:
            ours.__context__ = None  # "from None" only hides it when printed


def connection_string_error() -> InvalidParameter:
    """Return the error for an invalid connection string."""
    return InvalidParameter(
        "A ledger in PostgreSQL needs a connection string, 'postgresql://user@host/database'",
        got="one that cannot be read",
        fix="Write characters such as @ and % in a password as %40 and %25.",
    )


def damage_error() -> LedgerDamaged:
    """Return the error for tables that are not as they were created."""
    return LedgerDamaged(
        "The ledger is damaged: the tables of this database are not as they were created. Nothing "
        "was released",
        fix="Restore an intact copy, and find out what changed it.",
    )


def _translate(error: "Error") -> LeastnoiseError:
    from psycopg import InterfaceError, OperationalError, ProgrammingError

    state = error.sqlstate or ""
    if state == "XX000" and (reason := _write_failure(error)):
        return unavailable_error(*reason)
    for beginning, reason in _REASONS.items():
        if state.startswith(beginning):
            return unavailable_error(*reason)
    if not state and isinstance(error, OperationalError | InterfaceError):
        return unavailable_error(*_LOST)  # no server answered
    if not state and isinstance(error, ProgrammingError):
        return connection_string_error()
    return damage_error()


def _write_failure(error: "Error") -> tuple[str, str] | None:
    """Return the reason if an "internal error" is a failed write, or None.

    PostgreSQL has codes for a full and for a failing disk. Every other failed write, as to a file
    at its size limit, is an "internal error". Its message can be in any language, but the names of
    functions are not translated. If the server cannot write its log, it panics and restarts.
    """
    if error.diag.severity_nonlocalized == "PANIC":
        return _LOST
    if (error.diag.source_function or "").startswith(_WRITING):
        return _REASONS["58030"]
    return None


_WRITING = ("mdextend", "mdzeroextend", "mdwrite", "XLogWrite", "XLogFileInit")
