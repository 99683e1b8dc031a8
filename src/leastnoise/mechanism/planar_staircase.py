"""Staircase noise in the plane, for two answers at once: found, discretized and sampled exactly.

The noise is optimal at δ = 0 for the cost |x₁| + |x₂|. Which one is a search over γ; an error in it
costs accuracy, never privacy. The cost is (2/3)Δ·S₃/S₂ with S_k = Σ bⁿ(n+γ)ᵏ. S_k grows by
k·S_{k−1} with γ, so the cost rises where

    h(γ) = 3S₂² − 2S₁S₃

is positive. h″ = 12S₁² > 0, so h is convex on [0, 1]. It is positive at 0 and at 1, which are the
same noise and cost the same; between, the cost must fall somewhere, so h has two zeros. The cost
rises, falls and rises again, and it is least where h has its second zero: where both h and
h′ = 6S₁S₂ − 2S₀S₃ become positive for good.

Contract of the sampler: for any tape of independent fair bits, :func:`draw_pair` returns (i, j)
with probability exactly ``noise.probability(i, j)``. The discretized noise is a mixture of uniform
ones on diamonds: the m-th, of radius N = mP + e − 1 with e the edge, has the weight
bᵐ·(2N² + 2N + 1). As a polynomial in m that is

    c₀ + c₁·m + c₂·m(m−1)/2,   c₀ = 2e² − 2e + 1,   c₁ = 2P² + 2P(2e − 1),   c₂ = 4P²,

and 1 + G + G′ for two geometric numbers is m with a probability proportional to m·bᵐ, 2 + G + G′ +
G″ for three with one proportional to m(m−1)/2·bᵐ. So m is j + G₀ + … + G_j with probability
proportional to c_j·bʲ / (1−b)ʲ⁺¹, j = 0, 1, 2: three integers, of which a ticket chooses.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from leastnoise.core.exact import (
    Number,
    exact_power,
    exponential,
    fixed_power,
    format_exact,
    parse_count,
    parse_rational,
    power_sums,
    quote,
)
from leastnoise.core.lattice import effective_steps, lattice_for
from leastnoise.core.noise import Stairs
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import Tape, geometric, uniform_below
from leastnoise.errors import InvalidParameter, Unsupported

# γ is found to so many binary digits: behind the point, and more where it is small.
_FINE = 24
_SMALLEST = Fraction(1, 1 << 100)
# Powers are enclosed to so many binary digits of what they are compared with.
_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class PlanarStaircase(Stairs):
    """The two-dimensional staircase of Geng, Kairouz, Oh and Viswanath (2015).

    ‖x‖ is |x₁| + |x₂|. Between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is
    a·bⁿ⁺¹. It never rises with ‖x‖ and falls by b over Δ, so by the triangle inequality a shift by
    ‖d‖ ≤ Δ changes it by a factor of at most 1/b: (ε, 0)-private for e^ε ≥ 1/b, whatever γ is.

    The density falls by a(1−b)bⁿ at the edge of the diamond ‖x‖ < (n+γ)Δ. A diamond of radius r has
    the area 2r², over which ‖x‖ adds up to 4r³/3. With S_k = Σ bⁿ(n+γ)ᵏ over n ≥ 0:

    ============ ======================
    a            1 / 2Δ²(1−b)S₂
    E‖X‖         (2/3)·Δ·S₃/S₂
    ============ ======================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1: where in its period the density falls. 0 and 1 are the same noise.
        ratio: b, 0 < b < 1, a little above e^−ε.

    >>> PlanarStaircase(period=1, gamma=1, ratio="1/2").cost
    Fraction(26, 9)
    """

    @property
    def height(self) -> Fraction:
        """The density a at 0, or what it would be there where γ is 0."""
        second = power_sums(self.ratio, self.gamma, 2)[2]
        return 1 / (2 * self.period**2 * (1 - self.ratio) * second)

    @property
    def cost(self) -> Fraction:
        """E‖X‖ = E|X₁| + E|X₂|, exactly."""
        _, _, second, third = power_sums(self.ratio, self.gamma, 3)
        return Fraction(2, 3) * self.period * third / second

    def density(self, x: Number, y: Number) -> Fraction:
        """Return the density at (x, y), exactly; that on the outer side where it falls."""
        size = abs(parse_rational(x, "x")) + abs(parse_rational(y, "y"))
        periods, part = divmod(size / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))


@dataclass(frozen=True, repr=False)
class DiscretePlanarStaircase:
    """Weight bᵐ for lattice points at ‖i‖ = mP + r, r < edge, and bᵐ⁺¹ for edge ≤ r < P.

    ‖i‖ = |i₁| + |i₂| counts steps. Private: the weight never rises with ‖i‖, and P steps further
    out it is b times as much; ‖i‖ and ‖i + d‖ differ by at most ‖d‖; so for ‖d‖ ≤ P the weights of
    i and i + d are at most a factor 1/b apart: (ε, 0)-private at P steps for e^ε ≥ 1/b.

    The weight falls by (1−b)bᵐ behind the m-th diamond, that of radius N = mP + edge − 1. A diamond
    of radius N has 2N² + 2N + 1 points. So the noise is a mixture of uniform ones on diamonds, and
    with h = N + 1/2 = P(m + s), s = (edge − 1/2)/P, its sums are those of :func:`power_sums`: a
    diamond's points are 2h² + 1/2, and their ‖i‖ add up to (4h³ − h)/3.

    Attributes:
        step: The length of a step.
        ratio: b.
        steps: The period P, in steps.
        edge: How many distances of each period come before the fall, 1 ≤ edge ≤ P.

    >>> DiscretePlanarStaircase(Fraction(1), Fraction(1, 2), steps=1, edge=1).probability(0, 0)
    Fraction(1, 9)
    """

    step: Fraction
    ratio: Fraction
    steps: int
    edge: int

    def __post_init__(self) -> None:
        """Check that the weights make a staircase that never rises."""
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "a staircase needs a step above 0 and a ratio between 0 and 1, "
                f"got {format_exact(self.step)} and {format_exact(self.ratio)}. Give such numbers."
            )
        if parse_count(self.edge, "edge", least=1) > parse_count(self.steps, "steps", least=1):
            raise InvalidParameter(
                "a staircase must fall within its period, "
                f"got {quote(self.edge)} of {quote(self.steps)} steps before the fall. "
                "Give an edge of at most the steps."
            )

    def __repr__(self) -> str:
        return (
            f"DiscretePlanarStaircase(step={format_exact(self.step)}, "
            f"period={format_exact(self.period)}, ratio={format_exact(self.ratio)})"
        )

    @property
    def period(self) -> Fraction:
        """The length of a period."""
        return self.steps * self.step

    @property
    def radius(self) -> float:
        """Infinite: the noise is unbounded."""
        return math.inf

    @cached_property
    def total(self) -> Fraction:
        """All weights together."""
        return self._diamonds(0)

    @cached_property
    def cost(self) -> Fraction:
        """E‖X‖, exactly, in the unit of ``step``."""
        _, first, _, third = power_sums(self.ratio, self._shift, 3)
        sizes = (4 * self.steps**3 * third - self.steps * first) / 3
        return self.step * (1 - self.ratio) * sizes / self.total

    def weight(self, distance: int) -> Fraction:
        """Return the weight of each single point at ‖i‖ = distance ≥ 0."""
        periods, place = divmod(distance, self.steps)
        return exact_power(self.ratio, periods + (place >= self.edge))

    def probability(self, i: int, j: int) -> Fraction:
        """Return the probability of the lattice point (i, j), exactly."""
        return self.weight(abs(i) + abs(j)) / self.total

    def within(self, confidence: Fraction) -> int:
        """Return the smallest distance r, in steps, for which P(‖X‖ ≤ r) ≥ confidence is proved.

        Powers are enclosed to so many digits that no smaller r would do, unless what lies beyond it
        is 1 − confidence to within one part in 2²⁵⁶.
        """
        if confidence >= 1:
            raise InvalidParameter(
                "noise without a largest size stays within no bound for certain, "
                f"got a confidence of {format_exact(confidence)}. Give one below 1, such as 0.999."
            )
        allowed, low, high = (1 - confidence) * self.total, -1, 1
        bits = _BITS + int(1 / allowed).bit_length()
        while self._beyond(high, bits) > allowed:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self._beyond(middle, bits) > allowed:
                low = middle
            else:
                high = middle
        return high

    @property
    def _shift(self) -> Fraction:
        return Fraction(2 * self.edge - 1, 2 * self.steps)

    def _diamonds(self, first: int) -> Fraction:
        """Return (1−b)·Σ bⁿ·points of diamond first + n, over n ≥ 0."""
        zeroth, _, second = power_sums(self.ratio, first + self._shift, 2)
        return (1 - self.ratio) * (2 * self.steps**2 * second + zeroth / 2)

    def _beyond(self, distance: int, bits: int) -> Fraction:
        """Return the weight of all points with ‖i‖ > distance, less than 2^−bits too high.

        Of each diamond that reaches further, the points that do.
        """
        first = max(0, (distance - self.edge + 1) // self.steps + 1)
        left = self._diamonds(first) - (2 * distance * (distance + 1) + 1)
        fine = bits + 2 * first.bit_length() + int(left).bit_length() + 8
        return left * Fraction(fixed_power(self.ratio, first, fine)[1], 1 << fine)


def least_planar(privacy: Privacy, sensitivity: Fraction) -> PlanarStaircase:
    """Return the planar staircase of least E‖X‖ for ε > 0, at δ = 0; reject other guarantees."""
    if privacy.delta:
        raise Unsupported(
            "the least noise for a pair is known at δ = 0 alone (Geng, Kairouz, Oh and Viswanath "
            f"2015), got δ = {format_exact(privacy.delta)}. Promise ε > 0 and δ = 0, or calibrate "
            "for each answer by itself."
        )
    if not privacy.epsilon:
        raise InvalidParameter(
            "at δ = 0 a pair needs ε > 0, got (ε, δ) = (0, 0), which no noise keeps. "
            "Give for instance Privacy(epsilon=1)."
        )
    if privacy.epsilon < _SMALLEST:
        raise Unsupported(
            f"for a pair ε must be at least 2⁻¹⁰⁰, got {format_exact(privacy.epsilon)}. "
            "Promise a larger ε."
        )
    ratio = 1 / exponential(privacy.epsilon).lower
    return PlanarStaircase(sensitivity, best_gamma(ratio), ratio)


def best_gamma(ratio: Fraction) -> Fraction:
    """Return the γ of least cost, to 24 binary digits."""
    # For large ε the best γ is near the third root of 2b.
    parts = 1 << (_FINE + int(1 / ratio).bit_length() // 3)
    low, high = 0, parts
    while high - low > 1:
        middle = (low + high) // 2
        if _rises_for_good(ratio, Fraction(middle, parts)):
            high = middle
        else:
            low = middle
    candidates = (Fraction(low, parts), Fraction(high, parts))
    return min(candidates, key=lambda gamma: PlanarStaircase(1, gamma, ratio).cost)


def _rises_for_good(ratio: Fraction, gamma: Fraction) -> bool:
    zeroth, first, second, third = power_sums(ratio, gamma, 3)
    return 3 * second**2 >= 2 * first * third and 3 * first * second >= zeroth * third


def planar_on_lattice(noise: PlanarStaircase, sensitivity: Fraction) -> DiscretePlanarStaircase:
    """Discretize a planar staircase that is private at ``sensitivity``.

    This is other noise, with a proof of its own: the cells of the lattice are squares, and rounding
    to them would not keep the diamonds. Its diamonds' radii are the nearest to the plane's,
    stretched to whole steps and a few more than Δ.
    """
    step, _ = lattice_for(sensitivity)
    period = -(-noise.period * effective_steps(sensitivity, step, answers=2) // sensitivity)
    edge = min(math.floor((noise.gamma or 1) * period) + 1, period)
    if edge == 1 < period:
        raise Unsupported(
            "the top of a pair's noise must be wider than a single lattice point, or the exact "
            "answers would leave, got an ε so large, above about 42, that it is not. Promise a "
            "smaller ε."
        )
    return DiscretePlanarStaircase(step, noise.ratio, period, edge)


def draw_pair(noise: DiscretePlanarStaircase, tape: Tape) -> tuple[int, int]:
    """Return one point of the lattice, with exactly its probability.

    All parts are sampled always, in the same order, whatever they turn out to be.
    """
    parts = mixture(noise)
    ticket = uniform_below(sum(parts), tape)
    extra = (ticket >= parts[0]) + (ticket >= parts[0] + parts[1])
    numbers = [geometric(noise.ratio).draw(tape) for _ in parts]
    diamond = extra + sum(numbers[: extra + 1])
    radius = diamond * noise.steps + noise.edge - 1
    return point(radius, uniform_below(2 * radius * (radius + 1) + 1, tape))


@lru_cache(maxsize=64)
def mixture(noise: DiscretePlanarStaircase) -> tuple[int, int, int]:
    """Return integers in proportion to c_j·bʲ / (1−b)ʲ⁺¹ for j = 0, 1, 2."""
    period, edge = noise.steps, noise.edge
    fall = noise.ratio.numerator
    keep = noise.ratio.denominator - fall
    return (
        (2 * edge * (edge - 1) + 1) * keep**2,
        2 * period * (period + 2 * edge - 1) * keep * fall,
        4 * period**2 * fall**2,
    )


def point(radius: int, index: int) -> tuple[int, int]:
    """Return the point of the diamond ‖i‖ ≤ radius that has this index, one for each.

    Seen along the diagonals, u = i + j and v = i − j, the diamond is two squares: (radius + 1)²
    points with u and v even or odd as the radius is, and radius² points with them the other way.
    """
    side = radius + 1
    if index >= side**2:
        index -= side**2
        side = radius
    u, v = (2 * place - (side - 1) for place in divmod(index, side))
    return (u + v) // 2, (u - v) // 2
