"""The kinds of noise that families belong to; the kind Rounded has a file of its own."""

from abc import abstractmethod
from bisect import bisect_right
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, floor

from leastnoise.core.exact import Interval, first_index, format_exact, sum_of_powers
from leastnoise.core.lattice import Run, lattice_for
from leastnoise.core.noise.base import LatticeNoise, LineNoise, Noise, no_ends
from leastnoise.core.noise.rounded import Rounded
from leastnoise.core.profile import LogConcaveCurve, PiecewiseCurve, Shape, StaircaseCurve


class PiecewiseNoise(LineNoise):
    """Noise on the line of piecewise constant density, with finitely many pieces and atoms."""

    @property
    @abstractmethod
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The pieces of positive density as (start, end, height), rising, without overlap."""

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return how private the noise is against shifts up to ``sensitivity``: exactly."""
        atoms = sum(self.atoms.values(), Fraction(0))
        return PiecewiseCurve(Shape.of_pieces(self.pieces, atoms, sensitivity))

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return P([−Δ/2, Δ/2)) of unimodal noise (Theorem 1), whose only atom is at 0."""
        if not self.is_unimodal:
            return super().total_variation(sensitivity)  # which rejects it
        half = sensitivity / 2
        inside = ((min(b, half) - max(a, -half), h) for a, b, h in self.pieces)
        spread = sum((h * length for length, h in inside if length > 0), Fraction(0))
        return spread + sum(self.atoms.values(), Fraction(0))


class FiniteLatticeNoise(LatticeNoise):
    """Lattice noise with finitely many points of integer weight: one uniform integer samples it.

    The probability of the point index·step is ``weight(index)`` of ``total``.
    """

    @property
    @abstractmethod
    def equal_runs(self) -> tuple[Run, ...]:
        """The points of positive weight from left to right, in runs of equal weight."""

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self._weights_before[-1]

    @property
    def farthest(self) -> int:
        """The largest size of an index the noise can have."""
        first, last = self.equal_runs[0], self.equal_runs[-1]
        return max(-first.first, last.first + last.points - 1)

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise."""
        return self.farthest * self.step

    @property
    def isolated_weight(self) -> int:
        """The weight of single points that weigh more than both their neighbors."""
        return sum(
            run.weight
            for run in self.equal_runs
            if run.points == 1
            and run.weight > max(self.weight(run.first - 1), self.weight(run.first + 1))
        )

    @property
    def is_unimodal(self) -> bool:
        """Whether the noise is symmetric about 0 and never rises away from it."""
        shape = self.curve(self.step).shape  # in which 0 is spread from 0 to 1
        return shape.falls and shape.pieces[0][0] + shape.pieces[-1][1] == 1

    def __repr__(self) -> str:
        excess = max(0, self.weight(0) - max(self.weight(1), self.weight(-1)))
        odd = f", atom={format_exact(Fraction(excess, self.total))}" if excess else ""
        points = format_exact(2 * self.farthest + 1)
        return (
            f"{type(self).__name__}(step={format_exact(self.step)}, "
            f"radius={format_exact(self.radius)}, points={points}{odd})"
        )

    def weight(self, index: int) -> int:
        """Return the weight of the point index·step."""
        place = bisect_right(self._firsts, index) - 1
        if place < 0 or index >= self.equal_runs[place].first + self.equal_runs[place].points:
            return 0
        return self.equal_runs[place].weight

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return how private the noise is against shifts by whole steps: exactly."""
        return PiecewiseCurve(Shape.of_runs(self.equal_runs, self.total, self.step, sensitivity))

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the distance of unimodal noise from itself shifted by up to Δ (Theorem 1).

        The noise lives on the lattice and so do the true answers: shifts are whole steps.
        """
        if not self.is_unimodal:
            return super().total_variation(sensitivity)  # which rejects it
        return self.central(sensitivity // self.step)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return Fraction(self._upto(floor(upto / self.step)), self.total)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        rank = max(0, ceil(probability * self.total) - 1)
        place = bisect_right(self._weights_before, rank) - 1
        run = self.equal_runs[place]
        return (run.first + (rank - self._weights_before[place]) // run.weight) * self.step

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        wanted = confidence * self.total
        return first_index(
            -1, self.farthest, lambda size: self._upto(size) - self._upto(-size - 1) >= wanted
        )

    def moment(self, p: int) -> Fraction:
        """Return E Xᵖ for p ≥ 1, exactly."""
        sums = sum(run.weight * _power_sum(run, p) for run in self.equal_runs)
        return self.step**p * Fraction(sums, self.total)

    def variance(self) -> Fraction:
        """Return E (X − E X)², exactly."""
        return self.moment(2) - self.moment(1) ** 2

    @cached_property
    def _weights_before(self) -> list[int]:
        """The sums of weights before each run, and the total."""
        return [*accumulate((run.points * run.weight for run in self.equal_runs), initial=0)]

    @cached_property
    def _firsts(self) -> list[int]:
        return [run.first for run in self.equal_runs]

    def _upto(self, index: int) -> int:
        """Return the weight of all points up to an index."""
        place = bisect_right(self._firsts, index) - 1
        if place < 0:
            return 0
        run = self.equal_runs[place]
        return self._weights_before[place] + min(index - run.first + 1, run.points) * run.weight


def _power_sum(run: Run, p: int) -> int:
    """Return the sum of jᵖ over a run."""

    def upto(n: int) -> int:
        # Below 0 the polynomial of the sum continues it downwards: it is 0 at −1 and at 0.
        return sum_of_powers(p, n) if n >= 0 else -((-1) ** p) * sum_of_powers(p, -n - 1)

    return upto(run.first + run.points - 1) - upto(run.first - 1)


class StaircaseNoise(Noise):
    """Unimodal noise, p(x + period) = ratio·p(x) for x ≥ 0: on the line or on a lattice."""

    period: Fraction
    ratio: Fraction
    is_unimodal = True

    @abstractmethod
    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return how private the noise is: exactly, by its likelihood ratios."""

    @abstractmethod
    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly."""

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self.moment(2)


class Smooth(LineNoise):
    """Noise symmetric about 0 with a log-concave density: it falls ever faster away from 0.

    Each family states the functions below. All of them are enclosures in rationals, narrower than
    2^−bits of their value, so that profiles and samples can be computed to any accuracy. Numbers
    that are exact for other kinds (:meth:`mass`, :meth:`quantile`) are within about 2⁻¹²⁰ here.

    Log-concave means that p(x)/p(x − d) never rises with x: so of all sets the half-lines x < t
    distinguish two neighbors best (Neyman and Pearson), and since p falls away from 0 the longest
    shift is the worst (docs/theory/profile.md).
    """

    is_unimodal = True

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
    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the t with p(x) > e^ε·p(x − shift) exactly for x < t; None if for no x.

        For shift > 0 and ε ≥ 0.
        """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    def curve(self, sensitivity: Fraction) -> LogConcaveCurve:
        """Return how private the noise is against shifts up to ``sensitivity``: enclosed."""
        return LogConcaveCurve(self, sensitivity)

    def discretize(self, sensitivity: Fraction) -> Rounded:
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
