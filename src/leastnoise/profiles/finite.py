"""How private a piecewise constant noise of finitely many pieces is: exactly, at every move."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.exact import Interval
from leastnoise.profiles.curve import Curve, Level
from leastnoise.profiles.renyi import ratios_renyi
from leastnoise.profiles.shape import Shape

_BITS = 128


@dataclass(frozen=True)
class Finite(Curve):
    """δ(ε) as the largest over finitely many moves, in both directions where they differ."""

    shape: Shape

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the move that reaches it."""
        factor = level.factor(_BITS)  # H falls as e^ε grows, so its lower end gives the upper one
        excess, move, sign = self._largest_excess(factor.lower)
        least = excess if factor.is_exact else self._largest_excess(factor.upper)[0]
        reached = Interval(self.shape.atoms + least, self.shape.atoms + excess)
        return reached, sign * move * self.shape.unit

    def tradeoff(self, rate: Fraction) -> Fraction:
        """Return the best bound that the profile gives: sup of 1 − δ(ε) − e^ε·rate, exactly."""
        kinks = [Fraction(0), *self.shape.ratios]

        def value(i: int) -> Fraction:
            return 1 - self.at_factor(kinks[i]) - kinks[i] * rate

        best = _peak(len(kinks), value)
        spans = [(kinks[i], kinks[i + 1]) for i in (best - 1, best) if 0 <= i < len(kinks) - 1]
        return max([value(best), *(self._peak_between(a, b, rate) for a, b in spans)])

    @property
    def impossible(self) -> Fraction:
        """δ at the largest likelihood ratio of two heights: beyond, only the impossible counts."""
        heights = [h for _, _, h in self.shape.pieces] or [1]
        return self.at_factor(Fraction(max(heights), min(heights)))

    def renyi(self, order: Fraction) -> Fraction | float:
        """Return infinity, for some output is impossible for a neighbour; 0 if nothing moves."""
        return math.inf if self.impossible else ratios_renyi({Fraction(1): Fraction(1)}, order)

    def _peak_between(self, low: Fraction, high: Fraction, rate: Fraction) -> Fraction:
        """Return the largest 1 − δ − e^ε·rate between two kinks, where every move gives a line.

        The least of these lines is concave; its peak is found by crossing the line that rises with
        the one that falls and taking in the line that is least there, until none is less.
        """

        def least(factor: Fraction) -> tuple[Fraction, Fraction]:
            """Return the value at a factor and the slope of a line that passes through it."""
            excess, move, sign = self._largest_excess(factor)
            shape = self._shapes[sign]
            rise = (shape.excess(move, high) - shape.excess(move, low)) / (high - low)
            return 1 - shape.atoms - excess - factor * rate, -rise - rate

        (left, up), (right, down) = least(low), least(high)
        if up <= 0 or down >= 0:
            return left if up <= 0 else right
        at_left, at_right = low, high
        while True:
            factor = (right - left + up * at_left - down * at_right) / (up - down)
            value, slope = least(factor)
            if slope == 0 or value == left + up * (factor - at_left):
                return value
            if slope > 0:
                left, up, at_left = value, slope, factor
            else:
                right, down, at_right = value, slope, factor

    def _largest_excess(self, factor: Fraction) -> tuple[Fraction, int, int]:
        """Return the largest excess over all moves, that move in units, and its direction."""
        return max(
            (shape.excess(move, factor), move, sign)
            for sign, shape in self._shapes.items()
            for move in shape.moves
        )

    @cached_property
    def _shapes(self) -> dict[int, Shape]:
        """The noise for moves to the right; for moves to the left too where they differ."""
        mirrored = self.shape.mirrored()
        return {1: self.shape} if mirrored == self.shape else {1: self.shape, -1: mirrored}


def _peak(count: int, value: Callable[[int], Fraction]) -> int:
    """Return where a concave sequence is largest, by halving."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if value(middle) < value(middle + 1):
            low = middle + 1
        else:
            high = middle
    return low
