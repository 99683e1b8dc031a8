"""The loss curves of smooth noise: by the formula of its family, or by its profile."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.accounting.curves import LossCurve
from leastnoise.accounting.privacy_loss import Bracket, LossGrid
from leastnoise.core.exact import Interval, as_float, as_log, decay, exponential, normal_excess
from leastnoise.core.noise import Laplace, Smooth, TruncatedLaplace
from leastnoise.core.profile import Level

_ZERO = Fraction(0)
_BITS = 320
_GUARD_BITS = 24
# Cells from which the variance of a loss is estimated.
_CELLS = 64


@dataclass(frozen=True)
class DecayingLossCurve(LossCurve):
    """Laplace noise, truncated or not: 1 + c₀·(1 + f) − c₁·√f up to a level, then flat, at shift d.

    With b the scale, A the cut and κ = e^(−A/b), or 0 without a cut: c₁ = e^(−d/2b)/(1−κ) and
    c₀ = κ/2(1−κ); the level is e to the smaller of d/b and (2A − d)/b, and beyond it δ is
    P(X < d − A). docs/theory/composition.md derives it from docs/theory/profile.md.
    """

    noise: Laplace | TruncatedLaplace
    shift: Fraction

    @cached_property
    def level(self) -> Fraction:
        """The largest finite loss; 0 if there is none."""
        steep, radius = self.shift / self.noise.scale, self.noise.radius
        if isinstance(radius, float):
            return steep
        return max(_ZERO, min(steep, 2 * radius / self.noise.scale - steep))

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose the formula."""
        last = grid.scaled(self.infinity_mass)
        (c0_low, c0_high), (c1_low, c1_high) = self._constants(grid)
        levels = grid.powers(grid.factor, top)
        heights = []
        for i, (root, level) in enumerate(zip(self._roots(grid, top), levels, strict=True)):
            if i * grid.step >= self.level:
                heights.append(last)
                continue
            grown = c0_low * (grid.one + level[0]), c0_high * (grid.one + level[1])
            low = grid.one + ((grown[0] - c1_high * root[1]) >> grid.bits)
            high = grid.one - ((c1_low * root[0] - grown[1]) >> grid.bits)
            heights.append((max(low, last[0]), min(high, grid.one)))
        return heights

    def gaps(self, grid: LossGrid, masses: list[int]) -> list[int]:
        """c₁·(√b − √a)² / 4(√a + √b) from a to b; in the cell where it becomes flat, its fall."""
        top = len(masses) - 1
        steep = self._constants(grid)[1][1]
        roots = self._roots(grid, top)
        gaps = []
        for i in range(top):
            (low, _), (first, last) = roots[i], roots[i + 1]
            if (i + 1) * grid.step <= self.level:
                gaps.append(-(-steep * (last - low) ** 2 // (4 * (low + first)) >> grid.bits))
            elif i * grid.step >= self.level:
                gaps.append(0)
            else:
                heights = self.heights(grid, i)
                gaps.append(heights[i][1] - grid.scaled(self.infinity_mass)[0])
        return gaps

    def end_gap(self, grid: LossGrid, top: int) -> int | None:
        """c₁·(√b − √a)² / 2√b: the distance of the tangent at b from the curve at a."""
        if not top or top * grid.step > self.level:
            return None
        (low, _), (first, last) = self._roots(grid, top)[-2:]
        steep = self._constants(grid)[1][1]
        return -(-steep * (last - low) ** 2 // (2 * first) >> grid.bits)

    def _roots(self, grid: LossGrid, top: int) -> list[Bracket]:
        return grid.powers(grid.scaled(exponential(grid.step / 2, grid.bits + _GUARD_BITS)), top)

    def _constants(self, grid: LossGrid) -> tuple[Bracket, Bracket]:
        """Enclose c₀ and c₁."""
        bits = grid.bits + _GUARD_BITS
        fallen = decay(self.shift / (2 * self.noise.scale), bits)
        radius = self.noise.radius
        if isinstance(radius, float):
            return (0, 0), grid.scaled(fallen)
        cut = decay(radius / self.noise.scale, bits)
        scale = (Interval.exact(1) - cut).reciprocal()
        return grid.scaled((cut * scale).scaled(Fraction(1, 2))), grid.scaled(fallen * scale)

    @cached_property
    def infinity_mass(self) -> Interval:
        """P(X < d − A), or 0 without a cut."""
        return _infinity_mass(self.noise, self.shift)

    @property
    def is_level(self) -> bool:
        """Whether there is no finite loss except 0."""
        return not self.level

    @property
    def farthest(self) -> float:
        """The largest finite loss."""
        return as_float(self.level)

    @cached_property
    def variance(self) -> float:
        """The variance of the loss of Laplace noise without a cut, by a sum over cells."""
        steep = as_float(self.shift / self.noise.scale)
        inner = [
            (steep * (1 - (2 * i + 1) / _CELLS), math.exp(-steep * i / _CELLS))
            for i in range(_CELLS)
        ]
        share = -math.expm1(-steep / _CELLS) / 2
        losses = [(x, m * share) for x, m in inner]
        losses += [(steep, 0.5), (-steep, math.exp(-steep) / 2)]
        mean = math.fsum(x * m for x, m in losses)
        return math.fsum((x - mean) ** 2 * m for x, m in losses)

    @property
    def landmark(self) -> Fraction | None:
        """Where the curve becomes flat."""
        return self.level or None


@dataclass(frozen=True)
class NormalLossCurve(LossCurve):
    """Gaussian noise of standard deviation 1 shifted by μ, for a μ² in an interval."""

    squared: Interval
    infinity_mass = Interval.exact(0)
    farthest = math.inf

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose Balle and Wang's formula (2018, Theorem 8)."""
        return normal_excess(self.squared, grid.step, top, grid.bits)

    @property
    def is_level(self) -> bool:
        """Whether there is no shift."""
        return not self.squared.upper

    @property
    def variance(self) -> float:
        """μ²: the loss is normal about μ²/2."""
        return as_float(self.squared.upper)


@dataclass(frozen=True)
class EvaluatedLossCurve(LossCurve):
    """Smooth noise shifted by d, its profile computed at each loss of the grid.

    It is slower than a formula, and its bounds use only that the curve is convex.
    """

    noise: Smooth
    shift: Fraction
    is_level = False  # not known
    farthest = math.inf

    def heights(self, grid: LossGrid, top: int) -> list[Bracket]:
        """Enclose δ at each loss."""
        curve = self.noise.curve(self.shift)
        return [grid.scaled(curve.worst(Level.at(i * grid.step))[0]) for i in range(top + 1)]

    @cached_property
    def infinity_mass(self) -> Interval:
        """P(X < d − A) for a maximum size A, or 0 without one."""
        return _infinity_mass(self.noise, self.shift)

    @cached_property
    def variance(self) -> float:
        """The variance of the finite losses, from the densities at evenly spaced quantiles."""
        places = [self.noise.quantile(Fraction(2 * i + 1, 2 * _CELLS)) for i in range(_CELLS)]
        pairs = [[self.noise.density(abs(x), 64) for x in (at, at - self.shift)] for at in places]
        losses = [
            as_log(density.middle / shifted.middle) for density, shifted in pairs if shifted.lower
        ]
        mean = math.fsum(losses) / max(1, len(losses))
        return math.fsum((loss - mean) ** 2 for loss in losses) / max(1, len(losses))


def _infinity_mass(noise: Smooth, shift: Fraction) -> Interval:
    radius = noise.radius
    if isinstance(radius, float):
        return Interval.exact(0)
    return noise.below(shift - radius, _BITS)
