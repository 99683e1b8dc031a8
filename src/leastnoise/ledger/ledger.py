"""``Ledger``: a shared budget that crashes, retries or parallel jobs cannot overspend."""

import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING
from uuid import uuid4

from leastnoise.core.exact import Number, parse_positive
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import SYSTEM
from leastnoise.core.tape import Tape
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, Words
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Account
from leastnoise.ledger.allocations import DEFAULT
from leastnoise.ledger.chain import Chain
from leastnoise.ledger.charging import Payer, PreparedCharge, find_answer, missing_allocation_error
from leastnoise.ledger.entries import Receipt, Spending, Stored, check_name, check_spending
from leastnoise.ledger.limits import check_accounting, check_limit, limit_body
from leastnoise.ledger.opening import Opening, make_allocation
from leastnoise.ledger.reading import LedgerReader
from leastnoise.ledger.rows import ANSWER, LIMIT, Head, limit_key
from leastnoise.ledger.stores import Store, check_address, open_store
from leastnoise.ledger.witness import read_witness

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost

_LONGEST_WAIT = Fraction(10**6)  # seconds, because databases count milliseconds in 32 bits


class Ledger(LedgerReader):
    """A durable privacy budget that concurrent processes can share and cannot overspend.

    The charge of a release is on disk before noise is sampled, and its answer is on disk before it
    is returned. If you repeat a key, the stored answer is returned and nothing is charged. The rows
    are chained by hashes, and nothing is released from a damaged chain. Sums are exact.

    Opening takes constant time. Before its first release, each ``Ledger`` verifies the whole chain
    once, which takes time in proportion to the number of rows.

    Args:
        where: The path of a file, or ``"postgresql://user@host/database"`` for a team. With
            ``limit``, a ledger that does not exist is created.
        limit: The limit of the dataset. Required to create a ledger or a dataset. For an existing
            dataset it must be the limit on record. Default: the limit on record.
        dataset: The name of the dataset. A ledger can have several, each with its own limit.
            Default: the first dataset of the ledger, ``"data"`` for a new one.
        analyst: The name of the analyst, whose spending is also recorded. Default: none.
        analyst_limit: The limit of this analyst, within that of the dataset. Default: none.
        accounting: ``"basic"`` to add up ε and δ, or ``"gaussian"`` to put the whole limit of a new
            dataset into one allocation, where Gaussian accounting applies. At ε = 1, δ = 1e-6 that
            is better for 12 or more counts: an expected error of 34 instead of 100 for each of 100
            counts (:func:`leastnoise.planning.describe_accounting`). It never changes. Default: as
            recorded, ``"basic"`` for a new dataset.
        witness: A head that the chain must contain (:attr:`Receipt.head`), or the path of a file in
            which heads are noted, stored apart from the ledger. Without a witness, a
            restored older copy of the ledger is not detected. Default: none.
        timeout: The number of seconds to wait for other processes. Default: 10.

    Raises:
        InvalidParameter: If an argument is invalid, there is no such ledger or dataset, or a limit
            is not the one on record.
        LedgerUnavailable: If the ledger cannot be read or written.
        LedgerDamaged: If the ledger is damaged.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/people.ledger", limit=Privacy(epsilon=1))
    >>> ledger.remaining
    Privacy(epsilon=1, delta=0)
    >>> ledger.close()
    >>> folder.cleanup()
    """

    left = RenamedAttribute[Privacy]("remaining")
    mine = RenamedAttribute[Account]("analyst_account")
    allow = RenamedAttribute[Callable[..., None]]("set_limit")

    def __init__(
        self,
        where: str | os.PathLike[str],
        *,
        limit: Privacy | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
        analyst_limit: Privacy | None = None,
        accounting: str | None = None,
        witness: str | os.PathLike[str] | Head | None = None,
        timeout: Number = 10,
    ) -> None:
        """Open a ledger, or create it."""
        self.where = check_address(where)
        self.analyst = None if analyst is None else check_name(analyst, "analyst")
        if analyst_limit is not None and analyst is None:
            raise InvalidParameter(
                "analyst_limit needs an analyst", fix="Pass analyst='ann', for example."
            )
        chosen = None if dataset is None else check_name(dataset, "dataset")
        for each in (limit, analyst_limit):
            if each is not None:
                check_limit(each)
        check_accounting(accounting, limit)
        parsed_witness = read_witness(witness)
        seconds = float(min(parse_positive(timeout, "timeout"), _LONGEST_WAIT))
        store = self._open_store(seconds, create=limit is not None)
        self._chain = Chain(store, parsed_witness)
        try:
            own = self.analyst, analyst_limit
            opening = Opening(chosen, limit, *own, accounting, lambda: uuid4().hex)
            self.dataset, gaussian = opening.open(self._chain)
        except BaseException:
            self._chain.close()
            raise
        self._allocation = DEFAULT if gaussian else None

    @property
    def not_private(self) -> bool:
        """Whether releases have seeded noise, as in tests (:mod:`leastnoise.testing`)."""
        return False

    @property
    def _allocation_class(self) -> "type[Allocation]":
        """The class of its allocations, which must have the same noise."""
        return Allocation

    def _open_store(self, seconds: float, *, create: bool) -> Store:
        return open_store(self.where, timeout=seconds, create=create)

    def _new_tape(self) -> Tape | None:
        """Return the bits of the next release: None, for those of the operating system."""
        return None

    def set_limit(self, limit: Privacy, *, analyst: str | None = None) -> None:
        """Set a new limit of the dataset, or of one analyst; the old one stays on record.

        The caps of allocations do not change. With Gaussian accounting, a higher limit is used by
        :meth:`allocate`, which makes a further allocation.
        """
        check_limit(limit)
        name = self.dataset, None if analyst is None else check_name(analyst, "analyst")
        with self._chain.writing() as page:
            page.write(LIMIT, limit_key(*name), limit_body(name, limit))

    def allocate(
        self, name: str, privacy: Privacy, *, discovery: Number | None = None
    ) -> "Allocation":
        """Move a part of the budget into an allocation, which has Gaussian accounting.

        The guarantee is charged at once, and never returns. Everything released from the allocation
        satisfies it. If the allocation exists, it is opened and nothing is charged.

        Args:
            name: The name of the allocation, unique in the dataset.
            privacy: The guarantee, with δ > 0.
            discovery: The part of δ that is set aside for γ, which discovering groups and other
                noise than Gaussian with δ > 0 needs. Default: 1/10, or as recorded.

        Raises:
            BudgetExceeded: If a limit would be exceeded. Nothing was charged.
            InvalidParameter: If an argument is invalid, or an allocation of this name has another
                guarantee. Nothing was charged.
        """
        check_name(name, Words("name", "NAME"))
        make_allocation(self._chain, (self.dataset, self.analyst), name, privacy, discovery)
        return Allocation(self, name)

    def allocation(self, name: str) -> "Allocation":
        """Open an allocation of the dataset.

        Raises:
            InvalidParameter: If there is no allocation of this name.
        """
        check_name(name, Words("name", "--allocation"))
        allocations = self.allocations
        if all(name != account.name for account in allocations):
            raise missing_allocation_error(name, allocations)
        return Allocation(self, name)

    def charge(self, spending: Spending, key: str | None = None, *, fresh: bool = False) -> Receipt:
        """Charge a release before its noise is sampled. The charge is on disk when this returns.

        If the key was charged before, by any analyst, nothing is charged again unless ``fresh``,
        and :meth:`stored` returns its answer, if it exists. Without a key, the release gets a
        key of its own. Each dataset has its own keys.

        Raises:
            BudgetExceeded: If a limit would be exceeded. Nothing was charged.
            InvalidParameter: If the key was used for another query, or the dataset has charges
                under another neighbor relation. Nothing was charged.
        """
        return self.charge_or_recall(spending, key, fresh=fresh)[0]

    def charge_or_recall(
        self, spending: Spending, key: str | None = None, *, fresh: bool = False
    ) -> tuple[Receipt, Stored | None]:
        """Charge as :meth:`charge` does; also return the answer, if the charge has one already."""
        check_spending(spending)
        # Two releases with the same key would share an answer, so SYSTEM also checks these bits.
        key = f"{SYSTEM.word(128):032x}" if key is None else check_name(key, "key")
        payer = Payer(self.dataset, self.analyst, self._allocation)
        prepared = PreparedCharge(payer, spending, key, fresh=fresh)
        with self._chain.writing() as page:
            return prepared.write(page)

    def store(self, receipt: Receipt, content: Json, payload: bytes = b"") -> Stored:
        """Store the answer of a charge. It is on disk when this returns.

        If another process stored an answer first, that one is returned and this one is discarded.
        """
        with self._chain.writing() as page:
            earlier = find_answer(page, receipt)
            if earlier is not None:
                return earlier
            body: Json = {"charge": receipt.charge, "answer": content}
            row = page.write(ANSWER, receipt.key, body, payload)
            answered = replace(receipt, head=row.head, at=row.at, reused=False)
            return Stored(answered, content, payload)

    def close(self) -> None:
        """Close the database."""
        self._chain.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A connection string can contain a password, so only its kind is shown.
        where = "postgresql://…" if "://" in self.where else self.where
        who = "" if self.analyst is None else f", analyst={self.analyst!r}"
        return f"Ledger({where!r}, dataset={self.dataset!r}{who})"


