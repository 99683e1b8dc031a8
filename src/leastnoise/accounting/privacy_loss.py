"""The distribution of privacy losses 0, ±h, ±2h, … on a grid, in integers.

The privacy loss of an output x is ln p(x)/q(x). For a pair (P, Q) only the distribution of the loss
under P matters: δ(ε) is the mass at infinity plus the sum of mass·(1 − e^(ε − loss)) over the
losses above ε. The loss of two independent outputs is the sum of their losses.
docs/theory/composition.md has the proofs. Every number here is rounded to a stated side, so the
bounds are proved.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate

from leastnoise.core.exact import Interval, exponential, product

# Guard digits of e^h.
_GUARD_BITS = 24

Bracket = tuple[int, int]


@dataclass(frozen=True)
class LossGrid:
    """A grid: losses are multiples of ``step``, and probabilities multiples of 2^−bits."""

    step: Fraction
    bits: int

    @property
    def one(self) -> int:
        """The probability 1."""
        return 1 << self.bits

    @cached_property
    def factor(self) -> Bracket:
        """Integers around e^step, times 2^bits."""
        return self.scaled(exponential(self.step, self.bits + _GUARD_BITS))

    @cached_property
    def fall(self) -> Bracket:
        """Integers around e^−step, times 2^bits."""
        return self.scaled(exponential(-self.step, self.bits + _GUARD_BITS))

    def scaled(self, number: Interval) -> Bracket:
        """Return integers around a number times 2^bits."""
        return self.below(number.lower), self.above(number.upper)

    def below(self, number: Fraction) -> int:
        """Round a number down, in units of 2^−bits."""
        return (number.numerator << self.bits) // number.denominator

    def above(self, number: Fraction) -> int:
        """Round a number up, in units of 2^−bits."""
        return -((-number.numerator << self.bits) // number.denominator)

    def powers(self, base: Bracket, count: int) -> list[Bracket]:
        """Return integers around base⁰, base¹, … base^count, times 2^bits."""
        low = high = self.one
        powers = [(low, high)]
        for _ in range(count):
            low, high = low * base[0] >> self.bits, -(-high * base[1] >> self.bits)
            powers.append((low, high))
        return powers


@dataclass(frozen=True)
class Losses:
    """Masses at the losses first·h, (first + 1)·h, … and at infinity, in units of 2^−bits.

    ``above`` is the side to which all numbers are rounded: if it is True, δ(ε) is a proved upper
    bound for the composition, otherwise a proved lower bound. Masses need not add up to 1. More
    mass only raises δ, at every ε and in every composition; less mass only lowers it.
    """

    grid: LossGrid
    first: int
    masses: list[int]
    infinite: int
    above: bool

    def convolve(self, other: "Losses", negligible: int) -> "Losses":
        """Return the distribution of the sum of two losses, trimmed (:meth:`trim`)."""
        totals = sum(self.masses), sum(other.masses) + other.infinite
        infinite = self._round(self.infinite * totals[1] + totals[0] * other.infinite)
        exact = product(self.masses, self.masses if other is self else other.masses)
        masses = [self._round(mass) for mass in exact]
        first = self.first + other.first
        return Losses(self.grid, first, masses, infinite, self.above).trim(negligible)

    def power(self, count: int, negligible: int) -> "Losses":
        """Return the distribution of the sum of ``count`` ≥ 1 equal losses, by squaring."""
        if count == 1:
            return self
        half = self.power(count // 2, negligible)
        square = half.convolve(half, negligible)
        return square.convolve(self, negligible) if count % 2 else square

    def trim(self, negligible: int) -> "Losses":
        """Return the distribution without losses at each end that hold at most ``negligible``.

        If it is rounded up, mass above the highest remaining loss moves to infinity, and mass below
        the lowest moves up to it. If it is rounded down, both are omitted.
        """
        masses = self.masses
        before = _count_below(masses, negligible)
        after = min(_count_below(masses[::-1], negligible), len(masses) - 1 - before)
        middle = masses[before : len(masses) - after]
        infinite = self.infinite
        if self.above:
            middle[0] += sum(masses[:before])
            infinite += sum(masses[len(masses) - after :])
        return Losses(self.grid, self.first + before, middle, infinite, self.above)

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return δ(ε) for ε ≥ 0: the mass at infinity, and the contribution of losses above ε."""
        place = epsilon // self.grid.step
        index = place - self.first
        if index >= len(self.masses) - 1:
            return Fraction(self.infinite, self.grid.one)
        if index < 0:  # all losses lie above ε
            index, place = -1, self.first - 1
        beyond = exponential(epsilon - place * self.grid.step, self.grid.bits)
        share = beyond.lower if self.above else beyond.upper
        mass, less = self._beyond[index + 1]
        delta = Fraction(self.infinite + mass) - share * less
        return min(max(delta, Fraction(self.infinite)) / self.grid.one, Fraction(1))

    def excess(self, index: int) -> int:
        """Return δ at the loss (first + index)·h, in units, for −1 ≤ index."""
        mass, less = self._beyond[index + 1]
        return self.infinite + mass - less

    @cached_property
    def _beyond(self) -> list[tuple[int, int]]:
        """For indices −1, 0, …: the mass beyond the index, and that mass weighted by e^−distance.

        The weighted mass is subtracted, so it is rounded down if δ is an upper bound, otherwise up.
        """
        shrink = self.grid.fall[0 if self.above else 1]
        sums, mass, weighted = [(0, 0)], 0, 0
        for loss_mass in reversed(self.masses):
            mass += loss_mass
            weighted = (loss_mass + weighted) * shrink
            weighted = weighted >> self.grid.bits if self.above else -(-weighted >> self.grid.bits)
            sums.append((mass, weighted))
        return sums[::-1]

    def _round(self, exact: int) -> int:
        return -(-exact >> self.grid.bits) if self.above else exact >> self.grid.bits


def convolve_all(parts: list[Losses], negligible: int) -> Losses:
    """Return the distribution of the sum of one or more losses, shortest distributions first."""
    waiting = [(len(part.masses), i, part) for i, part in enumerate(parts)]
    heapify(waiting)
    while len(waiting) > 1:
        (_, i, first), (_, _, second) = heappop(waiting), heappop(waiting)
        both = first.convolve(second, negligible)
        heappush(waiting, (len(both.masses), i, both))
    return waiting[0][2]


def _count_below(masses: list[int], negligible: int) -> int:
    """Return how many masses from the start add up to at most ``negligible``; never all of them."""
    for index, total in enumerate(accumulate(masses)):
        if total > negligible:
            return index
    return max(0, len(masses) - 1)
