"""Evidence for a lower bound of the cost of all noise in a class."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l2
from leastnoise.errors import InvalidParameter

# The word for each shape of noise in certificates and other files: a file format.
SHAPE_WORDS = {"unimodal": "decreasing", "any": "any"}


class Evidence(Protocol):
    """A proof of a lower bound for a class of noise, which can be verified without its finder."""

    @property
    def shape(self) -> str:
        """The noise class the proof covers."""
        ...

    @property
    def integer(self) -> bool:
        """Whether it is for noise on the integers."""
        ...

    @property
    def method(self) -> str:
        """The kind of proof, in a few words."""
        ...

    def prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return the lower bound of the cost of all noise in the class.

        Raises:
            InvalidParameter: If the evidence is not sound.
        """
        ...


def certificate_error(reason: str) -> InvalidParameter:
    """Return the error for a certificate that is not valid, with the reason."""
    return InvalidParameter(
        f"This certificate is not valid: {reason}",
        fix="Calibrate again for a new one.",
    )


def relative_gap(expected: Fraction, bound: Fraction, cost: Cost) -> Fraction | float:
    """Return how far an expected cost can be above a lower bound, relative to bound − L(0).

    Let E L ≤ ``expected`` and L(0) < ``bound`` ≤ least, for every L that ``cost`` stands for. Then
    (E L − least)/(least − L(0)) ≤ (expected − bound)/(bound − L(0)). The left side falls in the
    least and rises in L(0), so the largest possible L(0) is used.
    """
    if expected <= bound:
        return Fraction(0)
    above = bound - cost.value(Fraction(0)).upper
    return (expected - bound) / above if above > 0 else math.inf


@dataclass(frozen=True, slots=True, repr=False)
class SupportingLine:
    """Cost + slope·distance ≥ intercept for all unimodal noise at ε = 0, on the line or integers.

    Symmetric unimodal noise is a mixture of uniform noise U_w (and of the mass at 0, w = 0). U_w
    costs c(w) = (1/w)·∫₀ʷL and is at distance s(w) = min(1, Δ/2w) from itself shifted by Δ; both
    are linear in the mixture. So for any β and λ ≥ 0 with c(w) + λ·s(w) ≥ β for every w ≥ 0, such
    noise with distance at most δ costs at least β − λδ: a *supporting line* of w ↦ (s, c).

    Three comparisons at one place prove that it supports the curve everywhere:

    1. L(0) + λ ≥ β, which proves it for all w ≤ Δ/2, where s = 1;
    2. L(low) ≤ β ≤ L(high) for some low ≤ high: because L never falls, ∫₀ʷL − βw falls up to
       ``low`` and rises from ``high`` on, so its least value lies between them;
    3. ∫₀ˡᵒʷL + (high − low)·L(low) + λΔ/2 ≥ β·high, a lower bound of that least value.

    On the integers the same holds with sums for integrals: U_M on −M … M, S(M) = L(0) + 2·(L(1) + …
    + L(M)) and S(M) − β(2M+1) + λΔ ≥ 0 at the M with L(M) ≤ β ≤ L(M+1).

    ``low`` and ``high`` are where the cost of an error crosses ``intercept``; with ``integer`` they
    are equal integers, and the cost crosses between ``low`` and ``low + 1``.
    """

    slope: Fraction
    intercept: Fraction
    low: Fraction
    high: Fraction
    integer: bool = False
    shape = "unimodal"
    method = "proved by a supporting line"

    def __repr__(self) -> str:
        return (
            f"SupportingLine(slope={format_exact(self.slope)}, "
            f"intercept={format_exact(self.intercept)})"
        )

    def prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return β − λδ if the three comparisons above hold; raise if one does not."""
        if privacy.epsilon:
            raise certificate_error("a supporting line is for ε = 0")
        start = cost.value(Fraction(0))
        if self.slope < 0 or not 0 <= self.low <= self.high:
            raise certificate_error("the numbers of the line are out of order")
        if start.lower + self.slope < self.intercept:
            raise certificate_error("the line lies above the point mass at 0")
        beyond = self.low + 1 if self.integer else self.high
        if not cost.value(self.low).upper <= self.intercept <= cost.value(beyond).lower:
            raise certificate_error("the cost does not cross the line at the stated place")
        if self._clearance(cost, sensitivity) < 0:
            raise certificate_error("the line cuts the curve of uniform noise")
        return self.intercept - self.slope * privacy.delta

    def _clearance(self, cost: Cost, sensitivity: Fraction) -> Fraction:
        """Return a lower bound of the least height of the curve above the line (comparison 3)."""
        if self.integer:
            if self.low != self.high or self.low.denominator != 1:
                raise certificate_error("the line does not touch at one integer")
            reach = self.low.numerator
            total = 2 * cost.total(Fraction(1), reach).lower + cost.value(Fraction(0)).lower
            return total + self.slope * sensitivity - self.intercept * (2 * reach + 1)
        area = cost.integral(self.low).lower
        area += (self.high - self.low) * cost.value(self.low).lower
        return area + self.slope * sensitivity / 2 - self.intercept * self.high


@dataclass(frozen=True, slots=True, repr=False)
class CombBound:
    """A lower bound for all noise of any shape, for squared errors at ε = 0; β is ``root``.

    Theorem (docs/theory/comb.md, Proposition 7). Let β ≥ 0 satisfy 4β³ + 3β ≤ 1. Then every noise
    that is (0, δ)-private at sensitivity Δ, of any shape and for every δ, has E X² ≥
    (1−δ)·(1+β²)/2·Δ².

    The largest such β, sinh(⅓ arsinh 1) = 0.298…, is irrational; for δ ≥ 1/(1+2β) = 0.6265… the
    comb attains its bound. A rational slightly below it proves a slightly smaller bound.
    """

    root: Fraction
    shape = "any"
    method = "proved by the comb bound"
    integer = False  # noise on the integers need not hide shifts that are not integers

    def __repr__(self) -> str:
        return f"CombBound(root={format_exact(self.root)})"

    def prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return (1−δ)(1+β²)/2·Δ² if the theorem applies; raise if it does not."""
        if privacy.epsilon:
            raise certificate_error("the comb's bound is for ε = 0")
        if cost != l2:
            raise certificate_error("the comb's bound is for the cost l2")
        if self.root < 0 or 4 * self.root**3 + 3 * self.root > 1:
            raise certificate_error("its root is not between 0 and the β with 4β³ + 3β = 1")
        return (1 - privacy.delta) * (1 + self.root**2) / 2 * sensitivity**2
