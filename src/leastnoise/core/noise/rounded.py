"""Smooth noise rounded to a lattice, as it is sampled, and its expected cost.

The expectation of a non-decreasing function L of its size is a sum over its tails. Let R be the
index of the rounded noise, g its step and T(k) = P(X > (k + ½)g). R ≥ k + 1 exactly if
X ≥ (k + ½)g. So

    E L(|R|g) = L(0) + 2·Σ w(k)·T(k) over k ≥ 0,  w(k) = L((k+1)g) − L(kg) ≥ 0.

A few points are added one by one, many points in blocks first ≤ k < stop. T is convex. So over a
block it lies *below* its chord from first to stop, and *above* the extension of the next block's
chord. If T(k) = t − f·(k − first) on a block, the block adds t·W − f·M, where

    W = Σ w(k) = L(stop) − L(first)                                     (the rise of the block)
    M = Σ (k − first)·w(k) = Σ (L(stop) − L(j)) over first < j < stop   (its first moment)

The sum beyond the last block is bounded from above by a geometric series, because T is log-concave:
over equal lengths it falls by larger and larger factors.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, ClassVar

from leastnoise.core.exact import Interval, as_log, first_index, format_exact, power
from leastnoise.core.noise.base import LatticeNoise, no_maximum_error, no_quantile_at_ends
from leastnoise.core.profile import RoundedLogConcaveCurve
from leastnoise.core.sampling import QuantileScheme, quantile_scheme
from leastnoise.errors import InvalidParameter, Unsupported

if TYPE_CHECKING:
    from leastnoise.core.noise.kinds import Smooth

_HALF = Fraction(1, 2)
# The relative width at which the enclosure of an expectation is narrow enough.
NARROW = Fraction(1, 1 << 15)
# Unbounded noise is almost always 0 if one step is less likely than this.
_UNLIKELY = Fraction(1, 1 << 100000)
# Binary digits of the terms of a sum.
BITS = 80
# The most points that are added up one by one; the number of blocks for more points; and the
# number of cells from which blocks are proposed.
_POINTS = 400
_BLOCKS = 320
_CELLS = 96
# A sum ends where the tail has a probability of at most 2^-100, or 2^-200 …, and the rest is this
# small. The rest is bounded by lengths of which _LENGTHS fit before it.
_FEWEST_HALVINGS = 100
_DOUBLINGS = 9
_REST_BITS = 50
_LENGTHS = 8


@dataclass(frozen=True, repr=False)
class Rounded(LatticeNoise):
    """The distribution of ⌊X/step + 1/2⌋ steps, for X of the distribution ``noise``.

    It satisfies the guarantees of X for shifts by multiples of the step, because rounding an output
    is post-processing (docs/theory/rounding.md). Its weights are irrational probabilities; the
    rationals returned for them are upper bounds within 2⁻¹²⁰.
    """

    step: Fraction
    noise: Smooth

    stored: ClassVar = {"step": "rational", "noise": "smooth noise"}
    is_unimodal = True  # because the density of the smooth noise is
    total = 1  # weights are probabilities
    isolated_weight = 0  # no point of smooth noise is a point mass, though 0 is the likeliest

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise InvalidParameter(
                "step must be greater than 0",
                got=format_exact(self.step),
                fix="Use a positive number.",
            )

    def __repr__(self) -> str:
        return f"Rounded(step={format_exact(self.step)}, {self.noise!r})"

    @cached_property
    def scheme(self) -> QuantileScheme:
        """Sampling by the rounded quantiles of the smooth noise."""
        farthest = self.farthest
        ends = None if isinstance(farthest, float) else farthest
        return quantile_scheme(self.noise, self.step, ends)

    @property
    def farthest(self) -> int | float:
        """The largest |index| of the noise, or ``math.inf`` if it is unbounded."""
        radius = self.noise.radius
        return radius if isinstance(radius, float) else ceil(radius / self.step - _HALF)

    @property
    def radius(self) -> Fraction | float:
        """The maximum size of this noise, or ``math.inf``."""
        farthest = self.farthest
        return farthest if isinstance(farthest, float) else farthest * self.step

    def curve(self, sensitivity: Fraction) -> RoundedLogConcaveCurve:
        """Return the privacy curve for shifts by multiples of the step; its values are enclosed."""
        return RoundedLogConcaveCurve(self.noise, sensitivity // self.step * self.step, self.step)

    def beyond(self, index: int, bits: int = 128) -> Interval:
        """Enclose the probability of all points beyond an index ≥ 0, on one side."""
        return self.noise.tail((index + _HALF) * self.step, bits)

    def first_below(self, tail: Fraction) -> int:
        """Return an index ≥ 1 beyond which the probability on one side is at most ``tail``."""
        return max(1, ceil(self.noise.series(tail, 1, BITS)[0].upper / self.step))

    def weight(self, index: int) -> Fraction:
        """Return an upper bound of the probability of the point index·step.

        The weights of neighbors in very wide noise are almost equal. The precision grows with the
        width, so that the bounds still differ.
        """
        size = abs(index)
        wide = self.noise.density(Fraction(0), 16).upper * self.step
        bits = 128 + 4 * int(1 / wide).bit_length()
        if not size:
            return 1 - 2 * self.beyond(0, bits).lower
        return max(Fraction(0), self.beyond(size - 1, bits).upper - self.beyond(size, bits).lower)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.noise.probability_up_to((floor(upto / self.step) + _HALF) * self.step)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the lattice point that the quantile of the noise itself is rounded to."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_quantile_at_ends(probability)
            return self.radius if probability else -self.radius
        return ceil(self.noise.quantile(probability) / self.step - _HALF) * self.step

    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 that is proved to have P(|X| ≤ j·step) ≥ confidence."""
        if confidence >= 1:
            if isinstance(self.farthest, float):
                raise no_maximum_error(confidence)
            return int(self.farthest)
        outside = (1 - confidence) / 2
        size = self.noise.series(min(outside, _HALF), 1)[0].lower
        index = max(0, floor(size / self.step - _HALF) - 1)
        low, high = index - 1, index
        while self.beyond(high).upper > outside:  # the steps can be many, so they double
            low, high = high, high + 2 * (high - low)
        return first_index(low, high, lambda size: self.beyond(size).upper <= outside)

    def variance(self) -> Fraction:
        """Return an upper bound of the variance."""
        return self.moment(Fraction(2)).upper

    def moment(self, p: Fraction) -> Interval:
        """Enclose E |Rg|ᵖ for p > 0, where R is the index and g the step.

        On a fine lattice the enclosure follows from E |X|ᵖ, otherwise from the sum over the tails.
        """
        near, off = self.noise.moment(p), _rounding_difference(self, p)
        # For p = 1 rounding can only lower the expectation.
        upper = near.upper + (off if p != 1 else 0)
        near = Interval(max(Fraction(0), near.lower - off), upper)
        return self.refine_by_tails(near, PowerTerms(p, self.step))

    def refine_by_tails(self, near: Interval, terms: TailTerms) -> Interval:
        """Enclose E L(|R|g) by the sum over the tails, unless ``near`` is narrow enough."""
        if near.upper - near.lower <= NARROW * near.lower:
            return near
        wider = self._wider()
        if wider is self:
            summed = enclose_tail_sum(self, terms, near.lower)
        else:  # wider noise costs at least as much, because larger |R| are likelier
            summed = Interval(terms.value(0).lower, enclose_tail_sum(wider, terms).upper)
        return Interval(max(summed.lower, near.lower), min(summed.upper, near.upper))

    def _wider(self) -> Rounded:
        """Return this noise, or wider noise if its first steps are too unlikely to be computed."""
        if not isinstance(self.radius, float):
            return self
        size = self.noise.series(_UNLIKELY, 1, BITS)[0].upper
        factor = Fraction(3, 2) * self.step / size
        return self if factor <= 1 else Rounded(self.step, self.noise.scaled(factor))


