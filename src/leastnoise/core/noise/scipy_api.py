"""What noise is asked under scipy's names: in floats, for people, not for guarantees."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from leastnoise.core.exact import as_float, format_exact, parse_rational, power, quote
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import table


class ScipyMethods(ABC):
    """scipy's calls ``cdf sf ppf mean var std support interval``, from four exact ones.

    Everything is computed in exact rationals and rounded once, arrays element by element.
    """

    @abstractmethod
    def mass(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto): exactly, except for noise that is irrational."""

    @abstractmethod
    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest x with P(X ≤ x) ≥ probability (0: the support's start).

        Exactly, except for noise that is irrational. Unbounded noise has none at 0 and 1 and
        rejects them.
        """

    @abstractmethod
    def variance(self) -> Fraction:
        """Return the variance: exact where it is rational, else a proved upper bound."""

    @property
    @abstractmethod
    def radius(self) -> Fraction | float:
        """The maximum size of this noise: a Fraction, or ``math.inf`` if it is unbounded."""

    def cdf(self, x: Any) -> Any:
        """Return P(X ≤ x)."""
        return evaluate(x, self._cdf)

    def sf(self, x: Any) -> Any:
        """Return P(X > x)."""
        return evaluate(x, lambda place: 1 - self._cdf(place))

    def ppf(self, q: Any) -> Any:
        """Return the smallest x with P(X ≤ x) ≥ q, for 0 ≤ q ≤ 1."""
        return evaluate(q, lambda level: self._quantile(_probability(level)), self._checked)

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

    def interval(self, confidence: Any) -> tuple[float, float]:
        """Return the interval about 0 that leaves (1 − confidence)/2 on each side."""
        level = _probability(parse_rational(confidence, "confidence"))
        return (
            as_float(self._quantile((1 - level) / 2)),
            as_float(self._quantile((1 + level) / 2)),
        )

    def _repr_html_(self) -> str:
        """Show the noise in a notebook: what it is, its maximum size, its spread."""
        rows = {
            "largest size": "none" if isinstance(self.radius, float) else format_exact(self.radius),
            "standard deviation": f"{self.std():.6g}",
            "95 % within": " … ".join(f"{end:.6g}" for end in self.interval(0.95)),
        }
        return table(repr(self), rows)

    def _cdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(int(place > 0))
        return self.mass(place)

    def _quantile(self, level: Fraction) -> Fraction | float:
        """Return a quantile; unbounded noise has infinite ones at 0 and 1."""
        if level in (0, 1) and isinstance(self.radius, float):
            return self.radius if level else -self.radius
        return self.quantile(level)

    def _checked(self, probabilities: Any) -> Any:
        if ((probabilities < 0) | (probabilities > 1)).any():
            raise InvalidParameter(
                "probabilities must be between 0 and 1",
                got="an array with others",
                fix="Use probabilities within [0, 1].",
            )
        return evaluate_each(probabilities, self._quantile)


def evaluate(
    x: Any, one: Callable[[Any], Fraction | float], many: Callable[[Any], Any] | None = None
) -> Any:
    """Apply ``one`` to a number, or ``many`` to an array; by default ``one`` to each element."""
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
        return evaluate_each(floats, one) if many is None else many(floats)
    if isinstance(x, float) and math.isinf(x):
        return as_float(one(x))
    if isinstance(x, list | tuple):
        raise InvalidParameter(
            "x must be a number or a numpy array",
            got=quote(x),
            fix="Convert it with numpy.asarray().",
        )
    if isinstance(x, float) and not math.isnan(x):
        return as_float(one(Fraction(x)))  # a place on the line is the binary number itself
    return as_float(one(parse_rational(x, "a place")))


def evaluate_each(places: Any, one: Callable[[Any], Fraction | float]) -> Any:
    """Apply an exact function to each element of an array of floats."""
    import numpy as np

    exact = (x if math.isinf(x) else Fraction(x) for x in places.ravel().tolist())
    results = (as_float(one(x)) for x in exact)
    return np.fromiter(results, np.float64, places.size).reshape(places.shape)


def _probability(level: Fraction | float) -> Fraction:
    if isinstance(level, float) or not 0 <= level <= 1:
        raise InvalidParameter(
            "a probability must be between 0 and 1",
            got=quote(level),
            fix="Use for example 0.95.",
        )
    return level
