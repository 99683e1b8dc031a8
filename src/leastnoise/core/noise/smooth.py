"""What noises with a smooth density have in common: an irrational law, enclosed in rationals."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, Self

from leastnoise.core.exact import Interval, Number
from leastnoise.core.noise.base import Noise, no_ends
from leastnoise.core.noise.scipy_api import evaluate


class Smooth(Noise):
    """A law symmetric about 0 whose density is log-concave: it falls ever faster away from 0.

    Each family states the functions below. All of them are enclosures in rationals, narrower than
    2^−bits of their value, so that profiles and draws can be had to any accuracy. What is a
    rational elsewhere (:meth:`mass`, :meth:`quantile`) is one within about 2⁻¹²⁰ here.

    Log-concave means that p(x)/p(x − d) never rises with x: so of all sets the half-lines x < t
    tell two neighbours apart the best (Neyman and Pearson), and since p falls away from 0 the
    longest move is the worst (docs/theory/profile.md).
    """

    @abstractmethod
    def scaled(self, factor: Number) -> Self:
        """Return the law of ``factor`` times this noise, factor > 0."""

    @abstractmethod
    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the density at ±size, size ≥ 0."""

    @abstractmethod
    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X > size), size ≥ 0.

        Where it is below 2^−250000 it is only said to lie between 0 and that.
        """

    @abstractmethod
    def tail_area(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the integral of P(X > x) over x from ``size`` ≥ 0 on: E max(0, X − size)."""

    @abstractmethod
    def moment(self, p: Fraction) -> Interval:
        """Enclose E |X|ᵖ, p > 0."""

    @abstractmethod
    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the first Taylor coefficients, at ``tail``, of the size Q with P(X > Q) = tail.

        For 0 < tail ≤ 1/2. Q falls and bends up; its derivatives alternate in sign, and each is the
        smaller the larger ``tail`` is: a Taylor polynomial is off by no more than its next term,
        taken with the coefficient at the smallest tail of its range.
        """

    @abstractmethod
    def crossing(self, move: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the t such that p(x) > e^ε·p(x − move) just for x < t; None if for no x.

        For move > 0 and ε ≥ 0.
        """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    def pdf(self, x: Any) -> Any:
        """Return the density."""
        return evaluate(x, self._pdf, lambda places: self._each(places, self._pdf))

    def below(self, place: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X < place) = P(X ≤ place)."""
        if place < 0:
            return self.tail(-place, bits)
        return Interval.exact(1) - self.tail(place, bits)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.below(upto).middle

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, within 2⁻¹²⁰ of its size."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_ends(probability)
            return self.radius if probability else -self.radius
        size = self.series(min(probability, 1 - probability), 1)[0].middle
        return -size if 2 * probability < 1 else size

    def variance(self) -> Fraction:
        """Return E X²: exact where it is rational, else a proved upper bound."""
        return self.moment(Fraction(2)).upper

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        return self.density(abs(place), 64).middle

    def _masses(self, places: Any) -> Any:
        return self._each(places, self._cdf)

    def _quantiles(self, probabilities: Any) -> Any:
        return self._each(probabilities, self._quantile)
