"""Questions about tables of people: asked of an engine, answered with the least noise."""

from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.mean import MeanAnswer
from leastnoise.tables.answers.quantile import QuantileAnswer
from leastnoise.tables.census import census
from leastnoise.tables.explanation import Explanation
from leastnoise.tables.protect import Protected, protect
from leastnoise.tables.questions import Count, Histogram, Mean, Quantile, Question, Sum

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
    "protect",
]
