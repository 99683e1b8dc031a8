"""The least noise on the line at ε = 0, in closed form.

The least noise on the line at ε = 0: P_α at the right width.

P_α of half-width w ≥ Δ/2δ has α = (wδ − Δ/2)/(w − Δ/2) and costs
V(w) = L(0) + (1−δ)/(w−Δ/2) · ∫₀ʷ(L−L(0)); V′ has the sign of
h(w) = (L(w)−L(0))·(w−Δ/2) − ∫₀ʷ(L−L(0)), which never falls. So the best width is max(Δ/2δ, w*) with
the *critical width* w* = inf{w > Δ/2 : h(w) ≥ 0}, which depends on L and Δ alone. For L = |x|ᵖ it
is (p+1)Δ/2p: GDGK19's Theorem 3. An error in w* costs accuracy, never privacy.

Make the evidence of a lower bound: a supporting line that is valid by construction.

The least noise of any shape on the line, for squared errors at ε = 0 and large δ: the comb.

Mass a at 0, density h on |x| < w, and h more on u < |x| < Δ−u. At Δ = 1 and with the β of
4β³ + 3β = 1 it is u = (1−β)/2, w = (1+β)/2 + β², h = (1−δ)/(2β(1+β)), a = (δ(1+2β)−1)/2β, and it
costs (1−δ)(1+β²)/2, which no noise undercuts (docs/theory/comb.md). There is one for
δ ≥ 1/(1+2β) = 0.6265…, where a ≥ 0.

β is irrational, but for every rational β > 0 with a ≥ 0 the same formulas make a law of mass 1 that
is exactly (0, δ)-private: an error in β costs accuracy, never privacy.
"""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.certificate import Certificate, CombBound, SupportingLine
from leastnoise.core.exact import format_rounded
from leastnoise.core.noise import Steps, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Power, l2
from leastnoise.errors import InvalidParameter

_THEOREM_3 = "GDGK19, Theorem 3"
_CRITICAL_WIDTH = "GDGK19, Theorem 2, at the critical width (docs/theory/critical-width.md)"

# How far apart the ends of a bracket may be: for costs known exactly, and for functions, whose
# integral is only known to one part in ten thousand anyway.
_NARROW = Fraction(1, 1 << 72)
_NARROW_ENOUGH = Fraction(1, 1 << 34)
# How often the width is doubled in search of w* before giving up.
_DOUBLINGS = 64
_LENIENT = 8


@dataclass(frozen=True, slots=True)
class _Width:
    """A width, between two that bracket the best one."""

    chosen: Fraction
    low: Fraction
    high: Fraction


def least_on_line(
    privacy: Privacy, sensitivity: Fraction, cost: Cost
) -> tuple[Uniform, Certificate]:
    """Return P_α of least cost among symmetric noises that never rise away from 0.

    GDGK19, Theorem 2 (the shape), Theorem 3 (the mass for |x|ᵖ), the critical width (any cost).
    """
    half, delta = sensitivity / 2, privacy.delta
    width = _best_width(cost, half, delta)
    noise = Uniform(width.chosen, (width.chosen * delta - half) / (width.chosen - half))
    evidence = _best_line(cost, sensitivity, width, delta, atom=bool(noise.atom))
    source = _THEOREM_3 if isinstance(cost, Power) else _CRITICAL_WIDTH
    certificate = Certificate.of(
        noise,
        privacy,
        sensitivity,
        cost,
        source=source,
        lower_bound=evidence.intercept - evidence.slope * delta,
        evidence=evidence,
    )
    return noise, certificate


def _best_width(cost: Cost, half: Fraction, delta: Fraction) -> _Width:
    """Return max(Δ/2δ, w*)."""
    narrowest = half / delta
    if isinstance(cost, Power):
        return _around(cost, max(narrowest, half * (cost.p + 1) / cost.p))
    if cost.balance(narrowest, half).middle >= 0:
        return _Width(narrowest, narrowest, narrowest)
    beyond = _beyond(cost, half, narrowest, delta)
    low, high = _bracketed(cost, half, narrowest, beyond)
    simple = _simplest(low, high)
    at_simple = cost.balance(simple, half)
    if at_simple.is_exact and at_simple.lower == 0:
        return _Width(simple, simple, simple)
    return _Width(simple, *_certain(cost, half, low, high, beyond))


