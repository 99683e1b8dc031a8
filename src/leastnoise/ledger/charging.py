"""Charge a release to a dataset or to an allocation, or recall the answer of its key."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from leastnoise.core.exact import format_rounded
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import BudgetExceeded, InvalidParameter, Text, Words
from leastnoise.json_types import Json
from leastnoise.ledger.allocations import AllocationAccount, choose_cost, cost_to_json, format_share
from leastnoise.ledger.audit import check_charge, check_description, check_stated
from leastnoise.ledger.chain import Draft
from leastnoise.ledger.entries import Receipt, Spending, Stored
from leastnoise.ledger.keys import check_same_query
from leastnoise.ledger.rows import (
    ANSWER,
    CHARGE,
    CHARGES,
    LIMIT,
    MECHANISM,
    SPEND,
    Content,
    Row,
    damage_error,
    limit_key,
    mechanism_key,
    privacy_to_json,
    read_cost,
    read_privacy,
)
from leastnoise.ledger.units import read_unit
from leastnoise.suggestions import find_nearest

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost


@dataclass(frozen=True, slots=True)
class Payer:
    """The accounts that releases are charged to.

    Attributes:
        dataset: The name of the dataset.
        analyst: The name of the analyst, or None.
        allocation: The name of the allocation, whose caps the cost is charged to; None to charge
            the guarantee to the limits of the dataset and of the analyst.
    """

    dataset: str
    analyst: str | None
    allocation: str | None


class PreparedCharge:
    """A charge that was checked, with its cost computed, so that writing it takes little time."""

    def __init__(self, payer: Payer, spending: Spending, key: str, *, fresh: bool) -> None:
        """Check the charge, and find its cost."""
        self._payer, self._spending, self._key, self._fresh = payer, spending, key, fresh
        self._body: Json = {
            "dataset": payer.dataset,
            "analyst": payer.analyst,
            **privacy_to_json(spending.privacy),
            "mechanisms": list(spending.mechanisms),
            "asked": spending.asked,
        }
        check_charge(CHARGE, self._body)
        check_stated(self._body, None, spending.mechanisms)
        self._costs = [] if payer.allocation is None else _find_costs(spending)

    def write(self, page: Draft) -> tuple[Receipt, Stored | None]:
        """Charge; or, if the key was charged before, return that charge and its answer."""
        dataset, spending = self._payer.dataset, self._spending
        charged = find_charges(page, dataset, self._key)
        for row in charged:
            check_same_query(self._key, row.content, self._body, spending.formerly)
        if charged and not self._fresh:
            receipt = _make_receipt(charged[-1], page, reused=True)
            return receipt, find_answer(page, receipt)
        page.accounts.check_relation(dataset, read_unit(spending.asked))
        kind, body = self._check_budget(page)
        for digest, mechanism in spending.mechanisms.items():
            description_key = mechanism_key(digest)
            if description_key not in page.accounts.mechanisms:
                check_description(digest, mechanism)
                page.write(MECHANISM, description_key, mechanism)
        return _make_receipt(page.write(kind, self._key, body), page, reused=False), None

    def _check_budget(self, page: Draft) -> tuple[str, Json]:
        """Reject a charge that exceeds the budget; return the kind and the content of its row."""
        payer, accounts = self._payer, page.accounts
        if payer.allocation is None:
            accounts.check_limits(payer.dataset, payer.analyst, self._spending.privacy)
            return CHARGE, self._body
        account = accounts.allocations.find(payer.dataset, payer.allocation)
        if account is None:  # it was there when it was opened
            raise missing_allocation_error(
                payer.allocation, accounts.allocations.all(payer.dataset)
            )
        has_limit = (payer.dataset, payer.analyst) in accounts.limits and payer.analyst is not None
        if has_limit and account.analyst != payer.analyst:
            raise _analyst_error(account, payer.analyst)
        fits = partial(accounts.allocations.fits, payer.dataset, payer.allocation)
        cost, fitting = choose_cost(account, self._costs, fits)
        if not fitting:
            plain = accounts.fits(payer.dataset, payer.analyst, self._spending.privacy)
            raise _caps_error(account, cost, plain=plain)
        check_stated(self._body, (cost.square, cost.failure), self._spending.mechanisms)
        return SPEND, {**self._body, "allocation": payer.allocation, **cost_to_json(cost)}


def _analyst_error(account: AllocationAccount, analyst: str | None) -> BudgetExceeded:
    """Return the error for an analyst with a limit to which the allocation was not charged."""
    return BudgetExceeded(
        f"Analyst {analyst!r} has a limit of their own in dataset {account.dataset!r}, and "
        f"allocation {account.name!r} was not charged to it. Nothing was charged or released",
        fix=Words(
            "Open the ledger with this analyst and make an allocation with allocate().",
            "Make one for this analyst in Python: Ledger(FILE, analyst=NAME).allocate(…).",
        ),
    )


def _find_costs(spending: Spending) -> "list[GaussianCost]":
    """Return valid costs of a release, of which the cheapest is charged."""
    from leastnoise.core.gaussian_cost import cost_of_guarantee

    costs = [*spending.find_costs(), cost_of_guarantee(spending.privacy)]
    if any(cost.square < 0 or cost.failure < 0 for cost in costs):
        raise InvalidParameter(
            "A cost must not be negative. Nothing was charged",
            fix="Use the spending of a mechanism, a plan or a table query.",
        )
    return costs


def _make_receipt(row: Row, page: Draft, *, reused: bool) -> Receipt:
    content: Content = row.content
    accounts, dataset = page.accounts, content["dataset"]
    receipt = Receipt(row.key, row.seq, row.head, row.at, reused, accounts.account(dataset))
    if row.kind != SPEND:
        return receipt
    from leastnoise.core.gaussian_cost import GaussianCost

    allocation = accounts.allocations.find(dataset, content["allocation"])
    cost = GaussianCost(*read_cost(content).values())
    return replace(receipt, allocation=allocation, cost=cost)


def find_charges(page: Draft, dataset: str, key: str) -> list[Row]:
    """Return the charges of a dataset under a key, in order."""
    return [row for row in page.of(key, *CHARGES) if row.content["dataset"] == dataset]


def find_earlier_limit(page: Draft, charge: Row) -> Privacy:
    """Return the limit at the time of a charge, of its analyst or else of the dataset."""
    content: Content = charge.content
    dataset = content["dataset"]
    for analyst in (content["analyst"], None):
        limits = page.of(limit_key(dataset, analyst), LIMIT)
        before = [row for row in limits if row.seq < charge.seq]
        if before:
            return read_privacy(before[-1].content)
    raise damage_error(charge.seq, "charges a dataset without a limit")


def find_answer(page: Draft, receipt: Receipt) -> Stored | None:
    """Return the stored answer of a charge, or None."""
    for row in page.of(receipt.key, ANSWER):
        content: Content = row.content
        if content["charge"] == receipt.charge:
            answered = replace(receipt, head=row.head, at=row.at, reused=True)
            return Stored(answered, content["answer"], row.payload)
    return None


def missing_allocation_error(
    name: str, allocations: Sequence[AllocationAccount]
) -> InvalidParameter:
    """Return the error for an unknown allocation, with the nearest name."""
    names = [allocation.name for allocation in allocations]
    near = find_nearest(name, names)
    if near is not None:
        fix: Text = f"Did you mean {near!r}?"
    elif names:
        fix = f"Use one of {', '.join(map(repr, names))}."
    else:
        fix = "Make one with " + Words(
            f"ledger.allocate({name!r}, Privacy(…)).", "leastnoise ledger allocate FILE NAME"
        )
    return InvalidParameter(f"This dataset has no allocation {name!r}", fix=fix)


def _caps_error(account: AllocationAccount, cost: "GaussianCost", *, plain: bool) -> BudgetExceeded:
    """Return the error for a release that does not fit into its allocation.

    Args:
        account: The allocation.
        cost: The cost of the release.
        plain: Whether the release fits into the rest of the limits outside the allocation.
    """
    caps = account.caps
    problem = f"Not enough budget in allocation {account.name!r} of dataset {account.dataset!r}"
    nothing = "Nothing was charged or released"
    gamma = format_share(cost.failure, caps.failure, ROUND_CEILING)
    needed = f"{format_share(cost.square, caps.square, ROUND_CEILING)} of μ²"
    if cost.failure:
        needed += f" and {gamma} of γ" if caps.failure else " and γ > 0, of which it has none"
    rest = account.describe_remaining()
    fix = _list_fitting(account, cost)
    if plain:
        fix = fix + Words(
            " This release fits into the budget outside the allocation: pass the ledger itself.",
            " This release fits into the budget outside the allocation: omit --allocation.",
        )
    return BudgetExceeded(
        Words(
            f"{problem}: this release needs {needed} ({cost}); {rest}. {nothing}",
            f"{problem}. {nothing}",
        ),
        fix=fix,
        details=[
            ("needed", f"{needed} ({cost})"),
            ("remaining", f"{rest} (allocated: {format_guarantee(account.privacy)})"),
        ],
    )


def _list_fitting(account: AllocationAccount, cost: "GaussianCost") -> Text:
    """Return sentences about releases that fit."""
    from leastnoise.core.gaussian_cost import epsilon_within

    rest = account.remaining_cost
    if not rest.square:
        return Words("Use another allocation.", "Use another --allocation.")
    pure = format_rounded(epsilon_within(rest.square), 4, ROUND_FLOOR)
    # mu is rounded up by less than 2⁻⁶⁰ of it.
    sigma = format_rounded((1 + Fraction(1, 1 << 60)) / rest.mu, 4, ROUND_CEILING)
    sentences = (
        f"Releases with ε up to {pure} and δ = 0 fit, and Gaussian noise with σ ≥ {sigma}·Δ."
    )
    if cost.failure > rest.failure and rest.failure:
        sentences += f" δ up to {format_rounded(rest.failure, 4, ROUND_FLOOR)} fits."
    return Words(sentences, sentences)
