"""Allocation of one guarantee to all released numbers, and the noise of each.

A unit can change only the numbers of its groups. All other numbers have the same distribution with
and without the unit. So the composition of the numbers that one unit can change is a guarantee for
all released numbers (docs/shared-noise.md).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain

from leastnoise.core.exact import as_float, as_log
from leastnoise.core.gaussian_cost import GaussianCost, epsilon_within, find_caps, total_cost
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported, Words
from leastnoise.ledger import AllocatedPrivacy, make_part
from leastnoise.mechanism import AnyMechanism, Mechanism, PermuteAndFlip, calibrate
from leastnoise.planning import build_gaussian, build_truncated_laplace, find_end

# The part of δ that discovering groups gets: near the best for every number of groups.
_DISCOVERY = Fraction(1, 4)
# Up to this ε truncated Laplace noise is as good as any, and quickly built.
_SMALL = Fraction(1, 8)
_HALF = Fraction(1, 2)
# Shares of M² are smaller by this factor, because the costs of noise are rounded up.
_ROUNDING = 1 - Fraction(1, 1 << 50)
# The largest exponent and the smallest number of a float.
_LARGEST_LOG = 700.0
_SMALLEST = 5e-324
# The time limit for one number. More time barely changes the noise, only its proof.
_SECONDS = 2


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

    places = [tuple(place(*one) for one in own) for own in each]
    return list(distinct.values()), places


# The mechanism of each number, in order, and the guarantee of everything for one unit.
Allocation = tuple[tuple[AnyMechanism, ...], Privacy]
NoiseAllocation = tuple[tuple[Mechanism, ...], Privacy]
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


def allocate(
    privacy: Privacy,
    numbers: Sequence[ReleasedNumber],
    parts: Parts | None = None,
    *,
    solve: bool = True,
) -> Allocation:
    """Return a mechanism for each number, such that the composition satisfies ``privacy``.

    A selection gets its part of ε and no δ, which would not improve it. The numbers with noise
    share the rest. The total guarantee is the sum of both parts (basic composition). If all numbers
    are selections, it is (ε, 0).

    One number gets the noise of :func:`calibrate`, whose certificate states how close to optimal it
    is. Several share the guarantee. A number that is released many times gets the same noise each
    time, because it is not known which of them a unit changes.

    In an allocation of a ledger the numbers share a cost instead: those with noise have Gaussian
    noise, and a selection has the ε whose cost is its part.

    Args:
        privacy: The guarantee; or an :class:`AllocatedPrivacy`, a part of an allocation.
        numbers: The distinct numbers.
        parts: The part that each number gets. Default: the same.
        solve: Whether the solver may search for the noise of a single number. Default: True.
    """
    if not isinstance(privacy, AllocatedPrivacy):
        as_privacy(privacy, "Privacy(1, '1e-6')")
    even = (Fraction(1, len(numbers)),) * len(numbers)
    return _allocate(privacy, tuple(numbers), even if parts is None else parts, solve)


@lru_cache(maxsize=64)  # the same query may run on many tables
def _allocate(
    privacy: Privacy, numbers: tuple[ReleasedNumber, ...], parts: Parts, solve: bool
) -> Allocation:
    each = list(zip(numbers, parts, strict=True))
    if isinstance(privacy, AllocatedPrivacy):
        return _allocate_cost(privacy, each)
    noisy = tuple(number for number in numbers if number.candidates is None)
    noisy_part = sum((part for number, part in each if number.candidates is None), Fraction(0))
    selecting = privacy.epsilon * (1 - noisy_part)
    rest = Privacy(privacy.epsilon - selecting, privacy.delta)
    own = tuple(part / noisy_part for number, part in each if number.candidates is None)
    calibrated: tuple[Mechanism, ...] = ()
    noisy_total = Privacy(0, 0)
    if noisy:
        calibrated, noisy_total = _find_noise(rest, noisy, own, solve=solve)
    remaining = iter(calibrated)

    def find_mechanism(number: ReleasedNumber, part: Fraction) -> AnyMechanism:
        if number.candidates is None:
            return next(remaining)
        epsilon = privacy.epsilon * part / number.touched
        return PermuteAndFlip(Privacy(epsilon), number.shift, number.candidates)

    total = Privacy(noisy_total.epsilon + selecting, noisy_total.delta)
    return tuple(find_mechanism(*one) for one in each), total


def _allocate_cost(amount: AllocatedPrivacy, numbers: Divided) -> Allocation:
    """Return mechanisms such that the costs of all numbers of one unit add up to that of a part.

    γ is charged only if there are counts that decide which groups are shown.
    """
    deciding = any(number.decides for number, _ in numbers)
    if not amount.cost.square:
        raise InvalidParameter(
            "Nothing remains of the allocation", fix="Make another allocation of the limit."
        )
    if deciding and not amount.cost.failure:
        raise InvalidParameter(
            "Discovering groups in an allocation needs γ > 0, and this allocation has none left",
            fix="List the groups with "
            + Words("groups=", "--group")
            + ", or make another allocation with "
            + Words("discovery='0.1'", "--discovery 0.1")
            + ".",
        )
    cost = amount.cost if deciding else GaussianCost(amount.cost.square)
    shares = divide_cost(cost, numbers)
    mechanisms = tuple(
        _build_within(share, number, amount.delta)
        for (number, _), share in zip(numbers, shares, strict=True)
    )
    pairs = zip(numbers, mechanisms, strict=True)
    actual = total_cost(
        mechanism.gaussian_cost * number.touched for (number, _), mechanism in pairs
    )
    if not actual.fits(cost):
        raise NotPrivate(
            f"Noise for {len(numbers)} numbers costs more than its part of the allocation",
            fix="Report this as a bug, and ask for fewer groups meanwhile.",
        )
    whole = Privacy(amount.epsilon, amount.delta)
    return mechanisms, make_part(cost, amount.caps, whole)


def _build_within(share: GaussianCost, number: ReleasedNumber, delta: Fraction) -> AnyMechanism:
    """Return the mechanism of one number whose releases cost at most ``share`` each."""
    if number.candidates is not None:
        epsilon = epsilon_within(share.square)
        return PermuteAndFlip(Privacy(epsilon), number.shift, number.candidates)
    return build_gaussian(
        share, sensitivity=number.sensitivity, integer=number.integer, delta=delta
    )


def _find_noise(
    privacy: Privacy, numbers: tuple[ReleasedNumber, ...], parts: Parts, *, solve: bool
) -> NoiseAllocation:
    """Return a split of the guarantee, or Gaussian noise that all numbers share if it is better.

    Both are closed forms, whose time does not grow with the number of groups. A split is better for
    a few numbers, Gaussian noise for many (docs/theory/many-answers.md). Groups are discovered by
    the noise with the lower threshold, other numbers are released with the smaller error.
    """
    releases = sum(number.touched for number in numbers)
    if releases == 1:
        return (_calibrate(privacy, numbers[0], solve=solve),), privacy
    each = list(zip(numbers, parts, strict=True))
    if privacy.delta and _estimate_gaussian(privacy, each) < _estimate_split(privacy, each):
        return _share_gaussian(privacy, each), privacy
    return _split(privacy, each, solve=solve and releases == len(numbers)), privacy


def _split(privacy: Privacy, numbers: Divided, *, solve: bool) -> tuple[Mechanism, ...]:
    """Return noise for a split: parts (pε, pδ) are (ε, δ) together, whatever the noise is.

    The part of each number is divided evenly among its releases.
    """
    each = ((number, _divide(privacy, number, part)) for number, part in numbers)
    return tuple(
        _build(own, number) if _is_small(own) else _calibrate(own, number, solve=solve)
        for number, own in each
    )


def _divide(privacy: Privacy, number: ReleasedNumber, part: Fraction) -> Privacy:
    """Return the guarantee of one release of a number."""
    share = part / number.touched
    return Privacy(privacy.epsilon * share, privacy.delta * share)


def _is_small(part: Privacy) -> bool:
    return 0 < part.epsilon <= _SMALL and 0 < part.delta < _HALF


def _build(part: Privacy, number: ReleasedNumber) -> Mechanism:
    return build_truncated_laplace(part, sensitivity=number.sensitivity, integer=number.integer)


def _calibrate(privacy: Privacy, number: ReleasedNumber, *, solve: bool) -> Mechanism:
    try:
        return calibrate(
            privacy,
            sensitivity=number.sensitivity,
            integer=number.integer,
            family=number.family,
            solve=solve,
            seconds=_SECONDS,
        )
    except Unsupported:
        if not number.decides or not privacy.epsilon or privacy.delta >= _HALF:
            raise
        return _build(privacy, number)  # canonical noise would have too many steps


def _share_gaussian(privacy: Privacy, numbers: Divided) -> tuple[Mechanism, ...]:
    """Return Gaussian noise such that the costs of all numbers of one unit add up to ``privacy``.

    The part of each number of M² is divided evenly among its releases. Counts that decide which
    groups are shown have truncated noise; they share a part Γ of δ.
    """
    shares = _gaussian_shares(privacy, numbers)
    mechanisms = tuple(
        build_gaussian(
            share, sensitivity=number.sensitivity, integer=number.integer, delta=privacy.delta
        )
        for (number, _), share in zip(numbers, shares, strict=True)
    )
    _check_total(privacy, [number for number, _ in numbers], mechanisms)
    return mechanisms


def _gaussian_shares(privacy: Privacy, numbers: Divided) -> tuple[GaussianCost, ...]:
    """Return the cost that one release of each number may have."""
    deciding = any(number.decides for number, _ in numbers)
    caps = find_caps(privacy, privacy.delta * _DISCOVERY if deciding else Fraction(0))
    return divide_cost(caps, numbers)


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


def _check_total(
    privacy: Privacy, numbers: Sequence[ReleasedNumber], mechanisms: Sequence[Mechanism]
) -> None:
    """Prove the guarantee of all numbers that one unit changes, from the noise that is sampled."""
    pairs = zip(numbers, mechanisms, strict=True)
    cost = total_cost(mechanism.gaussian_cost * number.touched for number, mechanism in pairs)
    if cost.delta(privacy.epsilon) > privacy.delta:
        raise NotPrivate(
            f"Gaussian noise for {len(numbers)} numbers does not satisfy {privacy} in total",
            fix="Report this as a bug, and ask for fewer groups meanwhile.",
        )


def _estimate_gaussian(privacy: Privacy, numbers: Divided) -> float:
    """Return about the maximum errors of deciding counts, or else all expected errors, over Δ."""
    deciding = any(number.decides for number, _ in numbers)
    total = 0.0
    for (number, _), share in zip(numbers, _gaussian_shares(privacy, numbers), strict=True):
        mu = as_float(share.mu)
        if number.decides:
            total += (
                find_end(Fraction(number.shift) / share.mu, Fraction(number.shift), share.failure)
                / number.shift
            )
        elif not deciding:
            total += math.sqrt(2 / math.pi) / mu
    return total


def _estimate_split(privacy: Privacy, numbers: Divided) -> float:
    """Return about the same of a split, by the formulas of the families.

    Truncated Laplace noise for deciding counts, else the smaller of geometric or staircase noise
    and uniform noise (docs/theory/families.md). Only the choice of noise depends on it.
    """
    deciding = any(number.decides for number, _ in numbers)
    total = 0.0
    for number, share in numbers:
        part = _divide(privacy, number, share)
        epsilon = as_float(part.epsilon)
        if number.decides:
            total += _truncated_radius(epsilon, as_log(part.delta))
        elif not deciding:
            at_integers = number.integer and number.shift == 1
            slope = min(epsilon, _LARGEST_LOG)
            falling = math.sinh(slope) if at_integers else 2 * math.sinh(slope / 2)
            total += 1 / max(falling, as_float(4 * part.delta), _SMALLEST)
    return total


def _truncated_radius(epsilon: float, log_delta: float) -> float:
    """Return ln(1 + (e^ε − 1)/2δ)/ε, or 1/2δ at ε = 0: the ends of truncated Laplace noise."""
    if not epsilon:
        return math.exp(min(-log_delta, _LARGEST_LOG)) / 2
    ratio = math.log(math.expm1(min(epsilon, _LARGEST_LOG))) - math.log(2) - log_delta
    return (
        ratio + math.log1p(math.exp(-ratio)) if ratio > 0 else math.log1p(math.exp(ratio))
    ) / epsilon
