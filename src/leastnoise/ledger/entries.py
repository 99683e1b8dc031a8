"""Entries of a ledger: the charge of a release, and the receipt for it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, Text, Words, parameter
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Account
from leastnoise.ledger.allocations import AllocationAccount
from leastnoise.ledger.rows import (
    ANSWER,
    CHARGES,
    LONGEST_TEXT,
    SPEND,
    Content,
    Head,
    Row,
    read_cost,
    read_privacy,
)
from leastnoise.rendering import fact_lines, keep_together, printable

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost


def check_name(text: object, what: Text) -> str:
    """Return a name or a key, or reject it; ``what`` names the parameter in the message."""
    if isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT and text.isprintable():
        return text
    raise InvalidParameter(
        (what if isinstance(what, Words) else parameter(what))
        + f" must be a string of 1 to {LONGEST_TEXT} printable characters",
        got=quote(text),
        fix="Choose one that others will recognize.",
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """The charge of a release. A repeated key must have identical content.

    Attributes:
        privacy: The guarantee, which is charged.
        mechanisms: The descriptions of the mechanisms, for JSON, by their digests. Each is stored
            once.
        asked: Query parameters (JSON). They are public, and never contain data.
        formerly: ``asked`` as earlier versions wrote it; None if they wrote the same, or could not
            distinguish this query from others.
        find_costs: Returns costs (μ², γ) of the release in an allocation, each of them valid; the
            cheapest is charged. It is called only if an allocation is charged. Any release also
            costs what its guarantee implies. Default: no others.
    """

    privacy: Privacy
    mechanisms: dict[str, Json]
    asked: Json
    formerly: Json | None = None
    find_costs: "Callable[[], Sequence[GaussianCost]]" = field(
        default=tuple, compare=False, repr=False
    )


def check_spending(spending: object) -> None:
    """Reject objects that are not the charge of a release, such as a guarantee."""
    if not isinstance(spending, Spending):
        raise InvalidParameter(
            "A charge must be a Spending, with the mechanisms of the release. Nothing was charged",
            got=f"an object of type {type(spending).__name__}",
            fix="Pass ledger= to a release, which charges it.",
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a release is recorded in the ledger.

    Attributes:
        key: The key of the query.
        charge: The number of the row with the charge.
        head: The head of the chain after the last row of the release, such as ``12-9f86d0…``. If
            you keep it, :meth:`Ledger.verify` detects an older copy of the ledger.
        at: The time of the answer, in UTC; before the answer, the time of the charge.
        reused: True if an earlier charge was reused, so this call spent nothing.
        account: The account of the dataset at that time.
        allocation: The account of the allocation at that time, if one was charged; else None.
        cost: The cost (μ², γ) that was charged to the allocation, or None.
        not_private: Whether the noise is seeded, in tests. Then the release is in no real ledger.
    """

    key: str
    charge: int
    head: Head
    at: str
    reused: bool
    account: Account
    allocation: AllocationAccount | None = None
    cost: "GaussianCost | None" = None
    not_private: bool = False
    again = RenamedAttribute[bool]("reused")

    def __str__(self) -> str:
        charged = f"row {self.charge}, {_minute(self.at)} UTC"
        remaining = f"{format_guarantee(self.account.remaining)} remain"
        facts = [
            ("Key", keep_together(printable(self.key))),
            ("Recorded", charged + (" (stored answer: nothing was charged)" * self.reused)),
            ("Dataset", printable(self.account.dataset)),
            ("Analyst", printable(self.account.analyst or "")),
            ("Budget", remaining if self.allocation is None else str(self.allocation)),
            ("Head", str(self.head)),
        ]
        if self.not_private:
            facts.insert(0, ("Noise", _SEEDED))
        return "\n".join(fact_lines([fact for fact in facts if fact[1]]))

    def __repr__(self) -> str:
        return f"<{mark(self)}receipt {printable(self.key)!r}: row {self.charge}, {self.at[:10]}>"


# The mark of every output with seeded noise.
_SEEDED = "NOT PRIVATE (seeded noise)"


def mark(receipt: "Receipt | Release | None") -> str:
    """Return the mark to print before an output with seeded noise; empty for others."""
    return f"{_SEEDED}: " if receipt is not None and receipt.not_private else ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored answer, with the content and payload that :meth:`Ledger.store` was given."""

    receipt: Receipt
    content: Json
    payload: bytes


@final
class Unrecorded:
    """The type of :data:`UNRECORDED`, which stands for a release without a ledger."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNRECORDED"

    def __str__(self) -> str:
        return "not recorded in any ledger"

    def __reduce__(self) -> str:
        """Pickle by name, so that there is only one instance."""
        return "UNRECORDED"


UNRECORDED: Final = Unrecorded()


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was charged.

    Attributes:
        row: The number of the row with the charge.
        at: The time of the charge, in UTC.
        key: The key of the query.
        dataset: The name of the dataset.
        analyst: The name of the analyst; None if none was given.
        privacy: The guarantee, which was charged; in an allocation, where the cost is charged, the
            guarantee of this release by itself.
        mechanisms: The digests of the mechanisms: one, or one for each answer of a plan.
        asked: The rest of the query, such as the shape of an array and the number of elements that
            one person can change.
        answered: The time at which the answer was stored; None if it never was, as after a crash.
            The charge stands in any case.
        allocation: The name of the allocation that was charged; None if the guarantee was charged.
        cost: The cost (μ², γ) that was charged to the allocation, or None.
        not_private: Whether the noise is seeded, in tests. Then the release is in no real ledger.
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
    allocation: str | None = None
    cost: "GaussianCost | None" = None
    not_private: bool = False

    def __str__(self) -> str:
        answered = "no" if self.answered is None else f"{_minute(self.answered)} UTC"
        cost = "" if self.cost is None else f", {self.cost.describe()}"
        facts = [
            ("Key", keep_together(printable(self.key))),
            ("Charged", f"row {self.row}, {_minute(self.at)} UTC"),
            ("Answered", answered),
            ("Dataset", printable(self.dataset)),
            ("Analyst", printable(self.analyst or "")),
            ("Guarantee", format_guarantee(self.privacy)),
            ("Allocation", f"{printable(self.allocation)!r}{cost}" if self.allocation else ""),
        ]
        if self.not_private:
            facts.insert(0, ("Noise", _SEEDED))
        return "\n".join(fact_lines([fact for fact in facts if fact[1]]))

    def __repr__(self) -> str:
        what = f"{mark(self)}release {printable(self.key)!r}"
        return f"<{what}: {format_guarantee(self.privacy)}, row {self.row}>"


def _minute(time: str) -> str:
    """Return a time to the minute."""
    return time[:16].replace("T", " ")


def list_releases(rows: Iterable[Row]) -> list[Release]:
    """Return the releases in checked rows (:meth:`Ledger.rows`), in the order of their charges."""
    charges: dict[int, Row] = {}
    answered: dict[int, str] = {}
    for row in rows:
        if row.kind in CHARGES:
            charges[row.seq] = row
        elif row.kind == ANSWER:
            content: Content = row.content
            answered.setdefault(content["charge"], row.at)
    return [_read_release(row, answered.get(seq)) for seq, row in charges.items()]


def _read_release(row: Row, answered: str | None) -> Release:
    content: Content = row.content
    allocation, cost = None, None
    if row.kind == SPEND:
        from leastnoise.core.gaussian_cost import GaussianCost

        allocation, cost = content["allocation"], GaussianCost(*read_cost(content).values())
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
        allocation=allocation,
        cost=cost,
    )
