"""The chain of rows: followed and checked before anything is read from it or added to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from threading import RLock
from weakref import WeakSet

from leastnoise.ledger.accounts import Accounts
from leastnoise.ledger.audit import Audit
from leastnoise.ledger.rows import BEGINNING, Head, Json, Row, damaged
from leastnoise.ledger.stores import Page, Store
from leastnoise.ledger.witness import Witness, forgotten

# Rows that are read at a time, so that reading them slowly keeps nobody waiting.
_SOME = 1000
# The least number that a row can be given, by hand.
_LEAST = -(1 << 63)


class Draft:
    """A page that is being written, and the accounts as they are at its end."""

    def __init__(self, page: Page, known: Accounts) -> None:
        self._page = page
        self.accounts = known

    def of(self, key: str, kind: str) -> list[Row]:
        """Return the rows of a key that are of a kind."""
        return keyed(self._page, key, kind)

    def write(self, kind: str, key: str, body: Json, payload: bytes = b"") -> Row:
        """Append a row and follow it, as everyone after us will."""
        row = Row.after(self.accounts.head, kind, key, body, payload)
        self._page.append(row)
        self.accounts.follow(iter((row,)))
        return row


class Chain:
    """The rows in a store, how far they were followed, and what they come to as far as that.

    One for a process or several threads of it; other processes have chains of their own and may
    append at any time.
    """

    def __init__(self, store: Store, witness: Witness | None) -> None:
        self._store = store
        self._witness = witness
        self._lock = RLock()
        self._known = Accounts()
        self._noted = BEGINNING
        _CHAINS.add(self)

    @contextmanager
    def peeking(self) -> Iterator[Page]:
        """Open a page of which only the end is checked: in the same time for any number of rows."""
        with self._lock, self._store.reading() as page:
            head = page.head()
            last = next(page.rows(head.seq - 1), None)
            if (last.head if last else BEGINNING) != head:
                raise damaged(head.seq, "is not the head that was noted")
            yield page

    @contextmanager
    def reading(self) -> Iterator[Draft]:
        """Open a page to be read, all of it checked."""
        with self._lock:
            self._checked_once()
            known = self._known.copied()
            with self._store.reading() as page:
                _follow(page, known, [])
                self._known = known
                yield Draft(page, known)

    @contextmanager
    def writing(self) -> Iterator[Draft]:
        """Open a page to be appended to, all of it checked; on disk when the block has ended.

        A long chain is followed before others are kept waiting.
        """
        with self._lock:
            self._checked_once()
            known = self._known.copied()
            if self._witness is not None:
                self._witness.ready()
            with self._store.writing() as page:
                _follow(page, known, [])
                yield Draft(page, known)
            self._known = known
            # Also of a row that somebody wrote who did not live to note it.
            if self._witness is not None and known.head != self._noted:
                self._witness.note(known.head)
                self._noted = known.head

    def verify(self, wanted: list[Head]) -> Head:
        """Follow everything from the start, past the heads that it must hold; return the last."""
        if self._witness is not None:
            wanted = [*wanted, *self._witness.heads()]
        found = Accounts()
        with self._lock:
            with self._store.reading() as page:
                page.check()
                _follow(page, found, wanted, Audit())
            self._known = found
        return found.head

    def rows(self) -> Iterator[Row]:
        """Go through all rows, each checked before it is given out."""
        known, audit = Accounts(), Audit()
        while True:
            with self._lock, self._store.reading() as page:
                after = known.head.seq or _LEAST
                some, head = list(islice(page.rows(after), _SOME)), page.head()
            for row in some:
                known.follow(iter((row,)))
                audit.check(row)
                yield row
            if len(some) < _SOME:
                if known.head != head:
                    raise damaged(head.seq, "is not the head that was noted")
                return

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _checked_once(self) -> None:
        if not self._known.head.seq:
            self.verify([])

    def forked(self) -> None:
        """Go on as a child: a thread that held the lock is not in it."""
        self._lock = RLock()


_CHAINS: WeakSet[Chain] = WeakSet()


def _forked() -> None:
    for chain in _CHAINS:
        chain.forked()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


def keyed(page: Page, key: str, kind: str) -> list[Row]:
    """Return the rows of a key that are of a kind, each checked against the row before it.

    For they are read out of turn: since the chain was followed, somebody may have changed them.
    """
    rows = [row for row in page.of(key) if row.kind == kind]
    last = page.head().seq
    for row in rows:
        if not 0 < row.seq <= last:
            raise damaged(row.seq, "is outside the chain")
        before = next(page.rows(row.seq - 2), None) if row.seq > 1 else None
        if row.hash != row.hashed(before.hash if before else BEGINNING.hash):
            raise damaged(row.seq, "does not have the hash that it must")
    return rows


def _follow(page: Page, known: Accounts, wanted: list[Head], audit: Audit | None = None) -> None:
    """Follow the rows of a page to its end, past all the heads that it must hold.

    What was there at the last look must still be there. With an audit, which is for all rows from
    the first, they are checked against each other.
    """
    start, missing = known.head, {(head.seq, head.hash) for head in wanted}
    # From before the first, so that what was put there is found.
    rows = page.rows(start.seq - 1 if start.seq else _LEAST)
    if start.seq:
        last = next(rows, None)
        if last is None or last.head != start:
            raise forgotten(start)
    if audit is not None:
        rows = audit.follow(rows)
    known.follow(_struck(rows, missing) if missing else rows)
    if missing:
        raise forgotten(Head(*max(missing)))
    if known.head != page.head():
        raise damaged(page.head().seq, "is not the head that was noted")


def _struck(rows: Iterator[Row], missing: set[tuple[int, str]]) -> Iterator[Row]:
    for row in rows:
        missing.discard((row.seq, row.hash))
        yield row
