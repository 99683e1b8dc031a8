"""Answers by group as plain text and as HTML. Intervals are rounded outward, errors up."""

import unicodedata
from decimal import ROUND_CEILING
from html import escape
from typing import TYPE_CHECKING

from leastnoise.core.exact import format_rounded
from leastnoise.mechanism import Figures
from leastnoise.rendering import Fact, align_columns, fact_lines, printable, sentences
from leastnoise.tables.answers.facts import (
    closing_facts,
    facts,
    keep_key_whole,
    max_error_fact,
    reused_advice,
    table_guarantee,
)
from leastnoise.tables.answers.layout import NONE, TableAnswer, layout_of
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.keys import Part
from leastnoise.tables.rounding import format_error

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

_SHOWN = 20
_LONGEST = 40
_OF_LEDGER = ("Budget", "Key")
# Keys that differ only in spaces must look different, so spaces are preserved.
_LEFT, _RIGHT = "text-align:left;white-space:pre", "text-align:right"


def as_text(answers: "GroupedAnswers[TableAnswer]", *, ledger: str = "") -> str:
    """Return the first groups in aligned columns, then the facts about all groups."""
    lines = [*sentences(printable(answers.subject.heading)), ""]
    cells, errors = print_cells(answers)
    columns = len(answers.names)
    left = [*range(columns), columns + 1]  # keys and intervals
    lines += align_columns(cells, left, measure) if len(answers) else ["no group"]
    known = fact_lines(keep_key_whole(_make_facts(answers, errors, ledger=ledger)))
    return "\n".join([*lines, *note_more(answers), "", *known])


def as_html(answers: "GroupedAnswers[TableAnswer]") -> str:
    """Return the same as HTML; all text is escaped."""
    columns = len(answers.names)
    (head, *body), errors = print_cells(answers)
    lines = _format_line(head, "th", columns) + "".join(
        _format_line(line, "td", columns) for line in body
    )
    more = "".join(f"<div>{escape(line)}</div>" for line in note_more(answers))
    known = "".join(
        f"<tr><th style='{_LEFT}'>{escape(label)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for label, text in _make_facts(answers, errors)
    )
    title = escape(printable(answers.subject.heading))
    return f"<table><caption>{title}</caption>{lines}</table>{more}<table>{known}</table>"


def picture_facts(answers: "GroupedAnswers[TableAnswer] | TableAnswer") -> list[Fact]:
    """Return the facts to state below a picture: all but the entry in the ledger and its advice."""
    from leastnoise.tables.answers.grouped import GroupedAnswers

    if isinstance(answers, GroupedAnswers):
        _, errors = print_cells(answers)
        known = _make_facts(answers, errors, each="group")
    else:
        known = facts(answers, answers.result())
    advice = reused_advice(answers)
    return [fact for fact in known if fact[0] not in _OF_LEDGER and fact not in advice]


def _format_line(line: list[str], tag: str, keys: int) -> str:
    """Return a table row of HTML, with keys and intervals to the left and figures to the right."""
    cells = (
        f"<{tag} style='{_LEFT if i < keys or i == keys + 1 else _RIGHT}'>{escape(cell)}</{tag}>"
        for i, cell in enumerate(line)
    )
    return f"<tr>{''.join(cells)}</tr>"


def print_cells(answers: "GroupedAnswers[TableAnswer]") -> tuple[list[list[str]], str | None]:
    """Return the header and a row for each of the first groups, and their common maximum error.

    If the maximum errors differ, they are a column, and the common maximum error is None.
    """
    first = answers.answers[:_SHOWN]
    layout = layout_of(first)
    whole = bool(first) and "value" in layout.whole(first)
    rows = list(layout.figures(first))
    figures = [layout.cells(row, answer, whole) for answer, row in zip(first, rows, strict=True)]
    header = [answers.subject.statistic, *layout.header]
    error = _find_common_error(answers, rows, [line[-1] for line in figures], whole=whole)
    if error is not None:
        header, figures = header[:-1], [line[:-1] for line in figures]
    lines = zip(answers.keys, figures, strict=False)
    table = [[*map(format_part, key), *line] for key, line in lines]
    return [[*map(printable, answers.names), *header], *table], error


