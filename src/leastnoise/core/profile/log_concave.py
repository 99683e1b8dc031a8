"""The privacy curves of log-concave noise, on the line or rounded to a lattice."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Protocol

from leastnoise.core.exact import Interval
from leastnoise.core.profile.curve import Curve, Level, refine

_HALF = Fraction(1, 2)
# The most neighboring thresholds to compare. If more are in doubt, more digits are computed first.
_MOST_THRESHOLDS = 4


class LogConcave(Protocol):
    """The interface that a curve needs: noise symmetric about 0 with a log-concave density p."""

    @property
    def radius(self) -> Fraction | float:
        """The maximum size of the noise, or ``math.inf``."""
        ...

    def below(self, place: Fraction, bits: int = 128) -> Interval:
        """Enclose P(X < place)."""
        ...

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """Enclose the first Taylor coefficients of the size Q with P(X > Q) = tail."""
        ...

    def crossing(self, shift: Fraction, epsilon: Interval) -> Interval | None:
        """Enclose the t with p(x) > e^ε·p(x − shift) exactly for x < t; None if for no x."""
        ...


@dataclass(frozen=True)
class LogConcaveCurve(Curve):
    """δ(ε) = P(X < t) − e^ε·P(X < t − d) at the longest shift d, t where the densities cross.

    The ratio p(x)/p(x − d) of log-concave noise never rises with x, so among all sets a half-line
    x < t distinguishes best. Because the noise is symmetric, the longest shift is the worst
    (docs/theory/profile.md; Balle and Wang 2018, Theorem 8 for the Gaussian). The enclosure of δ is
    narrower than 2⁻⁷⁰ of its value.
    """

    noise: LogConcave
    shift: Fraction

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Enclose δ(ε) at the longest shift; below a factor of 1 by exchanging the neighbors."""
        factor = level.factor(64)
        if factor.upper >= 1:
            return self._best(level), self.shift
        # H_f(P, Q) = 1 − f + f·H_(1/f)(Q, P), and the mirror image exchanges P and Q.
        below = factor.upper
        other = self._best(Level.of(1 / below)) if below else Interval.exact(0)
        return Interval.exact(1 - below) + other.scaled(below), self.shift

    def delta_above(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return an upper bound of δ(ε), where ε itself is exact, and the longest shift."""
        return self.worst(Level.at(epsilon))[0].upper, self.shift

    def _best(self, level: Level) -> Interval:
        """Enclose δ for a factor of at least 1."""
        return refine(lambda bits: self._gain(level, bits)) if self.shift else Interval.exact(0)

    def _gain(self, level: Level, bits: int) -> Interval:
        """Enclose the largest P(X < t) − e^ε·P(X < t − d), computed with ``bits`` binary digits."""
        place = self.noise.crossing(self.shift, level.epsilon(bits))
        return Interval.exact(0) if place is None else self._gain_at(place, level, bits)

    def _gain_at(self, place: Interval, level: Level, bits: int) -> Interval:
        """Enclose P(X < t) − e^ε·P(X < t − d) for a t in an interval."""
        far = self._below(place - Interval.exact(self.shift), bits)
        return self._below(place, bits) - far * level.factor(bits)

    def _below(self, place: Interval, bits: int) -> Interval:
        """Enclose P(X < t) for a t in an interval."""
        low = self.noise.below(place.lower, bits)
        high = low if place.is_exact else self.noise.below(place.upper, bits)
        return Interval(low.lower, high.upper)


@dataclass(frozen=True)
class RoundedLogConcaveCurve(LogConcaveCurve):
    """The same on a lattice: t is halfway between two points, shifts are multiples of the step.

    P(X < t) − e^ε·P(X < t − d) rises with t up to the place where the densities cross and falls
    from there on. So the best threshold t is one of the two next to that place. δ is at most that
    of the noise on the line.
    """

    step: Fraction

    def last_threshold(self, place: Fraction) -> int:
        """Return the index of the last threshold that is not beyond a place."""
        return floor(place / self.step - _HALF)

    def threshold(self, index: int) -> Fraction:
        """Return the place halfway between two lattice points."""
        return (index + _HALF) * self.step

    def _gain(self, level: Level, bits: int) -> Interval:
        """Enclose the largest gain among the thresholds next to where the densities cross."""
        place = self.noise.crossing(self.shift, level.epsilon(bits))
        if place is None:
            return Interval.exact(0)
        line = self._gain_at(place, level, bits)
        first, last = self.last_threshold(place.lower), self.last_threshold(place.upper) + 1
        if last - first >= _MOST_THRESHOLDS:
            return Interval(Fraction(0), line.upper)
        places = (Interval.exact(self.threshold(i)) for i in range(first, last + 1))
        gains = [self._gain_at(threshold, level, bits) for threshold in places]
        upper = min(line.upper, max(gain.upper for gain in gains))
        return Interval(max(gain.lower for gain in gains), upper)
