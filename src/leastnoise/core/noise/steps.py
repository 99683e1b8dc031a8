"""Noise with a piecewise constant density and atoms: on the line and on the lattice."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, islice, pairwise
from math import ceil, lcm
from typing import Any, ClassVar, TypeVar, cast

from leastnoise.core.exact import (
    Interval,
    Number,
    as_float,
    format_exact,
    parse_positive,
    parse_rational,
    quote,
)
from leastnoise.core.lattice import Run, choose_lattice
from leastnoise.core.noise.kinds import FiniteLatticeNoise, PiecewiseNoise
from leastnoise.core.sampling import RunScheme, run_scheme
from leastnoise.errors import InvalidParameter

Place = TypeVar("Place", bound=Number)

# The most breaks and heights.
_LONGEST = 100_000
# Breaks at multiples of Δ/n lie on a coarse lattice if n is at most this.
_COARSE = 256


@dataclass(frozen=True, init=False, repr=False)
class Steps(PiecewiseNoise):
    """Density ``heights[i]`` between ``breaks[i]`` and ``breaks[i+1]``, and atoms.

    It need not be symmetric or unimodal. All its methods but those of scipy are exact.

    Args:
        breaks: Places where the density may change, increasing.
        heights: Densities between the breaks, one fewer, none negative.
        atoms: Probabilities of single places. All probabilities sum to exactly 1. Default: none.

    Raises:
        InvalidParameter: If this is not a probability distribution.

    >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
    >>> comb.is_symmetric, comb.is_decreasing, comb.variance()
    (True, False, Fraction(5, 16))
    """

    breaks: tuple[Fraction, ...]
    heights: tuple[Fraction, ...]
    points: tuple[tuple[Fraction, Fraction], ...]

    stored: ClassVar = {"breaks": "rationals", "heights": "rationals", "points": "pairs"}

    def __init__(
        self,
        breaks: Iterable[Number],
        heights: Iterable[Number],
        atoms: Mapping[Place, Number] | None = None,
    ) -> None:
        object.__setattr__(self, "breaks", _parse_list(breaks, "breaks", "a break"))
        object.__setattr__(self, "heights", _parse_list(heights, "heights", "a height"))
        object.__setattr__(self, "points", _parse_atoms(atoms))
        _check_distribution(self.breaks, self.heights, self.points)

    @classmethod
    def restore(cls, **fields: object) -> "Steps":
        """Construct the noise from its stored fields."""
        stored = cast("dict[str, Any]", fields)
        return cls(stored["breaks"], stored["heights"], dict(stored["points"]))

    def __repr__(self) -> str:
        low, high = self.ends
        listed = ", ".join(f"{format_exact(x)}: {format_exact(m)}" for x, m in self.points[:3])
        more = ", …" if len(self.points) > 3 else ""
        atoms = f", atoms={{{listed}{more}}}" if listed else ""
        return (
            f"Steps({len(self.heights)} pieces from {format_exact(low)} to "
            f"{format_exact(high)}{atoms})"
        )

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The atoms: places of positive probability, with their probabilities."""
        return dict(self.points)

    @cached_property
    def _atoms(self) -> dict[Fraction, Fraction]:
        return dict(self.points)

    @cached_property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The pieces of positive density, as (from, to, height)."""
        spans = zip(pairwise(self.breaks), self.heights, strict=True)
        return tuple((a, b, h) for (a, b), h in spans if h)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest value the noise can take."""
        places = [x for a, b, _ in self.pieces for x in (a, b)] + [x for x, _ in self.points]
        return min(places), max(places)

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise."""
        low, high = self.ends
        return max(-low, high)

    @property
    def is_symmetric(self) -> bool:
        """Whether P(S) = P(−S) for every S."""
        return self.asymmetry() is None

    @property
    def is_decreasing(self) -> bool:
        """Whether the noise is symmetric and does not increase with |x| (GDGK19, Property 2).

        docs/theory/lemma-2.md proves that the property of the measure is one of the density.
        """
        return self.rise() is None

    @property
    def is_unimodal(self) -> bool:
        """The same as :attr:`is_decreasing`."""
        return self.is_decreasing

    def asymmetry(self) -> str | None:
        """Return where the noise differs from its mirror image, in words, or None."""
        atoms = self.atoms
        for x, mass in self.points:
            if atoms.get(-x, 0) != mass:
                where = f"at {format_exact(x)} has no equal twin at {format_exact(-x)}"
                return f"an atom of {format_exact(mass)} {where}"
        # Between neighbors in this list, the density and its mirror image are constant.
        for a, b in pairwise(sorted({*self.breaks, *(-x for x in self.breaks)})):
            middle = (a + b) / 2
            if self._pdf(middle) != self._pdf(-middle):
                return (
                    f"the density at {format_exact(middle)} is not that at {format_exact(-middle)}"
                )
        return None

    def rise(self) -> str | None:
        """Return why the noise is not symmetric and unimodal, in words, or None.

        An atom anywhere but at 0 is enough (GDGK19, Lemma 2): every point nearer to 0 would need as
        large an atom, and there are infinitely many.
        """
        skew = self.asymmetry()
        if skew is not None:
            return f"it is not symmetric: {skew}"
        for x, mass in self.points:
            if x:
                return (
                    f"it has an atom of {format_exact(mass)} at {format_exact(x)}, away from 0: "
                    "every point nearer to 0 would need one as large (GDGK19, Lemma 2)"
                )
        for edge, height in zip(self.breaks, (*self.heights, Fraction(0)), strict=False):
            if edge > 0 and height > self.pdf_before(edge):
                return f"its density rises at {format_exact(edge)}"
        return None

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return P([−Δ/2, Δ/2)) of unimodal noise (Theorem 1)."""
        why = self.rise()
        if why is not None:
            raise InvalidParameter(
                "total_variation() applies to symmetric unimodal noise",
                got=f"{self!r}; {why}",
                fix="Use Profile(noise, sensitivity=…).delta(0).",
            )
        return self.between(-sensitivity / 2, sensitivity / 2)

    def discretize(self, sensitivity: Fraction) -> "DiscreteSteps":
        """Return the lattice noise for noise that is private at ``sensitivity``.

        The noise is scaled from Δ to :func:`effective_steps` steps and rounded, which is
        post-processing. If the breaks lie on a coarse lattice of their own, the noise is scaled by
        a few parts in ten thousand more, so that the breaks are ends of cells. Then there are few
        different weights and few shifts to check.
        """
        step, steps = choose_lattice(sensitivity)
        parts = lcm(*((x / sensitivity).denominator for x in self.breaks))
        if parts <= _COARSE:
            # Half steps per part; odd, so that the breaks are ends of cells.
            halves = ceil(Fraction(2 * steps, parts)) | 1
            return self.scaled(halves * parts * step / (2 * sensitivity)).rounded(step)
        return self.scaled(steps * step / sensitivity).rounded(step)

    def rounded(self, step: Fraction) -> "DiscreteSteps":
        """Return the distribution of ⌊X/step + 1/2⌋ steps, exactly."""
        return DiscreteSteps(step, self.cell_runs(step))

    def scaled(self, factor: Number) -> "Steps":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        by = parse_positive(factor, "factor")
        return Steps(
            [by * x for x in self.breaks],
            [h / by for h in self.heights],
            {by * x: m for x, m in self.points},
        )

    def pdf_before(self, place: Fraction) -> Fraction:
        """Return the density just left of a place, exactly."""
        piece = bisect_left(self.breaks, place) - 1
        return self.heights[piece] if 0 <= piece < len(self.heights) else Fraction(0)

    def mean(self) -> float:
        """Return E X."""
        return as_float(self.first_moment())

    def first_moment(self) -> Fraction:
        """Return E X, exactly."""
        spread = sum((h * (b * b - a * a) / 2 for a, b, h in self.pieces), Fraction(0))
        return spread + sum(x * m for x, m in self.points)

    def variance(self) -> Fraction:
        """Return E (X − E X)², exactly."""
        spread = sum((h * (b**3 - a**3) / 3 for a, b, h in self.pieces), Fraction(0))
        return spread + sum(x * x * m for x, m in self.points) - self.first_moment() ** 2

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest value the noise can take."""
        low, high = self.ends
        return as_float(low), as_float(high)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        piece = bisect_right(self.breaks, upto) - 1
        spread = Fraction(0)
        if piece >= 0:
            spread = self._spread[piece]
            if piece < len(self.heights):
                spread += self.heights[piece] * (upto - self.breaks[piece])
        return spread + sum(m for x, m in self.points if x <= upto)

    def between(self, low: Fraction, high: Fraction) -> Fraction:
        """Return P(low ≤ X < high), exactly."""
        upto = self.probability_up_to(high) - self._atoms.get(high, Fraction(0))
        return upto - self.probability_up_to(low) + self._atoms.get(low, Fraction(0))

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability, exactly."""
        if probability <= 0:
            return self.ends[0]
        places = sorted({*self.breaks, *(x for x, _ in self.points)})
        place = places[bisect_left(places, probability, key=self.probability_up_to)]
        # The density before this place may reach the level already.
        height = self.pdf_before(place)
        excess = self.probability_up_to(place) - self._atoms.get(place, Fraction(0)) - probability
        return place - excess / height if height and excess >= 0 else place

    @cached_property
    def known_costs(self) -> dict[object, Interval]:
        """A cache of expected costs, because solvers need them repeatedly."""
        return {}

    @cached_property
    def _spread(self) -> list[Fraction]:
        """The mass of the density up to each break."""
        spans = zip(pairwise(self.breaks), self.heights, strict=True)
        return [*accumulate((h * (b - a) for (a, b), h in spans), initial=Fraction(0))]

    def _pdf(self, place: Fraction | float) -> Fraction:
        piece = bisect_right(self.breaks, place) - 1
        return self.heights[piece] if 0 <= piece < len(self.heights) else Fraction(0)


