"""Which noise: one guarantee allocated to all the numbers that one unit can change.

A unit changes only so many of the numbers that are released: those of its groups. All others have
the same distribution with and without the unit. So a guarantee of that many releases together is
one of all of them (docs/tables.md).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain

from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.mechanism import AnyMechanism, Mechanism, PermuteAndFlip, calibrate
from leastnoise.planning import NumericQuery, plan

# Up to this many numbers are planned for one by one; among more the guarantee is split evenly.
_MOST_PLANNED = 64
# How long noise for one number is looked for. More time hardly changes the noise, only its proof.
_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class ReleasedNumber:
    """A number that is released for each group, or several times.

    The engine returns it as an integer, so many steps of a lattice. Sensitivity and noise are both
    measured by ``step``: neither can be in another unit than the other.

    Attributes:
        name: Its name in explanations. Nothing is looked up by it.
        shift: By how many steps one unit can change it.
        step: What one step is worth, 1 for counts.
        touched: How many of these numbers one unit can change.
        integer: Whether the noise is on the integers; then a step is an integer, too.
        family: The family of its noise; None for the one that costs least.
        candidates: Of how many candidates it is the place of one, selected by errors that one unit
            changes by at most ``shift``; None for a number that noise is added to.
    """

    name: str
    shift: int
    step: Fraction
    touched: int
    integer: bool = False
    family: str | None = None
    candidates: int | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError for steps that the noise could not be added to."""
        if self.integer and self.step.denominator != 1:
            raise ValueError(f"the steps of {self.name} must be integers to have integer noise")

    @property
    def sensitivity(self) -> Fraction:
        """By how much one unit can change it, in the unit of the data."""
        return self.shift * self.step


def find_distinct(
    queries: Sequence[tuple[Sequence[ReleasedNumber], Sequence[Hashable]]],
) -> tuple[list[ReleasedNumber], list[tuple[int, ...]]]:
    """Return the distinct numbers of queries, and for each query the places of its own among them.

    A query has numbers, and an identity for each: numbers of equal identities are equal before
    noise. They become one if they agree in sensitivity and lattice, too. If one of them needs a
    family of noise, as a count that decides which groups are shown does, all get it.
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

    places = [tuple(place(*one) for one in own) for own in each]
    return list(distinct.values()), places


# The mechanism of each number, in order, and the guarantee of everything for one unit.
Allocation = tuple[tuple[AnyMechanism, ...], Privacy]
NoiseAllocation = tuple[tuple[Mechanism, ...], Privacy]


def allocate(privacy: Privacy, numbers: Sequence[ReleasedNumber]) -> Allocation:
    """Return a mechanism for each number such that all together satisfy ``privacy`` for one unit.

    A number that is selected gets an even share of ε, and no δ, which would not make it better; all
    others share what is left. The sums of the ε and of the δ hold for all (basic composition). So
    where every number is selected, the guarantee of all is (ε, 0).

    One number gets the noise of :func:`calibrate`, whose certificate states how close to optimal
    it is. Several are planned for together; a number that is
    released many times gets the same noise each time, because it is not known which of them a unit
    changes.
    """
    as_privacy(privacy, "Privacy(1, '1e-6')")
    return _allocate(privacy, tuple(numbers))


@lru_cache(maxsize=64)  # the same query is asked of one table after another
def _allocate(privacy: Privacy, numbers: tuple[ReleasedNumber, ...]) -> Allocation:
    noisy = tuple(number for number in numbers if number.candidates is None)
    share = privacy.epsilon / len(numbers)
    selecting = share * (len(numbers) - len(noisy))
    left = Privacy(privacy.epsilon - selecting, privacy.delta)
    added, together = _noise(left, noisy) if noisy else ((), Privacy(0, 0))
    noises = iter(added)

    def mechanism(number: ReleasedNumber) -> AnyMechanism:
        if number.candidates is None:
            return next(noises)
        return PermuteAndFlip(Privacy(share / number.touched), number.shift, number.candidates)

    total = Privacy(together.epsilon + selecting, together.delta)
    return tuple(map(mechanism, numbers)), total


def _noise(privacy: Privacy, numbers: tuple[ReleasedNumber, ...]) -> NoiseAllocation:
    touched = sum(number.touched for number in numbers)
    if touched == 1:
        return (_calibrate(privacy, numbers[0]),), privacy
    return _planned(privacy, numbers, touched) or _evenly(privacy, numbers, touched)


def _calibrate(privacy: Privacy, number: ReleasedNumber) -> Mechanism:
    return calibrate(
        privacy,
        sensitivity=number.sensitivity,
        integer=number.integer,
        family=number.family,
        seconds=_SECONDS,
    )


def _planned(
    privacy: Privacy, numbers: Sequence[ReleasedNumber], touched: int
) -> NoiseAllocation | None:
    """Return a plan for all of them, if it gives all releases of one number the same noise."""
    if touched > _MOST_PLANNED:
        return None
    each = [
        (place, _weighted(number, f"{place + 1}. {number.name} {nth}"))
        for place, number in enumerate(numbers)
        for nth in range(1, number.touched + 1)
    ]
    found = plan(privacy, [wanted for _, wanted in each], solve=touched <= len(numbers))
    mechanisms: dict[int, Mechanism] = {}
    for (place, _), mechanism in zip(each, found.mechanisms.values(), strict=True):
        first = mechanisms.setdefault(place, mechanism)
        if first.discretized.noise != mechanism.discretized.noise:
            return None
    return tuple(mechanisms[place] for place in range(len(numbers))), found.total


def _weighted(number: ReleasedNumber, name: str) -> NumericQuery:
    """Return a number to plan for, weighted so that all numbers get about the same share.

    Noise at ε costs about Δ/ε. With weights 1/(Δ·k²) the sum of costs is least where each of k
    releases gets a share in proportion to 1/k. So all releases of one number together get as much
    as those of another, whatever their units are.
    """
    return NumericQuery(
        name,
        sensitivity=number.sensitivity,
        integer=number.integer,
        weight=1 / (number.sensitivity * number.touched**2),
        family=number.family,
    )


def _evenly(privacy: Privacy, numbers: Sequence[ReleasedNumber], touched: int) -> NoiseAllocation:
    """Split the guarantee evenly: (ε/k, δ/k) each are (ε, δ) together, whatever the noise is."""
    part = Privacy(privacy.epsilon / touched, privacy.delta * Fraction(1, touched))
    return tuple(_calibrate(part, number) for number in numbers), privacy
