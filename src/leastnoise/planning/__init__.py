"""Compare mechanisms, plan several answers, find the guarantee that an accuracy needs."""

from leastnoise.planning.accuracy import privacy_for
from leastnoise.planning.closed_forms import closed_cost
from leastnoise.planning.comparison import Comparison, Contender, compare
from leastnoise.planning.options import Option
from leastnoise.planning.plans import Plan, plan
from leastnoise.planning.wanted import Wanted

__all__ = [
    "Comparison",
    "Contender",
    "Option",
    "Plan",
    "Wanted",
    "closed_cost",
    "compare",
    "plan",
    "privacy_for",
]
