"""Table queries: asked of an engine, answered with noise.

Names are loaded on first use, so that the help of a command loads the registration alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leastnoise.tables.answers import GroupedAnswers, as_screen, layout_of, mechanisms_of
    from leastnoise.tables.protected import Protected, protect
    from leastnoise.tables.queries.count import Count
    from leastnoise.tables.queries.histogram import Histogram
    from leastnoise.tables.queries.mean import Mean, MeanAnswer
    from leastnoise.tables.queries.quantile import Quantile
    from leastnoise.tables.queries.quantile_answer import IntervalQuantileAnswer, QuantileAnswer
    from leastnoise.tables.queries.question import Question
    from leastnoise.tables.queries.sum import Sum
    from leastnoise.tables.registration import QUERIES, Argument, QueryMethods, TableQuery, register
    from leastnoise.tables.release import Explanation
    from leastnoise.tables.sources import census

__all__ = [
    "QUERIES",
    "Argument",
    "Count",
    "Explanation",
    "GroupedAnswers",
    "Histogram",
    "IntervalQuantileAnswer",
    "Mean",
    "MeanAnswer",
    "Protected",
    "Quantile",
    "QuantileAnswer",
    "QueryMethods",
    "Question",
    "Sum",
    "TableQuery",
    "as_screen",
    "census",
    "layout_of",
    "mechanisms_of",
    "protect",
    "register",
]

# Where the other names are, those that load the least first.
_HOMES = (
    *("registration", "sources", "answers", "queries.question", "queries.mean"),
    *("queries.quantile", "queries.quantile_answer", "release", "protected"),
)


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
    raise AttributeError(f"module 'leastnoise.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
