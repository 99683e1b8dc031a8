"""The promise of several equal releases."""

from fractions import Fraction

from leastnoise.errors import InvalidParameter
from leastnoise.exact import described, power, shortened_up
from leastnoise.privacy import Privacy

# After so many expected failures the joint promise is none: 1 − δ < e⁻¹⁰⁰.
_MANY = 100


def together(privacy: Privacy, releases: int) -> Privacy:
    """Return the promise of several releases: (kε, 1 − (1−δ)ᵏ).

    Kairouz, Oh and Viswanath 2015, Theorem 3.3 with i = 0; at ε = 0: couple each pair of outputs so
    that they agree with probability 1 − δ, independently.
    """
    if releases == 1:
        return privacy
    if releases * privacy.delta < _MANY:
        failing = 1 - power(1 - privacy.delta, Fraction(releases)).lower
        return Privacy(releases * privacy.epsilon, shortened_up(failing) if failing else 0)
    raise InvalidParameter(
        "so many releases would promise nothing: δ would be 1 but for a hair after "
        f"{described(releases)} of them. Release less, or promise a smaller δ for each."
    )
