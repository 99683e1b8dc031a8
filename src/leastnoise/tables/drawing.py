"""From the rows that an engine returns to numbers that may leave: the noise is added here.

True numbers are local variables of the functions below. A result of an engine holds a row for each
group: its key, then whole numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
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
    groups = _grouped(found, asked)
    keys = sorted(groups) if asked.keys is None else asked.keys
    rows = [groups.get(key, []) for key in keys]
    least = threshold(asked, mechanisms) if asked.discovered else None
    if isinstance(asked.question, Quantile):
        numbers = [_quantile(asked.question, own, ways, least) for own in rows]
    else:
        numbers = _plain(rows, ways, least)
    shown = [(key, drawn) for key, drawn in zip(keys, numbers, strict=True) if drawn is not None]
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
    rows: Sequence[Sequence[tuple[int, ...]]], ways: list[Release], least: int | None
) -> list[tuple[int, ...] | None]:
    """Release a count, a sum, or both, of all groups; None for those that must not be shown."""
    if any(len(own) > 1 for own in rows):
        raise QueryFailed("a group must have one row in a result; got several. Mend its names.")
    if not rows:
        return []
    none = (0,) * len(ways)
    columns = zip(*(own[0] if own else none for own in rows), strict=True)
    drawn = [way(column) for way, column in zip(ways, columns, strict=True)]
    return [
        None if least is not None and own[0] <= least else own for own in zip(*drawn, strict=True)
    ]


def _way(kind: Kind, mechanism: Mechanism, asked: Prepared) -> Release:
    """Return what releases numbers of a kind: a sum of indices is one of steps of the lattice."""
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
    if least is not None and ways[0]([below[-1]])[0] <= least:
        return None
    part, whole = question.share.as_integer_ratio()
    compare, first, last = ways[-1], 0, question.cells
    while last - first > 1:
        middle = (first + last) // 2
        if compare([whole * below[middle] - part * below[-1]])[0] < 0:
            first = middle
        else:
            last = middle
    return (first,)
