"""From the rows that an engine returns to numbers that may leave: the noise is added here.

True numbers are local variables of the functions below. A result of an engine holds a row for each
group: its key, then whole numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

from leastnoise.errors import InvalidParameter, QueryFailed
from leastnoise.mechanism import Mechanism
from leastnoise.mechanism.release import releaser_of_steps
from leastnoise.tables.keys import Key
from leastnoise.tables.preparing import Prepared
from leastnoise.tables.questions import Quantile
from leastnoise.tables.sharing import Kind

Rows = Sequence[tuple[Any, ...]]
Release = Callable[[int], int]


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
    question = asked.question
    numbers = partial(_quantile, question) if isinstance(question, Quantile) else _plain
    groups = _grouped(found, asked)
    shown: list[tuple[Key, tuple[int, ...]]] = []
    least = threshold(asked, mechanisms) if asked.discovered else None
    for key in sorted(groups) if asked.keys is None else asked.keys:
        drawn = numbers(groups.get(key, []), ways, least)
        if drawn is not None:
            shown.append((key, drawn))
    return Released(tuple(key for key, _ in shown), tuple(drawn for _, drawn in shown))


def threshold(asked: Prepared, mechanisms: Sequence[Mechanism]) -> int:
    """Return the noisy count that a discovered group must exceed; refuse noise without an end."""
    radius = mechanisms[0].drawn.radius
    if not isinstance(radius, Fraction | int):
        raise InvalidParameter(
            "groups can be discovered only by noise of a largest size, which needs δ > 0; got a "
            "promise with δ = 0. Give keys=, the groups to answer for, or promise a δ."
        )
    return asked.threshold + int(radius)


def _grouped(found: Rows, asked: Prepared) -> dict[Key, list[tuple[int, ...]]]:
    """Return the whole numbers of each group: one row of them, of a quantile one for each cell."""
    columns = len(asked.by)
    known = None if asked.keys is None else set(asked.keys)
    groups: dict[Key, list[tuple[int, ...]]] = {}
    for row in found:
        key = row[:columns]
        if known is None or key in known:
            groups.setdefault(key, []).append(tuple([number or 0 for number in row[columns:]]))
    return groups


def _plain(
    rows: Sequence[tuple[int, ...]], ways: list[Release], least: int | None
) -> tuple[int, ...] | None:
    """Release a count, a sum, or both."""
    true, *others = rows or [(0,) * len(ways)]
    if others:
        raise QueryFailed("a group must have one row in a result; got several. Mend its names.")
    drawn = tuple([way(number) for way, number in zip(ways, true, strict=True)])
    return None if least is not None and drawn[0] <= least else drawn


def _way(kind: Kind, mechanism: Mechanism, asked: Prepared) -> Release:
    """Return what releases a number of a kind: a sum of indices is one of steps of the lattice."""
    step = Fraction(1)
    if kind.wanted.name == "sum" and asked.lattice is not None:
        step = asked.lattice.step
    return releaser_of_steps(mechanism.grid, mechanism.drawn.noise, step)


def _quantile(
    question: Quantile,
    rows: Sequence[tuple[int, ...]],
    ways: list[Release],
    least: int | None,
) -> tuple[int, ...] | None:
    """Find the cell by halving, each time by one noisy comparison.

    The share below an edge is compared with what is asked for by a whole number,
    whole·below − part·total, which one unit moves by at most its sensitivity, whichever edge is
    looked at: so edges may be chosen by what came before.
    """
    counts = [0] * question.cells
    for cell, number in rows:
        counts[cell] = number
    below = [0, *accumulate(counts)]
    if least is not None and ways[0](below[-1]) <= least:
        return None
    part, whole = question.share.as_integer_ratio()
    compare, first, last = ways[-1], 0, question.cells
    while last - first > 1:
        middle = (first + last) // 2
        if compare(whole * below[middle] - part * below[-1]) < 0:
            first = middle
        else:
            last = middle
    return (first,)
