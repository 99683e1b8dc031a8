"""What commands ask of a witness: one that is named must have something to tell."""

from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter
from leastnoise.exact import described

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger


def heads_of(witness: str | None) -> int:
    """Return how many heads a witness holds for the chain to be checked against."""
    from leastnoise.ledger.witness import witness_read  # only where a ledger is used

    found = witness_read(witness)
    return 0 if found is None else len(found.heads())


def refuse_silent(witness: str | None) -> None:
    """Refuse a witness without heads: a misspelt name would vouch for any ledger."""
    if witness is not None and not heads_of(witness):
        raise InvalidParameter(
            "a witness must exist and hold heads of the ledger; got "
            f"{described(witness)}, which holds none. Give the file that noted them, or begin one "
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
    from leastnoise.ledger.witness import witness_read

    begun = heads_of(witness)
    head = ledger.verify()
    found = witness_read(witness)
    if begun or found is None:
        return False
    found.note(head)
    return True
