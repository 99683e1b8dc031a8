"""The error of a ratio of two noisy numbers, from the exact distributions of both.

Let n + X and s + Y be released, where X and Y are independent and symmetric unimodal on their
lattices. For the true ratio m = s/n, the difference (s + Y) − m·(n + X) equals Y − m·X, whose
distribution is known for every m. Let h(m) satisfy |Y − m·X| ≤ h(m) with probability at least
1 − α. Then the set of all m with |(s + Y) − m·(n + X)| ≤ h(m) contains the true ratio with
probability at least 1 − α (E. C. Fieller, "Some problems in interval estimation", Journal of the
Royal Statistical Society B 16, 1954). :class:`ErrorQuantile` computes h in integers, as an upper
bound close to the quantile.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm

from leastnoise.core.exact import fixed_power
from leastnoise.core.noise import DiscreteStaircase, LatticeNoise, Rounded

# Probabilities are integers in units of 2⁻⁹⁶, rounded to the safe side.
_BITS = 96
_ONE = 1 << _BITS
# The number of blocks of |X|, and the number of tabulated tails of Y.
_BLOCKS, _TAILS = 128, 512
# Values of |X| beyond the last block have at most this part (1/256) of the probability α.
_REST = 256
# The probability beyond the last tabulated tail of Y.
_UNLIKELY = Fraction(1, 1 << 32)
# Shifts are rounded up to 1/64 of half a step. A quantile is found within a factor 1 + 1/4096.
_PART, _ACCURACY_BITS = 64, 12
# The slopes from 0 to the largest are divided into this many pieces; h is constant on each.
PIECES = 64

# A ratio of integers that is not reduced, because reducing would take most of the time.
Ratio = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Quotients:
    """The arithmetic of middle + sum/count between bounds, in integer multiples of 1/scale.

    Attributes:
        scale: The common denominator.
        step: The step of the released sum.
        middle: The middle.
        low: The lower bound.
        high: The upper bound.
        piece: The length of a piece: 1/PIECES of the larger distance from the middle to a bound.
        rounding: The distance by which ends are moved outward, because summed values are rounded.
    """

    scale: int
    step: int
    middle: int
    low: int
    high: int
    piece: int
    rounding: int

    @classmethod
    def of(
        cls,
        step: Fraction,
        middle: Fraction,
        bounds: tuple[Fraction, Fraction],
        rounding: Fraction = Fraction(0),
    ) -> "Quotients":
        """Convert these numbers to a common denominator, which half a step has too."""
        largest = max(bounds[1] - middle, middle - bounds[0])
        parts = (step, middle, *bounds, largest / PIECES, rounding)
        scale = 2 * lcm(*(part.denominator for part in parts))
        return cls(scale, *(int(part * scale) for part in parts))

    def value(self, count: int, index: int) -> Ratio:
        """Return the quotient for a released count and the index of a released sum."""
        if count <= 0:
            return self.middle, self.scale
        return self._clip(index * self.step, count)

    def is_beyond(self, count: int, index: int) -> bool:
        """Return whether the quotient is outside the bounds before it is clipped to them."""
        total = self.middle * count + index * self.step
        return not self.low * count <= total <= self.high * count

    def box(self, count: int, index: int, rows: int, total: int) -> tuple[Ratio, Ratio]:
        """Return the least and the largest quotient if |X| ≤ rows and |Y| ≤ total/scale.

        Suppose that count − rows ≥ 1. Then s/n increases in s. It decreases in n if s > 0, and
        increases in n if s < 0. So its extremes are at corners. If count − rows ≤ 0, the true count
        may be 0, and the extremes are the bounds.
        """
        if count <= rows:
            return (self.low, self.scale), (self.high, self.scale)
        fewest, most = count - rows, count + rows
        least, largest = index * self.step - total, index * self.step + total
        return (
            self._widen(least, most if least > 0 else fewest, -1),
            self._widen(largest, fewest if largest > 0 else most, 1),
        )

    def fieller(self, count: int, index: int, reach: Callable[[int], int]) -> tuple[Ratio, Ratio]:
        """Return the ends of Fieller's set between the bounds, widened to contain the value.

        ``reach(j)`` is h·scale for all slopes up to the end of piece j, so ``reach(PIECES)`` is for
        all slopes. If the count is not positive, the ends are the bounds.

        A sum beyond the bounds counts as the nearest sum within them. Otherwise noise could leave
        no mean in the set, or few, and the interval would be a point. *Proof.* Every mean m between
        the bounds is on one side of both sums, so m·count is no farther from the nearest sum. So
        the set only grows. ∎
        """
        if count <= 0:
            return (self.low, self.scale), (self.high, self.scale)
        ends = ((bound - self.middle) * count for bound in (self.low, self.high))
        total, length, most = (
            sorted((*ends, index * self.step))[1],
            self.piece * count,
            reach(PIECES),
        )
        # The pieces from k to k + 1 that intersect the set for the largest h.
        first = max(-PIECES, (total - most) // length)
        last = min(PIECES - 1, (total + most) // length)
        low = high = total
        for k in range(last, first - 1, -1):
            h = reach(max(abs(k), abs(k + 1)))
            if max(k * length, total - h) <= (end := min((k + 1) * length, total + h)):
                high = max(total, end)
                break
        for k in range(first, last + 1):
            h = reach(max(abs(k), abs(k + 1)))
            if (start := max(k * length, total - h)) <= min((k + 1) * length, total + h):
                low = min(total, start)
                break
        return self._widen(low, count, -1), self._widen(high, count, 1)

    def _widen(self, total: int, count: int, sign: int) -> Ratio:
        """Return an end of an interval for total/count, moved outward by ``rounding``."""
        return self._clip(total + sign * self.rounding * count, count)

    def _clip(self, total: int, count: int) -> Ratio:
        """Return middle + total/count, clipped to the bounds."""
        upper = self.middle * count + total
        if upper <= self.low * count:
            return self.low, self.scale
        if upper >= self.high * count:
            return self.high, self.scale
        return upper, self.scale * count


class ErrorQuantile:
    """An upper bound of the quantile of |Y − m·X| at one level, for all slopes m.

    The bound h is j·g/2 for an integer j, where g is the step of Y. *Proof.* Let |m| ≤ slope and
    t = |m·x|. The interval from t − h to t + h has length j·g, so it contains j consecutive points
    of the lattice of Y, the first one at ⌈(t − h)/g⌉ or below. Their center is above −1 step. The
    mass of j consecutive points of a symmetric unimodal distribution does not increase if their
    center moves away from 0, because the new point is no closer to 0 than the point that it
    replaces. Centers of −1/2 and 1/2 have equal mass. So that mass, at t = slope·|x|, is a lower
    bound of P(|Y − m·x| ≤ h). It does not increase with |x|, so all x of a block may be replaced by
    the largest. ∎
    """

    def __init__(self, rows: LatticeNoise, total: LatticeNoise, level: Fraction) -> None:
        """Take the noise X, the noise Y, both unimodal, and a level below 1."""
        self._rows, self._total, self._level = rows, total, level
        self._quantiles: dict[Fraction, Fraction] = {}

    def at(self, slope: Fraction) -> Fraction:
        """Return h such that P(|Y − m·X| ≤ h) is at least the level, for all |m| ≤ ``slope``."""
        if slope not in self._quantiles:
            self._quantiles[slope] = self._count_points(slope) * self._total.step / 2
        return self._quantiles[slope]

    def _count_points(self, slope: Fraction) -> int:
        """Return the integer j of the proof, close to the smallest possible."""
        scale = 2 * _PART * slope * self._rows.step / self._total.step
        blocks = [(ceil(scale * size), mass) for size, mass in self._blocks]
        required = ceil(self._level * _ONE) << _BITS

        def suffices(points: int) -> bool:
            total = 0
            for shift, mass in blocks:
                first = -((_PART * points - shift) // (2 * _PART))
                total += mass * self._tails.mass(first, first + points - 1)
            return total >= required

        failing, points = 0, 2 * self._total.half_width_in_steps(self._level) + 1
        while not suffices(points):
            failing, points = points, 2 * points
        while points - failing > 1 + (points >> _ACCURACY_BITS):
            between = (failing + points) // 2
            failing, points = (failing, between) if suffices(between) else (between, points)
        return points

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """The largest |X| in each block, and a lower bound of the block's probability."""
        last = self._rows.half_width_in_steps(1 - (1 - self._level) / _REST)
        width = -(-last // _BLOCKS) or 1
        blocks = [(0, _ONE - 2 * _tail(self._rows, 1)[1])]
        for first in range(1, last + 1, width):
            size = first + width - 1
            mass = 2 * (_tail(self._rows, first)[0] - _tail(self._rows, size + 1)[1])
            blocks.append((size, max(0, mass)))
        return blocks

    @cached_property
    def _tails(self) -> "_Tails":
        return _Tails(self._total)


class _Tails:
    """P(Y ≥ i), enclosed between tabulated points.

    P(Y ≥ i) is convex in i ≥ 0 for unimodal Y, because its decrease is the weight of i. So it lies
    below the chord of two neighboring points, and above the extended chord of the next two.
    """

    def __init__(self, noise: LatticeNoise) -> None:
        last = noise.half_width_in_steps(1 - _UNLIKELY) + 1
        self._width = -(-last // _TAILS)
        points = range(1, last + self._width, self._width)
        self._table = [_tail(noise, point) for point in points]

    def mass(self, first: int, last: int) -> int:
        """Return a lower bound of P(first ≤ Y ≤ last), for first ≤ last and last ≥ 0."""
        beyond = self._upper_bound(last + 1)
        if first > 0:
            return max(0, self._lower_bound(first) - beyond)
        return _ONE - beyond - self._upper_bound(1 - first)

    def _upper_bound(self, index: int) -> int:
        """Return an upper bound of P(Y ≥ index), index ≥ 1."""
        place, over = divmod(index - 1, self._width)
        if place >= len(self._table) - 1:
            return self._table[-1][1]
        near, far = self._table[place][1], self._table[place + 1][1]
        return near - (near - far) * over // self._width

    def _lower_bound(self, index: int) -> int:
        """Return a lower bound of P(Y ≥ index), index ≥ 1."""
        place, over = divmod(index - 1, self._width)
        if place >= len(self._table) - 1:
            return 0
        if not over:
            return self._table[place][0]
        near = self._table[place + 1][0]
        if place + 2 >= len(self._table):
            return near
        fall = max(0, near - self._table[place + 2][1])
        return near + fall * (self._width - over) // self._width


def _tail(noise: LatticeNoise, index: int) -> tuple[int, int]:
    """Enclose P(noise ≥ index·step), index ≥ 1, in units of 2⁻⁹⁶."""
    if isinstance(noise, Rounded):
        beyond = noise.beyond(index - 1)
        return int(beyond.lower * _ONE), ceil(beyond.upper * _ONE)
    low = high = _ONE
    if isinstance(noise, DiscreteStaircase):
        # P(Y ≥ nP + r) = bⁿ·P(Y ≥ r) for r ≥ 0. The exact power would have too many digits.
        periods, index = divmod(index, noise.steps)
        low, high = fixed_power(noise.ratio, periods, _BITS)
    tail = 1 - noise.probability_up_to((index - 1) * noise.step)
    return int(low * tail), ceil(high * tail)
