"""``ReleasedNumber``: a number of a query with its sensitivity, and its part of the guarantee."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from leastnoise.core.gaussian_cost import GaussianCost

# Shares of M² are smaller by this factor, because the costs of noise are rounded up.
_ROUNDING = 1 - Fraction(1, 1 << 50)


@dataclass(frozen=True, kw_only=True)
class ReleasedNumber:
    """A number that is released, once for each group.

    The engine returns it as an integer number of steps. Sensitivity and noise both use ``step``, so
    they cannot be in different units.

    Attributes:
        name: Its name in explanations.
        shift: The sensitivity in steps.
        step: The size of a step in the unit of the data; 1 for counts.
        touched: How many releases of this number, over all groups, one unit can change.
        integer: Whether the noise is on the integers. Then the step is an integer too.
        family: The family of its noise; None for the family with the smallest cost.
        candidates: The number of candidates of a selection by errors, which one unit changes by at
            most ``shift``; None if noise is added to the number.
    """

    name: str
    shift: int
    step: Fraction
    touched: int
    integer: bool = False
    family: str | None = None
    candidates: int | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError if the noise is on the integers and the step is not an integer."""
        if self.integer and self.step.denominator != 1:
            raise ValueError(f"the steps of {self.name} must be integers to have integer noise")

    @property
    def decides(self) -> bool:
        """Whether it is a count that decides which groups are shown: its noise must be bounded."""
        return self.family is not None

    @property
    def sensitivity(self) -> Fraction:
        """The sensitivity in the unit of the data."""
        return self.shift * self.step


def find_distinct(
    queries: Sequence[tuple[Sequence[ReleasedNumber], Sequence[Hashable]]],
) -> tuple[list[ReleasedNumber], list[tuple[int, ...]]]:
    """Return the distinct numbers of queries, and for each query the places of its numbers in them.

    Each number of a query has an identity, and numbers with equal identities are equal before
    noise. They are released once if their sensitivity and step are equal too. If one of them needs
    a family of noise, as a count that decides which groups are shown does, all of them get it.
    """
    each = [
        [
            (number, (identity, replace(number, name="", family=None)))
            for number, identity in zip(numbers, identities, strict=True)
        ]
        for numbers, identities in queries
    ]
    families: dict[Hashable, set[str]] = {}
    for number, kind in chain.from_iterable(each):
        needed = families.setdefault(kind, set())
        needed |= {number.family} if number.family is not None else set()
    distinct: dict[Hashable, ReleasedNumber] = {}

    def place(number: ReleasedNumber, kind: Hashable) -> int:
        if len(families[kind]) == 1:
            number = replace(number, family=min(families[kind]))
        distinct.setdefault((kind, number.family), number)
        return list(distinct).index((kind, number.family))

    places = [tuple(place(*number) for number in own) for own in each]
    return list(distinct.values()), places


# The part of the guarantee that each number gets; together 1.
Parts = tuple[Fraction, ...]
# A number, and its part of the guarantee.
Divided = Sequence[tuple[ReleasedNumber, Fraction]]


def divide_by_weights(weights: Sequence[Fraction], places: Sequence[Sequence[int]]) -> Parts:
    """Return the part of each distinct number, for the weights of the queries.

    The part of a query is in proportion to its weight. Its numbers get the same part of that, and a
    number of several queries gets a part of each.
    """
    total = sum(weights, Fraction(0))
    parts: dict[int, Fraction] = {}
    for weight, own in zip(weights, places, strict=True):
        for place in own:
            parts[place] = parts.get(place, Fraction(0)) + weight / total / len(own)
    return tuple(parts[place] for place in range(len(parts)))


def divide_cost(cost: GaussianCost, numbers: Divided) -> tuple[GaussianCost, ...]:
    """Return the cost that one release of each number may have, if all of them may cost this much.

    γ is for the counts that decide which groups are shown, in proportion to their parts.
    """
    deciding = sum((part for number, part in numbers if number.decides), Fraction(0))
    return tuple(
        GaussianCost(
            cost.square * _ROUNDING * part / number.touched,
            cost.failure * part / deciding / number.touched if number.decides else Fraction(0),
        )
        for number, part in numbers
    )
