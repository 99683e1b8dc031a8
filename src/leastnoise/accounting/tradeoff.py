"""Trade-offs and revealing outputs, for each kind of curve."""

from fractions import Fraction
from functools import singledispatch
from math import ceil

from leastnoise.core.exact import Interval, first_index
from leastnoise.core.profile import (
    Curve,
    LogConcaveCurve,
    PiecewiseCurve,
    RoundedLogConcaveCurve,
    Shape,
    StaircaseCurve,
)
from leastnoise.errors import InvalidParameter

_HALF = Fraction(1, 2)
_MOST_RATIOS = 1 << 14


@singledispatch
def tradeoff(curve: Curve, rate: Fraction) -> Fraction:
    """Return a lower bound of the false negative rate at a false positive rate."""
    raise TypeError(f"{type(curve).__name__} has no trade-off at {rate}")


@singledispatch
def infinity_mass(curve: Curve) -> Fraction:
    """Return the largest probability of outputs that are impossible for a neighbor, or a bound."""
    raise TypeError(f"{type(curve).__name__} has no known infinity mass")


def _height_ratios(shape: Shape) -> list[Fraction]:
    """Return the likelihood ratios of two heights: where H, as a function of e^ε, has its kinks."""
    heights = {h for _, _, h in shape.pieces}
    if len(heights) ** 2 > _MOST_RATIOS:
        raise InvalidParameter(
            f"A trade-off must take at most {_MOST_RATIOS} pairs of heights",
            got=f"{len(heights)} different heights",
            fix="Use fewer heights.",
        )
    return sorted({Fraction(h, g) for h in heights for g in heights})


@tradeoff.register
def _tradeoff_of_pieces(curve: PiecewiseCurve, rate: Fraction) -> Fraction:
    """Return the best bound that the profile gives: sup of 1 − δ(ε) − e^ε·rate, exactly."""
    kinks = [Fraction(0), *_height_ratios(curve.shape)]

    def value(i: int) -> Fraction:
        return 1 - curve.at_factor(kinks[i]) - kinks[i] * rate

    # Concave in the factor: the first place after which it does not rise.
    best = first_index(-1, len(kinks) - 1, lambda i: value(i) >= value(i + 1))
    spans = [(kinks[i], kinks[i + 1]) for i in (best - 1, best) if 0 <= i < len(kinks) - 1]
    return max([value(best), *(_peak_between(curve, a, b, rate) for a, b in spans)])


@infinity_mass.register
def _infinity_mass_of_pieces(curve: PiecewiseCurve) -> Fraction:
    """δ at the largest likelihood ratio of two heights: beyond it, only revealing outputs count."""
    heights = [h for _, _, h in curve.shape.pieces] or [1]
    return curve.at_factor(Fraction(max(heights), min(heights)))


def _peak_between(curve: PiecewiseCurve, low: Fraction, high: Fraction, rate: Fraction) -> Fraction:
    """Return the largest 1 − δ − e^ε·rate between two kinks, where every shift gives a line.

    The minimum of these lines is concave. To find its peak, intersect the rising line with the
    falling one, and replace one of them by the lowest line there, until no line is lower.
    """

    def least(factor: Fraction) -> tuple[Fraction, Fraction]:
        """Return the value at a factor and the slope of a line that passes through it."""
        excess, shift, sign = curve.largest_excess(factor)
        shape = curve.shapes[sign]
        rise = (shape.excess(shift, high) - shape.excess(shift, low)) / (high - low)
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


@tradeoff.register
def _tradeoff_of_staircase(curve: StaircaseCurve, rate: Fraction) -> Fraction:
    """Return the exact false negative rate of the best test, which takes high ratios first."""
    left, missed = rate, Fraction(1)
    for ratio, mass in sorted(curve.masses.items(), reverse=True):
        if mass >= left * ratio:  # the test takes some outputs of this ratio at random
            return missed - left * ratio
        left, missed = left - mass / ratio, missed - mass
    return missed


@infinity_mass.register
def _infinity_mass_of_staircase(_curve: StaircaseCurve) -> Fraction:
    return Fraction(0)


@tradeoff.register
def _tradeoff_of_log_concave(curve: LogConcaveCurve, rate: Fraction) -> Fraction:
    """Return P(X > d + q) from below, q the place with P(X < q) = rate.

    The best test with this false positive rate is x < d + q (Neyman and Pearson), and it misses the
    rest.
    """
    if not curve.shift:
        return 1 - rate
    if rate in (0, 1):
        return (1 - rate) * (1 - infinity_mass(curve))
    return 1 - curve.noise.below(curve.shift + _quantile(curve, rate)).upper


@tradeoff.register
def _tradeoff_of_rounded(curve: RoundedLogConcaveCurve, rate: Fraction) -> Fraction:
    """Return the line's bound, or a better one from the tests that the lattice has.

    These tests are the thresholds and random mixtures of them. Their trade-off is a polygon, whose
    edge at this rate has some slope −f, and 1 − δ − f·rate at e^ε = f is a bound for every f.
    """
    line = _tradeoff_of_log_concave(curve, rate)
    if not curve.shift or rate in (0, 1):
        return line
    first = curve.last_threshold(curve.shift + _quantile(curve, rate))
    ends = [curve.threshold(i) for i in (first, first + 1)]
    missed = curve.noise.below(ends[1]).middle - curve.noise.below(ends[0]).middle
    far = [curve.noise.below(end - curve.shift).middle for end in ends]
    if missed <= 0 or far[1] <= far[0]:
        return line
    factor = Interval.exact(missed / (far[1] - far[0])).shortened(128).lower
    return max(line, 1 - curve.at_factor(factor) - factor * rate)


def _quantile(curve: LogConcaveCurve, rate: Fraction) -> Fraction:
    """Return the place with P(X < place) = rate, from above."""
    size = curve.noise.series(min(rate, 1 - rate), 1)[0]
    return -size.lower if rate < _HALF else size.upper


@infinity_mass.register
def _infinity_mass_of_log_concave(curve: LogConcaveCurve) -> Fraction:
    """P(X < d − A) for the maximum size A, from above; 0 for unbounded noise.

    On a lattice, the probability of the points beyond all shifted ones.
    """
    radius = curve.noise.radius
    if isinstance(radius, float) or not curve.shift:
        return Fraction(0)
    if isinstance(curve, RoundedLogConcaveCurve):
        radius = curve.threshold(ceil(radius / curve.step - _HALF))
    return curve.noise.below(curve.shift - radius).upper
