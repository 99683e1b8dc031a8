"""Find the optimal noise for two answers at δ = 0 and cost |x₁| + |x₂|: a planar staircase.

Which one is a search over γ; an error in it costs accuracy, never privacy. The cost is (2/3)Δ·S₃/S₂
with S_k = Σ bⁿ(n+γ)ᵏ. S_k grows by k·S_{k−1} with γ, so the cost rises where

    h(γ) = 3S₂² − 2S₁S₃

is positive. h″ = 12S₁² > 0, so h is convex on [0, 1]. It is positive at 0 and at 1, which are the
same noise and cost the same; between, the cost must fall somewhere, so h has two zeros. The cost
rises, falls and rises again, and it is least where h has its second zero: where both h and
h′ = 6S₁S₂ − 2S₀S₃ become positive for good.
"""

from fractions import Fraction
from math import floor

from leastnoise.core.exact import exponential, format_exact, power_sums
from leastnoise.core.lattice import effective_steps, lattice_for
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.mechanism.pair.staircase import DiscretePlanarStaircase, PlanarStaircase

# γ is found to so many binary digits: behind the point, and more where it is small.
_FINE = 24
_SMALLEST = Fraction(1, 1 << 100)


def least_planar(privacy: Privacy, sensitivity: Fraction) -> PlanarStaircase:
    """Return the planar staircase of least E‖X‖ for ε > 0, at δ = 0; reject other guarantees."""
    if privacy.delta:
        raise Unsupported(
            "the least noise for a pair is known at δ = 0 alone (Geng, Kairouz, Oh and Viswanath "
            f"2015); got δ = {format_exact(privacy.delta)}. Promise ε > 0 and δ = 0, or calibrate "
            "for each answer by itself."
        )
    if not privacy.epsilon:
        raise InvalidParameter(
            "at δ = 0 a pair needs ε > 0; got (ε, δ) = (0, 0), which no noise keeps. "
            "Give for instance Privacy(epsilon=1)."
        )
    if privacy.epsilon < _SMALLEST:
        raise Unsupported(
            f"for a pair ε must be at least 2⁻¹⁰⁰; got {format_exact(privacy.epsilon)}. "
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
    edge = min(floor((noise.gamma or 1) * period) + 1, period)
    if edge == 1 < period:
        raise Unsupported(
            "the top of a pair's noise must be wider than a single lattice point, or the exact "
            "answers would leave; got an ε so large, above about 42, that it is not. Promise a "
            "smaller ε."
        )
    return DiscretePlanarStaircase(step, noise.ratio, period, edge)
