"""The interface of a store, which a ledger requires of a database."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from leastnoise.errors import LedgerUnavailable, Words
from leastnoise.ledger.rows import Head, Row

POSTGRES = ("postgresql://", "postgres://")
# "lnLg", which identifies a ledger in the header of a file, and the lock for creating tables.
APPLICATION = 0x6C6E4C67
SCHEMA = 1
COLUMNS = ", ".join(Row._fields)
TYPES = [int, int, str, str, str, str, bytes, str]


class Page(Protocol):
    """An open transaction: its rows can be read and, if it is for writing, appended to."""

    def head(self) -> Head:
        """Return the number and hash of the last row, as stored apart from the rows."""

    def rows(self, after: int) -> Iterator[Row]:
        """Return the rows with numbers above ``after``, in order."""

    def of(self, key: str) -> list[Row]:
        """Return the rows under a key, in order."""

    def append(self, row: Row) -> None:
        """Write a row and advance the head to it; raise if the head is not the row before it."""

    def check(self) -> None:
        """Let the database check its own structures for damage."""


class Store(Protocol):
    """A database with one ledger.

    Contract: write transactions are atomic, durable and serialized. Errors of the database become
    :class:`~leastnoise.errors.LedgerUnavailable` or :class:`~leastnoise.errors.LedgerDamaged`.
    """

    def reading(self) -> AbstractContextManager[Page]:
        """Open a page that shows one state of the ledger."""

    def writing(self) -> AbstractContextManager[Page]:
        """Open a page that nobody else can append to; it is committed when the block ends."""

    def close(self) -> None:
        """Close the database."""


# The advice if there is no ledger.
CREATE_LEDGER = "Only the budget owner creates ledgers: " + Words(
    "Ledger(…, limit=Privacy(1, '1e-6')).", "leastnoise ledger create FILE"
)


def unavailable_error(what: str, advice: str) -> LedgerUnavailable:
    """Return the error for a ledger that cannot be read or written now."""
    return LedgerUnavailable(f"The ledger cannot be used: {what}. Nothing was released", fix=advice)
