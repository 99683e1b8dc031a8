"""The answers of tables: laid out, printed and exported."""

from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.layout import (
    INTERVAL,
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    Ratio,
    TableAnswer,
    confidence_of_each,
    interval_cells,
    layout_of,
    mechanisms_of,
)

__all__ = [
    "INTERVAL",
    "NONE",
    "USUAL",
    "Figure",
    "Figures",
    "GroupedAnswers",
    "Layout",
    "Ratio",
    "TableAnswer",
    "confidence_of_each",
    "interval_cells",
    "layout_of",
    "mechanisms_of",
]
