"""The kinds of noise of which everything is exact, and what each family of a kind states."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import Number, format_exact, parse_positive, parse_rational, quote
from leastnoise.core.lattice import Run
from leastnoise.core.noise.base import LatticeNoise, LineNoise, Noise
from leastnoise.core.profile import PiecewiseCurve, Shape, StaircaseCurve
from leastnoise.core.sampling import RunScheme, TicketScheme
from leastnoise.errors import InvalidParameter


class PiecewiseNoise(LineNoise):
    """Noise on the line of piecewise constant density, with finitely many pieces and atoms."""

    @property
    @abstractmethod
    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The pieces of positive density as (start, end, height), rising, without overlap."""

    @property
    @abstractmethod
    def radius(self) -> Fraction:
        """The maximum size of this noise."""

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return how private the noise is against shifts up to ``sensitivity``: exactly."""
        atoms = sum(self.atoms.values(), Fraction(0))
        return PiecewiseCurve(Shape.of_pieces(self.pieces, atoms, sensitivity))

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return P([−Δ/2, Δ/2)) of unimodal noise (Theorem 1), whose only atom is at 0."""
        if not self.is_unimodal:
            return super().total_variation(sensitivity)  # which rejects it
        half = sensitivity / 2
        inside = ((min(b, half) - max(a, -half), h) for a, b, h in self.pieces)
        spread = sum((h * length for length, h in inside if length > 0), Fraction(0))
        return spread + sum(self.atoms.values(), Fraction(0))


class FiniteLatticeNoise(LatticeNoise):
    """Lattice noise with finitely many points of integer weight: one uniform integer samples it.

    Of ``total`` equal tickets, the point index·step holds ``weight(index)``.
    """

    @property
    @abstractmethod
    def equal_runs(self) -> tuple[Run, ...]:
        """The points of positive weight from left to right, in runs of equal weight."""

    @property
    @abstractmethod
    def total(self) -> int:
        """The number of tickets: all weights together."""

    @property
    @abstractmethod
    def farthest(self) -> int:
        """The largest size of an index the noise can have."""

    @abstractmethod
    def weight(self, index: int) -> int:
        """Return the tickets that the point index·step holds."""

    @property
    @abstractmethod
    def scheme(self) -> TicketScheme | RunScheme:
        """The exact sampler of this noise."""

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket, 0 ≤ ticket < total."""
        return self.scheme.index_of(ticket)

    @property
    def radius(self) -> Fraction:
        """The maximum size of this noise."""
        return self.farthest * self.step

    @property
    def excess(self) -> int:
        """By how many tickets 0 stands out above its neighbors, if it does."""
        return max(0, self.weight(0) - max(self.weight(1), self.weight(-1)))

    def __repr__(self) -> str:
        """Print the noise by its step, its radius and the probability of 0 if it stands out."""
        odd = f", atom={format_exact(Fraction(self.excess, self.total))}" if self.excess else ""
        points = format_exact(2 * self.farthest + 1)
        return (
            f"{type(self).__name__}(step={format_exact(self.step)}, "
            f"radius={format_exact(self.radius)}, points={points}{odd})"
        )

    def curve(self, sensitivity: Fraction) -> PiecewiseCurve:
        """Return how private the noise is against shifts by whole steps: exactly."""
        runs = ((run.first, run.points, run.weight) for run in self.equal_runs)
        return PiecewiseCurve(Shape.of_runs(runs, self.total, self.step, sensitivity))

    @property
    def is_unimodal(self) -> bool:
        """Whether the noise is symmetric about 0 and never rises away from it."""
        ends = [(run.first, run.first + run.points, run.weight) for run in self.equal_runs]
        mirrored = [(1 - end, 1 - first, weight) for first, end, weight in reversed(ends)]
        joined = all(before[1] == after[0] for before, after in pairwise(ends))
        rising = [weight for first, _, weight in ends if first <= 0]
        return ends == mirrored and joined and rising == sorted(rising)

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the distance of unimodal noise from itself shifted by up to Δ (Theorem 1).

        The noise lives on the lattice and so do the true answers: shifts are whole steps.
        """
        if not self.is_unimodal:
            return super().total_variation(sensitivity)  # which rejects it
        return self.central(sensitivity // self.step)

    def central(self, points: int) -> Fraction:
        """Return the mass of that many points in the middle (docs/theory/theorem-1.md)."""
        right, left = (points + 1) // 2, points // 2  # how many at 0 or more, and below 0
        return self.mass((right - 1) * self.step) - self.mass((-left - 1) * self.step)


class StaircaseNoise(Noise):
    """Unimodal noise, p(x + period) = ratio·p(x) for x ≥ 0: on the line or on a lattice."""

    period: Fraction
    ratio: Fraction

    @property
    def is_unimodal(self) -> bool:
        """Always: a staircase is symmetric about 0 and never rises away from it."""
        return True

    @abstractmethod
    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return how private the noise is: exactly, by its likelihood ratios."""


@dataclass(frozen=True, init=False, repr=False)
class Stairs:
    """The parameters of a density that falls by one factor b once in each period Δ.

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls.
        ratio: b, 0 < b < 1.
    """

    period: Fraction
    gamma: Fraction
    ratio: Fraction

    def __init__(self, period: Number, gamma: Number, ratio: Number) -> None:
        """Read the three numbers exactly."""
        share, fall = parse_rational(gamma, "γ"), parse_rational(ratio, "ratio")
        if not 0 <= share <= 1:
            raise InvalidParameter(
                "γ must lie between 0 and 1",
                got=quote(gamma),
                fix="Give the share of a period before the density falls.",
            )
        if not 0 < fall < 1:
            raise InvalidParameter(
                "ratio must lie between 0 and 1",
                got=quote(ratio),
                fix="Give the factor by which the density falls, a little above e^−ε.",
            )
        object.__setattr__(self, "period", parse_positive(period, "period"))
        object.__setattr__(self, "gamma", share)
        object.__setattr__(self, "ratio", fall)

    def __repr__(self) -> str:
        """Print the noise the way it is written."""
        return (
            f"{type(self).__name__}(period={format_exact(self.period)}, "
            f"gamma={format_exact(self.gamma)}, ratio={format_exact(self.ratio)})"
        )

    @property
    def radius(self) -> float:
        """Infinite: the noise is unbounded."""
        return math.inf
