"""``LedgerReader``: what an open ledger has on record."""

from collections.abc import Iterator

from leastnoise.core.privacy import Privacy
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Account
from leastnoise.ledger.allocations import DEFAULT, AllocationAccount
from leastnoise.ledger.chain import Chain
from leastnoise.ledger.charging import (
    find_answer,
    find_charges,
    find_earlier_limit,
    missing_allocation_error,
)
from leastnoise.ledger.declaration import declare
from leastnoise.ledger.entries import Receipt, Release, Stored, check_name, list_releases
from leastnoise.ledger.rows import Head, Row
from leastnoise.ledger.witness import read_head


class LedgerReader:
    """The accounts, releases and rows of a ledger that is open.

    Attributes:
        dataset: The name of the dataset.
        analyst: The name of the analyst; None if there is none.
    """

    dataset: str
    analyst: str | None
    _chain: Chain
    _allocation: str | None  # the allocation that releases are charged to; None for the ledger

    @property
    def accounting(self) -> str:
        """How releases are charged: ``"basic"``, or ``"gaussian"`` in an allocation."""
        return "basic" if self._allocation is None else "gaussian"

    @property
    def account(self) -> Account:
        """The account of the dataset: limit, spending and remaining budget."""
        with self._chain.reading() as page:
            return page.accounts.account(self.dataset)

    @property
    def limit(self) -> Privacy:
        """The limit of the dataset."""
        limit = self.account.limit
        assert limit is not None  # noqa: S101 -- for mypy: a dataset without one is rejected
        return limit

    @property
    def spent(self) -> Privacy:
        """The sum of all charges of the dataset; with Gaussian accounting, of their costs."""
        if self._allocation is None:
            return self.account.spent
        return self._allocation_account.used

    @property
    def remaining(self) -> Privacy:
        """The remaining budget of the dataset.

        With Gaussian accounting it is the rest of the allocation, an :class:`AllocatedPrivacy`: it
        also has the share of the caps, μ, γ and ρ.
        """
        if self._allocation is None:
            return self.account.remaining
        return self._allocation_account.remaining

    @property
    def allocations(self) -> list[AllocationAccount]:
        """The allocations of the dataset, in creation order."""
        with self._chain.reading() as page:
            return page.accounts.allocations.all(self.dataset)

    @property
    def analyst_account(self) -> Account:
        """The account of the analyst; without an analyst, the account of the dataset."""
        with self._chain.reading() as page:
            return page.accounts.account(self.dataset, self.analyst)

    @property
    def accounts(self) -> list[Account]:
        """Every account of the ledger: of datasets, and of their analysts."""
        with self._chain.reading() as page:
            return page.accounts.all()

    @property
    def releases(self) -> list[Release]:
        """Every release of all datasets of the ledger, in the order of their charges."""
        return list_releases(self.rows())

    @property
    def head(self) -> Head:
        """The head of the chain. If you keep it elsewhere, you can detect an older copy later."""
        with self._chain.reading() as page:
            return page.accounts.head

    def rows(self) -> Iterator[Row]:
        """Yield all rows, each checked first."""
        return self._chain.rows()

    def verify(self, head: str | Head | None = None) -> Head:
        """Verify the whole chain and the database again; return the head.

        Args:
            head: A head that the chain must contain, as an answer carries it. Default: none.

        Raises:
            LedgerDamaged: If anything was changed, or the chain does not contain the head.
        """
        return self._chain.verify([] if head is None else [read_head(str(head))])

    def export(self, *, unit: str | None = None) -> Json:
        """Return a deployment declaration of the dataset, for JSON: its guarantees and evidence.

        Args:
            unit: The privacy unit in words, such as ``"person"``. The ledger stores only
                column names. Default: none.
        """
        if unit is not None:
            check_name(unit, "unit")
        return declare(self.rows(), self.dataset, unit)

    def find_limit(self, key: str, *, own: bool = False) -> Privacy | None:
        """Return the limit when a key was first charged; None if it was not charged.

        It is the limit of the analyst who charged it, if there was one, else that of the dataset.
        ``own`` is for the charges of this analyst alone.
        """
        with self._chain.reading() as page:
            charges = find_charges(page, self.dataset, key)
            if own:
                charges = [row for row in charges if row.content["analyst"] == self.analyst]
            return find_earlier_limit(page, charges[0]) if charges else None

    def stored(self, receipt: Receipt) -> Stored | None:
        """Return the stored answer of a charge, or None."""
        with self._chain.reading() as page:
            return find_answer(page, receipt)

    @property
    def _allocation_account(self) -> AllocationAccount:
        """The account of the allocation that releases are charged to."""
        with self._chain.reading() as page:
            account = page.accounts.allocations.find(self.dataset, self._allocation or DEFAULT)
            if account is None:
                raise missing_allocation_error(
                    self._allocation or DEFAULT, page.accounts.allocations.all(self.dataset)
                )
            return account
