"""The ledger that a command charges, and its witness.

Where commands record a release, and how they say where it is.

What commands ask of a witness: one that is named must have something to tell.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from leastnoise.cli.options import opened
from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded


def recording(
    ledger: str | None, **which: str | None
) -> "AbstractContextManager[Ledger | Unrecorded]":
    """Open the ledger that is meant, before anything is worked out for it."""
    from leastnoise.ledger import UNRECORDED  # only where something is released

    if ledger is not None:
        return opened(ledger, **which)
    for option, text in which.items():
        if text is not None:
            raise InvalidParameter(
                f"--{option} is for a ledger; got it without one. Give --ledger FILE, or leave it "
                "out."
            )
    return nullcontext(UNRECORDED)


def of_dataset(ledger: "Ledger | Unrecorded") -> str:
    """Name the data set, where a ledger has several."""
    from leastnoise.ledger import Unrecorded

    if isinstance(ledger, Unrecorded) or len({one.dataset for one in ledger.accounts}) == 1:
        return ""
    return f"of data set {ledger.dataset!r}"


def heads_of(witness: str | None) -> int:
    """Return how many heads a witness holds for the chain to be checked against."""
    from leastnoise.ledger import witness_read  # only where a ledger is used

    found = witness_read(witness)
    return 0 if found is None else len(found.heads())


def refuse_silent(witness: str | None) -> None:
    """Refuse a witness without heads: a misspelt name would vouch for any ledger."""
    if witness is not None and not heads_of(witness):
        raise InvalidParameter(
            "a witness must exist and hold heads of the ledger; got "
            f"{quote(witness)}, which holds none. Give the file that noted them, or begin one "
            "with leastnoise ledger FILE new --witness FILE."
        )


def refuse_late(witness: str | None, ledger: "Ledger") -> None:
    """Refuse a witness without heads for a ledger with releases: it was there, or is begun aloud.

    With the first release of a ledger a witness may begin by itself: there is nothing to forget.
    """
    if witness is not None and any(one.spent.epsilon or one.spent.delta for one in ledger.accounts):
        refuse_silent(witness)


def begin_witness(witness: str, ledger: "Ledger") -> bool:
    """Check the whole ledger and have the witness begin with its head; false if it had begun."""
    from leastnoise.ledger import witness_read

    begun = heads_of(witness)
    head = ledger.verify()
    found = witness_read(witness)
    if begun or found is None:
        return False
    found.note(head)
    return True
