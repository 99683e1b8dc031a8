"""E|X| and E X² of the noise of peers, by formula, from the scale that each peer chooses.

Floats are enough, because these numbers are for comparison and prove nothing.
"""

import math
from typing import Any

Row = dict[str, Any]


def moments(distribution: Row) -> tuple[float, float]:
    """Return E|X| and E X² of a noise distribution as a peer reports it."""
    kind = distribution["kind"]
    if kind == "samples":
        first, second = distribution["moments"]
        return first, second
    if kind == "uniform":
        return distribution["radius"] / 2, distribution["radius"] ** 2 / 3
    if kind == "laplace":
        return distribution["scale"], 2 * distribution["scale"] ** 2
    if kind == "gaussian":
        return distribution["sigma"] * math.sqrt(2 / math.pi), distribution["sigma"] ** 2
    if kind == "truncated_laplace":
        return truncated_laplace(distribution["scale"], distribution["radius"])
    if kind == "geometric":
        fall = math.exp(-distribution["epsilon"])
        return 2 * fall / (1 - fall**2), 2 * fall / (1 - fall) ** 2
    if kind == "discrete_gaussian":
        return discrete_gaussian(distribution["sigma"])
    if kind == "staircase":
        return staircase(distribution["epsilon"], distribution["gamma"])
    if kind == "canonical":
        return canonical(distribution["epsilon"], distribution["delta"])
    raise ValueError(f"kind must be a known distribution, got {kind!r}. Add its moments here.")


def errors(distribution: Row) -> tuple[float, float]:
    """Return the standard errors of the moments: 0 for moments by formula."""
    first, second = distribution.get("errors", (0.0, 0.0))
    return first, second


def truncated_laplace(scale: float, radius: float) -> tuple[float, float]:
    """Return the moments of Laplace noise truncated at ``radius``: integrals of xᵏ·e^−x."""
    end = radius / scale
    tail = 1 / math.expm1(end)
    return scale * (1 - end * tail), scale**2 * (2 - (end**2 + 2 * end) * tail)


def discrete_gaussian(sigma: float) -> tuple[float, float]:
    """Return the moments of weights e^(−k²/2σ²) on the integers (Canonne et al. 2020)."""
    weights = [math.exp(-(k**2) / (2 * sigma**2)) for k in range(math.ceil(40 * sigma) + 2)]
    total = 2 * sum(weights) - 1
    first, second = (2 * sum(k**p * w for k, w in enumerate(weights)) / total for p in (1, 2))
    return first, second


def staircase(epsilon: float, gamma: float) -> tuple[float, float]:
    """Return the moments of a geometric integer plus a uniform number in [0, γ) or [γ, 1).

    Geng and Viswanath 2016, Algorithm 1.
    """
    fall = math.exp(-epsilon)
    step, step_squared = fall / (1 - fall), fall * (1 + fall) / (1 - fall) ** 2
    inner = gamma / (gamma + (1 - gamma) * fall)
    part = inner * gamma / 2 + (1 - inner) * (1 + gamma) / 2
    part_squared = inner * gamma**2 / 3 + (1 - inner) * (1 + gamma + gamma**2) / 3
    return step + part, step_squared + 2 * step * part + part_squared


def canonical(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the moments of canonical noise on the integers, spread over cells of length 1.

    Awan and Vadhan 2023: P(X > 0) is T₀ = (1−δ)/(1+e^ε), and the next tail T' = e^−ε·(T−δ). In cell
    k ≥ 1 the mean of |x| is k and of x² is k² + 1/12; in cell 0 they are 1/4 and 1/12.
    """
    tail = (1 - delta) / (1 + math.exp(epsilon))
    first, second, k = (1 - 2 * tail) / 4, 1 / 12, 0
    while tail > 1e-18:
        next_tail = max(0.0, math.exp(-epsilon) * (tail - delta))
        k += 1
        first += 2 * (tail - next_tail) * k
        second += 2 * (tail - next_tail) * k**2
        tail = next_tail
    return first, second
