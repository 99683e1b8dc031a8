"""The least noise for any (ε, δ) and any cost: a programme on ever finer lattices, proved exactly.

On each lattice the programme is solved twice: for charges below the cost, whose multipliers prove a
lower bound, and for the average cost of each cell, whose masses make a noise. Both are turned into
whole numbers and proved from these alone (:mod:`leastnoise.calibration.repair`,
:mod:`leastnoise.certificate.lattice_bound`). The lattice is made finer until the two meet within
the gap asked for, or the time is over; the best of each is kept.

One solve takes m·R·m pairs in the worst case, m cells to a Δ and R the radius of the noise in Δ;
mostly a fifth of them matters. The gap falls like 1/m².
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from leastnoise.calibration.linear_programme import OutOfTime, Programme, Proposal
from leastnoise.calibration.problem import Problem
from leastnoise.calibration.repair import repair
from leastnoise.certificate import Certificate, Evidence, Frame, LatticeBound
from leastnoise.core.exact import as_float, exponential
from leastnoise.core.noise import Noise, Steps
from leastnoise.costs import Cost

# Multipliers are kept in this part of the cost; programmes of more pairs than this are not begun.
_UNIT = Fraction(1, 1 << 44)
_MOST_PAIRS = 400_000
_MOST_POINTS = 20_000
# Beyond this e^ε spans more than floats can weigh against one another.
_LARGEST_EPSILON = 16
# A smaller δ is none to the solver: then only bounds are looked for, which hold for every δ.
_SMALLEST_DELTA = Fraction(1, 10**20)
# Kinks of a cost are put on the lattice if it need not be finer than this for their sake.
_FINEST_KINK = 48
# On the integers programmes are posed point by point up to this Δ; beyond, as on the line.
_LARGEST_POINTWISE = 64
# A bound below this part of the cost counts as none.
SMALL = Fraction(1, 10**9)


@dataclass(frozen=True)
class Bracket:
    """The cheapest noise found, and the highest bound proved, with what proves it."""

    problem: Problem
    noise: Noise | None = None
    cost: Fraction | None = None
    bound: Fraction | None = None
    evidence: Evidence | None = None

    @property
    def gap(self) -> float:
        """How far the cost may be above the least, relative to the bound."""
        if self.cost is None or self.bound is None:
            return math.inf
        excess = self.cost - self.bound
        if excess <= 0:
            return 0.0
        return as_float(excess / self.bound) if self.bound > SMALL * self.cost else math.inf

    def with_noise(self, noise: Noise) -> "Bracket":
        """Return the bracket with this noise, if it is cheaper."""
        cost = noise.expected(self.problem.cost)
        return (
            self
            if self.cost is not None and self.cost <= cost
            else replace(self, noise=noise, cost=cost)
        )

    def with_evidence(self, evidence: Evidence) -> "Bracket":
        """Return the bracket with this evidence, if it proves more."""
        problem = self.problem
        bound = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
        better = self.bound is None or bound > self.bound
        return replace(self, bound=bound, evidence=evidence) if better else self


def narrow(
    bracket: Bracket,
    *,
    gap: Fraction,
    seconds: float,
    progress: Callable[[str], None],
) -> Bracket:
    """Return a bracket with a gap at most ``gap``, or the best there is after ``seconds``."""
    until = time.monotonic() + seconds
    problem = bracket.problem
    window, cells, before = _radius(problem), _first_cells(problem), None
    while True:
        frame = _frame(problem, cells, window)
        pairs = frame.cells * frame.points * (problem.among == "any")
        if pairs > _MOST_PAIRS or frame.points > _MOST_POINTS:
            return bracket
        if problem.privacy.epsilon > _LARGEST_EPSILON:
            return bracket
        progress(f"{cells} cells to a Δ, gap so far {bracket.gap:.2%}")
        begun = time.monotonic()
        solver = Solver(problem, frame, until, before)
        try:
            lower = solver.lower()
            bracket = bracket.with_evidence(solver.evidence(lower))
            upper = solver.upper() if problem.privacy.delta >= _SMALLEST_DELTA else None
        except OutOfTime as stopped:
            if stopped.last is not None:
                bracket = bracket.with_evidence(solver.evidence(stopped.last))
            if window > 4 * _radius(problem) or time.monotonic() > until:
                return bracket
            window += 1 + window // 4
            continue
        if upper is not None:
            noise = repair(
                frame,
                upper.masses.tolist(),
                upper.atom,
                problem.privacy,
                problem.sensitivity,
                decreasing=problem.among == "decreasing",
            )
            if frame.rule == "smoothed" and isinstance(noise, Steps):
                noise = noise.rounded(Fraction(1))
            bracket = bracket.with_noise(noise)
            before = (frame, upper)
        if bracket.gap <= gap:
            return bracket
        if lower.beyond > 1e-9 and window <= 4 * _radius(problem):
            window += 1 + window // 4  # mass beyond the window is charged too little: look further
        elif frame.rule == "points":
            return bracket
        else:
            now = time.monotonic()
            finest = (max(until - now, 0.0) / max(now - begun, 1e-3)) ** 0.25
            cells = _finer(problem, cells, bracket.gap / as_float(gap), finest)


def to_certificate(bracket: Bracket, source: str) -> tuple[Noise, Certificate]:
    """Return the noise and the certificate of a bracket that has both ends."""
    problem = bracket.problem
    assert bracket.noise is not None  # noqa: S101 -- tells mypy what the caller made sure of
    certificate = Certificate.of(
        bracket.noise,
        problem.privacy,
        problem.sensitivity,
        problem.cost,
        source=source,
        lower_bound=bracket.bound,
        evidence=bracket.evidence,
    )
    return bracket.noise, certificate


class Solver:
    """One frame: its prices, its programme, and what comes of them."""

    def __init__(
        self, problem: Problem, frame: Frame, until: float, before: tuple[Frame, Proposal] | None
    ) -> None:
        import numpy as np

        self.problem, self.frame = problem, frame
        self.floors = frame.floors(problem.cost, problem.sensitivity)
        self.scale = _scale(problem)
        self.factor = exponential(problem.privacy.epsilon)
        self.programme = Programme(
            frame,
            as_float(self.factor.middle),
            as_float(problem.privacy.delta) if problem.privacy.delta >= _SMALLEST_DELTA else 0.0,
            decreasing=problem.among == "decreasing",
            until=until,
        )
        if before is not None:
            coarse, found = before
            offset = frame.edged / 2
            places = (np.arange(frame.reach + 1) + offset) * coarse.cells / frame.cells
            sides = np.minimum(np.floor(places + (0.5 - offset)), coarse.reach).astype(int)
            ratio = coarse.cells / frame.cells
            self.programme.seed(found.masses[sides] * ratio, found.atom)

    def lower(self) -> Proposal:
        """Solve for charges below the cost."""
        *inside, beyond = (as_float(floor / self.scale) for floor in self.floors)
        return self.programme.minimise(
            inside, beyond=beyond, atom=self._zero() if self.frame.edged else None
        )

    def upper(self) -> Proposal:
        """Solve for what the cells cost on average, without mass beyond."""
        return self.programme.minimise(
            [as_float(cost / self.scale) for cost in self._averages()],
            beyond=None,
            atom=None if self.frame.rule == "points" else self._zero(),
        )

    def _zero(self) -> float:
        """Return what no error costs."""
        return as_float(self.problem.cost.value(Fraction(0)).lower / self.scale)

    def evidence(self, found: Proposal) -> LatticeBound:
        """Return the multipliers in whole numbers."""
        import numpy as np

        whole = float(1 / _UNIT)
        weights = [round(weight) for weight in (found.weights * whole).tolist()]
        shifts, points, tests = found.pairs
        order = np.lexsort((points, shifts))
        order = order[tests[order] * whole >= 1]
        rows = (
            (shift, point, min(round(test), weights[shift - 1]))
            for shift, point, test in zip(
                shifts[order].tolist(),
                points[order].tolist(),
                (tests[order] * whole).tolist(),
                strict=True,
            )
        )
        falls = [round(fall) for fall in (found.falls * whole).tolist()]
        return LatticeBound(
            frame=self.frame,
            unit=self.scale * _UNIT,
            weights=tuple(weights),
            tests=tuple(_runs(rows)),
            falls=tuple(falls),
            floors=tuple(self.floors),
        )

    def _averages(self) -> list[Fraction]:
        """Return the mean cost of an error in each cell; on the integers, of each point."""
        cost, step = self.problem.cost, self.problem.sensitivity / self.frame.cells
        if self.frame.rule == "points":
            return [cost.value(k * step).middle for k in range(self.frame.reach + 1)]
        half = Fraction(1 + self.frame.edged, 2)
        edges = [step * (k + half) for k in range(self.frame.reach + 1)]
        if type(cost) is Cost:  # a proposal needs no proof, and a function's integral takes long
            values = [cost.value(x).middle for edge in edges for x in (edge - step / 2, edge)]
            starts = [cost.value(Fraction(0)).middle, *values[1::2]]
            middles = [values[0] if self.frame.edged else starts[0], *values[2::2]]
            return [
                (a + 4 * m + b) / 6 for a, m, b in zip(starts, middles, values[1::2], strict=False)
            ]
        areas = [cost.integral(edge).middle for edge in edges]
        first = areas[0] / step * (1 if self.frame.edged else 2)
        return [first, *((b - a) / step for a, b in pairwise(areas))]


def _runs(rows: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Join (shift, point, value) with neighbouring points to runs."""
    shift, first = 0, 0
    values: list[int] = []
    for j, i, value in rows:
        if values and (j, i) != (shift, first + len(values)):
            yield shift, first, tuple(values)
            values = []
        if not values:
            shift, first = j, i
        values.append(value)
    if values:
        yield shift, first, tuple(values)