def _around(cost: Power, width: Fraction) -> _Width:
    """Return a width that is exactly right; where wᵖ is irrational, with room for its rounding."""
    if cost.value(width).is_exact:
        return _Width(width, width, width)
    room = width / (1 << 80)
    return _Width(width, width - room, width + room)


def _best_line(
    cost: Cost, sensitivity: Fraction, width: _Width, delta: Fraction, *, atom: bool
) -> SupportingLine:
    """Return the better of two lines: through the bracket, and through the chosen width alone."""
    height = _height(cost, width, sensitivity / 2, atom=atom)
    lines = [line_through(cost, sensitivity, low=width.low, high=width.high, height=height)]
    at, exactly_at = width.chosen, cost.value(width.chosen)
    if width.low < width.high and exactly_at.is_exact:
        lines.append(line_through(cost, sensitivity, low=at, high=at, height=exactly_at.lower))
    return max(lines, key=lambda line: line.intercept - line.slope * delta)


def _height(cost: Cost, width: _Width, half: Fraction, *, atom: bool) -> Fraction:
    """Return where the supporting line meets the axis: L(w), or L(0) + λ with mass at 0."""
    if not atom:
        return cost.value(width.chosen).middle
    zero = cost.value(Fraction(0))
    gained = cost.integral(width.low) - zero.scaled(width.low)
    rest = (cost.value(width.low) - zero).scaled(width.high - width.low)
    return zero.lower + (gained + rest).lower / (width.high - half)


