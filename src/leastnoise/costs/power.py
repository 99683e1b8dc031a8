"""L(x) = |x|ᵖ."""

from fractions import Fraction
from math import comb

from leastnoise.costs.cost import Cost
from leastnoise.exact import Interval, Number, exactly, positive, power

# Up to this exponent, sums of powers over the lattice are exact by their polynomial.
_LARGEST_EXACT_SUM = 32


class Power(Cost):
    """L(x) = |x|ᵖ for a rational p > 0: the costs of GDGK19, Theorem 3. Made by :func:`lp`."""

    def __init__(self, p: Fraction) -> None:
        """Name the cost; p is exact already."""
        whole = p.denominator == 1 and p <= 2
        name = f"l{p}" if whole else f"lp({exactly(p)!r})" if p.denominator > 1 else f"lp({p})"
        super().__init__(lambda size: size ** float(p), name)
        self.p = p

    def value(self, size: Fraction) -> Interval:
        """Enclose |x|ᵖ; exact where it is rational."""
        return power(size, self.p)

    def integral(self, size: Fraction) -> Interval:
        """Enclose xᵖ⁺¹/(p+1)."""
        return power(size, self.p).scaled(size / (self.p + 1))

    def balance(self, width: Fraction, half: Fraction) -> Interval:
        """Enclose wᵖ·(w·p/(p+1) − Δ/2): the sign is exact, whatever wᵖ is."""
        return power(width, self.p).scaled(width * self.p / (self.p + 1) - half)

    def total(self, step: Fraction, terms: int) -> Interval:
        """Enclose stepᵖ·(1ᵖ + … + termsᵖ); exact for whole p up to 32."""
        if self.p.denominator == 1 and self.p <= _LARGEST_EXACT_SUM:
            sums = _power_sums(int(self.p), terms)
            return power(step, self.p).scaled(sums)
        return super().total(step, terms)

    def probe(self, reach: Fraction) -> None:
        """Accept: a power never falls."""

    def _total_one_by_one(self, step: Fraction, terms: int) -> Interval:
        """Enclose by the integral: floats would be off by their rounding of each power."""
        return self._total_by_integral(step, terms)

    def _total_by_integral(self, step: Fraction, terms: int) -> Interval:
        """Enclose by the midpoint and the trapezium rule: xᵖ bends one way, so they bracket it."""
        reach = terms * step
        middle = self.integral(reach + step / 2) - self.integral(step / 2)
        ends = self.integral(reach).scaled(1 / step) + self.value(reach).scaled(Fraction(1, 2))
        middle = middle.scaled(1 / step)
        convex = self.p >= 1
        below, above = (ends, middle) if convex else (middle, ends)
        return Interval(below.lower, above.upper)


def lp(p: Number) -> Power:
    """Return the cost |x|ᵖ, for any rational p > 0.

    >>> lp(3), lp("1/2")
    (lp(3), lp('0.5'))
    """
    return Power(positive(p, "p"))


def _power_sums(p: int, terms: int) -> int:
    """Return 1ᵖ + … + termsᵖ by Pascal's recursion over the smaller exponents."""
    sums = [terms]
    for q in range(1, p + 1):
        rest = sum(comb(q + 1, i) * sums[i] for i in range(q))
        sums.append(((terms + 1) ** (q + 1) - 1 - rest) // (q + 1))
    return sums[p]