@dataclass(frozen=True, repr=False)
class DiscreteSteps(FiniteLatticeNoise):
    """Runs of lattice points of equal weight, from left to right without overlap.

    :meth:`Steps.rounded` returns it. One uniform integer samples it.
    """

    step: Fraction
    runs: tuple[Run, ...]

    stored: ClassVar = {"step": "rational", "runs": "runs"}

    def __post_init__(self) -> None:
        ends = [run.first + run.points for run in self.runs]
        apart = all(end <= run.first for end, run in zip(ends, self.runs[1:], strict=False))
        if not (self.runs and apart and self.step > 0) or any(
            run.points < 1 or run.weight < 1 for run in self.runs
        ):
            raise InvalidParameter(
                "DiscreteSteps needs a positive step, and runs of positive weight from left to "
                "right",
                got=f"{len(self.runs)} runs and step {format_exact(self.step)}",
                fix="Sort the runs, without overlap.",
            )

    @cached_property
    def scheme(self) -> RunScheme:
        """Inversion of the runs."""
        return run_scheme(self.runs)

    @property
    def equal_runs(self) -> tuple[Run, ...]:
        """The same as :attr:`runs`."""
        return self.runs


def _parse_list(numbers: Iterable[Number], name: str, entry: str) -> tuple[Fraction, ...]:
    """Return a list of numbers, exactly; ``entry`` is the name of one number in messages."""
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        raise InvalidParameter(
            f"{name} must be a list of numbers",
            got=quote(numbers),
            fix="Use, for example, [-1, 1].",
        )
    exact = tuple(parse_rational(number, entry) for number in islice(numbers, _LONGEST + 1))
    if len(exact) > _LONGEST:
        raise InvalidParameter(
            f"{name} must be a list of at most {_LONGEST} numbers",
            got="a longer one",
            fix="Use a coarser distribution.",
        )
    return exact


