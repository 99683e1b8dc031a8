"""The optimal symmetric unimodal noise at ε = 0: P_α, and its counterpart on the integers.

On the line, P_α of half-width w ≥ Δ/2δ has α = (wδ − Δ/2)/(w − Δ/2) and costs
V(w) = L(0) + (1−δ)/(w−Δ/2) · ∫₀ʷ(L−L(0)); V′ has the sign of
h(w) = (L(w)−L(0))·(w−Δ/2) − ∫₀ʷ(L−L(0)), which never falls. So the best width is max(Δ/2δ, w*) with
the *critical width* w* = inf{w > Δ/2 : h(w) ≥ 0}, which depends on L and Δ alone. For L = |x|ᵖ it
is (p+1)Δ/2p: GDGK19's Theorem 3. An error in w* costs accuracy, never privacy. The lower bound is a
supporting line, valid by construction (:mod:`leastnoise.certificate.evidence`).

On the integers, such noise is a mixture of the uniform noise U_M on −M … M; U_M is at distance
min(1, Δ/(2M+1)) from itself shifted by Δ, and both cost and distance are linear in the mixture. So
the smallest cost at δ is the convex envelope of the points (distance, cost). The best noise mixes
two of them: neighbors M, M+1, or the mass at 0 and U_M*, where M*, which depends on L and Δ alone,
is the first M > (Δ−1)/2 from which on (L(M+1)−L(0))·(2M+1−Δ) ≥ 2·Σ(L(i)−L(0)). This noise has
extra mass at 0, a level, and a remainder on the two end points. At Δ = 1 it is the discrete uniform
noise of Geng and Viswanath (2016).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from leastnoise.calibration.problem import Problem, certify
from leastnoise.calibration.sources import CRITICAL_WIDTH, INTEGERS
from leastnoise.certificate import Certificate, SupportingLine
from leastnoise.core.exact import Interval, format_rounded
from leastnoise.core.noise import DiscreteUniform, Noise, Uniform, outside
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Power
from leastnoise.errors import InvalidParameter

_THEOREM_3 = "GDGK19, Theorem 3"

# The relative width of a bracket: for costs that are known exactly, and for functions, whose
# integral is only known to one part in ten thousand.
_NARROW = Fraction(1, 1 << 72)
_NARROW_ENOUGH = Fraction(1, 1 << 34)
# The most doublings of the width in the search for w*.
_DOUBLINGS = 64
_LENIENT = 8


def find_optimal(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the optimal unimodal noise at ε = 0, which satisfies every (ε, δ) of the same δ."""
    if not problem.privacy.delta:
        raise outside("uniform noise", "δ > 0", problem.privacy)
    without_epsilon = replace(problem, privacy=Privacy(delta=problem.privacy.delta))
    return _find_on_integers(without_epsilon) if problem.integer else _find_on_line(without_epsilon)


def find_uniform(problem: Problem) -> Noise:
    """Return the noise of :func:`find_optimal`."""
    return find_optimal(problem)[0]


def prove_uniform(problem: Problem) -> tuple[Noise, Certificate] | None:
    """Return the same noise with the proof that it is optimal; None for ε > 0."""
    return None if problem.privacy.epsilon else find_optimal(problem)


