"""Words in arrays: the only file that knows how numpy holds them.

A tape stores a word w as the 64-bit integer w − 2⁶³ (:class:`leastnoise.core.sampling.Tape`). Read
as an int64 it is centered at no cost, which is how samplers take it: a uniform integer in
[−2⁶³, 2⁶³).
"""

from typing import TYPE_CHECKING

import numpy as np

from leastnoise.core.sampling import WORD, Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]
    Floats = NDArray[np.float64]


class WordReader:
    """Reads words from tapes into a buffer of its own."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def read(self, tape: Tape, count: int) -> "Words":
        """Return the next words, centered; the array is overwritten by the next call."""
        if len(self._buffer) != 8 * count:
            self._buffer = bytearray(8 * count)
        tape.fill(self._buffer)
        return np.frombuffer(self._buffer, dtype="<i8")


def to_unsigned(words: "Words") -> "NDArray[np.uint64]":
    """Return the words that a tape would have returned: flip the sign bit, which adds 2⁶³."""
    return words.view(np.uint64) ^ np.uint64(1 << 63)


class Buckets:
    """Splits the words by their top bits into 2^bits buckets."""

    def __init__(self, bits: int) -> None:
        """Take the number of bits."""
        self.bits = bits
        self._shift = np.uint64(WORD - bits)
        self._low = np.int64((1 << (WORD - bits)) - 1)

    def of(self, words: "Words") -> "NDArray[np.int64]":
        """Return the row of each word in a table that :meth:`arrange` has arranged."""
        return (words.view(np.uint64) >> self._shift).view(np.int64)

    def low_bits(self, words: "Words", out: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """Write how far behind the start of its bucket each word lies."""
        return np.bitwise_and(words, self._low, out=out)

    @staticmethod
    def arrange(table: "Floats") -> "Floats":
        """Arrange a table by bucket, the lowest first, for centered words: negative ones last."""
        return np.roll(table, len(table) // 2)