def _frame(problem: Problem, cells: int, window: int) -> Frame:
    if problem.integer:
        rule = "points" if cells == problem.sensitivity else "smoothed"
    else:
        rule = "cells" if _jumps(problem.cost) else "chords"
    return Frame(rule, cells, cells * window)


def _jumps(cost: Cost) -> bool:
    """Whether a cost jumps where it has a kink: its cells must then begin there."""
    return any(cost.beyond(kink) > cost.value(kink).upper for kink in cost.kinks)


def _first_cells(problem: Problem) -> int:
    """Return how fine the first lattice is: finer for a larger ε, and with room for kinks."""
    if problem.integer and problem.sensitivity <= _LARGEST_POINTWISE:
        return int(problem.sensitivity)
    epsilon = as_float(problem.privacy.epsilon)
    wanted = min(32, max(1 + 2 * (problem.among == "decreasing"), round(8 * epsilon)))
    return _aligned(problem, max(wanted, 8) if not epsilon else wanted)


def _finer(problem: Problem, cells: int, excess: float, finest: float) -> int:
    """Return the next lattice: as the gap falls like 1/m², but not in too large a stride.

    Nor in one that takes longer than there is time: a solve takes about m⁴.
    """
    stride = min(2.0, max(1.25, 1.08 * math.sqrt(excess)), max(1.1, finest))
    return _aligned(problem, math.ceil(cells * stride))


