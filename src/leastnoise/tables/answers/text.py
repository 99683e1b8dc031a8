"""A table of answers as plain text or as HTML: intervals are rounded outward, errors up."""

import unicodedata
from decimal import ROUND_CEILING
from html import escape
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import format_rounded
from leastnoise.rendering import aligned
from leastnoise.tables.answers.layout import layout_of, mechanisms_of

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

_SHOWN = 20
_LONGEST = 40
# Spaces are preserved, so that keys that differ only in spaces look different.
_LEFT, _RIGHT = "text-align:left;white-space:pre", "text-align:right"


def as_text(answers: "GroupedAnswers") -> str:
    """Return the first groups in aligned columns, then the guarantee of all of them."""
    lines = [_plain(answers.title), ""]
    keys = range(len(answers.names))
    lines += aligned(_cells(answers), keys, _width) if len(answers) else ["no group"]
    return "\n".join([*lines, *_more(answers), "", *_notes(answers)])


def as_html(answers: "GroupedAnswers") -> str:
    """Return the same as HTML, with the same alignment; all text is escaped."""
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
    layout = layout_of(first)
    whole = bool(first) and "value" in layout.whole(first)
    rows = zip(answers.keys, first, layout.figures(first), strict=False)
    return [
        [*map(_plain, answers.names), "value", *layout.header],
        *([*map(_shown, key), *layout.cells(figures, one, whole)] for key, one, figures in rows),
    ]


def _more(answers: "GroupedAnswers") -> list[str]:
    left = len(answers) - _SHOWN
    return [f"… and {left} more"] if left > 0 else []


def _notes(answers: "GroupedAnswers") -> list[str]:
    """Return the guarantee, the remaining budget, and whether an answer may be exact."""
    notes = [f"{answers.privacy} for one unit, of all of it together; {_recorded(answers)}"]
    exact = [one for one in mechanisms_of(answers.answers) if one.needs_allowance]
    if exact:
        left = max(one.exact_probability for one in exact)
        what = layout_of(answers.answers).released
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
    """Return a part of a key as printable text of limited length.

    It is quoted if it is empty or has a space at an end, which would be invisible; and if it begins
    with a quote, so that quotes of the text itself are recognizable.
    """
    text = str(part)
    shown = _plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
    return f'"{shown}"' if not shown or shown[0] in ' "' or shown[-1] == " " else shown


def _plain(text: str) -> str:
    """Escape what does not print, so that a key can neither break a line nor color a screen."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def _width(text: str) -> int:
    """Return how many terminal columns a text takes: two for wide East Asian characters."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )
