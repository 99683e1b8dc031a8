"""A table of answers as plain text, or as HTML: intervals rounded outward, errors up."""

import unicodedata
from decimal import ROUND_CEILING
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import format_rounded
from leastnoise.tables.answers.figures import Figures, One, figures_of, mechanisms_of, whole_columns
from leastnoise.tables.answers.mean import MeanAnswer
from leastnoise.tables.answers.quantile import QuantileAnswer
from leastnoise.tables.answers.rounding import (
    downward,
    place_for,
    printed_cell,
    printed_error,
    printed_rows,
    to_nearest,
    upward,
)

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers


_SHOWN = 20
_LONGEST = 40
_NONE = "–"


def as_text(answers: "GroupedAnswers") -> str:
    """Return the first groups aligned under one another, then what is promised of all."""
    lines = [_plain(answers.title), ""]
    lines += _aligned(_cells(answers), len(answers.names)) if len(answers) else ["no group"]
    return "\n".join([*lines, *_more(answers), "", *_notes(answers)])


def as_html(answers: "GroupedAnswers") -> str:
    """Return the same as HTML, aligned as the text is; everything in it is escaped."""
    keys = len(answers.names)
    head, *body = _cells(answers)
    lines = _marked(head, "th", keys) + "".join(_marked(line, "td", keys) for line in body)
    notes = "".join(f"<div>{escape(line)}</div>" for line in [*_more(answers), *_notes(answers)])
    title = escape(_plain(answers.title))
    return f"<table><caption>{title}</caption>{lines}</table>{notes}"


def _marked(line: list[str], tag: str, keys: int) -> str:
    """Return a line of HTML with keys to the left and figures to the right."""
    cells = (
        f"<{tag} style='{_LEFT if i < keys else _RIGHT}'>{escape(cell)}</{tag}>"
        for i, cell in enumerate(line)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cells(answers: "GroupedAnswers") -> list[list[str]]:
    """Return the header and a line for each of the first groups."""
    first = answers.answers[:_SHOWN]
    ranked = bool(first) and isinstance(first[0], QuantileAnswer)
    errors = ["cell", "rank, 95 %", "rank, always"] if ranked else ["95 %", "always"]
    if first and isinstance(first[0], MeanAnswer):
        errors.append("rows")
    whole = bool(first) and "value" in whole_columns(first)
    return [
        [*map(_plain, answers.names), "value", *errors],
        *(
            [
                *map(_shown, key),
                *(_ranked(figures) if ranked else _figures(figures, one, whole=whole)),
            ]
            for key, one, figures in zip(answers.keys, first, figures_of(first), strict=False)
        ),
    ]


def _figures(figures: Figures, one: One, *, whole: bool) -> list[str]:
    value, low, high = (Fraction(*figure) for figure in figures[:3] if figure is not None)
    unit = Fraction(1)
    if not whole:
        unit = place_for(high - low, abs(value) or Fraction(1))
    always, bound = _NONE, figures[3]
    if bound is not None:
        within = one.bounds if isinstance(one, MeanAnswer) else None
        always = f"± {printed_error(Fraction(*bound), value, unit, within)}"
    rows = [to_nearest(one.count.value, Fraction(1))] if isinstance(one, MeanAnswer) else []
    ends = f"{downward(low, unit)} to {upward(high, unit)}"
    return [to_nearest(value, unit), ends, always, *rows]


def _ranked(figures: Figures) -> list[str]:
    low, high, usual = (Fraction(*figure) for figure in figures[1:4] if figure is not None)
    always = figures[4]
    return [
        *printed_cell(low, high),
        printed_rows(usual),
        _NONE if always is None else printed_rows(Fraction(*always)),
    ]


def _more(answers: "GroupedAnswers") -> list[str]:
    left = len(answers) - _SHOWN
    return [f"… and {left} more"] if left > 0 else []


def _notes(answers: "GroupedAnswers") -> list[str]:
    """Return what is promised and what is left; and where an answer may be exact, that."""
    notes = [f"{answers.privacy} for one unit, of all of it together; {_recorded(answers)}"]
    exact = [one for one in mechanisms_of(answers.answers) if one.needs_allowance]
    if exact:
        left = max(one.exact_probability for one in exact)
        what = "each count or sum" if isinstance(answers.answers[0], MeanAnswer) else "each number"
        upto = format_rounded(left, 6, ROUND_CEILING)
        notes.append(f"{what} left exactly with probability {upto} at the most")
    if answers.discovered and len(answers):
        notes.append(
            "groups were discovered: small ones are missing, so these do not add up to all; one "
            "that chance made large is shown, and may lie outside of its 95 %, never outside of "
            "always"
        )
    return notes


def _recorded(answers: "GroupedAnswers") -> str:
    receipt = answers.receipt
    if receipt is None:
        return "recorded nowhere"
    day = receipt.at[:10]
    when = f"stored on {day}" if receipt.again else f"recorded on {day}"
    return f"{when}, left in the ledger: {receipt.account.left}"


def _shown(part: Any) -> str:
    """Return a part of a key: a text without what would move the cursor, and not too long.

    In quotes if it is empty or has a space at an end, which nobody would see; and if it begins with
    a quote, so that what is in quotes here is told from what has them itself.
    """
    text = str(part)
    shown = _plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
    return f'"{shown}"' if not shown or shown[0] in ' "' or shown[-1] == " " else shown


def _plain(text: str) -> str:
    """Write out what does not print, so that a key can neither break a line nor colour a screen."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def _aligned(cells: list[list[str]], keys: int) -> list[str]:
    """Return lines with keys to the left and figures to the right."""
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            _padded(cell, width, left=i < keys)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return f"{cell}{space}" if left else f"{space}{cell}"


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for the wide signs of East Asia."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


# Spaces of a key are kept, so that keys which differ in them look different.
_LEFT, _RIGHT = "text-align:left;white-space:pre", "text-align:right"
