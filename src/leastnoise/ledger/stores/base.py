"""Where rows are kept: what a ledger asks of a database, and the choice of one."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from leastnoise.errors import LedgerUnavailable, Words
from leastnoise.ledger.rows import Head, Row

POSTGRES = ("postgresql://", "postgres://")
# The number of a ledger, "lnLg": in a file's header, and of the lock under which tables are made.
APPLICATION = 0x6C6E4C67
SCHEMA = 1
COLUMNS = ", ".join(Row._fields)
TYPES = [int, int, str, str, str, str, bytes, str]


class Page(Protocol):
    """What can be read, and in a writing transaction appended, while it is open."""

    def head(self) -> Head:
        """Return the last row's number and hash, as they are noted beside the rows."""

    def rows(self, after: int) -> Iterator[Row]:
        """Return the rows with larger numbers, in their order."""

    def of(self, key: str) -> list[Row]:
        """Return the charges and answers of a key, and mechanisms of a digest, in their order."""

    def append(self, row: Row) -> None:
        """Write a row and move the head from the row before to it, or fail."""

    def check(self) -> None:
        """Have the database look for damage in its own structures."""


class Store(Protocol):
    """A database that holds one ledger.

    Contract: what a writing transaction appended is on disk when it has ended, or none of it ever
    is; of two writing transactions one ends before the other begins. Errors of the database become
    :class:`~leastnoise.errors.LedgerUnavailable` or :class:`~leastnoise.errors.LedgerDamaged`.
    """

    def reading(self) -> AbstractContextManager[Page]:
        """Open a page that shows one state of the ledger."""

    def writing(self) -> AbstractContextManager[Page]:
        """Open a page that nobody else can append to; it is written when the block ends well."""

    def close(self) -> None:
        """Let go of the database."""


# What to do where there is no ledger yet.
CREATE_LEDGER = "Only the budget owner creates ledgers: " + Words(
    "Ledger(…, limit=Privacy(1, '1e-6')).", "leastnoise ledger create FILE"
)


def unavailable(what: str, advice: str) -> LedgerUnavailable:
    """Return the error for a ledger that cannot be read or written now."""
    return LedgerUnavailable(f"The ledger cannot be used: {what}. Nothing was released", fix=advice)
