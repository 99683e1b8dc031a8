"""Tables that convert many words to indices at once.

Each table has ``propose``. It writes an index for every word, as a float, and returns the places of
the doubtful ones, which exact numbers decide one by one (draw.py).

The tables of runs and of digits split [0, 1) into buckets by the top bits of a word. A bucket
within one run of points (or one digit) gives the index of all its words, with a bound of the error
of floats. Words in other buckets are searched among the thresholds. The table of quantiles
evaluates the polynomials of :mod:`leastnoise.core.sampling.quantile`, in the same floats, for all
words of a block (docs/theory/drawing.md).

A tape stores a word w as the 64-bit integer w − 2⁶³ (:class:`leastnoise.core.sampling.Tape`). Read
as an int64 it is centered at no cost, and samplers use it like that: a uniform integer in
[−2⁶³, 2⁶³). Only this module depends on that representation.
"""

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from leastnoise.core.exact import as_float
from leastnoise.core.sampling import BUCKET_BITS, WORD, DigitTable, Polynomials, RunScheme, Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


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
        self.bits = bits
        self._shift = np.uint64(WORD - bits)
        self._low = np.int64((1 << (WORD - bits)) - 1)

    def of(self, words: "Words") -> "NDArray[np.int64]":
        """Return the row of each word in a table from :meth:`arrange`."""
        return (words.view(np.uint64) >> self._shift).view(np.int64)

    def low_bits(self, words: "Words", out: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """Write the distance of each word from the start of its bucket."""
        return np.bitwise_and(words, self._low, out=out)

    @staticmethod
    def arrange(table: "Floats") -> "Floats":
        """Rotate a table by bucket, lowest first, for centered words: negative ones come last."""
        return np.roll(table, len(table) // 2)


class IndexLookup(Protocol):
    """Proposes indices for words."""

    def propose(self, words: "Words", indices: "Floats", room: "Floats") -> "Places":
        """Write the index of each word; return the places of the doubtful ones.

        ``room`` is an array of as many floats, which is overwritten.
        """
        ...


class RunLookup:
    """:class:`~leastnoise.core.sampling.RunScheme` for many words, for indices below 2⁵²."""

    def __init__(self, scheme: RunScheme) -> None:
        self._thresholds = np.array(scheme.thresholds, dtype=np.uint64)
        self._scales, self._doubts = np.array(scheme.scales), np.array(scheme.doubts)
        self._bases = np.array([float(run.first) for run in scheme.runs]) + self._doubts

        self._buckets, starts, total = _buckets(len(scheme.runs)), scheme.starts, scheme.total
        bits = self._buckets.bits
        scale, base = np.zeros(1 << bits), np.zeros(1 << bits)
        owners = []
        for k, run in enumerate(scheme.runs):
            first, end = -(-(starts[k] << bits) // total), (starts[k + 1] << bits) // total
            if end > first and scheme.scales[k]:
                offset = Fraction((first * total) - (starts[k] << bits), run.weight << bits)
                stride = as_float(Fraction(total, run.weight << bits))
                scale[first:end] = scheme.scales[k]
                base[first:end] = as_float(run.first + offset) + np.arange(end - first) * stride
                owners.append((first, end, scheme.doubts[k]))
        # One doubt for all buckets. Empty buckets have fractional part 0, which is below it.
        self._doubt = max((doubt for _, _, doubt in owners), default=1.0)
        for first, end, _ in owners:
            base[first:end] += self._doubt
        self._bucket_scale = self._buckets.arrange(scale)
        self._bucket_base = self._buckets.arrange(base)

    def propose(self, words: "Words", indices: "Floats", room: "Floats") -> "Places":
        """See IndexLookup."""
        buckets, places = self._buckets.of(words), room
        np.take(self._bucket_scale, buckets, out=places, mode="clip")
        np.take(self._bucket_base, buckets, out=indices, mode="clip")
        np.multiply(self._buckets.low_bits(words, out=buckets), places, out=places)
        np.add(places, indices, out=places)
        np.floor(places, out=indices)
        np.subtract(places, indices, out=places)
        near = np.flatnonzero(places < 2 * self._doubt)
        if len(near):
            indices[near], unsure = self._look_up(to_unsigned(words[near]))
            near = near[unsure]
        return near

    def _look_up(self, words: "NDArray[np.uint64]") -> "tuple[Floats, Places]":
        """Return the indices of single words by their runs, and the places of the doubtful ones."""
        run = np.searchsorted(self._thresholds, words, side="right") - 1
        offset = words - self._thresholds[run]
        place = offset.astype(np.float64) * self._scales[run] + self._bases[run]
        index = np.floor(place)
        return index, np.flatnonzero(place - index < 2 * self._doubts[run])


class DigitLookup:
    """:class:`~leastnoise.core.sampling.DigitTable` for many words."""

    def __init__(self, table: DigitTable) -> None:
        self._last, thresholds = table.digit.last, table.thresholds
        self._thresholds = np.array(thresholds, dtype=np.uint64)
        self._buckets = _buckets(len(thresholds))
        shift = WORD - self._buckets.bits
        values = np.full(1 << self._buckets.bits, -1.0)
        # A word beyond the last threshold of the last digit can have any larger digit.
        ends = [*thresholds[1:], thresholds[-1] if self._last else 1 << WORD]
        for k, threshold in enumerate(thresholds):
            # From the first bucket after the threshold's doubt to the last that ends before the
            # next threshold.
            first, end = -(-(threshold + 2) >> shift) if k else 0, ends[k] >> shift
            if end > first:
                values[first:end] = k
        self._values = self._buckets.arrange(values)

    def propose(self, words: "Words", indices: "Floats", _: "Floats") -> "Places":
        """See IndexLookup."""
        np.take(self._values, self._buckets.of(words), out=indices, mode="clip")
        near = np.flatnonzero(indices < 0)
        single = to_unsigned(words[near])
        digit = np.searchsorted(self._thresholds, single, side="right") - 1
        indices[near] = digit
        unsure = (single - self._thresholds[digit] <= 1) & (digit > 0)
        if self._last:
            unsure |= digit == len(self._thresholds) - 1
        return near[unsure]


class QuantileLookup:
    """The polynomials of one scheme, in arrays: the coefficients of each power, by bucket."""

    def __init__(self, polynomials: Polynomials) -> None:
        """Lay out the polynomials, the highest power first.

        The first and the last entry are for tails before and after the table. There every place is
        0, which is in doubt.
        """
        plan = polynomials.plan
        self._doubt = plan.doubt
        # The first bits of a float just before the first octave.
        self._first = ((_BIAS + WORD - 1 - plan.octaves) << BUCKET_BITS) - 1
        coefficients = np.array([row for _, row in polynomials.rows])
        self._rows = [np.pad(column, 1) for column in coefficients.T]

    def propose(self, words: "Words", indices: "Floats", room: "Floats") -> "Places":
        """See IndexLookup."""
        tails, near = room[:_CHUNK], []
        more, buckets = np.empty(len(tails)), np.empty(len(tails), dtype=np.int64)
        for start in range(0, len(words), _CHUNK):
            part = words[start : start + _CHUNK]
            size = len(part)
            out = indices[start : start + size]
            near.append(start + self._chunk(part, out, tails[:size], more[:size], buckets[:size]))
        return np.concatenate(near)

    def _chunk(
        self, words: "Words", out: "Floats", tails: "Floats", room: "Floats", buckets: "Words"
    ) -> "Places":
        """Write the indices into ``out``; return the places of the doubtful ones.

        The other arrays are overwritten.
        """
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
        highest, *lower = self._rows
        np.take(highest, buckets, out=out, mode="clip")
        for row in lower:
            np.multiply(out, tails, out=out)
            np.take(row, buckets, out=room, mode="clip")
            np.add(out, room, out=out)
        np.floor(out, out=room)
        np.subtract(out, room, out=tails)
        # The sign of the word; adding 0 turns −0.0 into 0.0.
        np.copysign(room, words.view(np.float64), out=out)
        np.add(out, 0.0, out=out)
        return np.flatnonzero(tails < 2 * self._doubt)


run_lookup = lru_cache(maxsize=32)(RunLookup)
digit_lookup = lru_cache(maxsize=64)(DigitLookup)
quantile_lookup = lru_cache(maxsize=32)(QuantileLookup)

# The number of words evaluated at a time, so that all arrays stay in the cache.
_CHUNK = 1 << 14
_LARGEST = np.int64((1 << 63) - 1)
_MANTISSA, _BIAS = 52, 1023
# Buckets for each threshold, as a power of two, so that few words fall into a bucket with a
# threshold; and the most and the fewest bits of a word that choose a bucket.
_SPARSE_BITS = 5
_MOST_BITS, _FEWEST_BITS = 15, 8


def _buckets(thresholds: int) -> Buckets:
    return Buckets(min(max(thresholds.bit_length() + _SPARSE_BITS, _FEWEST_BITS), _MOST_BITS))
