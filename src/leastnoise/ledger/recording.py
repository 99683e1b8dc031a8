"""Charge, then draw, then store: the one order for every release.

The order is the guarantee. The charge is on disk before a bit is read, so that no crash and no
error makes a release free. The answer is on disk before it is returned, so that repeating the query
under its key returns the same answer and reveals nothing more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from leastnoise.core.exact import quote
from leastnoise.core.withholding import without_values
from leastnoise.errors import InvalidParameter, LedgerUnavailable, Words
from leastnoise.json_types import Json
from leastnoise.ledger.entries import Receipt, Spending, Unrecorded, check_name
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import reading_content

T = TypeVar("T")
Encoded = tuple[Json, bytes]


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """The stored form of a kind of answer: JSON and bytes."""

    encode: Callable[[T], Encoded]
    decode: Callable[[Json, bytes], T]


@dataclass(frozen=True, slots=True)
class Recording:
    """The ledger in which a release is recorded, and its key.

    Attributes:
        ledger: The ledger, or UNRECORDED.
        key: The name of the query. Default: a key of its own.
        fresh: Whether to charge again and draw new noise under a key that has an answer.

    Raises:
        InvalidParameter: If an argument is invalid, or needs a ledger that is not given.
    """

    ledger: Ledger | Unrecorded
    key: str | None
    fresh: bool

    def __post_init__(self) -> None:
        """Reject anything but a ledger or UNRECORDED, and a key without a ledger."""
        if not isinstance(self.fresh, bool):
            raise InvalidParameter(
                "fresh must be True or False",
                got=quote(self.fresh),
                fix="Pass fresh=True to charge again and draw new noise.",
            )
        check_ledger(self.ledger, "Open one with Ledger('people.ledger', limit=…).")
        if isinstance(self.ledger, Ledger):
            if self.key is not None:
                check_name(self.key, "A key")
        elif self.key is not None or self.fresh:
            raise InvalidParameter(
                Words("key= and fresh= need a ledger", "--key and --fresh need a ledger"),
                fix="Add " + Words("ledger=Ledger(…)", "--ledger FILE") + ", or remove both.",
            )

    def release(
        self, spending: Callable[[], Spending], draw: Callable[[], T], codec: Codec[T]
    ) -> tuple[T, Receipt | None]:
        """Return the stored answer of the key; if there is none, charge, draw and store.

        After an error, the charge stands. The error refers neither to the true values that ``draw``
        reads nor to noise that was not stored.
        """
        try:
            return self._release(spending, draw, codec)
        except BaseException as error:  # noqa: BLE001 -- it may refer to true values
            failure = without_values(error)
        del draw
        raise failure

    def _release(
        self, spending: Callable[[], Spending], draw: Callable[[], T], codec: Codec[T]
    ) -> tuple[T, Receipt | None]:
        ledger = self.ledger
        if isinstance(ledger, Unrecorded):
            return draw(), None
        receipt, stored = ledger.charge_or_recall(spending(), self.key, fresh=self.fresh)
        if stored is None:
            answer = codec.encode(draw())
            try:
                stored = ledger.store(receipt, *answer)
            except LedgerUnavailable as error:
                again = Words(f"key={receipt.key!r}", f"--key {receipt.key!r}")
                raise LedgerUnavailable(
                    f"{error.problem}. The charge stands",
                    fix=f"{error.fix} Repeat the query at no further cost with ".lstrip()
                    + again
                    + ".",
                ) from None
        with reading_content(stored.receipt.head.seq):
            return codec.decode(stored.content, stored.payload), stored.receipt


def check_ledger(ledger: object, advice: str) -> Ledger | Unrecorded:
    """Return a ledger or UNRECORDED, reject anything else; ``advice`` ends the message."""
    if isinstance(ledger, str):
        place = "…" if "://" in ledger else quote(ledger)  # an address can contain a password
        raise InvalidParameter(
            "ledger must be an open Ledger, or UNRECORDED",
            got="a string",
            fix=f"Open it with Ledger({place}). Only the owner of the budget creates a ledger, "
            "with limit=.",
        )
    if not isinstance(ledger, Ledger | Unrecorded):
        raise InvalidParameter(
            "ledger must be a Ledger, or UNRECORDED", got=quote(ledger), fix=advice
        )
    return ledger
