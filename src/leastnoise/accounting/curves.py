"""Privacy loss curves: δ enclosed at every e^(ih), and how far chords lie above it.

Each kind of noise computes its curve directly, in integers, because computing its profile
thousands of times would be slow. Only levels e^ε ≥ 1 are needed: the neighbors can be exchanged, so
δ at 1/f is 1 − 1/f + δ(f)/f.
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
# Losses are multiples of one number if their quotients are this near to whole ones.
_NEAR = 1e-9
# Digits to which that number is known.
_UNIT_BITS = 640
# Losses that differ by less, relatively, are nearly one; a ratio so near above a level of the grid,
# in cells of it, may go down to it.
_CLUSTER = 1e-6
_SETTLED_BITS = 12


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
        """The largest finite loss, or ``math.inf``: a proposal."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """The variance of the finite losses: a proposal."""

    @property
    def unit(self) -> Fraction | None:
        """A number that all finite losses are whole multiples of, or nearly."""
        return None

    @property
    def landmark(self) -> Fraction | None:
        """A loss that should lie on the grid, because the curve has a kink there."""
        return self.unit

    def settle(self, grid: LossGrid, top: int) -> "tuple[LossCurve, dict[int, int]]":
        """Return it as the sum of a curve and of wᵢ·(e^(ih) − f)₊, or less, with integers wᵢ."""
        del grid, top
        return self, {}

    def end_gap(self, grid: LossGrid, top: int) -> int | None:
        """Bound by how much the last but one value must be lowered if the last one is not.

        So that the chord between them lies below the curve; None if nothing is known of it.
        """
        del grid, top
        return None

    def gaps(self, grid: LossGrid, masses: list[int]) -> list[int]:
        """Bound by how much chords between neighboring losses of the grid lie above the curve.

        Here from convexity alone: the chord before and the chord after, both prolonged, lie below
        the curve. ``masses`` are those of the chords, m₀, m₁, …, from above: the two meet
        (F − 1)·mᵢ·mᵢ₊₁ / (F·mᵢ + mᵢ₊₁) below the chord from i·h to (i+1)·h, where F is e^h.
        """
        low, high = grid.factor
        found = []
        for a, b in pairwise(masses):
            under = low * a + (b << grid.bits)
            found.append(-((grid.one - high) * a * b // under) if under else 0)
        # After the last loss there is no chord; the curve does not fall below 0.
        return [*found[:-1], grid.one] if found else []


@dataclass(frozen=True)
class Table(LossCurve):
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
        found = []
        for low, high in reversed(levels):
            # Omitted ratios are below the level, so they add nothing. Included ratios are not below
            # ``low``, so no term is negative. Any choice of ratios gives a lower bound.
            while left and left[-1][0] >= low:
                _, mass, less = left.pop()
                mass_low, mass_high = mass_low + grid.below(mass), mass_high + grid.above(mass)
                less_low, less_high = less_low + grid.below(less), less_high + grid.above(less)
            least = mass_low - -(-high * less_high >> grid.bits)
            most = mass_high - (low * less_low >> grid.bits)
            found.append((infinite[0] + max(0, least), min(infinite[1] + max(0, most), grid.one)))
        return found[::-1]

    def gaps(self, grid: LossGrid, masses: list[int]) -> list[int]:
        """Add up what each ratio adds at its own place: (its mass/ratio)·left·right/width."""
        top = len(masses) - 1
        if not self.ratios:
            return [0] * top
        levels = grid.powers(grid.factor, top)
        # A ratio within the doubt about a level may lie in the cell before the one it is put in.
        found = [high - low + 1 for low, high in levels[1:]]
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
            found[cell] += -(-share * left * right // (first - last) >> grid.bits)
        return found

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
    def spread(self) -> float:
        """The variance of the losses and their mirror images."""
        square = math.fsum(m * x * x * (1 + math.exp(-x)) for x, m in self._logs)
        mean = math.fsum(m * x * -math.expm1(-x) for x, m in self._logs)
        return max(square - mean**2, square * _NEAR)

    @cached_property
    def unit(self) -> Fraction | None:
        """The smallest loss, if all are whole multiples of it."""
        if not self.ratios:
            return None
        least = min(loss for loss, _ in self._logs)
        quotients = [loss / least for loss, _ in self._logs]
        if any(abs(q - round(q)) > _NEAR * q for q in quotients):
            return None
        return logarithm(min(ratio for ratio, _ in self.ratios), _UNIT_BITS).middle

    @cached_property
    def landmark(self) -> Fraction | None:
        """The loss that adds most to the variance, or the smallest loss very near it."""
        if not self.ratios:
            return None
        main = max(self._logs, key=lambda each: each[1] * each[0] ** 2)[0]
        near = (
            ratio
            for (ratio, _), (loss, _) in zip(self.ratios, self._logs, strict=True)
            if abs(loss / main - 1) < _CLUSTER
        )
        return logarithm(min(near), _UNIT_BITS).middle

    def settle(self, grid: LossGrid, top: int) -> "tuple[Table, dict[int, int]]":
        """Move ratios that lie just above a level of the grid down to it.

        With w = mass/ratio kept that only lowers the curve.
        """
        levels = [high for _, high in grid.powers(grid.factor, top)]
        nodes: dict[int, int] = {}
        others = []
        for ratio, mass in self.ratios:
            place = grid.below(ratio)
            cell = bisect_right(levels, place) - 1
            width = levels[min(cell + 1, top)] - levels[min(cell, top - 1)] if top else 0
            if cell >= 0 and (place - levels[cell]) << _SETTLED_BITS < width:
                nodes[cell] = nodes.get(cell, 0) + grid.below(mass / ratio)
            else:
                others.append((ratio, mass))
        return Table(tuple(others), self.infinite), nodes


@dataclass(frozen=True)
class Envelope(LossCurve):
    """The largest of several curves, one for each shift that may be the worst."""

    curves: tuple[Table, ...]

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose the largest."""
        each = [curve.heights(grid, top) for curve in self.curves]
        return [(max(a for a, _ in at), max(b for _, b in at)) for at in zip(*each, strict=True)]

    @property
    def infinity_mass(self) -> Interval:
        """The largest."""
        return Interval.exact(max(curve.infinite for curve in self.curves))

    @property
    def is_level(self) -> bool:
        """Whether all are."""
        return all(curve.is_level for curve in self.curves)

    @property
    def farthest(self) -> float:
        """The largest."""
        return max(curve.farthest for curve in self.curves)

    @property
    def spread(self) -> float:
        """The largest."""
        return self._widest.spread

    @property
    def landmark(self) -> Fraction | None:
        """That of the curve with the largest variance."""
        return self._widest.landmark

    @cached_property
    def _widest(self) -> Table:
        return max(self.curves, key=lambda curve: curve.spread)


def shape_table(shape: Shape, shift: int) -> Table:
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
    return Table(ratios, Fraction(impossible, shape.total) + shape.atoms)


def _log(ratio: Fraction) -> float:
    """Return ln(ratio) for a ratio above 1, accurately also near 1."""
    more = ratio - 1
    if more < 1:
        return math.log1p(as_float(more))
    return as_log(ratio)
