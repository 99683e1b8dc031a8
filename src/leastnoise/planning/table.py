"""A comparison as a table of plain text, or of HTML: costs rounded up, the lower bound down."""

import textwrap
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from leastnoise.certificate import CLASSES
from leastnoise.exact import approximately, exactly
from leastnoise.planning.contender import Contender
from leastnoise.planning.releases import MOST_RELEASES

if TYPE_CHECKING:
    from leastnoise.planning.comparison import Comparison

# Name of the column, and what stands in it.
COLUMNS = {
    "noise": "",
    "cost": "expected cost of one answer",
    "× bound": "how many times the lower bound",
    "95 % within": "95 % of the errors are no larger",
    "all within": "no error is larger",
    "proves": "probability of an output that proves which neighbour it was",
    "exact": "probability that the exact value leaves",
}
_NEVER = "–"
_WIDTH = 88
# More than the enclosures of irrational costs are wide: what is no further above the bound is 1.
_ROUNDING = Fraction(1, 1 << 60)


def as_text(comparison: "Comparison") -> str:
    """Return an aligned table with what belongs to it above and below."""
    cells = [list(COLUMNS), *(_cells(row) for row in comparison)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    notes = [line for note in _notes(comparison) for line in _wrapped(note)]
    return "\n".join([*_wrapped(_title(comparison)), "", *lines, "", *notes])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def as_html(comparison: "Comparison") -> str:
    """Return the same as HTML; everything in it is escaped."""
    head = "".join(
        f"<th title='{escape(meaning)}'>{escape(name)}</th>" for name, meaning in COLUMNS.items()
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in comparison
    )
    notes = "".join(f"<div>{escape(note)}</div>" for note in _notes(comparison))
    caption = f"<caption>{escape(_title(comparison))}</caption>"
    means = f"<p>{escape(comparison.explain())}</p>"
    return f"<table>{caption}<tr>{head}</tr>{body}</table>{notes}{means}"


def _title(comparison: "Comparison") -> str:
    asked = comparison.asked
    kind = "whole-number answer" if asked.integer else "answer"
    many = comparison.releases
    words = (
        f"{many} {kind}s, each of which"
        if many > 1
        else f"{'a' if asked.integer else 'an'} {kind} that"
    )
    return (
        f"Noises that keep {asked.privacy} for {words} one person moves by up to "
        f"{exactly(asked.sensitivity)}; cost {asked.cost!r}"
    )


def _cells(row: Contender) -> list[str]:
    radius, times = row.radius, row.ratio
    return [
        row.family,
        _up(row.cost, 6),
        _NEVER if isinstance(times, float) else _up(max(times - _ROUNDING, Fraction(1)), 5),
        f"± {_up(row.half_width, 4)}",
        _NEVER if isinstance(radius, float) else f"± {_up(radius, 6)}",
        _up(row.impossible, 3),
        _up(row.exact_probability, 3),
    ]


def _notes(comparison: "Comparison") -> list[str]:
    """Return the bound, what the columns mean, how a promise is split, and who is left out."""
    asked, many = comparison.asked, comparison.releases
    bound = approximately(comparison.lower_bound, 6, ROUND_FLOOR)
    notes = [f"bound: of {CLASSES[asked.among]}, none costs less than {bound}."]
    if many > 1:
        notes[0] = notes[0][:-1] + " in any one release, even under the whole promise."
    notes += [f"{name}: {meaning}." for name, meaning in COLUMNS.items() if name in _TOLD]
    if many > 1:
        shared = f"; Gaussian noises share it exactly, as one moved by √{many}·Δ"
        shared = shared if asked.privacy.delta else ""
        notes.append(
            f"{many} releases: each promises {comparison.each}, and all of them together "
            f"{asked.privacy}{shared}. What an answer proves, and its errors, are of one answer."
        )
        notes.append(_overtaking(comparison.overtaking))
    return [*notes, *(f"not {name}: {why}." for name, why in comparison.refused.items())]


_TOLD = ("proves", "exact")


def _overtaking(first: int | None) -> str:
    if first is None:
        return (
            "many releases: the Gaussian is the cheapest closed form for no number of them up to "
            f"{MOST_RELEASES}."
        )
    if first == 1:
        return "many releases: the Gaussian is the cheapest closed form already for one."
    return f"many releases: the Gaussian overtakes the other closed forms at k = {first}."


def _up(number: Fraction, digits: int) -> str:
    return approximately(number, digits, ROUND_CEILING)
