"""The accounts of a ledger: limit, spending and remaining budget, computed from its rows.

Guarantees add up: two releases that satisfy (ε₁, δ₁) and (ε₂, δ₂) together satisfy
(ε₁ + ε₂, δ₁ + δ₂), even if the second is chosen after seeing the first answer (Dwork and Roth 2014,
Theorem 3.16 and Appendix B; Rogers, Roth, Ullman and Vadhan 2016, section 3, for limits that are
set beforehand). So all releases of a ledger whose sums never exceed a limit satisfy that limit. The
sums are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import BudgetExceeded, LedgerDamaged, Words
from leastnoise.ledger.allocations import AllocationAccount, Allocations, read_allocation
from leastnoise.ledger.rows import (
    ALLOCATION,
    ANSWER,
    BEGINNING,
    CHARGES,
    KINDS,
    LIMIT,
    MECHANISM,
    NEWEST,
    OPENED,
    SPEND,
    Content,
    Head,
    Row,
    check_readable,
    check_time,
    compute_digest,
    damage_error,
    find_version,
    limit_key,
    mechanism_key,
    parse_amount,
    read_content,
    read_cost,
    read_row,
    reading_content,
)
from leastnoise.ledger.sums import NOTHING, Sum, add, subtract
from leastnoise.ledger.units import (
    DeclaredUnit,
    check_relation,
    describe_units,
    find_relation,
    is_mixed,
    read_unit,
    sort_units,
)
from leastnoise.rendering import fact_lines, printable

# The most distinct charges that are counted before they are added up.
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a dataset, or of one analyst of it: limit, spending and remaining part.

    Attributes:
        dataset: The name of the dataset.
        analyst: The name of the analyst; None for all analysts together.
        limit: The limit; None for an analyst without a limit of their own.
        spent: The sum of all charges.
        remaining: The part of the limit that is not spent. For an analyst, the smaller of the
            remaining parts of their own limit and of the dataset's, which other analysts may spend
            first.
        units: The privacy units that the charges declare. ``spent`` is a guarantee for a unit that
            is covered by each of them.
        undeclared: Whether some charges declare no unit, such as those of a mechanism.
        allocations: The allocations that this account was charged for.
    """

    dataset: str
    analyst: str | None
    limit: Privacy | None
    spent: Privacy
    remaining: Privacy
    units: tuple[DeclaredUnit, ...] = ()
    undeclared: bool = False
    allocations: tuple[AllocationAccount, ...] = ()
    left = RenamedAttribute[Privacy]("remaining")

    @property
    def has_releases(self) -> bool:
        """Whether a release was charged; an allocation by itself is not a release."""
        return bool(self.units) or self.undeclared

    @property
    def neighbors(self) -> str | None:
        """The neighbor relation of the total; None if no charge declares one."""
        return find_relation(self.units)

    @property
    def mixed(self) -> bool:
        """Whether charges declare both neighbor relations, as ledgers accepted up to 0.5.0."""
        return is_mixed(self.units)

    def describe_units(self, *, brief: bool = False) -> str:
        """Return sentences about the privacy unit that the total of the charges protects.

        Args:
            brief: Whether the text follows a label. Default: False.
        """
        return describe_units(self.units, undeclared=self.undeclared, brief=brief)

    def __str__(self) -> str:
        facts = [
            ("Dataset", printable(self.dataset)),
            ("Analyst", printable(self.analyst or "")),
            ("Limit", "none" if self.limit is None else format_guarantee(self.limit)),
            ("Spent", format_guarantee(self.spent)),
            ("Remaining", format_guarantee(self.remaining)),
            ("Unit", self.describe_units(brief=True)),
            *(("Allocation", str(allocation)) for allocation in self.allocations),
        ]
        return "\n".join(fact_lines([fact for fact in facts if fact[1]]))

    def __repr__(self) -> str:
        whose = self.dataset if self.analyst is None else f"{self.dataset}, {self.analyst}"
        limit = "" if self.limit is None else f" of {format_guarantee(self.limit)}"
        return f"<{printable(whose)}: {format_guarantee(self.remaining)} remain{limit}>"


Name = tuple[str, str | None]


