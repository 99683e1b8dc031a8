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
    interval_cells,
    layout_of,
    mechanisms_of,
)
from leastnoise.tables.answers.rounding import (
    downward,
    exact_words,
    float_below,
    float_near,
    place_for,
    printed_cell,
    printed_error,
    printed_rows,
    to_nearest,
    upward,
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
    "downward",
    "exact_words",
    "float_below",
    "float_near",
    "interval_cells",
    "layout_of",
    "mechanisms_of",
    "place_for",
    "printed_cell",
    "printed_error",
    "printed_rows",
    "to_nearest",
    "upward",
]
