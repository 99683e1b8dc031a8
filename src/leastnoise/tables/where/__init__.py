"""Which rows count: a closed grammar, read and never evaluated, the same on every engine."""

from leastnoise.tables.where.expression import truth
from leastnoise.tables.where.nodes import Comparison, Literal, Missing
from leastnoise.tables.where.parse import Condition, parsed

__all__ = [
    "Comparison",
    "Condition",
    "Literal",
    "Missing",
    "parsed",
    "truth",
]
