"""The staircase: a density that falls by one and the same factor from each period to the next."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.costs import Cost, Power
from leastnoise.exact import Interval
from leastnoise.exact.series import exact_power, falls_to, power_rest, power_sums, series
from leastnoise.noise.base import Noise, Stairs, evaluated, no_ends, unbounded

# Up to this exponent the expected |X|ᵖ is a closed form; beyond, it is added up.
_LARGEST_CLOSED = 64


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Stairs, Noise):
    """The staircase noise of Geng and Viswanath (2016), with no largest size.

    For |x| between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is a·bⁿ⁺¹: it falls
    once in each period, by the factor b. At sensitivity Δ it is (ε, 0)-private for e^ε ≥ 1/b, and
    for b = e^−ε and the right γ it costs least among all noises that are.
    b is rational here, a little above e^−ε.

    ============ =============================================
    a            (1−b) / 2Δ(γ + b(1−γ))
    E L(X)       2a(1−b)·Σ bⁿ·∫₀ˣ L, x = (n+γ)Δ, over n ≥ 0
    ============ =============================================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls.
        ratio: b, 0 < b < 1.

    >>> Staircase(period=1, gamma="1/3", ratio="1/2").expected(Power(Fraction(1)))
    Fraction(17, 12)
    """

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own: none."""
        return {}

    @property
    def height(self) -> Fraction:
        """The density a at 0, or beside it where γ is 0."""
        fall = self.ratio
        return (1 - fall) / (2 * self.period * (self.gamma + fall * (1 - self.gamma)))

    def pdf(self, x: Any) -> Any:
        """Return the density, that on the outer side where it falls."""
        return evaluated(x, self._pdf, lambda places: self._each(places, self._pdf))

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return 1 - self._tail(upto) if upto >= 0 else self._tail(-upto)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, exactly."""
        if probability in (0, 1):
            raise no_ends(probability)
        if 2 * probability < 1:
            return -self._place(probability)
        return self._place(1 - probability)

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self._moment(2)

    def enclose(self, cost: Cost) -> Interval:
        """Enclose E L(X): by its closed form for whole powers, else added up period by period."""
        if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
            return Interval.exact(self._moment(int(cost.p)))

        def area(n: int) -> Interval:
            return cost.integral((n + self.gamma) * self.period)

        def rest(n: int) -> Interval | None:
            here, keep = area(n), 1 - self.ratio
            if cost.settled is not None:  # beyond, the area grows by the same in each period
                if (n + self.gamma) * self.period < cost.settled:
                    return None
                grown = cost.value(cost.settled + 1).scaled(self.period)
                return here.scaled(1 / keep) + grown.scaled(self.ratio / keep**2)
            if not isinstance(cost, Power):
                raise unbounded(cost)
            bound = power_rest(self.ratio, n + self.gamma, cost.p + 1)
            return None if bound is None else Interval(here.lower, here.upper * bound)

        return series(self.ratio, area, rest).scaled(2 * self.height * (1 - self.ratio))

    def _moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ = Δᵖ·(1−b)² / ((p+1)(γ + b(1−γ))) · Σ bⁿ(n+γ)ᵖ⁺¹."""
        sums = power_sums(self.ratio, self.gamma, p + 1)[-1]
        scale = 2 * self.height * (1 - self.ratio)
        return scale * self.period ** (p + 1) / (p + 1) * sums

    def _tail(self, size: Fraction) -> Fraction:
        """Return P(X > size) for size ≥ 0: of a period's parts beyond it, and of all after."""
        periods, part = divmod(size / self.period, 1)
        fall, gamma = self.ratio, self.gamma
        left = gamma - part + fall * (1 - gamma) if part < gamma else fall * (1 - part)
        return (self.height * self.period * left + fall / 2) * exact_power(fall, int(periods))

    def _place(self, tail: Fraction) -> Fraction:
        """Return the size ≥ 0 that is exceeded with this probability, at most 1/2."""
        fall, gamma = self.ratio, self.gamma
        periods = max(0, falls_to(fall, 2 * tail) - 1)
        left = tail / exact_power(fall, periods) - fall / 2
        left /= self.height * self.period
        upper = fall * (1 - gamma)  # what is left where the density falls
        part = gamma + upper - left if left >= upper else 1 - left / fall
        return (periods + part) * self.period

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        periods, part = divmod(abs(place) / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))

    def _masses(self, places: Any) -> Any:
        return self._each(places, self._cdf)

    def _quantiles(self, probabilities: Any) -> Any:
        return self._each(probabilities, self._quantile)
