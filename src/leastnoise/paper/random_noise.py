"""Distributions and numbers that look arbitrary and never change, on which claims are checked.

They are derived from SHA-256 of a name and a counter, so every run checks the same inputs. This is
not a source of noise: anyone with the name can compute every number.
"""

from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import TypeVar

from leastnoise.core.noise import Steps, Uniform
from leastnoise.core.privacy import Privacy

Item = TypeVar("Item")
# Unit lengths of lattices on which densities change.
_UNITS = (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5, 7))


class Sample:
    """A reproducible sequence of integers for one check of one statement; never for noise."""

    def __init__(self, name: str, number: int) -> None:
        self._name = f"{name}/{number}"
        self._count = 0

    def integer(self, low: int, high: int) -> int:
        """Return the next integer from ``low`` to ``high``, both included."""
        digest = sha256(f"{self._name}/{self._count}".encode()).digest()
        self._count += 1
        return low + int.from_bytes(digest[:8]) % (high - low + 1)

    def choice(self, items: Sequence[Item]) -> Item:
        """Return the next choice among items."""
        return items[self.integer(0, len(items) - 1)]

    def fraction(self, parts: int = 60) -> Fraction:
        """Return the next fraction between 0 and 1, both excluded."""
        return Fraction(self.integer(1, parts - 1), parts)

    def size(self) -> Fraction:
        """Return the next size, between 0 and 8."""
        return 8 * self.fraction(960)

    def steps(self) -> Steps:
        """Return noise of any shape: up to 5 pieces with gaps, and up to 3 atoms."""
        unit = self.choice(_UNITS)
        spans = [self.integer(1, 4) for _ in range(self.integer(1, 5))]
        start = self.integer(-8, 4)
        breaks = [unit * x for x in accumulate(spans, initial=start)]
        weights = [self.integer(0, 5) for _ in spans]
        weights[self.integer(0, len(spans) - 1)] += 1  # so that some weight is positive
        atoms = {unit * self.integer(-6, 6): self.integer(1, 4) for _ in range(self.integer(0, 3))}
        return _normalize(breaks, weights, atoms)

    def symmetric(self, atoms: int = 0) -> Steps:
        """Return symmetric noise, unimodal or not, with at least so many atoms beyond 0."""
        unit = self.choice(_UNITS)
        edges, weights = self._half(unit)
        masses = {Fraction(0): self.integer(0, 3)}
        for _ in range(self.integer(atoms, 2)):
            place = unit * self.integer(1, 5)
            masses[place] = masses[-place] = self.integer(1, 4)
        return _normalize(_mirror(edges), weights[::-1] + weights, masses)

    def unimodal(self, unit: Fraction | None = None) -> Steps:
        """Return symmetric unimodal noise with breaks at multiples of a unit."""
        edges, weights = self._half(unit or self.choice(_UNITS))
        falling = sorted(weights, reverse=True)
        atom = self.integer(0, 6)
        return _normalize(_mirror(edges), falling[::-1] + falling, {Fraction(0): atom})

    def p_alpha(self, sensitivity: Fraction) -> tuple[Fraction, Uniform]:
        """Return δ and some P_α that GDGK19 defines for it."""
        delta = self.fraction()
        atom = self.choice((Fraction(0), delta * self.fraction()))
        return delta, p_alpha(atom, delta, sensitivity)

    def _half(self, unit: Fraction) -> tuple[list[Fraction], list[int]]:
        """Return breaks from 0 on and a positive weight for each piece."""
        spans = [self.integer(1, 4) for _ in range(self.integer(1, 6))]
        edges = [unit * x for x in accumulate(spans, initial=0)]
        return edges, [self.integer(1, 12) for _ in spans]


def p_alpha(atom: Fraction, delta: Fraction, sensitivity: Fraction) -> Uniform:
    """Return P_α: mass α at 0, and density (δ − α)/Δ elsewhere (GDGK19, Section 3)."""
    return Uniform.for_privacy(Privacy(delta=delta), sensitivity=sensitivity, atom=atom)


def _mirror(edges: list[Fraction]) -> list[Fraction]:
    return [-x for x in reversed(edges[1:])] + edges


def _normalize(breaks: list[Fraction], weights: list[int], atoms: dict[Fraction, int]) -> Steps:
    spread = (w * (b - a) for (a, b), w in zip(pairwise(breaks), weights, strict=True))
    total = sum(spread, Fraction(0)) + sum(atoms.values())
    return Steps(breaks, [w / total for w in weights], {x: m / total for x, m in atoms.items()})
