"""Answers of table queries: their layout, printing and export."""

from leastnoise.mechanism import INTERVAL, USUAL, Figure, Figures
from leastnoise.tables.answers.facts import Shown, as_html, as_screen, as_text, exact_words
from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.layout import (
    NONE,
    Layout,
    TableAnswer,
    confidence_of_each,
    layout_of,
    mechanisms_of,
    print_interval,
)
from leastnoise.tables.answers.number import TableNumber
from leastnoise.tables.answers.subject import TEXT_NOTE, Statement, Subject, at_most
from leastnoise.tables.answers.table_value import TableValue

__all__ = [
    "INTERVAL",
    "NONE",
    "TEXT_NOTE",
    "USUAL",
    "Figure",
    "Figures",
    "GroupedAnswers",
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
    "layout_of",
    "mechanisms_of",
    "print_interval",
]
