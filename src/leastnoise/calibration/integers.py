"""The least noise on the whole numbers.

The least noise on the integers at ε = 0: a mixture of two uniform noises.

A symmetric noise on the integers that never rises away from 0 is a mixture of the uniform noises
U_M on −M … M; U_M is at distance min(1, Δ/(2M+1)) from itself moved by Δ, and both cost and
distance are linear in the mixture. So the least cost at δ is the convex envelope of the points
(distance, cost), and the best noise mixes two of them: neighbours M, M+1, or the mass at 0 and
U_M*, where M*, which depends on L and Δ alone, is the first M > (Δ−1)/2 from which on
(L(M+1)−L(0))·(2M+1−Δ) ≥ 2·Σ(L(i)−L(0)). It is P_α's twin: extra mass at 0, a level, a remainder
on the two end points. At Δ = 1 it is the discrete uniform noise of Geng and Viswanath (2016).

The least noise on the integers at Δ = 1: the canonical noise, whatever the cost.

p_0 = (e^ε−1+2δ)/(e^ε+1), p_k = p_0·e^(−εk) as far as the mass lasts, the remainder on the next two
points (Awan and Vadhan 2023; Awan and Ramasethu 2023): the tails of
:mod:`leastnoise.certificate.canonical_bound` with equality. At ε = 0 it is uniform with a rim, at
δ = 0 the geometric noise.
"""

from fractions import Fraction
from itertools import count
from math import lcm

from leastnoise.accounting import Profile
from leastnoise.calibration.line import line_through_integer, not_attained
from leastnoise.calibration.problem import Problem
from leastnoise.certificate import CanonicalBound, Certificate, bits_for
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.noise import DiscreteSteps, DiscreteUniform, Noise, Run
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost
from leastnoise.errors import Unsupported

_SOURCE = "the integers (docs/theory/integers.md)"
_DOUBLINGS = 64
_LENIENT = 8


def least_on_integers(
    privacy: Privacy, sensitivity: Fraction, cost: Cost
) -> tuple[DiscreteUniform, Certificate]:
    """Return the integer noise of least cost among symmetric ones that never rise away from 0.

    ``sensitivity`` is a whole number. Exact for whole powers, thresholds and points; for other
    costs beyond 256 points the sums are enclosed, and the certificate's gap says how tightly.
    """
    delta, moved = privacy.delta, sensitivity.numerator
    full = int((moved / delta - 1) / 2)  # the last M at distance ≥ δ
    if 2 * full + 1 >= moved and _balance(cost, moved, full).middle >= 0:
        height = cost.value(Fraction(full + 1)).lower
        level = delta / moved
        noise = _law(full, level, rim=(1 - (2 * full + 1) * level) / 2)
        reach = full
    else:
        reach = _best_reach(cost, moved, max((moved + 1) // 2, full + 1), delta)
        points = 2 * reach + 1
        atom = (delta - Fraction(moved, points)) / (1 - Fraction(moved, points))
        noise = _law(reach, (1 - atom) / points, atom=atom)
        zero = cost.value(Fraction(0)).lower
        height = zero + 2 * _sum(cost, reach).lower / (points - moved)
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


def _best_reach(cost: Cost, moved: int, least: int, delta: Fraction) -> int:
    """Return the first M ≥ least from which on wider noise costs more, by doubling and halving."""
    low, high = least - 1, least
    for doubling in range(_DOUBLINGS):
        balance = _balance(cost, moved, high)
        # A function's sums are enclosed ever more loosely: far out, h ≥ 0 must be certain.
        if (balance.middle if doubling < _LENIENT else balance.lower) >= 0:
            break
        low, high = high, 2 * high
    else:
        raise not_attained(delta, cost.value(Fraction(0)).lower, cost.value(Fraction(high)).upper)
    while high - low > 1:
        middle = (low + high) // 2
        if _balance(cost, moved, middle).middle >= 0:
            high = middle
        else:
            low = middle
    return high


def _balance(cost: Cost, moved: int, reach: int) -> Interval:
    """Enclose (L(M+1)−L(0))·(2M+1−Δ) − 2·Σ(L(i)−L(0)): its sign tells whether M+1 costs more."""
    gained = cost.value(Fraction(reach + 1)) - cost.value(Fraction(0))
    return gained.scaled(2 * reach + 1 - moved) - _sum(cost, reach).scaled(2)


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


# How many steps the noise may have on each side. Beyond, other noises cost hardly more (the
# certificate says how much), and have a closed form.
LONGEST = 1_000


def least_canonical(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the canonical noise for ε > 0 and δ > 0, and its certificate: least for every cost."""
    noise = canonical(problem.privacy)
    evidence = CanonicalBound(integer=True)
    certificate = Certificate.of(
        noise,
        problem.privacy,
        problem.sensitivity,
        problem.cost,
        source="the canonical noise (Awan and Vadhan 2023)",
        lower_bound=evidence.prove(problem.cost, problem.privacy, problem.sensitivity),
        evidence=evidence,
    )
    return noise, certificate


def canonical(privacy: Privacy, longest: int = LONGEST) -> DiscreteSteps:
    """Return the canonical noise in whole weights, rounded so that the promise holds.

    Each weight is at least e^−ε of the one before, so that only the rim falls short. The middle is
    made smaller by a few units until the shortfall fits into δ.
    """
    factor, total = exponential(privacy.epsilon).lower, 1 << bits_for(privacy)
    middle = (factor - 1 + 2 * privacy.delta) / (factor + 1) * total // 1
    for attempt in count():
        noise = _from_middle(middle - (middle & 1) - ((1 << attempt) & ~1), factor, total, longest)
        if Profile(noise, sensitivity=1).at_factor(factor) <= privacy.delta:
            return noise
    raise AssertionError  # count never ends; the middle meets the promise long before it is empty


def _from_middle(middle: int, factor: Fraction, total: int, longest: int) -> DiscreteSteps:
    """Return the law that begins with this even weight at 0 and falls as slowly as it may."""
    sides, left = [], (total - middle) // 2
    weight = middle
    while left:
        weight = min(left, -(-weight * factor.denominator // factor.numerator))
        sides.append(weight)
        left -= weight
        if len(sides) > longest:
            raise Unsupported(
                f"the canonical noise may have at most {longest} steps on each side",
                got="a promise that asks for more",
                fix="Leave the family out: other noises cost hardly more there.",
            )
    runs = [Run(-k, 1, sides[k - 1]) for k in range(len(sides), 0, -1)]
    runs += [Run(0, 1, middle), *(Run(k, 1, w) for k, w in enumerate(sides, start=1))]
    return DiscreteSteps(Fraction(1), tuple(runs))
