"""Trade-offs and impossible outputs, for each kind of curve."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.noise import Rounded
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.core.profile import Finite, HalfLines, Ratios, RoundedHalfLines, Shape


_HALF = Fraction(1, 2)
_MOST_RATIOS = 1 << 14


def shape_ratios(shape: Shape) -> list[Fraction]:
    """The likelihood ratios of two heights: where H, as a function of e^ε, has its kinks."""
    heights = {h for _, _, h in shape.pieces}
    if len(heights) ** 2 > _MOST_RATIOS:
        raise InvalidParameter(
            f"a trade-off may compare at most {_MOST_RATIOS} pairs of heights; got "
            f"{len(heights)} different heights. Give fewer."
        )
    return sorted({Fraction(h, g) for h in heights for g in heights})


def finite_tradeoff(curve: Finite, rate: Fraction) -> Fraction:
    """Return the best bound that the profile gives: sup of 1 − δ(ε) − e^ε·rate, exactly."""
    kinks = [Fraction(0), *curve.shape.ratios]

    def value(i: int) -> Fraction:
        return 1 - curve.at_factor(kinks[i]) - kinks[i] * rate

    best = _peak(len(kinks), value)
    spans = [(kinks[i], kinks[i + 1]) for i in (best - 1, best) if 0 <= i < len(kinks) - 1]
    return max([value(best), *(curve._peak_between(a, b, rate) for a, b in spans)])


def finite_impossible(curve: Finite) -> Fraction:
    """δ at the largest likelihood ratio of two heights: beyond, only the impossible counts."""
    heights = [h for _, _, h in curve.shape.pieces] or [1]
    return curve.at_factor(Fraction(max(heights), min(heights)))


def _finite_peak_between(curve: Finite, low: Fraction, high: Fraction, rate: Fraction) -> Fraction:
    """Return the largest 1 − δ − e^ε·rate between two kinks, where every move gives a line.

    The least of these lines is concave; its peak is found by crossing the line that rises with
    the one that falls and taking in the line that is least there, until none is less.
    """

    def least(factor: Fraction) -> tuple[Fraction, Fraction]:
        """Return the value at a factor and the slope of a line that passes through it."""
        excess, move, sign = curve._largest_excess(factor)
        shape = curve._shapes[sign]
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


def ratios_tradeoff(curve: Ratios, rate: Fraction) -> Fraction:
    """Return the false negatives of the best test, exactly: the highest ratios come first."""
    left, missed = rate, Fraction(1)
    for ratio, mass in sorted(curve.masses.items(), reverse=True):
        if mass >= left * ratio:  # at random among the outputs of this ratio
            return missed - left * ratio
        left, missed = left - mass / ratio, missed - mass
    return missed


def ratios_impossible(_curve: Ratios) -> Fraction:
    """0: what one puts out so does the other."""
    return Fraction(0)


def half_lines_tradeoff(curve: HalfLines, rate: Fraction) -> Fraction:
    """Return P(X > d + q) from below, q the place with P(X < q) = rate.

    The best test that takes a neighbour's output for one's own at this rate is x < d + q
    (Neyman and Pearson), and it misses the rest.
    """
    if not curve.move:
        return 1 - rate
    if rate in (0, 1):
        return (1 - rate) * (1 - curve.impossible)
    return 1 - curve.noise.below(curve.move + curve._quantile(rate)).upper


def _half_lines_quantile(curve: HalfLines, rate: Fraction) -> Fraction:
    """Return the place with P(X < place) = rate, from above."""
    size = curve.noise.series(min(rate, 1 - rate), 1)[0]
    return -size.lower if rate < _HALF else size.upper


def half_lines_impossible(curve: HalfLines) -> Fraction:
    """P(X < d − A) for a largest size A, from above; 0 without one."""
    radius = curve.noise.radius
    if isinstance(radius, float) or not curve.move:
        return Fraction(0)
    return curve.noise.below(curve.move - radius).upper


def rounded_half_lines_impossible(curve: RoundedHalfLines) -> Fraction:
    """The probability of the points that lie beyond all of the moved ones, from above."""
    farthest = Rounded(curve.step, curve.noise).farthest
    if isinstance(farthest, float) or not curve.move:
        return Fraction(0)
    return curve.noise.below(curve.move - curve._threshold(farthest)).upper
