"""An answer table as plain text and as HTML: a row for each group, two columns for each query."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from leastnoise.rendering import Fact, align_columns, fact_lines, printable, sentences
from leastnoise.tables.answers.facts import closing_facts, keep_key_whole, table_guarantee
from leastnoise.tables.answers.layout import NONE, TableAnswer
from leastnoise.tables.answers.text import (
    measure,
    note_discovery,
    note_exact,
    note_more,
    print_cells,
)
from leastnoise.tables.rounding import format_error

if TYPE_CHECKING:
    from leastnoise.tables.answers.answer_table import AnswerTable
    from leastnoise.tables.answers.grouped import GroupedAnswers

_SCREEN = 80
# The columns of one query: the value and its interval.
_OWN = 2
_Column = list[str]


def as_text(answers: "AnswerTable") -> str:
    """Return the table in aligned columns, side by side as the screen permits; then the facts."""
    parts = []
    if answers.tables:
        lines = []
        for table in answers.tables:
            lines += sentences(printable(table.subject.heading))
        keys = _key_columns(answers)
        for block in _divide(keys, [_own_columns(*each) for each in _label(answers)]):
            lines += ["", *_align(len(answers.names), [*keys, *block])]
        lines += note_more(answers.tables[0])
        known = fact_lines(keep_key_whole(_list_facts(answers)))
        parts.append("\n".join([*lines, "", *known]))
    return "\n\n".join([*parts, *map(str, answers.others)])


def as_html(answers: "AnswerTable") -> str:
    """Return the same as HTML; all text is escaped."""
    parts = []
    if answers.tables:
        columns = [*_key_columns(answers)]
        for each in _label(answers):
            columns += _own_columns(*each)
        caption = "; ".join(printable(table.subject.heading) for table in answers.tables)
        head, *body = zip(*columns, strict=True)
        lines = _format_line(head, "th") + "".join(_format_line(line, "td") for line in body)
        parts.append(f"<table><caption>{escape(caption)}</caption>{lines}</table>")
        parts += [f"<div>{escape(line)}</div>" for line in note_more(answers.tables[0])]
        facts = "".join(
            f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(text)}</td></tr>"
            for label, text in _list_facts(answers)
        )
        parts.append(f"<table>{facts}</table>")
    parts += [f"<pre>{escape(str(other))}</pre>" for other in answers.others]
    return "".join(parts)


def _format_line(line: Sequence[str], tag: str) -> str:
    cells = (
        f"<{tag} style='text-align:left;white-space:pre'>{escape(cell)}</{tag}>" for cell in line
    )
    return f"<tr>{''.join(cells)}</tr>"


def _label(answers: "AnswerTable") -> list[tuple[str, "GroupedAnswers[TableAnswer]"]]:
    return list(zip(answers.labels, answers.tables, strict=True))


def _key_columns(answers: "AnswerTable") -> list[_Column]:
    cells, _ = print_cells(answers.tables[0])
    return [[line[i] for line in cells] for i in range(len(answers.names))]


def _own_columns(label: str, table: "GroupedAnswers[TableAnswer]") -> list[_Column]:
    """Return the value and the interval of a query, the first columns after the keys."""
    cells, _ = print_cells(table)
    first = len(table.names)
    (_, *values), *rest = ([line[i] for line in cells] for i in range(first, first + _OWN))
    return [[printable(label), *values], *rest]


def _divide(keys: Sequence[_Column], queries: Sequence[list[_Column]]) -> list[list[_Column]]:
    """Return the columns of each block that fits the screen; a block has at least one query."""

    def width(columns: Sequence[_Column]) -> int:
        return sum(2 + max(map(measure, column)) for column in columns)

    blocks: list[list[_Column]] = []
    for own in queries:
        if blocks and width([*keys, *blocks[-1], *own]) - 2 <= _SCREEN:
            blocks[-1] += own
        else:
            blocks.append([*own])
    return blocks


def _align(keys: int, columns: Sequence[_Column]) -> list[str]:
    if len(columns[0]) == 1:
        return ["no group"]
    left = [*range(keys), *range(keys + 1, len(columns), _OWN)]
    return align_columns([list(row) for row in zip(*columns, strict=True)], left, measure)


def _list_facts(answers: "AnswerTable") -> list[Fact]:
    """Return the facts about the table: errors of each column, guarantee and the closing facts."""
    errors = [(label, _max_error(table)) for label, table in _label(answers)]
    facts: list[Fact] = []
    if len(answers.tables[0]):
        words = "; ".join(f"{printable(label)} {error}" for label, error in errors)
        facts.append(("Max error", words))
    facts.append(("Guarantee", table_guarantee(answers)))
    exact = (fact for table in answers.tables for fact in note_exact(table))
    facts += dict.fromkeys(exact)
    known = NONE if any(error == NONE for _, error in errors) else None
    discovered = [table for table in answers.tables if table.discovered]
    notes = note_discovery(discovered[0], known, "row", answers.subject) if discovered else []
    return [*facts, *closing_facts(answers), *notes]


def _max_error(table: "GroupedAnswers[TableAnswer]") -> str:
    """Print the maximum error of all rows that are printed."""
    cells, error = print_cells(table)
    if error is not None:
        return error
    shown = islice((answer.max_error for answer in table.answers), len(cells) - 1)
    largest = max((each for each in shown if isinstance(each, Fraction)), default=None)
    return NONE if largest is None else format_error(largest)
