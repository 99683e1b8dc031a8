"""Noise of a density in steps, on the line and on the lattice.

Any piecewise constant density with finitely many atoms: the laws one can write down.

A piecewise constant law on a lattice, in whole weights: what a rounded Steps is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, islice, pairwise
from math import floor
from typing import Any

from leastnoise.core.exact import (
    Interval,
    Number,
    as_float,
    format_exact,
    parse_positive,
    parse_rational,
    quote,
)
from leastnoise.core.noise.base import FiniteLatticeNoise, Noise, Run
from leastnoise.core.noise.scipy_api import evaluate
from leastnoise.errors import InvalidParameter

# A law of more pieces is better given as cells of a lattice.
_LONGEST = 100_000


@dataclass(frozen=True, init=False, repr=False)
class Steps(Noise):
    """Density ``heights[i]`` between ``breaks[i]`` and ``breaks[i+1]``, and atoms.

    Symmetric or not, decreasing or not. Everything about it is exact.

    Args:
        breaks: The places where the density may change, rising.
        heights: The density between them, one number fewer; none is negative.
        atoms: Places with a probability of their own. All masses add up to exactly 1.

    >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
    >>> comb.is_symmetric, comb.is_decreasing, comb.variance()
    (True, False, Fraction(5, 16))
    """

    breaks: tuple[Fraction, ...]
    heights: tuple[Fraction, ...]
    points: tuple[tuple[Fraction, Fraction], ...]

    def __init__(
        self,
        breaks: Iterable[Number],
        heights: Iterable[Number],
        atoms: Mapping[Any, Number] | None = None,
    ) -> None:
        """Read everything exactly and refuse what is no probability law."""
        object.__setattr__(self, "breaks", _listed(breaks, "breaks", "a break"))
        object.__setattr__(self, "heights", _listed(heights, "heights", "a height"))
        object.__setattr__(self, "points", _atoms(atoms))
        _check(self.breaks, self.heights, self.points)

    def __repr__(self) -> str:
        """Print the law by its number of pieces, its support and its atoms."""
        low, high = self.ends
        odd = ", ".join(f"{format_exact(x)}: {format_exact(m)}" for x, m in self.points[:3])
        more = ", …" if len(self.points) > 3 else ""
        held = f", atoms={{{odd}{more}}}" if odd else ""
        return (
            f"Steps({len(self.heights)} pieces from {format_exact(low)} to "
            f"{format_exact(high)}{held})"
        )

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own."""
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
        """The smallest and the largest place that noise can take."""
        places = [x for a, b, _ in self.pieces for x in (a, b)] + [x for x, _ in self.points]
        return min(places), max(places)

    @property
    def radius(self) -> Fraction:
        """The largest size this noise can have."""
        low, high = self.ends
        return max(-low, high)

    @property
    def is_symmetric(self) -> bool:
        """Whether P(S) = P(−S) for every S."""
        return self.asymmetry() is None

    @property
    def is_decreasing(self) -> bool:
        """Whether it is symmetric and never rises away from 0 (GDGK19, Property 2)."""
        return self.rise() is None

    def asymmetry(self) -> str | None:
        """Say where the law differs from its mirror image, or return None."""
        atoms = self.atoms
        for x, mass in self.points:
            if atoms.get(-x, 0) != mass:
                where = f"at {format_exact(x)} has no equal twin at {format_exact(-x)}"
                return f"an atom of {format_exact(mass)} {where}"
        # Between neighbouring places of this list both the density and its mirror image are level.
        for a, b in pairwise(sorted({*self.breaks, *(-x for x in self.breaks)})):
            middle = (a + b) / 2
            if self._pdf(middle) != self._pdf(-middle):
                return (
                    f"the density at {format_exact(middle)} is not that at {format_exact(-middle)}"
                )
        return None

    def rise(self) -> str | None:
        """Say why the law is not symmetric and decreasing, or return None.

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
                    "every point "
                    "nearer to 0 would need as large a one (GDGK19, Lemma 2)"
                )
        for edge, height in self._right_of_each_break():
            if edge > 0 and height > self.pdf_before(edge):
                return f"its density rises at {format_exact(edge)}"
        return None

    def scaled(self, factor: Number) -> Steps:
        """Return the law of ``factor`` times this noise, factor > 0."""
        by = parse_positive(factor, "factor")
        return Steps(
            [by * x for x in self.breaks],
            [h / by for h in self.heights],
            {by * x: m for x, m in self.points},
        )

    def pdf(self, x: Any) -> Any:
        """Return the density, that on the right where it jumps; atoms are in :attr:`atoms`."""
        return evaluate(x, self._pdf, lambda places: self._each(places, self._pdf))

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

    def mass(self, upto: Fraction) -> Fraction:
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
        upto = self.mass(high) - self._atoms.get(high, Fraction(0))
        return upto - self.mass(low) + self._atoms.get(low, Fraction(0))

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability, exactly."""
        if probability <= 0:
            return self.ends[0]
        places = sorted({*self.breaks, *(x for x, _ in self.points)})
        place = places[bisect_left(places, probability, key=self.mass)]
        # The density before this place may reach the level already.
        height = self.pdf_before(place)
        excess = self.mass(place) - self.atoms.get(place, Fraction(0)) - probability
        return place - excess / height if height and excess >= 0 else place

    @cached_property
    def _costs(self) -> dict[object, Interval]:
        return {}

    @cached_property
    def _spread(self) -> list[Fraction]:
        """The mass of the density up to each break."""
        masses = (
            h * (b - a) for (a, b), h in zip(pairwise(self.breaks), self.heights, strict=True)
        )
        return [*accumulate(masses, initial=Fraction(0))]

    def _right_of_each_break(self) -> list[tuple[Fraction, Fraction]]:
        return [*zip(self.breaks, (*self.heights, Fraction(0)), strict=False)]

    def _pdf(self, place: Fraction | float) -> Fraction:
        piece = bisect_right(self.breaks, place) - 1
        return self.heights[piece] if 0 <= piece < len(self.heights) else Fraction(0)

    def _masses(self, places: Any) -> Any:
        return self._each(places, self._cdf)

    def _quantiles(self, probabilities: Any) -> Any:
        return self._each(probabilities, self.quantile)


