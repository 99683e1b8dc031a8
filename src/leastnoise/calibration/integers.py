"""The optimal symmetric unimodal noise on the integers at ε = 0: a mixture of two uniform ones.

Symmetric unimodal noise on the integers is a mixture of the uniform noise
U_M on −M … M; U_M is at distance min(1, Δ/(2M+1)) from itself shifted by Δ, and both cost and
distance are linear in the mixture. So the least cost at δ is the convex envelope of the points
(distance, cost), and the best noise mixes two of them: neighbours M, M+1, or the mass at 0 and
U_M*, where M*, which depends on L and Δ alone, is the first M > (Δ−1)/2 from which on
(L(M+1)−L(0))·(2M+1−Δ) ≥ 2·Σ(L(i)−L(0)). It is P_α's twin: extra mass at 0, a level, a remainder
on the two end points. At Δ = 1 it is the discrete uniform noise of Geng and Viswanath (2016).
"""

from fractions import Fraction
from math import lcm

from leastnoise.calibration.line import least_on_line, line_through_integer, not_attained
from leastnoise.calibration.problem import Problem, outside
from leastnoise.certificate import Certificate
from leastnoise.core.exact import Interval
from leastnoise.core.noise import DiscreteUniform, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost

_SOURCE = "the integers (docs/theory/integers.md)"
_DOUBLINGS = 64
_LENIENT = 8


def least_unimodal(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the optimal unimodal noise at ε = 0, which satisfies every (ε, δ) of the same δ."""
    if not problem.privacy.delta:
        raise outside("the uniform noise", "δ > 0", problem.privacy)
    finder = least_on_integers if problem.integer else least_on_line
    return finder(Privacy(delta=problem.privacy.delta), problem.sensitivity, problem.cost)


def find_uniform(problem: Problem) -> Noise:
    """Return the noise of :func:`least_unimodal`."""
    return least_unimodal(problem)[0]


def prove_uniform(problem: Problem) -> tuple[Noise, Certificate] | None:
    """Return it with the proof that it is optimal, which is for ε = 0."""
    return None if problem.privacy.epsilon else least_unimodal(problem)


def least_on_integers(
    privacy: Privacy, sensitivity: Fraction, cost: Cost
) -> tuple[DiscreteUniform, Certificate]:
    """Return the integer noise of least cost among symmetric unimodal noise.

    ``sensitivity`` is a whole number. Exact for whole powers, thresholds and points; for other
    costs beyond 256 points the sums are enclosed, and the certificate's gap says how tightly.
    """
    delta, shift = privacy.delta, sensitivity.numerator
    full = int((shift / delta - 1) / 2)  # the last M at distance ≥ δ
    if 2 * full + 1 >= shift and _balance(cost, shift, full).middle >= 0:
        height = cost.value(Fraction(full + 1)).lower
        level = delta / shift
        noise = _law(full, level, rim=(1 - (2 * full + 1) * level) / 2)
        reach = full
    else:
        reach = _best_reach(cost, shift, max((shift + 1) // 2, full + 1), delta)
        points = 2 * reach + 1
        atom = (delta - Fraction(shift, points)) / (1 - Fraction(shift, points))
        noise = _law(reach, (1 - atom) / points, atom=atom)
        zero = cost.value(Fraction(0)).lower
        height = zero + 2 * _sum(cost, reach).lower / (points - shift)
    evidence = line_through_integer(cost, sensitivity, reach=reach, height=height)
    certificate = Certificate.of(
        noise,
        privacy,
        sensitivity,
        cost,
        source=_SOURCE,
        lower_bound=evidence.intercept - evidence.slope * delta,
        evidence=evidence,
    )
    return noise, certificate


def _best_reach(cost: Cost, shift: int, least: int, delta: Fraction) -> int:
    """Return the first M ≥ least from which on wider noise costs more, by doubling and halving."""
    low, high = least - 1, least
    for doubling in range(_DOUBLINGS):
        balance = _balance(cost, shift, high)
        # A function's sums are enclosed ever more loosely: far out, h ≥ 0 must be certain.
        if (balance.middle if doubling < _LENIENT else balance.lower) >= 0:
            break
        low, high = high, 2 * high
    else:
        raise not_attained(delta, cost.value(Fraction(0)).lower, cost.value(Fraction(high)).upper)
    while high - low > 1:
        middle = (low + high) // 2
        if _balance(cost, shift, middle).middle >= 0:
            high = middle
        else:
            low = middle
    return high


def _balance(cost: Cost, shift: int, reach: int) -> Interval:
    """Enclose (L(M+1)−L(0))·(2M+1−Δ) − 2·Σ(L(i)−L(0)): its sign tells whether M+1 costs more."""
    gained = cost.value(Fraction(reach + 1)) - cost.value(Fraction(0))
    return gained.scaled(2 * reach + 1 - shift) - _sum(cost, reach).scaled(2)


def _sum(cost: Cost, reach: int) -> Interval:
    """Enclose the sum of L(i) − L(0) for i = 1 … reach."""
    return cost.total(Fraction(1), reach) - cost.value(Fraction(0)).scaled(reach)


def _law(
    reach: int, level: Fraction, *, rim: Fraction = Fraction(0), atom: Fraction = Fraction(0)
) -> DiscreteUniform:
    """Return the law with these probabilities, as the smallest whole weights."""
    whole = lcm(level.denominator, rim.denominator, atom.denominator)
    return DiscreteUniform(
        reach=reach, level=int(level * whole), rim=int(rim * whole), atom=int(atom * whole)
    )
