"""From the rows that an engine returns to numbers that may leave: the noise is added here.

True numbers are local variables of the functions below. A result of an engine holds a row for each
group: its key, then whole numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from leastnoise.core.release import releaser_of_steps
from leastnoise.errors import InvalidParameter, QueryFailed, Words
from leastnoise.mechanism import Mechanism
from leastnoise.tables.budget import Kind
from leastnoise.tables.keys import Key
from leastnoise.tables.query import Prepared
from leastnoise.tables.questions import Quantile

Rows = Sequence[tuple[Any, ...]]
Release = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True)
class Released:
    """What may leave of one question: groups, and for each its noisy whole numbers.

    Attributes:
        keys: The groups, sorted.
        numbers: For each group the indices of its numbers; of a quantile the cell.
    """

    keys: tuple[Key, ...]
    numbers: tuple[tuple[int, ...], ...]


def released(found: Rows, asked: Prepared, mechanisms: Sequence[Mechanism]) -> Released:
    """Add noise to every number of a result; leave out groups that must not be shown.

    A group that was given and is not in the table has zeros. A discovered one is shown if its noisy
    count is above what one unit and the largest noise can make together, so that none is ever shown
    for one unit alone: at no cost beyond the count's (docs/tables.md).
    """
    ways = [_way(kind, made, asked) for kind, made in zip(asked.kinds, mechanisms, strict=True)]
    least = threshold(asked, mechanisms) if asked.discovered else None
    columns = len(asked.by)
    if asked.keys is not None:
        known = set(asked.keys)
        found = [row for row in found if row[:columns] in known]
    keys = asked.keys or tuple(sorted({row[:columns] for row in found}))
    if isinstance(asked.question, Quantile):
        groups = _grouped(found, columns)
        numbers = [_quantile(asked.question, groups.get(key, []), ways, least) for key in keys]
    else:
        numbers = _plain(found, keys, ways, least)
    if least is None:
        return Released(keys, tuple(numbers))
    shown = [(key, drawn) for key, drawn in zip(keys, numbers, strict=True) if drawn]
    return Released(tuple(key for key, _ in shown), tuple(drawn for _, drawn in shown))


def threshold(asked: Prepared, mechanisms: Sequence[Mechanism]) -> int:
    """Return the noisy count that a discovered group must exceed; refuse noise without an end."""
    radius = mechanisms[0].drawn.radius
    if not isinstance(radius, Fraction | int):
        raise InvalidParameter(
            "groups can be discovered only by noise of a largest size, which needs δ > 0",
            got="a promise with δ = 0",
            fix="Give " + Words("keys=", "--group") + ", the groups to answer for, or promise a δ.",
        )
    return asked.threshold + int(radius)


def _plain(
    found: Rows, keys: Sequence[Key], ways: list[Release], least: int | None
) -> list[tuple[int, ...]]:
    """Release a count, a sum, or both, of all groups; nothing of those that must not be shown."""
    columns = len(keys[0]) if keys else 0
    groups = {row[:columns]: row[columns:] for row in found}
    if len(groups) != len(found):
        raise QueryFailed("a group must have one row in a result; got several. Mend its names.")
    none = (0,) * len(ways)
    figures = zip(*[groups.get(key, none) for key in keys], strict=True)
    drawn = [way(column) for way, column in zip(ways, figures, strict=bool(keys))]
    numbers = list(zip(*drawn, strict=True))
    return numbers if least is None else [own if own[0] > least else () for own in numbers]


def _grouped(found: Rows, columns: int) -> dict[Key, list[tuple[int, ...]]]:
    """Return the rows of each group, without its key: of a quantile one for each cell."""
    groups: dict[Key, list[tuple[int, ...]]] = {}
    for row in found:
        groups.setdefault(row[:columns], []).append(row[columns:])
    return groups


def _way(kind: Kind, mechanism: Mechanism, asked: Prepared) -> Release:
    """Return what releases numbers of a kind: a sum of indices is one of steps of the lattice."""
    step = Fraction(1)
    if kind.wanted.name == "sum" and asked.lattice is not None:
        step = asked.lattice.step
    return releaser_of_steps(mechanism.grid, mechanism.drawn.noise, step)


def _quantile(
    question: Quantile,
    rows: Rows,
    ways: list[Release],
    least: int | None,
) -> tuple[int, ...]:
    """Find the cell by halving, each time by one noisy comparison; of a group not shown, none.

    The share below an edge is compared with what is asked for by a whole number,
    whole·below − part·total, which one unit moves by at most its sensitivity, whichever edge is
    looked at: so edges may be chosen by what came before.
    """
    counts = [0] * question.cells
    for cell, number in rows:
        counts[cell] = number
    below = [0, *accumulate(counts)]
    if least is not None and ways[0]([below[-1]])[0] <= least:
        return ()
    part, whole = question.share.as_integer_ratio()
    compare, first, last = ways[-1], 0, question.cells
    while last - first > 1:
        middle = (first + last) // 2
        if compare([whole * below[middle] - part * below[-1]])[0] < 0:
            first = middle
        else:
            last = middle
    return (first,)
