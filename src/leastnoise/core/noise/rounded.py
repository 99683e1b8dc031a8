"""A smooth noise rounded to a lattice: what is drawn for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from leastnoise.core.exact import Interval, exactly
from leastnoise.core.noise.base import LatticeNoise, no_ends
from leastnoise.core.noise.smooth import Smooth
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.costs import Cost, Points


_HALF = Fraction(1, 2)


@dataclass(frozen=True, repr=False)
class Rounded(LatticeNoise):
    """The law of ⌊X/step + 1/2⌋ steps, for X of the law ``noise``.

    As private as X against moves by whole steps, for rounding what has left is post-processing
    (docs/theory/rounding.md). Its weights are probabilities and irrational: what is returned as a
    rational is within 2⁻¹²⁰ of them, from above.
    """

    step: Fraction
    noise: Smooth

    def __post_init__(self) -> None:
        """Refuse a step that is none."""
        if self.step <= 0:
            raise InvalidParameter(
                f"a lattice needs a step above 0; got {exactly(self.step)}. Give such a step."
            )

    def __repr__(self) -> str:
        """Print the law by its step and what was rounded."""
        return f"Rounded(step={exactly(self.step)}, {self.noise!r})"

    @property
    def total(self) -> int:
        """1: weights are probabilities."""
        return 1

    @property
    def farthest(self) -> int | float:
        """The largest size of an index the noise can have: ``math.inf`` if there is none."""
        radius = self.noise.radius
        return radius if isinstance(radius, float) else ceil(radius / self.step - _HALF)

    @property
    def radius(self) -> Fraction | float:
        """The largest size this noise can have, or ``math.inf``."""
        farthest = self.farthest
        return farthest if isinstance(farthest, float) else farthest * self.step

    @property
    def standing_out(self) -> int:
        """0: a smooth noise has no point that stands out, though 0 is the likeliest."""
        return 0

    def beyond(self, index: int, bits: int = 128) -> Interval:
        """Enclose the probability of all points beyond an index ≥ 0, on one side."""
        return self.noise.tail((index + _HALF) * self.step, bits)

    def weight(self, index: int) -> Fraction:
        """Return the probability of the point index·step, from above.

        Neighbours of a very wide law differ by little, even relative to their small weights: they
        are to be told apart.
        """
        size = abs(index)
        wide = self.noise.density(Fraction(0), 16).upper * self.step
        bits = 128 + 4 * int(1 / wide).bit_length()
        if not size:
            return 1 - 2 * self.beyond(0, bits).lower
        return max(Fraction(0), self.beyond(size - 1, bits).upper - self.beyond(size, bits).lower)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), within 2⁻¹²⁰."""
        return self.noise.mass((floor(upto / self.step) + _HALF) * self.step)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the lattice point that the quantile of the noise itself is rounded to."""
        if probability in (0, 1):
            if isinstance(self.radius, float):
                raise no_ends(probability)
            return self.radius if probability else -self.radius
        return ceil(self.noise.quantile(probability) / self.step - _HALF) * self.step

    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 that is proved to have P(|X| ≤ j·step) ≥ confidence."""
        if confidence >= 1:
            if isinstance(self.farthest, float):
                raise InvalidParameter(
                    "noise without a largest size stays within no bound for certain; "
                    f"got a confidence of {exactly(confidence)}. Give one below 1, such as 0.999."
                )
            return int(self.farthest)
        outside = (1 - confidence) / 2
        size = self.noise.series(min(outside, _HALF), 1)[0].lower
        index = max(0, floor(size / self.step - _HALF) - 1)
        low, high = index - 1, index
        while self.beyond(high).upper > outside:  # where steps are many, not one after the other
            low, high = high, high + 2 * (high - low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.beyond(middle).upper > outside else (low, middle)
        return high

    def variance(self) -> Fraction:
        """Return an upper bound of the variance."""
        from leastnoise.costs import Power  # SPLIT 1b

        return self.enclose(Power(Fraction(2))).upper

    def enclose(self, cost: Cost) -> Interval:
        """Enclose E L(Rg), for R whole steps of length g.

        With T(x) = P(X > x), R is k + 1 or more just where X is (k+½)g or more. So
        E L = L(0) + 2·Σ wₖ·T((k+½)g) over k ≥ 0, with wₖ = L((k+1)g) − L(kg) ≥ 0: that sum is
        enclosed, and on a fine lattice the law on the line says it better, and quicker.
        """
        from leastnoise.costs.rounded import rounded_enclose  # SPLIT 1

        return rounded_enclose(self, cost)

    def _wider(self) -> Rounded:
        """Return this law, or a wider one if its first steps are too unlikely to be computed."""
        from leastnoise.costs.rounded import _rounded_wider  # SPLIT 1

        return _rounded_wider(self)

    def _near(self, cost: Cost) -> Interval:
        """Enclose E L(Rg) by the law of X on the line, from which Rg is at most g/2 away."""
        from leastnoise.costs.rounded import _rounded_near  # SPLIT 1

        return _rounded_near(self, cost)

    def _off(self, p: Fraction) -> Fraction:
        """Return by how much E |Rg|ᵖ differs from E |X|ᵖ at most; for p = 1 it is below.

        For p < 1 by (g/2)ᵖ, for |x + y|ᵖ ≤ |x|ᵖ + |y|ᵖ. For p ≥ 1 by g²B/4 with f the density and
        B = f(0)·L′(g) + Σ f(kg)·(L′(kg + g) − L′(kg)) over k ≥ 1. Proof: the difference is twice
        the sum over all cells from kg to kg + g, with s the middle, of ∫ L′(x)·(T(s) − T(x)) dx.
        T(s) − T(x) is f(s)·(x − s) less what the convex T lies above its tangent. The first part
        gives at most f(s)·g²/8 times the rise of L′, and nothing if L′ is level; the second
        L′(kg + g)·g²/8 times the rise of T′ = −f at most (Peano), added up by parts.
        """
        from leastnoise.costs.rounded import _rounded_off  # SPLIT 1

        return _rounded_off(self, p)

    def _raised(self, q: Fraction, shift: Fraction) -> Fraction:
        """Return an upper bound of E (|X| + shift)^q, q ≥ 0: by Minkowski from q = 1 on."""
        from leastnoise.costs.rounded import _rounded_raised  # SPLIT 1

        return _rounded_raised(self, q, shift)

    def _points_near(self, cost: Points, half: Fraction) -> Interval:
        """Enclose E L(Rg) for straight pieces.

        P(|R|g > x) = 2T((⌊x/g⌋ + ½)g) lies between 2T(x + g/2) and 2T(x − g/2), and is at most 1.
        """
        from leastnoise.costs.rounded import _rounded_points_near  # SPLIT 1

        return _rounded_points_near(self, cost, half)

    def _area(self, size: Fraction) -> Interval:
        """Enclose the integral from ``size`` on of P(X > x), taken as 1/2 where x is below 0."""
        from leastnoise.costs.rounded import _rounded_area  # SPLIT 1

        return _rounded_area(self, size)
