"""The distributions of mechanisms that select, from the probabilities of their coins: slow and
exact."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial

import numpy as np


def by_permutations(chances: Sequence[Fraction]) -> list[Fraction]:
    """Return the distribution of permute-and-flip as it was published: the first coin that lands.

    In a random order; every order is gone through.
    """
    distribution = [Fraction(0)] * len(chances)
    for order in permutations(range(len(chances))):
        reached = Fraction(1, factorial(len(chances)))
        for place in order:
            distribution[place] += reached * chances[place]
            reached *= 1 - chances[place]
    return distribution


def by_subsets(chances: Sequence[Fraction]) -> list[Fraction]:
    """Return the distribution of a uniform choice among the coins that land; every outcome is
    listed."""
    places = range(len(chances))
    distribution = [Fraction(0)] * len(chances)
    for size in places:
        for landed in combinations(places, size + 1):
            weight = Fraction(1, size + 1)
            for place in places:
                weight *= chances[place] if place in landed else 1 - chances[place]
            for place in landed:
                distribution[place] += weight
    return distribution


def by_quadrature(chances: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
    """Return the same for many coins: pᵢ·∫₀¹ Π (1 − pⱼ + pⱼ·t) dt over all j ≠ i.

    Gauss and Legendre's rule is exact for polynomials of this degree, but for floats.
    """
    nodes, weights = np.polynomial.legendre.leggauss(len(chances) // 2 + 1)
    t = (nodes[:, None] + 1) / 2
    logs = np.log1p(chances * (t - 1))
    return list(chances * (weights / 2 @ np.exp(logs.sum(axis=1, keepdims=True) - logs)))


def exponential_mechanism(weights: Sequence[float]) -> list[float]:
    """Return the distribution of the exponential mechanism."""
    total = sum(weights)
    return [weight / total for weight in weights]
