"""Where commands record a release, and how they say where it is."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from leastnoise.cli.options import opened
from leastnoise.cli.printing import privacy_data
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Receipt, Unrecorded


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


def receipt_data(receipt: "Receipt | None") -> dict[str, Any] | bool:
    """Return where a release is recorded; false if it is nowhere."""
    if receipt is None:
        return False
    return {
        "dataset": receipt.account.dataset,
        "key": receipt.key,
        "row": receipt.charge,
        "at": receipt.at,
        "again": receipt.again,
        "head": str(receipt.head),
        "left": privacy_data(receipt.account.left),
    }
