"""Answers that are the same in every run, for tests of your own code. They are not private.

Pass a :class:`NotPrivateLedger` wherever your code takes a ledger. All noise of releases that
charge it follows from its seed, and all answers are marked: printed, in notebooks and in exports.

Nothing switches this on but the ledger itself: there is no setting, no variable of the environment
and no state of the process. So a release that charges a real ledger, or none, always has noise from
the operating system's generator, also while another thread tests. A ``NotPrivateLedger`` is in
memory: it has no address, so it cannot write to a real ledger, and :class:`leastnoise.Ledger`
cannot open it.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import RLock

from leastnoise.core.exact import parse_count
from leastnoise.core.privacy import Privacy
from leastnoise.core.seeded import SeededTape
from leastnoise.core.tape import Tape
from leastnoise.json_types import Json
from leastnoise.ledger import (
    BEGINNING,
    Allocation,
    Head,
    Ledger,
    Receipt,
    Release,
    Row,
    Spending,
    Stored,
)

__all__ = ["NotPrivateLedger"]

_LIMIT = Privacy(1, "1e-6")


class _Seeds:
    """The tapes of the releases of a ledger: the n-th release always gets the same one."""

    def __init__(self, seed: int) -> None:
        self.seed, self._numbers, self._keys = seed, count(1), count(1)

    def new_tape(self) -> Tape:
        return SeededTape(f"testing/{self.seed}/{next(self._numbers)}")

    def new_key(self) -> str:
        return f"not private {next(self._keys)}"


class _NotPrivate(Ledger):
    """A ledger whose releases have seeded noise and are marked as not private."""

    _seeds: _Seeds

    @property
    def not_private(self) -> bool:
        """Whether releases have seeded noise: True."""
        return True

    def charge_or_recall(
        self, spending: Spending, key: str | None = None, *, fresh: bool = False
    ) -> tuple[Receipt, Stored | None]:
        """Charge in memory; the receipt marks the release as not private."""
        own = self._seeds.new_key() if key is None else key
        receipt, stored = super().charge_or_recall(spending, own, fresh=fresh)
        return _mark(receipt), None if stored is None else _mark_stored(stored)

    def stored(self, receipt: Receipt) -> Stored | None:
        """Return the stored answer of a charge, or None."""
        stored = super().stored(receipt)
        return None if stored is None else _mark_stored(stored)

    def store(self, receipt: Receipt, content: Json, payload: bytes = b"") -> Stored:
        """Store the answer of a charge in memory."""
        return _mark_stored(super().store(receipt, content, payload))

    def export(self, *, unit: str | None = None) -> Json:
        """Return the declaration of the dataset, marked as not private."""
        return {"not_private": True, **super().export(unit=unit)}

    @property
    def releases(self) -> list[Release]:
        """Every release, each marked as not private."""
        return [replace(release, not_private=True) for release in super().releases]

    @property
    def _allocation_class(self) -> type[Allocation]:
        return _NotPrivateAllocation

    def _new_tape(self) -> Tape | None:
        return self._seeds.new_tape()

    def __repr__(self) -> str:
        who = "" if self.analyst is None else f", analyst={self.analyst!r}"
        return f"NotPrivateLedger(seed={self._seeds.seed}, dataset={self.dataset!r}{who})"


class NotPrivateLedger(_NotPrivate):
    """A ledger in memory whose releases have seeded noise, for tests. They are not private.

    It behaves as a :class:`leastnoise.Ledger` in all other respects: it charges, rejects what
    exceeds its limit, and returns the stored answer of a repeated key. The n-th release gets the
    n-th noise of the seed, so the same releases in the same order have the same answers, on every
    machine.

    Args:
        seed: An integer ≥ 0, from which all noise follows.
        limit: The limit of the dataset. Default: ε = 1, δ = 1e-6.
        dataset: The name of the dataset. Default: ``"data"``.
        analyst: The name of the analyst. Default: none.
        analyst_limit: The limit of this analyst, within that of the dataset. Default: none.
        accounting: ``"basic"`` or ``"gaussian"``, as for a ledger. Default: ``"basic"``.

    Raises:
        InvalidParameter: If an argument is invalid.

    >>> import leastnoise as ln
    >>> mechanism = ln.calibrate(ln.Privacy("0.1"), sensitivity=1, integer=True)
    >>> with ln.testing.NotPrivateLedger(seed=1) as ledger:
    ...     mechanism.release(42, ledger=ledger)
    NOT PRIVATE (seeded noise): <release: 39 ± 30 (95%), ε = 0.1>
    """

    def __init__(
        self,
        seed: int,
        *,
        limit: Privacy = _LIMIT,
        dataset: str | None = None,
        analyst: str | None = None,
        analyst_limit: Privacy | None = None,
        accounting: str | None = None,
    ) -> None:
        """Create an empty ledger in memory."""
        self._seeds = _Seeds(parse_count(seed, "seed", least=0))
        super().__init__(
            "not private, in memory",
            limit=limit,
            dataset=dataset,
            analyst=analyst,
            analyst_limit=analyst_limit,
            accounting=accounting,
        )

    def _open_store(self, seconds: float, *, create: bool) -> "_Memory":  # noqa: ARG002
        return _Memory()


class _NotPrivateAllocation(_NotPrivate, Allocation):
    """An allocation of a ledger whose releases have seeded noise."""

    def __init__(self, ledger: _NotPrivate, name: str) -> None:
        """Charge releases to an allocation, with noise of the same seed."""
        Allocation.__init__(self, ledger, name)
        self._seeds = ledger._seeds

    def __repr__(self) -> str:
        return f"{super().__repr__()}.allocation({self.name!r})"


def _mark(receipt: Receipt) -> Receipt:
    return replace(receipt, not_private=True)


def _mark_stored(stored: Stored) -> Stored:
    return replace(stored, receipt=_mark(stored.receipt))


class _Memory:
    """The rows of a ledger in memory: the store and, one at a time, its page."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._rows: list[Row] = []
        self._by_key: defaultdict[str, list[Row]] = defaultdict(list)

    @contextmanager
    def reading(self) -> Iterator["_Memory"]:
        """Open a page that shows one state of the ledger."""
        with self._lock:
            yield self

    @contextmanager
    def writing(self) -> Iterator["_Memory"]:
        """Open a page that nobody else can append to; an error takes its rows back."""
        with self._lock:
            before = len(self._rows)
            try:
                yield self
            except BaseException:
                while len(self._rows) > before:
                    self._by_key[self._rows.pop().key].pop()
                raise

    def close(self) -> None:
        """Do nothing: the rows go with the object."""

    def head(self) -> Head:
        """Return the number and hash of the last row."""
        return self._rows[-1].head if self._rows else BEGINNING

    def rows(self, after: int) -> Iterator[Row]:
        """Return the rows with numbers above ``after``, in order."""
        return (self._rows[place] for place in range(max(after, 0), len(self._rows)))

    def of(self, key: str) -> list[Row]:
        """Return the rows under a key, in order."""
        return [*self._by_key[key]]

    def append(self, row: Row) -> None:
        """Append a row."""
        self._rows.append(row)
        self._by_key[row.key].append(row)

    def check(self) -> None:
        """Do nothing: there is no database."""
