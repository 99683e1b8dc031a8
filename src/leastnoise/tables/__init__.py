"""Differentially private queries about tables.

Names are loaded on first use, so that the help of a command loads the registration only.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from leastnoise.deprecation import renamed_names

if TYPE_CHECKING:
    from leastnoise.tables.answering import Amounts
    from leastnoise.tables.answers import (
        AnswerTable,
        GroupedAnswers,
        TableAnswer,
        TableNumber,
        TableValue,
        as_screen,
        format_error,
        format_part,
        interval_confidence,
        layout_of,
        mechanisms_of,
        picture_facts,
    )
    from leastnoise.tables.card import (
        Card,
        check_given,
        create_ledger,
        find_lines,
        open_table,
        read_card,
        summarize,
        write_skeleton,
    )
    from leastnoise.tables.explanation import Explanation
    from leastnoise.tables.protect_table import protect
    from leastnoise.tables.protected import ProtectedTable
    from leastnoise.tables.queries.bounds_answer import BoundsAnswer
    from leastnoise.tables.queries.clipped_share import ClippedShare
    from leastnoise.tables.queries.count import Count
    from leastnoise.tables.queries.estimate_bounds import EstimateBounds
    from leastnoise.tables.queries.extreme import Max, Min
    from leastnoise.tables.queries.extreme_answer import ExtremeAnswer
    from leastnoise.tables.queries.histogram import Histogram
    from leastnoise.tables.queries.mean import Mean
    from leastnoise.tables.queries.mean_answer import MeanAnswer
    from leastnoise.tables.queries.quantile import Quantile
    from leastnoise.tables.queries.quantile_answer import IntervalQuantileAnswer, QuantileAnswer
    from leastnoise.tables.queries.query import Query
    from leastnoise.tables.queries.sum import Sum
    from leastnoise.tables.queries.variance import Std, Variance
    from leastnoise.tables.queries.variance_answer import StdAnswer, VarianceAnswer
    from leastnoise.tables.registration import QUERIES, QueryMethods, register
    from leastnoise.tables.release import TableResult
    from leastnoise.tables.sources import census
    from leastnoise.tables.spending_limit import share_to_json
    from leastnoise.tables.sql import SelectAnswers, read_select
    from leastnoise.tables.table_query import Argument, TableQuery
    from leastnoise.tables.where import bind_parameters, col, parse_params

__all__ = [
    "QUERIES",
    "Amounts",
    "AnswerTable",
    "Argument",
    "BoundsAnswer",
    "Card",
    "ClippedShare",
    "Count",
    "EstimateBounds",
    "Explanation",
    "ExtremeAnswer",
    "GroupedAnswers",
    "Histogram",
    "IntervalQuantileAnswer",
    "Max",
    "Mean",
    "MeanAnswer",
    "Min",
    "ProtectedTable",
    "Quantile",
    "QuantileAnswer",
    "Query",
    "QueryMethods",
    "SelectAnswers",
    "Std",
    "StdAnswer",
    "Sum",
    "TableAnswer",
    "TableNumber",
    "TableQuery",
    "TableResult",
    "TableValue",
    "Variance",
    "VarianceAnswer",
    "as_screen",
    "bind_parameters",
    "census",
    "check_given",
    "col",
    "create_ledger",
    "find_lines",
    "format_error",
    "format_part",
    "interval_confidence",
    "layout_of",
    "mechanisms_of",
    "open_table",
    "parse_params",
    "picture_facts",
    "protect",
    "read_card",
    "read_select",
    "register",
    "share_to_json",
    "summarize",
    "write_skeleton",
]

# The modules of the other names. Those that import the least come first.
_HOMES = (
    *(
        "registration",
        "table_query",
        "where",
        "sources",
        "spending_limit",
        "answers",
        "queries.query",
        "queries.mean_answer",
        "queries.variance_answer",
        "queries.extreme_answer",
        "queries.bounds_answer",
    ),
    *(
        "queries.quantile_answer",
        "explanation",
        "sql",
        "answering",
        "release",
        "protected",
        "protect_table",
        "card",
    ),
)
_RENAMED = {
    "Protected": "leastnoise.tables:ProtectedTable",
    "Question": "leastnoise.tables:Query",
}


def __getattr__(name: str) -> object:
    """Load the class of a registered query, or another public name from its home."""
    if not name.startswith("_"):
        from leastnoise.tables.registration import QUERIES

        for query in QUERIES.values():
            if query.class_name == name:
                return query.load()
    if name in __all__:
        homes = (import_module(f"leastnoise.tables.{home}") for home in _HOMES)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    return renamed_names(__name__, _RENAMED)(name)


def __dir__() -> list[str]:
    return __all__
