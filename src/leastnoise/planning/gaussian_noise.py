"""Noise in closed form for one of many numbers: Gaussian noise of a given cost, or that of a split.

Its certificates prove the guarantee and the cost, and no lower bound, which would take longer than
all else.
"""

import math
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Problem
from leastnoise.certificate import Certificate
from leastnoise.core.exact import Interval, as_float, format_rounded, power
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_truncated
from leastnoise.core.noise import Gaussian, Noise, Smooth, TruncatedGaussian
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Discretized, Mechanism
from leastnoise.planning.closed_forms import discretize_shared, find_continuous
from leastnoise.planning.options import SHAPE

_SOURCE = "Gaussian differential privacy (Dong, Roth and Su 2022)"
_LAPLACE = "truncated_laplace"
_HALF = Fraction(1, 2)
_BITS = 96
_DIGITS = 6
_UP = ROUND_CEILING
# In floats a normal tail is 0 beyond so many σ, and the exponential infinite beyond so much.
_FARTHEST = 40.0
_LARGEST = 700.0
_HALVINGS = 60


def build_gaussian(
    cost: GaussianCost,
    *,
    sensitivity: Fraction,
    integer: bool,
    delta: Fraction,
    objective: Cost = l1,
) -> Mechanism:
    """Return Gaussian noise of σ = Δ/μ, truncated where ``cost`` has a γ > 0.

    Args:
        cost: The cost (μ², γ) of one release. The noise costs no more. With γ > 0 the noise is for
            integers, and its ends are the nearest that γ allows.
        sensitivity: Δ, how much one unit can change the number.
        integer: Whether the number is an integer.
        delta: The δ at which the mechanism states the guarantee of a single release.
        objective: The cost of an error, for the reported cost only. Default: ``l1``.
    """
    wide = sensitivity / power(cost.square, _HALF).lower
    sigma = Interval.exact(wide).shortened(_BITS).upper
    line: Smooth = Gaussian(sigma)
    if cost.failure:
        line = TruncatedGaussian(sigma, find_end(sigma, sensitivity, cost.failure) + _HALF)
        if not integer:
            raise InvalidParameter(
                "bounded Gaussian noise must be for integers", fix="Use a count to discover groups."
            )
    privacy = _own_guarantee(cost, delta)
    return _build(line, privacy, sensitivity, objective=objective, integer=integer, source=_SOURCE)


def build_truncated_laplace(
    privacy: Privacy, *, sensitivity: Fraction, integer: bool, objective: Cost = l1
) -> Mechanism:
    """Return truncated Laplace noise, for ε > 0 and 0 < δ ≤ 1/2 (calibration/smooth.py).

    For ε ≤ 1/8 it costs at most 0.2% more than the cheapest noise, and it is built at once.
    """
    problem = Problem(privacy, sensitivity, objective, integer, SHAPE)
    line = find_continuous(_LAPLACE, problem)
    source = FAMILIES[_LAPLACE].source
    return _build(line, privacy, sensitivity, objective=objective, integer=integer, source=source)


def _build(
    line: Smooth,
    privacy: Privacy,
    sensitivity: Fraction,
    *,
    objective: Cost,
    integer: bool,
    source: str,
) -> Mechanism:
    discrete = discretize_shared(line, sensitivity, integer=integer)
    noise: Noise = discrete if integer else line
    discretized = Discretized(discrete, objective)
    cost = discretized.cost if integer else None
    certificate = Certificate.of(noise, privacy, sensitivity, objective, source=source, cost=cost)
    return Mechanism(privacy, sensitivity, noise, certificate, discretized, integer)


def find_end(sigma: Fraction, shift: Fraction, failure: Fraction) -> int:
    """Return the smallest w such that noise truncated at w + ½ reveals a shift at most with γ.

    γ = P(X < shift − w − ½) falls as w grows, because the tails of a Gaussian fall ever faster.
    """

    def suffices(end: int) -> bool:
        noise = TruncatedGaussian(sigma, end + _HALF)
        return cost_of_truncated(noise, shift).failure <= failure

    low, high = int(shift) // 2, int(shift) + 1
    while not suffices(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _own_guarantee(cost: GaussianCost, delta: Fraction) -> Privacy:
    """Return the guarantee of a single release at a δ; ε is rounded up."""
    near = Fraction(format_rounded(Fraction(_estimate_epsilon(cost, delta)), _DIGITS, _UP))
    if near and cost.delta(near) <= delta:
        return Privacy(near, delta)
    epsilon = cost.epsilon(delta)
    if epsilon is None:
        raise InvalidParameter(
            "The δ of a release must be greater than its γ", fix="Use a larger δ."
        )
    if not epsilon:
        return Privacy(0, delta)
    return Privacy(Fraction(format_rounded(epsilon, _DIGITS, _UP)), delta)


def _estimate_epsilon(cost: GaussianCost, delta: Fraction) -> float:
    """Return about the smallest ε at which a cost guarantees δ, or 0, in floats."""
    mu = math.sqrt(as_float(cost.square))
    target = as_float((delta - cost.failure) / (1 - cost.failure))
    low, high = 0.0, min(mu * mu / 2 + mu * _FARTHEST, _LARGEST)
    if not mu or not 0 < target < 1:
        return 0.0

    def delta_at(epsilon: float) -> float:
        above, below = (_normal(side * mu / 2 - epsilon / mu) for side in (1, -1))
        return above - math.exp(epsilon) * below

    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > target else (low, middle)
    return high


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2
