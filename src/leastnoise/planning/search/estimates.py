"""Estimates in floats of the cost and the error of noise. They propose a split and prove nothing.

Noise is represented by the size that it exceeds with probability e^−y, at Δ = 1. Its expected cost
is the integral of L(Δ·size(y))·e^−y over y ≥ 0, computed by Gauss–Laguerre quadrature.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from statistics import NormalDist

from leastnoise.calibration import FAMILIES, Approximation, Family
from leastnoise.core.exact import as_float
from leastnoise.costs import Cost, Points, Power, Threshold
from leastnoise.planning.numeric_query import NumericQuery

# The family name of the noise that the solver finds. It is stored in JSON.
LEAST = "least"
_NODES = 24
# The number of sizes per doubling at which a cost function is sampled.
_SAMPLES = 64


def estimated_family(family: str) -> Family:
    """Return the family that estimates a noise; solved noise is similar to a cut staircase."""
    return FAMILIES["cut_staircase" if family == LEAST else family]


@dataclass(frozen=True)
class Spread:
    """Laplace noise, cut off where δ allows it, and uniform noise at ε = 0.

    ``epsilon`` is the rate at which the density falls, 1 − ``kept`` is the mass of the uncut noise
    beyond the cut, and ``level`` is the density of |X| for uniform noise.
    """

    epsilon: float
    kept: float = 1.0
    level: float = 0.0

    @classmethod
    def of(cls, shape: Approximation, epsilon: float, spent: float) -> "Spread":
        """Return the approximation of a family at (ε, 1 − e^−spent), except Gaussian noise."""
        delta = -math.expm1(-spent)
        if shape is Approximation.LAPLACE:
            return cls(epsilon + 2 * spent)
        if shape is Approximation.UNIFORM or not epsilon:
            return cls(0.0, level=2 * delta)
        if shape is Approximation.EXPONENTIAL or not delta:
            return cls(epsilon)
        if shape is not Approximation.TRUNCATED:
            raise TypeError(f"{shape} has no spread")
        ratio = math.expm1(min(epsilon, 600.0)) / (2 * delta)
        return cls(epsilon, ratio / (1 + ratio))

    def size(self, y: float) -> float:
        """Return the size that is exceeded with probability e^−y."""
        share = -math.expm1(-y)
        if not self.epsilon:
            return share / self.level
        return (
            y / self.epsilon if self.kept == 1 else -math.log1p(-share * self.kept) / self.epsilon
        )

    def tail(self, size: float) -> float:
        """Return the probability that a size is exceeded."""
        if not self.epsilon:
            return max(0.0, 1 - size * self.level)
        return max(0.0, 1 + math.expm1(-self.epsilon * size) / self.kept)


@dataclass(frozen=True)
class Bell:
    """Gaussian noise."""

    sigma: float

    def size(self, y: float) -> float:
        """Return the size that is exceeded with probability e^−y."""
        return self.sigma * _normal_size(y)

    def tail(self, size: float) -> float:
        """Return the probability that a size is exceeded."""
        return math.erfc(size / self.sigma / math.sqrt(2))


@dataclass(frozen=True)
class Estimate:
    """Estimates of the cost and the error of one answer under different noise."""

    query: NumericQuery

    def cost(self, family: str, epsilon: float, spent: float) -> float:
        """Return the estimated cost of a family at (ε, 1 − e^−spent), times the weight."""
        stairs = estimated_family(family).stairs
        plain = self._cost(_noise_of(family, epsilon, spent), rounds=not stairs)
        return plain * self._stairs(epsilon) if stairs else plain

    def shared(self, sigma: float) -> float:
        """Return the estimated cost of Gaussian noise of a σ, times the weight."""
        return self._cost(Bell(sigma / self._shift), rounds=True)

    def width(self, family: str, epsilon: float, spent: float) -> float:
        """Return the estimated error that the answer stays within at its confidence."""
        noise = _noise_of(family, epsilon, spent)
        return self._shift * noise.size(-math.log1p(-as_float(self.query.confidence)))

    @cached_property
    def _shift(self) -> float:
        return as_float(self.query.sensitivity)

    @cached_property
    def _weight(self) -> float:
        return as_float(self.query.weight)

    @cached_property
    def _value(self) -> Callable[[float], float]:
        return _in_floats(self.query.objective)

    def _cost(self, noise: Spread | Bell, *, rounds: bool) -> float:
        if self.query.cost is None:
            return 0.0
        if isinstance(self.query.cost, Threshold):
            return self._weight * noise.tail(as_float(self.query.cost.limit) / self._shift)
        if rounds and self.query.integer and noise.size(1.0) * self._shift < _NARROW:
            return self._weight * self._on_integers(noise)
        nodes = zip(*_rule(), strict=True)
        return self._weight * sum(
            part * self._value(self._shift * noise.size(y)) for y, part in nodes
        )

    def _on_integers(self, noise: Spread | Bell) -> float:
        """Return L(0) + Σ (L(k+1) − L(k))·P(|X| > k + 1/2)."""
        total = before = self._value(0.0)
        for k in range(_TERMS):
            likely = noise.tail((k + 0.5) / self._shift)
            if likely < 1e-15:
                break
            after = self._value(k + 1.0)
            total, before = total + (after - before) * likely, after
        return total

    def _stairs(self, epsilon: float) -> float:
        """Return the cost of stairs relative to an exponential density: x/sinh x, exact for |x|.

        x = ε/2 for continuous noise (Geng and Viswanath 2016), and x = ε for integers at Δ = 1
        (geometric noise).
        """
        x = epsilon if self.query.integer and self._shift == 1 else epsilon / 2
        return x / math.sinh(x) if 0 < x < 600 else float(not x)


def _noise_of(family: str, epsilon: float, spent: float) -> Spread | Bell:
    """Return the approximate noise of a family; Gaussian noise has the classic σ if ε > 0."""
    shape = estimated_family(family).approximation
    if shape is not Approximation.GAUSSIAN:
        return Spread.of(shape, epsilon, spent)
    delta = -math.expm1(-spent)
    if not epsilon:
        return Bell(0.5 / NormalDist().inv_cdf((1 + delta) / 2))
    return Bell(math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


@cache
def _rule() -> tuple[list[float], list[float]]:
    """Return the nodes and weights of Gauss–Laguerre quadrature."""
    import numpy as np

    places, parts = np.polynomial.laguerre.laggauss(_NODES)
    return places.tolist(), parts.tolist()


@cache
def _normal_size(y: float) -> float:
    return -NormalDist().inv_cdf(max(math.exp(-y) / 2, 1e-300))


@lru_cache(64)
def _in_floats(cost: Cost) -> Callable[[float], float]:
    if isinstance(cost, Power):
        exponent = as_float(cost.p)
        return lambda size: size**exponent
    if isinstance(cost, Points):
        sizes, costs = [as_float(x) for x in cost.sizes], [as_float(y) for y in cost.costs]
        return lambda size: _along(sizes, costs, size)
    return _sampled(cost)


def _sampled(cost: Cost) -> Callable[[float], float]:
    """Return a cost that can only be called, by straight lines between the sizes of a table.

    Each size of the table is called once, however often the cost is problem for.
    """
    at = cache(lambda i: cost(math.exp2(i / _SAMPLES)))

    def value(size: float) -> float:
        if size <= 0:
            return cost(0)
        i = math.floor(math.log2(size) * _SAMPLES)
        low, high = at(i), at(i + 1)
        start, end = math.exp2(i / _SAMPLES), math.exp2((i + 1) / _SAMPLES)
        return low + (high - low) * (size - start) / (end - start)

    return value


def _along(sizes: list[float], costs: list[float], size: float) -> float:
    """Return a piecewise linear cost at a size; it is constant after the last point."""
    i = bisect_right(sizes, size) - 1
    if i + 1 >= len(sizes):
        return costs[-1]
    return costs[i] + (costs[i + 1] - costs[i]) * (size - sizes[i]) / (sizes[i + 1] - sizes[i])


# For noise narrower than this, the cost on the integers is a sum over at most this many terms.
_NARROW, _TERMS = 6.0, 120
