"""Open the ledger that a command charges, and check its witness."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from leastnoise.cli.options import open_ledger
from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded


def recording(
    ledger: str | None, **which: str | None
) -> "AbstractContextManager[Ledger | Unrecorded]":
    """Open the ledger to charge, or stand for none; reject options that need one."""
    from leastnoise.ledger import UNRECORDED  # only where something is released

    if ledger is not None:
        return open_ledger(ledger, **which)
    for option, text in which.items():
        if text is not None:
            raise InvalidParameter(
                f"--{option} is for a ledger; got it without one. Give --ledger FILE, or leave it "
                "out."
            )
    return nullcontext(UNRECORDED)


def of_dataset(ledger: "Ledger | Unrecorded") -> str:
    """Return a phrase that names the dataset; empty unless the ledger has several."""
    from leastnoise.ledger import Unrecorded

    if isinstance(ledger, Unrecorded) or len({one.dataset for one in ledger.accounts}) == 1:
        return ""
    return f"of data set {ledger.dataset!r}"


def heads_of(witness: str | None) -> int:
    """Return how many heads a witness holds."""
    from leastnoise.ledger import read_witness  # only where a ledger is used

    found = read_witness(witness)
    return 0 if found is None else len(found.heads())


def refuse_silent(witness: str | None) -> None:
    """Reject a witness without heads: a misspelled name would vouch for any ledger."""
    if witness is not None and not heads_of(witness):
        raise InvalidParameter(
            "a witness must exist and hold heads of the ledger; got "
            f"{quote(witness)}, which holds none. Give the file that noted them, or begin one "
            "with leastnoise ledger FILE new --witness FILE."
        )


def refuse_late(witness: str | None, ledger: "Ledger") -> None:
    """Reject a witness without heads for a ledger that has releases.

    Such a witness is lost or must be begun by ``ledger new``. Before the first release there is
    nothing that an older copy could have forgotten.
    """
    if witness is not None and any(one.spent.epsilon or one.spent.delta for one in ledger.accounts):
        refuse_silent(witness)


def begin_witness(witness: str, ledger: "Ledger") -> bool:
    """Verify the ledger and note its head in a new witness; return False if it has heads."""
    from leastnoise.ledger import read_witness

    begun = heads_of(witness)
    head = ledger.verify()
    found = read_witness(witness)
    if begun or found is None:
        return False
    found.note(head)
    return True