def _parse_atoms(atoms: Mapping[Place, Number] | None) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the atoms of positive probability by place, exactly."""
    if not isinstance(atoms, Mapping | None):
        raise InvalidParameter(
            "atoms must be a dictionary from places to probabilities",
            got=quote(atoms),
            fix="Use, for example, {0: '0.25'}.",
        )
    exact: dict[Fraction, Fraction] = {}
    for place, mass in (atoms or {}).items():
        where = parse_rational(place, "the place of an atom")
        weight = parse_rational(mass, "an atom")
        if not 0 <= weight <= 1:
            raise InvalidParameter(
                "An atom must be a probability",
                got=f"{quote(mass)} at {format_exact(where)}",
                fix="Use a number from 0 to 1.",
            )
        if where in exact:
            raise InvalidParameter(
                "atoms must have different places",
                got=f"two at {format_exact(where)}",
                fix="Add their probabilities.",
            )
        exact[where] = weight
    return tuple(sorted((x, m) for x, m in exact.items() if m))


def _check_distribution(
    breaks: tuple[Fraction, ...],
    heights: tuple[Fraction, ...],
    points: tuple[tuple[Fraction, Fraction], ...],
) -> None:
    """Reject breaks, heights and atoms that are not a probability distribution."""
    if len(breaks) != len(heights) + 1 and (breaks or heights):
        raise InvalidParameter(
            "breaks must be one more than heights",
            got=f"{len(breaks)} breaks and {len(heights)} heights",
            fix="Include both ends of every piece.",
        )
    for before, after in pairwise(breaks):
        if after <= before:
            how = "repeated" if after == before else "not in order"
            raise InvalidParameter(
                "breaks must increase",
                got=f"{format_exact(after)} after {format_exact(before)}, which is {how}",
                fix="Sort them and remove repetitions.",
            )
    for (a, b), height in zip(pairwise(breaks), heights, strict=True):
        if height < 0:
            raise InvalidParameter(
                "heights must be 0 or more",
                got=f"{format_exact(height)} between {format_exact(a)} and {format_exact(b)}",
                fix="Use the density on each piece.",
            )
    total = sum(
        (h * (b - a) for (a, b), h in zip(pairwise(breaks), heights, strict=True)), Fraction(0)
    ) + sum(m for _, m in points)
    if total != 1:
        raise InvalidParameter(
            "The probabilities of a distribution must sum to exactly 1",
            got=format_exact(total),
            fix="Write thirds as '1/3', because 0.333 is a different number.",
        )
