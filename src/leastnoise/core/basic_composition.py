"""The total guarantee of several releases, by theorems that need no privacy curve."""

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import (
    Interval,
    fixed_power,
    format_rounded,
    power,
    quote,
    round_up,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter

_BITS = 96
_HALF = Fraction(1, 2)
_DIGITS = 12
# From this number of expected failures on there is no joint guarantee: 1 − δ < e⁻¹⁰⁰.
_MANY = 100
# The most binary digits of an exact product of probabilities, and the digits of a rounded one.
_LONGEST_EXACT = 1 << 14
_KEPT_BITS = 1 << 10


def compose_equal(privacy: Privacy, releases: int) -> Privacy:
    """Return the total guarantee of k equal releases: (kε, 1 − (1−δ)ᵏ).

    This is Kairouz, Oh and Viswanath 2015, Theorem 3.3 with i = 0. At ε = 0, couple each pair of
    outputs, independently, so that they agree with probability 1 − δ.
    """
    if releases == 1:
        return privacy
    if releases * privacy.delta < _MANY:
        failing = 1 - power(1 - privacy.delta, Fraction(releases)).lower
        return Privacy(releases * privacy.epsilon, round_up(failing) if failing else 0)
    raise InvalidParameter(
        f"{quote(releases)} such releases have no guarantee together, because their total δ is "
        "almost 1",
        fix="Release fewer numbers, or use a smaller δ for each.",
    )


def joint_failure(chances: Iterable[tuple[Fraction, int]]) -> Interval:
    """Enclose 1 − Π(1−δᵢ)^nᵢ, given pairs (δᵢ, nᵢ); exactly unless it has very many digits."""
    factors = [(1 - chance, count) for chance, count in chances if chance]
    length = sum(count * factor.denominator.bit_length() for factor, count in factors)
    if length <= _LONGEST_EXACT:
        return Interval.exact(
            1 - math.prod((factor**count for factor, count in factors), start=Fraction(1))
        )
    low = high = 1 << _KEPT_BITS
    for factor, count in factors:
        least, most = fixed_power(factor, count, _KEPT_BITS)
        low, high = low * least >> _KEPT_BITS, -(-high * most >> _KEPT_BITS)
    return Interval(1 - Fraction(high, 1 << _KEPT_BITS), 1 - Fraction(low, 1 << _KEPT_BITS))


def split_evenly(privacy: Privacy, releases: int) -> Privacy:
    """Return the guarantee of each of k releases that together satisfy ``privacy``.

    It is (ε/k, 1 − (1−δ)^(1/k)), rounded down. k releases of (ε₀, δ₀) satisfy (kε₀, 1 − (1−δ₀)ᵏ),
    even if each depends on the answers before it (Kairouz, Oh and Viswanath 2015, Theorem 3.3 with
    i = 0). This composition is tight for uniform noise at ε = 0, and may be loose for ε > 0.

    >>> split_evenly(Privacy(delta="0.19"), 2), split_evenly(Privacy(1, "1e-6"), 4)
    (Privacy(epsilon=0, delta=0.1), Privacy(epsilon=0.25, delta='2.5000009375e-7'))
    """
    if releases == 1:
        return privacy
    success = power(1 - privacy.delta, Fraction(1, releases)).upper
    # By Bernoulli's inequality it is at least δ/k, so rounding must not go below that.
    rounded = Fraction(format_rounded(1 - success, _DIGITS, ROUND_FLOOR))
    delta = max(rounded, privacy.delta / releases)
    return Privacy(privacy.epsilon / releases, delta)


def joint_sensitivity(sensitivity: Fraction, releases: int) -> Fraction:
    """Return √k·Δ, rounded up: the Euclidean shift of k answers that shift by Δ each.

    Rotate the k axes so that one of them points along the shift. Along it, Gaussian noise is
    shifted by √k·Δ; along the others, noise of the same σ is not shifted. So k Gaussian releases
    together are exactly as private as one at sensitivity √k·Δ (Dong, Roth and Su 2022, Corollary
    3.3, also for adaptive releases).
    """
    if releases == 1:
        return sensitivity
    root = power(Fraction(releases), _HALF)
    return sensitivity * (root if root.is_exact else root.shortened(_BITS)).upper


def compose_basic(parts: Iterable[Privacy], most: Fraction = Fraction(1)) -> Privacy:
    """Return the total guarantee of releases with these guarantees: (Σεᵢ, 1 − Π(1−δᵢ)).

    Every mechanism that satisfies (εᵢ, δᵢ) is a post-processing of a release that reveals
    everything with probability δᵢ and otherwise changes the odds by at most e^εᵢ (Kairouz, Oh and
    Viswanath 2015, Theorem 3.5 with their ε̃ = Σεᵢ; Theorem 3.3 for equal guarantees). With
    probability Π(1−δᵢ) no release reveals everything, and then the odds change by at most e^Σεᵢ.
    This includes adaptive releases, because the guarantees are fixed beforehand. A δ of very many
    digits is rounded up, but not beyond ``most`` if the exact δ is at most ``most``.

    >>> compose_basic([Privacy("0.5"), Privacy("0.25", "0.1"), Privacy(delta="0.1")])
    Privacy(epsilon=0.75, delta=0.19)
    """
    guarantees = list(parts)
    failing = 1 - success_probability(part.delta for part in guarantees)
    delta = round_up(failing) if failing else failing
    return Privacy(
        sum((part.epsilon for part in guarantees), Fraction(0)),
        min(delta, most) if failing <= most else delta,
    )


def success_probability(deltas: Iterable[Fraction]) -> Fraction:
    """Return Π(1−δᵢ)."""
    return math.prod((1 - delta for delta in deltas), start=Fraction(1))
