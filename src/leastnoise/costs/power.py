"""The costs L(x) = |x|ᵖ: ``l1``, ``l2``, ``lp`` (GDGK19, Theorem 3)."""

from fractions import Fraction
from functools import lru_cache
from typing import Final

from leastnoise.core.exact import (
    Interval,
    Number,
    format_exact,
    parse_positive,
    power,
    sum_of_powers,
)
from leastnoise.costs.cost import Cost, sum_intervals
from leastnoise.errors import Words

# Up to this exponent, sums of powers over the lattice are exact by their polynomial.
_LARGEST_EXACT_SUM = 32
# The terms that are added one by one, because a small power bends the most near 0.
_FIRST = 256


class Power(Cost):
    """L(x) = |x|ᵖ for a rational p > 0 (GDGK19, Theorem 3); :func:`lp` returns it."""

    p: Fraction

    def __init__(self, p: Fraction) -> None:
        object.__setattr__(self, "p", p)

    def __repr__(self) -> str:
        if self.p in (1, 2):
            return f"l{self.p}"
        return f"lp({self.p})" if self.p.denominator == 1 else f"lp({format_exact(self.p)!r})"

    def value(self, size: Fraction) -> Interval:
        """Enclose |x|ᵖ; exact where it is rational."""
        return power(size, self.p) if self.p.denominator == 1 else _irrational(size, self.p)

    def integral(self, size: Fraction) -> Interval:
        """Enclose xᵖ⁺¹/(p+1)."""
        return power(size, self.p).scaled(size / (self.p + 1))

    def total(self, step: Fraction, terms: int) -> Interval:
        """Enclose stepᵖ·(1ᵖ + … + termsᵖ); exact for integers p up to 32."""
        if self.p.denominator == 1 and self.p <= _LARGEST_EXACT_SUM:
            sums = sum_of_powers(int(self.p), terms)
            return power(step, self.p).scaled(sums)
        return super().total(step, terms)

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Return (high−low)²/8 times the largest second derivative; 0 if xᵖ is concave.

        For p < 2 the second derivative is infinite at 0. There the height of the chord is the
        bound.
        """
        if self.p <= 1:
            return Fraction(0)
        if self.p < 2 and not low:
            return self.value(high).upper
        steepest = Interval.exact(1)
        if self.p != 2:
            steepest = power(high, self.p - 2) if self.p > 2 else power(1 / low, 2 - self.p)
        return steepest.upper * self.p * (self.p - 1) * (high - low) ** 2 / 8

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:
        """Return the first or the last sag: sags rise with x for p ≥ 2, and fall otherwise."""
        return max(self.sag(x, x + step) for x in (Fraction(0), step, reach))

    def probe(self, reach: Fraction) -> None:
        """Accept: a power never falls."""

    def _total_one_by_one(self, step: Fraction, terms: int) -> Interval:
        """Enclose by the integral, because floats would round each power."""
        return self._total_by_integral(step, terms)

    def _total_by_integral(self, step: Fraction, terms: int) -> Interval:
        """Add the first terms, and enclose the rest by the midpoint and the trapezoidal rule.

        If xᵖ is convex, the midpoint rule bounds the sum from above and the trapezoidal rule from
        below. If it is concave, it is the other way round.
        """
        first = _first_terms(self, step)
        low, high = _FIRST * step, terms * step
        middle = self.integral(high + step / 2) - self.integral(low + step / 2)
        ends = (self.integral(high) - self.integral(low)).scaled(1 / step)
        ends += (self.value(high) - self.value(low)).scaled(Fraction(1, 2))
        below, above = ends, middle.scaled(1 / step)
        if self.p < 1:
            below, above = above, below
        return first + Interval(below.lower, above.upper)


@lru_cache(maxsize=1 << 14)
def _irrational(size: Fraction, p: Fraction) -> Interval:
    """Enclose a power by ball arithmetic; families of noise need the same ones."""
    return power(size, p)


@lru_cache(maxsize=256)
def _first_terms(cost: Power, step: Fraction) -> Interval:
    """Add up the first terms of a sum, once for all sums that begin with them."""
    return sum_intervals(cost.value(j * step) for j in range(1, _FIRST + 1))


def lp(p: Number) -> Power:
    """Return the cost |x|ᵖ of an error x.

    Args:
        p: The exponent, a rational above 0.

    >>> lp(3), lp("1/2")
    (lp(3), lp('0.5'))
    """
    return Power(parse_positive(p, Words("p", "P of --cost lp:P")))


l1: Final = Power(Fraction(1))
l2: Final = Power(Fraction(2))
