"""δ of noise of piecewise constant density, exactly.

A noise as whole numbers: the one form in which privacy is computed.

Density pieces with whole ends and whole heights over a common denominator, and the total mass of
the atoms. Between two moves at which ends of pieces meet, H is linear in the move, so the worst
move is one of finitely many: the differences of ends up to Δ, and Δ itself. Atoms meet only at
single moves and stand alone at all others, so they count in full: for every ε they add their mass.

How private a piecewise constant noise of finitely many pieces is: exactly, at every move.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, singledispatch
from itertools import pairwise
from math import lcm
from operator import itemgetter

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.noise import DiscreteSteps, DiscreteUniform, Noise, Steps, Uniform
from leastnoise.core.profile.curve import Curve, Level
from leastnoise.errors import InvalidParameter

# How many comparisons of pieces one question may take: a few seconds' worth.
LARGEST_WORK = 1 << 22


@dataclass(frozen=True)
class Shape:
    """Pieces (start, end, height) in whole units, rising, without overlap.

    ``unit`` is the length of one unit, ``total`` the mass 1 in units of height × length, ``atoms``
    the mass that stands alone, as a probability, ``moved`` the longest move Δ in units.
    """

    pieces: tuple[tuple[int, int, int], ...]
    unit: Fraction
    total: int
    atoms: Fraction
    moved: int

    def mirrored(self) -> "Shape":
        """Return the shape of the noise's mirror image."""
        pieces = tuple((-b, -a, h) for a, b, h in reversed(self.pieces))
        return Shape(pieces, self.unit, self.total, self.atoms, self.moved)

    @property
    def falls(self) -> bool:
        """Whether the density is symmetric about some place and never rises away from it.

        Then the longest move is the worst, for every ε: (p(x) − e^ε·p(x−d))₊ grows with d where x
        lies left of d/2, and is 0 elsewhere.
        """
        joined = all(a[1] == b[0] for a, b in pairwise(self.pieces))
        lengths = [(b - a, h) for a, b, h in self.pieces]
        rising = lengths[: (len(lengths) + 1) // 2]
        return joined and lengths == lengths[::-1] and rising == sorted(rising, key=itemgetter(1))

    @cached_property
    def moves(self) -> list[int]:
        """The moves among which the worst is, refused if they are too many."""
        if self.falls:
            return [self.moved]
        ends = sorted({x for a, b, _ in self.pieces for x in (a, b)})
        found = {self.moved}
        for i, x in enumerate(ends):
            found.update(y - x for y in ends[i + 1 :] if y - x <= self.moved)
            if len(found) * len(self.pieces) > LARGEST_WORK:
                raise InvalidParameter(
                    f"a profile may compare at most {LARGEST_WORK} pieces",
                    got=f"{len(self.pieces)} pieces at {len(found)} moves or more",
                    fix="Give fewer pieces, or breaks on a common lattice.",
                )
        return sorted(found)

    def excess(self, move: int, factor: Fraction) -> Fraction:
        """Return ∫(p(x) − factor·p(x − move))₊ over the density, exactly."""
        scale, times = factor.denominator, factor.numerator
        total = 0
        others = [(a + move, b + move, h) for a, b, h in self.pieces]
        first = 0
        for a, b, h in self.pieces:
            while first < len(others) and others[first][1] <= a:
                first += 1
            covered, place = 0, first
            while place < len(others) and others[place][0] < b:
                low, high, g = others[place]
                shared = min(b, high) - max(a, low)
                covered += shared
                total += max(scale * h - times * g, 0) * shared
                place += 1
            total += scale * h * (b - a - covered)
        return Fraction(total, scale * self.total)


@singledispatch
def shape_of(noise: Noise, sensitivity: Fraction) -> Shape:
    """Return a noise as whole numbers, for moves up to ``sensitivity``."""
    raise InvalidParameter(
        "an exact profile is for piecewise constant noise of finitely many pieces",
        got=f"{type(noise).__name__} at a sensitivity of {format_exact(sensitivity)}",
        fix="Give a Uniform, Steps or such a noise on a lattice.",
    )


@shape_of.register
def _(noise: Steps, sensitivity: Fraction) -> Shape:
    unit = Fraction(1, lcm(sensitivity.denominator, *(x.denominator for x in noise.breaks)))
    tall = lcm(*(h.denominator for h in noise.heights))
    pieces = tuple((int(a / unit), int(b / unit), int(h * tall)) for a, b, h in noise.pieces)
    atoms = sum((m for _, m in noise.points), Fraction(0))
    return Shape(pieces, unit, int(tall / unit), atoms, int(sensitivity / unit))


@shape_of.register
def _(noise: Uniform, sensitivity: Fraction) -> Shape:
    width = noise.radius
    return shape_of(Steps([-width, width], [noise.density], noise.atoms), sensitivity)


@shape_of.register
def _(noise: DiscreteUniform, sensitivity: Fraction) -> Shape:
    reach = noise.reach
    runs = [
        (-reach - 1, 1, noise.rim),
        (-reach, reach, noise.level),
        (0, 1, noise.weight(0)),
        (1, reach, noise.level),
        (reach + 1, 1, noise.rim),
    ]
    return _lattice_shape(noise.total, runs, sensitivity / noise.step, noise.step)


@shape_of.register
def _(noise: DiscreteSteps, sensitivity: Fraction) -> Shape:
    runs = [(run.first, run.points, run.weight) for run in noise.runs]
    return _lattice_shape(noise.total, runs, sensitivity / noise.step, noise.step)


def _lattice_shape(
    total: int, runs: list[tuple[int, int, int]], steps: Fraction, step: Fraction
) -> Shape:
    """Spread each lattice point over a cell of its own: at whole moves, H is the same."""
    pieces = tuple((first, first + points, w) for first, points, w in runs if points and w)
    return Shape(pieces, step, total, Fraction(0), int(steps))


_BITS = 128


@dataclass(frozen=True)
class PiecewiseCurve(Curve):
    """δ(ε) as the largest over finitely many moves, in both directions where they differ."""

    shape: Shape

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the move that reaches it."""
        factor = level.factor(_BITS)  # H falls as e^ε grows, so its lower end gives the upper one
        excess, move, sign = self._largest_excess(factor.lower)
        least = excess if factor.is_exact else self._largest_excess(factor.upper)[0]
        reached = Interval(self.shape.atoms + least, self.shape.atoms + excess)
        return reached, sign * move * self.shape.unit

    def _largest_excess(self, factor: Fraction) -> tuple[Fraction, int, int]:
        """Return the largest excess over all moves, that move in units, and its direction."""
        return max(
            (shape.excess(move, factor), move, sign)
            for sign, shape in self._shapes.items()
            for move in shape.moves
        )

    @cached_property
    def _shapes(self) -> dict[int, Shape]:
        """The noise for moves to the right; for moves to the left too where they differ."""
        mirrored = self.shape.mirrored()
        return {1: self.shape} if mirrored == self.shape else {1: self.shape, -1: mirrored}
