"""What noises cost and how wide they are, in floats: they propose a split and prove nothing.

A noise is known here by the size that it exceeds with probability e^−y, at Δ = 1. An expected cost
is then the integral of L(Δ·size(y))·e^−y over y ≥ 0, by Gauss and Laguerre's rule.
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

# The name, among those of families, of the least noise that is found by solving.
LEAST = "least"
_NODES = 24
# A cost that can only be called is sampled at so many sizes from one to twice as much.
_SAMPLES = 64


def taken_for(family: str) -> Family:
    """Return the family by whose properties a noise is estimated: the least is like a cut one."""
    return FAMILIES["cut_staircase" if family == LEAST else family]


@dataclass(frozen=True)
class Spread:
    """Laplace noise cut off where δ pays for it, uniform at ε = 0: P(|X| > size) and back.

    ``epsilon`` is the rate at which the density falls; 1 − ``kept`` of the uncut law lies beyond
    the cut, and ``level`` is the density at the end of the uniform noise.
    """

    epsilon: float
    kept: float = 1.0
    level: float = 0.0

    @classmethod
    def of(cls, shape: Approximation, epsilon: float, spent: float) -> "Spread":
        """Return the approximation of a family at (ε, 1 − e^−spent), but for Gaussian noise."""
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
    """Gaussian noise: P(|X| > size) and back."""

    sigma: float

    def size(self, y: float) -> float:
        """Return the size that is exceeded with probability e^−y."""
        return self.sigma * _normal_size(y)

    def tail(self, size: float) -> float:
        """Return the probability that a size is exceeded."""
        return math.erfc(size / self.sigma / math.sqrt(2))


@dataclass(frozen=True)
class Estimate:
    """About what one wanted answer costs under a noise, and how far 95 % of its errors reach."""

    wanted: NumericQuery

    def cost(self, family: str, epsilon: float, spent: float) -> float:
        """Return about what a family costs at (ε, 1 − e^−spent), times the answer's weight."""
        stairs = taken_for(family).stairs
        plain = self._cost(_law(family, epsilon, spent), rounds=not stairs)
        return plain * self._stairs(epsilon) if stairs else plain

    def shared(self, sigma: float) -> float:
        """Return about what Gaussian noise of a σ costs, times the answer's weight."""
        return self._cost(Bell(sigma / self._moved), rounds=True)

    def width(self, family: str, epsilon: float, spent: float) -> float:
        """Return about how far as many of the errors reach as the answer's confidence says."""
        law = _law(family, epsilon, spent)
        return self._moved * law.size(-math.log1p(-as_float(self.wanted.confidence)))

    @cached_property
    def _moved(self) -> float:
        return as_float(self.wanted.sensitivity)

    @cached_property
    def _weight(self) -> float:
        return as_float(self.wanted.weight)

    @cached_property
    def _value(self) -> Callable[[float], float]:
        return _in_floats(self.wanted.objective)

    def _cost(self, law: Spread | Bell, *, rounds: bool) -> float:
        if self.wanted.cost is None:
            return 0.0
        if isinstance(self.wanted.cost, Threshold):
            return self._weight * law.tail(as_float(self.wanted.cost.limit) / self._moved)
        if rounds and self.wanted.integer and law.size(1.0) * self._moved < _NARROW:
            return self._weight * self._on_integers(law)
        nodes = zip(*_rule(), strict=True)
        return self._weight * sum(
            part * self._value(self._moved * law.size(y)) for y, part in nodes
        )

    def _on_integers(self, law: Spread | Bell) -> float:
        """Return L(0) + Σ (L(k+1) − L(k))·P(|X| > k + 1/2)."""
        total = before = self._value(0.0)
        for k in range(_TERMS):
            likely = law.tail((k + 0.5) / self._moved)
            if likely < 1e-15:
                break
            after = self._value(k + 1.0)
            total, before = total + (after - before) * likely, after
        return total

    def _stairs(self, epsilon: float) -> float:
        """Return how much cheaper stairs are than a steady fall: x/sinh x, exactly so for |x|.

        x = ε/2 on the line (Geng and Viswanath 2016), ε for whole numbers that move by 1 (the
        geometric noise).
        """
        x = epsilon if self.wanted.integer and self._moved == 1 else epsilon / 2
        return x / math.sinh(x) if 0 < x < 600 else float(not x)


def _law(family: str, epsilon: float, spent: float) -> Spread | Bell:
    """Return about the law of a family; of a Gaussian by the textbook's σ, or its own at ε = 0."""
    shape = taken_for(family).approximation
    if shape is not Approximation.GAUSSIAN:
        return Spread.of(shape, epsilon, spent)
    delta = -math.expm1(-spent)
    if not epsilon:
        return Bell(0.5 / NormalDist().inv_cdf((1 + delta) / 2))
    return Bell(math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


@cache
def _rule() -> tuple[list[float], list[float]]:
    """Return the places and parts of Gauss and Laguerre's rule."""
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

    Each size of the table is called once, however often the cost is asked for.
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
    """Return a polygon's height at a size; level beyond its last corner."""
    i = bisect_right(sizes, size) - 1
    if i + 1 >= len(sizes):
        return costs[-1]
    return costs[i] + (costs[i + 1] - costs[i]) * (size - sizes[i]) / (sizes[i + 1] - sizes[i])


# Rounding to whole numbers is added up one by one where the noise is narrower than this.
_NARROW, _TERMS = 6.0, 120
