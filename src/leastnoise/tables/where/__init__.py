"""Conditions and column expressions: closed grammars that mean the same on every engine."""

from leastnoise.tables.where.builder import ColumnExpression, col
from leastnoise.tables.where.comparable import align
from leastnoise.tables.where.condition import bind_parameters, check_node, parse_condition
from leastnoise.tables.where.expression import check, truth
from leastnoise.tables.where.literals import GivenParameters, Parameters, to_literal
from leastnoise.tables.where.nodes import (
    OPPOSITES,
    Arithmetic,
    Column,
    Comparison,
    Joined,
    Literal,
    Node,
    Not,
    Part,
    Value,
    columns_of,
    comparisons,
    join_nodes,
)
from leastnoise.tables.where.operands import parse_expression, parse_params
from leastnoise.tables.where.patterns import check_pattern
from leastnoise.tables.where.tokens import read_number
from leastnoise.tables.where.values import build_value, find_kind

__all__ = [
    "OPPOSITES",
    "Arithmetic",
    "Column",
    "ColumnExpression",
    "Comparison",
    "GivenParameters",
    "Joined",
    "Literal",
    "Node",
    "Not",
    "Parameters",
    "Part",
    "Value",
    "align",
    "bind_parameters",
    "build_value",
    "check",
    "check_node",
    "check_pattern",
    "col",
    "columns_of",
    "comparisons",
    "find_kind",
    "join_nodes",
    "parse_condition",
    "parse_expression",
    "parse_params",
    "read_number",
    "to_literal",
    "truth",
]
