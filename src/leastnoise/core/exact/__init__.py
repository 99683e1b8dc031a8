"""Exact numbers: rationals at the door, the lattice, rigorous enclosures, and how they print.

Every number a guarantee rests on is a :class:`fractions.Fraction` or an integer. This package is
where numbers become exact, and the only place where irrational ones are enclosed.
"""

from leastnoise.core.exact.format import (
    approximately,
    described,
    exactly,
    magnitude,
    ratio,
    to_place,
)
from leastnoise.core.exact.functions import (
    cut_decay,
    cut_decay_area,
    decay,
    decayed,
    error_function,
    exponential,
    exponential_quantile_series,
    gamma,
    inverse_error_function,
    logarithm,
    lower_gamma,
    normal_density,
    normal_quantile,
    normal_quantile_series,
    normal_tail,
    pi,
    power,
    shortened_up,
)
from leastnoise.core.exact.interval import Interval
from leastnoise.core.exact.parse import (
    Number,
    as_float,
    count,
    parse_confidence,
    positive,
    rational,
    value_ratio,
)
from leastnoise.core.exact.polynomials import normal_excess, product
from leastnoise.core.exact.series import exact_power, falls_to, fixed_power, power_sums, raised

__all__ = [
    "Interval",
    "Number",
    "approximately",
    "as_float",
    "count",
    "cut_decay",
    "cut_decay_area",
    "decay",
    "decayed",
    "described",
    "error_function",
    "exact_power",
    "exactly",
    "exponential",
    "exponential_quantile_series",
    "falls_to",
    "fixed_power",
    "gamma",
    "inverse_error_function",
    "logarithm",
    "lower_gamma",
    "magnitude",
    "normal_density",
    "normal_excess",
    "normal_quantile",
    "normal_quantile_series",
    "normal_tail",
    "parse_confidence",
    "pi",
    "positive",
    "power",
    "power_sums",
    "product",
    "raised",
    "ratio",
    "rational",
    "shortened_up",
    "to_place",
    "value_ratio",
]
