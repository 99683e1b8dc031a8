"""Uniform noise with a point mass at 0, the paper's P_α: on the line and on the lattice."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import ClassVar

from leastnoise.core.exact import (
    Number,
    parse_count,
    parse_positive,
    parse_rational,
    quote,
)
from leastnoise.core.lattice import Run, lattice_for
from leastnoise.core.noise.kinds import FiniteLatticeNoise, PiecewiseNoise
from leastnoise.core.sampling import TicketScheme
from leastnoise.errors import InvalidParameter


@dataclass(frozen=True, init=False, repr=False)
class Uniform(PiecewiseNoise):
    """P_α of GDGK19: mass ``atom`` at 0, the rest spread evenly over [−radius, radius].

    With radius w = (1−α)Δ / (2(δ−α)) and atom α it is (0, δ)-private at sensitivity Δ, and for the
    right α it is optimal among symmetric unimodal noise (Theorem 2).

    ============ ==========================================
    support      [−w, w]
    density      (1−α) / 2w, beside the mass α at 0
    E|X|, E X²   (1−α)·w/2, (1−α)·w²/3
    ============ ==========================================

    Args:
        radius: w > 0, the maximum size.
        atom: α, the probability of the point mass at 0, from 0 to less than 1. Default: 0.

    >>> Uniform(radius=5).cdf(1), Uniform(radius=1, atom=0.5).atoms
    (0.6, {Fraction(0, 1): Fraction(1, 2)})
    """

    width: Fraction
    atom: Fraction

    stored: ClassVar = {"radius": "rational", "atom": "rational"}
    is_unimodal = True

    def __init__(self, radius: Number, atom: Number = 0) -> None:
        exact = parse_rational(atom, "atom")
        if not 0 <= exact < 1:
            raise InvalidParameter(
                "atom must be at least 0 and less than 1",
                got=quote(atom),
                fix="Use the probability of the point mass at 0.",
            )
        object.__setattr__(self, "width", parse_positive(radius, "radius"))
        object.__setattr__(self, "atom", exact)

    @property
    def radius(self) -> Fraction:
        """The half-width w: the maximum size of this noise."""
        return self.width

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own."""
        return {Fraction(0): self.atom} if self.atom else {}

    @property
    def density(self) -> Fraction:
        """The density beside the atom, (1−α)/2w."""
        return (1 - self.atom) / (2 * self.width)

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The one piece of positive density."""
        return ((-self.width, self.width, self.density),)

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return α + (1−α)·min(1, Δ/2w) (Theorem 1)."""
        spread = min(Fraction(1), sensitivity / (2 * self.width))
        return self.atom + (1 - self.atom) * spread

    def scaled(self, factor: Number) -> "Uniform":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        return Uniform(parse_positive(factor, "factor") * self.width, self.atom)

    def discretize(self, sensitivity: Fraction) -> "DiscreteUniform":
        """Return P_α rounded to the lattice, as private there as this noise is at ``sensitivity``.

        Its radius is (M + 1/2)·g, so that all n = 2M + 1 cells are whole and it is sampled by one
        uniform integer below A + n, A of them for the mass at 0. At k + 1 steps, where k = ⌈Δ/g⌉,
        its distance in total variation is (A + k + 1)/(A + n): A is the largest number for which
        that does not exceed the distance δ of this noise at Δ.
        """
        step, protected = lattice_for(sensitivity)
        reach = ceil(self.width / sensitivity * protected - Fraction(1, 2))
        if not self.atom:
            return DiscreteUniform(step=step, reach=reach)
        delta = self.total_variation(sensitivity)
        spare = (delta * (2 * reach + 1) - protected) / (1 - delta)
        return DiscreteUniform(step=step, reach=reach, atom=floor(spare))

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        spread = min(max(upto + self.width, Fraction(0)), 2 * self.width)
        return spread * self.density + (self.atom if upto >= 0 else 0)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability, exactly."""
        below = (1 - self.atom) / 2
        if probability <= below:
            return probability / self.density - self.width
        right = (probability - self.atom) / self.density - self.width
        return max(right, Fraction(0))

    def variance(self) -> Fraction:
        """Return (1−α)·w²/3."""
        return (1 - self.atom) * self.width**2 / 3

    def _pdf(self, place: Fraction | float) -> Fraction:
        inside = not isinstance(place, float) and abs(place) <= self.width
        return self.density if inside else Fraction(0)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteUniform(FiniteLatticeNoise):
    """The lattice's P_α, in integer weights: one uniform integer samples it.

    Optimal among symmetric unimodal noise on the integers that is (0, δ)-private, for the right
    weights (docs/theory/supporting-line.md). A rounded :class:`Uniform` has this shape too.

    Args:
        reach: The largest j ≥ 0 for which j·step has the weight ``level``.
        level: The weight of each point j·step with |j| ≤ reach, at least 1. Default: 1.
        rim: The weight of ±(reach+1)·step, at most ``level``. Default: 0.
        atom: The further weight of 0. Default: 0.
        step: The step of the lattice, above 0. Default: 1.

    >>> DiscreteUniform(reach=4, level=2, rim=1).pmf(5)
    0.05
    """

    step: Fraction
    reach: int
    level: int
    rim: int
    atom: int

    stored: ClassVar = {
        "step": "rational",
        **dict.fromkeys(("reach", "level", "rim", "atom"), "integer"),
    }
    is_unimodal = True

    def __init__(
        self, *, reach: int, level: int = 1, rim: int = 0, atom: int = 0, step: Number = 1
    ) -> None:
        object.__setattr__(self, "step", parse_positive(step, "step"))
        object.__setattr__(self, "reach", parse_count(reach, "reach", least=0))
        object.__setattr__(self, "level", parse_count(level, "level", least=1))
        object.__setattr__(self, "rim", parse_count(rim, "rim", least=0))
        object.__setattr__(self, "atom", parse_count(atom, "atom", least=0))
        if self.rim > self.level:
            raise InvalidParameter(
                "rim must be at most level",
                got=f"{quote(rim)} above {quote(level)}",
                fix="Use weights that do not increase away from 0.",
            )

    @cached_property
    def scheme(self) -> TicketScheme:
        """One uniform integer decides the index."""
        return TicketScheme(side=self.reach, level=self.level, rim=self.rim, atom=self.atom)

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.scheme.total

    @cached_property
    def equal_runs(self) -> tuple[Run, ...]:
        """The rim, the level, 0 with its atom, the level and the rim."""
        return self.scheme.runs

    def central(self, points: int) -> Fraction:
        """Return the mass of that many points in the middle (docs/theory/theorem-1.md)."""
        full = min(points, 2 * self.reach + 1)
        rims = min(points - full, 2)
        weight = full * self.level + rims * self.rim + (self.atom if points else 0)
        return Fraction(weight, self.total)

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        weight = confidence * self.total - self.atom
        index = ceil((weight / self.level - 1) / 2)
        return min(max(index, 0), self.farthest)
