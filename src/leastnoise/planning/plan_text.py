"""A plan as tables of plain text, or of HTML: costs and errors rounded up."""

import textwrap
from decimal import ROUND_CEILING
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.planning.options import COMPOSED, SHARED, Option
from leastnoise.planning.wanted import USUAL

if TYPE_CHECKING:
    from leastnoise.planning.plans import Plan


_WIDTH = 88
_NONE = "–"
# Of so many answers the errors are shown for what was considered.
_FEW = 4


def as_text(plan: "Plan") -> str:
    """Return what each answer gets, what was considered, and the notes."""
    notes = [line for note in _notes(plan) for line in _wrapped(note)]
    parts = [
        *_wrapped(_title(plan)),
        "",
        *_aligned(_answers(plan)),
        "",
        *_aligned(_options(plan)),
        "",
        *notes,
    ]
    return "\n".join(parts)


def as_html(plan: "Plan") -> str:
    """Return the same as HTML; everything in it is escaped."""
    notes = "".join(f"<div>{escape(note)}</div>" for note in _notes(plan))
    answers = _html(_answers(plan), _title(plan))
    means = f"<p>{escape(plan.explain())}</p>"
    return f"{answers}{_html(_options(plan), 'What was considered')}{notes}{means}"


def how_kept(plan: "Plan") -> str:
    """Say how the answers keep the promise together."""
    how = plan.rows[0].how
    if how == SHARED:
        return (
            "All answers share it: together their Gaussian noises are one, and what each promises "
            "by itself is not what it adds to the others."
        )
    if how == COMPOSED:
        return (
            "What all answers tell together was worked out; it is less than the sum of what each "
            "promises by itself."
        )
    if len(plan.wanted) == 1:
        return "There is one answer."
    return "Each answer keeps a part of it: the ε add up, and so do the δ but for a hair."


def _title(plan: "Plan") -> str:
    many = len(plan.wanted)
    words = f"{many} answers" if many > 1 else "One answer"
    return f"{words} about the same people under {plan.privacy}, noise: {plan.rows[0].name}"


def _answers(plan: "Plan") -> list[list[str]]:
    """Return a line for each answer."""
    chosen = plan.rows[0]
    lines = [["answer", "moves by", "weight", "ε", "δ", "cost", "errors within"]]
    for i, (one, part) in enumerate(zip(plan.wanted, chosen.promises, strict=True)):
        often = "" if one.confidence == USUAL else f" ({format_exact(one.confidence * 100)} %)"
        asked = "" if one.error is None else f" of ± {format_exact(one.error)}"
        lines.append(
            [
                one.name,
                format_exact(one.sensitivity),
                format_exact(one.weight) if one.cost is not None else _NONE,
                _up(part.epsilon, 5),
                _up(part.delta, 3),
                _up(chosen.costs[i], 6) if one.cost is not None else _NONE,
                f"± {_up(chosen.half_widths[i], 4)}{asked}{often}",
            ]
        )
    return lines


def _options(plan: "Plan") -> list[list[str]]:
    """Return a line for each way that was worked out."""
    lines = [["noise", _cost_name(plan), "× chosen", "errors within"]]
    lines += [
        [
            row.name,
            _up(row.cost, 6),
            _up(row.cost / plan.cost, 5) if plan.cost else _NONE,
            _widths(row),
        ]
        for row in plan.rows
        if row.cost is not None
    ]
    return lines


def _widths(row: Option) -> str:
    """Return the errors of the first few answers."""
    first = [f"± {_up(width, 3)}" for width in row.half_widths[:_FEW]]
    return ", ".join([*first, *(["…"] if len(row.half_widths) > _FEW else [])])


def _cost_name(plan: "Plan") -> str:
    alone = all(one.cost is None for one in plan.wanted)
    return "error/target" if alone else "cost of all"


def _notes(plan: "Plan") -> list[str]:
    notes = [
        f"together: {plan.together}. {how_kept(plan)}",
        "errors within: 95 % of them, as drawn, where nothing else is said.",
    ]
    return [*notes, *(_refusal(row) for row in plan.rows if row.refused is not None)]


def _refusal(row: Option) -> str:
    return f"not {row.name}: {row.refused}."


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i and i + 1 < len(widths) else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _html(cells: list[list[str]], title: str) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in cells[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in cells[1:]
    )
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
