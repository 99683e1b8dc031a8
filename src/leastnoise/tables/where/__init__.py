"""Conditions on rows: a closed grammar that means the same on every engine."""

from leastnoise.tables.where.expression import check, truth
from leastnoise.tables.where.nodes import Comparison, Literal, Node
from leastnoise.tables.where.parse import parse_condition

__all__ = [
    "Comparison",
    "Literal",
    "Node",
    "check",
    "parse_condition",
    "truth",
]