def _listed(numbers: Iterable[Number], name: str, each: str) -> tuple[Fraction, ...]:
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        raise InvalidParameter(
            f"{name} must be a list of numbers; got {quote(numbers)}. Give for instance [-1, 1]."
        )
    read = tuple(parse_rational(number, each) for number in islice(numbers, _LONGEST + 1))
    if len(read) > _LONGEST:
        raise InvalidParameter(
            f"there can be at most {_LONGEST} {name}; got more. Give a coarser law."
        )
    return read


def _atoms(atoms: Mapping[Any, Number] | None) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(atoms, Mapping | None):
        raise InvalidParameter(
            f"atoms must be a dictionary from places to probabilities; got {quote(atoms)}. "
            "Give for instance {0: '0.25'}."
        )
    read: dict[Fraction, Fraction] = {}
    for place, mass in (atoms or {}).items():
        where, weight = (
            parse_rational(place, "the place of an atom"),
            parse_rational(mass, "an atom"),
        )
        if not 0 <= weight <= 1:
            raise InvalidParameter(
                f"an atom must be a probability; got {quote(mass)} at {format_exact(where)}. "
                "Give a number from 0 to 1."
            )
        if where in read:
            raise InvalidParameter(
                f"each place can have one atom; got two at {format_exact(where)}. Add them up."
            )
        read[where] = weight
    return tuple(sorted((x, m) for x, m in read.items() if m))


def _check(
    breaks: tuple[Fraction, ...],
    heights: tuple[Fraction, ...],
    points: tuple[tuple[Fraction, Fraction], ...],
) -> None:
    """Refuse breaks, heights and atoms that do not make a probability law, naming which."""
    if len(breaks) != len(heights) + 1 and (breaks or heights):
        raise InvalidParameter(
            "there must be one break more than heights; "
            f"got {len(breaks)} breaks and {len(heights)} heights. Give both ends of every piece."
        )
    for before, after in pairwise(breaks):
        if after <= before:
            how = "repeated" if after == before else "not in order"
            raise InvalidParameter(
                f"breaks must rise; got {format_exact(after)} after {format_exact(before)}, which "
                f"is {how}. "
                "Sort them and give each once."
            )
    for (a, b), height in zip(pairwise(breaks), heights, strict=True):
        if height < 0:
            raise InvalidParameter(
                f"a density must not be negative; got {format_exact(height)} between "
                f"{format_exact(a)} and "
                f"{format_exact(b)}. Give heights of at least 0."
            )
    total = sum(
        (h * (b - a) for (a, b), h in zip(pairwise(breaks), heights, strict=True)), Fraction(0)
    ) + sum(m for _, m in points)
    if total != 1:
        raise InvalidParameter(
            f"the masses of a law must add up to exactly 1; got {format_exact(total)}. "
            "Write thirds as '1/3', for 0.333 is another number."
        )


