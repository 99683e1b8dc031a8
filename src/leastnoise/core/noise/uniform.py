"""Uniform noise with a point mass at 0, the paper's P_α: on the line and on the lattice."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import ClassVar, Self, overload

from leastnoise.core.exact import (
    Number,
    parse_count,
    parse_positive,
    parse_rational,
    quote,
)
from leastnoise.core.lattice import Run, choose_lattice
from leastnoise.core.noise.base import read_guarantee
from leastnoise.core.noise.kinds import FiniteLatticeNoise, PiecewiseNoise
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.core.sampling import TicketScheme
from leastnoise.errors import InvalidParameter


@dataclass(frozen=True, init=False, repr=False)
class Uniform(PiecewiseNoise):
    """P_α of GDGK19: mass ``atom`` at 0, the rest spread evenly over [−radius, radius].

    With radius w = (1−α)Δ / (2(δ−α)) and atom α it satisfies (0, δ) at sensitivity Δ. For the right
    α its expected cost is optimal among symmetric unimodal noise that does (Theorem 2). Construct
    it by its radius, or by δ and Δ (:meth:`for_privacy`).

    ============ ==========================================
    support      [−w, w]
    density      (1−α) / 2w, and mass α at 0
    E|X|, E X²   (1−α)·w/2, (1−α)·w²/3
    ============ ==========================================

    Args:
        radius: w > 0, the maximum size.
        atom: α, the probability of the point mass at 0, from 0 to less than 1, or to less than δ.
            Default: 0.
        delta: δ > 0 of a guarantee.
        sensitivity: Δ, with a guarantee.

    Raises:
        InvalidParameter: If an argument is invalid, or a radius and a guarantee are both given.

    >>> Uniform(radius=5).cdf(1), Uniform(radius=1, atom=0.5).atoms
    (0.6, {Fraction(0, 1): Fraction(1, 2)})
    >>> Uniform(delta="0.8", sensitivity=1, atom="0.4")
    Uniform(radius=0.75, atom=0.4)
    """

    width: Fraction
    atom: Fraction

    stored: ClassVar = {"radius": "rational", "atom": "rational"}
    is_unimodal = True

    @overload
    def __init__(self, radius: Number, atom: Number = 0) -> None: ...

    @overload
    def __init__(self, *, delta: Number, sensitivity: Number, atom: Number = 0) -> None: ...

    def __init__(
        self,
        radius: Number | None = None,
        atom: Number = 0,
        *,
        delta: Number | None = None,
        sensitivity: Number | None = None,
    ) -> None:
        parameters = {"radius": radius}
        target = read_guarantee("Uniform", parameters, {"delta": delta, "sensitivity": sensitivity})
        if target is not None:
            radius = Uniform.for_privacy(target[0], sensitivity=target[1], atom=atom).width
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
        """The atoms: places of positive probability, with their probabilities."""
        return {Fraction(0): self.atom} if self.atom else {}

    @property
    def density(self) -> Fraction:
        """The density (1−α)/2w on [−w, w], without the atom."""
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
        """Return P_α on the lattice, as private there as this noise is at ``sensitivity``.

        Its radius is (M + 1/2)·g, so it covers n = 2M + 1 complete cells. One uniform integer below
        A + n samples it, and A of these integers stand for the mass at 0. At k + 1 steps, where
        k = ⌈Δ/g⌉, its total variation distance is (A + k + 1)/(A + n). A is the largest integer for
        which this is at most the distance δ of this noise at Δ. Some A ≥ 0 exists for every radius
        and atom with δ < 1 (docs/theory/rounding.md). If δ = 1, this noise satisfies no guarantee,
        and A gives 0 the mass α.
        """
        step, steps = choose_lattice(sensitivity)
        reach = ceil(self.width / sensitivity * steps - Fraction(1, 2))
        if not self.atom:
            return DiscreteUniform(step=step, reach=reach)
        delta, points = self.total_variation(sensitivity), 2 * reach + 1
        if delta == 1:
            spare = points * self.atom / (1 - self.atom)
        else:
            spare = (delta * points - steps) / (1 - delta)
        return DiscreteUniform(step=step, reach=reach, atom=floor(spare))

    @classmethod
    def for_privacy(cls, privacy: Privacy, *, sensitivity: Number, atom: Number = 0) -> Self:
        """Return P_α of radius (1−α)Δ / (2(δ−α)), the narrowest with this point mass for δ.

        The noise satisfies (ε, δ) for no smaller δ at any ε, so the ε of ``privacy`` does not
        matter.

        Args:
            privacy: The guarantee, with δ > 0.
            sensitivity: Δ, how much one person can change the true answer.
            atom: α, the probability of the point mass at 0, from 0 to less than δ. Default: 0.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> Uniform.for_privacy(Privacy(delta="0.8"), sensitivity=1, atom="0.4")
        Uniform(radius=0.75, atom=0.4)
        """
        delta = as_privacy(privacy, "Privacy(delta=0.1)").delta
        mass = parse_rational(atom, "atom")
        if not 0 <= mass < delta:
            raise InvalidParameter(
                "atom must be at least 0 and less than δ",
                got=f"{quote(atom)} and {privacy}",
                fix="Use a smaller point mass, or a larger δ.",
            )
        exact = parse_positive(sensitivity, "sensitivity")
        return cls((1 - mass) * exact / (2 * (delta - mass)), mass)

    def probability_up_to(self, upto: Fraction) -> Fraction:
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
    """P_α on a lattice, in integer weights: one uniform integer samples it.

    For the right weights its expected cost is optimal among symmetric unimodal noise on the
    integers that satisfies (0, δ) (docs/theory/supporting-line.md). A rounded :class:`Uniform` has
    this shape too.

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
        """Sampling by one uniform integer."""
        return TicketScheme(side=self.reach, level=self.level, rim=self.rim, atom=self.atom)

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.scheme.total

    @cached_property
    def equal_runs(self) -> tuple[Run, ...]:
        """The rim, the level, 0 with its atom, the level and the rim."""
        return self.scheme.runs

    def central_mass(self, points: int) -> Fraction:
        """Return the mass of the central ``points`` points (docs/theory/theorem-1.md)."""
        full = min(points, 2 * self.reach + 1)
        rims = min(points - full, 2)
        weight = full * self.level + rims * self.rim + (self.atom if points else 0)
        return Fraction(weight, self.total)

    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""
        weight = confidence * self.total - self.atom
        index = ceil((weight / self.level - 1) / 2)
        return min(max(index, 0), self.farthest)
