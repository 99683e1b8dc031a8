"""A table of answers as plain text or as HTML: intervals are rounded outward, errors up."""

import unicodedata
from decimal import ROUND_CEILING
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import format_rounded
from leastnoise.mechanism import reused_line
from leastnoise.rendering import Fact, aligned, labelled, printable, sentences
from leastnoise.tables.answers.facts import closing_facts, hold_key, max_error_fact, table_guarantee
from leastnoise.tables.answers.layout import NONE, layout_of

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

_SHOWN = 20
_LONGEST = 40
# Spaces are preserved, so that keys that differ only in spaces look different.
_LEFT, _RIGHT = "text-align:left;white-space:pre", "text-align:right"


def as_text(answers: "GroupedAnswers[Any]", *, ledger: str = "") -> str:
    """Return the first groups in aligned columns, then what is known of all of them."""
    above = reused_line(answers.receipt)
    lines = [*([above] if above else []), *sentences(printable(answers.subject.heading)), ""]
    cells, errors = _cells(answers)
    columns = len(answers.names)
    left = [*range(columns), columns + 1]  # keys and intervals
    lines += aligned(cells, left, _width) if len(answers) else ["no group"]
    known = labelled(hold_key(_facts(answers, errors, ledger=ledger)))
    return "\n".join([*lines, *_more(answers), "", *known])


def as_html(answers: "GroupedAnswers[Any]") -> str:
    """Return the same as HTML, with the same alignment; all text is escaped."""
    above = reused_line(answers.receipt)
    first = f"<div>{escape(above)}</div>" if above else ""
    columns = len(answers.names)
    (head, *body), errors = _cells(answers)
    lines = _marked(head, "th", columns) + "".join(_marked(line, "td", columns) for line in body)
    more = "".join(f"<div>{escape(line)}</div>" for line in _more(answers))
    known = "".join(
        f"<tr><th style='{_LEFT}'>{escape(label)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for label, text in _facts(answers, errors)
    )
    title = escape(printable(answers.subject.heading))
    return f"{first}<table><caption>{title}</caption>{lines}</table>{more}<table>{known}</table>"


def _marked(line: list[str], tag: str, keys: int) -> str:
    """Return a line of HTML with keys and intervals to the left and figures to the right."""
    cells = (
        f"<{tag} style='{_LEFT if i < keys or i == keys + 1 else _RIGHT}'>{escape(cell)}</{tag}>"
        for i, cell in enumerate(line)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cells(answers: "GroupedAnswers[Any]") -> tuple[list[list[str]], str | None]:
    """Return the header and a line for each of the first groups, and the maximum error of all.

    Maximum errors that differ are a column; then that of all is None.
    """
    first = answers.answers[:_SHOWN]
    layout = layout_of(first)
    whole = bool(first) and "value" in layout.whole(first)
    rows = zip(first, layout.figures(first), strict=True)
    figures = [layout.cells(figures, one, whole) for one, figures in rows]
    header = [answers.subject.statistic, *layout.header]
    error = _common_error(answers, [line[-1] for line in figures])
    if error is not None:
        header, figures = header[:-1], [line[:-1] for line in figures]
    lines = zip(answers.keys, figures, strict=False)
    table = [[*map(_shown, key), *line] for key, line in lines]
    return [[*map(printable, answers.names), *header], *table], error


def _common_error(answers: "GroupedAnswers[Any]", errors: list[str]) -> str | None:
    """Return the maximum error of every printed answer, if there is one for all of them.

    Where noise is unbounded there is none, for all of them. A maximum error depends on the noise
    alone, except that of a mean; what is printed includes the rounding of each value.
    """
    if not errors or NONE in errors:
        return NONE
    layout = layout_of(answers.answers[:1])
    same = layout.same_max_error and len(answers.mechanisms) == 1
    return max(errors, key=lambda text: Fraction(text.split()[0])) if same else None


def _more(answers: "GroupedAnswers[Any]") -> list[str]:
    left = len(answers) - _SHOWN
    return [f"… and {left} more"] if left > 0 else []


def _facts(answers: "GroupedAnswers[Any]", error: str | None, *, ledger: str = "") -> list[Fact]:
    """Return what is known of all answers: errors, guarantee, what counts, budget and notes."""
    facts: list[Fact] = []
    if answers and error == NONE:
        why = layout_of(answers.answers[:1]).unbounded
        facts.append(("Max error", max_error_fact(None, answers.privacy, why)))
    elif error is not None and answers:
        facts.append(("Max error", f"{error} in every row"))
    facts.append(("Guarantee", table_guarantee(answers)))
    exact = [one for one in answers.mechanisms if one.needs_allow_exact]
    if exact:
        left = format_rounded(max(one.exact_probability for one in exact), 6, ROUND_CEILING)
        what = layout_of(answers.answers[:1]).released
        facts.append(("Exact", f"{what} is exact with probability {left} at most"))
    return [*facts, *closing_facts(answers, ledger=ledger), *_discovered(answers, error)]


def _discovered(answers: "GroupedAnswers[Any]", error: str | None) -> list[Fact]:
    """Return the note on discovered groups, with what it means for intervals.

    Where other noise than that of the values decides which groups are shown, as for a sum, it means
    nothing for them.
    """
    if not answers.discovered:
        return []
    limit = answers.subject.hidden_up_to
    small = "Small groups" if limit is None else f"Groups with a noisy count of {limit} or less"
    note = (
        f"Groups were discovered from the data. {small} are hidden, so the rows need not add up to "
        "the total."
    )
    if answers.subject.selected and len(answers):
        sure = "" if error == NONE else ", but the max error still holds"
        note += (
            " A small group can appear by chance: its 95% interval may then miss the true "
            f"value{sure}."
        )
    return [("Note", note)]


def _shown(part: Any) -> str:
    """Return a part of a key as printable text of limited length.

    It is quoted if it is empty or has a space at an end, which would be invisible; and if it begins
    with a quote, so that quotes of the text itself are recognizable.
    """
    text = str(part)
    shown = printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
    return f'"{shown}"' if not shown or shown[0] in ' "' or shown[-1] == " " else shown


def _width(text: str) -> int:
    """Return how many terminal columns a text takes: two for wide East Asian characters."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )
