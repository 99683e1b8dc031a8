"""A piecewise constant law on a lattice, in whole weights: what a rounded Steps is."""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import floor
from typing import Any

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval
from leastnoise.noise.base import Run, TicketNoise


@dataclass(frozen=True, repr=False)
class DiscreteSteps(TicketNoise):
    """Runs of lattice points of equal weight, from left to right without overlap.

    Made by rounding a :class:`~leastnoise.noise.steps.Steps` to a lattice; drawn by one ticket.
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
    def standing_out(self) -> int:
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

    def indices_of(self, tickets: Any) -> Any:
        """Return the index that holds each ticket of an array."""
        import numpy as np

        ends = np.array(self._tickets, dtype=np.int64)
        place = np.searchsorted(ends, tickets, side="right")
        before = np.concatenate(([0], ends))[place]
        weights = np.array([run.weight for run in self.runs], dtype=np.int64)
        return np.array(self._firsts, dtype=np.int64)[place] + (tickets - before) // weights[place]

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

    def enclose(self, cost: Cost) -> Interval:
        """Enclose the expected cost: a difference of two sums of L for each run."""
        total = cost.value(Fraction(0)).scaled(self.weight(0))
        for run in self.runs:
            last = run.first + run.points - 1
            for near, far in ((max(run.first, 1), last), (max(-last, 1), -run.first)):
                if far >= near:
                    terms = cost.total(self.step, far) - cost.total(self.step, near - 1)
                    total += terms.scaled(run.weight)
        return total.scaled(Fraction(1, self.total))

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
