"""Sample joint noise for many rows at once with numpy.

A box is sampled for each row, then each coordinate by one word: the index is ⌊s·n/2⁶⁴ + 1/2⌋, where
s is the centered word and n = 2h + 1 the number of points of its side. Floats propose it. Where the
value is so near an edge that rounding could matter, or that the word could be rejected, integers
decide, with further words of the same tape.
"""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from leastnoise.core.arrays.draw import BLOCK, InversionSampler
from leastnoise.core.arrays.lookup import (
    IndexLookup,
    WordReader,
    digit_lookup,
    run_lookup,
    to_unsigned,
)
from leastnoise.core.sampling import (
    WORD,
    GrowingBoxes,
    JointScheme,
    RunScheme,
    Tape,
    ticket_if_accepted,
    uniform_below,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# The largest side at which floats propose most indices.
_LARGEST = 1 << 46


def draw_joint(
    scheme: JointScheme, rows: int, tape: Tape
) -> "list[Integers | NDArray[np.object_]]":
    """Return a column of noise for each number: row j of all columns is one point.

    The columns hold Python integers if some index may be too long for floats.
    """
    boxes = _box_sampler(scheme)
    columns: list[NDArray[np.int64]] = [np.empty(rows, dtype=np.int64) for _ in scheme.sides]
    if boxes is None:
        return _draw_one_by_one(scheme, rows, tape)
    numbers, index, place = (np.empty(min(BLOCK, rows)) for _ in range(3))
    halves = np.empty(min(BLOCK, rows))
    reader = WordReader()
    for start in range(0, rows, BLOCK):
        size = min(BLOCK, rows - start)
        own = numbers[:size]
        boxes.write(tape, own, place[:size])
        largest = own.max()
        for (shift, edge), column in zip(scheme.sides, columns, strict=True):
            half, out, room = halves[:size], index[:size], place[:size]
            np.multiply(own, float(shift), out=half)
            np.add(half, float(edge), out=half)
            words = reader.read(tape, size)
            most = 2 * (largest * shift + edge) + 1
            if most >= _LARGEST:
                column[start : start + size] = _decide(words, half, tape)
                continue
            doubt = most * 2.0**-51
            room[:] = words
            np.multiply(room, 2.0**-63, out=room)  # s·n/2⁶⁴ = (s/2⁶³)·(h + 1/2)
            np.add(half, 0.5, out=out)
            np.multiply(room, out, out=room)
            np.add(room, 0.5 + doubt, out=room)
            np.floor(room, out=out)
            np.subtract(room, out, out=room)
            if room.min() < 2 * doubt:
                near = np.flatnonzero(room < 2 * doubt)
                out[near] = _decide(words[near], half[near], tape)
            column[start : start + size] = out
    return list(columns)


class _Boxes(Protocol):
    """Writes the numbers of boxes, as floats."""

    def write(self, tape: Tape, indices: "Floats", room: "Floats") -> object:
        """Write one number for each place."""
        ...


def _box_sampler(scheme: JointScheme) -> _Boxes | None:
    """Return the array sampler of the boxes, or None if sides may be too long for floats."""
    boxes = scheme.boxes
    if isinstance(boxes, RunScheme):
        lookup: IndexLookup = run_lookup(boxes)
        reach = boxes.reach
    elif isinstance(boxes, GrowingBoxes):
        lookup = digit_lookup(boxes.table)
        reach = 64 * len(boxes.table.thresholds)
    else:
        return None
    sampler = InversionSampler(lookup, boxes.index_if_certain, WordReader())
    longest = max(2 * (reach * shift + edge) + 1 for shift, edge in scheme.sides)
    return sampler if longest < 1 << 52 else None


def _decide(words: "Integers", halves: "Floats", tape: Tape) -> "Integers":
    """Return the index of each word exactly; a rejected word is replaced by further words."""
    indices = []
    for word, half in zip(to_unsigned(words).tolist(), halves.tolist(), strict=True):
        points = 2 * int(half) + 1
        ticket = ticket_if_accepted(word, WORD, points)
        if ticket is None:
            ticket = uniform_below(points, tape)
        indices.append(ticket - int(half))
    return np.array(indices, dtype=np.int64)


def _draw_one_by_one(
    scheme: JointScheme, rows: int, tape: Tape
) -> "list[Integers | NDArray[np.object_]]":
    points = [scheme.draw(tape) for _ in range(rows)]
    columns: list[Integers | NDArray[np.object_]] = []
    for place in range(len(scheme.sides)):
        column = np.empty(rows, dtype=object)
        column[:] = [point[place] for point in points]
        columns.append(column)
    return columns
