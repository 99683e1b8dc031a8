"""Uniform noise with a probability mass at the origin: the paper's P_α."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, Number, as_float, described, exactly, positive, rational
from leastnoise.noise.base import Noise, evaluated


@dataclass(frozen=True, init=False, repr=False)
class Uniform(Noise):
    """P_α of GDGK19: mass ``atom`` at 0, the rest spread evenly over [−radius, radius].

    With radius w = (1−α)Δ / (2(δ−α)) and atom α it is (0, δ)-private at sensitivity Δ, and for the
    right α it costs least among all symmetric noises that never rise away from 0 (Theorem 2).

    ============ ==========================================
    support      [−w, w]
    density      (1−α) / 2w, beside the mass α at 0
    E|X|, E X²   (1−α)·w/2, (1−α)·w²/3
    ============ ==========================================

    >>> Uniform(radius=5).cdf(1), Uniform(radius=1, atom=0.5).atoms
    (0.6, {Fraction(0, 1): Fraction(1, 2)})
    """

    width: Fraction
    atom: Fraction

    def __init__(self, radius: Number, atom: Number = 0) -> None:
        """Read both numbers exactly: radius > 0, 0 ≤ atom < 1."""
        exact = rational(atom, "atom")
        if not 0 <= exact < 1:
            raise InvalidParameter(
                f"the mass at the origin must be at least 0 and less than 1; got {described(atom)}."
                " Give a probability below 1."
            )
        object.__setattr__(self, "width", positive(radius, "radius"))
        object.__setattr__(self, "atom", exact)

    def __repr__(self) -> str:
        """Print the law the way it is written."""
        return f"Uniform(radius={exactly(self.width)}, atom={exactly(self.atom)})"

    @property
    def radius(self) -> Fraction:
        """The half-width w: the largest size this noise can have."""
        return self.width

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own."""
        return {Fraction(0): self.atom} if self.atom else {}

    @property
    def density(self) -> Fraction:
        """The density beside the atom, (1−α)/2w."""
        return (1 - self.atom) / (2 * self.width)

    def pdf(self, x: Any) -> Any:
        """Return the density of the spread part; the mass at 0 is in :attr:`atoms`."""
        return evaluated(x, self._pdf, self._densities)

    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        spread = min(max(upto + self.width, Fraction(0)), 2 * self.width)
        return spread * self.density + (self.atom if upto >= 0 else 0)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability, exactly."""
        below = (1 - self.atom) / 2
        if probability <= below:
            return probability / self.density - self.width
        right = (probability - self.atom) / self.density - self.width
        return max(right, Fraction(0))

    def variance(self) -> Fraction:
        """Return (1−α)·w²/3."""
        return (1 - self.atom) * self.width**2 / 3

    def enclose(self, cost: Cost) -> Interval:
        """Enclose α·L(0) + (1−α)/w · ∫₀ʷ L."""
        spread = cost.integral(self.width).scaled(2 * self.density)
        return spread + cost.value(Fraction(0)).scaled(self.atom)

    def _pdf(self, place: Fraction | float) -> Fraction:
        inside = not isinstance(place, float) and abs(place) <= self.width
        return self.density if inside else Fraction(0)

    def _densities(self, places: Any) -> Any:
        import numpy as np

        return np.where(abs(places) <= as_float(self.width), as_float(self.density), 0.0)

    def _masses(self, places: Any) -> Any:
        import numpy as np

        width = as_float(self.width)
        if not 0 < width < math.inf:
            return self._each(places, self._cdf)
        # Clipped and divided before anything else: then nothing overflows.
        spread = (np.clip(places, -width, width) / width + 1) / 2
        return spread * as_float(1 - self.atom) + np.where(places >= 0, as_float(self.atom), 0)

    def _quantiles(self, probabilities: Any) -> Any:
        import numpy as np

        if not 0 < as_float(self.width) < math.inf:
            return self._each(probabilities, self.quantile)
        atom = as_float(self.atom)
        scale = 2 / as_float(1 - self.atom)
        left = probabilities * scale - 1
        right = np.maximum((probabilities - atom) * scale - 1, 0)
        return np.where(left <= 0, left, right) * as_float(self.width)
