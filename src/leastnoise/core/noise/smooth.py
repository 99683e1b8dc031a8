"""Smooth noise: what every family with a log-concave density states, and its lattice form."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import ClassVar

from leastnoise.core.exact import Interval, format_exact, power
from leastnoise.core.lattice import lattice_for
from leastnoise.core.noise.base import LatticeNoise, LineNoise, no_bound, no_ends
from leastnoise.core.noise.tail_sum import BITS, PowerTerms, Terms, enclose_tail_sum
from leastnoise.core.profile import LogConcaveCurve, RoundedLogConcaveCurve
from leastnoise.core.sampling import QuantileScheme, quantile_scheme
from leastnoise.errors import InvalidParameter

_HALF = Fraction(1, 2)
# An expectation is known well enough when its enclosure is this narrow, relative to it.
NARROW = Fraction(1, 1 << 15)
# Unbounded noise adds hardly anything where one step is less likely than this.
_UNLIKELY = Fraction(1, 1 << 100000)


class Smooth(LineNoise):
    """Noise symmetric about 0 with a log-concave density: it falls ever faster away from 0.

    Each family states the functions below. All of them are enclosures in rationals, narrower than
    2^−bits of their value, so that profiles and samples can be computed to any accuracy. Numbers
    that are exact for other kinds (:meth:`mass`, :meth:`quantile`) are within about 2⁻¹²⁰ here.

    Log-concave means that p(x)/p(x − d) never rises with x: so of all sets the half-lines x < t
    distinguish two neighbors best (Neyman and Pearson), and since p falls away from 0 the longest
    shift is the worst (docs/theory/profile.md).
    """

    @abstractmethod
    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the density at ±size, size ≥ 0."""

    @abstractmethod
    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X > size), size ≥ 0.

        Where it is below 2^−250000 it is only enclosed between 0 and that.
        """

    @abstractmethod
    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the integral of P(X > x) over x from ``size`` ≥ 0 on: E max(0, X − size)."""

    @abstractmethod
    def moment(self, p: Fraction) -> Interval:
        """Enclose E |X|ᵖ, p > 0."""

    @abstractmethod
    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the first Taylor coefficients, at ``tail``, of the size Q with P(X > Q) = tail.

        For 0 < tail ≤ 1/2. Q falls and bends up; its derivatives alternate in sign, and each is the
        smaller the larger ``tail`` is: a Taylor polynomial is off by no more than its next term,
        taken with the coefficient at the smallest tail of its range.
        """

    @abstractmethod
    def crossing(self, move: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the t with p(x) > e^ε·p(x − move) exactly for x < t; None if for no x.

        For move > 0 and ε ≥ 0.
        """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    @property
    def is_unimodal(self) -> bool:
        """Always: symmetric and log-concave."""
        return True

    def curve(self, sensitivity: Fraction) -> LogConcaveCurve:
        """Return how private the noise is against shifts up to ``sensitivity``: enclosed."""
        return LogConcaveCurve(self, sensitivity)

    def discretize(self, sensitivity: Fraction) -> "Rounded":
        """Return the noise stretched to whole steps, and one more than Δ, and rounded.

        Rounding an output is post-processing, so it stays private.
        """
        step, protected = lattice_for(sensitivity)
        return Rounded(step, self.scaled(protected * step / sensitivity))

    def below(self, place: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X < place) = P(X ≤ place)."""
        if place < 0:
            return self.tail(-place, bits)
        return Interval.exact(1) - self.tail(place, bits)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.below(upto).middle

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, within 2⁻¹²⁰ of its size."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_ends(probability)
            return self.radius if probability else -self.radius
        size = self.series(min(probability, 1 - probability), 1)[0].middle
        return -size if 2 * probability < 1 else size

    def variance(self) -> Fraction:
        """Return E X²: exact where it is rational, else a proved upper bound."""
        return self.moment(Fraction(2)).upper

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        return self.density(abs(place), 64).middle


@dataclass(frozen=True, repr=False)
class Rounded(LatticeNoise):
    """The distribution of ⌊X/step + 1/2⌋ steps, for X of the distribution ``noise``.

    As private as X against shifts by whole steps, because rounding an output is post-processing
    (docs/theory/rounding.md). Its weights are probabilities and irrational: those returned as
    rationals are within 2⁻¹²⁰ of them, from above.
    """

    step: Fraction
    noise: Smooth

    stored: ClassVar = {"step": "rational", "noise": "smooth noise"}

    def __post_init__(self) -> None:
        """Reject a step that is none."""
        if self.step <= 0:
            raise InvalidParameter(
                "a lattice needs a step above 0",
                got=format_exact(self.step),
                fix="Give such a step.",
            )

    def __repr__(self) -> str:
        """Print the noise by its step and what was rounded."""
        return f"Rounded(step={format_exact(self.step)}, {self.noise!r})"

    @cached_property
    def scheme(self) -> QuantileScheme:
        """The quantiles of the smooth noise, rounded."""
        farthest = self.farthest
        ends = None if isinstance(farthest, float) else farthest
        return quantile_scheme(self.noise, self.step, ends)

    @property
    def total(self) -> int:
        """1: weights are probabilities."""
        return 1

    @property
    def farthest(self) -> int | float:
        """The largest size of an index the noise can have: ``math.inf`` if it is unbounded."""
        radius = self.noise.radius
        return radius if isinstance(radius, float) else ceil(radius / self.step - _HALF)

    @property
    def radius(self) -> Fraction | float:
        """The maximum size of this noise, or ``math.inf``."""
        farthest = self.farthest
        return farthest if isinstance(farthest, float) else farthest * self.step

    @property
    def isolated_weight(self) -> int:
        """0: in smooth noise no point stands out, though 0 is the likeliest."""
        return 0

    @property
    def is_unimodal(self) -> bool:
        """Always, because the density is."""
        return True

    def curve(self, sensitivity: Fraction) -> RoundedLogConcaveCurve:
        """Return how private the noise is against shifts by whole steps: enclosed."""
        return RoundedLogConcaveCurve(self.noise, sensitivity // self.step * self.step, self.step)

    def beyond(self, index: int, bits: int = 128) -> Interval:
        """Enclose the probability of all points beyond an index ≥ 0, on one side."""
        return self.noise.tail((index + _HALF) * self.step, bits)

    def first_below(self, tail: Fraction) -> int:
        """Return an index ≥ 1 beyond which at most the probability ``tail`` lies, on one side."""
        return max(1, ceil(self.noise.series(tail, 1, BITS)[0].upper / self.step))

    def weight(self, index: int) -> Fraction:
        """Return the probability of the point index·step, from above.

        Neighbors of very wide noise differ by little, even relative to their small weights: they
        are to be told apart.
        """
        size = abs(index)
        wide = self.noise.density(Fraction(0), 16).upper * self.step
        bits = 128 + 4 * int(1 / wide).bit_length()
        if not size:
            return 1 - 2 * self.beyond(0, bits).lower
        return max(Fraction(0), self.beyond(size - 1, bits).upper - self.beyond(size, bits).lower)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.noise.mass((floor(upto / self.step) + _HALF) * self.step)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the lattice point that the quantile of the noise itself is rounded to."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_ends(probability)
            return self.radius if probability else -self.radius
        return ceil(self.noise.quantile(probability) / self.step - _HALF) * self.step

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 that is proved to have P(|X| ≤ j·step) ≥ confidence."""
        if confidence >= 1:
            if isinstance(self.farthest, float):
                raise no_bound(confidence)
            return int(self.farthest)
        outside = (1 - confidence) / 2
        size = self.noise.series(min(outside, _HALF), 1)[0].lower
        index = max(0, floor(size / self.step - _HALF) - 1)
        low, high = index - 1, index
        while self.beyond(high).upper > outside:  # where steps are many, not one after the other
            low, high = high, high + 2 * (high - low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.beyond(middle).upper > outside else (low, middle)
        return high

    def variance(self) -> Fraction:
        """Return an upper bound of the variance."""
        return self.moment(Fraction(2)).upper

    def moment(self, p: Fraction) -> Interval:
        """Enclose E |Rg|ᵖ for p > 0, R the index and g the step.

        On a fine lattice by E |X|ᵖ, from which it differs little; else by the sum over the tails.
        """
        near, off = self.noise.moment(p), _rounding_difference(self, p)
        # For p = 1 rounding can only lower it.
        upper = near.upper + (off if p != 1 else 0)
        near = Interval(max(Fraction(0), near.lower - off), upper)
        return self.refine_by_tails(near, PowerTerms(p, self.step))

    def refine_by_tails(self, near: Interval, terms: Terms) -> Interval:
        """Enclose E L(|R|g) by the sum over the tails, unless ``near`` is narrow enough."""
        if near.upper - near.lower <= NARROW * near.lower:
            return near
        wider = self._wider()
        if wider is self:
            summed = enclose_tail_sum(self, terms, near.lower)
        else:  # wider noise costs no less: larger |R| are likelier then
            summed = Interval(terms.value(0).lower, enclose_tail_sum(wider, terms).upper)
        return Interval(max(summed.lower, near.lower), min(summed.upper, near.upper))

    def _wider(self) -> "Rounded":
        """Return this noise, or a wider one if its first steps are too unlikely to be computed."""
        if not isinstance(self.radius, float):
            return self
        size = self.noise.series(_UNLIKELY, 1, BITS)[0].upper
        factor = Fraction(3, 2) * self.step / size
        return self if factor <= 1 else Rounded(self.step, self.noise.scaled(factor))


def _rounding_difference(law: Rounded, p: Fraction) -> Fraction:
    """Return by how much E |Rg|ᵖ differs from E |X|ᵖ at most; for p = 1 it is below.

    For p < 1 by (g/2)ᵖ, because |x + y|ᵖ ≤ |x|ᵖ + |y|ᵖ. For p ≥ 1 by g²B/4 with f the density and
    B = f(0)·L′(g) + Σ f(kg)·(L′(kg + g) − L′(kg)) over k ≥ 1. Proof: the difference is twice
    the sum over all cells from kg to kg + g, with s the middle, of ∫ L′(x)·(T(s) − T(x)) dx.
    T(s) − T(x) is f(s)·(x − s) less what the convex T lies above its tangent. The first part
    gives at most f(s)·g²/8 times the rise of L′, and nothing if L′ is level; the second
    L′(kg + g)·g²/8 times the rise of T′ = −f at most (Peano), added up by parts.
    """
    density, g = law.noise.density(Fraction(0), BITS).upper, law.step
    if p < 1:
        return power(g / 2, p).upper
    if p >= 2:
        # L″ never falls, and g·f(kg) is at most ∫ f over the cell before kg.
        start, rest = g, _shifted_moment(law, p - 2, 2 * g)
    else:
        # Up to ``start`` f is at most f(0); from there on L″ is at most what it is there.
        start = ceil(law.noise.moment(Fraction(1)).upper / g) * g
        rest = power(1 / start, 2 - p).upper
    slope = power(start, p - 1).upper if p > 1 else 1
    return g**2 / 4 * p * (density * slope + (p - 1) * rest / 2)


def _shifted_moment(law: Rounded, q: Fraction, shift: Fraction) -> Fraction:
    """Return an upper bound of E (|X| + shift)^q, q ≥ 0: by Minkowski from q = 1 on."""
    if not q:
        return Fraction(1)
    moment = law.noise.moment(q).upper
    if q < 1:
        return moment + power(shift, q).upper
    return power(power(moment, 1 / q).upper + shift, q).upper
