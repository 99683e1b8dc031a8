"""Releases that a ledger remembers: charged before they are drawn, stored before they leave.

The order is the guarantee. The charge is on disk before a bit is drawn, so that no crash and no
error makes a release free; the answer is on disk before it is returned, so that whoever asks again
under its key is given the same, and nothing more is learned.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from leastnoise.certificate.document import noise_written, written
from leastnoise.errors import InvalidParameter, LedgerUnavailable
from leastnoise.exact import described, ratio
from leastnoise.ledger import Ledger, Receipt, Spending, Unrecorded
from leastnoise.ledger.ledger import named
from leastnoise.ledger.rows import Json, canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.mechanism.mechanism import Mechanism

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
                f"fresh must be True or False; got {described(self.fresh)}. "
                "Say whether to charge and draw again."
            )
        if isinstance(self.ledger, Unrecorded):
            if self.key is not None or self.fresh:
                raise InvalidParameter(
                    "a key is kept by a ledger; got one, or fresh=True, without a ledger. "
                    "Give ledger=Ledger(…), or leave both out."
                )
        elif not isinstance(self.ledger, Ledger):
            raise InvalidParameter(
                f"ledger must be a Ledger, or UNRECORDED to go without; got "
                f"{described(self.ledger)}. Open one with Ledger('people.ledger', limit=…)."
            )
        elif self.key is not None:
            named(self.key, "a key")

    def released(
        self, spending: Callable[[], Spending], release: Callable[[], T], form: Form[T]
    ) -> tuple[T, Receipt | None]:
        """Release what was released under the key before, or else something new.

        An error after the charge leaves the charge as it is.
        """
        ledger = self.ledger
        if isinstance(ledger, Unrecorded):
            return release(), None
        receipt, stored = ledger.asked(spending(), self.key, fresh=self.fresh)
        if stored is None:
            answer = form.written(release())
            try:
                stored = ledger.store(receipt, *answer)
            except LedgerUnavailable as error:
                raise LedgerUnavailable(
                    f"{error} What was charged stays charged: ask again with key={receipt.key!r}, "
                    "and it is not charged twice."
                ) from None
        return form.read(stored.content, stored.payload), stored.receipt


def description(mechanism: "Mechanism") -> tuple[Json, str]:
    """Return what a ledger and its export say of a mechanism, and a digest of what it is.

    The digest tells one law and one promise from others: a proof of the same may be another next
    time.
    """
    law, privacy = mechanism.drawn, mechanism.privacy
    drawn = {
        "privacy": {"epsilon": ratio(privacy.epsilon), "delta": ratio(privacy.delta)},
        "drawn": noise_written(law.noise),
        "sensitivity": ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
    }
    facts = {
        "noise": repr(mechanism.noise),
        "step": ratio(law.step),
        "radius": ratio(law.radius),
        "exact_probability": ratio(mechanism.exact_probability),
        "cost": ratio(mechanism.cost),
        "certificate": json.loads(written(mechanism.certificate)),
    }
    return drawn | facts, digest(drawn)


def digest(drawn: Json) -> str:
    """Return the digest of a law with its promise."""
    return hashlib.sha256(canonical(drawn).encode()).hexdigest()


# What answers are in a ledger: whole numbers in hexadecimal, of any length; arrays as bytes.


def index_written(index: int) -> Written:
    """Write one index."""
    return {"index": f"{index:x}"}, b""


def index_of(content: Json, _: bytes) -> int:
    """Read one index."""
    return int(content["index"], 16)


def pair_of(content: Json, _: bytes) -> tuple[int, int]:
    """Read two indices."""
    first, second = (int(index, 16) for index in content["indices"])
    return first, second


def numbers_written(indices: tuple[int, ...]) -> Written:
    """Write the indices of several answers."""
    return {"indices": [f"{index:x}" for index in indices]}, b""


def numbers_of(content: Json, _: bytes) -> tuple[int, ...]:
    """Read the indices of several answers."""
    return tuple(int(index, 16) for index in content["indices"])


def array_written(values: "NDArray[Any]") -> Written:
    """Write an array: numbers of 64 bits as they are, others as texts."""
    shape = list(values.shape)
    if values.dtype == object:
        texts = "\n".join(_hexadecimal(value) for value in values.ravel().tolist())
        return {"dtype": "object", "shape": shape}, texts.encode()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return {"dtype": little.dtype.str, "shape": shape}, little.tobytes()


def array_of(content: Json, payload: bytes) -> "NDArray[Any]":
    """Read an array."""
    import numpy as np

    if content["dtype"] != "object":
        flat = np.frombuffer(payload, dtype=content["dtype"]).astype(content["dtype"][1:])
        return flat.reshape(content["shape"])
    texts = payload.decode().split("\n")
    whole = np.empty(len(texts), dtype=object)
    whole[:] = [_exact(text) for text in texts]
    return whole.reshape(content["shape"])


def _hexadecimal(value: int | Fraction) -> str:
    return f"{value:x}" if isinstance(value, int) else f"{value.numerator:x}/{value.denominator:x}"


def _exact(text: str) -> int | Fraction:
    over, _, under = text.partition("/")
    return Fraction(int(over, 16), int(under, 16)) if under else int(over, 16)


NUMBER: Form[int] = Form(index_written, index_of)
PAIR: Form[tuple[int, int]] = Form(numbers_written, pair_of)
NUMBERS: Form[tuple[int, ...]] = Form(numbers_written, numbers_of)
ARRAY: "Form[NDArray[Any]]" = Form(array_written, array_of)
