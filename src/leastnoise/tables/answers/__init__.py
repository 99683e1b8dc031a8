"""Answers of table queries: their layout, printing and export."""

from leastnoise.mechanism import INTERVAL, USUAL, Figure, Figures
from leastnoise.tables.answers.facts import Shown, as_html, as_screen, as_text, exact_words
from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.joint import JointAnswers
from leastnoise.tables.answers.layout import (
    NONE,
    Layout,
    TableAnswer,
    confidence_of_each,
    interval_confidence,
    layout_of,
    mechanisms_of,
    print_interval,
)
from leastnoise.tables.answers.number import TableNumber
from leastnoise.tables.answers.subject import TEXT_NOTE, Statement, Subject, at_most
from leastnoise.tables.answers.table_value import TableValue
from leastnoise.tables.answers.text import format_part, picture_facts
from leastnoise.tables.rounding import format_error

__all__ = [
    "INTERVAL",
    "NONE",
    "TEXT_NOTE",
    "USUAL",
    "Figure",
    "Figures",
    "GroupedAnswers",
    "JointAnswers",
    "Layout",
    "Shown",
    "Statement",
    "Subject",
    "TableAnswer",
    "TableNumber",
    "TableValue",
    "as_html",
    "as_screen",
    "as_text",
    "at_most",
    "confidence_of_each",
    "exact_words",
    "format_error",
    "format_part",
    "interval_confidence",
    "layout_of",
    "mechanisms_of",
    "picture_facts",
    "print_interval",
]
