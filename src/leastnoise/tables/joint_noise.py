"""Joint noise for blocks of numbers: its estimated errors, and its mechanisms.

A block is chosen by :mod:`leastnoise.tables.joint_blocks`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from leastnoise.calibration import find_joint
from leastnoise.core.exact import as_float
from leastnoise.core.noise import BoundedJointStaircase, JointNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.mechanism import AnyMechanism, JointMechanism, JointPart, Mechanism
from leastnoise.tables.noise_choice import estimate_split
from leastnoise.tables.released_number import Divided, ReleasedNumber

# Below this ε, bounded noise has so many boxes that planning would take longer.
_SMALLEST_BOUNDED = Fraction(1, 20)
# The places of the numbers of each block among all distinct numbers.
JointBlocks = tuple[tuple[int, ...], ...]


def count_releases(
    numbers: Iterable[tuple[ReleasedNumber, AnyMechanism]],
) -> list[tuple[AnyMechanism | JointMechanism, int]]:
    """Return each noise with its number of releases that one unit changes; joint noise once."""
    joint: dict[int, tuple[JointMechanism, int]] = {}
    single: list[tuple[AnyMechanism | JointMechanism, int]] = []
    for number, mechanism in numbers:
        if isinstance(mechanism, JointPart):
            _, times = joint.get(id(mechanism.owner), (None, 0))
            joint[id(mechanism.owner)] = mechanism.owner, max(times, number.touched)
        else:
            single.append((mechanism, number.touched))
    return [*joint.values(), *single]


def estimate_joint(privacy: Privacy, numbers: Divided, blocks: JointBlocks) -> float:
    """Return about the errors with joint noise, in the measure of :func:`estimate_split`.

    The maximum errors of deciding counts over Δ, or else all expected errors, which are (k + 1)/2ε
    for k numbers. Infinite if a block cannot have joint noise, or if some number of it would have a
    larger error than with its own part of ε: weights may ask for that part.
    """
    total, joined = 0.0, set()
    deciding = any(number.decides for number, _ in numbers)
    for block in blocks:
        joined |= {*block}
        own = _divide(privacy, numbers, block)
        parts = [numbers[place][1] for place in block]
        if not own.epsilon or max(parts) * (len(block) + 1) > 2 * sum(parts):
            return math.inf
        try:
            noise = _build(own, [numbers[place][0] for place in block]).noise
            if any(numbers[place][0].decides for place in block):
                if isinstance(noise, BoundedJointStaircase):
                    total += sum(
                        as_float(Fraction(noise.half_width(at, noise.last_box), noise.shifts[at]))
                        for at, place in enumerate(block)
                        if numbers[place][0].decides
                    )
            elif not deciding:
                total += len(block) * (len(block) + 1) / 2 / as_float(own.epsilon)
        except (InvalidParameter, Unsupported):
            return math.inf
    rest = [each for place, each in enumerate(numbers) if place not in joined]
    if rest and (not deciding or any(number.decides for number, _ in rest)):
        total += estimate_split(privacy, rest)
    return total


def join(
    privacy: Privacy,
    numbers: Divided,
    blocks: JointBlocks,
    build_alone: Callable[[Privacy, ReleasedNumber], Mechanism],
) -> tuple[Mechanism, ...]:
    """Return the mechanism of each number: joint noise for blocks, and its own for the others."""
    mechanisms: dict[int, Mechanism] = {}
    for block in blocks:
        joint = _build(_divide(privacy, numbers, block), [numbers[place][0] for place in block])
        mechanisms |= dict(zip(block, joint.parts, strict=True))
    for place, (number, part) in enumerate(numbers):
        if place not in mechanisms:
            share = part / number.touched
            own = Privacy(privacy.epsilon * share, privacy.delta * share)
            mechanisms[place] = build_alone(own, number)
    return tuple(mechanisms[place] for place in range(len(numbers)))


def _divide(privacy: Privacy, numbers: Divided, block: Sequence[int]) -> Privacy:
    """Return the guarantee of one release of a block: its part, divided among its groups."""
    touched = max(numbers[place][0].touched for place in block)
    share = sum((numbers[place][1] for place in block), Fraction(0)) / touched
    return Privacy(privacy.epsilon * share, privacy.delta * share)


def _build(privacy: Privacy, numbers: Sequence[ReleasedNumber]) -> JointMechanism:
    """Return joint noise for the numbers of one block.

    Equal blocks get equal noise, and a mechanism each: parts with one owner share a sample.
    """
    deltas = tuple(number.sensitivity for number in numbers)
    integers = tuple(number.integer for number in numbers)
    deciding = any(number.decides for number in numbers)
    own, noise = _find(privacy, deltas, integers, deciding)
    return JointMechanism(own, deltas, integers, noise)


@lru_cache(maxsize=64)  # the estimate and the choice find the same noise
def _find(
    privacy: Privacy, deltas: tuple[Fraction, ...], integers: tuple[bool, ...], deciding: bool
) -> tuple[Privacy, JointNoise]:
    """Return joint noise with its guarantee, bounded if δ > 0.

    Unbounded noise costs as much, and does not use δ. It is the choice where bounded noise would
    have very many boxes, unless a number decides which groups are shown.
    """
    bounded = deciding or (bool(privacy.delta) and privacy.epsilon >= _SMALLEST_BOUNDED)
    own = privacy if bounded else Privacy(privacy.epsilon)
    return own, find_joint(own, deltas, integers, bounded=bounded)
