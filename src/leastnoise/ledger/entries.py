"""What goes into a ledger for a release, and what comes back."""

from dataclasses import dataclass

from leastnoise.ledger.accounts import Account
from leastnoise.ledger.rows import Head, Json
from leastnoise.privacy import Privacy


@dataclass(frozen=True, slots=True)
class Spending:
    """What is about to be released: all that must be equal for a key to give its answer again.

    Attributes:
        privacy: What is promised, and charged.
        mechanisms: What describes each noise, for JSON, by its digest; kept once.
        asked: What else belongs to the question, for JSON: public, never anything read from data.
    """

    privacy: Privacy
    mechanisms: dict[str, Json]
    asked: Json


@dataclass(frozen=True, slots=True)
class Receipt:
    """That a release is in the ledger.

    Attributes:
        key: The question's key.
        charge: The number of the row that charged it.
        head: The chain's head when its last row was written, such as ``12-9f86d0…``: keep it, and
            an older copy of the ledger can be told (:meth:`Ledger.verify`).
        at: When it was answered, in UTC; when it was charged, before that.
        again: Whether it was charged, or answered, before: nothing was spent this time.
        account: What the data set's limit, spending and rest were then.
    """

    key: str
    charge: int
    head: Head
    at: str
    again: bool
    account: Account


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer as it is in the ledger: what :meth:`Ledger.store` was given."""

    receipt: Receipt
    content: Json
    payload: bytes
