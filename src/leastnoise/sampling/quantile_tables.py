"""Many indices of smooth noise, rounded to a lattice, at once: with numpy, exactly as one by one.

The polynomials of :mod:`leastnoise.sampling.quantile_polynomials`, evaluated in the same floats for
all words of a block. What they leave in doubt is settled one by one, reading further words of the
same tape after the block (docs/theory/drawing.md).
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.noise import Rounded
from leastnoise.sampling.entropy import WORD
from leastnoise.sampling.quantile_polynomials import BUCKET_BITS, Polynomials, prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Signed = NDArray[np.int64]

# Words at a time, so that all arrays of a pass stay in the cache.
_CHUNK = 1 << 14
_MANTISSA, _BIAS = 52, 1023
_LARGEST = np.int64((1 << 63) - 1)


class QuantileTable:
    """The polynomials of one law, in arrays: the coefficients of each power, by bucket."""

    def __init__(self, polynomials: Polynomials) -> None:
        """Lay out the polynomials, the highest power first.

        The first and the last column are of the tails before and after; there every place is 0,
        which is in doubt.
        """
        plan = polynomials.plan
        self._doubt = plan.doubt
        # What the first bits of a float are just before the first octave.
        self._first = ((_BIAS + WORD - 1 - plan.octaves) << BUCKET_BITS) - 1
        coefficients = np.array([row for _, row in polynomials.rows])
        self._rows = [np.pad(column, 1) for column in coefficients.T]

    def propose(self, words: "Signed", places: "Floats", out: "Floats") -> list[int]:
        """Write the index of each word into ``out``; return the places where it is in doubt.

        ``places`` is room for as many floats.
        """
        few = min(_CHUNK, len(words))
        room, buckets, found = np.empty(few), np.empty(few, dtype=np.int64), []
        for start in range(0, len(words), _CHUNK):
            part = slice(start, start + _CHUNK)
            near = self._chunk(words[part], places[part], out[part], room, buckets)
            found += (near + start).tolist()
        return found

    def _chunk(
        self, words: "Signed", tails: "Floats", out: "Floats", room: "Floats", buckets: "Signed"
    ) -> "NDArray[np.intp]":
        """Write the indices; return the places where they are in doubt."""
        room, buckets = room[: len(words)], buckets[: len(words)]
        # The tail, in units of 2⁻⁶⁴: word + 2⁶³ if negative, else 2⁶³ − 1 − word.
        np.right_shift(words, 63, out=buckets)
        np.bitwise_xor(buckets, _LARGEST, out=buckets)
        np.bitwise_xor(buckets, words, out=buckets)
        tails[:] = buckets
        # The bucket's middle and its row: the first bits of the float.
        middles, digits = out.view(np.int64), tails.view(np.int64)
        np.right_shift(digits, _MANTISSA - BUCKET_BITS, out=buckets)
        np.left_shift(buckets, _MANTISSA - BUCKET_BITS, out=middles)
        np.bitwise_or(middles, 1 << (_MANTISSA - BUCKET_BITS - 1), out=middles)
        np.subtract(tails, out, out=tails)
        np.subtract(buckets, self._first, out=buckets)
        highest, *others = self._rows
        np.take(highest, buckets, out=out, mode="clip")
        for row in others:
            np.multiply(out, tails, out=out)
            np.take(row, buckets, out=room, mode="clip")
            np.add(out, room, out=out)
        np.floor(out, out=room)
        np.subtract(out, room, out=tails)
        # The word's own sign; adding 0 makes −0 to 0.
        np.copysign(room, words.view(np.float64), out=out)
        np.add(out, 0.0, out=out)
        return np.flatnonzero(tails < 2 * self._doubt)


def quantile_table(law: Rounded, draws: int) -> QuantileTable | None:
    """Return the table of a law; None if it is not made yet and does not pay for so few draws."""
    polynomials = prepared(law).after(draws)
    return None if polynomials is None else _table(polynomials)


@lru_cache(maxsize=32)
def _table(polynomials: Polynomials) -> QuantileTable:
    return QuantileTable(polynomials)
