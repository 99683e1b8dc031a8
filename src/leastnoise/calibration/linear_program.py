"""The linear program of the optimal noise on a lattice, in floats: no proof relies on it.

Columns: p_k, the mass of each point (a point and its mirror image share one), the mass t beyond the
lattice and the mass a at 0. Rows: the total mass is 1; for each shift j, H_j ≤ δ; and for a pair of
points (i, i−j) the excess s ≥ p_i − e^ε·p_(i−j). A pair is added only if its row would be violated.
Most rows are never violated, so the program stays small.

HiGHS solves it, without presolve, which calls feasible programs infeasible at δ = 1e-9. This module
loads HiGHS and numpy, so it is imported only to solve.
"""

from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from leastnoise.calibration.deadline import Deadline
from leastnoise.certificate import Frame

Floats = NDArray[Any]

# Violations below this part of δ are left to the exact repair.
_SLACK = 1e-7
_TOLERANCE = 1e-10
# A pair is added from the start if a coarser solution comes this close to violating its row.
_NEARLY = 1e-6


@dataclass(frozen=True)
class Proposal:
    """A solution in floats: masses by side, and multipliers (ν, y and μ of certificates).

    ``pairs`` are (shift, point, y). ``finished`` is False if pairs with violated rows are missing.
    A program with fewer pairs has a smaller minimum, so its multipliers still prove a bound.
    """

    masses: Floats
    atom: float
    beyond: float
    weights: Floats
    pairs: tuple[Floats, Floats, Floats]
    falls: Floats
    finished: bool


