"""The chain of rows, checked before anything is read from it or appended to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from threading import RLock
from weakref import WeakSet

from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Accounts
from leastnoise.ledger.audit import Audit
from leastnoise.ledger.rows import BEGINNING, Head, Row, damage_error
from leastnoise.ledger.stores import Page, Store
from leastnoise.ledger.witness import Witness, missing_head_error

# Rows are read in batches of this size, so that a slow reader does not block writers.
_SOME = 1000
# The smallest number that a row inserted by hand can have.
_LEAST = -(1 << 63)


class Draft:
    """An open page, and the accounts after its last row."""

    def __init__(self, page: Page, accounts: Accounts) -> None:
        self._page = page
        self.accounts = accounts

    def of(self, key: str, *kinds: str) -> list[Row]:
        """Return the rows of some kinds under a key, in order."""
        return find_rows(self._page, key, *kinds)

    def write(self, kind: str, key: str, body: Json, payload: bytes = b"") -> Row:
        """Append a row, and check it as every later reader will."""
        row = Row.after(self.accounts.head, kind, key, body, payload)
        self._page.append(row)
        self.accounts.follow(iter((row,)))
        return row


class Chain:
    """The rows in a store, followed up to a head, and the accounts at that head.

    Threads of a process can share a chain. Other processes have their own chains, and can append
    rows at any time.
    """

    def __init__(self, store: Store, witness: Witness | None) -> None:
        self._store = store
        self._witness = witness
        self._lock = RLock()
        self._accounts = Accounts()
        self._noted = BEGINNING
        _CHAINS.add(self)

    @contextmanager
    def peeking(self) -> Iterator[Page]:
        """Open a page of which only the last row is checked, so the time is constant."""
        with self._lock, self._store.reading() as page:
            head = page.head()
            last = next(page.rows(head.seq - 1), None)
            if (last.head if last else BEGINNING) != head:
                raise damage_error(head.seq, "is not the stored head")
            yield page

    @contextmanager
    def reading(self) -> Iterator[Draft]:
        """Open a page for reading, with all of its rows checked."""
        with self._lock:
            self._verify_once()
            accounts = self._accounts.copy()
            with self._store.reading() as page:
                _follow(page, accounts, [])
                self._accounts = accounts
                yield Draft(page, accounts)

    @contextmanager
    def writing(self) -> Iterator[Draft]:
        """Open a page for appending, with all of its rows checked; durable when the block ends.

        A long chain is checked before the write lock is taken, so that other writers do not wait.
        """
        with self._lock:
            self._verify_once()
            accounts = self._accounts.copy()
            if self._witness is not None:
                self._witness.check_writable()
            with self._store.writing() as page:
                _follow(page, accounts, [])
                yield Draft(page, accounts)
            self._accounts = accounts
            # This also notes rows of a process that ended before it could note them.
            if self._witness is not None and accounts.head != self._noted:
                self._witness.note(accounts.head)
                self._noted = accounts.head

    def verify(self, expected: list[Head]) -> Head:
        """Check all rows from the first, and that they include the heads; return the last head."""
        if self._witness is not None:
            expected = [*expected, *self._witness.heads()]
        accounts = Accounts()
        with self._lock:
            with self._store.reading() as page:
                page.check()
                _follow(page, accounts, expected, Audit())
            self._accounts = accounts
        return accounts.head

    def rows(self) -> Iterator[Row]:
        """Yield all rows, each checked first."""
        accounts, audit = Accounts(), Audit()
        while True:
            with self._lock, self._store.reading() as page:
                after = accounts.head.seq or _LEAST
                some, head = list(islice(page.rows(after), _SOME)), page.head()
            for row in some:
                accounts.follow(iter((row,)))
                audit.check(row)
                yield row
            if len(some) < _SOME:
                if accounts.head != head:
                    raise damage_error(head.seq, "is not the stored head")
                return

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _verify_once(self) -> None:
        if not self._accounts.head.seq:
            self.verify([])

    def renew_lock(self) -> None:
        """Replace the lock in a forked child, where a thread that held it does not exist."""
        self._lock = RLock()


_CHAINS: WeakSet[Chain] = WeakSet()


def _renew_locks() -> None:
    for chain in _CHAINS:
        chain.renew_lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_locks)


def find_rows(page: Page, key: str, *kinds: str) -> list[Row]:
    """Return the rows of some kinds under a key, each checked against the row before it.

    They are read out of order, and may have been changed since the chain was followed.
    """
    rows = [row for row in page.of(key) if row.kind in kinds]
    last = page.head().seq
    for row in rows:
        if not 0 < row.seq <= last:
            raise damage_error(row.seq, "is outside the chain")
        before = next(page.rows(row.seq - 2), None) if row.seq > 1 else None
        if row.hash != row.compute_hash(before.hash if before else BEGINNING.hash):
            raise damage_error(row.seq, "has the wrong hash")
    return rows


def _follow(
    page: Page, accounts: Accounts, expected: list[Head], audit: Audit | None = None
) -> None:
    """Follow the rows of a page to its end, and check that the expected heads are among them.

    The head that was reached before must still be there. An audit, which needs all rows from the
    first, also checks them against each other.
    """
    start, missing = accounts.head, {(head.seq, head.hash) for head in expected}
    # From below row 1, so that rows that were inserted there are found.
    rows = page.rows(start.seq - 1 if start.seq else _LEAST)
    if start.seq:
        last = next(rows, None)
        if last is None or last.head != start:
            raise missing_head_error(start)
    if audit is not None:
        rows = audit.follow(rows)
    accounts.follow(_strike_off(rows, missing) if missing else rows)
    if missing:
        raise missing_head_error(Head(*max(missing)))
    if accounts.head != page.head():
        raise damage_error(page.head().seq, "is not the stored head")


def _strike_off(rows: Iterator[Row], missing: set[tuple[int, str]]) -> Iterator[Row]:
    for row in rows:
        missing.discard((row.seq, row.hash))
        yield row
