"""Entries of a ledger: what a release charges, and the receipt for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter
from leastnoise.ledger.accounts import Account
from leastnoise.ledger.rows import ANSWER, CHARGE, LONGEST_TEXT, Head, Json, Row, read_privacy


def check_name(text: object, what: str) -> str:
    """Return a name or a key; reject what cannot be one."""
    if isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT and text.isprintable():
        return text
    raise InvalidParameter(
        f"{what} must be a string of 1 to {LONGEST_TEXT} printable characters",
        got=quote(text),
        fix="Choose one that others will recognize.",
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """What is about to be released: all that must be equal for a key to give its answer again.

    Attributes:
        privacy: What is promised, and charged.
        mechanisms: What describes each noise, for JSON, by its digest; kept once.
        asked: What else belongs to the question, for JSON: public, never anything read from data.
        formerly: What an earlier version wrote for ``asked``; None if it wrote the same, or could
            not tell this question apart from others.
    """

    privacy: Privacy
    mechanisms: dict[str, Json]
    asked: Json
    formerly: Json | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """That a release is in the ledger.

    Attributes:
        key: The question's key.
        charge: The number of the row that charged it.
        head: The chain's head when its last row was written, such as ``12-9f86d0…``: keep it, and
            an older copy of the ledger can be told (:meth:`Ledger.verify`).
        at: When it was answered, in UTC; when it was charged, before that.
        reused: True if an earlier charge was reused, so this call spent nothing.
        account: What the data set's limit, spending and rest were then.
    """

    key: str
    charge: int
    head: Head
    at: str
    reused: bool
    account: Account
    again = RenamedAttribute[bool]("reused")


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer as it is in the ledger: what :meth:`Ledger.store` was given."""

    receipt: Receipt
    content: Json
    payload: bytes


@final
class Unrecorded:
    """Says that a release is recorded nowhere; there is one, :data:`UNRECORDED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNRECORDED"

    def __str__(self) -> str:
        return "not recorded in any ledger"

    def __reduce__(self) -> str:
        """Stay the one that there is."""
        return "UNRECORDED"


UNRECORDED: Final = Unrecorded()


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was charged, and when it was answered.

    Attributes:
        row: The number of the row that charged it.
        at: When it was charged, in UTC.
        key: What the question is called.
        dataset: The data set.
        analyst: Who asked; None if nobody was named.
        privacy: What was promised, and charged.
        mechanisms: The digests of the noises: one, or one for each answer of a plan.
        asked: What else belongs to the question: one number or many, and how many of them one
            person can change.
        answered: When its answer was stored; None if it never was, as after a crash. It is charged
            all the same.
    """

    row: int
    at: str
    key: str
    dataset: str
    analyst: str | None
    privacy: Privacy
    mechanisms: tuple[str, ...]
    asked: Json
    answered: str | None


def releases_of(rows: Iterable[Row]) -> list[Release]:
    """Return the releases that rows tell of, in the order of their charges.

    The rows must be checked, as :meth:`Ledger.rows` gives them out.
    """
    charges: dict[int, Row] = {}
    answered: dict[int, str] = {}
    for row in rows:
        if row.kind == CHARGE:
            charges[row.seq] = row
        elif row.kind == ANSWER:
            answered.setdefault(row.content["charge"], row.at)
    return [_release(row, answered.get(seq)) for seq, row in charges.items()]


def _release(row: Row, answered: str | None) -> Release:
    content = row.content
    return Release(
        row=row.seq,
        at=row.at,
        key=row.key,
        dataset=content["dataset"],
        analyst=content["analyst"],
        privacy=read_privacy(content),
        mechanisms=tuple(content["mechanisms"]),
        asked=content["asked"],
        answered=answered,
    )
