"""Narrow the bracket around the smallest cost: linear programs on ever finer lattices, proved.

On each lattice two linear programs are solved. One charges less than the cost, and its multipliers
prove a lower bound. The other charges the average cost of each cell, and its masses make a noise.
Both results are turned into integers and proved from those alone
(:mod:`leastnoise.calibration.repair`, :mod:`leastnoise.certificate.lattice_bound`). The lattice is
refined until the gap between lower bound and cost is small enough, or the time is over. The result
is the cheapest noise and the highest bound.

One solve takes m·R·m pairs in the worst case, with m cells to a Δ and R the radius of the noise in
Δ; a fifth of them usually matters. The gap falls like 1/m².
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from leastnoise.calibration.deadline import Deadline
from leastnoise.calibration.problem import Problem
from leastnoise.calibration.repair import repair
from leastnoise.certificate import Evidence, Frame, LatticeBound, relative_gap
from leastnoise.core.exact import as_float, exponential
from leastnoise.core.noise import Noise, Steps
from leastnoise.costs import Cost

if TYPE_CHECKING:
    from leastnoise.calibration.linear_program import Proposal

# Multipliers are stored as integers in this unit of the cost's scale.
_UNIT = Fraction(1, 1 << 44)
_MOST_PAIRS, _MOST_POINTS = 400_000, 20_000  # larger linear programs are not solved
# Above this ε, the terms of a row differ by more than floats can represent.
_LARGEST_EPSILON = 16
# The solver treats a smaller δ as 0. Then only bounds are computed, which hold for every δ.
_SMALLEST_DELTA = Fraction(1, 10**20)
# The lattice is refined up to this many cells to a Δ to put the kinks of a cost on it.
_FINEST_KINK = 48
# Up to this Δ a linear program on the integers has a column per integer; above, as on the line.
_LARGEST_POINTWISE = 64
# The largest window, in radii of the canonical noise.
_WIDEST = 4
# If more mass than this lies beyond the window, its charge is too small and the window must grow.
_MASS_BEYOND = 1e-9
# The search ends at a gap below this multiple of the limit of ever finer lattices.
_NEAR_LIMIT = 1.25
# Lower bounds with a larger gap are ignored.
_LARGEST_GAP = 10**9


@dataclass(frozen=True)
class Bracket:
    """The cheapest noise found, and the highest lower bound with the evidence that proves it."""

    problem: Problem
    noise: Noise
    cost: Fraction
    bound: Fraction
    evidence: Evidence

    @classmethod
    def of(cls, problem: Problem, noise: Noise, evidence: Evidence) -> "Bracket":
        """Return the bracket of the first noise and the first bound."""
        bound = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
        return cls(problem, noise, noise.expected(problem.cost), bound, evidence)

    @property
    def gap(self) -> float:
        """The relative distance from optimal, at most, as certificates measure it."""
        gap = relative_gap(self.cost, self.bound, self.problem.cost)
        return as_float(gap) if gap < _LARGEST_GAP else math.inf

    def tightened_by(self, solution: "Solution") -> "Bracket":
        """Return the bracket with the improvements of a lattice's solution."""
        problem, bracket = self.problem, self
        for evidence in solution.evidence:
            bound = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
            if bound > bracket.bound:
                bracket = replace(bracket, bound=bound, evidence=evidence)
        if solution.noise is None or not self._is_of_class(solution.noise):
            return bracket
        cost = solution.noise.expected(problem.cost)
        if cost >= bracket.cost:
            return bracket
        return replace(bracket, noise=solution.noise, cost=cost)

    def _is_of_class(self, noise: Noise) -> bool:
        """Return whether noise is in the problem's class, which rounding to integers can leave."""
        return self.problem.shape == "any" or noise.is_unimodal


@dataclass(frozen=True)
class Solution:
    """The result of one lattice: lower bounds, and noise with the masses it was made of."""

    frame: Frame
    took: float  # seconds
    evidence: tuple[LatticeBound, ...]
    masses: "Proposal | None" = None
    noise: Noise | None = None
    beyond: float = 0.0  # the mass beyond the window in the solution for the lower bound
    finished: bool = True  # False if the solver stopped early


