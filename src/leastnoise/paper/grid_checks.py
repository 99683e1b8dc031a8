"""Statements of the paper about |x|ᵖ and Gaussian noise, checked over grids of p, δ and Δ (GDGK19).

Every function checks one point and returns None, or the counterexample in words. Some take a
constant or a formula as a parameter. Tests pass a false one and require a counterexample.
"""

from collections.abc import Callable
from fractions import Fraction

from leastnoise.accounting import Profile
from leastnoise.core.exact import Interval, logarithm, power
from leastnoise.core.noise import Gaussian, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, lp
from leastnoise.mechanism import calibrate
from leastnoise.paper.random_checks import HALF
from leastnoise.paper.random_noise import p_alpha

EXPONENTS = tuple(Fraction(p) for p in ("1/3", "1/2", "1", "3/2", "2", "3", "4"))
DELTAS = tuple(Fraction(i, 20) for i in range(1, 20))
FINE_DELTAS = tuple(Fraction(i, 100) for i in range(1, 100))
SENSITIVITIES = (Fraction(1, 3), Fraction(1), Fraction(5, 2))
# The search for α considers this many multiples of δ.
_GRID = 1 << 16


def theorem_3_cost(p: Fraction, delta: Fraction, sensitivity: Fraction) -> Interval:
    """Enclose the minimal cost as Theorem 3 states it."""
    scale = power(sensitivity / 2, p)
    if delta <= p / (p + 1):
        return scale.scaled(1 / (p + 1)) * power(1 / delta, p)
    return scale * power((p + 1) / p, p).scaled(1 - delta)


def minimize_over_alpha(
    cost: Cost, delta: Fraction, sensitivity: Fraction
) -> tuple[Fraction, Interval]:
    """Return the best α among 2¹⁶ multiples of δ, and its cost, by integrating the cost of P_α.

    No formula for α is used. By docs/theory/critical-width.md the cost falls with α up to its
    minimum and rises after it. So halving the range by the sign of the slope finds it.
    """

    def integrate(index: int) -> Interval:
        return p_alpha(delta * Fraction(index, _GRID), delta, sensitivity).enclose(cost)

    before, last = -1, _GRID - 1
    while last - before > 1:
        middle = (before + last) // 2
        if integrate(middle).middle <= integrate(middle + 1).middle:
            last = middle
        else:
            before = middle
    return delta * Fraction(last, _GRID), integrate(last)


def check_theorem_3(
    p: Fraction,
    delta: Fraction,
    sensitivity: Fraction,
    formula: Callable[[Fraction, Fraction, Fraction], Interval] = theorem_3_cost,
) -> str | None:
    """Theorem 3: α* = max(0, (p+1)δ − p), and the minimal cost, against direct minimization."""
    stated = max(Fraction(0), (p + 1) * delta - p)
    cost, claimed = lp(p), formula(p, delta, sensitivity)
    at_stated = p_alpha(stated, delta, sensitivity).enclose(cost)
    atom, least = minimize_over_alpha(cost, delta, sensitivity)
    narrow = claimed.upper / 10**7
    holds = (
        abs(atom - stated) <= 2 * delta / _GRID
        and abs(at_stated.middle - claimed.middle) <= claimed.upper / 10**20
        and claimed.lower <= least.upper <= claimed.upper + narrow
    )
    return None if holds else f"p = {p}, δ = {delta}, Δ = {sensitivity}"


def check_corollary(
    p: Fraction, delta: Fraction, sensitivity: Fraction, border: Fraction | None = None
) -> str | None:
    """Corollaries 4 (p = 1) and 5 (p = 2): α* and the minimal cost, exactly.

    They are compared with the certified optimum, and with the cost of P_α for 10 other α. Tests
    pass a border between the two cases that is not p/(p + 1).
    """
    cost, scale = lp(p), sensitivity**p
    if delta <= (p / (p + 1) if border is None else border):
        atom, stated = Fraction(0), scale / (4 if p == 1 else 12) / delta**p
    else:
        atom, stated = (p + 1) * delta - p, scale * (1 - delta) * (1 if p == 1 else Fraction(9, 16))
    best = calibrate(Privacy(delta=delta), sensitivity=sensitivity, cost=cost)
    alternatives = (p_alpha(delta * Fraction(i, 10), delta, sensitivity) for i in range(10))
    holds = (
        best.cost == best.certificate.lower_bound == stated
        and best.noise == p_alpha(atom, delta, sensitivity)
        and all(noise.expected(cost) >= stated for noise in alternatives)
    )
    return None if holds else f"p = {p}, δ = {delta}, Δ = {sensitivity}"


def check_equation_8(p: Fraction, delta: Fraction, factor: Fraction = Fraction(1)) -> str | None:
    """Equation 8: δᵖ(1 − δ) ≤ pᵖ/(p+1)ᵖ⁺¹, equal at δ = p/(p+1) only.

    Tests pass a factor for the right side that is too small.
    """
    left = power(delta, p).scaled(1 - delta)
    right = power(p / (p + 1), p).scaled(factor / (p + 1))
    equal = delta == p / (p + 1)
    holds = left.lower <= right.upper if equal else left.upper < right.lower
    return None if holds else f"p = {p}, δ = {delta}"


def check_theorem_6(
    delta: Fraction, sensitivity: Fraction, factor: Fraction = Fraction(1)
) -> str | None:
    """Theorem 6: Gaussian noise of σ = Δ/2δ has P([−Δ/2, Δ/2]) ≤ δ.

    Tests pass a factor for σ that is too small.
    """
    noise = Gaussian(factor * sensitivity / (2 * delta))
    central = Interval.exact(1) - noise.tail(sensitivity / 2).scaled(2)
    return None if central.upper <= delta else f"δ = {delta}, Δ = {sensitivity}"


def check_classic_gaussian(
    epsilon: Fraction, delta: Fraction, factor: Fraction = Fraction(1)
) -> str | None:
    """Section 5: Gaussian noise of σ = (Δ/ε)·√(2·log(1.25/δ)) satisfies (ε, δ), at Δ = 1.

    Tests pass a factor for σ that is too small.
    """
    sigma = power(2 * logarithm(Fraction(5, 4) / delta).lower, HALF).lower / epsilon
    needed = Profile(Gaussian(factor * sigma), sensitivity=1).delta(epsilon)
    return None if needed <= delta else f"ε = {epsilon}, δ = {delta}"


def check_concentration(p: Fraction, delta: Fraction, border: Fraction | None = None) -> str | None:
    """Abstract: the optimal noise for |x|ᵖ has a point mass at 0 if and only if δ > p/(p + 1).

    Tests pass a border that is not p/(p + 1).
    """
    noise = calibrate(Privacy(delta=delta), sensitivity=1, cost=lp(p)).noise
    concentrated = isinstance(noise, Uniform) and noise.atom > 0
    expected = delta > (p / (p + 1) if border is None else border)
    return None if concentrated == expected else f"p = {p}, δ = {delta}"


def check_optimal_for_any_shape(delta: Fraction) -> str | None:
    """Equation 9 is the optimum among noise of any shape; true if δ ≥ 1/2 or 1/2δ is an integer."""
    mechanism = calibrate(Privacy(delta=delta), sensitivity=1, cost=l1, shape="any", solve=False)
    stated = p_alpha(max(Fraction(0), 2 * delta - 1), delta, Fraction(1)).expected(l1)
    return None if mechanism.cost == mechanism.certificate.lower_bound == stated else f"δ = {delta}"
