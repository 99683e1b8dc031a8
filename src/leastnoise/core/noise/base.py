"""What every noise can be asked, in scipy's words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.core.exact import (
    Interval,
    Number,
    format_exact,
    parse_positive,
    parse_rational,
    quote,
)
from leastnoise.core.noise.scipy_api import evaluate
from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter


class Noise(ABC):
    """A distribution on the line.

    The calls are scipy's: ``cdf sf ppf mean var std support interval``. They take a number or a
    numpy array and return floats: a number is worked out in exact rationals and rounded once, an
    array in floats. What guarantees rest on is exact: :meth:`mass`, :meth:`enclose`.
    """

    @abstractmethod
    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto): exactly, but for laws that are irrational."""

    @abstractmethod
    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability (0: the support's start).

        Exactly, but for laws that are irrational. Noise without a largest size has none at 0 and
        1, and refuses them.
        """

    @abstractmethod
    def variance(self) -> Fraction:
        """Return the variance: exact where it is rational, else a proved upper bound."""

    @property
    @abstractmethod
    def radius(self) -> Fraction | float:
        """The largest size this noise can have: a Fraction, or ``math.inf`` if there is none."""

    @abstractmethod
    def _masses(self, places: Any) -> Any:
        """Return P(X ≤ x) for an array of floats."""

    @abstractmethod
    def _quantiles(self, probabilities: Any) -> Any:
        """Return quantiles for an array of floats."""

    def enclose(self, cost: Cost) -> Interval:
        """Enclose the expected cost E L(X)."""
        return cost.expectation(self)

    def expected(self, cost: Cost) -> Fraction:
        """Return E L(X): exact where it is rational, else a proved upper bound."""
        from leastnoise.costs import as_cost  # SPLIT 1b

        return self.enclose(as_cost(cost)).upper

    def cdf(self, x: Any) -> Any:
        """Return P(X ≤ x)."""
        from leastnoise.core.noise.scipy_api import noise_cdf  # SPLIT 8

        return noise_cdf(self, x)

    def sf(self, x: Any) -> Any:
        """Return P(X > x)."""
        from leastnoise.core.noise.scipy_api import noise_sf  # SPLIT 8

        return noise_sf(self, x)

    def ppf(self, q: Any) -> Any:
        """Return the smallest x with P(X ≤ x) ≥ q, for 0 ≤ q ≤ 1."""
        from leastnoise.core.noise.scipy_api import noise_ppf  # SPLIT 8

        return noise_ppf(self, q)

    def mean(self) -> float:
        """Return the mean: 0 for every noise that is symmetric."""
        from leastnoise.core.noise.scipy_api import noise_mean  # SPLIT 8

        return noise_mean(self)

    def var(self) -> float:
        """Return the variance."""
        from leastnoise.core.noise.scipy_api import noise_var  # SPLIT 8

        return noise_var(self)

    def std(self) -> float:
        """Return the standard deviation."""
        from leastnoise.core.noise.scipy_api import noise_std  # SPLIT 8

        return noise_std(self)

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest value the noise can take."""
        from leastnoise.core.noise.scipy_api import noise_support  # SPLIT 8

        return noise_support(self)

    def interval(self, confidence: Any) -> tuple[float, float]:
        """Return the interval about 0 that leaves (1 − confidence)/2 on each side."""
        from leastnoise.core.noise.scipy_api import noise_interval  # SPLIT 8

        return noise_interval(self, confidence)

    def _repr_html_(self) -> str:
        """Show the law in a notebook: what it is, how far it reaches, its spread."""
        from leastnoise.core.noise.scipy_api import _noise_repr_html  # SPLIT 8

        return _noise_repr_html(self)

    def _each(self, places: Any, one: Callable[[Any], Fraction | float]) -> Any:
        """Apply an exact function to each element of an array of floats."""
        from leastnoise.core.noise.scipy_api import _noise_each  # SPLIT 8

        return _noise_each(self, places, one)

    def _cdf(self, place: Fraction | float) -> Fraction:
        from leastnoise.core.noise.scipy_api import _noise_cdf  # SPLIT 8

        return _noise_cdf(self, place)

    def _quantile(self, level: Fraction) -> Fraction | float:
        """Return a quantile; noise without a largest size has infinite ones at 0 and 1."""
        from leastnoise.core.noise.scipy_api import _noise_quantile  # SPLIT 8

        return _noise_quantile(self, level)

    def _checked_quantiles(self, probabilities: Any) -> Any:
        from leastnoise.core.noise.scipy_api import _noise_checked_quantiles  # SPLIT 8

        return _noise_checked_quantiles(self, probabilities)


@dataclass(frozen=True)
class Run:
    """Neighbouring points of a lattice that weigh the same."""

    first: int
    points: int
    weight: int


class LatticeNoise(Noise):
    """A law on the whole multiples of ``step``: the point index·step has weight(index) of total."""

    step: Fraction

    @property
    @abstractmethod
    def total(self) -> Fraction | int:
        """All weights together."""

    @property
    @abstractmethod
    def farthest(self) -> int | float:
        """The largest size of an index the noise can have: ``math.inf`` if there is none."""

    @abstractmethod
    def weight(self, index: int) -> Fraction | int:
        """Return the weight of the point index·step."""

    @abstractmethod
    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""

    @property
    def peaked(self) -> bool:
        """Whether 0 weighs more than its neighbours: then the exact value leaves more often."""
        return self.weight(0) > max(self.weight(1), self.weight(-1))

    @property
    def isolated_weight(self) -> Fraction | int:
        """The weight of single points that weigh more than both their neighbours."""
        return self.weight(0) if self.peaked else 0

    def pmf(self, x: Any) -> Any:
        """Return P(X = x)."""
        return evaluate(x, self._pmf, lambda places: self._each(places, self._pmf))

    def _pmf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        index = place / self.step
        whole = index.denominator == 1
        return Fraction(self.weight(index.numerator), self.total) if whole else Fraction(0)

    def _masses(self, places: Any) -> Any:
        return self._each(places, self._cdf)  # on a lattice a rounded place is another point

    def _quantiles(self, probabilities: Any) -> Any:
        return self._each(probabilities, self._quantile)


class FiniteLatticeNoise(LatticeNoise):
    """A law on a lattice in whole weights, finitely many: what one uniform integer draws.

    Of ``total`` equal tickets, the point index·step holds ``weight(index)``.
    """

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

    @abstractmethod
    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket, 0 ≤ ticket < total."""

    @property
    def radius(self) -> Fraction:
        """The largest size this noise can have."""
        return self.farthest * self.step

    @property
    def excess(self) -> int:
        """By how many tickets 0 stands out above its neighbours, if it does."""
        return max(0, self.weight(0) - max(self.weight(1), self.weight(-1)))

    def __repr__(self) -> str:
        """Print the law by its step, its radius and the probability of 0 if it stands out."""
        odd = f", atom={format_exact(Fraction(self.excess, self.total))}" if self.excess else ""
        points = format_exact(2 * self.farthest + 1)
        return (
            f"{type(self).__name__}(step={format_exact(self.step)}, "
            f"radius={format_exact(self.radius)}, "
            f"points={points}{odd})"
        )


@dataclass(frozen=True, init=False, repr=False)
class Stairs:
    """What a density that falls by one factor b once in each period Δ is stated by.

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
                f"γ must lie between 0 and 1; got {quote(gamma)}. "
                "Give the share of a period before the density falls."
            )
        if not 0 < fall < 1:
            raise InvalidParameter(
                f"ratio must lie between 0 and 1; got {quote(ratio)}. "
                "Give the factor by which the density falls, a little above e^−ε."
            )
        object.__setattr__(self, "period", parse_positive(period, "period"))
        object.__setattr__(self, "gamma", share)
        object.__setattr__(self, "ratio", fall)

    def __repr__(self) -> str:
        """Print the law the way it is written."""
        return (
            f"{type(self).__name__}(period={format_exact(self.period)}, "
            f"gamma={format_exact(self.gamma)}, "
            f"ratio={format_exact(self.ratio)})"
        )

    @property
    def radius(self) -> float:
        """Infinite: there is no largest size."""
        return math.inf


def no_ends(probability: Fraction) -> InvalidParameter:
    """Return the refusal of a quantile at 0 or 1 where there is none."""
    return InvalidParameter(
        "noise without a largest size has quantiles strictly between 0 and 1 only; "
        f"got {format_exact(probability)}. Give a level such as 0.999."
    )
