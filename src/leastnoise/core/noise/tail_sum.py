"""The expectation of a growing function of rounded smooth noise, as a sum over its tails.

Let R be the index of the rounded noise, g its step and T(k) = P(X > (k + ½)g). R is k + 1 or more
exactly where X is (k + ½)g or more. So for a function L of the size that never falls

    E L(|R|g) = L(0) + 2·Σ w(k)·T(k) over k ≥ 0,  w(k) = L((k+1)g) − L(kg) ≥ 0.

Few points are added one by one, many in blocks first ≤ k < stop. T is convex. So over a block it
lies *below* its chord from first to stop, and *above* the chord of the next block prolonged
backwards. Along a line T(k) = t − f·(k − first) a block adds up to t·W − f·M, where

    W = Σ w(k) = L(stop) − L(first)                                     (the rise of the block)
    M = Σ (k − first)·w(k) = Σ (L(stop) − L(j)) over first < j < stop   (its first moment)

What lies beyond the last block is bounded from above by a geometric series, because T is
log-concave: over equal lengths it falls by ever larger factors.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from leastnoise.core.exact import Interval, power
from leastnoise.errors import Unsupported

# Numbers have so many binary digits while they are added up.
BITS = 80
# Up to so many points are added up one by one; more of them in about so many blocks, proposed from
# so many cells.
_POINTS = 400
_BLOCKS = 320
_CELLS = 96
# The sum goes on to a probability of at most 2^-100, or 2^-200 …, until the rest is this small. The
# rest is bounded by lengths of which so many fit before it.
_FEWEST_HALVINGS = 100
_DOUBLINGS = 9
_REST_BITS = 50
_LENGTHS = 8


class Tails(Protocol):
    """What the sum needs of rounded noise."""

    @property
    def farthest(self) -> int | float:
        """The largest index, or ``math.inf``."""
        ...

    def beyond(self, index: int, bits: int = 128) -> Interval:
        """Enclose T(index)."""
        ...

    def first_below(self, tail: Fraction) -> int:
        """Return an index ≥ 1 from which on T is at most ``tail``."""
        ...


class Terms(ABC):
    """What the sum needs of L: its values at the lattice points kg, k ≥ 0."""

    @abstractmethod
    def value(self, index: int) -> Interval:
        """Enclose L(index·g)."""

    @property
    @abstractmethod
    def constant_from(self) -> int | float:
        """The index from which on L stays as it is: ``math.inf`` if none is known."""

    @abstractmethod
    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ L(jg) over first < j < stop, given L at first and at stop."""

    @abstractmethod
    def rest(self, tails: Tails, end: int) -> Fraction | None:
        """Bound Σ w(k)·T(k) over k ≥ end ≥ 1 from above; None if no bound is found."""


