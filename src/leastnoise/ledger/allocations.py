"""Allocations: parts of a dataset's limit, set aside once, with Gaussian accounting.

An allocation moves a guarantee (ε′, δ′) irrevocably out of the plain budget, as one charge. Its
caps (M², Γ) are fixed at that moment and imply this guarantee: Γ + (1 − Γ)·δ_M(ε′) ≤ δ′. Releases
from it cost (μ², γ), and Σμ² ≤ M² and Σγ ≤ Γ hold at any time. So everything that is released from
it satisfies (ε′, δ′), even if each release is chosen after seeing the answers before it
(docs/theory/many-answers.md). All amounts are exact rationals: caps rounded down, costs rounded up.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leastnoise.core.exact import format_ratio, format_rounded
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.json_types import Json
from leastnoise.ledger.rows import (
    ALLOCATION,
    allocation_key,
    parse_amount,
    privacy_to_json,
    read_content,
    read_cost,
)
from leastnoise.ledger.sums import LONGEST_SUM, NOTHING, Sum, add, subtract
from leastnoise.rendering import printable

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost

# The name of the allocation of a whole limit: the dataset has Gaussian accounting.
DEFAULT = "default"
# The part of δ that a new allocation sets aside for discovering groups.
DISCOVERY = Fraction(1, 10)
# The largest ε of an allocation. It bounds the time in which a forged row is read.
LARGEST_EPSILON = 10**6
_DIGITS = 6


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AllocatedPrivacy(Privacy):
    """A cost inside an allocation, such as its remaining part, with the implied guarantee.

    ``epsilon`` and ``delta`` are the guarantee of all releases that cost this part together, with
    the δ of the allocation. A single release with this guarantee need not fit: ``cost`` decides. So
    noise is not calibrated to it.

    Attributes:
        cost: (μ², γ) of this part.
        caps: (M², Γ), the caps of the allocation.
        share: The part of the caps. For the remaining part, the smaller of the parts of M²
            and of Γ that remain; for its spending, the larger of the parts that are spent.
    """

    cost: "GaussianCost"
    caps: "GaussianCost"
    share: Fraction

    def __init__(
        self, cost: "GaussianCost", caps: "GaussianCost", whole: Privacy, share: Fraction
    ) -> None:
        """Compute the guarantee of a part, given that of the whole allocation."""
        if cost.square:
            epsilon = cost.epsilon(whole.delta)
            rounded = Fraction(format_rounded(epsilon or Fraction(0), _DIGITS, ROUND_CEILING))
            # The caps imply the guarantee of the whole, and so does every part of them.
            known = whole.epsilon if epsilon is None else min(rounded, whole.epsilon)
            Privacy.__init__(self, known, whole.delta)
        else:
            Privacy.__init__(self, 0, cost.failure)
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "caps", caps)
        object.__setattr__(self, "share", share)

    @property
    def mu(self) -> Fraction:
        """μ of Gaussian differential privacy."""
        return self.cost.mu

    @property
    def failure(self) -> Fraction:
        """γ, the probability of an output that may reveal anything."""
        return self.cost.failure

    @property
    def rho(self) -> Fraction:
        """ρ = μ²/2 of zero-concentrated differential privacy (zCDP), if γ is 0."""
        return self.cost.rho

    def __repr__(self) -> str:
        share = format_rounded(self.share, 4, ROUND_FLOOR)
        return f"AllocatedPrivacy(share={share}, {Privacy.__repr__(self)})"

    def __str__(self) -> str:
        gamma = format_share(self.cost.failure, self.caps.failure)
        return (
            f"{format_share(self.cost.square, self.caps.square)} of μ² and {gamma} of γ: "
            f"{self.cost};\ntotal guarantee {Privacy.__str__(self)}"
        )


def format_share(part: Fraction, cap: Fraction, rounding: str = ROUND_FLOOR) -> str:
    """Print a part of a cap in percent; "none" for a cap of 0."""
    return f"{format_rounded(100 * part / cap, 4, rounding)}%" if cap else "none"


@dataclass(frozen=True, slots=True)
class AllocationAccount:
    """The budget inside an allocation.

    Attributes:
        dataset: The name of the dataset.
        name: The name of the allocation.
        analyst: The analyst whose account was charged for it; None if none was given.
        privacy: The guarantee that was charged for it, and that all its releases satisfy together.
        caps: (M², Γ), the caps of its costs, fixed when it was created.
        spent: (Σμ², Σγ), the cost of its releases.
    """

    dataset: str
    name: str
    analyst: str | None
    privacy: Privacy
    caps: "GaussianCost"
    spent: "GaussianCost"

    @property
    def remaining_cost(self) -> "GaussianCost":
        """The part of the caps that is not spent."""
        from leastnoise.core.gaussian_cost import GaussianCost

        caps, spent = self.caps, self.spent
        rest = subtract((caps.square, caps.failure), (spent.square, spent.failure))
        return GaussianCost(*rest)

    @property
    def remaining(self) -> AllocatedPrivacy:
        """The part of the caps that is not spent, with the guarantee that it implies."""
        return AllocatedPrivacy(self.remaining_cost, self.caps, self.privacy, self._remaining_share)

    @property
    def used(self) -> AllocatedPrivacy:
        """The part of the caps that is spent, with the guarantee that it implies."""
        return AllocatedPrivacy(self.spent, self.caps, self.privacy, 1 - self._remaining_share)

    @property
    def _remaining_share(self) -> Fraction:
        rest, caps = self.remaining_cost, self.caps
        share = rest.square / caps.square
        return min(share, rest.failure / caps.failure) if caps.failure else share

    def describe_remaining(self) -> str:
        """Return how much of the allocation remains, in a few words."""
        rest = self.remaining_cost
        failure = format_share(rest.failure, self.caps.failure)
        gamma = f" and {failure} of γ" if self.caps.failure else ""
        return f"{format_share(rest.square, self.caps.square)} of μ²{gamma} remain"

    def __str__(self) -> str:
        whole = format_guarantee(self.privacy)
        return f"{printable(self.name)!r}: {self.describe_remaining()} of {whole}"

    def __repr__(self) -> str:
        return f"<allocation {self}>"

    def find_share(self, cost: "GaussianCost") -> Fraction | None:
        """Return the part of the caps that a cost takes; None if γ > 0 where its cap is 0."""
        if not self.caps.failure:
            return None if cost.failure else cost.square / self.caps.square
        return max(cost.square / self.caps.square, cost.failure / self.caps.failure)


Key = tuple[str, str]


class _Allocation(NamedTuple):
    """An allocation as its row states it."""

    dataset: str
    name: str
    analyst: str | None
    privacy: Sum
    caps: Sum


class Allocations:
    """The allocations of a ledger, after the rows followed so far."""

    def __init__(self) -> None:
        self._allocations: dict[Key, _Allocation] = {}
        self._spent: dict[Key, Sum] = {}

    def make(self, allocation: _Allocation) -> None:
        """Add an allocation."""
        self._allocations.setdefault((allocation.dataset, allocation.name), allocation)

    def spend(self, dataset: str, name: str, cost: Sum) -> None:
        """Add a cost to the sum of an allocation."""
        self._spent[dataset, name] = add(self._spent.get((dataset, name), NOTHING), cost)

    def fits(self, dataset: str, name: str, cost: "GaussianCost") -> bool:
        """Return whether a cost fits into an allocation beside everything that it has spent."""
        amounts = cost.square, cost.failure
        total = add(self._spent.get((dataset, name), NOTHING), amounts)
        caps = self._allocations[dataset, name].caps
        return total[0] <= caps[0] and total[1] <= caps[1]

    def find(self, dataset: str, name: str) -> AllocationAccount | None:
        """Return the account of an allocation; None if there is no such allocation."""
        allocation = self._allocations.get((dataset, name))
        return None if allocation is None else self._account(allocation)

    def all(self, dataset: str) -> list[AllocationAccount]:
        """Return the accounts of all allocations of a dataset, in creation order."""
        return [
            self._account(allocation)
            for allocation in self._allocations.values()
            if allocation.dataset == dataset
        ]

    def copy(self) -> "Allocations":
        """Return a copy that can be changed without changing this object."""
        copied = Allocations()
        copied._allocations, copied._spent = dict(self._allocations), dict(self._spent)
        return copied

    def _account(self, allocation: _Allocation) -> AllocationAccount:
        from leastnoise.core.gaussian_cost import GaussianCost

        spent = self._spent.get((allocation.dataset, allocation.name), NOTHING)
        caps = GaussianCost(*allocation.caps)
        privacy = Privacy(*allocation.privacy)
        return AllocationAccount(
            allocation.dataset,
            allocation.name,
            allocation.analyst,
            privacy,
            caps,
            GaussianCost(*spent),
        )


def allocation_body(
    dataset: str, analyst: str | None, name: str, privacy: Privacy, failure: Fraction
) -> Json:
    """Return the content of the row that makes an allocation, with the largest M for this Γ."""
    from leastnoise.core.gaussian_cost import find_caps

    caps = find_caps(privacy, failure)
    return {
        "dataset": dataset,
        "analyst": analyst,
        "name": name,
        **privacy_to_json(privacy),
        **cost_to_json(caps),
    }


def cost_to_json(cost: "GaussianCost") -> dict[str, str]:
    """Return a cost for JSON, as exact ratios."""
    return {"square": format_ratio(cost.square), "failure": format_ratio(cost.failure)}


@lru_cache(maxsize=1024)
def read_allocation(key: str, body: str) -> _Allocation:
    """Return an allocation from its row, and prove that its caps imply its guarantee.

    Raises:
        ValueError: Or similar, if they do not, or if no ledger writes such a row.
    """
    from leastnoise.core.gaussian_cost import GaussianCost

    content = read_content(ALLOCATION, body)
    dataset, name, analyst = content["dataset"], content["name"], content["analyst"]
    epsilon, delta = parse_amount(content["epsilon"]), parse_amount(content["delta"])
    square, failure = read_cost(content).values()
    if key != allocation_key(dataset, name):
        raise ValueError
    if not square or not failure < delta or epsilon > LARGEST_EPSILON:
        raise ValueError
    if any(is_long(part) for part in (epsilon, square)):
        raise ValueError
    if GaussianCost(square, failure).delta(epsilon) > delta:
        raise ValueError
    return _Allocation(dataset, name, analyst, (epsilon, delta), (square, failure))


def is_long(number: Fraction) -> bool:
    """Return whether a number has more digits than those of allocations."""
    return max(number.numerator, number.denominator).bit_length() > LONGEST_SUM


def choose_cost(
    account: AllocationAccount,
    costs: "Iterable[GaussianCost]",
    fits: "Callable[[GaussianCost], bool]",
) -> tuple["GaussianCost", bool]:
    """Return the cheapest of several valid costs of one release, and whether it fits.

    The cheapest is the one that takes the smallest part of the caps. It is chosen from public facts
    before the answer is sampled.
    """
    every = list(costs)
    fitting = [cost for cost in every if fits(cost)]

    def order(cost: "GaussianCost") -> tuple[bool, Fraction, Fraction]:
        share = account.find_share(cost)
        return share is None, share or Fraction(0), cost.square

    return min(fitting or every, key=order), bool(fitting)
