"""Privacy loss curves: δ enclosed at every e^(ih), and bounds of how far chords lie above it.

Each kind of noise computes its curve directly, in integers, because computing its profile thousands
of times would be slow. Only levels e^ε ≥ 1 are needed: the two neighbors can be exchanged, so δ at
1/f is 1 − 1/f + δ(f)/f.
"""

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from leastnoise.accounting.privacy_loss import Bracket, LossGrid
from leastnoise.core.exact import Interval, as_float, as_log, logarithm
from leastnoise.core.profile import Shape

_ZERO = Fraction(0)
# Losses are multiples of a unit if their quotients are this near to integers.
_NEAR = 1e-9
# Binary digits of the unit.
_UNIT_BITS = 640
# Losses that differ relatively by less are treated as one. A ratio moves down to the next level of
# the grid if it is within 2^−12 of a cell above it.
_CLUSTER = 1e-6
_SNAP_BITS = 12


class LossCurve(ABC):
    """δ as a function of e^ε ≥ 1, for noise at one sensitivity."""

    @abstractmethod
    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose δ at the losses 0, h, … top·h, in units of the grid."""

    @property
    @abstractmethod
    def infinity_mass(self) -> Interval:
        """The limit of δ for large ε."""

    @property
    @abstractmethod
    def is_level(self) -> bool:
        """Whether every loss is 0 or infinite, for certain."""

    @property
    @abstractmethod
    def farthest(self) -> float:
        """The largest finite loss, or ``math.inf``; only used to choose a grid."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the finite losses; only used to choose a grid."""

    @property
    def unit(self) -> Fraction | None:
        """A number that all finite losses are almost integer multiples of, if it exists."""
        return None

    @property
    def landmark(self) -> Fraction | None:
        """A loss that should lie on the grid, because the curve has a kink there."""
        return self.unit

    def snap_to_grid(self, grid: LossGrid, top: int) -> "tuple[LossCurve, dict[int, int]]":
        """Return a curve and integers wᵢ such that curve + Σ wᵢ·(e^(ih) − f)₊ lies below it."""
        del grid, top
        return self, {}

    def end_gap(self, grid: LossGrid, top: int) -> int | None:
        """Bound by how much the second last value must be lowered if the last one is not.

        Then the chord between them lies below the curve. None if no bound is known.
        """
        del grid, top
        return None

    def gaps(self, grid: LossGrid, masses: list[int]) -> list[int]:
        """Bound by how much chords between neighboring losses of the grid lie above the curve.

        This bound follows from convexity: the extensions of the chord before and of the chord after
        lie below the curve. They meet (F − 1)·mᵢ·mᵢ₊₁ / (F·mᵢ + mᵢ₊₁) below the chord from i·h to
        (i+1)·h, where F is e^h and ``masses`` m₀, m₁, … are those of the chords, rounded up.
        """
        low, high = grid.factor
        gaps = []
        for a, b in pairwise(masses):
            under = low * a + (b << grid.bits)
            gaps.append(-((grid.one - high) * a * b // under) if under else 0)
        # After the last loss there is no chord; the curve does not fall below 0.
        return [*gaps[:-1], grid.one] if gaps else []


@dataclass(frozen=True)
class RatioTable(LossCurve):
    """Finitely many likelihood ratios above 1 with their probabilities, and the infinity mass.

    δ at f is the infinity mass plus the sum of mass·(1 − f/ratio) over the ratios above f.
    """

    ratios: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Add up the ratios above each level, from the highest level down."""
        levels = grid.powers(grid.factor, top)
        left = [(grid.below(ratio), mass, mass / ratio) for ratio, mass in sorted(self.ratios)]
        infinite = grid.scaled(Interval.exact(self.infinite))
        mass_low = mass_high = less_low = less_high = 0
        heights = []
        for low, high in reversed(levels):
            # Omitted ratios are below the level, so they add nothing. Included ratios are not below
            # ``low``, so no term is negative. Any choice of ratios gives a lower bound.
            while left and left[-1][0] >= low:
                _, mass, less = left.pop()
                mass_low, mass_high = mass_low + grid.below(mass), mass_high + grid.above(mass)
                less_low, less_high = less_low + grid.below(less), less_high + grid.above(less)
            least = mass_low - -(-high * less_high >> grid.bits)
            most = mass_high - (low * less_low >> grid.bits)
            upper = min(infinite[1] + max(0, most), grid.one)
            heights.append((infinite[0] + max(0, least), upper))
        return heights[::-1]

    def gaps(self, grid: LossGrid, masses: list[int]) -> list[int]:
        """Add the gap that each ratio causes at its place: (mass/ratio)·left·right/width."""
        top = len(masses) - 1
        if not self.ratios:
            return [0] * top
        levels = grid.powers(grid.factor, top)
        # A level is only enclosed, so a ratio near it may lie in the cell before its assigned one.
        gaps = [high - low + 1 for low, high in levels[1:]]
        cell = 0
        for ratio, mass in sorted(self.ratios):
            place = grid.below(ratio)
            while cell < top and place >= levels[cell + 1][0]:
                cell += 1
            if cell == top:
                break
            (low, last), (first, high) = levels[cell], levels[cell + 1]
            left, right = place + 1 - low, high - place
            share = grid.above(mass / ratio)
            gaps[cell] += -(-share * left * right // (first - last) >> grid.bits)
        return gaps

    @property
    def infinity_mass(self) -> Interval:
        """The probability of outputs that are impossible for a neighbor."""
        return Interval.exact(self.infinite)

    @cached_property
    def _logs(self) -> list[tuple[float, float]]:
        return [(_log(ratio), as_float(mass)) for ratio, mass in self.ratios]

    @property
    def is_level(self) -> bool:
        """Whether there is no ratio above 1."""
        return not self.ratios

    @property
    def farthest(self) -> float:
        """The logarithm of the largest ratio."""
        return max((loss for loss, _ in self._logs), default=0.0)

    @property
    def variance(self) -> float:
        """The variance of the losses and their mirror images."""
        square = math.fsum(m * x * x * (1 + math.exp(-x)) for x, m in self._logs)
        mean = math.fsum(m * x * -math.expm1(-x) for x, m in self._logs)
        return max(square - mean**2, square * _NEAR)

    @cached_property
    def unit(self) -> Fraction | None:
        """The smallest loss, if all losses are integer multiples of it."""
        if not self.ratios:
            return None
        least = min(loss for loss, _ in self._logs)
        quotients = [loss / least for loss, _ in self._logs]
        if any(abs(q - round(q)) > _NEAR * q for q in quotients):
            return None
        return logarithm(min(ratio for ratio, _ in self.ratios), _UNIT_BITS).middle

    @cached_property
    def landmark(self) -> Fraction | None:
        """The loss that contributes most to the variance, or the smallest loss very near it."""
        if not self.ratios:
            return None
        main, _ = max(self._logs, key=lambda pair: pair[1] * pair[0] ** 2)
        near = (
            ratio
            for (ratio, _), (loss, _) in zip(self.ratios, self._logs, strict=True)
            if abs(loss / main - 1) < _CLUSTER
        )
        return logarithm(min(near), _UNIT_BITS).middle

    def snap_to_grid(self, grid: LossGrid, top: int) -> "tuple[RatioTable, dict[int, int]]":
        """Move ratios that lie just above a level of the grid down to it.

        w = mass/ratio does not change, so this only lowers the curve.
        """
        levels = [high for _, high in grid.powers(grid.factor, top)]
        nodes: dict[int, int] = {}
        unmoved = []
        for ratio, mass in self.ratios:
            place = grid.below(ratio)
            cell = bisect_right(levels, place) - 1
            width = levels[min(cell + 1, top)] - levels[min(cell, top - 1)] if top else 0
            if cell >= 0 and (place - levels[cell]) << _SNAP_BITS < width:
                nodes[cell] = nodes.get(cell, 0) + grid.below(mass / ratio)
            else:
                unmoved.append((ratio, mass))
        return RatioTable(tuple(unmoved), self.infinite), nodes


@dataclass(frozen=True)
class Envelope(LossCurve):
    """The largest of several curves, one for each shift that may be the worst."""

    curves: tuple[RatioTable, ...]

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose the largest height at each level of the grid."""
        heights = [curve.heights(grid, top) for curve in self.curves]
        return [(max(a for a, _ in at), max(b for _, b in at)) for at in zip(*heights, strict=True)]

    @property
    def infinity_mass(self) -> Interval:
        """The largest infinity mass of the curves."""
        return Interval.exact(max(curve.infinite for curve in self.curves))

    @property
    def is_level(self) -> bool:
        """Whether all curves are level."""
        return all(curve.is_level for curve in self.curves)

    @property
    def farthest(self) -> float:
        """The largest privacy loss of the curves."""
        return max(curve.farthest for curve in self.curves)

    @property
    def variance(self) -> float:
        """The largest variance of the curves."""
        return self._widest.variance

    @property
    def landmark(self) -> Fraction | None:
        """The landmark of the curve with the largest variance."""
        return self._widest.landmark

    @cached_property
    def _widest(self) -> RatioTable:
        return max(self.curves, key=lambda curve: curve.variance)


def tabulate_shape(shape: Shape, shift: int) -> RatioTable:
    """Return the likelihood ratios of piecewise constant noise and the same noise shifted."""
    masses: dict[Fraction, int] = {}
    impossible = 0
    for height, other, length in shape.overlaps(shift):
        if not other:
            impossible += height * length
        elif height > other:
            ratio = Fraction(height, other)
            masses[ratio] = masses.get(ratio, 0) + height * length
    ratios = tuple((ratio, Fraction(mass, shape.total)) for ratio, mass in sorted(masses.items()))
    return RatioTable(ratios, Fraction(impossible, shape.total) + shape.atoms)


def _log(ratio: Fraction) -> float:
    """Return ln(ratio) for a ratio above 1, accurately also near 1."""
    more = ratio - 1
    if more < 1:
        return math.log1p(as_float(more))
    return as_log(ratio)
