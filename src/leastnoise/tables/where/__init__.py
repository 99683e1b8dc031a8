"""Conditions and column expressions: closed grammars that mean the same on every engine."""

from leastnoise.tables.where.builder import ColumnExpression, col
from leastnoise.tables.where.comparable import align
from leastnoise.tables.where.condition import bind_parameters, check_node, parse_condition
from leastnoise.tables.where.expression import check, truth
from leastnoise.tables.where.literals import Parameters
from leastnoise.tables.where.nodes import (
    Column,
    Comparison,
    Joined,
    Literal,
    Node,
    Not,
    Value,
    columns_of,
    comparisons,
)
from leastnoise.tables.where.operands import parse_expression, parse_params
from leastnoise.tables.where.values import build_value, find_kind

__all__ = [
    "Column",
    "ColumnExpression",
    "Comparison",
    "Joined",
    "Literal",
    "Node",
    "Not",
    "Parameters",
    "Value",
    "align",
    "bind_parameters",
    "build_value",
    "check",
    "check_node",
    "col",
    "columns_of",
    "comparisons",
    "find_kind",
    "parse_condition",
    "parse_expression",
    "parse_params",
    "truth",
]
