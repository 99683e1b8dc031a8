"""The numbers that the paper compares, each by its own formula, at Δ = 1."""

from fractions import Fraction

from leastnoise.costs import Cost, l1, l2
from leastnoise.exact import (
    error_function,
    exponential,
    inverse_error_function,
    pi,
    power,
)
from leastnoise.mechanism import calibrate
from leastnoise.noise import DiscreteUniform
from leastnoise.privacy import Privacy

HALF = Fraction(1, 2)


def least(delta: Fraction, cost: Cost) -> Fraction:
    """Return the least cost of decreasing (0, δ)-private noise (GDGK19, Theorem 3)."""
    return calibrate(Privacy(delta=delta), sensitivity=1, cost=cost).cost


def papers_sigma(delta: Fraction) -> Fraction:
    """Return σ = Δ/2δ, sufficient for (0, δ) (GDGK19, Theorem 6, after Balle and Wang 2018)."""
    return 1 / (2 * delta)


def tight_sigma(delta: Fraction) -> Fraction:
    """Return the smallest σ with which Gaussian noise is (0, δ)-private, from above.

    The distance in total variation is 2Φ(Δ/2σ) − 1 = erf(Δ/(2√2·σ)), so σ = Δ/(2√2·erf⁻¹(δ)).
    """
    root = power(Fraction(8), HALF).lower
    return 1 / (root * inverse_error_function(delta).lower)


def gaussian_distance(sigma: Fraction) -> Fraction:
    """Return the distance in total variation of Gaussian noise moved by 1, from above."""
    return error_function(1 / (power(Fraction(8), HALF).lower * sigma)).upper


def gaussian_cost(sigma: Fraction, cost: Cost) -> Fraction:
    """Return E|X| = σ√(2/π) or E X² = σ² of Gaussian noise, from above."""
    if cost is l2:
        return sigma**2
    return sigma * power(2 / pi().lower, HALF).upper


def staircase_cost(epsilon: Fraction, cost: Cost) -> Fraction:
    """Return the least cost of ε-private noise, from above (Geng and Viswanath 2016, staircase).

    ℓ1: e^{ε/2}/(e^ε − 1). ℓ2: (2^{−2/3}·b^{2/3}·(1+b)^{2/3} + b)/(1−b)² with b = e^{−ε}.
    """
    if cost is l1:
        return exponential(epsilon / 2).upper / (exponential(epsilon).lower - 1)
    b = exponential(-epsilon)
    third = Fraction(2, 3)
    roots = power(b.upper * (1 + b.upper) / 2, third).upper
    return (roots + b.upper) / (1 - b.upper) ** 2


def equal_distance(epsilon: Fraction) -> Fraction:
    """Return tanh(ε/2), the distance in total variation that ε-privacy allows, from above."""
    grown = exponential(epsilon)
    return (grown.upper - 1) / (grown.lower + 1)


def discrete_uniform_cost(moved: int, delta: Fraction, cost: Cost) -> Fraction:
    """Return the cost of plain discrete uniform noise for a whole-number query."""
    reach = -(-(moved / delta - 1) // 2)
    return DiscreteUniform(reach=int(reach)).expected(cost)


def discrete_least(moved: int, delta: Fraction, cost: Cost) -> Fraction:
    """Return the least cost of decreasing noise for a whole-number query."""
    return calibrate(Privacy(delta=delta), sensitivity=moved, cost=cost, integer=True).cost
