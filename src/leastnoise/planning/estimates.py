"""Estimates in floats of the cost and the error of noise. They propose shares and prove nothing.

Noise is represented by the size that it exceeds with probability e^−y, at Δ = 1. Its expected cost
is the integral of L(Δ·size(y))·e^−y over y ≥ 0, computed by Gauss–Laguerre quadrature.
"""

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

from leastnoise.calibration import FAMILIES, Approximation
from leastnoise.core.exact import as_float
from leastnoise.costs import Power, Threshold
from leastnoise.planning.numeric_query import NumericQuery

# The family that stands for the cheapest noise of an answer without a family.
_USUAL = "cut_staircase"
_NODES = 24
# The largest exponent of a float, and the steps to invert a size.
_LARGEST = 700.0
_HALVINGS = 50

Size = Callable[[float], float]


def split_size(family: str | None, epsilon: float, spent: float) -> Size:
    """Return the sizes of the noise of a family at (ε, 1 − e^−spent); None: the cheapest noise."""
    shape = FAMILIES[family or _USUAL].approximation
    delta = -math.expm1(-spent)
    if shape is Approximation.GAUSSIAN:
        return gaussian_size(
            epsilon / math.sqrt(2 * math.log(1.25 / delta))
            if epsilon
            else 2 * NormalDist().inv_cdf((1 + delta) / 2)
        )
    if shape is Approximation.LAPLACE:
        return lambda y: y / (epsilon + 2 * spent)
    if shape is Approximation.UNIFORM or not epsilon:
        return lambda y: -math.expm1(-y) / (2 * delta)
    if shape is Approximation.EXPONENTIAL or not delta:
        return lambda y: y / epsilon
    ratio = math.expm1(min(epsilon, _LARGEST)) / (2 * delta)
    return lambda y: -math.log1p(math.expm1(-y) * ratio / (1 + ratio)) / epsilon


def gaussian_size(mu: float) -> Size:
    """Return the sizes of Gaussian noise of σ = 1/μ."""
    return lambda y: _normal_size(y) / mu


def split_cost(query: NumericQuery, epsilon: float, spent: float) -> float:
    """Return the estimated cost of an answer at (ε, 1 − e^−spent), times its weight.

    Stairs are cheaper than an exponential density by x/sinh x, exactly so for |x|: x = ε/2 for
    continuous noise (Geng and Viswanath 2016), and x = ε for integers at Δ = 1 (geometric noise).
    """
    cost = expected_cost(query, split_size(query.family, epsilon, spent))
    x = epsilon if query.integer and query.sensitivity == 1 else epsilon / 2
    stairs = FAMILIES[query.family or _USUAL].stairs
    return cost * x / math.sinh(x) if stairs and 0 < x < _LARGEST else cost


def expected_cost(query: NumericQuery, size: Size) -> float:
    """Return the estimated cost of an answer, times its weight; 0 if it has only a target."""
    cost, shift = query.cost, as_float(query.sensitivity)
    if cost is None:
        return 0.0
    if isinstance(cost, Threshold):
        return as_float(query.weight) * math.exp(-_invert_size(size, as_float(cost.limit) / shift))
    nodes, weights = _quadrature()
    sizes = [shift * size(y) for y in nodes]
    if isinstance(cost, Power):
        exponent = as_float(cost.p)
        values = [math.pow(each, exponent) for each in sizes]
    else:
        values = [cost(each) for each in sizes]
    return as_float(query.weight) * sum(a * b for a, b in zip(weights, values, strict=True))


def estimated_error(query: NumericQuery, size: Size) -> float:
    """Return the estimated error that an answer stays within at its confidence."""
    return as_float(query.sensitivity) * size(-math.log1p(-as_float(query.confidence)))


def _invert_size(size: Size, limit: float) -> float:
    """Return the y at which the size is a limit: it is exceeded with probability e^−y."""
    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if size(middle) < limit else (low, middle)
    return high


@cache
def _quadrature() -> tuple[list[float], list[float]]:
    """Return the nodes and weights of Gauss–Laguerre quadrature."""
    import numpy as np

    nodes, weights = np.polynomial.laguerre.laggauss(_NODES)
    return nodes.tolist(), weights.tolist()


@cache
def _normal_size(y: float) -> float:
    return -NormalDist().inv_cdf(max(math.exp(-y) / 2, 1e-300))