def narrow(
    bracket: Bracket, *, gap: Fraction, deadline: Deadline, progress: Callable[[str], None]
) -> Bracket:
    """Return a bracket with a gap of at most ``gap``, or the best one found by the deadline."""
    search = Search(bracket.problem, gap, deadline)
    frame: Frame | None = search.first_frame()
    coarser: Solution | None = None
    while frame is not None and search.can_solve(frame) and deadline.left > 0:
        progress(f"{frame.cells} cells to a Δ, gap so far {bracket.gap:.2%}")
        solution = solve(search.problem, frame, search.solver_deadline, coarser)
        solved = deadline.left
        bracket = bracket.tightened_by(solution)
        search.verifying = max(search.verifying, solved - deadline.left)
        coarser = solution if solution.masses is not None else coarser
        frame = search.next_frame(solution, bracket.gap)
    return bracket


class Search:
    """The choice of lattices: the first, the next after each, and when to stop."""

    def __init__(self, problem: Problem, gap: Fraction, deadline: Deadline) -> None:
        self.problem, self.gap, self.deadline = problem, gap, deadline
        self.verifying = 0.0  # the most seconds that a solution took to be verified
        self._gaps: list[tuple[int, float]] = []  # the cells to a Δ, and the gap that they left
        self._radius = _find_radius(problem)

    @property
    def solver_deadline(self) -> Deadline:
        """The moment at which the solver must stop, so that its solution can still be verified.

        It is verified twice: in the search, and in the certificate.
        """
        return self.deadline.earlier(2 * self.verifying)

    def first_frame(self) -> Frame:
        """Return the first lattice: fine enough for ε, and as wide as the canonical noise."""
        return _make_frame(self.problem, _choose_cells(self.problem), self._radius)

    def can_solve(self, frame: Frame) -> bool:
        """Return whether a lattice's linear program is within the reach of solver and floats."""
        pairs = frame.cells * frame.points * (self.problem.shape == "any")
        small = pairs <= _MOST_PAIRS and frame.points <= _MOST_POINTS
        return small and self.problem.privacy.epsilon <= _LARGEST_EPSILON

    def next_frame(self, solution: Solution, gap: float) -> Frame | None:
        """Return the next lattice after one with this gap; None to stop."""
        frame, left = solution.frame, self.deadline.left - 2 * self.verifying
        window = frame.reach // frame.cells
        may_widen = window <= _WIDEST * self._radius
        wider = _make_frame(self.problem, frame.cells, window + 1 + window // 4)
        if not solution.finished:  # rounding may also stop the solver; then a wider window helps
            return wider if may_widen and left >= 0 else None
        if gap <= self.gap:
            return None
        if solution.beyond > _MASS_BEYOND and may_widen:
            return wider
        if frame.rule == "points":  # it has no finer lattice
            return None
        if left < solution.took or self._has_settled(frame, gap):  # a finer lattice takes longer
            return None
        finest = (left / max(solution.took, 1e-3)) ** 0.25
        cells = _refine(self.problem, frame.cells, gap / as_float(self.gap), finest)
        return _make_frame(self.problem, cells, window)

    def _has_settled(self, frame: Frame, gap: float) -> bool:
        """Return whether finer lattices barely reduce the gap, without reaching the target gap.

        The gap of m cells to a Δ is about g + c/m². On the line g is 0; on the integers at a large
        Δ it is the loss by smoothing (the rule ``smoothed``).
        """
        self._gaps.append((frame.cells, gap))
        if frame.rule != "smoothed" or len(self._gaps) < 2:
            return False
        (coarse, before), (fine, _) = self._gaps[-2:]
        # The first lattices may prove less than the first bound.
        if before <= gap or coarse >= fine:
            return False
        limit = gap - (before - gap) / ((fine / coarse) ** 2 - 1)
        return limit > as_float(self.gap) and gap < _NEAR_LIMIT * limit


def solve(problem: Problem, frame: Frame, deadline: Deadline, coarser: Solution | None) -> Solution:
    """Solve both linear programs of a lattice, as far as the time allows.

    ``coarser`` is the solution of a coarser lattice, if there is one. The program starts with the
    pairs that this solution needs.
    """
    started = deadline.left
    solver = Solver(problem, frame, deadline, coarser)
    only_bounds = problem.privacy.delta < _SMALLEST_DELTA
    lower = solver.solve_lower()
    upper = None if lower is None or not lower.finished or only_bounds else solver.solve_upper()
    if lower is not None and lower.finished and (only_bounds or (upper and upper.finished)):
        noise = None if upper is None else solver.make_noise(upper)
        evidence = (solver.make_evidence(lower),)
        return Solution(frame, started - deadline.left, evidence, upper, noise, lower.beyond)
    # The last proposal of a solver that stopped early proves a bound too (LinearProgram.minimize).
    partial = tuple(solver.make_evidence(last) for last in (lower, upper) if last is not None)
    return Solution(frame, started - deadline.left, partial, finished=False)


class Solver:
    """The linear program of one lattice, with the prices of both of its solutions."""

    def __init__(
        self, problem: Problem, frame: Frame, deadline: Deadline, coarser: Solution | None
    ) -> None:
        from leastnoise.calibration.linear_program import LinearProgram  # it loads numpy

        self.problem, self.frame = problem, frame
        self.floors = frame.floors(problem.cost, problem.sensitivity)
        self.scale = _choose_scale(problem)
        self.program = LinearProgram(
            frame,
            as_float(exponential(problem.privacy.epsilon).middle),
            as_float(problem.privacy.delta) if problem.privacy.delta >= _SMALLEST_DELTA else 0.0,
            decreasing=problem.shape == "unimodal",
            deadline=deadline,
        )
        if coarser is not None and coarser.masses is not None:
            self.program.seed(coarser.frame, coarser.masses)

    def solve_lower(self) -> "Proposal | None":
        """Solve for charges below the cost."""
        *inside, beyond = (as_float(floor / self.scale) for floor in self.floors)
        return self.program.minimize(
            inside, beyond=beyond, atom=self._zero() if self.frame.edged else None
        )

    def solve_upper(self) -> "Proposal | None":
        """Solve for the average costs of the cells, without mass beyond the window."""
        return self.program.minimize(
            [as_float(cost / self.scale) for cost in self._average_costs()],
            beyond=None,
            atom=None if self.frame.rule == "points" else self._zero(),
        )

    def _zero(self) -> float:
        return as_float(self.problem.cost.value(Fraction(0)).lower / self.scale)

    def make_noise(self, proposal: "Proposal") -> Noise:
        """Return noise that satisfies the guarantee exactly, near the masses of a proposal."""
        noise = repair(
            self.frame,
            proposal.masses.tolist(),
            proposal.atom,
            self.problem.privacy,
            self.problem.sensitivity,
            decreasing=self.problem.shape == "unimodal",
        )
        if self.frame.rule == "smoothed" and isinstance(noise, Steps):
            return noise.rounded(Fraction(1))
        return noise

    def make_evidence(self, proposal: "Proposal") -> LatticeBound:
        """Return the multipliers of a proposal, in integers."""
        import numpy as np

        units = float(1 / _UNIT)
        weights = [round(weight) for weight in (proposal.weights * units).tolist()]
        shifts, points, tests = proposal.pairs
        order = np.lexsort((points, shifts))
        order = order[tests[order] * units >= 1]
        rows = (
            (shift, point, min(round(test), weights[shift - 1]))
            for shift, point, test in zip(
                shifts[order].tolist(),
                points[order].tolist(),
                (tests[order] * units).tolist(),
                strict=True,
            )
        )
        falls = [round(fall) for fall in (proposal.falls * units).tolist()]
        return LatticeBound(
            frame=self.frame,
            unit=self.scale * _UNIT,
            weights=tuple(weights),
            tests=tuple(_join_runs(rows)),
            falls=tuple(falls),
            floors=tuple(self.floors),
        )

    def _average_costs(self) -> list[Fraction]:
        """Return the average cost of an error in each cell; on the integers, of each point."""
        cost, step = self.problem.cost, self.problem.sensitivity / self.frame.cells
        if self.frame.rule == "points":
            return [cost.value(k * step).middle for k in range(self.frame.reach + 1)]
        half = Fraction(1 + self.frame.edged, 2)
        edges = [step * (k + half) for k in range(self.frame.reach + 1)]
        if type(cost) is Cost:  # Simpson's rule: a proposal needs no proof, an integral takes long
            values = [cost.value(x).middle for edge in edges for x in (edge - step / 2, edge)]
            starts = [cost.value(Fraction(0)).middle, *values[1::2]]
            middles = [values[0] if self.frame.edged else starts[0], *values[2::2]]
            return [
                (a + 4 * m + b) / 6 for a, m, b in zip(starts, middles, values[1::2], strict=False)
            ]
        areas = [cost.integral(edge).middle for edge in edges]
        first = areas[0] / step * (1 if self.frame.edged else 2)
        return [first, *((b - a) / step for a, b in pairwise(areas))]


def _join_runs(rows: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Join (shift, point, value) of neighboring points to runs."""
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


def _make_frame(problem: Problem, cells: int, window: int) -> Frame:
    """Return the lattice of ``cells`` cells to a Δ that reaches ``window`` Δ to each side."""
    if problem.integer:
        rule = "points" if cells == problem.sensitivity else "smoothed"
    else:
        rule = "cells" if _find_jumps(problem.cost) else "chords"
    return Frame(rule, cells, cells * window)


def _find_jumps(cost: Cost) -> bool:
    return any(cost.beyond(kink) > cost.value(kink).upper for kink in cost.kinks)


def _choose_cells(problem: Problem) -> int:
    """Return the number of cells to a Δ of the first lattice: more for a larger ε."""
    if problem.integer and problem.sensitivity <= _LARGEST_POINTWISE:
        return int(problem.sensitivity)
    epsilon = as_float(problem.privacy.epsilon)
    cells = min(32, max(1 + 2 * (problem.shape == "unimodal"), round(8 * epsilon)))
    return _align(problem, max(cells, 8) if not epsilon else cells)


def _refine(problem: Problem, cells: int, excess: float, finest: float) -> int:
    """Return the cells to a Δ of the next lattice.

    The gap falls like 1/m², so m grows like √excess. The stride is limited, and also by the
    remaining time: the time of a solve grows like m⁴.
    """
    stride = min(2.0, max(1.25, 1.08 * math.sqrt(excess)), max(1.1, finest))
    return _align(problem, math.ceil(cells * stride))


def _align(problem: Problem, cells: int) -> int:
    """Return the next larger number of cells that puts the cost's kinks on the lattice."""
    denominators = (kink / problem.sensitivity for kink in problem.cost.kinks)
    least = math.lcm(*(place.denominator for place in denominators))
    return -(-cells // least) * least if least <= _FINEST_KINK else cells


def _find_radius(problem: Problem) -> int:
    """Return the radius of the canonical noise of this guarantee, in Δ, plus one.

    For δ = 0 the noise is unbounded; its radius is then where the rest of its cost is negligible.
    """
    delta, factor = as_float(problem.privacy.delta), _factor(problem)
    constant_beyond = problem.cost.constant_beyond
    tail, steps, cost = (1 - delta) / (1 + factor), 1, 0.0
    while tail > 0 and steps < _MOST_POINTS:
        value = as_float(problem.cost.value(steps * problem.sensitivity).middle)
        cost += tail * value
        if not delta and tail * value * steps < 1e-7 * cost:
            break
        constant = constant_beyond is not None and steps * problem.sensitivity > constant_beyond
        if not problem.privacy.epsilon and constant:
            break
        tail = (tail - delta) / factor
        steps += 1
    return steps + 1


def _choose_scale(problem: Problem) -> Fraction:
    """Return a power of 2 near the cost of the noise, so that the solver sees numbers near 1."""
    delta, factor = as_float(problem.privacy.delta), _factor(problem)
    tail, total, step = (1 - delta) / (1 + factor), 0.0, 1
    for step in range(1, _find_radius(problem) + 1):
        lower, upper = (
            as_float(problem.cost.value((step - back) * problem.sensitivity).middle)
            for back in (1, 0)
        )
        total += 2 * max(tail, 0.0) * (upper - lower)
        tail = (tail - delta) / factor
    return Fraction(2) ** math.frexp(total)[1] if total > 0 else Fraction(1)


def _factor(problem: Problem) -> float:
    return math.exp(min(as_float(problem.privacy.epsilon), 500.0))
