"""Table queries: one file each, from the arguments to the answer."""

from leastnoise.tables.queries.count import Count
from leastnoise.tables.queries.histogram import Histogram
from leastnoise.tables.queries.mean import Mean, MeanAnswer
from leastnoise.tables.queries.quantile import Quantile, QuantileAnswer
from leastnoise.tables.queries.query import (
    Query,
    Rows,
    Unit,
    check_groupable,
    check_numeric,
)
from leastnoise.tables.queries.question import (
    AddNoise,
    BoundedQuestion,
    Question,
    Result,
    build_query,
    make_title,
)
from leastnoise.tables.queries.sum import Sum

__all__ = [
    "AddNoise",
    "BoundedQuestion",
    "Count",
    "Histogram",
    "Mean",
    "MeanAnswer",
    "Quantile",
    "QuantileAnswer",
    "Query",
    "Question",
    "Result",
    "Rows",
    "Sum",
    "Unit",
    "build_query",
    "check_groupable",
    "check_numeric",
    "make_title",
]
