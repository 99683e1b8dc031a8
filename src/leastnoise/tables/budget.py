"""Allocation of one guarantee to all released numbers, and the noise of each.

A unit can change only the numbers of its groups. All other numbers have the same distribution with
and without the unit. So the composition of the numbers that one unit can change is a guarantee for
all released numbers (docs/shared-noise.md).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from leastnoise.core.gaussian_cost import GaussianCost, epsilon_within, total_cost
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported, Words
from leastnoise.ledger import AllocatedPrivacy, make_part
from leastnoise.mechanism import (
    AnyMechanism,
    Mechanism,
    PermuteAndFlip,
    as_noise,
    calibrate,
    find_blocks,
)
from leastnoise.planning import build_gaussian, build_truncated_laplace
from leastnoise.tables.joint_noise import JointBlocks, estimate_joint, join
from leastnoise.tables.noise_choice import (
    divide,
    estimate_gaussian,
    estimate_split,
    gaussian_shares,
    selects_within_cost,
)
from leastnoise.tables.released_number import Divided, Parts, ReleasedNumber, divide_cost

# Up to this ε truncated Laplace noise is as good as any, and quickly built.
_SMALL = Fraction(1, 8)
_HALF = Fraction(1, 2)
# The solver runs where it takes milliseconds. Elsewhere the noise of the families costs at most a
# few per cent more, and at δ ≤ 1e-3 less than 0.1%; only its proof is weaker.
_LARGEST_EPSILON, _USUAL_EPSILON = 3, 1
_LARGEST_SHIFT, _SMALL_SHIFT = 32, 8
_SECONDS = 2
# The gap within which the solver stops; the smaller one at δ = 0 and for few integer steps.
_GAP, _SMALL_GAP = Fraction(1, 100), Fraction(1, 1000)


# The mechanism of each number, in order, and the guarantee of everything for one unit.
Allocation = tuple[tuple[AnyMechanism, ...], Privacy]
NoiseAllocation = tuple[tuple[Mechanism, ...], Privacy]


def allocate(
    privacy: Privacy,
    numbers: Sequence[ReleasedNumber],
    parts: Parts | None = None,
    *,
    blocks: JointBlocks = (),
    solve: bool = True,
) -> Allocation:
    """Return a mechanism for each number, such that the composition satisfies ``privacy``.

    A selection gets its part of ε and no δ, which would not improve it. The numbers with noise
    share the rest. The total guarantee is the sum of both parts (basic composition). If all numbers
    are selections, it is (ε, 0). Where Gaussian accounting is better, as for a unit in many groups,
    it applies to both, and the total guarantee is (ε, δ).

    One number gets the noise of :func:`calibrate`, whose certificate states how close to optimal it
    is. Several share the guarantee. A number that is released many times gets the same noise each
    time, because it is not known which of them a unit changes.

    In an allocation of a ledger the numbers share a cost instead: those with noise have Gaussian
    noise, and a selection has the ε whose cost is its part.

    Args:
        privacy: The guarantee; or an :class:`AllocatedPrivacy`, a part of an allocation.
        numbers: The distinct numbers.
        parts: The part that each number gets. Default: the same.
        blocks: The places of numbers that can have joint noise, because each unit changes them in
            the same rows only (:mod:`leastnoise.tables.joint_noise`). Default: none.
        solve: Whether the solver may search for the noise of a single number. Default: True.
    """
    if not isinstance(privacy, AllocatedPrivacy):
        as_privacy(privacy, "Privacy(1, '1e-6')")
    even = (Fraction(1, len(numbers)),) * len(numbers)
    return _allocate(privacy, tuple(numbers), even if parts is None else parts, blocks, solve)


@lru_cache(maxsize=64)  # the same query may run on many tables
def _allocate(
    privacy: Privacy,
    numbers: tuple[ReleasedNumber, ...],
    parts: Parts,
    blocks: JointBlocks,
    solve: bool,
) -> Allocation:
    each = list(zip(numbers, parts, strict=True))
    if isinstance(privacy, AllocatedPrivacy):
        return _allocate_cost(privacy, each)
    noisy = tuple(number for number in numbers if number.candidates is None)
    noisy_part = sum((part for number, part in each if number.candidates is None), Fraction(0))
    selecting = privacy.epsilon * (1 - noisy_part)
    rest = Privacy(privacy.epsilon - selecting, privacy.delta)
    if noisy != numbers and selects_within_cost(privacy, each, rest):
        return _share_cost(privacy, each), privacy
    own = tuple(part / noisy_part for number, part in each if number.candidates is None)
    calibrated: tuple[Mechanism, ...] = ()
    noisy_total = Privacy(0, 0)
    if noisy:
        places = [at for at, number in enumerate(numbers) if number.candidates is None]
        inner = tuple(tuple(map(places.index, block)) for block in blocks if {*block} <= {*places})
        calibrated, noisy_total = _find_noise(rest, noisy, own, inner, solve=solve)
    remaining = iter(calibrated)

    def find_mechanism(number: ReleasedNumber, part: Fraction) -> AnyMechanism:
        if number.candidates is None:
            return next(remaining)
        epsilon = privacy.epsilon * part / number.touched
        return PermuteAndFlip(Privacy(epsilon), number.shift, number.candidates)

    total = Privacy(noisy_total.epsilon + selecting, noisy_total.delta)
    return tuple(find_mechanism(*share) for share in each), total


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
    privacy: Privacy,
    numbers: tuple[ReleasedNumber, ...],
    parts: Parts,
    blocks: JointBlocks,
    *,
    solve: bool,
) -> NoiseAllocation:
    """Return a split of the guarantee, joint noise for blocks of numbers, or Gaussian noise.

    All are closed forms, whose time does not grow with the number of groups. Joint noise is best
    for a few numbers of the same rows, a split where there are none, and Gaussian noise for many
    numbers (docs/theory/many-answers.md). Groups are discovered by the noise with the lowest
    threshold, other numbers are released with the smallest error.
    """
    releases = sum(number.touched for number in numbers)
    if releases == 1:
        return (_calibrate(privacy, numbers[0], solve=solve),), privacy
    each = list(zip(numbers, parts, strict=True))
    gaussian = estimate_gaussian(privacy, each) if privacy.delta else math.inf
    others = min(gaussian, estimate_split(privacy, each))
    if blocks and estimate_joint(privacy, each, blocks) < others:
        joined = join(privacy, each, blocks, _split_one)
        return joined, _compose(joined, numbers)
    if gaussian <= others:
        return tuple(map(as_noise, _share_cost(privacy, each))), privacy
    return _split(privacy, each, solve=solve and releases == len(numbers)), privacy


def _split(privacy: Privacy, numbers: Divided, *, solve: bool) -> tuple[Mechanism, ...]:
    """Return noise for a split: parts (pε, pδ) are (ε, δ) together, for any noise.

    The part of each number is divided evenly among its releases.
    """
    each = ((number, divide(privacy, number, part)) for number, part in numbers)
    return tuple(_split_one(own, number, solve=solve) for number, own in each)


def _split_one(part: Privacy, number: ReleasedNumber, *, solve: bool = False) -> Mechanism:
    return _build(part, number) if _is_small(part) else _calibrate(part, number, solve=solve)


def _compose(mechanisms: tuple[Mechanism, ...], numbers: tuple[ReleasedNumber, ...]) -> Privacy:
    """Return the total guarantee by basic composition; a block of joint noise counts once."""
    total = Privacy(0, 0)
    for block, places in find_blocks(mechanisms):
        times = max(numbers[place].touched for place in places)
        own = block.privacy
        total = Privacy(total.epsilon + times * own.epsilon, total.delta + times * own.delta)
    return total


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
            solve=solve and _is_solved_fast(privacy, number),
            gap=_SMALL_GAP if _is_short(number) or not privacy.delta else _GAP,
            seconds=_SECONDS,
        )
    except Unsupported:
        if not number.decides or not privacy.epsilon or privacy.delta >= _HALF:
            raise
        return _build(privacy, number)  # canonical noise would have too many steps


def _is_solved_fast(privacy: Privacy, number: ReleasedNumber) -> bool:
    """Return whether the solver closes the gap soon: at small ε, sooner for few integer steps."""
    few = not number.integer or number.shift <= _LARGEST_SHIFT
    largest = _LARGEST_EPSILON if few else _USUAL_EPSILON
    return _is_short(number) or privacy.epsilon <= largest


def _is_short(number: ReleasedNumber) -> bool:
    """Return whether noise for a number has few integer steps."""
    return number.integer and number.shift <= _SMALL_SHIFT


def _share_cost(privacy: Privacy, numbers: Divided) -> tuple[AnyMechanism, ...]:
    """Return mechanisms such that the costs of all numbers of one unit add up to ``privacy``.

    The part of each number of M² is divided evenly among its releases. Numbers have Gaussian noise,
    and selections the ε that costs their part. Counts that decide which groups are shown have
    truncated noise; they share a part Γ of δ.
    """
    shares = gaussian_shares(privacy, numbers)
    mechanisms = tuple(
        _build_within(share, number, privacy.delta)
        for (number, _), share in zip(numbers, shares, strict=True)
    )
    _check_total(privacy, [number for number, _ in numbers], mechanisms)
    return mechanisms


def _check_total(
    privacy: Privacy, numbers: Sequence[ReleasedNumber], mechanisms: Sequence[AnyMechanism]
) -> None:
    """Prove the guarantee of all numbers that one unit changes, from the noise that is sampled."""
    pairs = zip(numbers, mechanisms, strict=True)
    cost = total_cost(mechanism.gaussian_cost * number.touched for number, mechanism in pairs)
    if cost.delta(privacy.epsilon) > privacy.delta:
        raise NotPrivate(
            f"Gaussian noise for {len(numbers)} numbers does not satisfy {privacy} in total",
            fix="Report this as a bug, and ask for fewer groups meanwhile.",
        )
