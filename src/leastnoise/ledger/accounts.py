"""What the rows of a ledger come to: the limits, what was spent, and what is left.

Promises add up: (ε₁, δ₁) and (ε₂, δ₂) together keep (ε₁ + ε₂, δ₁ + δ₂) whatever the two are, also
where the second was chosen after seeing the first answer (Dwork and Roth 2014, Theorem 3.16 and
Appendix B; Rogers, Roth, Ullman and Vadhan 2016, section 3, for limits set beforehand). So a ledger
that never lets a sum pass its limit keeps the limit as a promise. The sums are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import BudgetExceeded, LedgerDamaged, Words
from leastnoise.ledger.rows import (
    ANSWER,
    BEGINNING,
    CHARGE,
    KINDS,
    LIMIT,
    MECHANISM,
    OPENED,
    VERSION,
    Head,
    Row,
    amount,
    check_readable,
    check_time,
    damaged,
    digest_of,
    limit_key,
    mechanism_key,
    read_content,
    reading_content,
)
from leastnoise.ledger.units import (
    DeclaredUnit,
    check_relation,
    describe_units,
    find_relation,
    is_mixed,
    read_unit,
    sort_units,
)

# A sum of unlike fractions could need ever longer numbers. Beyond so many binary digits it is
# rounded up to them: never too little is said to be spent, and too much by less than 2⁻²⁰⁴⁸.
# Every float is shorter, also as the decimal that it prints as.
LONGEST_SUM = 2048
# Different charges that are kept apart before they are added up.
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Account:
    """What may be spent, and was: of a data set, or by one analyst of it.

    Attributes:
        dataset: The data set.
        analyst: Who; None for all together.
        limit: What may be spent; None for an analyst without a limit of their own.
        spent: The sum of what was charged.
        remaining: The part of the limit that is not spent. For an analyst: of their own limit
            and of the dataset's, which other analysts may spend first.
        units: The privacy units that its charges declare. ``spent`` is a guarantee for a unit that
            is covered by each of them.
        undeclared: Whether it has charges that declare no unit, as those of a mechanism do.
    """

    dataset: str
    analyst: str | None
    limit: Privacy | None
    spent: Privacy
    remaining: Privacy
    units: tuple[DeclaredUnit, ...] = ()
    undeclared: bool = False
    left = RenamedAttribute[Privacy]("remaining")

    @property
    def neighbors(self) -> str | None:
        """The neighbor relation of the total; None if no charge declares one."""
        return find_relation(self.units)

    @property
    def mixed(self) -> bool:
        """Whether charges declare both neighbor relations, as ledgers accepted up to 0.5.0."""
        return is_mixed(self.units)

    def describe_units(self) -> str:
        """Say for whom the total of the charges is a guarantee."""
        return describe_units(self.units, undeclared=self.undeclared)


Name = tuple[str, str | None]
Sum = tuple[Fraction, Fraction]


@dataclass
class Accounts:
    """The rows followed so far, checked one by one, and what they come to.

    Attributes:
        head: The last of them.
        limits: What may be spent, by account.
        spent: What was charged, by account.
        mechanisms: The keys of the mechanisms that are described.
        charges: How many charges there are.
        units: The units that charges declare, by account; None stands for charges without one.
    """

    head: Head = BEGINNING
    limits: dict[Name, Sum] = field(default_factory=dict)
    spent: dict[Name, Sum] = field(default_factory=dict)
    mechanisms: set[str] = field(default_factory=set)
    charges: int = 0
    units: dict[Name, frozenset[DeclaredUnit | None]] = field(default_factory=dict)

    def follow(self, rows: "Iterator[Row]") -> None:
        """Go on from the head along further rows.

        Raises:
            LedgerDamaged: If a row is not what the chain says, or does not follow.
        """
        seq, before = self.head.seq, self.head.hash
        charged: dict[str, int] = {}  # bodies of charges, which are mostly alike, and how many
        for row in rows:
            seq += 1
            if row.version != VERSION or row.seq != seq or row.hashed(before) != row.hash:
                raise _broken(row, seq)
            before, kind = row.hash, row.kind
            with reading_content(seq):
                _check(row)
            if kind == CHARGE:
                charged[row.body] = charged.get(row.body, 0) + 1
                if len(charged) > _MANY:
                    self._charge(charged)
                    charged = {}
            elif kind == LIMIT:
                dataset, analyst, most, _ = _amounts(kind, row.body)
                self.limits[dataset, analyst] = most
            elif kind == MECHANISM:
                self.mechanisms.add(row.key)
        self._charge(charged)
        self.head = Head(seq, before)

    def _charge(self, charged: dict[str, int]) -> None:
        """Add up charges: exactly, so that their order does not matter."""
        for body, times in charged.items():
            dataset, analyst, (epsilon, delta), unit = _amounts(CHARGE, body)
            for name in names_charged(dataset, analyst):
                more = times * epsilon, times * delta
                self.spent[name] = _added(self.spent.get(name, _NOTHING), more)
                if unit not in (declared := self.units.get(name, frozenset())):
                    self.units[name] = declared | {unit}
            self.charges += times

    def check_relation(self, dataset: str, unit: DeclaredUnit | None) -> None:
        """Reject a charge under another neighbor relation than the dataset has."""
        check_relation(dataset, self.units.get((dataset, None), frozenset()), unit)

    def refuse(self, dataset: str, analyst: str | None, asked: Privacy) -> None:
        """Refuse to charge what would pass a limit, of the data set or of the analyst."""
        for name in names_charged(dataset, analyst):
            limit = self.limits.get(name)
            if limit is None and name[1] is not None:
                continue  # the data set's limit is an analyst's, too
            spent, limit = self.spent.get(name, _NOTHING), limit or _NOTHING
            total = _added(spent, (asked.epsilon, asked.delta))
            over = [part > most for part, most in zip(total, limit, strict=True)]
            if any(over):
                raise _exceeded(self.account(*name), asked, over)

    def account(self, dataset: str, analyst: str | None = None) -> Account:
        """Return what is known of one account."""
        limit = self.limits.get((dataset, analyst))
        spent = self.spent.get((dataset, analyst), _NOTHING)
        left = [
            _left(self.limits.get(name, _NOTHING), self.spent.get(name, _NOTHING))
            for name in names_charged(dataset, analyst)
            if name in self.limits or name[1] is None
        ]
        units = self.units.get((dataset, analyst), frozenset())
        with reading_content(self.head.seq):  # charges beyond any limit come to no guarantee
            return Account(
                dataset,
                analyst,
                None if limit is None else Privacy(*limit),
                Privacy(*spent),
                Privacy(*map(min, zip(*left, strict=True))),
                sort_units(units),
                None in units,
            )

    def all(self) -> list[Account]:
        """Return every account, of data sets first."""
        names = sorted({*self.limits, *self.spent}, key=lambda name: (name[0], name[1] or ""))
        return [self.account(*name) for name in names]

    def copied(self) -> "Accounts":
        """Return the same, to be followed further without changing this."""
        kept = dict(self.limits), dict(self.spent), set(self.mechanisms)
        return Accounts(self.head, *kept, self.charges, dict(self.units))


_NOTHING: Sum = (Fraction(0), Fraction(0))


def _exceeded(account: Account, asked: Privacy, over: list[bool]) -> BudgetExceeded:
    """Return the error for a charge that would exceed a limit; ``over`` in ε, in δ."""
    whose = f" for analyst {account.analyst!r}" if account.analyst else ""
    problem = f"Not enough budget{whose} in dataset {account.dataset!r}"
    nothing = "Nothing was charged or released"
    needed, remaining = format_guarantee(asked), format_guarantee(account.remaining)
    of = "" if account.limit is None else f" of {format_guarantee(account.limit)}"
    less, options = (
        " and ".join(name for name, exceeds in zip(names, over, strict=True) if exceeds)
        for names in (("ε", "δ"), ("--epsilon", "--delta"))
    )
    return BudgetExceeded(
        Words(
            f"{problem}: this release needs {needed}; {remaining} remain{of}. {nothing}",
            f"{problem}. {nothing}",
        ),
        fix=Words(
            f"Use a smaller {less}, or raise the limit.",
            f"Use a smaller {options}, or ask the owner of the ledger to raise the limit.",
        ),
        details=[("needed", needed), ("remaining", f"{remaining}{of}")],
    )


def _broken(row: Row, seq: int) -> LedgerDamaged:
    if row.version != VERSION:
        return damaged(row.seq, f"is of version {row.version}, and this is for {VERSION}")
    if row.seq != seq:
        return damaged(seq, "is missing")
    return damaged(row.seq, "does not have the hash that it must")


def _check(row: Row) -> None:
    """Raise a ValueError, or similar, if a row by itself says what no ledger writes.

    Answers are checked where they are read, and against their charges by an audit.
    """
    check_time(row.at)
    if row.payload and row.kind != ANSWER:
        raise ValueError
    if row.kind in (CHARGE, ANSWER):
        check_readable(row.key)
    if row.kind == CHARGE:
        _amounts(row.kind, row.body)
    elif row.kind == MECHANISM:
        if row.key != mechanism_key(digest_of(read_content(row.kind, row.body))):
            raise ValueError
    elif row.kind == OPENED:
        read_content(row.kind, row.body)
        if row.key:
            raise ValueError
    elif row.kind == LIMIT:
        dataset, analyst, _, _ = _amounts(row.kind, row.body)
        if row.key != limit_key(dataset, analyst):
            raise ValueError
    elif row.kind not in KINDS:
        raise damaged(row.seq, "is of no known kind")


@lru_cache(maxsize=1024)  # the same promise is mostly made many times
def _amounts(kind: str, body: str) -> tuple[str, str | None, Sum, DeclaredUnit | None]:
    content = read_content(kind, body)
    epsilon, delta = amount(content["epsilon"]), amount(content["delta"])
    unit = read_unit(content["asked"]) if kind == CHARGE else None
    return content["dataset"], content["analyst"], (epsilon, delta), unit


def names_charged(dataset: str, analyst: str | None) -> list[Name]:
    """Return the accounts that a charge is added to, that of the data set first."""
    return [(dataset, None)] if analyst is None else [(dataset, None), (dataset, analyst)]


def _left(limit: Sum, spent: Sum) -> Sum:
    """Return what is left of a limit: nothing, where it was lowered below what was spent."""
    epsilon, delta = (max(a - b, Fraction(0)) for a, b in zip(limit, spent, strict=True))
    return epsilon, delta


def _added(spent: Sum, more: Sum) -> Sum:
    return _plus(spent[0], more[0]), _plus(spent[1], more[1])


def _plus(a: Fraction, b: Fraction) -> Fraction:
    """Add exactly; numbers longer than any that is written by hand are rounded up."""
    if not b:
        return a
    total = a + b
    if total.denominator.bit_length() <= LONGEST_SUM:
        return total
    return Fraction(-(-(total.numerator << LONGEST_SUM) // total.denominator), 1 << LONGEST_SUM)
