"""What several releases guarantee together, by theorems that need no curve."""

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import (
    Interval,
    fixed_power,
    format_rounded,
    parse_positive,
    power,
    quote,
    round_up,
)
from leastnoise.core.noise import Gaussian
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import Level
from leastnoise.errors import InvalidParameter

_BITS = 96
_HALF = Fraction(1, 2)
_DIGITS = 12
# After so many expected failures the joint guarantee is none: 1 − δ < e⁻¹⁰⁰.
_MANY = 100
# A product of probabilities is written out up to so many binary digits; else kept to so many.
_LONGEST_EXACT = 1 << 14
_KEPT_BITS = 1 << 10
# No smaller δ is stated: it would be of thousands of digits.
LEAST_DELTA = Fraction(1, 10**1000)


def compose_equal(privacy: Privacy, releases: int) -> Privacy:
    """Return the guarantee of k equal releases: (kε, 1 − (1−δ)ᵏ).

    Kairouz, Oh and Viswanath 2015, Theorem 3.3 with i = 0; at ε = 0: couple each pair of outputs so
    that they agree with probability 1 − δ, independently.
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
    """Enclose 1 − Π(1−δᵢ)^nᵢ: exactly where that is not very long."""
    kept = [(1 - chance, count) for chance, count in chances if chance]
    length = sum(count * stays.denominator.bit_length() for stays, count in kept)
    if length <= _LONGEST_EXACT:
        return Interval.exact(
            1 - math.prod((stays**count for stays, count in kept), start=Fraction(1))
        )
    low = high = 1 << _KEPT_BITS
    for stays, count in kept:
        least, most = fixed_power(stays, count, _KEPT_BITS)
        low, high = low * least >> _KEPT_BITS, -(-high * most >> _KEPT_BITS)
    return Interval(1 - Fraction(high, 1 << _KEPT_BITS), 1 - Fraction(low, 1 << _KEPT_BITS))


def split_evenly(privacy: Privacy, releases: int) -> Privacy:
    """Return the guarantee of each of k releases that together satisfy ``privacy``.

    (ε/k, 1 − (1−δ)^(1/k)), rounded down: k releases of (ε₀, δ₀) keep (kε₀, 1 − (1−δ₀)ᵏ), also where
    each may depend on the answers before it (Kairouz, Oh and Viswanath 2015, Theorem 3.3 with
    i = 0). For uniform noise at ε = 0 nothing is lost by it; for ε > 0 something may be.

    >>> split_evenly(Privacy(delta="0.19"), 2), split_evenly(Privacy(1, "1e-6"), 4)
    (Privacy(epsilon=0, delta=0.1), Privacy(epsilon=0.25, delta=0.00000025000009375))
    """
    if releases == 1:
        return privacy
    kept = power(1 - privacy.delta, Fraction(1, releases)).upper
    # By Bernoulli's inequality never less than δ/k, which also is what no rounding may go below.
    each = max(Fraction(format_rounded(1 - kept, _DIGITS, ROUND_FLOOR)), privacy.delta / releases)
    return Privacy(privacy.epsilon / releases, each)


def joint_sensitivity(sensitivity: Fraction, releases: int) -> Fraction:
    """Return √k·Δ, rounded up: how far k answers that shift by Δ each shift together.

    Turn the k axes so that one of them points along the shift: there is one Gaussian noise shifted
    by √k·Δ, and others of the same σ that are not. So k Gaussian releases together are exactly as
    private as one at √k·Δ (Dong, Roth and Su 2022, Corollary 3.3, also for adaptive releases).
    """
    if releases == 1:
        return sensitivity
    root = power(Fraction(releases), _HALF)
    return sensitivity * (root if root.is_exact else root.shortened(_BITS)).upper


def compose_gaussians(parts: Iterable[tuple[Fraction, Fraction]], epsilon: Fraction) -> Privacy:
    """Return the guarantee of Gaussian releases (Δᵢ, σᵢ) together: δ at the shift √Σ(Δᵢ/σᵢ)²."""
    squares = sum(((shift / sigma) ** 2 for shift, sigma in parts), Fraction(0))
    shift = Interval.exact(power(squares, _HALF).upper).shortened(_BITS).upper
    curve = Gaussian(1).curve(parse_positive(shift, "sensitivity"))
    reached = curve.worst(Level.at(epsilon))[0].upper
    return Privacy(epsilon, max(Interval.exact(reached).shortened(_BITS).upper, LEAST_DELTA))


def compose_basic(parts: Iterable[Privacy], most: Fraction = Fraction(1)) -> Privacy:
    """Return what releases of these guarantees satisfy together: (Σεᵢ, 1 − Π(1−δᵢ)).

    Whatever satisfies (εᵢ, δᵢ) can be computed from a release that with probability δᵢ reveals all,
    and else changes the odds by at most e^εᵢ (Kairouz, Oh and Viswanath 2015, Theorem 3.5 with
    their ε̃ = Σεᵢ; of equal guarantees, Theorem 3.3). With probability Π(1−δᵢ) none reveals all, and
    then the odds change by at most e^Σεᵢ; adaptively too, as the guarantees are fixed beforehand.
    A δ of very many digits is rounded up, but not beyond ``most`` if it is no more than that.

    >>> compose_basic([Privacy("0.5"), Privacy("0.25", "0.1"), Privacy(delta="0.1")])
    Privacy(epsilon=0.75, delta=0.19)
    """
    whole = list(parts)
    failing = 1 - success_probability(part.delta for part in whole)
    stated = round_up(failing) if failing else failing
    return Privacy(
        sum((part.epsilon for part in whole), Fraction(0)),
        min(stated, most) if failing <= most else stated,
    )


def success_probability(failing: Iterable[Fraction]) -> Fraction:
    """Return Π(1−δᵢ)."""
    return math.prod((1 - part for part in failing), start=Fraction(1))
