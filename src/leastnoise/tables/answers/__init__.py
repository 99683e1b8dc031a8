"""Answers of table queries: their layout, printing and export."""

from leastnoise.mechanism import INTERVAL, USUAL, Figure, Figures
from leastnoise.tables.answers.answer_table import AnswerTable
from leastnoise.tables.answers.document import describe
from leastnoise.tables.answers.export import Column as ExportedColumn
from leastnoise.tables.answers.export import export_columns, make_keys
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
from leastnoise.tables.answers.subject import NULL_NOTE, TEXT_NOTE, Statement, Subject, at_most
from leastnoise.tables.answers.table_exports import TableExports
from leastnoise.tables.answers.table_value import TableValue
from leastnoise.tables.answers.text import (
    format_part,
    measure,
    note_discovery,
    note_exact,
    picture_facts,
    print_cells,
)
from leastnoise.tables.rounding import format_error

__all__ = [
    "INTERVAL",
    "NONE",
    "NULL_NOTE",
    "TEXT_NOTE",
    "USUAL",
    "AnswerTable",
    "ExportedColumn",
    "Figure",
    "Figures",
    "GroupedAnswers",
    "Layout",
    "Shown",
    "Statement",
    "Subject",
    "TableAnswer",
    "TableExports",
    "TableNumber",
    "TableValue",
    "as_html",
    "as_screen",
    "as_text",
    "at_most",
    "closing_facts",
    "confidence_of_each",
    "describe",
    "exact_words",
    "export_columns",
    "format_error",
    "format_part",
    "interval_confidence",
    "keep_key_whole",
    "layout_of",
    "make_keys",
    "measure",
    "mechanisms_of",
    "note_discovery",
    "note_exact",
    "picture_facts",
    "print_cells",
    "print_interval",
    "table_guarantee",
]
