"""Staircase noise on the lattice."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar

from leastnoise.core.exact import (
    count_bits,
    exact_power,
    fixed_power,
    format_exact,
    power_sums,
    smallest_exponent,
    sum_of_powers,
)
from leastnoise.core.lattice import Run
from leastnoise.core.noise.base import (
    LatticeNoise,
    no_maximum_error,
    no_quantile_at_ends,
)
from leastnoise.core.noise.kinds import StaircaseNoise
from leastnoise.core.profile import StaircaseCurve, check_periods, check_staircase_work
from leastnoise.core.sampling import StaircaseScheme, staircase_scheme
from leastnoise.errors import InvalidParameter

_BITS = 256


@dataclass(frozen=True, repr=False)
class DiscreteStaircase(StaircaseNoise, LatticeNoise):
    """Weight bⁿ·w_r for the two points at ±(nP + r) steps, 0 ≤ r < P, and w_0 for 0.

    The weights do not increase with |x|: those of a period fall, and the last is at least b times
    the first. Then the weights of two points at most P steps apart differ by a factor of at most
    1/b, because weight(i + P) = b·weight(i). So at P steps the noise satisfies (ε, 0) for e^ε ≥
    1/b.

    Args:
        step: The step of the lattice, above 0.
        ratio: b between 0 and 1.
        runs: w over one period, from 0 to P − 1, in integer weights.

    >>> DiscreteStaircase(Fraction(1), Fraction(1, 2), (Run(0, 1, 1),)).pmf(0)
    0.3333333333333333
    """

    step: Fraction
    ratio: Fraction
    runs: tuple[Run, ...]

    stored: ClassVar = {"step": "rational", "ratio": "rational", "runs": "runs"}
    farthest = radius = math.inf  # the noise is unbounded

    def __post_init__(self) -> None:
        weights = [run.weight for run in self.runs]
        ends = [run.first + run.points for run in self.runs]
        joined = [run.first for run in self.runs] == [0, *ends[:-1]] and ends == sorted(set(ends))
        if not weights or not joined or ends[0] < 1:
            raise InvalidParameter(
                "The runs of a period must follow one another, beginning at 0",
                got=f"{len(weights)} runs that do not",
                fix="Begin each run where the one before it ends.",
            )
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "step must be greater than 0, and ratio between 0 and 1",
                got=f"step {format_exact(self.step)} and ratio {format_exact(self.ratio)}",
                fix="Use, for example, step 1 and ratio 1/2.",
            )
        falling = all(before >= after for before, after in pairwise(weights))
        if not falling or weights[-1] < self.ratio * weights[0] or weights[-1] < 1:
            raise InvalidParameter(
                "The weights of a period must not increase, and the last must be at least ratio "
                "times the first",
                got=f"{len(weights)} others",
                fix="Use weights that fall.",
            )

    def __repr__(self) -> str:
        return (
            f"DiscreteStaircase(step={format_exact(self.step)}, "
            f"period={format_exact(self.period)}, ratio={format_exact(self.ratio)})"
        )

    @cached_property
    def scheme(self) -> StaircaseScheme:
        """A place in a period and a geometric number of periods."""
        return staircase_scheme(self.runs, self.ratio)

    @property
    def steps(self) -> int:
        """The period P, in steps."""
        return self.runs[-1].first + self.runs[-1].points

    @cached_property
    def period(self) -> Fraction:  # type: ignore[override]  # computed, where Staircase stores it
        """The length of a period."""
        return self.steps * self.step

    @property
    def total(self) -> Fraction:
        """The sum of all weights: 2Σw / (1−b) − w_0."""
        return 2 * self._side - self.runs[0].weight

    def weight(self, index: int) -> Fraction:
        """Return bⁿ·w_r for |index| = nP + r."""
        periods, place = divmod(abs(index), self.steps)
        run = self.runs[bisect_right(self._firsts, place) - 1]
        return run.weight * exact_power(self.ratio, periods)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        index = upto // self.step
        return 1 - self._tail(index) if index >= 0 else self._tail(-index - 1)

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the mass of the central points; shifts are multiples of the step (Theorem 1)."""
        check_staircase_work(sensitivity / 2, self.period, 1, self._length)
        return self.central_mass(sensitivity // self.step)

    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return the likelihood ratios at the longest shift by a multiple of the step."""
        period, shift = self.steps, sensitivity // self.step
        check_periods(Fraction(shift), Fraction(period))
        places_counted = len(self.runs) * (1 + shift // period)
        check_staircase_work(Fraction(shift), Fraction(period), places_counted, self._length)

        def ratios(
            breaks: set[int], first: int, end: int, other: Callable[[int], int]
        ) -> Iterable[tuple[Fraction, Fraction]]:
            for a, b in pairwise(sorted({first, end, *(i for i in breaks if first < i < end)})):
                ratio = Fraction(self.weight(a)) / self.weight(other(a))
                yield (
                    ratio,
                    self.probability_up_to((b - 1) * self.step)
                    - self.probability_up_to((a - 1) * self.step),
                )

        starts = [run.first for run in self.runs]
        repeats = {*starts, *((s - shift) % period for s in starts)}
        beyond = ratios(repeats, 0, period, lambda i: i + shift)
        places = [n * period + s for n in range(shift // period + 2) for s in starts]
        mirrored = {shift - s + 1 for s in places}
        # The points strictly between 0 and d/2; a point at d/2 has ratio 1.
        last = max(1, (shift + 1) // 2)
        between = ratios({*places, *mirrored}, 1, last, lambda i: shift - i)
        repeated = [(ratio, mass / (1 - self.ratio)) for ratio, mass in beyond]
        return StaircaseCurve.of(shift * self.step, [*repeated, *between])

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        if probability in (0, 1):
            raise no_quantile_at_ends(probability)
        if probability <= self._tail(0):
            return -self._tail_index(probability, below=True) * self.step
        return self._tail_index(1 - probability) * self.step

    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        if confidence >= 1:
            raise no_maximum_error(confidence)
        return self._tail_index((1 - confidence) / 2)

    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly: Σ bⁿ·w_r·(nP + r)ᵖ by the binomial theorem."""
        periods = power_sums(self.ratio, Fraction(0), p)
        places = [self._place_sum(i) for i in range(p + 1)]
        terms = (math.comb(p, j) * self.steps**j * places[p - j] * periods[j] for j in range(p + 1))
        half = sum(terms, Fraction(0))
        return 2 * self.step**p * half / self.total

    @cached_property
    def drops(self) -> list[tuple[int, Fraction]]:
        """The last point of each run of a period, with the fall of the weight after it."""
        weights = [*(Fraction(run.weight) for run in self.runs), self.ratio * self.runs[0].weight]
        falls = (before - after for before, after in pairwise(weights))
        return [
            (run.first + run.points - 1, fall)
            for run, fall in zip(self.runs, falls, strict=True)
            if fall
        ]

    @cached_property
    def _weights(self) -> list[int]:
        """The weight of a period before each run, and of the whole period."""
        return [0, *accumulate(run.points * run.weight for run in self.runs)]

    @cached_property
    def _firsts(self) -> list[int]:
        return [run.first for run in self.runs]

    @property
    def _length(self) -> int:
        """The number of binary digits of the longest number among the ratio and the weights."""
        return max(count_bits(self.ratio), self._weights[-1].bit_length())

    @cached_property
    def _side(self) -> Fraction:
        """The weight of all points ≥ 0."""
        return self._weights[-1] / (1 - self.ratio)

    def _place_sum(self, p: int) -> int:
        """Return Σ w_r·rᵖ over one period."""
        if not p:
            return self._weights[-1]
        runs = ((run.first - 1, run.first + run.points - 1, run.weight) for run in self.runs)
        return sum(
            weight * (sum_of_powers(p, last) - sum_of_powers(p, max(before, 0)))
            for before, last, weight in runs
        )

    def _tail(self, index: int) -> Fraction:
        """Return P(X > index·step) for index ≥ 0."""
        periods, place = divmod(index, self.steps)
        after = self._side - self._upto(place + 1)
        return after * exact_power(self.ratio, periods) / self.total

    def _upto(self, points: int) -> int:
        """Return the weight of the first ``points`` points of a period."""
        place = max(bisect_left(self._firsts, points) - 1, 0)
        run = self.runs[place]
        return self._weights[place] + (points - run.first) * run.weight

    def _tail_index(self, tail: Fraction, *, below: bool = False) -> int:
        """Return the smallest index ≥ 0 with P(X > index·step) ≤ tail, or < tail.

        The weight of all points from period n on is bⁿ times that of one side. So the search finds
        n first, then the smallest number of points of that period that leave at most ``tail``.
        """
        level = tail * self.total
        periods = max(0, smallest_exponent(self.ratio, level / self._side, below=below) - 1)
        bits = _BITS + 2 * level.denominator.bit_length() + 2 * periods.bit_length()
        low, high = fixed_power(self.ratio, periods, bits)
        counts = {
            self._count_points(self._side - level * Fraction(1 << bits, end), below=below)
            for end in (low, high)
            if end
        }
        if len(counts) > 1 or not low:  # the enclosure of bⁿ does not decide
            needed = self._side - level / exact_power(self.ratio, periods)
            counts = {self._count_points(needed, below=below)}
        return periods * self.steps + counts.pop() - 1

    def _count_points(self, needed: Fraction, *, below: bool) -> int:
        """Return how many points of a period, at least 1, weigh ``needed`` or more."""
        weight = math.floor(needed) + 1 if below else math.ceil(needed)
        run = min(max(bisect_left(self._weights, weight) - 1, 0), len(self.runs) - 1)
        missing = weight - self._weights[run]
        points = -(-missing // self.runs[run].weight)
        return max(1, self.runs[run].first + points)