class LinearProgram:
    """The linear program of one lattice, with e^ε and δ as floats, for any prices."""

    def __init__(
        self, frame: Frame, factor: float, delta: float, *, decreasing: bool, deadline: Deadline
    ) -> None:
        """Pose the program, with the pairs of the largest shift alone."""
        self.frame, self.factor, self.delta, self.deadline = frame, factor, delta, deadline
        self.decreasing = decreasing
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no types
        solver = self._solver
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
        ):
            solver.setOptionValue(option, value)
        places = np.arange(frame.points) - frame.reach
        self._side = np.where(places > 0, places - frame.edged, -places).astype(np.int32)
        self._count = np.bincount(self._side).astype(float)
        self._tail, self._atom = frame.reach + 1, frame.reach + 2
        self._pairs: list[tuple[Any, Any]] = []
        self._has = np.zeros((frame.cells + 1, frame.points), bool)
        self._fall_rows = frame.reach if decreasing else 0
        # The masses of the points, the mass beyond the lattice and the mass at 0.
        self._add_columns(frame.reach + 3, np.zeros(0, np.int32))
        self._add_rows()
        points = np.arange(frame.cells, frame.points)
        if decreasing:  # beyond half a shift, unimodal noise never exceeds its shifted copy
            points = points[2 * (points - frame.reach) - frame.edged < frame.cells]
        self._add_pairs(np.full(len(points), frame.cells), points)

    def _add_rows(self) -> None:
        """Add the rows of the total mass, of each shift, and of unimodality; no pairs yet."""
        frame, columns = self.frame, self.frame.reach + 3
        self._add_row(1.0, 1.0, np.concatenate([self._count, [1.0, 1.0]]))
        for shift in range(1, frame.cells + 1):
            row = np.zeros(columns)
            if shift == frame.cells or not self.decreasing:
                np.add.at(row, self._side[:shift], 1.0)
                row[self._tail], row[self._atom] = (1 - self.factor) / 2, 1.0
            self._add_row(-highspy.kHighsInf, self.delta, row)
        for k in range(self._fall_rows):
            row = np.zeros(columns)
            row[k], row[k + 1] = 1.0, -1.0
            self._add_row(0.0, highspy.kHighsInf, row)

    def seed(self, coarse: Frame, proposal: Proposal) -> None:
        """Add the pairs whose rows the masses of a coarser lattice, spread to this one, violate."""
        offset, ratio = self.frame.edged / 2, coarse.cells / self.frame.cells
        places = (np.arange(self.frame.reach + 1) + offset) * coarse.cells / self.frame.cells
        sides = np.minimum(np.floor(places + (0.5 - offset)), coarse.reach).astype(int)
        masses = proposal.masses[sides] * ratio
        pairs = self._needed_pairs(masses[self._side], proposal.atom, 0.9 * self.delta, -_NEARLY)
        self._add_pairs(*pairs)

    def minimize(
        self, prices: list[float], *, beyond: float | None, atom: float | None
    ) -> Proposal | None:
        """Return the solution of least cost at these prices of the points; None forbids a column.

        If the solver stops early, the result is its last solution, with fewer pairs, or None.
        """
        solver = self._solver
        costs = np.concatenate([np.array(prices) * self._count, [beyond or 0.0, atom or 0.0]])
        columns = np.arange(len(costs), dtype=np.int32)
        solver.changeColsCost(len(costs), columns, costs)
        for column, price in ((self._tail, beyond), (self._atom, atom)):
            solver.changeColBounds(column, 0.0, 0.0 if price is None else highspy.kHighsInf)
        last: Proposal | None = None
        while True:
            values = self._run()
            if values is None:
                return last
            last = self._read(values)
            extra = (1 - self.factor) / 2 * values[self._tail] + values[self._atom]
            if self.decreasing:
                return replace(last, finished=True)
            shifts, points = self._needed_pairs(
                values[self._side], extra, self.delta * (1 + _SLACK) + 1e-13, 0.0
            )
            if not len(shifts):
                return replace(last, finished=True)
            self._add_pairs(shifts, points)

    def _run(self) -> Floats | None:
        """Return the values of the columns; None if time is up or rounding stopped the solver."""
        left = self.deadline.left
        if left <= 0:
            return None
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        values: Floats = np.array(self._solver.getSolution().col_value)
        return np.maximum(values, 0.0)

    def _needed_pairs(
        self, masses: Floats, extra: float, limit: float, least: float
    ) -> tuple[Floats, Floats]:
        """Return the pairs (shift, point) of excess above ``least`` of shifts beyond ``limit``."""
        shifts, points = [], []
        for shift in range(1, self.frame.cells + 1):
            excess = masses.copy()
            excess[shift:] -= self.factor * masses[: max(0, len(masses) - shift)]
            if np.maximum(excess, 0).sum() + extra <= limit:
                continue
            violated = (excess > least * masses) & ~self._has[shift]
            violated[:shift] = False
            missing = np.flatnonzero(violated)
            shifts.append(np.full(len(missing), shift))
            points.append(missing)
        none = np.zeros(0, int)
        return np.concatenate([none, *shifts]), np.concatenate([none, *points])

    def _add_pairs(self, shifts: Floats, points: Floats) -> None:
        """Add a column s and a row s ≥ p_i − e^ε·p_(i−j) for each pair."""
        count = len(shifts)
        if not count:
            return
        first = self._solver.getNumCol()
        indices = np.arange(count, dtype=np.int32)
        self._add_columns(count, shifts.astype(np.int32))
        near, far = self._side[points], self._side[points - shifts]
        same = near == far
        columns = np.stack([first + indices, near, far], axis=1)
        scaled = np.full(count, self.factor)
        values = np.stack([np.ones(count), np.where(same, self.factor - 1, -1.0), scaled], axis=1)
        is_used = np.ones((count, 3), bool)
        is_used[same, 2] = False
        lengths = is_used.sum(axis=1)
        self._solver.addRows(
            count,
            np.zeros(count),
            np.full(count, highspy.kHighsInf),
            int(lengths.sum()),
            np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int32),
            columns[is_used].astype(np.int32),
            values[is_used],
        )
        self._has[shifts, points] = True
        self._pairs.append((shifts, points))

    def _add_columns(self, count: int, rows: Floats) -> None:
        """Add columns of cost 0 with lower bound 0: each with a 1 in its row, or all in no row."""
        starts = np.arange(count, dtype=np.int32) if len(rows) else np.zeros(count, np.int32)
        free = np.zeros(count)
        most = np.full(count, highspy.kHighsInf)
        self._solver.addCols(count, free, free, most, len(rows), starts, rows, np.ones(len(rows)))

    def _add_row(self, low: float, high: float, row: Floats) -> None:
        places = np.flatnonzero(row).astype(np.int32)
        self._solver.addRow(low, high, len(places), places, row[places])

    def _read(self, values: Floats) -> Proposal:
        """Return the values and multipliers of the solver as a proposal."""
        duals = np.array(self._solver.getSolution().row_dual)
        cells, reach = self.frame.cells, self.frame.reach
        start = 1 + cells + self._fall_rows
        shifts = np.concatenate([shifts for shifts, _ in self._pairs])
        points = np.concatenate([points for _, points in self._pairs])
        return Proposal(
            masses=values[: reach + 1],
            atom=float(values[self._atom]),
            beyond=float(values[self._tail]),
            weights=np.maximum(-duals[1 : 1 + cells], 0.0),
            pairs=(shifts, points, np.maximum(duals[start:], 0.0)),
            falls=np.maximum(duals[1 + cells : start], 0.0),
            finished=False,
        )
