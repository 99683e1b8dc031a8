"""The cells and notes of a plan, for text and HTML: costs and errors rounded up."""

from collections.abc import Sequence
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.planning.numeric_query import USUAL, NumericQuery
from leastnoise.planning.options import COMPOSED, SHARED, Option

_NONE = "–"
# The errors of so many answers are shown for each way that was considered.
_FEW = 4


def how_kept(how: str, answers: int) -> str:
    """Say how the answers keep the promise together."""
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
    if answers == 1:
        return "There is one answer."
    return "Each answer keeps a part of it: the ε add up, and so do the δ but for a hair."


def title(privacy: Privacy, answers: int, chosen: Option) -> str:
    """Return what stands above the tables."""
    words = f"{answers} answers" if answers > 1 else "One answer"
    return f"{words} about the same people under {privacy}, noise: {chosen.name}"


def answer_cells(wanted: Sequence[NumericQuery], chosen: Option) -> list[list[str]]:
    """Return the names of the columns, then a line for each answer."""
    lines = [["answer", "moves by", "weight", "ε", "δ", "cost", "errors within"]]
    for i, (one, part) in enumerate(zip(wanted, chosen.promises, strict=True)):
        often = "" if one.confidence == USUAL else f" ({format_exact(one.confidence * 100)} %)"
        target = "" if one.error is None else f" of ± {format_exact(one.error)}"
        lines.append(
            [
                one.name,
                format_exact(one.sensitivity),
                format_exact(one.weight) if one.cost is not None else _NONE,
                _up(part.epsilon, 5),
                _up(part.delta, 3),
                _up(chosen.costs[i], 6) if one.cost is not None else _NONE,
                f"± {_up(chosen.half_widths[i], 4)}{target}{often}",
            ]
        )
    return lines


def option_cells(wanted: Sequence[NumericQuery], rows: Sequence[Option]) -> list[list[str]]:
    """Return the names of the columns, then a line for each way that was worked out."""
    chosen = rows[0].cost
    figure = "error/target" if all(one.cost is None for one in wanted) else "cost of all"
    lines = [["noise", figure, "× chosen", "errors within"]]
    lines += [
        [
            row.name,
            _up(row.cost, 6),
            _up(row.cost / chosen, 5) if chosen else _NONE,
            _widths(row),
        ]
        for row in rows
        if row.cost is not None
    ]
    return lines


def _widths(row: Option) -> str:
    first = [f"± {_up(width, 3)}" for width in row.half_widths[:_FEW]]
    return ", ".join([*first, *(["…"] if len(row.half_widths) > _FEW else [])])


def notes(together: Privacy, rows: Sequence[Option], answers: int) -> list[str]:
    """Return what holds of all answers together, and why other ways were refused."""
    return [
        f"together: {together}. {how_kept(rows[0].how, answers)}",
        "errors within: 95 % of them, as drawn, where nothing else is said.",
        *(f"not {row.name}: {row.refused}." for row in rows if row.refused is not None),
    ]


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