@dataclass
class Accounts:
    """The accounts after the rows that were followed and checked so far.

    Attributes:
        head: The head of the chain after these rows.
        limits: The limits, by account.
        spent: The sums of charges, by account.
        mechanisms: The keys of the described mechanisms.
        charges: The number of charges.
        units: The units that charges declare, by account; None stands for charges without one.
        allocations: The allocations, and the sums of their costs.
    """

    head: Head = BEGINNING
    limits: dict[Name, Sum] = field(default_factory=dict)
    spent: dict[Name, Sum] = field(default_factory=dict)
    mechanisms: set[str] = field(default_factory=set)
    charges: int = 0
    units: dict[Name, frozenset[DeclaredUnit | None]] = field(default_factory=dict)
    allocations: Allocations = field(default_factory=Allocations)

    def follow(self, rows: "Iterator[Row]") -> None:
        """Follow further rows from the head, and check each of them.

        Raises:
            LedgerDamaged: If a row is missing, has the wrong hash, or has content that no ledger
                writes.
        """
        seq, before = self.head.seq, self.head.hash
        # Counts of equal kinds and bodies, because most charges are alike.
        charged: dict[tuple[str, str], int] = {}
        for row in rows:
            seq += 1
            known = row.version == find_version(row.kind)
            if not known or row.seq != seq or row.compute_hash(before) != row.hash:
                raise _row_error(row, seq)
            before, kind = row.hash, row.kind
            read_row(row, _check)
            if kind in CHARGES:
                charge = kind, row.body
                charged[charge] = charged.get(charge, 0) + 1
                if len(charged) > _MANY:
                    self._charge(charged)
                    charged = {}
            elif kind == ALLOCATION:
                allocation = read_allocation(row.key, row.body)
                self.allocations.make(allocation)
                self._add_guarantee(
                    charged_names(allocation.dataset, allocation.analyst), allocation.privacy
                )
            elif kind == LIMIT:
                dataset, analyst, most = _read_limit(row.body)
                self.limits[dataset, analyst] = most
            elif kind == MECHANISM:
                self.mechanisms.add(row.key)
        self._charge(charged)
        self.head = Head(seq, before)

    def _charge(self, charged: dict[tuple[str, str], int]) -> None:
        """Add charges to the sums, exactly, so that their order does not matter."""
        for (kind, body), times in charged.items():
            charge = _read_charge(kind, body)
            names = charged_names(charge.dataset, charge.analyst)
            more = times * charge.amounts[0], times * charge.amounts[1]
            if charge.allocation is None:
                self._add_guarantee(names, more)
            else:
                self.allocations.spend(charge.dataset, charge.allocation, more)
            for name in names:
                if charge.unit not in (declared := self.units.get(name, frozenset())):
                    self.units[name] = declared | {charge.unit}
            self.charges += times

    def _add_guarantee(self, names: "list[Name]", amounts: Sum) -> None:
        for name in names:
            self.spent[name] = add(self.spent.get(name, NOTHING), amounts)

    def check_relation(self, dataset: str, unit: DeclaredUnit | None) -> None:
        """Reject a charge under another neighbor relation than the dataset has."""
        check_relation(dataset, self.units.get((dataset, None), frozenset()), unit)

    def check_limits(
        self, dataset: str, analyst: str | None, privacy: Privacy, what: str = "release"
    ) -> None:
        """Reject a charge that would exceed the limit of the dataset or of the analyst."""
        exceeded = self._find_exceeded(dataset, analyst, privacy)
        if exceeded is not None:
            name, over = exceeded
            raise _budget_error(self.account(*name), privacy, over, what)

    def fits(self, dataset: str, analyst: str | None, privacy: Privacy) -> bool:
        """Return whether a charge fits into the limits of the dataset and of the analyst."""
        return self._find_exceeded(dataset, analyst, privacy) is None

    def _find_exceeded(
        self, dataset: str, analyst: str | None, privacy: Privacy
    ) -> "tuple[Name, list[bool]] | None":
        """Return the first account whose limit a charge would exceed, and whether in ε, in δ."""
        for name in charged_names(dataset, analyst):
            limit = self.limits.get(name)
            if limit is None and name[1] is not None:
                continue  # only the dataset's limit applies
            spent, limit = self.spent.get(name, NOTHING), limit or NOTHING
            total = add(spent, (privacy.epsilon, privacy.delta))
            over = [part > most for part, most in zip(total, limit, strict=True)]
            if any(over):
                return name, over
        return None

    def account(self, dataset: str, analyst: str | None = None) -> Account:
        """Return one account."""
        limit = self.limits.get((dataset, analyst))
        spent = self.spent.get((dataset, analyst), NOTHING)
        remaining = [
            subtract(self.limits.get(name, NOTHING), self.spent.get(name, NOTHING))
            for name in charged_names(dataset, analyst)
            if name in self.limits or name[1] is None
        ]
        units = self.units.get((dataset, analyst), frozenset())
        with reading_content(self.head.seq):  # the sum of forged charges may not be a guarantee
            return Account(
                dataset,
                analyst,
                None if limit is None else Privacy(*limit),
                Privacy(*spent),
                Privacy(*map(min, zip(*remaining, strict=True))),
                sort_units(units),
                None in units,
                tuple(
                    allocation
                    for allocation in self.allocations.all(dataset)
                    if analyst in (None, allocation.analyst)
                ),
            )

    def all(self) -> list[Account]:
        """Return every account, each dataset's before its analysts'."""
        names = sorted({*self.limits, *self.spent}, key=lambda name: (name[0], name[1] or ""))
        return [self.account(*name) for name in names]

    def copy(self) -> "Accounts":
        """Return a copy that can follow further rows without changing this object."""
        parts = dict(self.limits), dict(self.spent), set(self.mechanisms)
        return Accounts(self.head, *parts, self.charges, dict(self.units), self.allocations.copy())


