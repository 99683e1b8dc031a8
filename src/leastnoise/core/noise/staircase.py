"""Staircase noise, on the line and on the lattice.

The staircase: a density that falls by one and the same factor from each period to the next.

A staircase on a lattice: what a rounded Staircase is, and what is drawn.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from leastnoise.core.exact import exact_power, falls_to, fixed_power, format_exact, power_sums
from leastnoise.core.noise.base import LatticeNoise, Noise, Run, Stairs, no_ends
from leastnoise.core.noise.scipy_api import evaluate
from leastnoise.errors import InvalidParameter

# Up to this exponent the expected |X|ᵖ is a closed form; beyond, it is added up.
_LARGEST_CLOSED = 64


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Stairs, Noise):
    """The staircase noise of Geng and Viswanath (2016), with no largest size.

    For |x| between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is a·bⁿ⁺¹: it falls
    once in each period, by the factor b. At sensitivity Δ it is (ε, 0)-private for e^ε ≥ 1/b, and
    for b = e^−ε and the right γ it costs least among all noises that are.
    b is rational here, a little above e^−ε.

    ============ =============================================
    a            (1−b) / 2Δ(γ + b(1−γ))
    E L(X)       2a(1−b)·Σ bⁿ·∫₀ˣ L, x = (n+γ)Δ, over n ≥ 0
    ============ =============================================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls.
        ratio: b, 0 < b < 1.

    >>> from leastnoise.costs.power import l1
    >>> Staircase(period=1, gamma="1/3", ratio="1/2").expected(l1)
    Fraction(17, 12)
    """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    @property
    def height(self) -> Fraction:
        """The density a at 0, or beside it where γ is 0."""
        fall = self.ratio
        return (1 - fall) / (2 * self.period * (self.gamma + fall * (1 - self.gamma)))

    def pdf(self, x: Any) -> Any:
        """Return the density, that on the outer side where it falls."""
        return evaluate(x, self._pdf, lambda places: self._each(places, self._pdf))

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return 1 - self._tail(upto) if upto >= 0 else self._tail(-upto)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, exactly."""
        if probability in (0, 1):
            raise no_ends(probability)
        if 2 * probability < 1:
            return -self._place(probability)
        return self._place(1 - probability)

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self._moment(2)

    def _moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ = Δᵖ·(1−b)² / ((p+1)(γ + b(1−γ))) · Σ bⁿ(n+γ)ᵖ⁺¹."""
        sums = power_sums(self.ratio, self.gamma, p + 1)[-1]
        scale = 2 * self.height * (1 - self.ratio)
        return scale * self.period ** (p + 1) / (p + 1) * sums

    def _tail(self, size: Fraction) -> Fraction:
        """Return P(X > size) for size ≥ 0: of a period's parts beyond it, and of all after."""
        periods, part = divmod(size / self.period, 1)
        fall, gamma = self.ratio, self.gamma
        left = gamma - part + fall * (1 - gamma) if part < gamma else fall * (1 - part)
        return (self.height * self.period * left + fall / 2) * exact_power(fall, int(periods))

    def _place(self, tail: Fraction) -> Fraction:
        """Return the size ≥ 0 that is exceeded with this probability, at most 1/2."""
        fall, gamma = self.ratio, self.gamma
        periods = max(0, falls_to(fall, 2 * tail) - 1)
        left = tail / exact_power(fall, periods) - fall / 2
        left /= self.height * self.period
        upper = fall * (1 - gamma)  # what is left where the density falls
        part = gamma + upper - left if left >= upper else 1 - left / fall
        return (periods + part) * self.period

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        periods, part = divmod(abs(place) / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))

    def _masses(self, places: Any) -> Any:
        return self._each(places, self._cdf)

    def _quantiles(self, probabilities: Any) -> Any:
        return self._each(probabilities, self._quantile)


_BITS = 256
# So many terms more are added to a known sum one by one.
_NEAR = 256


