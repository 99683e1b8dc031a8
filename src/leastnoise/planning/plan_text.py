"""The title, cells and notes of a plan for text and HTML; costs and errors are rounded up."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import format_exact, format_rounded, format_short
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.planning.numeric_query import DEFAULT_CONFIDENCE, NumericQuery
from leastnoise.planning.options import JOINT, SHARED, Option

_NONE = "–"
# The number of answers whose errors are shown for each option.
_FEW = 4


def explain_total(how: str, answers: int) -> str:
    """Explain how the answers satisfy the guarantee together."""
    if how == SHARED:
        return (
            "All answers share the guarantee: together they are one Gaussian release. The "
            "guarantees of the answers do not add up to the total."
        )
    if answers == 1:
        return "There is one answer."
    if how == JOINT:
        return (
            "Blocks of answers have joint noise: one sample for the whole block, which satisfies a "
            "part of the guarantee. The parts of the blocks add up."
        )
    return "Each answer has a part of the guarantee: ε values add; 1 − δ values multiply."


def title(privacy: Privacy, answers: int, chosen: Option) -> str:
    """Return the title above the tables."""
    words = f"{answers} answers" if answers > 1 else "one answer"
    return f"Plan for {words} with {format_guarantee(privacy)} in total, noise: {chosen.name}"


def answer_cells(queries: Sequence[NumericQuery], chosen: Option) -> list[list[str]]:
    """Return the names of the columns, then a line for each answer."""
    lines = [["answer", "Δ", "weight", "ε", "δ", "cost", "95% error"]]
    for i, (query, part) in enumerate(zip(queries, chosen.guarantees, strict=True)):
        level = format_exact(query.confidence * 100)
        confidence = "" if query.confidence == DEFAULT_CONFIDENCE else f" ({level}%)"
        target = "" if query.error is None else f" of ± {format_exact(query.error)}"
        lines.append(
            [
                query.name,
                format_exact(query.sensitivity),
                format_exact(query.weight) if query.cost is not None else _NONE,
                _up(part.epsilon, 5),
                format_short(Fraction(_up(part.delta, 3))),
                _up(chosen.costs[i], 6) if query.cost is not None else _NONE,
                f"± {_up(chosen.half_widths[i], 4)}{target}{confidence}",
            ]
        )
    return lines


def option_cells(queries: Sequence[NumericQuery], rows: Sequence[Option]) -> list[list[str]]:
    """Return the names of the columns, then a line for each option that was not rejected."""
    chosen = rows[0].cost
    figure = "error/target" if all(query.cost is None for query in queries) else "total cost"
    lines = [["noise", figure, "× chosen", "95% errors"]]
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


def _explain_choice(queries: Sequence[NumericQuery], rows: Sequence[Option]) -> list[str]:
    """Return why the first option was chosen: how much more the next one costs."""
    chosen, *others = rows
    if len(queries) == 1:
        return []
    joint = " Joint noise is the best known, and not claimed to be optimal."
    known = joint if chosen.how == JOINT else ""
    costs = [(row.cost, row.name) for row in others if row.cost is not None]
    if not costs:
        return [f"Why {chosen.name}: no other option is possible.{known}"]
    cost, name = min(costs)
    only = all(query.cost is None for query in queries)
    figure = "smallest ratio of an error to its target" if only else "lowest total cost"
    more = ""
    if chosen.cost:
        ratio = format_rounded(cost / chosen.cost, 4, ROUND_FLOOR)
        more = f"; that of {name} is {ratio} times as large"
    return [f"Why {chosen.name}: it has the {figure}{more}.{known}"]


def _widths(row: Option) -> str:
    first = [f"± {_up(width, 3)}" for width in row.half_widths[:_FEW]]
    return ", ".join([*first, *(["…"] if len(row.half_widths) > _FEW else [])])


def notes(total: Privacy, queries: Sequence[NumericQuery], rows: Sequence[Option]) -> list[str]:
    """Return the reasons for and against the options, the total guarantee, and what errors mean."""
    targets = " A target follows after “of”." if any(query.error for query in queries) else ""
    levels = any(query.confidence != DEFAULT_CONFIDENCE for query in queries)
    other = " Another confidence follows in parentheses." if levels else ""
    return [
        *_explain_choice(queries, rows),
        f"Total guarantee: {format_guarantee(total)}. {explain_total(rows[0].how, len(queries))}",
        f"95% error: the error is within this bound with probability 95%.{targets}{other}",
        *(f"Not {row.name}: {row.excluded}." for row in rows if row.excluded is not None),
    ]


def _up(number: Fraction, digits: int) -> str:
    return format_rounded(number, digits, ROUND_CEILING)
