"""A staircase on a lattice: what a rounded Staircase is, and what is drawn."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from leastnoise.costs import Cost, Power, added
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, exactly
from leastnoise.exact.series import (
    exact_power,
    falls_to,
    fixed_power,
    power_rest,
    power_sums,
    series,
)
from leastnoise.noise.base import LatticeNoise, Run, no_ends, unbounded

# Up to this exponent the expected |X|ᵖ is a closed form; beyond, it is added up.
_LARGEST_CLOSED = 64
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
                f"got {exactly(self.step)} and {exactly(self.ratio)}. Give such numbers."
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
            f"DiscreteStaircase(step={exactly(self.step)}, "
            f"period={exactly(self.period)}, ratio={exactly(self.ratio)})"
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
                f"got a confidence of {exactly(confidence)}. Give one below 1, such as 0.999."
            )
        return self._exceeded((1 - confidence) / 2)

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self._moment(2)

    def enclose(self, cost: Cost) -> Interval:
        """Enclose E L(X): by its closed form for whole powers, else added up period by period.

        With T(m) = L(step) + … + L(m·step), each point where the weights fall adds its drop times
        T: a sum in which nothing cancels.
        """
        if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
            return Interval.exact(self._moment(int(cost.p)))
        upto = _totals(cost, self.step)

        def dropped(periods: int) -> Interval:
            """Enclose the sum of drop · T over the falls of one period, without its factor bⁿ."""
            first = periods * self.steps
            return added(upto(first + last).scaled(drop) for last, drop in self._drops)

        half = series(self.ratio, dropped, self._rest(cost, dropped))
        centre = cost.value(Fraction(0)).scaled(self.runs[0].weight)
        return (centre + half.scaled(2)).scaled(1 / self.total)

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

    def _rest(
        self, cost: Cost, dropped: Callable[[int], Interval]
    ) -> Callable[[int], Interval | None]:
        """Return an enclosure of all that follows a period, for :func:`series`."""
        all_drops = sum((drop for _, drop in self._drops), Fraction(0))
        keep, width = 1 - self.ratio, self.steps * self.step

        def rest(n: int) -> Interval | None:
            if cost.settled is not None:  # beyond, T grows by the same in each period
                if n * width <= cost.settled:
                    return None
                grown = cost.value(cost.settled + 1).scaled(self.steps * all_drops)
                return dropped(n).scaled(1 / keep) + grown.scaled(self.ratio / keep**2)
            if not isinstance(cost, Power):
                raise unbounded(cost)
            # T(m) is at most m·L(m·step), and no point of a period lies beyond its end.
            bound = power_rest(self.ratio, Fraction(n + 1), cost.p + 1)
            if bound is None:
                return None
            end = cost.value((n + 1) * width).scaled((n + 1) * self.steps * all_drops)
            return Interval(Fraction(0), end.upper * bound)

        return rest

    def _moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly: Σ bⁿ·w_r·(nP + r)ᵖ by the binomial theorem."""
        periods = power_sums(self.ratio, Fraction(0), p)
        places = [self._place_sum(i) for i in range(p + 1)]
        terms = (math.comb(p, j) * self.steps**j * places[p - j] * periods[j] for j in range(p + 1))
        half = sum(terms, Fraction(0))
        return 2 * self.step**p * half / self.total

    def _place_sum(self, p: int) -> int:
        """Return Σ w_r·rᵖ over one period."""
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


def _totals(cost: Cost, step: Fraction) -> Callable[[int], Interval]:
    """Return T(m) = L(step) + … + L(m·step) as a function that goes on from the last m it had."""
    known = [(0, Interval.exact(0))]

    def upto(terms: int) -> Interval:
        last, total = known[-1]
        if not 0 <= terms - last <= _NEAR:
            return cost.total(step, terms)
        total += added(cost.value(j * step) for j in range(last + 1, terms + 1))
        known[-1] = (terms, total)
        return total

    return upto
