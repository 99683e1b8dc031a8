"""Exact numbers: rationals at the door, the lattice, rigorous enclosures, and how they print.

Every number a guarantee rests on is a :class:`fractions.Fraction` or an integer. This package is
where numbers become exact, and the only place where irrational ones are enclosed.
"""

from leastnoise.exact.door import Number, as_float, count, positive, rational, value_ratio
from leastnoise.exact.enclosures import exponential, power, shortened_up
from leastnoise.exact.functions import (
    cut_decay,
    cut_decay_area,
    decay,
    decayed,
    error_function,
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
)
from leastnoise.exact.grid import FloatRounding, Grid
from leastnoise.exact.interval import Interval
from leastnoise.exact.text import approximately, described, exactly, magnitude, ratio, to_place

__all__ = [
    "FloatRounding",
    "Grid",
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
    "exactly",
    "exponential",
    "exponential_quantile_series",
    "gamma",
    "inverse_error_function",
    "logarithm",
    "lower_gamma",
    "magnitude",
    "normal_density",
    "normal_quantile",
    "normal_quantile_series",
    "normal_tail",
    "pi",
    "positive",
    "power",
    "ratio",
    "rational",
    "shortened_up",
    "to_place",
    "value_ratio",
]
