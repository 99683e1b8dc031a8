"""The interface of noise distributions, on the line and on a lattice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, overload

from leastnoise.core.exact import Interval, Number, format_exact, quote
from leastnoise.core.noise.scipy_api import ScipyMethods, evaluate
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import Scheme
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leastnoise.core.noise.scipy_api import Floats, Numbers
    from leastnoise.core.profile import Curve


class Noise(ScipyMethods):
    """A noise distribution.

    It has the methods of scipy's distributions: ``cdf sf ppf mean var std support interval``.
    They take a number or a numpy array and return floats, and :meth:`sample` returns samples.
    Guarantees use exact methods only: :meth:`probability_up_to`, :meth:`curve`, :meth:`enclose`.

    >>> from leastnoise.noise import Laplace, Noise
    >>> isinstance(Laplace(2), Noise), Laplace(2).cdf(0)
    (True, 0.5)
    """

    # The fields that a certificate stores, each with its kind of value (certificate/document.py).
    # They are a file format, so the class and these fields are never renamed.
    stored: ClassVar[Mapping[str, str]]
    mass = RenamedAttribute[Callable[[Fraction], Fraction]]("probability_up_to")

    @classmethod
    def restore(cls, **fields: object) -> Self:
        """Construct the noise from its stored fields."""
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
        """Return the largest total variation distance over all shifts |d| ≤ Δ, exactly.

        The distance between unimodal noise and the same noise shifted by d > 0 is P([−d/2, d/2)).
        It grows with d, so the longest shift is the worst (GDGK19, Theorem 1). On a lattice, for a
        shift of j steps, it is the mass of the j central points.

        Raises:
            InvalidParameter: If the theorem does not apply to this noise or is not implemented for
                it.
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
        """Return E L(X): exact if rational, otherwise a proved upper bound.

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
        parameter("cost") + " must be a Cost",
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
        """The atoms: places of positive probability, with their probabilities."""

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
        """Return the density, without the atoms; at a jump, the density of one side.

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
        """The largest |index| of the noise, or ``math.inf`` if it is unbounded."""

    @abstractmethod
    def weight(self, index: int) -> Fraction | int:
        """Return the weight of the point index·step."""

    def sampler(self) -> tuple[Scheme, Fraction, Fraction]:
        """Return the scheme of this noise, its step and an offset of 0."""
        return self.scheme, self.step, Fraction(0)

    @abstractmethod
    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 with P(|X| ≤ j·step) ≥ confidence."""

    @property
    def isolated_weight(self) -> Fraction | int:
        """The total weight of points that weigh more than both neighbors: here only 0 can."""
        return self.weight(0) if self.weight(0) > max(self.weight(1), self.weight(-1)) else 0

    def discretize(self, sensitivity: Fraction) -> LatticeNoise:  # noqa: ARG002 -- it is on one
        """Return the noise itself."""
        return self

    def central_mass(self, points: int) -> Fraction:
        """Return the mass of the central ``points`` points (docs/theory/theorem-1.md)."""
        right, left = (points + 1) // 2, points // 2  # the numbers of points ≥ 0 and below 0
        return self.probability_up_to((right - 1) * self.step) - self.probability_up_to(
            (-left - 1) * self.step
        )

    def __getstate__(self) -> dict[str, object]:
        """Omit the scheme: it has tables and locks, and is built again on first use."""
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
        on_lattice = index.denominator == 1
        return Fraction(self.weight(index.numerator), self.total) if on_lattice else Fraction(0)


def read_guarantee(
    kind: str,
    parameters: Mapping[str, Number | None],
    guarantee: Mapping[str, Number | None],
    shared: str = "",
) -> tuple[Privacy, Number] | None:
    """Return the guarantee and sensitivity that a constructor got, or None if it got parameters.

    Args:
        kind: The name of the class.
        parameters: The arguments of the class itself, by name; all are required.
        guarantee: The arguments ``epsilon``, ``delta`` and ``sensitivity`` that were given. A
            guarantee requires the last one, and its ε and δ are 0 by default.
        shared: A parameter that is allowed with a guarantee too. Default: none.

    Raises:
        InvalidParameter: If arguments of both kinds are given, or not all of one kind.
        TypeError: If there is no such argument.
    """
    unknown = [name for name in guarantee if f"{name}=" not in f"{_EXAMPLES[kind]}, sensitivity="]
    if unknown:
        raise TypeError(f"{kind}() got an unexpected keyword argument {unknown[0]!r}")
    sensitivity = guarantee.get("sensitivity")
    names = [name for name, value in {**parameters, **guarantee}.items() if value is not None]
    if names == list(parameters):
        return None
    if sensitivity is not None and not (parameters.keys() - {shared}).intersection(names):
        parts = (guarantee.get("epsilon"), guarantee.get("delta"))
        return Privacy(*(0 if part is None else part for part in parts)), sensitivity
    raise InvalidParameter(
        f"{kind}() needs {_join(list(parameters))}, or a guarantee and sensitivity",
        got=_join(names) if names else "no arguments",
        fix=f"Use {kind}({', '.join(f'{name}=…' for name in parameters)}) or "
        f"{kind}({_EXAMPLES[kind]}, sensitivity=…).",
    )


# A guarantee in the words of each constructor.
_EXAMPLES = {
    "Gaussian": "epsilon=…, delta=…",
    "Laplace": "epsilon=…, delta=…",
    "Staircase": "epsilon=…",
    "TruncatedLaplace": "epsilon=…, delta=…",
    "Uniform": "delta=…",
}


def _join(names: list[str]) -> str:
    """Return names as a list in words.

    >>> _join(["period", "gamma", "ratio"])
    'period, gamma and ratio'
    """
    *initial, last = names
    return f"{', '.join(initial)} and {last}" if initial else last


def outside(noise: str, condition: str, privacy: Privacy) -> InvalidParameter:
    """Return the error for a guarantee that a theorem does not cover, with its condition."""
    return InvalidParameter(
        f"requires {condition}",
        subject=noise,
        got=str(privacy),
        fix="Change the guarantee, or choose another family.",
    )


def no_quantile_at_ends(probability: Fraction) -> InvalidParameter:
    """Return the error for a quantile of unbounded noise at 0 or 1."""
    return InvalidParameter(
        "The probability of a quantile of unbounded noise must be between 0 and 1, both excluded",
        got=format_exact(probability),
        fix="Use, for example, 0.999.",
    )


def no_maximum_error(confidence: Fraction) -> InvalidParameter:
    """Return the error for a maximum error of unbounded noise."""
    return InvalidParameter(
        parameter("confidence")
        + " must be below 1 for unbounded noise, which has no maximum error",
        got=format_exact(confidence),
        fix="Use, for example, 0.999.",
    )
