"""What comes back: tables of answers, means and quantiles; printed and written to files."""

from leastnoise.tables.answers.figures import columns_of, figures_of, mechanisms_of
from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.mean import MeanAnswer
from leastnoise.tables.answers.quantile import QuantileAnswer

__all__ = [
    "GroupedAnswers",
    "MeanAnswer",
    "QuantileAnswer",
    "columns_of",
    "figures_of",
    "mechanisms_of",
]