@dataclass(frozen=True, repr=False)
class DiscreteSteps(FiniteLatticeNoise):
    """Runs of lattice points of equal weight, from left to right without overlap.

    Made by rounding a :class:`~leastnoise.core.noise.Steps` to a lattice; drawn by one ticket.
    """

    step: Fraction
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        """Refuse what is no law: nothing is drawn from, or proved of, weights that are not."""
        ends = [run.first + run.points for run in self.runs]
        apart = all(end <= run.first for end, run in zip(ends, self.runs[1:], strict=False))
        if not (self.runs and apart and self.step > 0) or any(
            run.points < 1 or run.weight < 1 for run in self.runs
        ):
            raise InvalidParameter(
                "a law on a lattice must have runs of positive weights from left to right, and a "
                f"positive step; got {len(self.runs)} runs that are not. Give such runs."
            )

    @property
    def total(self) -> int:
        """The number of tickets: all weights together."""
        return self._tickets[-1]

    @property
    def farthest(self) -> int:
        """The largest size of an index the noise can have."""
        last = self.runs[-1]
        return max(-self.runs[0].first, last.first + last.points - 1)

    @property
    def isolated_weight(self) -> int:
        """The tickets of single points that weigh more than both their neighbours."""
        return sum(
            run.weight
            for run in self.runs
            if run.points == 1
            and run.weight > max(self.weight(run.first - 1), self.weight(run.first + 1))
        )

    def weight(self, index: int) -> int:
        """Return the tickets that the point index·step holds."""
        place = bisect_right(self._firsts, index) - 1
        if place < 0 or index >= self.runs[place].first + self.runs[place].points:
            return 0
        return self.runs[place].weight

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket: the tickets lie in the order of the points."""
        place = bisect_right(self._tickets, ticket)
        before = self._tickets[place - 1] if place else 0
        return self.runs[place].first + (ticket - before) // self.runs[place].weight

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return Fraction(self._upto(floor(upto / self.step)), self.total)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        tickets = probability * self.total
        ticket = max(0, -(-tickets.numerator // tickets.denominator) - 1)
        return self.index_of(ticket) * self.step

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        low, high = -1, self.farthest
        while high - low > 1:
            middle = (low + high) // 2
            inside = self._upto(middle) - self._upto(-middle - 1)
            if inside >= confidence * self.total:
                high = middle
            else:
                low = middle
        return high

    def moment(self, p: int) -> Fraction:
        """Return E Xᵖ for p = 1 or 2, exactly."""
        sums = sum(run.weight * _powers(run, p) for run in self.runs)
        return self.step**p * Fraction(sums, self.total)

    def variance(self) -> Fraction:
        """Return E (X − E X)², exactly."""
        return self.moment(2) - self.moment(1) ** 2

    @cached_property
    def _tickets(self) -> list[int]:
        return [*accumulate(run.points * run.weight for run in self.runs)]

    @cached_property
    def _firsts(self) -> list[int]:
        return [run.first for run in self.runs]

    def _upto(self, index: int) -> int:
        """Return the tickets of all points up to an index."""
        place = bisect_right(self._firsts, index) - 1
        if place < 0:
            return 0
        run, before = self.runs[place], self._tickets[place - 1] if place else 0
        return before + min(index - run.first + 1, run.points) * run.weight


def _powers(run: Run, p: int) -> int:
    """Return the sum of jᵖ over a run, for p = 1 or 2."""

    def upto(n: int) -> int:
        return n * (n + 1) // 2 if p == 1 else n * (n + 1) * (2 * n + 1) // 6

    # The polynomials hold for negative n too, where they continue the sum downwards.
    return upto(run.first + run.points - 1) - upto(run.first - 1)
