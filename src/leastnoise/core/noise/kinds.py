"""The kinds of noise that families belong to; the kind Rounded has a file of its own."""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, floor, lcm
from typing import TypeVar

from leastnoise.core.exact import Interval, first_index, format_exact, sum_of_powers
from leastnoise.core.lattice import Run, choose_lattice, fine_step
from leastnoise.core.noise.base import LatticeNoise, LineNoise, Noise, no_quantile_at_ends
from leastnoise.core.noise.rounded import Rounded
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import LogConcaveCurve, PiecewiseCurve, Shape, StaircaseCurve
from leastnoise.core.sampling import Scheme, run_scheme
from leastnoise.errors import NotPrivate

# Binary digits of irrational parameters, and the relative amount by which they are rounded up at
# least.
PARAMETER_BITS = 96
_ROUNDING = Fraction(1, 1 << 56)


class PiecewiseNoise(LineNoise):
    """Noise on the line of piecewise constant density, with finitely many pieces and atoms."""

    @property
    @abstractmethod
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The pieces of positive density as (start, end, height), from left to right."""

    def between(self, low: Fraction, high: Fraction) -> Fraction:
        """Return P(low ≤ X < high), exactly."""
        atoms = self.atoms
        upto = self.probability_up_to(high) - atoms.get(high, Fraction(0))
        return upto - self.probability_up_to(low) + atoms.get(low, Fraction(0))

    def cell_runs(self, step: Fraction) -> tuple[Run, ...]:
        """Return the masses of ⌊X/step + 1/2⌋ in integer weights, exactly.

        All cells within one piece weigh the same. Only cells that contain a break or an atom are
        computed one by one.
        """
        half = step / 2
        places = {x for a, b, _ in self.pieces for x in (a, b)}
        indices = sorted({floor(x / step + Fraction(1, 2)) for x in (*places, *self.atoms)})
        masses = []
        for index, following in pairwise([*indices, indices[-1] + 1]):
            masses.append((index, 1, self.between(index * step - half, index * step + half)))
            if following > index + 1:
                masses.append(
                    (index + 1, following - index - 1, self._pdf((index + 1) * step) * step)
                )
        total = lcm(*(mass.denominator for _, _, mass in masses))
        return tuple(
            Run(first, points, int(mass * total)) for first, points, mass in masses if mass
        )

    def sampler(self) -> tuple[Scheme, Fraction, Fraction]:
        """Return the scheme of the noise rounded to a fine lattice."""
        step = fine_step(Fraction(self.radius) ** 2)
        return run_scheme(self.cell_runs(step)), step, Fraction(0)

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return the exact privacy curve for shifts up to ``sensitivity``."""
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
        """The largest |index| of the noise."""
        first, last = self.equal_runs[0], self.equal_runs[-1]
        return max(-first.first, last.first + last.points - 1)

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise."""
        return self.farthest * self.step

    @property
    def isolated_weight(self) -> int:
        """The total weight of points that weigh more than both neighbors."""
        return sum(
            run.weight
            for run in self.equal_runs
            if run.points == 1
            and run.weight > max(self.weight(run.first - 1), self.weight(run.first + 1))
        )

    @property
    def is_unimodal(self) -> bool:
        """Whether the noise is symmetric about 0 and never rises away from it."""
        shape = self.curve(self.step).shape  # its cell for index 0 is [0, 1)
        return shape.is_unimodal and shape.pieces[0][0] + shape.pieces[-1][1] == 1

    @property
    def excess_at_0(self) -> Fraction:
        """How much more probable 0 is than the points next to it."""
        excess = self.weight(0) - max(self.weight(1), self.weight(-1))
        return Fraction(max(0, excess), self.total)

    def __repr__(self) -> str:
        atom = f", atom={format_exact(self.excess_at_0)}" if self.excess_at_0 else ""
        points = format_exact(2 * self.farthest + 1)
        return (
            f"{type(self).__name__}(step={format_exact(self.step)}, "
            f"radius={format_exact(self.radius)}, points={points}{atom})"
        )

    def weight(self, index: int) -> int:
        """Return the weight of the point index·step."""
        place = bisect_right(self._firsts, index) - 1
        if place < 0 or index >= self.equal_runs[place].first + self.equal_runs[place].points:
            return 0
        return self.equal_runs[place].weight

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return the exact privacy curve for shifts by multiples of the step."""
        return PiecewiseCurve(Shape.of_runs(self.equal_runs, self.total, self.step, sensitivity))

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the mass of the central points of unimodal noise (Theorem 1).

        Noise and true answers lie on the lattice, so shifts are multiples of the step.
        """
        if not self.is_unimodal:
            return super().total_variation(sensitivity)  # which rejects it
        return self.central_mass(sensitivity // self.step)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return Fraction(self._upto(floor(upto / self.step)), self.total)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        rank = max(0, ceil(probability * self.total) - 1)
        place = bisect_right(self._weights_before, rank) - 1
        run = self.equal_runs[place]
        return (run.first + (rank - self._weights_before[place]) // run.weight) * self.step

    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        needed = confidence * self.total
        return first_index(
            -1, self.farthest, lambda size: self._upto(size) - self._upto(-size - 1) >= needed
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
        # Below 0 the polynomial of the sum extends it: it is 0 at −1 and at 0.
        return sum_of_powers(p, n) if n >= 0 else -((-1) ** p) * sum_of_powers(p, -n - 1)

    return upto(run.first + run.points - 1) - upto(run.first - 1)


class StaircaseNoise(Noise):
    """Unimodal noise with p(x + period) = ratio·p(x) for x ≥ 0, on the line or on a lattice."""

    period: Fraction
    ratio: Fraction
    is_unimodal = True

    @abstractmethod
    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return the exact privacy curve, from the likelihood ratios."""

    @abstractmethod
    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly."""

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self.moment(2)


class Smooth(LineNoise):
    """Noise symmetric about 0 with a log-concave density.

    Each family defines the functions below. They return enclosures in rationals, narrower than
    2^−bits of their value, so that profiles and samples can be computed to any accuracy. The
    numbers that are exact for other kinds (:meth:`probability_up_to`, :meth:`quantile`) are within
    about 2⁻¹²⁰ here.

    For a log-concave density p, the ratio p(x)/p(x − d) never rises with x. So among all sets the
    half-lines x < t distinguish two neighbors best (Neyman and Pearson). Because p falls away from
    0, the longest shift is the worst (docs/theory/profile.md).
    """

    is_unimodal = True

    @abstractmethod
    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the density at ±size, size ≥ 0."""

    @abstractmethod
    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X > size), size ≥ 0.

        A tail below 2^−250000 is only enclosed between 0 and that.
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

        For 0 < tail ≤ 1/2. Q falls and is convex. Its derivatives alternate in sign, and the size
        of each falls as ``tail`` grows. So the error of a Taylor polynomial is at most its next
        term, with the coefficient at the smallest tail of its range.
        """

    @abstractmethod
    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the t with p(x) > e^ε·p(x − shift) exactly for x < t; None if for no x.

        For shift > 0 and ε ≥ 0.
        """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """There are no atoms."""
        return {}

    def curve(self, sensitivity: Fraction) -> LogConcaveCurve:
        """Return the privacy curve for shifts up to ``sensitivity``; its values are enclosed."""
        return LogConcaveCurve(self, sensitivity)

    def discretize(self, sensitivity: Fraction) -> Rounded:
        """Return the noise, scaled from Δ to :func:`effective_steps` steps, and rounded.

        Rounding an output is post-processing, so the guarantee still holds.
        """
        step, steps = choose_lattice(sensitivity)
        return Rounded(step, self.scaled(steps * step / sensitivity))

    def sampler(self) -> tuple[Scheme, Fraction, Fraction]:
        """Return the scheme of the noise rounded to a fine lattice."""
        return Rounded(fine_step(self.variance()), self).sampler()

    def below(self, place: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X < place) = P(X ≤ place)."""
        if place < 0:
            return self.tail(-place, bits)
        return Interval.exact(1) - self.tail(place, bits)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.below(upto).middle

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, within 2⁻¹²⁰ of its size."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_quantile_at_ends(probability)
            return self.radius if probability else -self.radius
        size = self.series(min(probability, 1 - probability), 1)[0].middle
        return -size if 2 * probability < 1 else size

    def variance(self) -> Fraction:
        """Return E X²: exact if rational, otherwise a proved upper bound."""
        return self.moment(Fraction(2)).upper

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        return self.density(abs(place), 64).middle


Found = TypeVar("Found", bound=Smooth)


def widen(
    noise_of: Callable[[Fraction], Found], width: Fraction, privacy: Privacy, sensitivity: Fraction
) -> Found:
    """Return the noise of this width, rounded up until it is proved to satisfy the guarantee.

    Wider noise is more private, so a width that is rounded up by a little more than its enclosure
    is enough.
    """
    more = _ROUNDING
    for _ in range(8):
        noise = noise_of(Interval.exact(width * (1 + more)).shortened(PARAMETER_BITS).upper)
        if noise.curve(sensitivity).delta_above(privacy.epsilon)[0] <= privacy.delta:
            return noise
        more *= 16
    raise NotPrivate(
        f"{noise!r} from a theorem does not satisfy {privacy} at sensitivity "
        f"{format_exact(sensitivity)}",
        fix="Report this as a bug; use another family meanwhile.",
    )
