"""The privacy curves of noise with piecewise constant density, exactly.

A staircase has finitely many likelihood ratios. Other noise has finitely many pieces, whose ends
and heights are integers over a common denominator, and atoms. Between two shifts at which ends of
pieces meet, H is linear in the shift. So the worst shift is one of finitely many: the differences
of ends up to Δ, and Δ itself. Atoms meet other atoms only at single shifts, so they count in full:
at every ε they add their total mass to δ.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from operator import itemgetter

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.lattice import Run
from leastnoise.core.profile.curve import Curve, Level
from leastnoise.errors import InvalidParameter, Unsupported

_BITS = 128
# The most comparisons of pieces for one value of δ, which take a few seconds.
LARGEST_WORK = 1 << 22
# Over more periods of a staircase, the exact powers of its ratio have too many digits.
_MOST_PERIODS = 128
# Each place where a staircase falls needs one number. A number of n binary digits takes time in
# proportion to n², and at least as much as one of 4096 digits. The most work takes a few seconds.
_MOST_STAIRCASE_WORK, _LEAST_WORK = 1 << 40, 1 << 24
# Each further 1024 binary digits of the weights count as one more piece.
_DIGITS = 1 << 10


@dataclass(frozen=True)
class Shape:
    """Pieces (start, end, height) in integer units, from left to right, without overlap.

    ``unit`` is the length of one unit, ``total`` the probability 1 in units of height × length,
    ``atoms`` the total probability of the atoms, ``longest`` the longest shift Δ in units.
    """

    pieces: tuple[tuple[int, int, int], ...]
    unit: Fraction
    total: int
    atoms: Fraction
    longest: int

    @classmethod
    def of_pieces(
        cls,
        pieces: Iterable[tuple[Fraction, Fraction, Fraction]],
        atoms: Fraction,
        sensitivity: Fraction,
    ) -> "Shape":
        """Return the shape of a density on the line, given as (start, end, height > 0)."""
        spans = tuple(pieces)
        ends = {x.denominator for a, b, _ in spans for x in (a, b)}
        unit = Fraction(1, lcm(sensitivity.denominator, *ends))
        tall = lcm(*(h.denominator for _, _, h in spans))
        scaled = tuple((int(a / unit), int(b / unit), int(h * tall)) for a, b, h in spans)
        return cls(scaled, unit, int(tall / unit), atoms, int(sensitivity / unit))

    @classmethod
    def of_runs(
        cls, runs: Iterable[Run], total: int, step: Fraction, sensitivity: Fraction
    ) -> "Shape":
        """Return the shape of lattice noise in runs of positive weight, from left to right.

        Each lattice point is spread over a cell of its own, which does not change H at integer
        shifts.
        """
        pieces = tuple((run.first, run.first + run.points, run.weight) for run in runs)
        return cls(pieces, step, total, Fraction(0), int(sensitivity / step))

    def mirror(self) -> "Shape":
        """Return the shape of the noise's mirror image."""
        pieces = tuple((-b, -a, h) for a, b, h in reversed(self.pieces))
        return Shape(pieces, self.unit, self.total, self.atoms, self.longest)

    @property
    def is_unimodal(self) -> bool:
        """Whether the density is symmetric about some place and never rises away from it.

        Then the longest shift is the worst for every ε, because (p(x) − e^ε·p(x−d))₊ grows with d
        for x left of d/2, and is 0 elsewhere.
        """
        joined = all(a[1] == b[0] for a, b in pairwise(self.pieces))
        lengths = [(b - a, h) for a, b, h in self.pieces]
        rising = lengths[: (len(lengths) + 1) // 2]
        return joined and lengths == lengths[::-1] and rising == sorted(rising, key=itemgetter(1))

    @cached_property
    def shifts(self) -> list[int]:
        """The shifts that include the worst one; rejected if they are too many."""
        if self.is_unimodal:
            return [self.longest]
        ends = sorted({x for a, b, _ in self.pieces for x in (a, b)})
        shifts = {self.longest}
        length = max(h.bit_length() for _, _, h in self.pieces)
        compared = len(self.pieces) * (1 + length // _DIGITS)
        for i, x in enumerate(ends):
            shifts.update(y - x for y in ends[i + 1 :] if y - x <= self.longest)
            if len(shifts) * compared > LARGEST_WORK:
                raise InvalidParameter(
                    f"A profile must take at most {LARGEST_WORK} comparisons of pieces",
                    got=f"{len(self.pieces)} pieces of up to {length} binary digits at "
                    f"{len(shifts)} shifts or more",
                    fix="Use fewer or shorter pieces, or breaks on a common lattice.",
                )
        return sorted(shifts)

    def overlaps(self, shift: int) -> Iterator[tuple[int, int, int]]:
        """Yield (p(x), p(x − shift), length) over the pieces, in one sweep over both densities.

        The parts of a piece where p(x − shift) is 0 are yielded as one length.
        """
        shifted = [(a + shift, b + shift, h) for a, b, h in self.pieces]
        first = 0
        for a, b, h in self.pieces:
            while first < len(shifted) and shifted[first][1] <= a:
                first += 1
            uncovered, place = b - a, first
            while place < len(shifted) and shifted[place][0] < b:
                low, high, other = shifted[place]
                shared = min(b, high) - max(a, low)
                uncovered -= shared
                yield h, other, shared
                place += 1
            if uncovered:
                yield h, 0, uncovered

    def excess(self, shift: int, factor: Fraction) -> Fraction:
        """Return ∫(p(x) − factor·p(x − shift))₊ over the density, exactly."""
        scale, times = factor.denominator, factor.numerator
        total = 0
        for height, other, length in self.overlaps(shift):
            more = scale * height - times * other
            if more > 0:
                total += more * length
        return Fraction(total, scale * self.total)


@dataclass(frozen=True)
class PiecewiseCurve(Curve):
    """δ(ε) as the largest over finitely many shifts, in both directions where they differ."""

    shape: Shape

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the shift that reaches it."""
        factor = level.factor(_BITS)  # H falls as e^ε grows, so the lower end gives the upper bound
        excess, shift, sign = self.largest_excess(factor.lower)
        least = excess if factor.is_exact else self.largest_excess(factor.upper)[0]
        reached = Interval(self.shape.atoms + least, self.shape.atoms + excess)
        return reached, sign * shift * self.shape.unit

    def largest_excess(self, factor: Fraction) -> tuple[Fraction, int, int]:
        """Return the largest excess over all shifts, its shift in units, and its direction."""
        return max(
            (shape.excess(shift, factor), shift, sign)
            for sign, shape in self.shapes.items()
            for shift in shape.shifts
        )

    @cached_property
    def shapes(self) -> dict[int, Shape]:
        """The shape for shifts to the right, and for shifts to the left if those differ."""
        mirrored = self.shape.mirror()
        return {1: self.shape} if mirrored == self.shape else {1: self.shape, -1: mirrored}


@dataclass(frozen=True)
class StaircaseCurve(Curve):
    """The ratios p(x)/p(x − d) at the longest shift d, with the probability of each.

    ``higher`` holds those above 1. The mirror image x → d − x exchanges the two neighbors, so a
    ratio L of probability m comes with a ratio 1/L of probability m/L; the rest has ratio 1.
    """

    shift: Fraction
    higher: dict[Fraction, Fraction]

    @classmethod
    def of(cls, shift: Fraction, ratios: Iterable[tuple[Fraction, Fraction]]) -> "StaircaseCurve":
        """Add up the probabilities of each ratio above 1."""
        higher: dict[Fraction, Fraction] = {}
        for ratio, mass in ratios:
            if ratio > 1 and mass:
                higher[ratio] = higher.get(ratio, Fraction(0)) + mass
        return cls(shift, higher)

    @cached_property
    def masses(self) -> dict[Fraction, Fraction]:
        """All ratios, with the probability of each."""
        lower = {1 / ratio: mass / ratio for ratio, mass in self.higher.items()}
        both = {**self.higher, **lower}
        return {**both, Fraction(1): 1 - sum(both.values(), Fraction(0))}

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the longest shift."""
        factor = level.factor(_BITS)
        return Interval(self._excess(factor.upper), self._excess(factor.lower)), self.shift

    def _excess(self, factor: Fraction) -> Fraction:
        """Return the sum of (1 − factor/ratio)₊ over the probabilities."""
        parts = (mass * (1 - factor / ratio) for ratio, mass in self.masses.items())
        return sum((part for part in parts if part > 0), Fraction(0))


def check_periods(shift: Fraction, period: Fraction) -> None:
    """Reject a shift over more periods than exact powers of the ratio are computed for."""
    if shift > _MOST_PERIODS * period:
        raise InvalidParameter(
            f"The sensitivity must be at most {_MOST_PERIODS} periods of the staircase",
            got=f"{format_exact(shift / period)} periods",
            fix="Use a staircase of a longer period, such as calibrate() returns.",
        )


def check_staircase_work(shift: Fraction, period: Fraction, places: int, digits: int) -> None:
    """Reject exact powers of a ratio that would take minutes, before they are computed.

    ``places`` is the number of powers for each period, ``digits`` the number of binary digits of
    the ratio and the weights.
    """
    periods = 1 + shift // period
    if places * max(_LEAST_WORK, (periods * digits) ** 2) > _MOST_STAIRCASE_WORK:
        raise Unsupported(
            f"places·(periods·digits)² of a staircase may be at most {_MOST_STAIRCASE_WORK} for "
            "its privacy to be computed",
            got="more",
            fix="Give a longer period, fewer runs or a shorter ratio.",
        )