def _rounding_difference(rounded: Rounded, p: Fraction) -> Fraction:
    """Return an upper bound of the difference between E |Rg|ᵖ and E |X|ᵖ.

    For p = 1, E |Rg| ≤ E |X|. For p < 1 the bound is (g/2)ᵖ, because |x + y|ᵖ ≤ |x|ᵖ + |y|ᵖ. For
    p ≥ 1 it is g²B/4, where f is the density and
    B = f(0)·L′(g) + Σ f(kg)·(L′(kg + g) − L′(kg)) over k ≥ 1.

    Proof. The difference is twice the sum, over all cells from kg to kg + g with middle s, of
    ∫ L′(x)·(T(s) − T(x)) dx. T(s) − T(x) is f(s)·(x − s) minus the height of the convex T above its
    tangent. The first part gives at most f(s)·g²/8 times the rise of L′ over the cell, and 0 if L′
    is constant. The second part gives at most L′(kg + g)·g²/8 times the rise of T′ = −f (Peano).
    Sum by parts.
    """
    density, g = rounded.noise.density(Fraction(0), BITS).upper, rounded.step
    if p == 1:
        return g**2 / 4 * density
    if p < 1:
        return power(g / 2, p).upper
    if p >= 2:
        # L″ never falls, and g·f(kg) is at most ∫ f over the cell before kg.
        start, curvature = g, _shifted_moment(rounded, p - 2, 2 * g)
    else:
        # Up to ``start``, f is at most f(0); from there on, L″ is at most L″(start).
        start = ceil(rounded.noise.moment(Fraction(1)).upper / g) * g
        curvature = power(1 / start, 2 - p).upper
    slope = power(start, p - 1).upper if p > 1 else 1
    return g**2 / 4 * p * (density * slope + (p - 1) * curvature / 2)


