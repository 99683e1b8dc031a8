"""What one of several equal releases may do under one promise for all of them together."""

from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.exact import approximately, power
from leastnoise.privacy import Privacy

# Noises whose k releases together are one release of the same noise moved by √k·Δ.
SHARED = ("gaussian", "classic_gaussian")
# From which number of releases on the Gaussian is the cheapest is looked for up to here.
MOST_RELEASES = 10_000

_HALF = Fraction(1, 2)
_DIGITS = 12
_BITS = 96


def split(privacy: Privacy, releases: int) -> Privacy:
    """Return what each of k releases must promise so that all of them keep ``privacy`` together.

    (ε/k, 1 − (1−δ)^(1/k)), rounded down: k releases of (ε₀, δ₀) keep (kε₀, 1 − (1−δ₀)ᵏ), also where
    each may depend on the answers before it (Kairouz, Oh and Viswanath 2015, Theorem 3.3 with
    i = 0). For uniform noise at ε = 0 nothing is lost by it; for ε > 0 something may be.

    >>> split(Privacy(delta="0.19"), 2), split(Privacy(1, "1e-6"), 4)
    (Privacy(epsilon=0, delta=0.1), Privacy(epsilon=0.25, delta=0.00000025000009375))
    """
    if releases == 1:
        return privacy
    kept = power(1 - privacy.delta, Fraction(1, releases)).upper
    # By Bernoulli's inequality never less than δ/k, which also is what no rounding may go below.
    each = max(Fraction(approximately(1 - kept, _DIGITS, ROUND_FLOOR)), privacy.delta / releases)
    return Privacy(privacy.epsilon / releases, each)


def shared_move(sensitivity: Fraction, releases: int) -> Fraction:
    """Return √k·Δ, rounded up: how far k answers that move by Δ each move together.

    Turn the k axes so that one of them points along the move: there is one Gaussian noise moved by
    √k·Δ, and others of the same σ that do not move. So k Gaussian noises together are exactly as
    private as one at √k·Δ (Dong, Roth and Su 2022, Corollary 3.3, also for adaptive releases).
    """
    if releases == 1:
        return sensitivity
    root = power(Fraction(releases), _HALF)
    return sensitivity * (root if root.is_exact else root.shortened(_BITS)).upper


def first_release(ahead: Callable[[int], bool]) -> int | None:
    """Return the least k ≤ 10⁴ at which something holds that goes on holding, or None.

    By doubling, then halving.
    """
    low, high = 0, 1
    while not ahead(high):
        if high == MOST_RELEASES:
            return None
        low, high = high, min(2 * high, MOST_RELEASES)
    while high - low > 1:
        middle = (low + high) // 2
        if ahead(middle):
            high = middle
        else:
            low = middle
    return high
