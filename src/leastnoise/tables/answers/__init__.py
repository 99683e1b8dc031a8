"""Answers of table queries: their layout, printing and export."""

from leastnoise.tables.answers.export import Column as ExportedColumn
from leastnoise.tables.answers.export import describe_answers, export_columns, make_keys
from leastnoise.tables.answers.facts import (
    Shown,
    as_html,
    as_screen,
    as_text,
    closing_facts,
    exact_words,
    keep_key_whole,
    table_guarantee,
)
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
from leastnoise.tables.answers.subject import TEXT_NOTE, Statement, Subject, at_most
from leastnoise.tables.answers.text import format_part, measure, note_exact, print_cells

__all__ = [
    "INTERVAL",
    "NONE",
    "TEXT_NOTE",
    "USUAL",
    "ExportedColumn",
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
    "closing_facts",
    "confidence_of_each",
    "describe_answers",
    "exact_words",
    "export_columns",
    "format_part",
    "keep_key_whole",
    "layout_of",
    "make_keys",
    "measure",
    "mechanisms_of",
    "note_exact",
    "print_cells",
    "print_interval",
    "table_guarantee",
]