def _shifted_moment(rounded: Rounded, q: Fraction, shift: Fraction) -> Fraction:
    """Return an upper bound of E (|X| + shift)^q for q ≥ 0, by Minkowski's inequality if q ≥ 1."""
    if not q:
        return Fraction(1)
    moment = rounded.noise.moment(q).upper
    if q < 1:
        return moment + power(shift, q).upper
    return power(power(moment, 1 / q).upper + shift, q).upper


class TailTerms(ABC):
    """The values of L that the sum over the tails needs, at the lattice points kg, k ≥ 0."""

    @abstractmethod
    def value(self, index: int) -> Interval:
        """Enclose L(index·g)."""

    @property
    @abstractmethod
    def constant_from(self) -> int | float:
        """The index from which L is constant, or ``math.inf`` if unknown."""

    @abstractmethod
    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ L(jg) over first < j < stop, given L at first and at stop."""

    @abstractmethod
    def bound_rest(self, rounded: Rounded, end: int) -> Fraction | None:
        """Return an upper bound of Σ w(k)·T(k) over k ≥ end ≥ 1, or None if the search fails."""


@dataclass(frozen=True)
class PowerTerms(TailTerms):
    """L(x) = xᵖ for a rational p > 0."""

    p: Fraction
    step: Fraction
    constant_from = math.inf  # a power rises without end

    def value(self, index: int) -> Interval:
        """Enclose (index·g)ᵖ."""
        return power(index * self.step, self.p).shortened(BITS)

    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose the sum by the value in the middle and by the chord.

        The points are symmetric about their middle. By Jensen's inequality, the average of L over
        them lies between L at the middle and the average of the two ends.
        """
        chord = (start + end).scaled(Fraction(1, 2))
        middle = power((first + stop) * self.step / 2, self.p).shortened(BITS)
        low, high = (middle, chord) if self.p >= 1 else (chord, middle)
        return Interval(low.lower, high.upper).scaled(stop - first - 1)

    def bound_rest(self, rounded: Rounded, end: int) -> Fraction | None:
        """Bound the rest by stretches of ``length`` points, over which T falls ever faster."""
        length = max(1, end // _LENGTHS)
        beyond, before = rounded.beyond(end, BITS).upper, rounded.beyond(end - length, BITS).lower
        if not before:
            return None
        series = power_series_bound(beyond / before, Fraction(end, length) + 1, self.p)
        return None if series is None else beyond * self.value(end + length).upper * series


def power_series_bound(ratio: Fraction, start: Fraction, exponent: Fraction) -> Fraction | None:
    """Return an upper bound of Σ ratioⁿ·((start + n)/start)^exponent over n ≥ 0, start > 0.

    (start + n + 1)/(start + n) falls with n, so every term falls at least by the factor of the
    first two. That bounds the sum by a geometric series. None if the factor is not below 1.
    """
    if start <= 0:
        return None
    fall = ratio * power((start + 1) / start, exponent).upper
    return 1 / (1 - fall) if fall < 1 else None


def enclose_tail_sum(rounded: Rounded, terms: TailTerms, least: Fraction = Fraction(0)) -> Interval:
    """Enclose L(0) + 2·Σ w(k)·T(k); ``least`` is a known lower bound of it."""
    first_rise = terms.value(1).lower - terms.value(0).upper
    least = max(least, 2 * first_rise * rounded.beyond(0, BITS).lower)
    end, rest = _find_stop(rounded, terms, least)
    edges = list(range(end + 1)) if end <= _POINTS else _choose_edges(rounded, terms, end)
    blocks = _enclose_blocks(rounded, terms, edges)
    lower = sum((block.lower for block in blocks), Fraction(0))
    upper = sum((block.upper for block in blocks), rest)
    return terms.value(0) + Interval(lower, upper).scaled(2)


def _enclose_blocks(rounded: Rounded, terms: TailTerms, edges: list[int]) -> list[Interval]:
    """Enclose Σ w(k)·T(k) over each block between two edges."""
    heights = [rounded.beyond(k, BITS) for k in edges]
    values = [terms.value(k) for k in edges]

    @cache  # points that are added up one by one do not need it
    def fall(i: int) -> Fraction:
        """Return a lower bound of the fall of T per step over a block; 0 after the last block."""
        if i + 1 == len(edges):
            return Fraction(0)
        whole = max(Fraction(0), heights[i].lower - heights[i + 1].upper)
        return whole / (edges[i + 1] - edges[i])

    blocks = []
    for i, (first, stop) in enumerate(pairwise(edges)):
        rise = values[i + 1] - values[i]
        rise = Interval(max(Fraction(0), rise.lower), rise.upper)
        if stop - first == 1:
            blocks.append(heights[i] * rise)
            continue
        inner = terms.sum_between(first, stop, values[i], values[i + 1])
        moment = values[i + 1].scaled(stop - first - 1) - inner
        # Upper bound: t = T(first), and T falls by at least fall(i) per step.
        upper = heights[i].upper * rise.upper - fall(i) * moment.lower
        # Lower bound: the next chord, extended backwards from T(stop) to first.
        extended = heights[i + 1].lower + fall(i + 1) * (stop - first)
        lower = extended * rise.lower - fall(i + 1) * moment.upper
        blocks.append(Interval(max(Fraction(0), lower), upper))
    return blocks


def _find_stop(rounded: Rounded, terms: TailTerms, least: Fraction) -> tuple[int, Fraction]:
    """Return the index at which to stop, and a tiny upper bound of the sum from there on."""
    last = min(rounded.farthest, terms.constant_from)  # all later terms are 0
    if not last:
        return 0, Fraction(0)
    first = min(rounded.beyond(0, BITS).upper, Fraction(1, 2))
    for halvings in (_FEWEST_HALVINGS << doublings for doublings in range(_DOUBLINGS)):
        end = rounded.first_below(first / (1 << halvings))
        if end >= last:
            return int(last), Fraction(0)
        rest = terms.bound_rest(rounded, end)
        if rest is not None and rest * (1 << _REST_BITS) <= least:
            return end, rest
    if rest is not None and not math.isinf(terms.constant_from):
        return end, rest
    raise Unsupported(
        "This cost grows too fast for an expected cost: the sum has not converged where the noise "
        "has probability "
        f"2^-{_FEWEST_HALVINGS << (_DOUBLINGS - 1)}",
        fix="Use a smaller power.",
    )


def _choose_edges(rounded: Rounded, terms: TailTerms, end: int) -> list[int]:
    """Return the starts of the blocks and the end, with more blocks where the terms are larger.

    The error of a block is about its share of the sum times its length squared. So the total error
    is smallest if the number of blocks in a cell is in proportion to the third root of that
    product. Floats suffice, because any edges give a proved enclosure.
    """
    cells = sorted({end * i**3 // _CELLS**3 for i in range(_CELLS + 1)})
    shares = []
    for first, stop in pairwise(cells):
        rise = terms.value(stop).upper - terms.value(first).upper
        weight = rise * rounded.beyond(first, BITS).upper * (stop - first) ** 2
        shares.append(as_log(weight) / 3)
    highest = max(shares)
    if math.isinf(highest):  # L is constant
        return [0, end]
    parts = [math.exp(share - highest) for share in shares]
    scale, edges = _BLOCKS / math.fsum(parts), [0]
    for part, (first, stop) in zip(parts, pairwise(cells), strict=True):
        blocks = min(stop - first, math.ceil(part * scale))
        edges += [first + (stop - first) * i // blocks for i in range(1, blocks + 1)]
    return edges
