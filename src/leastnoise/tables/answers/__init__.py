"""Answers of table queries: their layout, printing and export."""

from leastnoise.tables.answers.facts import Shown, as_html, as_screen, as_text, exact_words
from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.layout import (
    INTERVAL,
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    TableAnswer,
    confidence_of_each,
    layout_of,
    mechanisms_of,
    print_interval,
)
from leastnoise.tables.answers.number import TableNumber
from leastnoise.tables.answers.subject import NULL_NOTE, TEXT_NOTE, Statement, Subject, at_most

__all__ = [
    "INTERVAL",
    "NONE",
    "NULL_NOTE",
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