class Allocation(Ledger):
    """An allocation, to which releases are charged as to a ledger (:meth:`Ledger.allocate`).

    It shares the connection of its ledger: to close either closes both.
    """

    def __new__(cls, ledger: Ledger | None = None, name: str = "") -> "Allocation":  # noqa: ARG004
        """Create an allocation of the class of its ledger; copying passes no ledger."""
        return object.__new__(cls if ledger is None else ledger._allocation_class)

    def __init__(self, ledger: Ledger, name: str) -> None:
        """Charge releases to an allocation that exists in the dataset of a ledger."""
        self.where, self.dataset, self.analyst = ledger.where, ledger.dataset, ledger.analyst
        self._chain, self._allocation = ledger._chain, name

    @property
    def name(self) -> str:
        """The name of the allocation."""
        return str(self._allocation)

    @property
    def limit(self) -> Privacy:
        """The guarantee of everything that is released from the allocation."""
        return self._allocation_account.privacy

    @property
    def caps(self) -> "GaussianCost":
        """(M², Γ), the caps of the costs of all releases from the allocation."""
        return self._allocation_account.caps

    def set_limit(self, limit: Privacy, *, analyst: str | None = None) -> None:  # noqa: ARG002
        """Raise an error, because the caps of an allocation are fixed."""
        raise InvalidParameter(
            f"The limit of allocation {self.name!r} is fixed",
            fix="Make another allocation, or set the limit of the ledger.",
        )

    def __repr__(self) -> str:
        return f"{super().__repr__()}.allocation({self.name!r})"
