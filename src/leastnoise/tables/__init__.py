"""Questions about tables of people: asked of an engine, answered with the least noise."""

from leastnoise.tables.answers import (
    GroupedAnswers,
    MeanAnswer,
    QuantileAnswer,
    columns_of,
    figures_of,
    mechanisms_of,
)
from leastnoise.tables.census import census
from leastnoise.tables.protected import Protected, protect
from leastnoise.tables.questions import Count, Histogram, Mean, Quantile, Question, Sum
from leastnoise.tables.release import Explanation

__all__ = [
    "Count",
    "Explanation",
    "GroupedAnswers",
    "Histogram",
    "Mean",
    "MeanAnswer",
    "Protected",
    "Quantile",
    "QuantileAnswer",
    "Question",
    "Sum",
    "census",
    "columns_of",
    "figures_of",
    "mechanisms_of",
    "protect",
]
