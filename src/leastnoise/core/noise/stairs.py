"""The kind of noise whose density falls by one and the same factor once in each period."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import Number, format_exact, parse_positive, parse_rational, quote
from leastnoise.core.noise.base import Noise
from leastnoise.core.profile import StaircaseCurve
from leastnoise.errors import InvalidParameter


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
