"""δ(ε) of several releases together: in closed form if known, otherwise on a grid."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.accounting.curves import LossCurve
from leastnoise.accounting.discretize import choose_grid, compose_losses
from leastnoise.accounting.privacy_loss import Losses
from leastnoise.accounting.profile import Profile
from leastnoise.accounting.smooth_curves import NormalLossCurve
from leastnoise.core.basic_composition import joint_failure
from leastnoise.core.exact import Interval, power
from leastnoise.core.noise import Gaussian

_HALF = Fraction(1, 2)
_BITS = 320
# δ is computed down to 2^−100, which is below 1e-30; if it is smaller, again down to 2^−400.
_LEVELS = (100, 400)
_GUARD_BITS = 8


@dataclass(frozen=True)
class JointLoss:
    """The loss curves of all releases with their counts: from above, or from below.

    ``alone`` encloses δ where a single release has a curve that is neither level nor Gaussian.
    """

    curves: tuple[tuple[LossCurve, int], ...]
    above: bool
    alone: Callable[[Fraction], Interval] | None = None

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return δ(ε), a proved upper bound or a proved lower bound.

        Level curves, whose losses are 0 or infinite, never need a grid: 1 − Π(1−δᵢ) for them alone,
        and p + (1−p)·δ for that p and the δ of all others.
        """
        level = self.certain
        falling = self._find_falling_delta(epsilon) if self._falling_curves else Fraction(0)
        return min(Fraction(1), level + (1 - level) * falling)

    @cached_property
    def certain(self) -> Fraction:
        """1 − Π(1−δᵢ) over the level curves: exact where that is short."""
        ends = (
            (c.infinity_mass.upper if self.above else c.infinity_mass.lower, n)
            for c, n in self.curves
            if c.is_level
        )
        failing = joint_failure(ends)
        return failing.upper if self.above else failing.lower

    @cached_property
    def _falling_curves(self) -> dict[LossCurve, int]:
        """The curves that are not level with their counts, all Gaussian ones combined into one.

        Rotate the axes so that one points along the shift. Along it, Gaussian noise is shifted by
        the root of the sum of squares; along the others it is not shifted (Dong, Roth and Su 2022,
        Corollary 3.3).
        """
        counts: dict[LossCurve, int] = {}
        squared = Interval.exact(0)
        for curve, count in self.curves:
            if isinstance(curve, NormalLossCurve):
                squared = (squared + curve.squared.scaled(count)).shortened(_BITS)
            elif not curve.is_level:
                counts[curve] = counts.get(curve, 0) + count
        if squared.upper:
            counts[NormalLossCurve(squared)] = 1

        # In a fixed order, so that the order of the releases does not matter.
        def order(item: tuple[LossCurve, int]) -> tuple[str, float, float, int]:
            return type(item[0]).__name__, item[0].farthest, item[0].variance, item[1]

        return dict(sorted(counts.items(), key=order))

    def _find_falling_delta(self, epsilon: Fraction) -> Fraction:
        """Return δ(ε) of the curves that are not level."""
        only = next(iter(self._falling_curves)) if sum(self._falling_curves.values()) == 1 else None
        ends = None
        if isinstance(only, NormalLossCurve):
            ends = Profile(Gaussian(1), sensitivity=self._shift(only)).enclose(epsilon)
        elif only is not None and self.alone is not None:
            ends = self.alone(epsilon)
        if ends is not None:
            return ends.upper if self.above else ends.lower
        delta = Fraction(1 if self.above else 0)
        for bits in _LEVELS:
            losses = self._find_losses(bits)
            if losses is None:
                break
            delta = losses.delta(epsilon)
            if delta * (1 << (bits - _GUARD_BITS)) > 1:
                break
        return delta

    def _shift(self, curve: NormalLossCurve) -> Fraction:
        if self.above:
            return power(curve.squared.upper, _HALF).upper
        return power(curve.squared.lower, _HALF).lower

    def _find_losses(self, bits: int) -> Losses | None:
        """Return the distribution of the losses, fine enough for δ down to 2^−bits."""
        if bits not in self._losses_by_bits:
            plan = choose_grid(self._falling_curves, bits)
            losses = (
                None
                if plan is None
                else compose_losses(self._falling_curves, plan, above=self.above)
            )
            self._losses_by_bits[bits] = losses
        return self._losses_by_bits[bits]

    @cached_property
    def _losses_by_bits(self) -> dict[int, Losses | None]:
        return {}
