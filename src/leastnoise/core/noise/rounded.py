"""A smooth noise rounded to a lattice: what is drawn for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.noise.base import LatticeNoise, no_ends
from leastnoise.core.noise.smooth import Smooth
from leastnoise.errors import InvalidParameter

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
                f"a lattice needs a step above 0; got {format_exact(self.step)}. Give such a step."
            )

    def __repr__(self) -> str:
        """Print the law by its step and what was rounded."""
        return f"Rounded(step={format_exact(self.step)}, {self.noise!r})"

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
    def isolated_weight(self) -> int:
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
                    f"got a confidence of {format_exact(confidence)}. Give one below 1, such as "
                    "0.999."
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
