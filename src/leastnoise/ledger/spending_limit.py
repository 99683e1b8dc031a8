"""The limit that releases spend from: of a dataset, of an analyst, or the caps of an allocation.

An allocation has Gaussian accounting. A part of it is an :class:`AllocatedPrivacy`: a cost with the
guarantee that it implies.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.privacy import Privacy
from leastnoise.ledger.allocations import DEFAULT, AllocatedPrivacy
from leastnoise.ledger.ledger import Allocation, Ledger

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """A limit, of which a query can spend a share.

    Attributes:
        whole: The guarantee of the whole limit.
        remaining: The rest; in an allocation, an :class:`AllocatedPrivacy`.
        caps: (M², Γ), the caps of an allocation; None if ε and δ add up.
    """

    whole: Privacy
    remaining: Privacy
    caps: "GaussianCost | None" = None

    @classmethod
    def of(cls, ledger: Ledger, key: str | None = None, *, fresh: bool = False) -> "SpendingLimit":
        """Return the limit that the releases of a ledger are charged to.

        It is the allocation, if the ledger is one or has Gaussian accounting; else the analyst's
        own limit, if there is one; else that of the dataset. For a key that was charged before, it
        is the limit at that time, so that the same share is the same amount. With ``fresh``, this
        applies only to a key that this analyst charged before.
        """
        if ledger.accounting == "gaussian":
            name = ledger.name if isinstance(ledger, Allocation) else DEFAULT
            (allocation,) = (each for each in ledger.allocations if each.name == name)
            return cls(allocation.privacy, allocation.remaining, allocation.caps)
        account = ledger.analyst_account
        earlier = None if key is None else ledger.find_limit(key, own=fresh)
        return cls(earlier or account.limit or ledger.limit, account.remaining)

    @property
    def name(self) -> str:
        """The limit in a few words."""
        return "the limit" if self.caps is None else "the allocation"

    def take(self, share: Fraction) -> Privacy:
        """Return a share of the limit; in an allocation, the share of both caps."""
        if self.caps is not None:
            return make_part(self.caps * share, self.caps, self.whole)
        return Privacy(self.whole.epsilon * share, self.whole.delta * share)

    def take_pure(self, share: Fraction) -> Privacy:
        """Return a share without δ, or without γ in an allocation."""
        if self.caps is not None:
            square = replace(self.caps * share, failure=Fraction(0))
            return make_part(square, self.caps, self.whole)
        return Privacy(self.whole.epsilon * share)

    def add(self, first: Privacy, second: Privacy) -> Privacy:
        """Return the guarantee of two releases together; in an allocation, that of their costs."""
        if isinstance(first, AllocatedPrivacy) and isinstance(second, AllocatedPrivacy):
            return make_part(first.cost + second.cost, first.caps, self.whole)
        return Privacy(first.epsilon + second.epsilon, first.delta + second.delta)

    @property
    def remaining_share(self) -> Fraction:
        """The remaining part of ε; in an allocation, of M²."""
        if isinstance(self.remaining, AllocatedPrivacy):
            return self.remaining.cost.square / self.remaining.caps.square
        if not self.whole.epsilon:
            return Fraction(0)
        return self.remaining.epsilon / self.whole.epsilon

    @property
    def possible_share(self) -> Fraction:
        """The largest share of the whole that certainly remains, in every part of the limit."""
        remaining = self.remaining
        if isinstance(remaining, AllocatedPrivacy):
            pairs = [
                (remaining.cost.square, remaining.caps.square),
                (remaining.cost.failure, remaining.caps.failure),
            ]
        else:
            pairs = [(remaining.epsilon, self.whole.epsilon), (remaining.delta, self.whole.delta)]
        return min((part / whole for part, whole in pairs if whole), default=Fraction(0))


def make_part(cost: "GaussianCost", caps: "GaussianCost", whole: Privacy) -> AllocatedPrivacy:
    """Return a part of an allocation with the guarantee ``whole``, to be spent."""
    gamma = cost.failure / caps.failure if caps.failure else Fraction(0)
    return AllocatedPrivacy(cost, caps, whole, max(cost.square / caps.square, gamma))