def _aligned(problem: Problem, cells: int) -> int:
    """Return the next larger number of cells that puts the cost's kinks on the lattice."""
    denominators = (kink / problem.sensitivity for kink in problem.cost.kinks)
    least = math.lcm(*(place.denominator for place in denominators))
    return -(-cells // least) * least if least <= _FINEST_KINK else cells


def _radius(problem: Problem) -> int:
    """Return how many Δ the canonical noise of this promise reaches, and one more.

    For δ = 0, where it never ends: as far as a millionth of its cost comes from.
    """
    delta, factor = as_float(problem.privacy.delta), _factor(problem)
    settled = problem.cost.constant_beyond
    tail, steps, cost = (1 - delta) / (1 + factor), 1, 0.0
    while tail > 0 and steps < _MOST_POINTS:
        here = as_float(problem.cost.value(steps * problem.sensitivity).middle)
        cost += tail * here
        if not delta and tail * here * steps < 1e-7 * cost:
            break
        if (
            not problem.privacy.epsilon
            and settled is not None
            and steps * problem.sensitivity > settled
        ):
            break
        tail = (tail - delta) / factor
        steps += 1
    return steps + 1


def _scale(problem: Problem) -> Fraction:
    """Return about what the noise will cost: the solver should see numbers near 1."""
    delta, factor = as_float(problem.privacy.delta), _factor(problem)
    tail, total, step = (1 - delta) / (1 + factor), 0.0, 1
    for step in range(1, _radius(problem) + 1):
        nearer, here = (
            as_float(problem.cost.value((step - back) * problem.sensitivity).middle)
            for back in (1, 0)
        )
        total += 2 * max(tail, 0.0) * (here - nearer)
        tail = (tail - delta) / factor
    return Fraction(2) ** math.frexp(total)[1] if total > 0 else Fraction(1)


def _factor(problem: Problem) -> float:
    """Return e^ε, or a number so large that it makes no difference."""
    return math.exp(min(as_float(problem.privacy.epsilon), 500.0))
