"""Smooth noise: what every family with a log-concave density states."""

from abc import abstractmethod
from fractions import Fraction

from leastnoise.core.exact import Interval
from leastnoise.core.lattice import lattice_for
from leastnoise.core.noise.base import LineNoise, no_ends
from leastnoise.core.noise.rounded import Rounded
from leastnoise.core.profile import LogConcaveCurve


class Smooth(LineNoise):
    """Noise symmetric about 0 with a log-concave density: it falls ever faster away from 0.

    Each family states the functions below. All of them are enclosures in rationals, narrower than
    2^−bits of their value, so that profiles and samples can be computed to any accuracy. Numbers
    that are exact for other kinds (:meth:`mass`, :meth:`quantile`) are within about 2⁻¹²⁰ here.

    Log-concave means that p(x)/p(x − d) never rises with x: so of all sets the half-lines x < t
    distinguish two neighbors best (Neyman and Pearson), and since p falls away from 0 the longest
    shift is the worst (docs/theory/profile.md).
    """

    @abstractmethod
    def density(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose the density at ±size, size ≥ 0."""

    @abstractmethod
    def tail(self, size: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X > size), size ≥ 0.

        Where it is below 2^−250000 it is only enclosed between 0 and that.
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
        """Enclose the t with p(x) > e^ε·p(x − move) exactly for x < t; None if for no x.

        For move > 0 and ε ≥ 0.
        """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    @property
    def is_unimodal(self) -> bool:
        """Always: symmetric and log-concave."""
        return True

    def curve(self, sensitivity: Fraction) -> LogConcaveCurve:
        """Return how private the noise is against shifts up to ``sensitivity``: enclosed."""
        return LogConcaveCurve(self, sensitivity)

    def discretize(self, sensitivity: Fraction) -> Rounded:
        """Return the noise stretched to whole steps, and one more than Δ, and rounded.

        Rounding an output is post-processing, so it stays private.
        """
        step, protected = lattice_for(sensitivity)
        return Rounded(step, self.scaled(protected * step / sensitivity))

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
