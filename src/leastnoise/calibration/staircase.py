"""The optimal noise at δ = 0: the staircase, on the line and on the integers.

For every cost, some staircase is optimal among all noise (Geng and Viswanath 2016, for both). A
search over one number finds it. An error in this number costs accuracy, never privacy, and the
certificate states how much.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise

from leastnoise.calibration.problem import Problem
from leastnoise.core.exact import as_float, exponential
from leastnoise.core.noise import DiscreteStaircase, Noise, Run, Staircase, Steps, outside
from leastnoise.costs import Cost, Power
from leastnoise.errors import INTEGER, InvalidParameter, Unsupported

_PERIODS = 2000
# Below this ε the steps are so low that γ barely matters, and the γ of the cost |x| is used.
_FLAT = 1 / 32
# The binary digits of the level of a cut staircase at 0. The most steps of Δ on each side of noise
# on the line: with more of them, truncated Laplace noise is nearly as cheap.
_BITS = 160
LONGEST_ON_LINE = 200
_LARGEST_LOGARITHM = 700.0
_NEGLIGIBLE = 1e-200


def find_cheapest_staircase(problem: Problem) -> Noise:
    """Return the cheapest staircase for ε > 0, at δ = 0 (Geng and Viswanath 2016)."""
    if not problem.privacy.epsilon:
        raise outside("the staircase", "ε > 0", problem.privacy)
    factor = exponential(problem.privacy.epsilon).lower
    if problem.integer:
        period = int(problem.sensitivity)

        def cost_of(steps: int) -> float:
            return as_float(_build_on_integers(period, steps, factor).expected(problem.cost))

        return _build_on_integers(period, _find_lowest(cost_of, 1, period), factor)
    return Staircase(problem.sensitivity, Fraction(*_find_best_part(problem)), 1 / factor)


def find_geometric(problem: Problem) -> DiscreteStaircase:
    """Return p(i) ∝ e^(−ε|i|/Δ): Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.2 at Δ = 1.

    For larger Δ it satisfies ε because over Δ steps it falls by e^ε.
    """
    if not problem.integer or not problem.privacy.epsilon:
        kind = "integer" if problem.integer else "real"
        raise InvalidParameter(
            "requires integer answers and ε > 0",
            subject="geometric noise",
            got=f"{kind} answers and {problem.privacy}",
            fix="Pass " + INTEGER + ", or choose another family.",
        )
    factor = exponential(problem.privacy.epsilon / problem.sensitivity).lower
    return DiscreteStaircase(Fraction(1), 1 / factor, (Run(0, 1, 1),))


def find_cut_staircase(problem: Problem) -> Noise:
    """Return the cut staircase, rounded for integers."""
    noise = build_cut_staircase(problem)
    return noise.rounded(Fraction(1)) if problem.integer else noise


def build_cut_staircase(problem: Problem) -> Steps:
    """Return a staircase truncated where δ > 0 allows it: near optimal where δ is tiny.

    Level k lies between (k−1+γ)Δ and (k+γ)Δ and is at least e^−ε of the one before it, so at a
    shift of Δ only the outermost Δ falls short, by its mass on one side: that must be δ. The noise
    is unimodal, so shorter shifts need less. It is rejected where it would be cut within Δ.
    """
    if not problem.privacy.epsilon or not problem.privacy.delta:
        raise outside("the cut staircase", "ε > 0 and δ > 0", problem.privacy)
    factor, sensitivity = exponential(problem.privacy.epsilon).lower, problem.sensitivity
    part, fine = _find_best_part(problem)
    top = 1 << _BITS + problem.privacy.delta.denominator.bit_length()
    # In parts of Δ: the end of each level, its height, and the mass up to its end on one side.
    ends, levels, masses = [part], [top], [part * top]
    while len(levels) < LONGEST_ON_LINE:
        levels.append(-(-levels[-1] * factor.denominator // factor.numerator))
        ends.append(ends[-1] + fine)
        masses.append(masses[-1] + levels[-1] * fine)
        short = masses[-1] - masses[-2] - 2 * problem.privacy.delta * masses[-1]
        if short <= 0:
            break
    if short > 0:
        raise Unsupported(
            f"The cut staircase would have more than {LONGEST_ON_LINE} steps on each side",
            fix="Use the family truncated_laplace, which is nearly as cheap.",
        )
    # The last level may end earlier: with each part less, the outermost Δ begins further in.
    spare = -short / (levels[-2] - levels[-1] + 2 * problem.privacy.delta * levels[-1])
    ends[-1] -= min(int(spare), fine - 1)
    if ends[-1] < fine:
        raise outside("the cut staircase", "a δ too small to cut it within Δ", problem.privacy)
    sides = [
        (Fraction(end, fine) * sensitivity, level) for end, level in zip(ends, levels, strict=True)
    ]
    total = 2 * sum(
        (end - start) * level for (start, _), (end, level) in pairwise([(Fraction(0), 0), *sides])
    )
    sides = [side for side in sides if side[0]]
    breaks = [*(-end for end, _ in reversed(sides)), *(end for end, _ in sides)]
    heights = [level / total for _, level in [*reversed(sides), *sides[1:]]]
    return Steps(breaks, heights)


def _build_on_integers(period: int, steps: int, factor: Fraction) -> DiscreteStaircase:
    """Return the staircase that falls after the first ``steps`` of each ``period`` integers."""
    runs = [Run(0, steps, factor.numerator)]
    if steps < period:
        runs.append(Run(steps, period - steps, factor.denominator))
    return DiscreteStaircase(Fraction(1), 1 / factor, tuple(runs))


def _find_best_part(problem: Problem) -> tuple[int, int]:
    """Return γ of the cheapest staircase, in parts of a period, and the number of parts."""
    return _find_best_part_of(as_float(problem.privacy.epsilon), problem.cost, problem.sensitivity)


@lru_cache(maxsize=64)
def _find_best_part_of(epsilon: float, cost: Cost, period: Fraction) -> tuple[int, int]:
    fine = 1 << min(_FINE_BITS + math.ceil(1.5 * epsilon), _MOST_BITS)
    if epsilon < _FLAT or type(cost) is Cost:  # the integral of a function takes long
        return round(fine * Fraction(1 / (1 + math.exp(min(epsilon / 2, 300.0))))), fine
    area = _area(cost, period)
    return _find_lowest(lambda k: _cost(k / fine, math.exp(-epsilon), area), 0, fine), fine


def _area(cost: Cost, period: Fraction) -> Callable[[float], float]:
    """Return the integral of L over a number of periods, in floats and up to a factor."""
    if isinstance(cost, Power):
        exponent = as_float(cost.p + 1)
        return lambda periods: (
            math.exp(min(exponent * math.log(periods), _LARGEST_LOGARITHM)) if periods else 0.0
        )
    return lambda periods: as_float(cost.integral(period * Fraction(periods)).middle)


def _cost(gamma: float, ratio: float, area_of: Callable[[float], float]) -> float:
    """Return the expected cost of a staircase, in floats and up to a factor."""
    total, share, n = 0.0, 1.0, 0
    while n < _PERIODS:
        area = area_of(n + gamma)
        total += share * area
        if share * area * (n + 1) < 1e-15 * total or share < _NEGLIGIBLE:
            break
        share *= ratio
        n += 1
    high = max(gamma + ratio * (1 - gamma), 1e-300)
    return (1 - ratio) ** 2 * total / high


def _find_lowest(value: Callable[[int], float], low: int, high: int) -> int:
    """Return the minimum of a function of integers that falls and then rises."""
    at = cache(value)
    golden = (math.sqrt(5) - 1) / 2
    while high - low > 3:
        width = high - low
        left, right = high - round(golden * width), low + round(golden * width)
        if left >= right:
            left, right = low + width // 3, high - width // 3
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=at)


# The binary digits of γ, more of them for large ε up to the second number.
_FINE_BITS, _MOST_BITS = 24, 1000
