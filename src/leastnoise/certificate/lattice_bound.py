"""A lower bound for all noise in a class, from multipliers on a lattice.

Let noise P satisfy (ε, δ) at sensitivity Δ. For every j and every test f_j with values in [0, 1],
P(f_j) − e^ε·P(f_j(· + jΔ/m)) ≤ δ. Weight these inequalities by ν_j ≥ 0 and add them to the cost:
with y_j = ν_j·f_j,

    E L ≥ E[L(X) + Σ_j (y_j(X) − e^ε·y_j(X + jΔ/m))] − δ·Σ_j ν_j ≥ β − δ·Σ_j ν_j,

where β is the least value of the bracket. It is enough to know the y_j on a lattice, because noise
that is rounded to the lattice by a rule that is invariant under its shifts is still private. The
rules:

* ``points``: the noise is on the lattice already (integers, step 1).
* ``chords``: x is rounded to one of its two neighbors, to the nearer one with the larger
  probability, so that its mean is unchanged. The charges of the lattice points can then be any
  table whose linear interpolation lies below L: L lowered by its
  :meth:`~leastnoise.costs.cost.Cost.sag`.
* ``cells``: x is rounded to the middle of its cell. The charge is the least value of L in the
  interior of the cell. Mass on the edges of cells, at most α, is charged L(0): at a shift of nearly
  j steps, no such mass coincides with another, so it counts in full and leaves δ − α for the rest.
  This also holds in the limit of j steps, because H is lower semicontinuous in the shift.
* ``smoothed``: for noise N on the integers if Δ is too large for ``points``. With U uniform on
  [−1/2, 1/2], N + U satisfies the guarantee on the line, and L(N) ≥ L((|N + U| − 1/2)₊), to which
  ``chords`` applies.

Points beyond the reach N share one charge. On the left every y_j is ν_j there, on the right it is
0. So mass beyond the reach is charged L̃(N+1) + (1 − e^ε)/2·Σν_j (half of it on each side).

Noise may be taken symmetric (GDGK19, Lemma 1), so both sides share one inequality. Unimodal noise
gives unimodal lattice weights, by each of the rules; then multipliers μ_k ≥ 0 of p_k ≥ p_(k+1) are
allowed too.

e^ε is replaced by a rational above it, which can only make the bound smaller. Derivation:
docs/theory/lattice-bound.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from leastnoise.certificate.evidence import certificate_error
from leastnoise.core.exact import exponential
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost

RULES = ("points", "chords", "cells", "smoothed")


@dataclass(frozen=True, slots=True)
class Frame:
    """The lattice of a bound: ``cells`` steps to a Δ, ``reach`` + 1 points on each side.

    They lie at 0, ±1, …, ±reach steps; with the rule ``cells`` at ±1/2, …, ±(reach + 1/2).
    """

    rule: str
    cells: int
    reach: int

    @property
    def edged(self) -> int:
        """1 if 0 is an edge of cells, 0 if it is a point."""
        return int(self.rule == "cells")

    @property
    def points(self) -> int:
        """The number of points, which are counted from left to right."""
        return 2 * self.reach + 1 + self.edged

    def side(self, point: int) -> int:
        """Return the distance of a point from the middle, counted from 0."""
        place = point - self.reach
        return place - self.edged if place > 0 else -place

    def floors(self, cost: Cost, sensitivity: Fraction) -> list[Fraction]:
        """Return L̃, lower bounds of the cost of noise rounded to each point, 0 … reach + 1."""
        step = sensitivity / self.cells
        places = [k * step for k in range(self.reach + 2)]
        if self.rule == "cells":
            return [cost.beyond(x) for x in places]
        if self.rule == "smoothed":
            places = [max(Fraction(0), x - Fraction(1, 2)) for x in places]
        lowest = [cost.value(x).lower for x in places]
        if self.rule == "points":
            return lowest
        sags = [
            cost.sag(x, x + step)
            if x or self.rule == "chords"
            else cost.value(x + step).upper - lowest[0]
            for x in places
        ]
        return [
            low - max(before, after)
            for low, before, after in zip(lowest, [sags[0], *sags], sags, strict=False)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class LatticeBound:
    """Integer multipliers, and the bound that they prove.

    Attributes:
        frame: The lattice.
        unit: The cost that 1 stands for in the numbers below.
        weights: ν_j ≥ 0 for j = 1 … cells.
        tests: A shift j, a first point, and y_j from that point on, each between 0 and ν_j. On the
            first j points y_j is ν_j; on all other points it is 0.
        falls: μ_k ≥ 0 for k = 0, 1, …; none for the class of all noise.
        floors: L̃ at 0 … reach + 1, by the rule of the frame.
    """

    frame: Frame
    unit: Fraction
    weights: tuple[int, ...]
    tests: tuple[tuple[int, int, tuple[int, ...]], ...]
    falls: tuple[int, ...]
    floors: tuple[Fraction, ...]
    method = "proved by linear-programming duality on a lattice"

    @property
    def shape(self) -> str:
        """The class of noise that it bounds."""
        return "unimodal" if self.falls else "any"

    @property
    def integer(self) -> bool:
        """Whether it is for noise on the integers."""
        return self.frame.rule in ("points", "smoothed")

    def __repr__(self) -> str:
        frame, multipliers = self.frame, sum(len(values) for _, _, values in self.tests)
        return (
            f"LatticeBound({frame.rule}, {frame.cells} to a Δ, reach {frame.reach}, "
            f"{multipliers} multipliers)"
        )

    def prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return β − δ·Σν; raise if the multipliers or the table of costs are not sound."""
        frame = self.frame
        if frame.rule not in RULES or frame.cells < 1 or frame.reach < 0:
            raise certificate_error("its lattice is malformed")
        if self.unit <= 0:
            raise certificate_error("its unit is not positive")
        if frame.rule == "points" and frame.cells != sensitivity:
            raise certificate_error("its lattice is not the integers")
        if frame.rule == "smoothed" and sensitivity.denominator != 1:
            raise certificate_error("the sensitivity of integers is not an integer")
        floors = list(self.floors)
        if len(floors) != frame.reach + 2 or floors != frame.floors(cost, sensitivity):
            raise certificate_error("its table of costs does not match the cost")
        zero, total = cost.value(Fraction(0)).lower, sum(self.weights) * self.unit
        return (
            self.find_least_charge(exponential(privacy.epsilon).upper, zero) - privacy.delta * total
        )

    def find_least_charge(self, factor: Fraction, zero: Fraction) -> Fraction:
        """Return β, the least charge of a unit of mass, with e^ε replaced by ``factor``.

        ``zero`` is L(0), which mass on the edges of cells is charged.
        """
        frame, total = self.frame, sum(self.weights)
        gained, owed = self._sum_tests()
        charges = [
            Fraction(gained[k] - factor * owed[k] + fallen, 1 + bool(k or frame.edged))
            for k, fallen in enumerate(self._sum_falls())
        ]
        # Mass beyond the reach.
        charges.append((1 - factor) * total / 2)
        least = min(
            low + self.unit * charge for low, charge in zip(self.floors, charges, strict=True)
        )
        return min(least, zero + self.unit * total) if frame.edged else least

    def _sum_tests(self) -> tuple[list[int], list[int]]:
        """Return Σ y_j(x) and Σ y_j(x + j) for each distance, over its two points together."""
        frame = self.frame
        gained, owed = [0] * (frame.reach + 1), [0] * (frame.reach + 1)
        if len(self.weights) != frame.cells or min(self.weights, default=-1) < 0:
            raise certificate_error("its weights are out of order")
        # At the rim, a point shifted by more steps than it has points to its left is beyond the
        # reach.
        rim = [*accumulate(reversed(self.weights))][::-1]
        for point, weight in zip(range(frame.points), rim, strict=False):
            gained[frame.side(point)] += weight
        after: dict[int, int] = {}
        for shift, first, values in self.tests:
            if not 1 <= shift <= frame.cells or first < max(shift, after.get(shift, 0)):
                raise certificate_error("its tests are out of order")
            after[shift] = first + len(values)
            if after[shift] > frame.points:
                raise certificate_error("its tests reach beyond the lattice")
            if not all(0 <= value <= self.weights[shift - 1] for value in values):
                raise certificate_error("a test exceeds its weight")
            for point, value in enumerate(values, start=first):
                gained[frame.side(point)] += value
                owed[frame.side(point - shift)] += value
        return gained, owed

    def _sum_falls(self) -> list[int]:
        """Return the part of the charges at 0 … reach from the multipliers of p_k ≥ p_(k+1)."""
        none = self.frame.reach + 1 - len(self.falls)
        if min(self.falls, default=0) < 0 or none < 1:
            raise certificate_error("its multipliers of unimodality are out of order")
        return [before - after for before, after in pairwise([0, *self.falls, *[0] * none])]
