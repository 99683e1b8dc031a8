"""The interface of noise distributions, on the line and on a lattice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, overload

from leastnoise.core.exact import Interval, Number, format_exact, quote
from leastnoise.core.noise.scipy_api import ScipyMethods, evaluate
from leastnoise.core.sampling import Scheme
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leastnoise.core.noise.scipy_api import Floats, Numbers
    from leastnoise.core.profile import Curve


class Noise(ScipyMethods):
    """A noise distribution.

    It has the methods of scipy's distributions: ``cdf sf ppf mean var std support interval``.
    They take a number or a numpy array and return floats. Guarantees rest on exact methods:
    :meth:`mass`, :meth:`curve`, :meth:`enclose`.

    >>> from leastnoise.noise import Laplace, Noise
    >>> isinstance(Laplace(2), Noise), Laplace(2).cdf(0)
    (True, 0.5)
    """

    # The fields that a certificate stores, each with its kind of value (certificate/document.py).
    # They are a file format: neither a class nor a field of it is ever renamed.
    stored: ClassVar[Mapping[str, str]]

    @classmethod
    def restore(cls, **fields: object) -> Self:
        """Return the noise that was stored as these fields."""
        return cls(**cast("dict[str, Any]", fields))

    @abstractmethod
    def curve(self, sensitivity: Fraction) -> Curve:
        """Return the privacy curve of the noise for shifts up to ``sensitivity``."""

    @property
    @abstractmethod
    def is_unimodal(self) -> bool:
        """Whether the noise is symmetric and its density does not increase with |x|."""

    @abstractmethod
    def discretize(self, sensitivity: Fraction) -> LatticeNoise:
        """Return the lattice noise that is sampled for this noise.

        If this noise satisfies a guarantee at ``sensitivity`` Δ, the lattice noise satisfies it at
        ⌈Δ/g⌉ + 1 steps of its lattice (docs/theory/rounding.md).
        """

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return the largest distance in total variation over all shifts |d| ≤ Δ, exactly.

        Unimodal noise shifted by d > 0 is at distance P([−d/2, d/2)) from itself, which grows with
        d, so the worst shift is the longest (GDGK19, Theorem 1). On a lattice shifted by j steps it
        is the mass of the j points in the middle.

        Raises:
            InvalidParameter: If the theorem does not apply, or is not used for this noise.
        """
        raise InvalidParameter(
            "total_variation() applies to unimodal noise with a formula of its own",
            got=f"{type(self).__name__} at sensitivity {format_exact(sensitivity)}",
            fix="Use Profile(noise, sensitivity=…).delta(0).",
        )

    def enclose(self, cost: ExpectedCost) -> Interval:
        """Enclose the expected cost E L(X)."""
        if not isinstance(cost, ExpectedCost):
            raise not_a_cost(cost)
        return cost.expectation(self)

    def expected(self, cost: ExpectedCost) -> Fraction:
        """Return E L(X): exact where it is rational, else a proved upper bound.

        Args:
            cost: L, such as :data:`~leastnoise.costs.power.l1`.
        """
        return self.enclose(cost).upper


class ExpectedCost(ABC):
    """The interface of costs that noise uses; :mod:`leastnoise.costs` implements it."""

    @abstractmethod
    def expectation(self, noise: Noise) -> Interval:
        """Enclose the expected cost E L(X) of noise."""


def not_a_cost(cost: object) -> InvalidParameter:
    """Return the error for an argument that is not a cost."""
    return InvalidParameter(
        "cost must be a Cost",
        got=quote(cost),
        fix="Use l1, l2, lp(p), threshold(t), piecewise_linear([…]) or Cost(function).",
    )


class LineNoise(Noise):
    """Noise on the line: a density and atoms."""

    def __repr__(self) -> str:
        fields = (f"{name}={format_exact(getattr(self, name))}" for name in self.stored)
        return f"{type(self).__name__}({', '.join(fields)})"

    @property
    @abstractmethod
    def atoms(self) -> dict[Fraction, Fraction]:
        """The places with a probability of their own."""

    @abstractmethod
    def scaled(self, factor: Number) -> Self:
        """Return the distribution of ``factor`` times this noise, factor > 0."""

    @abstractmethod
    def _pdf(self, place: Fraction | float) -> Fraction:
        """Return the density at a place; only infinities arrive as floats."""

    @overload
    def pdf(self, x: Number) -> float: ...

    @overload
    def pdf(self, x: Numbers) -> Floats: ...

    def pdf(self, x: Number | Numbers) -> float | Floats:
        """Return the density; where it jumps, that of one side. Atoms are in :attr:`atoms`.

        Args:
            x: A number, or a numpy array of numbers.
        """
        return evaluate(x, self._pdf)


class LatticeNoise(Noise):
    """Noise on the multiples of ``step``: the point index·step has weight(index) of total."""

    step: Fraction

    @property
    @abstractmethod
    def scheme(self) -> Scheme:
        """The exact sampler of this noise."""

    @property
    @abstractmethod
    def total(self) -> Fraction | int:
        """The sum of all weights."""

    @property
    @abstractmethod
    def farthest(self) -> int | float:
        """The largest size of an index the noise can have: ``math.inf`` if it is unbounded."""

    @abstractmethod
    def weight(self, index: int) -> Fraction | int:
        """Return the weight of the point index·step."""

    @abstractmethod
    def within(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""

    @property
    def isolated_weight(self) -> Fraction | int:
        """The weight of single points that weigh more than both their neighbors: here of 0."""
        return self.weight(0) if self.weight(0) > max(self.weight(1), self.weight(-1)) else 0

    def discretize(self, sensitivity: Fraction) -> LatticeNoise:  # noqa: ARG002 -- it is on one
        """Return the noise itself."""
        return self

    def central(self, points: int) -> Fraction:
        """Return the mass of that many points in the middle (docs/theory/theorem-1.md)."""
        right, left = (points + 1) // 2, points // 2  # how many at 0 or more, and below 0
        return self.mass((right - 1) * self.step) - self.mass((-left - 1) * self.step)

    def __getstate__(self) -> dict[str, object]:
        """Omit the scheme, which holds tables and locks and is built again."""
        return {name: part for name, part in vars(self).items() if name != "scheme"}

    @overload
    def pmf(self, x: Number) -> float: ...

    @overload
    def pmf(self, x: Numbers) -> Floats: ...

    def pmf(self, x: Number | Numbers) -> float | Floats:
        """Return P(X = x).

        Args:
            x: A number, or a numpy array of numbers.
        """
        return evaluate(x, self._pmf)

    def _pmf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        index = place / self.step
        whole = index.denominator == 1
        return Fraction(self.weight(index.numerator), self.total) if whole else Fraction(0)


def no_ends(probability: Fraction) -> InvalidParameter:
    """Return the error for a quantile of unbounded noise at 0 or 1."""
    return InvalidParameter(
        "the probability of a quantile of unbounded noise must be between 0 and 1, both excluded",
        got=format_exact(probability),
        fix="Use for example 0.999.",
    )


def no_bound(confidence: Fraction) -> InvalidParameter:
    """Return the error for a maximum error of unbounded noise."""
    return InvalidParameter(
        "confidence must be below 1 for unbounded noise, which has no maximum error",
        got=format_exact(confidence),
        fix="Use for example 0.999.",
    )