def _find_common_error(
    answers: "GroupedAnswers[TableAnswer]", rows: list[Figures], errors: list[str], *, whole: bool
) -> str | None:
    """Return the maximum error that all printed answers share; None if they differ.

    Unbounded noise has no maximum error in any row. The maximum error depends on the noise only,
    except for a mean. The printed errors include the rounding of each value, so the largest is
    returned.
    """
    if not errors or NONE in errors:
        return NONE
    common_error = layout_of(answers.answers[:1]).common_error
    if common_error is None or len(answers.mechanisms) != 1:
        return None
    return format_error(max(common_error(row, whole) for row in rows))


def note_more(answers: "GroupedAnswers[TableAnswer]") -> list[str]:
    """Return a line about the groups that are not printed."""
    hidden = len(answers) - _SHOWN
    return [f"… and {hidden} more"] if hidden > 0 else []


def _make_facts(
    answers: "GroupedAnswers[TableAnswer]",
    error: str | None,
    *,
    ledger: str = "",
    each: str = "row",
) -> list[Fact]:
    """Return the facts about all answers: errors, guarantee, contributions, budget and notes.

    ``each`` is what shows one answer.
    """
    facts: list[Fact] = []
    if answers and error == NONE:
        why = layout_of(answers.answers[:1]).unbounded
        facts.append(("Max error", max_error_fact(None, answers.privacy, why)))
    elif error is not None and answers:
        facts.append(("Max error", f"{error} in every {each}"))
    facts.append(("Guarantee", table_guarantee(answers)))
    facts += note_exact(answers)
    return [*facts, *closing_facts(answers, ledger=ledger), *note_discovery(answers, error, each)]


def note_exact(answers: "GroupedAnswers[TableAnswer]") -> list[Fact]:
    """Return the probability of an exact release, if it was allowed."""
    exact = [mechanism for mechanism in answers.mechanisms if mechanism.needs_allow_exact]
    if not exact:
        return []
    chance = max(mechanism.exact_probability for mechanism in exact)
    limit = format_rounded(chance, 6, ROUND_CEILING)
    what = layout_of(answers.answers[:1]).released
    return [("Exact", f"{what} is exact with probability {limit} at most")]


def note_discovery(
    answers: "GroupedAnswers[TableAnswer]",
    error: str | None,
    each: str,
    about: Subject | None = None,
) -> list[Fact]:
    """Return the note on discovered groups, and on their intervals if these are affected.

    Intervals are not affected if the noise that decides which groups are shown is independent of
    the noise of the values, as for a sum. ``about`` is the subject of all answers of a table.
    """
    if not answers.discovered:
        return []
    subject = about or answers.subject
    limit = subject.hidden_up_to
    small = "Small groups" if limit is None else f"Groups with a noisy count of {limit} or less"
    note = (
        f"Groups were discovered from the data. {small} are hidden, so the {each}s need not add up "
        "to the total."
    )
    if subject.selected and len(answers):
        sure = "" if error == NONE else ", but the max error still holds"
        note += (
            " A small group can appear by chance: its 95% interval may then miss the true "
            f"value{sure}."
        )
    return [("Note", note)]


def format_part(part: Part) -> str:
    """Return a part of a key as printable text of limited length.

    The text is quoted if it is empty or has a space at an end, which would be invisible. It is also
    quoted if it begins with a quote, so that quotes in the text can be recognized.
    """
    text = str(part)
    shown = printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
    return f'"{shown}"' if not shown or shown[0] in ' "' or shown[-1] == " " else shown


def measure(text: str) -> int:
    """Return the number of terminal columns of a text; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )
