"""What rounded smooth noise costs on average."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import Interval
from leastnoise.core.noise import BITS, Rounded, Tails, Terms
from leastnoise.costs.cost import Cost
from leastnoise.costs.piecewise import Points, Threshold
from leastnoise.costs.power import Power

# A function's values are read at so many places of a block.
_PARTS = 8


def enclose_rounded(law: Rounded, cost: Cost) -> Interval:
    """Enclose E L(|R|g), for R the index of the noise and g its step.

    First by the noise on the line, from which Rg is at most g/2 away; where that is not narrow
    enough, by the sum over the tails.
    """
    if isinstance(cost, Threshold):  # |R|g > t exactly where |R| > ⌊t/g⌋
        return law.beyond(cost.limit // law.step).scaled(2)
    if isinstance(cost, Power):
        return law.moment(cost.p)
    if isinstance(cost, Points):
        near = _enclose_lines(law, cost)
    elif isinstance(law.radius, float):
        raise cost.unbounded()
    else:  # of a function nothing is known but that it never falls
        near = Interval(cost.value(Fraction(0)).lower, cost.value(law.radius).upper)
    return law.refine_by_tails(near, _CostTerms(cost, law.step))


def _enclose_lines(law: Rounded, cost: Points) -> Interval:
    """Enclose E L(|R|g) for straight pieces.

    P(|R|g > x) = 2T((⌊x/g⌋ + ½)g) lies between 2T(x + g/2) and 2T(x − g/2), and is at most 1.
    """
    half = law.step / 2
    lower = upper = cost.costs[0]
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        slope = 2 * (high - low) / (b - a)
        least = (_tail_area(law, a + half) - _tail_area(law, b + half)).lower
        lower += slope * max(Fraction(0), least)
        upper += slope * (_tail_area(law, a - half) - _tail_area(law, b - half)).upper
    return Interval(lower, upper)


def _tail_area(law: Rounded, size: Fraction) -> Interval:
    """Enclose the integral from ``size`` on of P(X > x), taken as 1/2 where x is below 0."""
    beyond = law.noise.tail_area(max(size, Fraction(0)), BITS)
    return beyond + Interval.exact(max(-size, Fraction(0)) / 2)


@dataclass(frozen=True)
class _CostTerms(Terms):
    """A cost that levels off, or a function that can only be called, at the lattice points."""

    cost: Cost
    step: Fraction

    def value(self, index: int) -> Interval:
        """Enclose L(index·g)."""
        return self.cost.value(index * self.step).shortened(BITS)

    @property
    def constant_from(self) -> int | float:
        """The index from which on L stays as it is, if one is known."""
        size = self.cost.constant_beyond
        return math.inf if size is None else size // self.step + 1

    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ L(jg) over first < j < stop: exactly, or part by part.

        A function never falls: over each part of the way it lies between its values at the ends.
        """
        if self.cost.constant_beyond is not None:
            return self.cost.total(self.step, stop - 1) - self.cost.total(self.step, first)
        parts = sorted({first + (stop - first) * i // _PARTS for i in range(_PARTS + 1)})
        inner = [start, *(self.value(k) for k in parts[1:-1]), end]
        lower = upper = Fraction(0)
        for (a, low), (b, high) in pairwise(zip(parts, inner, strict=True)):
            lower += low.lower * (b - a)  # of first ≤ j < stop
            upper += high.upper * (b - a)  # of first < j ≤ stop
        return Interval(lower - start.lower, upper - end.upper)

    def rest(self, tails: Tails, end: int) -> Fraction | None:
        """Bound the rest by the tail times all that L still rises; a function has no such bound."""
        size = self.cost.constant_beyond
        if size is None:
            return None
        rise = self.cost.value(size + 1).upper - self.value(end).lower
        return tails.beyond(end, BITS).upper * max(Fraction(0), rise)