def _bracketed(
    cost: Cost, half: Fraction, low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """Return widths with h < 0 and h ≥ 0 (as far as h is known), close together.

    Where even at ``high`` h is only perhaps not negative, perhaps has to do in between too.
    """
    at_high = cost.balance(high, half)
    narrow = _NARROW if at_high.is_exact else _NARROW_ENOUGH
    while high - low > high * narrow:
        # Far apart, halve the exponents; close together, the distance.
        doublings = int(high / low).bit_length() - 1
        middle = low * (1 << doublings // 2) if doublings > 1 else (low + high) / 2
        found = cost.balance(middle, half)
        if (found.middle if at_high.middle >= 0 else found.upper) >= 0:
            high = middle
        else:
            low = middle
    return low, high


def _beyond(cost: Cost, half: Fraction, narrowest: Fraction, delta: Fraction) -> Fraction:
    """Return a width with h ≥ 0, or refuse: without one, wider is always cheaper.

    Where it is known from which size on the cost is level, h is level too: one look is enough. A
    function's h is only enclosed, ever more loosely the wider: up to 2⁸ times the narrowest width
    it is enough that it may be ≥ 0, beyond it must be for certain.
    """
    width = narrowest if cost.constant_beyond is None else max(cost.constant_beyond, narrowest)
    for doubling in range(_DOUBLINGS if cost.constant_beyond is None else 1):
        width *= 2
        balance = cost.balance(width, half)
        if balance.lower >= 0 or (doubling < _LENIENT and balance.upper >= 0):
            return width
    raise not_attained(delta, cost.value(Fraction(0)).lower, cost.value(width).upper)


def _certain(
    cost: Cost, half: Fraction, low: Fraction, high: Fraction, beyond: Fraction
) -> tuple[Fraction, Fraction]:
    """Widen a bracket until h is proved to change sign in it, at the most to (0, beyond)."""
    room = (high - low) / 2
    while high < beyond and cost.balance(high, half).lower < 0:
        room *= 4
        high = min(high + room, beyond)
    while low > 0 and cost.balance(low, half).upper > 0:
        low = max(low - room, Fraction(0))
        room *= 4
    return low, high


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator in [low, high], by continued fractions."""
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def line_through(
    cost: Cost, sensitivity: Fraction, *, low: Fraction, high: Fraction, height: Fraction
) -> SupportingLine:
    """Return a line for the real line that touches near widths low … high.

    ``height`` proposes the intercept; it is moved to where the cost crosses it between low and
    high, and the slope is then the least that makes the comparisons of
    :mod:`leastnoise.certificate` hold. A poor proposal makes a poor bound, never a false one.
    """
    half = sensitivity / 2
    start = cost.value(low)
    height = min(max(height, start.upper), cost.value(high).lower)
    area = cost.integral(low).lower + (high - low) * start.lower
    slope = max(height - cost.value(Fraction(0)).lower, (height * high - area) / half, Fraction(0))
    return SupportingLine(slope, height, low, high)


def line_through_integer(
    cost: Cost, sensitivity: Fraction, *, reach: int, height: Fraction
) -> SupportingLine:
    """Return a line for the integers that touches at the uniform noise on −reach … reach."""
    zero = cost.value(Fraction(0)).lower
    height = min(
        max(height, cost.value(Fraction(reach)).upper), cost.value(Fraction(reach + 1)).lower
    )
    total = zero + 2 * cost.total(Fraction(1), reach).lower
    slope = max(height - zero, (height * (2 * reach + 1) - total) / sensitivity, Fraction(0))
    return SupportingLine(slope, height, Fraction(reach), Fraction(reach), integer=True)


def not_attained(delta: Fraction, zero: Fraction, highest: Fraction) -> InvalidParameter:
    """Say that wider noise is always cheaper, and where the cost tends to."""
    infimum = zero + (1 - delta) * (highest - zero)
    return InvalidParameter(
        "no noise has the least cost here: ever wider noise with ever more mass at the origin "
        f"costs ever less, down to {format_rounded(infimum, 12)}, which none reaches",
        fix="This cost levels off too early for this sensitivity: give one that goes on rising, or "
        "a higher threshold.",
    )


# A convergent of β's continued fraction, below it by less than 2⁻⁸⁴.
_BELOW_ROOT = Fraction(347_814_665_481, 1_167_023_033_197)


def least_comb(
    privacy: Privacy, sensitivity: Fraction, cost: Cost
) -> tuple[Steps, Certificate] | None:
    """Return the comb, least among all noises whatever, or None where there is none.

    There is one for ε = 0, the cost l2 and δ ≥ 1/(1+2β), which rationals decide: it says that
    r = (1−δ)/2δ is at most β, or 4r³ + 3r ≤ 1.
    """
    delta = privacy.delta
    if privacy.epsilon or cost != l2 or not delta:
        return None
    smallest = (1 - delta) / (2 * delta)  # at this β, no mass is left at the origin
    if 4 * smallest**3 + 3 * smallest > 1:
        return None
    root = max(smallest, _BELOW_ROOT)
    noise = _comb(root, delta, sensitivity)
    certificate = Certificate.of(
        noise,
        privacy,
        sensitivity,
        cost,
        source="The comb (docs/theory/comb.md)",
        lower_bound=(1 - delta) * (1 + root**2) / 2 * sensitivity**2,
        evidence=CombBound(root),
    )
    return noise, certificate


def _comb(root: Fraction, delta: Fraction, sensitivity: Fraction) -> Steps:
    """Return the comb of any β > 0 with δ(1+2β) ≥ 1."""
    inner, outer = sensitivity * (1 - root) / 2, sensitivity * (1 + root) / 2
    width = outer + sensitivity * root**2
    level = (1 - delta) / (2 * root * (1 + root) * sensitivity)
    return Steps(
        [-width, -outer, -inner, inner, outer, width],
        [level, 2 * level, level, 2 * level, level],
        {0: (delta * (1 + 2 * root) - 1) / (2 * root)},
    )