def _budget_error(
    account: Account, privacy: Privacy, over: list[bool], what: str
) -> BudgetExceeded:
    """Return the error for a charge that would exceed a limit; ``over`` in ε, in δ."""
    whose = f" for analyst {account.analyst!r}" if account.analyst else ""
    problem = f"Not enough budget{whose} in dataset {account.dataset!r}"
    nothing = "Nothing was charged or released"
    needed, remaining = format_guarantee(privacy), format_guarantee(account.remaining)
    of = "" if account.limit is None else f" of {format_guarantee(account.limit)}"
    less, options = (
        " and ".join(name for name, exceeds in zip(names, over, strict=True) if exceeds)
        for names in (("ε", "δ"), ("--epsilon", "--delta"))
    )
    return BudgetExceeded(
        Words(
            f"{problem}: this {what} needs {needed}; {remaining} remain{of}. {nothing}",
            f"{problem}. {nothing}",
        ),
        fix=Words(
            f"Use a smaller {less}, or raise the limit.",
            f"Use a smaller {options}, or ask the owner of the ledger to raise the limit.",
        ),
        details=[("needed", needed), ("remaining", f"{remaining}{of}")],
    )


def _row_error(row: Row, seq: int) -> LedgerDamaged:
    version = find_version(row.kind)
    if row.version > NEWEST:
        return damage_error(
            row.seq, f"is of version {row.version}, which this version of leastnoise cannot read"
        )
    if row.version != version:
        return damage_error(row.seq, f"has version {row.version} instead of {version}")
    if row.seq != seq:
        return damage_error(seq, "is missing")
    return damage_error(row.seq, "has the wrong hash")


def _check(row: Row) -> None:
    """Raise a ValueError, or similar, if no ledger writes a row like this.

    Answers are checked when they are read, and against their charges by an audit.
    """
    check_time(row.at)
    if row.payload and row.kind != ANSWER:
        raise ValueError
    if row.kind in (*CHARGES, ANSWER):
        check_readable(row.key)
    if row.kind in CHARGES:
        _read_charge(row.kind, row.body)
    elif row.kind == ALLOCATION:
        read_allocation(row.key, row.body)
    elif row.kind == MECHANISM:
        if row.key != mechanism_key(compute_digest(read_content(row.kind, row.body))):
            raise ValueError
    elif row.kind == OPENED:
        read_content(row.kind, row.body)
        if row.key:
            raise ValueError
    elif row.kind == LIMIT:
        dataset, analyst, _ = _read_limit(row.body)
        if row.key != limit_key(dataset, analyst):
            raise ValueError
    elif row.kind not in KINDS:
        raise damage_error(row.seq, "has an unknown kind")


class _Charge(NamedTuple):
    """The amounts of a charge: of a guarantee, or of a cost to an allocation."""

    dataset: str
    analyst: str | None
    allocation: str | None
    amounts: Sum
    unit: DeclaredUnit | None


@lru_cache(maxsize=1024)  # the same guarantee is usually charged many times
def _read_charge(kind: str, body: str) -> _Charge:
    content = read_content(kind, body)
    if kind == SPEND:
        square, failure = read_cost(content).values()
        amounts, allocation = (square, failure), content["allocation"]
    else:
        amounts, allocation = _read_amounts(content), None
    unit = read_unit(content["asked"])
    return _Charge(content["dataset"], content["analyst"], allocation, amounts, unit)


@lru_cache(maxsize=1024)
def _read_limit(body: str) -> tuple[str, str | None, Sum]:
    content = read_content(LIMIT, body)
    return content["dataset"], content["analyst"], _read_amounts(content)


def _read_amounts(content: Content) -> Sum:
    return parse_amount(content["epsilon"]), parse_amount(content["delta"])


def charged_names(dataset: str, analyst: str | None) -> list[Name]:
    """Return the names of the accounts that a charge is added to, the dataset's first."""
    return [(dataset, None)] if analyst is None else [(dataset, None), (dataset, analyst)]
