"""The methods of scipy's distributions and samples, in floats; guarantees never use them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, overload

from leastnoise.core.exact import Number, as_float, format_exact, parse_rational, power, quote
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from leastnoise.core.sampling import Scheme

    Numbers: TypeAlias = NDArray[np.generic]
    Floats: TypeAlias = NDArray[np.float64]


class ScipyMethods(ABC):
    """The methods ``cdf sf ppf mean var std support interval`` of scipy, from four exact ones.

    Everything is computed in exact rationals and rounded once, arrays element by element.
    """

    @abstractmethod
    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto): exactly, except for smooth noise, rounded or not."""

    @abstractmethod
    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability; at 0, the start of the support.

        The quantile is exact, except for smooth noise, rounded or not. Unbounded noise rejects 0
        and 1.
        """

    @abstractmethod
    def variance(self) -> Fraction:
        """Return the variance: exact if rational, otherwise a proved upper bound."""

    @property
    @abstractmethod
    def radius(self) -> Fraction | float:
        """The maximum size of this noise: a Fraction, or ``math.inf`` if it is unbounded."""

    @overload
    def cdf(self, x: Number) -> float: ...

    @overload
    def cdf(self, x: Numbers) -> Floats: ...

    def cdf(self, x: Number | Numbers) -> float | Floats:
        """Return P(X ≤ x).

        Args:
            x: A number, or a numpy array of numbers.
        """
        return evaluate(x, self._cdf)

    @overload
    def sf(self, x: Number) -> float: ...

    @overload
    def sf(self, x: Numbers) -> Floats: ...

    def sf(self, x: Number | Numbers) -> float | Floats:
        """Return P(X > x).

        Args:
            x: A number, or a numpy array of numbers.
        """
        return evaluate(x, lambda place: 1 - self._cdf(place))

    @overload
    def ppf(self, q: Number) -> float: ...

    @overload
    def ppf(self, q: Numbers) -> Floats: ...

    def ppf(self, q: Number | Numbers) -> float | Floats:
        """Return the smallest x with P(X ≤ x) ≥ q.

        Args:
            q: A probability from 0 to 1, or a numpy array of them.
        """
        return evaluate(q, lambda level: self._quantile(_probability(level)), self._quantiles)

    def mean(self) -> float:
        """Return the mean: 0 for all symmetric noise."""
        return 0.0

    def var(self) -> float:
        """Return the variance."""
        return as_float(self.variance())

    def std(self) -> float:
        """Return the standard deviation."""
        return as_float(power(self.variance(), Fraction(1, 2)).middle)

    def support(self) -> tuple[float, float]:
        """Return the smallest and the largest value the noise can take."""
        return -as_float(self.radius), as_float(self.radius)

    def interval(self, confidence: Number) -> tuple[float, float]:
        """Return the interval that leaves a probability of (1 − confidence)/2 on each side.

        Args:
            confidence: A probability from 0 to 1.
        """
        level = _probability(parse_rational(confidence, "confidence"))
        return (
            as_float(self._quantile((1 - level) / 2)),
            as_float(self._quantile((1 + level) / 2)),
        )

    def sampler(self) -> tuple[Scheme, Fraction, Fraction]:
        """Return a scheme, a step and an offset: index·step + offset is a sample for study.

        Raises:
            InvalidParameter: If the kind of noise has no sampler for study.
        """
        raise InvalidParameter(
            "sample() needs noise of a kind that leastnoise samples",
            got=type(self).__name__,
            fix="Define sampler() in this class.",
        )

    def sample(self, n: int) -> Floats:
        """Return independent samples for study, such as a histogram, from the system's generator.

        Lattice noise is sampled exactly. Noise on the line is sampled by the index of a cell, also
        exactly, and each sample is within half a cell of a sample of the noise itself. A cell is at
        most 2⁻³² of the standard deviation, or of the radius for ``Uniform`` and ``Steps``. The
        samples are then rounded to floats. A release does not use them: it adds exact indices.

        Args:
            n: The number of samples, an integer from 0 to 2³¹.

        Returns:
            A numpy array of ``n`` floats.

        Raises:
            InvalidParameter: If ``n`` is not an integer from 0 to 2³¹.
            EntropyFailed: If the operating system's generator fails.

        >>> from leastnoise.noise import Uniform
        >>> bool(abs(Uniform(5).sample(1000)).max() <= 5)
        True
        """
        from leastnoise.core.noise.study import sample  # numpy, on first use

        return sample(n, self.sampler())

    def sample_not_private(self, n: int, *, seed: int) -> Floats:
        """Return the same samples for the same seed, for reproducible studies only.

        Never publish data with this noise: anyone with the seed can reproduce the noise and
        subtract it. Releases do not accept a seed. The samples for a seed can differ between
        versions of leastnoise. Otherwise the same as :meth:`sample`.

        Different noise with the same seed uses the same random bits, so the samples are coupled:
        they depend on each other. Use different seeds for independent samples.

        Args:
            n: The number of samples, an integer from 0 to 2³¹.
            seed: An integer of at least 0.

        Returns:
            A numpy array of ``n`` floats.

        Raises:
            InvalidParameter: If ``n`` is not an integer from 0 to 2³¹, or ``seed`` is not one of
                at least 0.

        >>> from leastnoise.noise import DiscreteUniform
        >>> DiscreteUniform(reach=4).sample_not_private(5, seed=1).tolist()
        [-2.0, 2.0, -4.0, -2.0, -4.0]
        """
        from leastnoise.core.noise.study import sample_not_private  # numpy, on first use

        return sample_not_private(n, seed, self.sampler())

    def _repr_html_(self) -> str:
        """Show the noise in a notebook: its parameters, maximum size and spread."""
        rows = {
            "maximum size": "none" if isinstance(self.radius, float) else format_exact(self.radius),
            "standard deviation": f"{self.std():.6g}",
            "95% interval": " to ".join(f"{end:.6g}" for end in self.interval(0.95)),
        }
        return table(repr(self), rows)

    def _cdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(int(place > 0))
        return self.probability_up_to(place)

    def _quantile(self, level: Fraction) -> Fraction | float:
        """Return a quantile; unbounded noise has infinite ones at 0 and 1."""
        if level in (0, 1) and isinstance(self.radius, float):
            return self.radius if level else -self.radius
        return self.quantile(level)

    def _quantiles(self, probabilities: Floats) -> Floats:
        if ((probabilities < 0) | (probabilities > 1)).any():
            raise InvalidParameter(
                "probabilities must be between 0 and 1",
                got="an array with others",
                fix="Use probabilities within [0, 1].",
            )
        return evaluate_each(probabilities, lambda level: self._quantile(_probability(level)))


def evaluate(
    x: Number | Numbers,
    function: Callable[[Fraction | float], Fraction | float],
    of_array: Callable[[Floats], Floats] | None = None,
) -> float | Floats:
    """Apply a function to a number, or ``of_array`` to an array.

    Default for ``of_array``: apply the function to each element.
    """
    if getattr(x, "ndim", 0):
        import numpy as np

        if isinstance(x, np.ma.MaskedArray):
            raise InvalidParameter(
                "x must not be masked",
                got="a masked array",
                fix="Fill it first.",
            )
        places = np.asarray(x)
        if places.dtype.kind not in "fiu" or np.isnan(places).any():
            raise InvalidParameter(
                "x must be an array of numbers without NaN",
                got=f"one of type {places.dtype.type.__name__}",
                fix="Use floats or integers.",
            )
        floats = places.astype(np.float64)
        return evaluate_each(floats, function) if of_array is None else of_array(floats)
    if isinstance(x, float) and math.isinf(x):
        return as_float(function(x))
    if isinstance(x, list | tuple):
        raise InvalidParameter(
            "x must be a number or a numpy array",
            got=quote(x),
            fix="Convert it with numpy.asarray().",
        )
    if isinstance(x, float) and not math.isnan(x):
        return as_float(function(Fraction(x)))  # a place is the exact binary value, not a decimal
    return as_float(function(parse_rational(x, "x")))


def evaluate_each(
    places: Floats, function: Callable[[Fraction | float], Fraction | float]
) -> Floats:
    """Apply an exact function to each element of an array of floats."""
    import numpy as np

    exact = (x if math.isinf(x) else Fraction(x) for x in places.ravel().tolist())
    results = (as_float(function(x)) for x in exact)
    return np.fromiter(results, np.float64, places.size).reshape(places.shape)


def _probability(level: Fraction | float) -> Fraction:
    if isinstance(level, float) or not 0 <= level <= 1:
        raise InvalidParameter(
            "A probability must be between 0 and 1",
            got=quote(level),
            fix="Use, for example, 0.95.",
        )
    return level
