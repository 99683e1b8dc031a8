"""What a noise tells in floats, under the names that scipy uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import as_float, format_exact, parse_rational, power, quote
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import table

if TYPE_CHECKING:
    from leastnoise.core.noise.base import Noise


def noise_cdf(law: Noise, x: Any) -> Any:
    """Return P(X ≤ x)."""
    return evaluate(x, law._cdf, law._masses)


def noise_sf(law: Noise, x: Any) -> Any:
    """Return P(X > x)."""
    return evaluate(x, lambda place: 1 - law._cdf(place), lambda places: 1 - law._masses(places))


def noise_ppf(law: Noise, q: Any) -> Any:
    """Return the smallest x with P(X ≤ x) ≥ q, for 0 ≤ q ≤ 1."""
    return evaluate(q, lambda level: law._quantile(_probability(level)), law._checked_quantiles)


def noise_mean(_law: Noise) -> float:
    """Return the mean: 0 for every noise that is symmetric."""
    return 0.0


def noise_var(law: Noise) -> float:
    """Return the variance."""
    return as_float(law.variance())


def noise_std(law: Noise) -> float:
    """Return the standard deviation."""
    return as_float(power(law.variance(), Fraction(1, 2)).middle)


def noise_support(law: Noise) -> tuple[float, float]:
    """Return the smallest and the largest value the noise can take."""
    return -as_float(law.radius), as_float(law.radius)


def noise_interval(law: Noise, confidence: Any) -> tuple[float, float]:
    """Return the interval about 0 that leaves (1 − confidence)/2 on each side."""
    level = _probability(parse_rational(confidence, "confidence"))
    return (
        as_float(law._quantile((1 - level) / 2)),
        as_float(law._quantile((1 + level) / 2)),
    )


def _noise_repr_html(law: Noise) -> str:
    """Show the law in a notebook: what it is, how far it reaches, its spread."""
    rows = {
        "largest size": "none" if isinstance(law.radius, float) else format_exact(law.radius),
        "standard deviation": f"{law.std():.6g}",
        "95 % within": " … ".join(f"{end:.6g}" for end in law.interval(0.95)),
    }
    return table(repr(law), rows)


def _noise_each(_law: Noise, places: Any, one: Callable[[Any], Fraction | float]) -> Any:
    """Apply an exact function to each element of an array of floats."""
    import numpy as np

    exact = (x if math.isinf(x) else Fraction(x) for x in places.ravel().tolist())
    results = (as_float(one(x)) for x in exact)
    return np.fromiter(results, np.float64, places.size).reshape(places.shape)


def _noise_cdf(law: Noise, place: Fraction | float) -> Fraction:
    if isinstance(place, float):  # only infinities arrive as floats
        return Fraction(int(place > 0))
    return law.mass(place)


def _noise_quantile(law: Noise, level: Fraction) -> Fraction | float:
    """Return a quantile; noise without a largest size has infinite ones at 0 and 1."""
    if level in (0, 1) and isinstance(law.radius, float):
        return law.radius if level else -law.radius
    return law.quantile(level)


def _noise_checked_quantiles(law: Noise, probabilities: Any) -> Any:
    if ((probabilities < 0) | (probabilities > 1)).any():
        raise InvalidParameter(
            "a probability must lie between 0 and 1; got an array with one outside. "
            "Give levels within [0, 1]."
        )
    return law._quantiles(probabilities)


def evaluate(
    x: Any,
    one: Callable[[Any], Fraction | float],
    many: Callable[[Any], Any],
) -> Any:
    """Apply ``one`` to a number, exactly, or ``many`` to a numpy array of them, in floats."""
    if getattr(x, "ndim", 0):
        import numpy as np

        if isinstance(x, np.ma.MaskedArray):
            raise InvalidParameter(
                "an array of places must not be masked; got a masked array. Fill it first."
            )
        places = np.asarray(x)
        if places.dtype.kind not in "fiu" or np.isnan(places).any():
            raise InvalidParameter(
                "an array of places must hold numbers and no NaN; "
                f"got one of type {places.dtype.type.__name__}. Give floats or integers."
            )
        return many(places.astype(np.float64))
    if isinstance(x, float) and math.isinf(x):
        return as_float(one(x))
    if isinstance(x, list | tuple):
        raise InvalidParameter(
            f"a place must be a number or a numpy array; got {quote(x)}. Wrap it in numpy.asarray."
        )
    return as_float(one(_place(x)))


def _place(x: Any) -> Fraction:
    if isinstance(x, float) and math.isfinite(x):
        return Fraction(x)  # a place on the line is the binary number itself
    return parse_rational(x, "a place")


def _probability(level: Fraction | float) -> Fraction:
    if isinstance(level, float) or not 0 <= level <= 1:
        raise InvalidParameter(
            f"a probability must lie between 0 and 1; got {quote(level)}. Give for instance 0.95."
        )
    return level
