"""Discretize a loss curve: losses on a grid whose curve lies above it, or below it.

The upper curve consists of the chords between the values at e^(ih) ("connect the dots": Doroshenko,
Ghazi, Kamath, Kumar and Manurangsi 2022). For the lower curve, each value is reduced by the bound
of how far chords lie above the curve, and the largest convex function below these values is taken.
docs/theory/composition.md proves both.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from leastnoise.accounting.curves import LossCurve
from leastnoise.accounting.privacy_loss import Losses, LossGrid, convolve_all

# Steps of the grid per standard deviation of one loss. There are fewer if all losses together would
# have more than _NODES nodes, but barely fewer than _FEWEST_STEPS.
_STEPS = 192
_FEWEST_STEPS = 8
_NODES = 1 << 14
_MOST_NODES = 1 << 16
# Losses of a release beyond this many steps, or beyond this loss, count as infinite.
_MOST_STEPS = 1 << 13
_LARGEST_LOSS = 256.0
_COMMON = 64
_NEAR = 1e-12
_GUARD_BITS = 56
_MARGIN_BELOW_BITS = 32
# Units by which the curve from below is lowered before slopes are rounded.
_MARGIN_BITS = 24
_FEW = 16


@dataclass(frozen=True)
class GridPlan:
    """The grid for a composition, and the mass that may be trimmed at each end."""

    grid: LossGrid
    depth: int
    negligible: int


def choose_grid(curves: Mapping[LossCurve, int], bits: int) -> GridPlan | None:
    """Choose the grid for δ down to 2^−bits. Floats suffice, as every grid gives proved bounds.

    None if there is no finite loss, or if losses are too large to be distinguished.
    """
    total = sum(curves.values())
    depth = bits + 16 + total.bit_length()
    reaches = {curve: _find_reach(curve, depth) for curve in curves}
    variance = math.fsum(curve.variance * n for curve, n in curves.items())
    longest = math.fsum(2 * reaches[curve] * n for curve, n in curves.items())
    if not 0 < variance < math.inf or longest <= 0:
        return None
    width = min(longest, 2 * math.sqrt(2 * math.log(2) * depth * variance))
    single = math.sqrt(variance / total)
    coarse = min(width / _NODES, max(single / _FEWEST_STEPS, width / _MOST_NODES))
    step = _choose_step(curves, max(single / _STEPS, coarse), width)
    # Enough digits to distinguish cells by e^h − 1, however small the step is.
    narrow = max(0, (1 / step).__ceil__().bit_length())
    digits = depth + _GUARD_BITS + int(1.5 * max(reaches.values())) + 2 + narrow
    # Slightly less, so that a landmark certainly does not lie below its place on the grid.
    grid = LossGrid(step * (1 - Fraction(1, 1 << (digits - _MARGIN_BELOW_BITS))), digits)
    return GridPlan(grid, depth, 1 << max(0, digits - depth))


def compose_losses(
    curves: Mapping[LossCurve, int], plan: GridPlan, *, above: bool
) -> Losses | None:
    """Return the distribution of the total loss, rounded up or down; None if unknown."""
    composed = []
    for curve, count in curves.items():
        top = math.ceil(_find_reach(curve, plan.depth) / float(plan.grid.step) - _NEAR)
        make = discretize_above if above else discretize_below
        losses = make(curve, plan.grid, min(max(top, 0), _MOST_STEPS))
        if losses is not None:  # omitting a release can only lower the loss
            composed.append(losses.power(count, plan.negligible))
    return convolve_all(composed, plan.negligible) if composed else None


def _find_reach(curve: LossCurve, depth: int) -> float:
    """Return a loss beyond which the mass is negligible."""
    if math.isinf(curve.farthest):
        return min(_LARGEST_LOSS, curve.variance / 2 + math.sqrt(1.4 * depth * curve.variance))
    return min(_LARGEST_LOSS, curve.farthest)


def _choose_step(curves: Mapping[LossCurve, int], target: float, width: float) -> Fraction:
    """Return a step near ``target`` so that the landmarks of the curves lie on the grid.

    If all losses of all releases are multiples of one number, return that number, unless it is so
    small that there would be very many nodes.
    """
    units = [curve.unit for curve in curves if curve.farthest > 0]
    common = _find_common_unit([unit for unit in units if unit is not None])
    if common is not None and None not in units and width / float(common) <= _MOST_NODES:
        return common
    marks = sorted(
        ((n, curve.landmark) for curve, n in curves.items() if curve.landmark),
        key=lambda mark: (-mark[0], mark[1]),
    )
    common = _find_common_unit([mark for _, mark in marks if mark]) or (
        marks[0][1] if marks else None
    )
    if common is None or float(common) < target:
        return Fraction(target).limit_denominator(1 << 60) or Fraction(target)
    return common / max(1, round(float(common) / target))


def _find_common_unit(marks: list[Fraction]) -> Fraction | None:
    """Return a number that all marks are almost integer multiples of, unless it is tiny."""
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


def discretize_above(curve: LossCurve, grid: LossGrid, top: int) -> Losses:
    """Return the distribution whose curve runs along chords, each mass rounded up.

    The mass at i·h > 0 is [δ((i+1)h) − (1+F)·δ(ih) + F·δ((i−1)h)] / (F−1) with F = e^h. The mass at
    −i·h is that times e^−ih, and the mass at infinity is the last value.
    """
    heights = curve.heights(grid, top)
    masses = bound_chord_masses(grid, heights)
    falls = grid.powers(grid.fall, top)
    lower = [-(-mass * fall[1] >> grid.bits) for mass, fall in zip(masses, falls, strict=True)]
    return Losses(grid, -top, [*lower[:0:-1], *masses], heights[-1][1], above=True)


def bound_chord_masses(grid: LossGrid, heights: list[tuple[int, int]]) -> list[int]:
    """Return the masses at 0, h, … of the curve that runs along chords, rounded up."""
    low, high = grid.factor
    one, bits, top = grid.one, grid.bits, len(heights) - 1
    if not top:
        return [one - heights[0][0]]

    def quotient(doubled: int) -> int:
        """Return an upper bound of a number divided by F − 1."""
        return -(-doubled // ((low if doubled > 0 else high) - one))

    first = (2 * heights[1][1] << bits) - (one + low) * heights[0][0]
    masses = [max(0, one + quotient(first))]
    for (_, before), (value, _), (_, after) in zip(heights, heights[1:], heights[2:], strict=False):
        masses.append(max(0, quotient((after << bits) - (one + low) * value + high * before)))
    masses.append(max(0, quotient(high * heights[-2][1] - low * heights[-1][0])))
    return masses


def discretize_below(curve: LossCurve, grid: LossGrid, top: int) -> Losses | None:
    """Return losses on the grid whose curve is proved to lie below, or None if the search fails."""
    if not top:
        infinite = grid.scaled(curve.infinity_mass)[0]
        return Losses(grid, 0, [grid.one - infinite], infinite, above=False)
    values = _lower_chords(curve, grid, top)
    falls = grid.powers(grid.fall, top)
    # δ at 1/f is 1 − 1/f + δ(f)/f, from below.
    mirrored = [
        grid.one - high + (value * low >> grid.bits)
        for value, (low, high) in zip(values, falls, strict=True)
    ]
    heights = [*mirrored[:0:-1], *values]
    levels = [*(low for low, _ in falls[:0:-1]), *(low for low, _ in grid.powers(grid.factor, top))]
    masses = _find_hull_masses(grid, levels, heights)
    losses = Losses(grid, -top, masses, values[-1], above=False)
    rounded_up = Losses(grid, -top, masses, values[-1], above=True)  # the same, rounded up
    # At every kink, and at e^ε = 0, where the curve is the sum of all masses.
    low_enough = all(rounded_up.excess(i) <= value for i, value in enumerate(heights))
    return losses if low_enough and sum(masses) + values[-1] <= grid.one else None


def _lower_chords(curve: LossCurve, grid: LossGrid, top: int) -> list[int]:
    """Return values at 0, h, … such that chords between them, flat after the last, lie below."""
    remainder, nodes = curve.snap_to_grid(grid, top)
    values = _lower_other_chords(remainder, grid, top)
    levels = grid.powers(grid.factor, top)
    # A curve with its kinks on the grid equals its chords: Σ wᵢ·(e^(ih) − f) over the i above.
    weight = weighed = 0
    for i in range(top, -1, -1):
        values[i] += max(0, (weighed - weight * levels[i][1]) >> grid.bits)
        weight += nodes.get(i, 0)
        weighed += nodes.get(i, 0) * levels[i][0]
    return values


def _lower_other_chords(curve: LossCurve, grid: LossGrid, top: int) -> list[int]:
    """Return chord values below a curve with unknown kinks."""
    heights = curve.heights(grid, top)
    gaps = curve.gaps(grid, bound_chord_masses(grid, heights))
    last = grid.scaled(curve.infinity_mass)[0]
    around = zip([0, *gaps], [*gaps, 0], strict=True)
    values = [low - max(pair) for (low, _), pair in zip(heights, around, strict=True)]
    end = curve.end_gap(grid, top)
    if end is not None:  # the last chord needs only the value before it lowered
        lower = heights[-2][0] - end - (heights[-1][1] - last)
        values[-2:] = [min(values[-2], lower), last]
    if last - last // _FEW <= min(values):
        last = min(last, *values)  # a smaller infinity mass gives a lower curve
    # From one cell before the first value below the last one, all values become the last one. A
    # value may be lowered, but not raised.
    short = next((i for i, value in enumerate(values) if value < last), top + 1)
    return [value if i < min(short - 1, top) else last for i, value in enumerate(values)]


def _find_hull_masses(grid: LossGrid, levels: list[int], values: list[int]) -> list[int]:
    """Return masses whose curve is the largest convex one below some values, or slightly less.

    Slopes are rounded, so nothing is proved here: the caller checks the curve.
    """
    margin = 1 << _MARGIN_BITS
    last = values[-1]
    points: list[tuple[int, int, int]] = []
    for index, (x, value) in enumerate(zip(levels, values, strict=True)):
        y = max(value - margin, last)
        while len(points) > 1 and _bends_down(points[-2], points[-1], (index, x, y)):
            points.pop()
        points.append((index, x, y))
    masses = [0] * len(values)
    # Before the first level the curve runs to 1 at 0; after the last one it is flat.
    slopes = [_slope(grid, (0, 0, grid.one), points[0])]
    slopes += [_slope(grid, a, b) for a, b in pairwise(points)]
    slopes.append(0)
    for (index, x, _), (before, after) in zip(points, pairwise(slopes), strict=True):
        masses[index] = max(0, ((after - before) * x >> 2 * grid.bits) - 1)
    return masses


def _bends_down(a: tuple[int, int, int], b: tuple[int, int, int], c: tuple[int, int, int]) -> bool:
    """Whether the middle one of three points lies on or above the chord of the others."""
    return (b[2] - a[2]) * (c[1] - a[1]) >= (c[2] - a[2]) * (b[1] - a[1])


def _slope(grid: LossGrid, a: tuple[int, int, int], b: tuple[int, int, int]) -> int:
    """Return the slope from one point to another, in units of 2^−bits of a unit, rounded down."""
    return ((b[2] - a[2]) << 2 * grid.bits) // max(1, b[1] - a[1])
