"""The comb's bound: why no noise of any shape costs less, for squared errors at ε = 0.

Theorem (docs/theory/comb.md, Proposition 7). Let β ≥ 0 satisfy 4β³ + 3β ≤ 1. Then every noise that
is (0, δ)-private at sensitivity Δ, of whatever shape and at whatever δ, has
E X² ≥ (1−δ)·(1+β²)/2·Δ².

The largest such β, sinh(⅓ arsinh 1) = 0.298…, is irrational; for δ ≥ 1/(1+2β) = 0.6265… the comb
attains its bound. A rational below it proves as much, but for what it is too small by.
"""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.certificate.evidence import unproved
from leastnoise.costs import Cost, l2
from leastnoise.exact import exactly
from leastnoise.privacy import Privacy


@dataclass(frozen=True, slots=True, repr=False)
class CombBound:
    """E X² ≥ (1−δ)(1+β²)/2·Δ² for all noises whatever, with β = ``root``, 4β³ + 3β ≤ 1."""

    @property
    def among(self) -> str:
        """All noises, of any shape."""
        return "any"

    root: Fraction

    def __repr__(self) -> str:
        """Print the bound by its root."""
        return f"CombBound(root={exactly(self.root)})"

    @property
    def integer(self) -> bool:
        """Never: noise on the integers need not hide moves that are no whole numbers."""
        return False

    def proved(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return (1−δ)(1+β²)/2·Δ² if the theorem applies; raise if it does not."""
        if privacy.epsilon:
            raise unproved("the comb's bound is for ε = 0")
        if cost != l2:
            raise unproved("the comb's bound is for the cost l2")
        if self.root < 0 or 4 * self.root**3 + 3 * self.root > 1:
            raise unproved("its root is not one between 0 and the β with 4β³ + 3β = 1")
        return (1 - privacy.delta) * (1 + self.root**2) / 2 * sensitivity**2
