"""Exact numbers: how they are read, enclosed and printed.

Every number a guarantee rests on is a :class:`fractions.Fraction` or an integer. This package is
where numbers become exact, and the only place where irrational ones are enclosed.
"""

from leastnoise.core.exact.format import (
    format_exact,
    format_ratio,
    format_rounded,
    format_to_place,
    magnitude,
    quote,
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
    normal_quantile_series,
    normal_tail,
    pi,
    power,
    round_up,
)
from leastnoise.core.exact.interval import Interval
from leastnoise.core.exact.parse import (
    Number,
    as_float,
    exact_ratio,
    not_a_cost,
    parse_confidence,
    parse_count,
    parse_positive,
    parse_rational,
)
from leastnoise.core.exact.polynomials import normal_excess, product
from leastnoise.core.exact.series import (
    exact_power,
    falls_to,
    fixed_power,
    power_bounds,
    power_sums,
    sum_of_powers,
)

__all__ = [
    "Interval",
    "Number",
    "as_float",
    "cut_decay",
    "cut_decay_area",
    "decay",
    "decayed",
    "error_function",
    "exact_power",
    "exact_ratio",
    "exponential",
    "exponential_quantile_series",
    "falls_to",
    "fixed_power",
    "format_exact",
    "format_ratio",
    "format_rounded",
    "format_to_place",
    "gamma",
    "inverse_error_function",
    "logarithm",
    "lower_gamma",
    "magnitude",
    "normal_density",
    "normal_excess",
    "normal_quantile_series",
    "normal_tail",
    "not_a_cost",
    "parse_confidence",
    "parse_count",
    "parse_positive",
    "parse_rational",
    "pi",
    "power",
    "power_bounds",
    "power_sums",
    "product",
    "quote",
    "round_up",
    "sum_of_powers",
]
