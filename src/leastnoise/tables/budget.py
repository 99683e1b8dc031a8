"""Which noise: one promise shared among all the numbers that one unit can move.

A unit moves at most so many of the numbers that are released: those of its groups, and for a
quantile every comparison. All others have the same law whether it is there or not; so what holds of
that many releases together holds of all of them (docs/tables.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Mechanism, calibrate
from leastnoise.planning import Wanted, plan

# So many numbers are planned for one by one; among more the promise is split evenly.
_MOST_PLANNED = 64


@dataclass(frozen=True)
class Kind:
    """A number that is released for each group, or several times.

    Attributes:
        wanted: What it is called, and how much one unit can move each of them.
        touched: How many of them one unit can move.
    """

    wanted: Wanted
    touched: int


@dataclass(frozen=True)
class Shared:
    """The noise of each kind, and what they keep together.

    Attributes:
        mechanisms: What releases each kind.
        together: What is promised of everything to one unit.
    """

    mechanisms: tuple[Mechanism, ...]
    together: Privacy


def shared(privacy: Privacy, kinds: Sequence[Kind]) -> Shared:
    """Return the noise for each kind such that one unit is promised ``privacy`` of all together.

    One number gets the least noise there is. Several are planned for together; numbers of one kind
    get the same noise, for nobody knows which of them a unit moves.
    """
    if not isinstance(privacy, Privacy):
        raise InvalidParameter(
            f"privacy must be a Privacy; got {quote(privacy)}. Write Privacy(1, '1e-6')."
        )
    return _found(privacy, tuple(kinds))


@lru_cache(maxsize=64)  # the same is asked of one table after another
def _found(privacy: Privacy, kinds: tuple[Kind, ...]) -> Shared:
    numbers = sum(kind.touched for kind in kinds)
    if numbers == 1:
        return Shared((_alone(privacy, kinds[0].wanted),), privacy)
    return _planned(privacy, kinds, numbers) or _split(privacy, kinds, numbers)


def _alone(privacy: Privacy, wanted: Wanted) -> Mechanism:
    return calibrate(
        privacy,
        sensitivity=wanted.sensitivity,
        integer=wanted.integer,
        family=wanted.family,
    )


def _planned(privacy: Privacy, kinds: Sequence[Kind], numbers: int) -> Shared | None:
    """Return a plan for all of them, if it gives the numbers of a kind the same noise."""
    if numbers > _MOST_PLANNED:
        return None
    each = [
        (place, _weighted(kind, f"{place + 1}. {kind.wanted.name} {number}"))
        for place, kind in enumerate(kinds)
        for number in range(1, kind.touched + 1)
    ]
    found = plan(privacy, [wanted for _, wanted in each], solve=numbers <= len(kinds))
    mechanisms: dict[int, Mechanism] = {}
    for (place, _), mechanism in zip(each, found.ready, strict=True):
        first = mechanisms.setdefault(place, mechanism)
        if first.drawn.noise != mechanism.drawn.noise:
            return None
    return Shared(tuple(mechanisms[place] for place in range(len(kinds))), found.together)


def _weighted(kind: Kind, name: str) -> Wanted:
    """Return a number of a kind, its cost weighted so that all kinds get about the same.

    Noise at ε costs about Δ/ε. Weighted by 1/(Δ·k²), the sum of costs is least where each of k
    numbers gets a part in proportion to 1/k: so all of a kind together get as much as another kind,
    whatever its numbers are measured in.
    """
    wanted = kind.wanted
    return Wanted(
        name,
        sensitivity=wanted.sensitivity,
        integer=wanted.integer,
        weight=1 / (wanted.sensitivity * kind.touched**2),
        family=wanted.family,
    )


def _split(privacy: Privacy, kinds: Sequence[Kind], numbers: int) -> Shared:
    """Split the promise evenly: (ε/k, δ/k) each are (ε, δ) together, whatever the noises are."""
    part = Privacy(privacy.epsilon / numbers, privacy.delta * Fraction(1, numbers))
    return Shared(tuple(_alone(part, kind.wanted) for kind in kinds), privacy)
