"""The grid for the losses of several releases, and the law of their sum on it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from leastnoise.profiles.composition.curves import LossCurve
from leastnoise.profiles.composition.grid import LossGrid
from leastnoise.profiles.composition.law import law_above, law_below
from leastnoise.profiles.composition.losses import Losses, multiplied

# How fine the grid is: the standard deviation of one loss is so many steps, or fewer where all
# losses together would then have more nodes than that; but hardly fewer than the second number.
_STEPS = 192
_FEWEST_STEPS = 8
_NODES = 1 << 14
_MOST_NODES = 1 << 16
# No single release is looked at beyond so many steps, or beyond this loss: what is, counts as
# impossible for a neighbour.
_MOST_STEPS = 1 << 13
_LARGEST_LOSS = 256.0
_COMMON = 64
_NEAR = 1e-12
_GUARD_BITS = 56
_HAIR_BITS = 32


@dataclass(frozen=True)
class Plan:
    """The grid for some releases, and how much may be spared at the ends of a law on it."""

    grid: LossGrid
    depth: int
    spared: int


def planned(curves: Mapping[LossCurve, int], bits: int) -> Plan | None:
    """Choose the grid for δ down to 2^−bits: floats propose, for any grid gives proved bounds.

    None if nothing finite is lost, or more than can be told apart.
    """
    total = sum(curves.values())
    depth = bits + 16 + total.bit_length()
    reaches = {curve: _reach(curve, depth) for curve in curves}
    variance = math.fsum(curve.spread * n for curve, n in curves.items())
    longest = math.fsum(2 * reaches[curve] * n for curve, n in curves.items())
    if not 0 < variance < math.inf or longest <= 0:
        return None
    width = min(longest, 2 * math.sqrt(2 * math.log(2) * depth * variance))
    single = math.sqrt(variance / total)
    coarse = min(width / _NODES, max(single / _FEWEST_STEPS, width / _MOST_NODES))
    step = _step(curves, max(single / _STEPS, coarse), width)
    # Cells are told apart by e^h − 1, however small the step is.
    narrow = max(0, (1 / step).__ceil__().bit_length())
    digits = depth + _GUARD_BITS + int(1.5 * max(reaches.values())) + 2 + narrow
    # A hair less, so that what the grid is to hit surely does not lie below its place on it.
    grid = LossGrid(step * (1 - Fraction(1, 1 << (digits - _HAIR_BITS))), digits)
    return Plan(grid, depth, 1 << max(0, digits - depth))


def composed(curves: Mapping[LossCurve, int], plan: Plan, *, above: bool) -> Losses | None:
    """Return the law of all losses together, rounded up or down; None if none is known."""
    laws = []
    for curve, count in curves.items():
        top = math.ceil(_reach(curve, plan.depth) / float(plan.grid.step) - _NEAR)
        make = law_above if above else law_below
        one = make(curve, plan.grid, min(max(top, 0), _MOST_STEPS))
        if one is not None:  # leaving out a release can only lower what is lost
            laws.append(one.power(count, plan.spared))
    return multiplied(laws, plan.spared) if laws else None


def _reach(curve: LossCurve, depth: int) -> float:
    """Return a loss beyond which hardly anything lies."""
    if math.isinf(curve.farthest):
        return min(_LARGEST_LOSS, curve.spread / 2 + math.sqrt(1.4 * depth * curve.spread))
    return min(_LARGEST_LOSS, curve.farthest)


def _step(curves: Mapping[LossCurve, int], wanted: float, width: float) -> Fraction:
    """Return a step that hits what the curves ask to be hit, near the one that is wanted.

    Where all losses of all releases are multiples of one number, that number, if it is not so small
    that there would be very many nodes.
    """
    units = [curve.unit for curve in curves if curve.farthest > 0]
    common = _common([unit for unit in units if unit is not None])
    if common is not None and None not in units and width / float(common) <= _MOST_NODES:
        return common
    marks = sorted(
        ((n, curve.landmark) for curve, n in curves.items() if curve.landmark),
        key=lambda mark: (-mark[0], mark[1]),
    )
    common = _common([mark for _, mark in marks if mark]) or (marks[0][1] if marks else None)
    if common is None or float(common) < wanted:
        return Fraction(wanted).limit_denominator(1 << 60) or Fraction(wanted)
    return common / max(1, round(float(common) / wanted))


def _common(marks: list[Fraction]) -> Fraction | None:
    """Return a number that all are nearly whole multiples of, if there is one that is not tiny."""
    if not marks:
        return None
    parts = 1
    for mark in marks:
        quotient = mark / marks[0]
        near = quotient.limit_denominator(_COMMON)
        if not near or abs(quotient / near - 1) > _NEAR:
            return None
        parts = lcm(parts, near.denominator)
    return marks[0] / parts if parts <= _COMMON**2 else None
