"""What rounded smooth noise costs on average."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from math import ceil

from leastnoise.core.exact import Interval, power
from leastnoise.core.noise import Rounded
from leastnoise.costs.cost import Cost
from leastnoise.costs.expectation import power_rest, unbounded
from leastnoise.costs.piecewise import Points, Threshold
from leastnoise.costs.power import Power
from leastnoise.errors import Unsupported

_HALF = Fraction(1, 2)
_SQUARE = Fraction(2)
# An expected cost is enclosed with numbers of so many binary digits, and known well enough when
# this narrow, relative to it.
_BITS = 80
_NARROW = Fraction(1, 1 << 15)
# Up to so many points are added up one by one; more of them in about so many blocks, proposed from
# so many cells.
_POINTS = 400
_BLOCKS = 320
_CELLS = 96
# Of a noise without a largest size hardly anything is left where more than this many steps are less
# likely than this.
_FIRST = 1
_UNLIKELY = Fraction(1, 1 << 100000)
# The sum goes on to a probability of at most 2^-100, or 2^-200 …, until the rest is this small. The
# rest is bounded by lengths of which so many fit before it.
_FEWEST_HALVINGS = 100
_DOUBLINGS = 9
_REST_BITS = 50
_LENGTHS = 8
# A function's values are read at so many places of a block.
_PARTS = 8


def rounded_enclose(law: Rounded, cost: Cost) -> Interval:
    """Enclose E L(Rg), for R whole steps of length g.

    With T(x) = P(X > x), R is k + 1 or more just where X is (k+½)g or more. So
    E L = L(0) + 2·Σ wₖ·T((k+½)g) over k ≥ 0, with wₖ = L((k+1)g) − L(kg) ≥ 0: that sum is
    enclosed, and on a fine lattice the law on the line says it better, and quicker.
    """
    if isinstance(cost, Threshold):  # |R|g > t just where |R| > ⌊t/g⌋
        return law.beyond(cost.limit // law.step).scaled(2)
    near = _rounded_near(law, cost)
    if near.upper - near.lower <= _NARROW * near.lower:
        return near
    wider = _rounded_wider(law)
    if wider is law:
        summed = _Sum(law, cost, near.lower).enclose()
    else:  # a wider noise costs no less: larger |R| are likelier then
        most = _Sum(wider, cost, Fraction(0)).enclose().upper
        summed = Interval(cost.value(Fraction(0)).lower, most)
    return Interval(max(summed.lower, near.lower), min(summed.upper, near.upper))


def _rounded_wider(law: Rounded) -> Rounded:
    """Return this law, or a wider one if its first steps are too unlikely to be computed."""
    if not isinstance(law.radius, float):
        return law
    size = law.noise.series(_UNLIKELY, 1, _BITS)[0].upper
    factor = (_FIRST + _HALF) * law.step / size
    return law if factor <= 1 else Rounded(law.step, law.noise.scaled(factor))


def _rounded_near(law: Rounded, cost: Cost) -> Interval:
    """Enclose E L(Rg) by the law of X on the line, from which Rg is at most g/2 away."""
    zero, half = Fraction(0), law.step / 2
    if isinstance(cost, Points):
        return _rounded_points_near(law, cost, half)
    if not isinstance(cost, Power):
        if isinstance(law.radius, float):
            raise unbounded(cost)
        return Interval(cost.value(zero).lower, cost.value(law.radius).upper)
    moment, off = law.noise.moment(cost.p), _rounded_off(law, cost.p)
    return Interval(max(zero, moment.lower - off), moment.upper + (off if cost.p != 1 else 0))


def _rounded_off(law: Rounded, p: Fraction) -> Fraction:
    """Return by how much E |Rg|ᵖ differs from E |X|ᵖ at most; for p = 1 it is below.

    For p < 1 by (g/2)ᵖ, for |x + y|ᵖ ≤ |x|ᵖ + |y|ᵖ. For p ≥ 1 by g²B/4 with f the density and
    B = f(0)·L′(g) + Σ f(kg)·(L′(kg + g) − L′(kg)) over k ≥ 1. Proof: the difference is twice
    the sum over all cells from kg to kg + g, with s the middle, of ∫ L′(x)·(T(s) − T(x)) dx.
    T(s) − T(x) is f(s)·(x − s) less what the convex T lies above its tangent. The first part
    gives at most f(s)·g²/8 times the rise of L′, and nothing if L′ is level; the second
    L′(kg + g)·g²/8 times the rise of T′ = −f at most (Peano), added up by parts.
    """
    density, g = law.noise.density(Fraction(0), _BITS).upper, law.step
    if p < 1:
        return power(g / 2, p).upper
    if p >= _SQUARE:
        # L″ never falls, and g·f(kg) is at most ∫ f over the cell before kg.
        start, rest = g, _rounded_raised(law, p - 2, 2 * g)
    else:
        # Up to ``start`` f is at most f(0); from there on L″ is at most what it is there.
        start = ceil(law.noise.moment(Fraction(1)).upper / g) * g
        rest = power(1 / start, 2 - p).upper
    slope = power(start, p - 1).upper if p > 1 else 1
    return g**2 / 4 * p * (density * slope + (p - 1) * rest / 2)


def _rounded_raised(law: Rounded, q: Fraction, shift: Fraction) -> Fraction:
    """Return an upper bound of E (|X| + shift)^q, q ≥ 0: by Minkowski from q = 1 on."""
    if not q:
        return Fraction(1)
    moment = law.noise.moment(q).upper
    if q < 1:
        return moment + power(shift, q).upper
    return power(power(moment, 1 / q).upper + shift, q).upper


def _rounded_points_near(law: Rounded, cost: Points, half: Fraction) -> Interval:
    """Enclose E L(Rg) for straight pieces.

    P(|R|g > x) = 2T((⌊x/g⌋ + ½)g) lies between 2T(x + g/2) and 2T(x − g/2), and is at most 1.
    """
    lower = upper = cost.costs[0]
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        slope = 2 * (high - low) / (b - a)
        lower += slope * max(
            Fraction(0), (_rounded_area(law, a + half) - _rounded_area(law, b + half)).lower
        )
        upper += slope * (_rounded_area(law, a - half) - _rounded_area(law, b - half)).upper
    return Interval(lower, upper)


def _rounded_area(law: Rounded, size: Fraction) -> Interval:
    """Enclose the integral from ``size`` on of P(X > x), taken as 1/2 where x is below 0."""
    beyond = law.noise.tail_area(max(size, Fraction(0)), _BITS)
    return beyond + Interval.exact(max(-size, Fraction(0)) / 2)


class _Sum:
    """The sum of :meth:`Rounded.enclose`: point by point, or over blocks of neighbouring points.

    T is convex. Over a block first ≤ k < stop it lies below its chord from first to stop, and above
    the chord of the next block, drawn on backwards. Along a line only Σ wₖ = L(stop) − L(first) and
    Σ (k − first)·wₖ are needed: L at the ends, and the sum of L over the points between them.
    """

    def __init__(self, law: Rounded, cost: Cost, least: Fraction) -> None:
        """Look how far the sum must go; ``least`` is a lower bound of what it comes to."""
        self._law, self._cost = law, cost
        first = self._value(1).lower - self._value(0).upper
        self._least = max(least, 2 * first * law.beyond(0, _BITS).lower)

    def enclose(self) -> Interval:
        """Enclose E L(Rg)."""
        end, rest = self._end()
        edges = list(range(end + 1)) if end <= _POINTS else self._edges(end)
        tails = [self._law.beyond(k, _BITS) for k in edges]
        values = [self._value(k) for k in edges]
        # How much T falls per step over each block, at least; after the last one nothing is known.
        falls = [
            max(Fraction(0), near.lower - far.upper) / (b - a)
            for (a, near), (b, far) in pairwise(zip(edges, tails, strict=True))
        ]
        falls.append(Fraction(0))
        lower, upper = Fraction(0), rest
        for i, (first, stop) in enumerate(pairwise(edges)):
            rise = values[i + 1] - values[i]
            rise = Interval(max(Fraction(0), rise.lower), rise.upper)
            if stop - first == 1:
                part = tails[i] * rise
            else:
                moment = self._moment(first, stop, values[i], values[i + 1])
                beyond = tails[i + 1].lower + falls[i + 1] * (stop - first)
                part = Interval(
                    max(Fraction(0), beyond * rise.lower - falls[i + 1] * moment.upper),
                    tails[i].upper * rise.upper - falls[i] * moment.lower,
                )
            lower += part.lower
            upper += part.upper
        return self._value(0) + Interval(lower, upper).scaled(2)

    def _value(self, index: int) -> Interval:
        return self._cost.value(index * self._law.step).shortened(_BITS)

    @property
    def _last(self) -> int | float:
        """From where on nothing is left to add: the noise ends there, or the cost is level."""
        settled = self._cost.constant_beyond
        level = math.inf if settled is None else settled // self._law.step + 1
        return min(self._law.farthest, level)

    def _end(self) -> tuple[int, Fraction]:
        """Return where to stop, and an upper bound of the sum from there on: next to nothing."""
        last, first = self._last, self._law.beyond(0, _BITS).upper
        if not last:
            return 0, Fraction(0)
        for halvings in (_FEWEST_HALVINGS << doublings for doublings in range(_DOUBLINGS)):
            level = min(first, Fraction(1, 2)) / (1 << halvings)
            size = self._law.noise.series(level, 1, _BITS)[0].upper
            end = max(1, ceil(size / self._law.step))
            if end >= last:
                return int(last), Fraction(0)
            rest = self._rest(end)
            if rest is not None and rest * (1 << _REST_BITS) <= self._least:
                return end, rest
        if rest is not None and self._cost.constant_beyond is not None:
            return end, rest
        raise Unsupported(
            "an expected cost is added up as far as a noise has a probability of "
            f"2^-{_FEWEST_HALVINGS << _DOUBLINGS - 1}",
            got="a cost that is not small by then",
            fix="Give a smaller power.",
        )

    def _rest(self, end: int) -> Fraction | None:
        """Return an upper bound of the sum from ``end`` ≥ 1 on, or None if none is found."""
        cost, beyond = self._cost, self._law.beyond(end, _BITS).upper
        if cost.constant_beyond is not None:
            highest = cost.value(cost.constant_beyond + 1).upper
            return beyond * max(Fraction(0), highest - self._value(end).lower)
        if not isinstance(cost, Power):
            return None  # of a function nothing is known: its noise has a largest size to go to
        # T is log-concave: over equal lengths it falls by ever more, a geometric series.
        length = max(1, end // _LENGTHS)
        before = self._law.beyond(end - length, _BITS).lower
        if not before:
            return None
        series = power_rest(beyond / before, Fraction(end, length) + 1, cost.p)
        return None if series is None else beyond * self._value(end + length).upper * series

    def _edges(self, end: int) -> list[int]:
        """Return where the blocks begin, and the end: more of them where more of the cost lies.

        The error of a block is about its share of the cost times its length squared, so the least
        error altogether has lengths as the third root of that share. Floats may propose this.
        """
        cells = sorted({end * i**3 // _CELLS**3 for i in range(_CELLS + 1)})
        shares = []
        for first, stop in pairwise(cells):
            rise = self._value(stop).upper - self._value(first).upper
            weight = rise * self._law.beyond(first, _BITS).upper * (stop - first) ** 2
            shares.append(_log(weight) / 3)
        highest = max(shares)
        if math.isinf(highest):  # the cost is level
            return [0, end]
        parts = [math.exp(share - highest) for share in shares]
        scale, edges = _BLOCKS / math.fsum(parts), [0]
        for part, (first, stop) in zip(parts, pairwise(cells), strict=True):
            blocks = min(stop - first, math.ceil(part * scale))
            edges += [first + (stop - first) * i // blocks for i in range(1, blocks + 1)]
        return edges

    def _moment(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ (k − first)·wₖ: the sum of L(stop) − L(j) over first < j < stop."""
        between = self._between(first, stop, start, end)
        return end.scaled(stop - first - 1) - between

    def _between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose the sum of L over the points strictly between two, given L at these."""
        cost, step, points = self._cost, self._law.step, stop - first - 1
        if isinstance(cost, Power):
            # The points lie evenly about their middle: by Jensen the average is beyond L there,
            # to the side to which L bends, and not as far as the chord.
            chord = (start + end).scaled(Fraction(1, 2))
            middle = cost.value((first + stop) * step / 2).shortened(_BITS)
            low, high = (middle, chord) if cost.p >= 1 else (chord, middle)
            return Interval(low.lower, high.upper).scaled(points)
        if cost.constant_beyond is not None:
            return cost.total(step, stop - 1) - cost.total(step, first)
        # A function never falls: on each part of the way it lies between its ends.
        parts = sorted({first + (stop - first) * i // _PARTS for i in range(_PARTS + 1)})
        inner = [start, *(self._value(k) for k in parts[1:-1]), end]
        lower = upper = Fraction(0)
        for (a, low), (b, high) in pairwise(zip(parts, inner, strict=True)):
            lower += low.lower * (b - a)
            upper += high.upper * (b - a)
        return Interval(lower - start.lower, upper - end.upper)


def _log(number: Fraction) -> float:
    """Return the logarithm of a number of any length, −∞ of 0."""
    if number <= 0:
        return -math.inf
    return math.log(number.numerator) - math.log(number.denominator)
