"""Conditions on rows: a closed grammar that means the same on every engine."""

from leastnoise.tables.where.expression import truth
from leastnoise.tables.where.nodes import Comparison, Literal, Missing
from leastnoise.tables.where.parse import Condition, parse_condition

__all__ = [
    "Comparison",
    "Condition",
    "Literal",
    "Missing",
    "parse_condition",
    "truth",
]