@dataclass(frozen=True)
class PowerTerms(Terms):
    """L(x) = xᵖ for a rational p > 0."""

    p: Fraction
    step: Fraction

    def value(self, index: int) -> Interval:
        """Enclose (index·g)ᵖ."""
        return power(index * self.step, self.p).shortened(BITS)

    @property
    def constant_from(self) -> float:
        """Nowhere: a power goes on rising."""
        return math.inf

    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose the sum by the value in the middle and by the chord.

        The points lie evenly about their middle: by Jensen their average is beyond L there, to the
        side to which L bends, and not as far as the chord.
        """
        chord = (start + end).scaled(Fraction(1, 2))
        middle = power((first + stop) * self.step / 2, self.p).shortened(BITS)
        low, high = (middle, chord) if self.p >= 1 else (chord, middle)
        return Interval(low.lower, high.upper).scaled(stop - first - 1)

    def rest(self, tails: Tails, end: int) -> Fraction | None:
        """Bound the rest by lengths of ``length`` points, over which T falls by ever more."""
        length = max(1, end // _LENGTHS)
        beyond, before = tails.beyond(end, BITS).upper, tails.beyond(end - length, BITS).lower
        if not before:
            return None
        series = power_series_bound(beyond / before, Fraction(end, length) + 1, self.p)
        return None if series is None else beyond * self.value(end + length).upper * series


def power_series_bound(ratio: Fraction, start: Fraction, exponent: Fraction) -> Fraction | None:
    """Return an upper bound of Σ ratioⁿ·((start + n)/start)^exponent over n ≥ 0, start > 0.

    (start + n + 1)/(start + n) falls with n, so all terms fall at least as fast as the second does:
    a geometric series. None where that does not fall.
    """
    if start <= 0:
        return None
    fall = ratio * power((start + 1) / start, exponent).upper
    return 1 / (1 - fall) if fall < 1 else None


def enclose_tail_sum(tails: Tails, terms: Terms, least: Fraction = Fraction(0)) -> Interval:
    """Enclose L(0) + 2·Σ w(k)·T(k); ``least`` is a lower bound of it that is known already."""
    first_rise = terms.value(1).lower - terms.value(0).upper
    least = max(least, 2 * first_rise * tails.beyond(0, BITS).lower)
    end, rest = _stop(tails, terms, least)
    edges = list(range(end + 1)) if end <= _POINTS else _edges(tails, terms, end)
    blocks = _blocks(tails, terms, edges)
    lower = sum((block.lower for block in blocks), Fraction(0))
    upper = sum((block.upper for block in blocks), rest)
    return terms.value(0) + Interval(lower, upper).scaled(2)


def _blocks(tails: Tails, terms: Terms, edges: list[int]) -> list[Interval]:
    """Enclose Σ w(k)·T(k) over each block between two edges."""
    heights = [tails.beyond(k, BITS) for k in edges]
    values = [terms.value(k) for k in edges]
    # By how much T falls per step over each block, at least; after the last nothing is known.
    falls = [
        max(Fraction(0), near.lower - far.upper) / (b - a)
        for (a, near), (b, far) in pairwise(zip(edges, heights, strict=True))
    ]
    falls.append(Fraction(0))
    found = []
    for i, (first, stop) in enumerate(pairwise(edges)):
        rise = values[i + 1] - values[i]
        rise = Interval(max(Fraction(0), rise.lower), rise.upper)
        if stop - first == 1:
            found.append(heights[i] * rise)
            continue
        inner = terms.sum_between(first, stop, values[i], values[i + 1])
        moment = values[i + 1].scaled(stop - first - 1) - inner
        # From above: t = T(first), and T falls by at least falls[i] a step.
        upper = heights[i].upper * rise.upper - falls[i] * moment.lower
        # From below: the next chord, prolonged backwards from T(stop) to first.
        prolonged = heights[i + 1].lower + falls[i + 1] * (stop - first)
        lower = prolonged * rise.lower - falls[i + 1] * moment.upper
        found.append(Interval(max(Fraction(0), lower), upper))
    return found


def _stop(tails: Tails, terms: Terms, least: Fraction) -> tuple[int, Fraction]:
    """Return where to stop, and an upper bound of the sum from there on: next to nothing."""
    last = min(tails.farthest, terms.constant_from)  # from there on nothing is added
    if not last:
        return 0, Fraction(0)
    first = min(tails.beyond(0, BITS).upper, Fraction(1, 2))
    for halvings in (_FEWEST_HALVINGS << doublings for doublings in range(_DOUBLINGS)):
        end = tails.first_below(first / (1 << halvings))
        if end >= last:
            return int(last), Fraction(0)
        rest = terms.rest(tails, end)
        if rest is not None and rest * (1 << _REST_BITS) <= least:
            return end, rest
    if rest is not None and not math.isinf(terms.constant_from):
        return end, rest
    raise Unsupported(
        "an expected cost is added up as far as a noise has a probability of "
        f"2^-{_FEWEST_HALVINGS << (_DOUBLINGS - 1)}",
        got="a cost that is not small by then",
        fix="Give a smaller power.",
    )


def _edges(tails: Tails, terms: Terms, end: int) -> list[int]:
    """Return where the blocks begin, and the end: more of them where more of the sum lies.

    The error of a block is about its share of the sum times its length squared, so the least error
    altogether has lengths as the third root of that share. Floats may propose this.
    """
    cells = sorted({end * i**3 // _CELLS**3 for i in range(_CELLS + 1)})
    shares = []
    for first, stop in pairwise(cells):
        rise = terms.value(stop).upper - terms.value(first).upper
        weight = rise * tails.beyond(first, BITS).upper * (stop - first) ** 2
        shares.append(_log(weight) / 3)
    highest = max(shares)
    if math.isinf(highest):  # L is level
        return [0, end]
    parts = [math.exp(share - highest) for share in shares]
    scale, edges = _BLOCKS / math.fsum(parts), [0]
    for part, (first, stop) in zip(parts, pairwise(cells), strict=True):
        blocks = min(stop - first, math.ceil(part * scale))
        edges += [first + (stop - first) * i // blocks for i in range(1, blocks + 1)]
    return edges


def _log(number: Fraction) -> float:
    """Return the logarithm of a number of any length, −∞ of 0."""
    if number <= 0:
        return -math.inf
    return math.log(number.numerator) - math.log(number.denominator)
