"""Many mechanisms: side by side, together, planned, or the promise that an accuracy needs."""

from leastnoise.planning.accuracy import privacy_for
from leastnoise.planning.comparison import Comparison, compare
from leastnoise.planning.composing import Composition, compose
from leastnoise.planning.contender import Contender
from leastnoise.planning.plans.option import Option
from leastnoise.planning.plans.plan import Plan, plan
from leastnoise.planning.plans.wanted import Wanted

__all__ = [
    "Comparison",
    "Composition",
    "Contender",
    "Option",
    "Plan",
    "Wanted",
    "compare",
    "compose",
    "plan",
    "privacy_for",
]
