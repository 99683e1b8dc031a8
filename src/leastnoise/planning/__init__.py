"""Compare noise, plan several answers, and find the guarantee that an accuracy needs."""

from leastnoise.deprecation import renamed_names
from leastnoise.planning.accuracy import privacy_for
from leastnoise.planning.advice import (
    PayOff,
    describe_accounting,
    errors_of_counts,
    gaussian_pays_off_from,
)
from leastnoise.planning.closed_forms import closed_cost
from leastnoise.planning.comparison import Comparison, compare
from leastnoise.planning.contender import Contender
from leastnoise.planning.gaussian_noise import build_gaussian, build_truncated_laplace, find_end
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import Option
from leastnoise.planning.plans import Plan, plan

__all__ = [
    "Comparison",
    "Contender",
    "NumericQuery",
    "Option",
    "PayOff",
    "Plan",
    "build_gaussian",
    "build_truncated_laplace",
    "closed_cost",
    "compare",
    "describe_accounting",
    "errors_of_counts",
    "find_end",
    "gaussian_pays_off_from",
    "plan",
    "privacy_for",
]

__getattr__ = renamed_names(__name__, {"Wanted": "leastnoise.planning:NumericQuery"})