def _find_on_line(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the optimal P_α among symmetric unimodal noise.

    GDGK19, Theorem 2 (the shape), Theorem 3 (the mass for |x|ᵖ), the critical width (any cost).
    """
    cost, delta, half = problem.cost, problem.privacy.delta, problem.sensitivity / 2
    width = _find_best_width(cost, half, delta)
    noise = Uniform(width.chosen, (width.chosen * delta - half) / (width.chosen - half))
    evidence = _choose_line(cost, problem.sensitivity, width, delta, atom=bool(noise.atom))
    source = _THEOREM_3 if isinstance(cost, Power) else CRITICAL_WIDTH
    return certify(problem, noise, source, evidence, evidence.intercept - evidence.slope * delta)


def _find_on_integers(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the optimal integer noise among symmetric unimodal noise.

    Exact for integer powers, thresholds and piecewise linear costs. For other costs beyond 256
    points the sums are enclosed, and the gap of the certificate shows how tightly.
    """
    cost, delta, shift = problem.cost, problem.privacy.delta, problem.sensitivity.numerator
    full = int((shift / delta - 1) / 2)  # the last M at distance ≥ δ
    if 2 * full + 1 >= shift and _enclose_balance(cost, shift, full).middle >= 0:
        height = cost.value(Fraction(full + 1)).lower
        level = delta / shift
        noise = _build_discrete_uniform(full, level, rim=(1 - (2 * full + 1) * level) / 2)
        reach = full
    else:
        reach = _find_best_reach(cost, shift, max((shift + 1) // 2, full + 1), delta)
        points = 2 * reach + 1
        atom = (delta - Fraction(shift, points)) / (1 - Fraction(shift, points))
        noise = _build_discrete_uniform(reach, (1 - atom) / points, atom=atom)
        zero = cost.value(Fraction(0)).lower
        height = zero + 2 * _sum_costs(cost, reach).lower / (points - shift)
    evidence = _build_integer_line(cost, shift, reach=reach, height=height)
    bound = evidence.intercept - evidence.slope * delta
    return certify(problem, noise, INTEGERS, evidence, bound)


@dataclass(frozen=True, slots=True)
class _Width:
    """A width, between two that bracket the best one."""

    chosen: Fraction
    low: Fraction
    high: Fraction


def _find_best_width(cost: Cost, half: Fraction, delta: Fraction) -> _Width:
    """Return max(Δ/2δ, w*)."""
    narrowest = half / delta
    if isinstance(cost, Power):
        return _choose_exact_width(cost, max(narrowest, half * (cost.p + 1) / cost.p))
    if cost.balance(narrowest, half).middle >= 0:
        return _Width(narrowest, narrowest, narrowest)
    beyond = _find_wide_enough(cost, half, narrowest, delta)
    low, high = _narrow_width(cost, half, narrowest, beyond)
    simple = _find_simplest(low, high)
    at_simple = cost.balance(simple, half)
    if at_simple.is_exact and at_simple.lower == 0:
        return _Width(simple, simple, simple)
    return _Width(simple, *_widen_until_certain(cost, half, low, high, beyond))


def _choose_exact_width(cost: Power, width: Fraction) -> _Width:
    """Return an exact width; if wᵖ is irrational, with a margin for rounding."""
    if cost.value(width).is_exact:
        return _Width(width, width, width)
    room = width / (1 << 80)
    return _Width(width, width - room, width + room)


def _choose_line(
    cost: Cost, sensitivity: Fraction, width: _Width, delta: Fraction, *, atom: bool
) -> SupportingLine:
    """Return the better of two lines: through the bracket, and through the chosen width alone."""
    height = _find_intercept(cost, width, sensitivity / 2, atom=atom)
    lines = [_build_line(cost, sensitivity, low=width.low, high=width.high, height=height)]
    at, exactly_at = width.chosen, cost.value(width.chosen)
    if width.low < width.high and exactly_at.is_exact:
        lines.append(_build_line(cost, sensitivity, low=at, high=at, height=exactly_at.lower))
    return max(lines, key=lambda line: line.intercept - line.slope * delta)


def _find_intercept(cost: Cost, width: _Width, half: Fraction, *, atom: bool) -> Fraction:
    """Return where the supporting line meets the axis: L(w), or L(0) + λ with mass at 0."""
    if not atom:
        return cost.value(width.chosen).middle
    zero = cost.value(Fraction(0))
    area = cost.integral(width.low) - zero.scaled(width.low)
    remainder = (cost.value(width.low) - zero).scaled(width.high - width.low)
    return zero.lower + (area + remainder).lower / (width.high - half)


def _narrow_width(
    cost: Cost, half: Fraction, low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """Return widths with h < 0 and h ≥ 0 (as far as h is known), close together.

    If the sign of h is uncertain even at ``high``, an uncertain sign is accepted in between too.
    """
    at_high = cost.balance(high, half)
    narrow = _NARROW if at_high.is_exact else _NARROW_ENOUGH
    while high - low > high * narrow:
        # If the ends are far apart, halve the exponents; otherwise halve the distance.
        doublings = int(high / low).bit_length() - 1
        middle = low * (1 << doublings // 2) if doublings > 1 else (low + high) / 2
        balance = cost.balance(middle, half)
        if (balance.middle if at_high.middle >= 0 else balance.upper) >= 0:
            high = middle
        else:
            low = middle
    return low, high


def _find_wide_enough(cost: Cost, half: Fraction, narrowest: Fraction, delta: Fraction) -> Fraction:
    """Return a width with h ≥ 0, or reject the cost: without one, wider is always cheaper.

    Beyond a size from which on the cost is constant, h is constant too: one evaluation is enough.
    For a function h is only enclosed, more loosely for wider noise. Up to 2⁸ times the narrowest
    width it is enough that h may be ≥ 0. Beyond, h ≥ 0 must be certain.
    """
    width = narrowest if cost.constant_beyond is None else max(cost.constant_beyond, narrowest)
    for doubling in range(_DOUBLINGS if cost.constant_beyond is None else 1):
        width *= 2
        balance = cost.balance(width, half)
        if balance.lower >= 0 or (doubling < _LENIENT and balance.upper >= 0):
            return width
    raise _not_attained(delta, cost.value(Fraction(0)).lower, cost.value(width).upper)


def _widen_until_certain(
    cost: Cost, half: Fraction, low: Fraction, high: Fraction, beyond: Fraction
) -> tuple[Fraction, Fraction]:
    """Widen a bracket until h is proved to change sign in it, at most to (0, beyond)."""
    room = (high - low) / 2
    while high < beyond and cost.balance(high, half).lower < 0:
        room *= 4
        high = min(high + room, beyond)
    while low > 0 and cost.balance(low, half).upper > 0:
        low = max(low - room, Fraction(0))
        room *= 4
    return low, high


def _find_simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in [low, high], by continued fractions."""
    ceiling = -(-low.numerator // low.denominator)
    if ceiling <= high:
        return Fraction(ceiling)
    floor = ceiling - 1
    return floor + 1 / _find_simplest(1 / (high - floor), 1 / (low - floor))


def _build_line(
    cost: Cost, sensitivity: Fraction, *, low: Fraction, high: Fraction, height: Fraction
) -> SupportingLine:
    """Return a line for the real line that touches near widths low … high.

    ``height`` proposes the intercept. It is clipped to the costs at low and high. The slope is then
    the smallest for which the comparisons of :class:`~leastnoise.certificate.SupportingLine` hold.
    A poor proposal gives a poor bound, never a false one.
    """
    half = sensitivity / 2
    start = cost.value(low)
    height = min(max(height, start.upper), cost.value(high).lower)
    area = cost.integral(low).lower + (high - low) * start.lower
    slope = max(height - cost.value(Fraction(0)).lower, (height * high - area) / half, Fraction(0))
    return SupportingLine(slope, height, low, high)


def _build_integer_line(cost: Cost, shift: int, *, reach: int, height: Fraction) -> SupportingLine:
    """Return a line for the integers that touches at the uniform noise on −reach … reach."""
    zero = cost.value(Fraction(0)).lower
    height = min(
        max(height, cost.value(Fraction(reach)).upper), cost.value(Fraction(reach + 1)).lower
    )
    total = zero + 2 * cost.total(Fraction(1), reach).lower
    slope = max(height - zero, (height * (2 * reach + 1) - total) / shift, Fraction(0))
    return SupportingLine(slope, height, Fraction(reach), Fraction(reach), integer=True)


def _not_attained(delta: Fraction, zero: Fraction, highest: Fraction) -> InvalidParameter:
    """Return the error for a cost with which wider noise is always cheaper, with its limit."""
    infimum = zero + (1 - delta) * (highest - zero)
    return InvalidParameter(
        "No noise is optimal for this cost: ever wider noise with more mass at 0 costs ever "
        f"less, down to {format_rounded(infimum, 12)} in the limit",
        fix="Use a cost that goes on rising, or a higher threshold.",
    )


def _find_best_reach(cost: Cost, shift: int, least: int, delta: Fraction) -> int:
    """Return the first M ≥ least from which on wider noise costs more, by doubling and halving."""
    low, high = least - 1, least
    for doubling in range(_DOUBLINGS):
        balance = _enclose_balance(cost, shift, high)
        # For a larger M the sums of a function are enclosed more loosely, so h ≥ 0 must be certain.
        if (balance.middle if doubling < _LENIENT else balance.lower) >= 0:
            break
        low, high = high, 2 * high
    else:
        raise _not_attained(delta, cost.value(Fraction(0)).lower, cost.value(Fraction(high)).upper)
    while high - low > 1:
        middle = (low + high) // 2
        if _enclose_balance(cost, shift, middle).middle >= 0:
            high = middle
        else:
            low = middle
    return high


def _enclose_balance(cost: Cost, shift: int, reach: int) -> Interval:
    """Enclose (L(M+1)−L(0))·(2M+1−Δ) − 2·Σ(L(i)−L(0)): if positive, M+1 costs more."""
    gained = cost.value(Fraction(reach + 1)) - cost.value(Fraction(0))
    return gained.scaled(2 * reach + 1 - shift) - _sum_costs(cost, reach).scaled(2)


def _sum_costs(cost: Cost, reach: int) -> Interval:
    return cost.total(Fraction(1), reach) - cost.value(Fraction(0)).scaled(reach)


def _build_discrete_uniform(
    reach: int, level: Fraction, *, rim: Fraction = Fraction(0), atom: Fraction = Fraction(0)
) -> DiscreteUniform:
    """Return the noise with these probabilities, in the smallest integer weights."""
    total = lcm(level.denominator, rim.denominator, atom.denominator)
    return DiscreteUniform(
        reach=reach, level=int(level * total), rim=int(rim * total), atom=int(atom * total)
    )
