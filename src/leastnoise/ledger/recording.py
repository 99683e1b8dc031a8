"""Charge, then sample, then store, for every release.

The order is the guarantee. The charge is on disk before a bit is read, so that no crash and no
error makes a release free. The answer is on disk before it is returned, so that repeating the query
under its key returns the same answer and reveals nothing more.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Generic, TypeVar

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.core.tape import Draw
from leastnoise.core.withholding import without_values
from leastnoise.errors import InvalidParameter, LedgerUnavailable, Words, parameter
from leastnoise.events import Charged, Released, Request, Reused, emit, is_heard
from leastnoise.json_types import Json
from leastnoise.ledger.entries import Receipt, Spending, Unrecorded, check_name
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.rows import reading_content

T = TypeVar("T")
Encoded = tuple[Json, bytes]
_UNTITLED = "release"  # as answers without a title are printed


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
        key: The name of the query. Default: its own key.
        fresh: Whether to charge again and sample new noise under a key that has an answer.
        adaptive: Whether the guarantee follows from earlier answers. Then it would reveal them, and
            so would the key: events omit both.

    Raises:
        InvalidParameter: If an argument is invalid, or needs a ledger that is not given.
    """

    ledger: Ledger | Unrecorded
    key: str | None
    fresh: bool
    adaptive: bool = False

    def __post_init__(self) -> None:
        """Reject anything but a ledger or UNRECORDED, and a key without a ledger."""
        if not isinstance(self.fresh, bool):
            raise InvalidParameter(
                parameter("fresh") + " must be True or False",
                got=quote(self.fresh),
                fix="Pass fresh=True to charge again and draw new noise.",
            )
        check_ledger(self.ledger, "Open one with Ledger('people.ledger').")
        if isinstance(self.ledger, Ledger):
            if self.key is not None:
                check_name(self.key, "key")
        elif self.key is not None or self.fresh:
            raise InvalidParameter(
                Words("key= and fresh= need a ledger", "--key and --fresh need a ledger"),
                fix="Add " + Words("ledger=Ledger(…)", "--ledger FILE") + ", or remove both.",
            )

    def release(
        self,
        spending: Callable[[], Spending],
        draw: Draw[T],
        codec: Codec[T],
        title: str | None = None,
    ) -> tuple[T, Receipt | None]:
        """Return the stored answer of the key; if there is none, charge, sample and store.

        After an error, the charge stands. The error refers neither to the true values that ``draw``
        reads nor to noise that was not stored.

        Args:
            spending: Returns the charge.
            draw: Returns noisy values.
            codec: Their stored form.
            title: The name of the query in events. Then the caller emits the events of the
                request and of its rejection. Default: no query of a table, which has events only
                with a ledger.
        """
        request = self.make_request(_UNTITLED if title is None else title)
        alone = title is None and isinstance(self.ledger, Ledger)
        if alone:
            request.ask()
        try:
            if isinstance(self.ledger, Ledger):
                return self._release_recorded(self.ledger, spending, draw, codec, request)
            return self._release_unrecorded(spending, draw, None if title is None else request)
        except BaseException as error:  # noqa: BLE001 -- it may refer to true values
            failure = without_values(error)
        del draw
        if alone:
            request.refuse(failure)
        raise failure

    def make_request(self, title: str) -> Request:
        """Return the words that all events of a request share."""
        ledger = self.ledger
        if isinstance(ledger, Unrecorded):
            return Request(title)
        key = None if self.adaptive else self.key
        return Request(title, ledger.dataset, ledger.analyst, key, ledger.not_private)

    def _release_unrecorded(
        self, spending: Callable[[], Spending], draw: Draw[T], request: Request | None
    ) -> tuple[T, None]:
        began = perf_counter()
        answer = draw()
        if request is not None and is_heard(Released):
            took = perf_counter() - began
            _emit_release(request, spending().privacy, took, 0.0)
        return answer, None

    def _release_recorded(
        self,
        ledger: Ledger,
        spending: Callable[[], Spending],
        draw: Draw[T],
        codec: Codec[T],
        request: Request,
    ) -> tuple[T, Receipt]:
        charge, began = spending(), perf_counter()
        receipt, stored = ledger.charge_or_recall(charge, self.key, fresh=self.fresh)
        privacy = None if self.adaptive else charge.privacy
        if not self.adaptive:
            request = replace(request, key=receipt.key)
        _emit_charge(request, privacy, receipt, perf_counter() - began, stored is not None)
        if stored is None:
            began = perf_counter()
            answer = codec.encode(draw(ledger._new_tape()))
            sampled_at = perf_counter()
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
            if is_heard(Released):
                _emit_release(request, privacy, sampled_at - began, perf_counter() - sampled_at)
        with reading_content(stored.receipt.head.seq):
            return codec.decode(stored.content, stored.payload), stored.receipt


def _emit_charge(
    request: Request, privacy: Privacy | None, receipt: Receipt, seconds: float, stored: bool
) -> None:
    """Emit that a release was charged, or that an earlier charge is reused."""
    if receipt.reused:
        if is_heard(Reused):
            emit(Reused(*request.words, stored=stored, ledger_seconds=seconds))
    elif is_heard(Charged):
        allocation = None if receipt.allocation is None else receipt.allocation.name
        emit(
            Charged(
                *request.words,
                privacy=privacy,
                allocation=allocation,
                cost=None if privacy is None else receipt.cost,
                ledger_seconds=seconds,
            )
        )


def _emit_release(request: Request, privacy: Privacy | None, engine: float, ledger: float) -> None:
    """Emit that new answers are released."""
    emit(Released(*request.words, privacy=privacy, engine_seconds=engine, ledger_seconds=ledger))


def check_ledger(ledger: object, advice: str) -> Ledger | Unrecorded:
    """Return a ledger or UNRECORDED, reject anything else; ``advice`` ends the message."""
    if isinstance(ledger, str):
        place = "…" if "://" in ledger else quote(ledger)  # an address can contain a password
        raise InvalidParameter(
            parameter("ledger") + " must be an open Ledger, or UNRECORDED",
            got="a string",
            fix=f"Open it with Ledger({place}). Only the owner of the budget creates a ledger, "
            "with limit=.",
        )
    if not isinstance(ledger, Ledger | Unrecorded):
        raise InvalidParameter(
            parameter("ledger") + " must be a Ledger, or UNRECORDED", got=quote(ledger), fix=advice
        )
    return ledger
