"""Conditions on rows: a closed grammar that means the same on every engine."""

from leastnoise.tables.where.condition import Comparison, Joined, Literal, Node, parse_condition
from leastnoise.tables.where.expression import check, truth

__all__ = [
    "Comparison",
    "Joined",
    "Literal",
    "Node",
    "check",
    "parse_condition",
    "truth",
]