@dataclass(frozen=True, repr=False)
class DiscreteStaircase(LatticeNoise):
    """Weight bⁿ·w_r for the two points at ±(nP + r) steps, 0 ≤ r < P; and w_0 for 0.

    ``runs`` state w over one period, from 0 to P − 1, in whole weights; b is ``ratio``. The weights
    never rise away from 0: those of a period fall, and the last is at least b times the first. Then
    i and any i' within P steps of it are at most a factor 1/b apart, for weight(i + P) is
    b·weight(i): (ε, 0)-private at P steps for e^ε ≥ 1/b.

    >>> DiscreteStaircase(Fraction(1), Fraction(1, 2), (Run(0, 1, 1),)).pmf(0)
    0.3333333333333333
    """

    step: Fraction
    ratio: Fraction
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        """Check that the weights make a staircase that never rises."""
        weights = [run.weight for run in self.runs]
        ends = [run.first + run.points for run in self.runs]
        joined = [run.first for run in self.runs] == [0, *ends[:-1]] and ends == sorted(set(ends))
        if not weights or not joined or ends[0] < 1:
            raise InvalidParameter(
                f"the runs of a period must follow one another from 0; got {len(weights)} that do "
                "not. Give each where the one before it ends."
            )
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "a staircase needs a step above 0 and a ratio between 0 and 1; "
                f"got {format_exact(self.step)} and {format_exact(self.ratio)}. Give such numbers."
            )
        falling = all(before >= after for before, after in pairwise(weights))
        if not falling or weights[-1] < self.ratio * weights[0] or weights[-1] < 1:
            raise InvalidParameter(
                "the weights of a period must never rise, and the last must be at least the ratio "
                f"times the first; got {len(weights)} that break this. Give weights that fall."
            )

    def __repr__(self) -> str:
        """Print the law by its step, its period and its ratio."""
        return (
            f"DiscreteStaircase(step={format_exact(self.step)}, "
            f"period={format_exact(self.period)}, ratio={format_exact(self.ratio)})"
        )

    @property
    def steps(self) -> int:
        """The period P, in steps."""
        return self.runs[-1].first + self.runs[-1].points

    @property
    def period(self) -> Fraction:
        """The length of a period."""
        return self.steps * self.step

    @property
    def total(self) -> Fraction:
        """All weights together: 2Σw / (1−b) − w_0."""
        return 2 * self._side - self.runs[0].weight

    @property
    def farthest(self) -> float:
        """Infinite: there is no largest index."""
        return math.inf

    @property
    def radius(self) -> float:
        """Infinite: there is no largest size."""
        return math.inf

    def weight(self, index: int) -> Fraction:
        """Return bⁿ·w_r for |index| = nP + r."""
        periods, place = divmod(abs(index), self.steps)
        run = next(run for run in reversed(self.runs) if run.first <= place)
        return run.weight * exact_power(self.ratio, periods)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        index = upto // self.step
        return 1 - self._tail(index) if index >= 0 else self._tail(-index - 1)

    def central(self, points: int) -> Fraction:
        """Return the mass of that many points in the middle (docs/theory/theorem-1.md)."""
        right, left = (points + 1) // 2, points // 2  # how many at 0 or more, and below 0
        if not points:
            return Fraction(0)
        return 1 - self._tail(right - 1) - self._tail(left)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        if probability in (0, 1):
            raise no_ends(probability)
        if probability <= self._tail(0):
            return -self._exceeded(probability, below=True) * self.step
        return self._exceeded(1 - probability) * self.step

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        if confidence >= 1:
            raise InvalidParameter(
                "noise without a largest size stays within no bound for certain; "
                f"got a confidence of {format_exact(confidence)}. Give one below 1, such as 0.999."
            )
        return self._exceeded((1 - confidence) / 2)

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self._moment(2)

    @cached_property
    def _weights(self) -> list[int]:
        """The weight of the points of a period before each run, and of all of them."""
        return [0, *accumulate(run.points * run.weight for run in self.runs)]

    @cached_property
    def _side(self) -> Fraction:
        """The weight of all points from 0 on to one side."""
        return self._weights[-1] / (1 - self.ratio)

    @cached_property
    def _drops(self) -> list[tuple[int, Fraction]]:
        """The last point of each run of a period and by how much the weight falls after it."""
        weights = [*(Fraction(run.weight) for run in self.runs), self.ratio * self.runs[0].weight]
        falls = (before - after for before, after in pairwise(weights))
        return [
            (run.first + run.points - 1, fall)
            for run, fall in zip(self.runs, falls, strict=True)
            if fall
        ]

    def _moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly: Σ bⁿ·w_r·(nP + r)ᵖ by the binomial theorem."""
        periods = power_sums(self.ratio, Fraction(0), p)
        places = [self._place_sum(i) for i in range(p + 1)]
        terms = (math.comb(p, j) * self.steps**j * places[p - j] * periods[j] for j in range(p + 1))
        half = sum(terms, Fraction(0))
        return 2 * self.step**p * half / self.total

    def _place_sum(self, p: int) -> int:
        """Return Σ w_r·rᵖ over one period."""
        from leastnoise.costs import Power  # SPLIT 1b

        if not p:
            return self._weights[-1]
        sums = Power(Fraction(p))

        def upto(place: int) -> Fraction:
            return sums.total(Fraction(1), place).upper if place > 0 else Fraction(0)

        runs = ((run.first, run.first + run.points - 1, run.weight) for run in self.runs)
        return int(sum(weight * (upto(last) - upto(first - 1)) for first, last, weight in runs))

    def _tail(self, index: int) -> Fraction:
        """Return P(X > index·step) for index ≥ 0."""
        periods, place = divmod(index, self.steps)
        after = self._side - self._upto(place + 1)
        return after * exact_power(self.ratio, periods) / self.total

    def _upto(self, points: int) -> int:
        """Return the weight of the first points of a period."""
        return sum(min(max(points - run.first, 0), run.points) * run.weight for run in self.runs)

    def _exceeded(self, tail: Fraction, *, below: bool = False) -> int:
        """Return the smallest index ≥ 0 with P(X > index·step) ≤ tail, or < tail.

        The weight of all points from period n on is bⁿ times that of one side; so n comes first,
        then the least number of points of that period that leave little enough.
        """
        level = tail * self.total
        periods = max(0, falls_to(self.ratio, level / self._side, below=below) - 1)
        bits = _BITS + 2 * level.denominator.bit_length() + 2 * periods.bit_length()
        low, high = fixed_power(self.ratio, periods, bits)
        found = {
            self._least(self._side - level * Fraction(1 << bits, end), below=below)
            for end in (low, high)
            if end
        }
        if len(found) > 1 or not low:  # the enclosure of bⁿ does not tell
            needed = self._side - level / exact_power(self.ratio, periods)
            found = {self._least(needed, below=below)}
        return periods * self.steps + found.pop() - 1

    def _least(self, needed: Fraction, *, below: bool) -> int:
        """Return the least number of points ≥ 1 of a period that weigh ``needed``, or more."""
        wanted = math.floor(needed) + 1 if below else math.ceil(needed)
        run = min(max(bisect_left(self._weights, wanted) - 1, 0), len(self.runs) - 1)
        missing = wanted - self._weights[run]
        points = -(-missing // self.runs[run].weight)
        return max(1, self.runs[run].first + points)
