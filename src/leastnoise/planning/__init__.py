"""Compare noise, plan several answers, and find the guarantee that an accuracy needs."""

from leastnoise.deprecation import renamed_names
from leastnoise.planning.accuracy import privacy_for
from leastnoise.planning.closed_forms import closed_cost
from leastnoise.planning.comparison import Comparison, Contender, compare
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import Option
from leastnoise.planning.plans import Plan, plan

__all__ = [
    "Comparison",
    "Contender",
    "NumericQuery",
    "Option",
    "Plan",
    "closed_cost",
    "compare",
    "plan",
    "privacy_for",
]

__getattr__ = renamed_names(__name__, {"Wanted": "leastnoise.planning:NumericQuery"})
