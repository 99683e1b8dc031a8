"""Staircase noise in the plane for two answers: its optimum, its discretization and its sampler.

The noise is optimal at δ = 0 for the cost |x₁| + |x₂| among all noise added to two answers (Geng,
Kairouz, Oh and Viswanath 2015). The best γ is searched for; an error in γ costs accuracy, never
privacy. The cost is (2/3)Δ·S₃/S₂ with S_k = Σ bⁿ(n+γ)ᵏ. The derivative of S_k in γ is k·S_{k−1}, so
the cost rises where

    h(γ) = 3S₂² − 2S₁S₃

is positive. h″ = 12S₁² > 0, so h is convex on [0, 1]. It is positive at 0 and at 1, which are the
same noise and cost the same. The cost must fall somewhere between them, so h has two zeros. The
cost rises, falls and rises again, and its minimum is at the second zero of h, from which on both h
and h′ = 6S₁S₂ − 2S₀S₃ are positive.

Contract of the sampler: for any tape of independent fair bits, :func:`sample_pair` returns (i, j)
with probability exactly ``noise.probability(i, j)``. The discretized noise is a mixture of uniform
noise on diamonds: the m-th diamond, of radius N = mP + e − 1 with e the edge, has the weight
bᵐ·(2N² + 2N + 1). As a polynomial in m that is

    c₀ + c₁·m + c₂·m(m−1)/2,   c₀ = 2e² − 2e + 1,   c₁ = 2P² + 2P(2e − 1),   c₂ = 4P²,

For two geometric numbers, 1 + G + G′ = m has a probability proportional to m·bᵐ; for three,
2 + G + G′ + G″ = m has a probability proportional to m(m−1)/2·bᵐ. So m is j + G₀ + … + G_j, where
j = 0, 1, 2 has a probability proportional to c_j·bʲ / (1−b)ʲ⁺¹. One uniform integer chooses j.
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
    format_short,
    parse_count,
    parse_rational,
    power_sums,
    quote,
)
from leastnoise.core.lattice import choose_lattice, effective_steps
from leastnoise.core.noise import Stairs
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import Tape, geometric, uniform_below
from leastnoise.errors import InvalidParameter, Unsupported, parameter

# The number of binary digits of γ after the point; more if γ is small.
_FINE = 24
_SMALLEST = Fraction(1, 1 << 100)
# The relative precision of enclosed powers, in binary digits of the number they are compared with.
_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class PlanarStaircase(Stairs):
    """The two-dimensional staircase of Geng, Kairouz, Oh and Viswanath (2015).

    ‖x‖ is |x₁| + |x₂|. Between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is
    a·bⁿ⁺¹. It does not increase with ‖x‖ and falls by the factor b over Δ, so by the triangle
    inequality a shift d with ‖d‖ ≤ Δ changes it by a factor of at most 1/b: the noise satisfies
    (ε, 0) for e^ε ≥ 1/b, for every γ.

    The density falls by a(1−b)bⁿ at the edge of the diamond ‖x‖ < (n+γ)Δ. A diamond of radius r has
    the area 2r², and the integral of ‖x‖ over it is 4r³/3. With S_k = Σ bⁿ(n+γ)ᵏ over n ≥ 0:

    ============ ======================
    a            1 / 2Δ²(1−b)S₂
    E‖X‖         (2/3)·Δ·S₃/S₂
    ============ ======================

    Args:
        period: Δ > 0.
        gamma: γ, 0 ≤ γ ≤ 1, the place in each period where the density falls. 0 and 1 are the same
            noise.
        ratio: b, 0 < b < 1, slightly above e^−ε.

    >>> PlanarStaircase(period=1, gamma=1, ratio="1/2").cost
    Fraction(26, 9)
    """

    @property
    def height(self) -> Fraction:
        """The factor a of the density: its value at 0 if γ > 0."""
        second = power_sums(self.ratio, self.gamma, 2)[2]
        return 1 / (2 * self.period**2 * (1 - self.ratio) * second)

    @property
    def cost(self) -> Fraction:
        """The exact expected cost E‖X‖ = E|X₁| + E|X₂|."""
        _, _, second, third = power_sums(self.ratio, self.gamma, 3)
        return Fraction(2, 3) * self.period * third / second

    def density(self, x: Number, y: Number) -> Fraction:
        """Return the exact density at (x, y); at an edge, the density outside of it."""
        size = abs(parse_rational(x, "x")) + abs(parse_rational(y, "y"))
        periods, part = divmod(size / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))


@dataclass(frozen=True, repr=False)
class DiscretePlanarStaircase:
    """Discretized planar staircase noise on a square lattice.

    A lattice point at ‖i‖ = mP + r has weight bᵐ for r < edge, and bᵐ⁺¹ for edge ≤ r < P, where
    ‖i‖ = |i₁| + |i₂| counts steps. The weight does not increase with ‖i‖, and P steps further out
    it is b times as large. ‖i‖ and ‖i + d‖ differ by at most ‖d‖. So for ‖d‖ ≤ P the weights of i
    and i + d differ by a factor of at most 1/b: the noise satisfies (ε, 0) at P steps if e^ε ≥ 1/b.

    The weight falls by (1−b)bᵐ outside the m-th diamond, of radius N = mP + edge − 1. A diamond of
    radius N has 2N² + 2N + 1 points. So the noise is a mixture of uniform noise on diamonds, and
    with h = N + 1/2 = P(m + s), s = (edge − 1/2)/P, its sums are those of :func:`power_sums`: a
    diamond has 2h² + 1/2 points, and their ‖i‖ sum to (4h³ − h)/3.

    Attributes:
        step: The length of a step.
        ratio: b.
        steps: The period P, in steps.
        edge: The number of distances in each period before the weight falls, 1 ≤ edge ≤ P.

    >>> DiscretePlanarStaircase(Fraction(1), Fraction(1, 2), steps=1, edge=1).probability(0, 0)
    Fraction(1, 9)
    """

    step: Fraction
    ratio: Fraction
    steps: int
    edge: int

    def __post_init__(self) -> None:
        """Check that the weights do not increase with the distance."""
        if not (0 < self.ratio < 1 and self.step > 0):
            raise InvalidParameter(
                "step must be positive, and ratio between 0 and 1",
                got=f"step {format_exact(self.step)} and ratio {format_exact(self.ratio)}",
                fix="Use calibrate_pair().",
            )
        if parse_count(self.edge, "edge", least=1) > parse_count(self.steps, "steps", least=1):
            raise InvalidParameter(
                "edge must be at most steps",
                got=f"edge {quote(self.edge)} of {quote(self.steps)} steps",
                fix="Use a smaller edge.",
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
        """``math.inf``, because the noise is unbounded."""
        return math.inf

    @cached_property
    def total(self) -> Fraction:
        """The sum of all weights."""
        return self._diamonds(0)

    @cached_property
    def cost(self) -> Fraction:
        """The exact expected cost E‖X‖, in the unit of ``step``."""
        _, first, _, third = power_sums(self.ratio, self._shift, 3)
        sizes = (4 * self.steps**3 * third - self.steps * first) / 3
        return self.step * (1 - self.ratio) * sizes / self.total

    def weight(self, distance: int) -> Fraction:
        """Return the weight of each single point at ‖i‖ = distance ≥ 0."""
        periods, place = divmod(distance, self.steps)
        return exact_power(self.ratio, periods + (place >= self.edge))

    def probability(self, i: int, j: int) -> Fraction:
        """Return the exact probability of the lattice point (i, j)."""
        return self.weight(abs(i) + abs(j)) / self.total

    def within(self, confidence: Fraction) -> int:
        """Return the smallest distance r, in steps, for which P(‖X‖ ≤ r) ≥ confidence is proved.

        Powers are enclosed so precisely that no smaller r suffices, unless P(‖X‖ > r) agrees with
        1 − confidence to one part in 2²⁵⁶.
        """
        if confidence >= 1:
            raise InvalidParameter(
                parameter("confidence") + " must be below 1 for unbounded noise",
                got=format_exact(confidence),
                fix="Use, for example, 0.999.",
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
        """Return (1−b)·Σ bⁿ·(points of diamond first + n) over n ≥ 0."""
        zeroth, _, second = power_sums(self.ratio, first + self._shift, 2)
        return (1 - self.ratio) * (2 * self.steps**2 * second + zeroth / 2)

    def _beyond(self, distance: int, bits: int) -> Fraction:
        """Return an upper bound of the weight of all points with ‖i‖ > distance.

        It is too large by less than 2^−bits. The sum is over the points of each diamond beyond the
        distance.
        """
        first = max(0, (distance - self.edge + 1) // self.steps + 1)
        left = self._diamonds(first) - (2 * distance * (distance + 1) + 1)
        fine = bits + 2 * first.bit_length() + int(left).bit_length() + 8
        return left * Fraction(fixed_power(self.ratio, first, fine)[1], 1 << fine)


def optimal_planar(privacy: Privacy, sensitivity: Fraction) -> PlanarStaircase:
    """Return the planar staircase of minimal E‖X‖ for ε > 0 and δ = 0; reject other guarantees."""
    if privacy.delta:
        raise Unsupported(
            parameter("delta")
            + " must be 0 for a pair, because the optimal noise is only known there",
            got=format_short(privacy.delta),
            fix="Use δ = 0, or calibrate each answer by itself.",
        )
    if not privacy.epsilon:
        raise InvalidParameter(
            parameter("epsilon") + " must be positive for a pair",
            got="0",
            fix="Use, for example, Privacy(epsilon=1).",
        )
    if privacy.epsilon < _SMALLEST:
        raise Unsupported(
            parameter("epsilon") + " must be at least 2⁻¹⁰⁰ for a pair",
            got=format_short(privacy.epsilon),
            fix="Use a larger ε.",
        )
    ratio = 1 / exponential(privacy.epsilon).lower
    return PlanarStaircase(sensitivity, best_gamma(ratio), ratio)


def best_gamma(ratio: Fraction) -> Fraction:
    """Return the γ of minimal cost, to 24 binary digits."""
    # For large ε the best γ is near the cube root of 2b.
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
    """Return whether γ is at or beyond the second zero of h."""
    zeroth, first, second, third = power_sums(ratio, gamma, 3)
    return 3 * second**2 >= 2 * first * third and 3 * first * second >= zeroth * third


def discretize_planar(noise: PlanarStaircase, sensitivity: Fraction) -> DiscretePlanarStaircase:
    """Discretize a planar staircase that is private at ``sensitivity``.

    The result is different noise with a proof of its own: the cells of the lattice are squares, and
    rounding to them would not preserve the diamonds. The period is the continuous one, stretched to
    full steps and the few more by which the effective sensitivity exceeds Δ.
    """
    step, _ = choose_lattice(sensitivity)
    period = -(-noise.period * effective_steps(sensitivity, step, answers=2) // sensitivity)
    edge = min(math.floor((noise.gamma or 1) * period) + 1, period)
    if edge == 1 < period:
        raise Unsupported(
            parameter("epsilon")
            + " must be below about 42 for a pair, or exact answers would be released",
            fix="Use a smaller ε.",
        )
    return DiscretePlanarStaircase(step, noise.ratio, period, edge)


def sample_pair(noise: DiscretePlanarStaircase, tape: Tape) -> tuple[int, int]:
    """Sample one point of the lattice, with exactly its probability.

    All numbers are always sampled in the same order, whatever their values are.
    """
    parts = mixture(noise)
    choice = uniform_below(sum(parts), tape)
    extra = (choice >= parts[0]) + (choice >= parts[0] + parts[1])
    numbers = [geometric(noise.ratio).draw(tape) for _ in parts]
    diamond = extra + sum(numbers[: extra + 1])
    radius = diamond * noise.steps + noise.edge - 1
    return point(radius, uniform_below(2 * radius * (radius + 1) + 1, tape))


@lru_cache(maxsize=64)
def mixture(noise: DiscretePlanarStaircase) -> tuple[int, int, int]:
    """Return integers proportional to c_j·bʲ / (1−b)ʲ⁺¹ for j = 0, 1, 2."""
    period, edge = noise.steps, noise.edge
    fall = noise.ratio.numerator
    keep = noise.ratio.denominator - fall
    return (
        (2 * edge * (edge - 1) + 1) * keep**2,
        2 * period * (period + 2 * edge - 1) * keep * fall,
        4 * period**2 * fall**2,
    )


def point(radius: int, index: int) -> tuple[int, int]:
    """Return the point of the diamond ‖i‖ ≤ radius with this index, a bijection.

    In the coordinates u = i + j and v = i − j the diamond is two squares: (radius + 1)² points
    where u and v have the parity of the radius, and radius² points where they have the other one.
    """
    side = radius + 1
    if index >= side**2:
        index -= side**2
        side = radius
    u, v = (2 * place - (side - 1) for place in divmod(index, side))
    return (u + v) // 2, (u - v) // 2
