"""Many exact integers from a tape of bits, with numpy: the same ones that draws.py would give.

For a law whose points all weigh 1 the index is ⌊y + 1/2⌋ with y = s·total/2⁶⁴ + atom/2, s the word
as a signed integer. Floats propose it; where y lies so near an edge between two indices that
rounding could matter, or that the word could have to be refused, 64-bit integers settle it. Other
laws go through the integers altogether.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.noise import DiscreteUniform, LatticeNoise
from leastnoise.sampling.draws import word_bits
from leastnoise.sampling.entropy import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

# Elements in a block: small enough for the caches, large enough to hide the calls.
BLOCK = 1 << 17
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def fits(law: LatticeNoise) -> bool:
    """Whether this law can be drawn here: one 64-bit word a draw, indices that floats hold."""
    return word_bits(law.total) == 64 and law.farthest < 1 << 52


def blocks(law: LatticeNoise, size: int, tape: Tape, scratch: "Floats") -> "Iterator[Floats]":
    """Yield ``size`` indices, in blocks of whole numbers held as floats.

    A block is overwritten by the next. A word that is refused is passed over, as one by one, so
    blocks may be shorter than :data:`BLOCK`. ``scratch`` is room for one block that is free between
    blocks: the fewer arrays there are, the more of them stay in the cache.
    """
    tickets = _Tickets(law, scratch)
    buffer = bytearray(8 * min(BLOCK, size))
    while size:
        if size < BLOCK:
            buffer = bytearray(8 * size)
        tape.fill(buffer)
        block = tickets.indices(np.frombuffer(buffer, dtype="<i8"))
        size -= len(block)
        if len(block):  # every word of a short block can be refused
            yield block


class _Tickets:
    """Turns words into indices of one law."""

    def __init__(self, law: LatticeNoise, scratch: "Floats") -> None:
        self._law = law
        self._even = isinstance(law, DiscreteUniform) and law.level == 1 and law.rim == 0
        self._reach = law.farthest
        self._scale = law.total * 2.0**-64
        # Converting the word, the product, the sum and the shift itself put y off by less than
        # this. Adding it makes the error one-sided: only where the part behind the point is below
        # twice as much can the floor be wrong. Refused words lie there too, for they are those
        # with a part behind the point below total/2⁶⁴.
        self._doubt = law.total * 2.0**-51
        self._atom = law.total - 2 * law.farthest - 1  # where every point weighs 1
        self._shift = 0.5 + self._atom / 2 + self._doubt
        self._places = scratch
        self._indices = np.empty(len(scratch))

    def indices(self, words: "NDArray[np.int64]") -> "Floats":
        """Return the index of each word that is accepted, in order."""
        if not self._even or self._doubt >= 0.25:
            tickets, accepted = _accepted(_uncentred(words), self._law.total)
            held: Floats = self._law.indices_of(tickets[accepted].astype(np.int64))
            return held.astype(np.float64)
        places, indices = self._places[: len(words)], self._indices[: len(words)]
        np.multiply(words, self._scale, out=places)
        np.add(places, self._shift, out=places)
        np.floor(places, out=indices)
        np.subtract(places, indices, out=places)
        if places.min() < 2 * self._doubt:
            indices = self._settled(words, places, indices)
        if self._atom:
            indices[indices > self._reach] = 0
        return indices

    def _settled(self, words: "NDArray[np.int64]", places: "Floats", indices: "Floats") -> "Floats":
        """Settle by integers what floats could not decide; leave out the words to be refused."""
        near = np.flatnonzero(places < 2 * self._doubt)
        tickets, accepted = _accepted(_uncentred(words[near]), self._law.total)
        indices[near] = tickets.astype(np.int64) - self._reach
        return indices if accepted.all() else np.delete(indices, near[~accepted])


def _accepted(words: "Words", total: int) -> "tuple[Words, NDArray[np.bool_]]":
    """Return the ticket of each 64-bit word and whether it is accepted (draws.accepted)."""
    factor = np.uint64(total)
    upper, lower = factor >> _HALF, factor & _LOW
    high, low = words >> _HALF, words & _LOW
    # The 128-bit product by halves; no partial sum reaches 2⁶⁴ because total < 2⁶².
    inner = high * lower + ((low * lower) >> _HALF)
    outer = low * upper + (inner & _LOW)
    tickets = high * upper + (inner >> _HALF) + (outer >> _HALF)
    return tickets, words * factor >= np.uint64((1 << 64) % total)


def _uncentred(words: "NDArray[np.int64]") -> "Words":
    """Undo the centring: flip the sign bit, which adds 2⁶³."""
    return words.view(np.uint64) ^ np.uint64(1 << 63)
