"""Staircase noise, on the line and on the lattice."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, floor
from typing import ClassVar

from leastnoise.core.exact import (
    Number,
    exact_power,
    falls_to,
    fixed_power,
    format_exact,
    parse_positive,
    parse_rational,
    power_sums,
    quote,
    sum_of_powers,
)
from leastnoise.core.lattice import Run, lattice_for
from leastnoise.core.noise.base import LatticeNoise, LineNoise, no_bound, no_ends
from leastnoise.core.noise.kinds import StaircaseNoise
from leastnoise.core.profile import StaircaseCurve, check_periods, check_staircase_work
from leastnoise.core.sampling import StaircaseScheme, staircase_scheme
from leastnoise.errors import InvalidParameter

_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class Stairs:
    """The parameters of a density that falls by one factor once in each period."""

    period: Fraction
    gamma: Fraction
    ratio: Fraction

    radius = math.inf  # the noise is unbounded

    def __init__(self, period: Number, gamma: Number, ratio: Number) -> None:
        share, fall = parse_rational(gamma, "γ"), parse_rational(ratio, "ratio")
        if not 0 <= share <= 1:
            raise InvalidParameter(
                "γ must lie between 0 and 1",
                got=quote(gamma),
                fix="Give the share of a period before the density falls.",
            )
        if not 0 < fall < 1:
            raise InvalidParameter(
                "ratio must lie between 0 and 1",
                got=quote(ratio),
                fix="Give the factor by which the density falls, a little above e^−ε.",
            )
        object.__setattr__(self, "period", parse_positive(period, "period"))
        object.__setattr__(self, "gamma", share)
        object.__setattr__(self, "ratio", fall)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(period={format_exact(self.period)}, "
            f"gamma={format_exact(self.gamma)}, ratio={format_exact(self.ratio)})"
        )


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Stairs, StaircaseNoise, LineNoise):
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

    stored: ClassVar = {"period": "rational", "gamma": "rational", "ratio": "rational"}

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    @property
    def height(self) -> Fraction:
        """The density a at 0, or beside it where γ is 0."""
        fall = self.ratio
        return (1 - fall) / (2 * self.period * (self.gamma + fall * (1 - self.gamma)))

    def scaled(self, factor: Number) -> "Staircase":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        return Staircase(parse_positive(factor, "factor") * self.period, self.gamma, self.ratio)

    def discretize(self, sensitivity: Fraction) -> "DiscreteStaircase":
        """Return the lattice noise for a staircase that is private at ``sensitivity``.

        Stretched to whole steps, and one more than Δ, its periods end on lattice points. There the
        density does not fall, and where it falls is moved to the nearest end of a cell: then every
        cell is level, and rounding gives weight 1 to the first points of a period and b to the
        others. The cell at 0 keeps the height that it has; so a fall nearer to 0 than half a step
        leaves a point that stands out. γ = 0 and γ = 1 are the same noise.
        """
        step, protected = lattice_for(sensitivity)
        period = ceil(self.period / sensitivity * protected)
        edge = min(max(1, floor((self.gamma or 1) * period + 1)), period)
        high, low = self.ratio.denominator, self.ratio.numerator
        runs = [Run(0, edge, high), Run(edge, period - edge, low)]
        return DiscreteStaircase(step, self.ratio, tuple(run for run in runs if run.points))

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return P([−Δ/2, Δ/2)) (Theorem 1)."""
        check_staircase_work(sensitivity / 2, self.period, 1, _digits(self.ratio, self.gamma))
        return self.mass(sensitivity / 2) - self.mass(-sensitivity / 2)

    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return the likelihood ratios at the longest shift.

        The density is a·bⁿ after n falls, and these are at (n + γ)Δ: between two places where a
        fall of p or of p shifted lies, the ratio is one power of 1/b.
        """
        period, move, first = self.period, sensitivity, self.gamma * self.period
        check_periods(move, period)
        falls_counted = 1 + int(move / period)
        check_staircase_work(move, period, falls_counted, _digits(self.ratio, self.gamma))

        def falls(size: Fraction) -> int:
            return floor(size / period - self.gamma) + 1

        def ratios(
            breaks: set[Fraction], end: Fraction, other: Callable[[Fraction], Fraction]
        ) -> Iterable[tuple[Fraction, Fraction]]:
            cuts = sorted({Fraction(0), end, *(x for x in breaks if 0 < x < end)})
            for a, b in pairwise(cuts):
                middle = (a + b) / 2
                more = falls(other(middle)) - falls(middle)
                yield self.ratio**-more, self.mass(b) - self.mass(a)

        # On the far side of 0, x = −y, the ratios repeat with the period; all further periods
        # together hold b times as much in each.
        beyond = ratios({first, (first - move) % period}, period, lambda y: y + move)
        places = [first + n * period for n in range(ceil(move / period) + 1)]
        between = ratios({*places, *(move - x for x in places)}, move / 2, lambda x: move - x)
        repeated = [(ratio, mass / (1 - self.ratio)) for ratio, mass in beyond]
        return StaircaseCurve.of(move, [*repeated, *between])

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

    def moment(self, p: int) -> Fraction:
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


@dataclass(frozen=True, repr=False)
class DiscreteStaircase(StaircaseNoise, LatticeNoise):
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

    stored: ClassVar = {"step": "rational", "ratio": "rational", "runs": "runs"}
    farthest = radius = math.inf  # the noise is unbounded

    def __post_init__(self) -> None:
        weights = [run.weight for run in self.runs]
        ends = [run.first + run.points for run in self.runs]
        joined = [run.first for run in self.runs] == [0, *ends[:-1]] and ends == sorted(set(ends))
        if not weights or not joined or ends[0] < 1:
            raise InvalidParameter(
                "the runs of a period must follow one another from 0",
                got=f"{len(weights)} that do not",
                fix="Give each where the one before it ends.",
            )
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "a staircase needs a step above 0 and a ratio between 0 and 1",
                got=f"{format_exact(self.step)} and {format_exact(self.ratio)}",
                fix="Give such numbers.",
            )
        falling = all(before >= after for before, after in pairwise(weights))
        if not falling or weights[-1] < self.ratio * weights[0] or weights[-1] < 1:
            raise InvalidParameter(
                "the weights of a period must never rise, and the last must be at least the ratio "
                "times the first",
                got=f"{len(weights)} that break this",
                fix="Give weights that fall.",
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
        """All weights together: 2Σw / (1−b) − w_0."""
        return 2 * self._side - self.runs[0].weight

    def weight(self, index: int) -> Fraction:
        """Return bⁿ·w_r for |index| = nP + r."""
        periods, place = divmod(abs(index), self.steps)
        run = self.runs[bisect_right(self._firsts, place) - 1]
        return run.weight * exact_power(self.ratio, periods)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        index = upto // self.step
        return 1 - self._tail(index) if index >= 0 else self._tail(-index - 1)

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the mass of the points in the middle; shifts are whole steps (Theorem 1)."""
        check_staircase_work(sensitivity / 2, self.period, 1, self._length)
        return self.central(sensitivity // self.step)

    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return the likelihood ratios at the longest shift by whole steps."""
        period, move = self.steps, sensitivity // self.step
        check_periods(Fraction(move), Fraction(period))
        places_counted = len(self.runs) * (1 + move // period)
        check_staircase_work(Fraction(move), Fraction(period), places_counted, self._length)

        def ratios(
            breaks: set[int], first: int, end: int, other: Callable[[int], int]
        ) -> Iterable[tuple[Fraction, Fraction]]:
            for a, b in pairwise(sorted({first, end, *(i for i in breaks if first < i < end)})):
                ratio = Fraction(self.weight(a)) / self.weight(other(a))
                yield ratio, self.mass((b - 1) * self.step) - self.mass((a - 1) * self.step)

        starts = [run.first for run in self.runs]
        repeats = {*starts, *((s - move) % period for s in starts)}
        beyond = ratios(repeats, 0, period, lambda i: i + move)
        places = [n * period + s for n in range(move // period + 2) for s in starts]
        mirrored = {move - s + 1 for s in places}
        # Among the points strictly between 0 and d/2; that at d/2 has ratio 1.
        last = max(1, (move + 1) // 2)
        between = ratios({*places, *mirrored}, 1, last, lambda i: move - i)
        repeated = [(ratio, mass / (1 - self.ratio)) for ratio, mass in beyond]
        return StaircaseCurve.of(move * self.step, [*repeated, *between])

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
            raise no_bound(confidence)
        return self._exceeded((1 - confidence) / 2)

    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly: Σ bⁿ·w_r·(nP + r)ᵖ by the binomial theorem."""
        periods = power_sums(self.ratio, Fraction(0), p)
        places = [self._place_sum(i) for i in range(p + 1)]
        terms = (math.comb(p, j) * self.steps**j * places[p - j] * periods[j] for j in range(p + 1))
        half = sum(terms, Fraction(0))
        return 2 * self.step**p * half / self.total

    @cached_property
    def drops(self) -> list[tuple[int, Fraction]]:
        """The last point of each run of a period and by how much the weight falls after it."""
        weights = [*(Fraction(run.weight) for run in self.runs), self.ratio * self.runs[0].weight]
        falls = (before - after for before, after in pairwise(weights))
        return [
            (run.first + run.points - 1, fall)
            for run, fall in zip(self.runs, falls, strict=True)
            if fall
        ]

    @cached_property
    def _weights(self) -> list[int]:
        """The weight of the points of a period before each run, and of all of them."""
        return [0, *accumulate(run.points * run.weight for run in self.runs)]

    @cached_property
    def _firsts(self) -> list[int]:
        return [run.first for run in self.runs]

    @property
    def _length(self) -> int:
        """The binary digits of the longest of the ratio and the weights."""
        return max(_digits(self.ratio), self._weights[-1].bit_length())

    @cached_property
    def _side(self) -> Fraction:
        """The weight of all points from 0 on to one side."""
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
        """Return the weight of the first points of a period."""
        place = max(bisect_left(self._firsts, points) - 1, 0)
        run = self.runs[place]
        return self._weights[place] + (points - run.first) * run.weight

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


def _digits(*numbers: Fraction) -> int:
    """Return the binary digits of the longest of these numbers."""
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers)
