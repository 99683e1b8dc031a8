"""Open a dataset of a ledger, and make allocations: compare with the records, create once.

Several processes may do the same at the same time. Exactly one of them creates a record, and the
others find it and compare their arguments with it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.ledger.accounts import Name
from leastnoise.ledger.allocations import DEFAULT, DISCOVERY, allocation_body
from leastnoise.ledger.chain import Chain, find_rows
from leastnoise.ledger.limits import (
    check_allocated,
    check_same_accounting,
    check_same_allocation,
    check_same_limit,
    first_dataset,
    last_limit,
    limit_body,
    missing_dataset_error,
)
from leastnoise.ledger.rows import ALLOCATION, LIMIT, OPENED, allocation_key, limit_key

_DEFAULT_DATASET = "data"


@dataclass(frozen=True, slots=True)
class Opening:
    """The arguments with which a dataset is opened; None stands for the recorded ones.

    ``find_id`` returns the random number of a new ledger.
    """

    dataset: str | None
    limit: Privacy | None
    analyst: str | None
    analyst_limit: Privacy | None
    accounting: str | None
    find_id: Callable[[], str]

    def open(self, chain: Chain) -> tuple[str, bool]:
        """Compare the arguments with the records, and create missing accounts.

        Return the dataset, and whether it has Gaussian accounting.
        """
        with chain.peeking() as page:
            first = first_dataset(page)
            dataset = self.dataset or first or _DEFAULT_DATASET
            limits: dict[Name, Privacy | None] = {(dataset, None): self.limit}
            if self.analyst is not None:
                limits[dataset, self.analyst] = self.analyst_limit
            recorded = {name: last_limit(page, name) for name in limits}
            gaussian = bool(find_rows(page, allocation_key(dataset, DEFAULT), ALLOCATION))
        for name, limit in limits.items():
            check_same_limit(name, limit, recorded[name])
        if recorded[dataset, None] is None and self.limit is None:
            chain.verify([])  # in a damaged ledger the row of its limit may be hidden
            raise missing_dataset_error(dataset, first)
        if recorded[dataset, None] is not None:
            check_same_accounting(dataset, self.accounting, gaussian=gaussian)
        new = {name: limit for name, limit in limits.items() if limit and recorded[name] is None}
        if new:
            gaussian = self._create(chain, dataset, new)
        return dataset, gaussian

    def _create(self, chain: Chain, dataset: str, limits: dict[Name, Privacy]) -> bool:
        """Write the limits of new accounts, and the opening row; other processes may do so too.

        A new dataset with Gaussian accounting puts its whole limit into an allocation, in the same
        transaction. Return whether the dataset has such an allocation.
        """
        with chain.writing() as page:
            if not page.accounts.head.seq:
                page.write(OPENED, "", {"id": self.find_id()})
            for name, limit in limits.items():
                key = limit_key(*name)
                if page.of(key, LIMIT):
                    check_same_limit(name, limit, page.accounts.account(*name).limit)
                    continue
                page.write(LIMIT, key, limit_body(name, limit))
                if self.accounting == "gaussian" and name == (dataset, None):
                    failure = limit.delta * DISCOVERY
                    body = allocation_body(dataset, None, DEFAULT, limit, failure)
                    page.write(ALLOCATION, allocation_key(dataset, DEFAULT), body)
            gaussian = page.accounts.allocations.find(dataset, DEFAULT) is not None
            check_same_accounting(dataset, self.accounting, gaussian=gaussian)
            return gaussian


def make_allocation(
    chain: Chain, account: Name, name: str, privacy: Privacy, discovery: Number | None
) -> None:
    """Charge an account for an allocation, unless it exists; reject one with another guarantee."""
    chosen = check_allocated(name, privacy, discovery)
    failure = privacy.delta * (DISCOVERY if chosen is None else chosen)
    dataset, analyst = account
    body = allocation_body(dataset, analyst, name, privacy, failure)
    with chain.reading() as page:  # it usually exists, and then no lock is needed
        recorded = page.accounts.allocations.find(dataset, name)
    if recorded is None:
        with chain.writing() as page:
            recorded = page.accounts.allocations.find(dataset, name)
            if recorded is None:
                page.accounts.check_limits(dataset, analyst, privacy, "allocation")
                page.write(ALLOCATION, allocation_key(dataset, name), body)
                return
    check_same_allocation(recorded, privacy, None if chosen is None else failure)
