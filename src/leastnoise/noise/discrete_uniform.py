"""Uniform noise on a lattice, with extra mass at 0 and less at the two ends: what is drawn."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, Number, count, described, positive
from leastnoise.noise.base import TicketNoise


@dataclass(frozen=True, init=False, repr=False)
class DiscreteUniform(TicketNoise):
    """The lattice's P_α, in whole weights: a law that one uniform integer draws.

    Of ``total`` equal tickets, each point j·step with |j| ≤ ``reach`` holds ``level``, the points
    ±(reach+1)·step hold ``rim`` ≤ level each, and 0 holds ``atom`` more. Among symmetric noises on
    the integers that never rise away from 0 and are (0, δ)-private, the cheapest has this shape
    (docs/theory/supporting-line.md); a rounded :class:`Uniform` has it too.

    >>> DiscreteUniform(reach=4, level=2, rim=1).pmf(5)
    0.05
    """

    step: Fraction
    reach: int
    level: int
    rim: int
    atom: int

    def __init__(
        self, *, reach: int, level: int = 1, rim: int = 0, atom: int = 0, step: Number = 1
    ) -> None:
        """Check that the weights are whole, and that they never rise away from 0."""
        object.__setattr__(self, "step", positive(step, "step"))
        object.__setattr__(self, "reach", count(reach, "reach", least=0))
        object.__setattr__(self, "level", count(level, "level", least=1))
        object.__setattr__(self, "rim", count(rim, "rim", least=0))
        object.__setattr__(self, "atom", count(atom, "atom", least=0))
        if self.rim > self.level:
            raise InvalidParameter(
                "the weight of the rim must be at most the level; "
                f"got {described(rim)} above {described(level)}. "
                "Give weights that never rise away from 0."
            )

    @cached_property
    def total(self) -> int:
        """The number of tickets: all weights together."""
        return self.atom + (2 * self.reach + 1) * self.level + 2 * self.rim

    @property
    def farthest(self) -> int:
        """The largest index the noise can have."""
        return self.reach + (1 if self.rim else 0)

    def weight(self, index: int) -> int:
        """Return the tickets that the point index·step holds."""
        size = abs(index)
        if size > self.reach:
            return self.rim if size == self.reach + 1 else 0
        return self.level + (self.atom if size == 0 else 0)

    def central(self, points: int) -> Fraction:
        """Return the mass of that many points in the middle.

        A symmetric law that never rises away from 0 is at this distance in total variation from
        itself moved by ``points`` steps (docs/theory/theorem-1.md).
        """
        full = min(points, 2 * self.reach + 1)
        rims = min(points - full, 2)
        tickets = full * self.level + rims * self.rim + (self.atom if points else 0)
        return Fraction(tickets, self.total)

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        tickets = confidence * self.total - self.atom
        index = ceil((tickets / self.level - 1) / 2)
        return min(max(index, 0), self.farthest)

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket: rim, level and rim from left to right, the atom."""
        if ticket >= self.total - self.atom:
            return 0
        return (ticket + self.level - self.rim) // self.level - self.reach - 1

    def indices_of(self, tickets: Any) -> Any:
        """Return the index that holds each ticket of an array."""
        indices = (tickets + (self.level - self.rim)) // self.level - (self.reach + 1)
        if self.atom:
            indices[tickets >= self.total - self.atom] = 0
        return indices

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        index = floor(upto / self.step)
        tickets = min(max(index + self.reach + 1, 0), 2 * self.reach + 1) * self.level
        tickets += self.rim * ((index >= -self.reach - 1) + (index >= self.reach + 1))
        return Fraction(tickets + (self.atom if index >= 0 else 0), self.total)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        tickets = probability * self.total
        left = self.reach * self.level + self.rim
        if tickets <= left:
            index = ceil((tickets - self.rim) / self.level) - self.reach - 1
        else:
            index = max(0, ceil((tickets - self.atom - self.rim) / self.level) - self.reach - 1)
        return min(max(index, -self.farthest), self.farthest) * self.step

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        reach = self.reach
        squares = reach * (reach + 1) * (2 * reach + 1) // 3 * self.level
        return self.step**2 * Fraction(squares + 2 * self.rim * (reach + 1) ** 2, self.total)

    def enclose(self, cost: Cost) -> Interval:
        """Enclose the expected cost: the sum of L over the lattice, weighted."""
        spread = cost.total(self.step, self.reach).scaled(2 * self.level)
        spread += cost.value(Fraction(0)).scaled(self.level + self.atom)
        if self.rim:
            spread += cost.value((self.reach + 1) * self.step).scaled(2 * self.rim)
        return spread.scaled(Fraction(1, self.total))
