"""Charge, then draw, then store: the one order for every release."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, LedgerUnavailable, Words
from leastnoise.ledger.entries import Receipt, Spending, Unrecorded, check_name
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import Json

T = TypeVar("T")
Written = tuple[Json, bytes]


class Form(Generic[T]):
    """How a kind of answer is kept in a ledger."""

    def __init__(self, written: Callable[[T], Written], read: Callable[[Json, bytes], T]) -> None:
        """Keep both ways."""
        self.written = written
        self.read = read


@dataclass(frozen=True, slots=True)
class Place:
    """Where a release is recorded, and under which key; refused if it makes no sense.

    Attributes:
        ledger: The ledger, or UNRECORDED.
        key: What the question is called; None for a key of its own.
        fresh: Whether to charge and draw again under a key that has an answer.
    """

    ledger: Ledger | Unrecorded
    key: str | None
    fresh: bool

    def __post_init__(self) -> None:
        """Refuse what is neither a ledger nor UNRECORDED, and keys that nobody would keep."""
        if not isinstance(self.fresh, bool):
            raise InvalidParameter(
                f"fresh must be True or False; got {quote(self.fresh)}. "
                "Say whether to charge and draw again."
            )
        if isinstance(self.ledger, Unrecorded):
            if self.key is not None or self.fresh:
                raise InvalidParameter(
                    "a key is kept by a ledger",
                    got="one, or " + Words("fresh=True", "--fresh") + ", without a ledger",
                    fix="Give "
                    + Words("ledger=Ledger(…)", "--ledger FILE")
                    + ", or leave both out.",
                )
        elif not isinstance(self.ledger, Ledger):
            raise InvalidParameter(
                f"ledger must be a Ledger, or UNRECORDED to go without; got "
                f"{quote(self.ledger)}. Open one with Ledger('people.ledger', limit=…)."
            )
        elif self.key is not None:
            check_name(self.key, "a key")

    def released(
        self, spending: Callable[[], Spending], release: Callable[[], T], form: Form[T]
    ) -> tuple[T, Receipt | None]:
        """Release what was released under the key before, or else something new.

        An error after the charge leaves the charge as it is.
        """
        ledger = self.ledger
        if isinstance(ledger, Unrecorded):
            return release(), None
        receipt, stored = ledger.charge_or_recall(spending(), self.key, fresh=self.fresh)
        if stored is None:
            answer = form.written(release())
            try:
                stored = ledger.store(receipt, *answer)
            except LedgerUnavailable as error:
                again = Words(f"key={receipt.key!r}", f"--key {receipt.key!r}")
                raise LedgerUnavailable(
                    f"{error} What was charged stays charged: ask again with "
                    + again
                    + ", and it is not charged twice."
                ) from None
        return form.read(stored.content, stored.payload), stored.receipt
