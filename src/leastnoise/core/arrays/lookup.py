"""Tables by which many words are turned into indices at once.

Exact inversion of many words at once, with numpy.

Each table splits [0, 1) into 2^g buckets by the top bits of a word. A bucket that lies whole within
one run of points (or one digit) answers for all its words, with a bound of how far floats can be
off; words in other buckets are looked up among the thresholds; what floats and thresholds cannot
settle for certain goes to :mod:`leastnoise.core.sampling.inversion` or
:mod:`leastnoise.core.sampling.geometric`, which read further words of the same tape after
the block. Words are as :class:`~leastnoise.core.sampling.entropy.Tape` stores them: centred, as
signed integers.

Many indices of smooth noise, rounded to a lattice, at once: with numpy, exactly as one by one.

The polynomials of :mod:`leastnoise.core.sampling.quantile`, evaluated in the same floats for
all words of a block. What they leave in doubt is settled one by one, reading further words of the
same tape after the block (docs/theory/drawing.md).
"""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.core.exact import as_float
from leastnoise.core.noise import DiscreteSteps, Rounded
from leastnoise.core.sampling import (
    BUCKET_BITS,
    WORD,
    Digit,
    Polynomials,
    Tape,
    float_runs,
    inverted,
    prepared,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Signed = NDArray[np.int64]
    Floats = NDArray[np.float64]


# Buckets for each threshold, so that few words fall into a bucket with one in it; and the most and
# the fewest bits of a word that choose a bucket.
_SPARSE_BITS = 5


class RunsTable:
    """:class:`~leastnoise.core.sampling.FloatRuns` for many words, for indices below 2⁵²."""

    def __init__(self, law: DiscreteSteps) -> None:
        """Make the tables of thresholds and of buckets."""
        self._law = law
        runs = float_runs(law)
        self._thresholds = np.array(runs.thresholds, dtype=np.uint64)
        self._scales, self._doubts = np.array(runs.scales), np.array(runs.doubts)
        self._bases = np.array([float(run.first) for run in law.runs]) + self._doubts

        bits = _bucket_bits(len(law.runs))
        self._shift, self._mask = np.uint64(WORD - bits), np.int64((1 << (WORD - bits)) - 1)
        scale, base = np.zeros(1 << bits), np.zeros(1 << bits)
        owners, total = [], law.total
        starts = [0, *accumulate(run.points * run.weight for run in law.runs)]
        for k, run in enumerate(law.runs):
            first, end = -(-(starts[k] << bits) // total), (starts[k + 1] << bits) // total
            if end > first and runs.scales[k]:
                gone = Fraction((first * total) - (starts[k] << bits), run.weight << bits)
                stride = as_float(Fraction(total, run.weight << bits))
                scale[first:end] = runs.scales[k]
                base[first:end] = as_float(run.first + gone) + np.arange(end - first) * stride
                owners.append((first, end, runs.doubts[k]))
        # One doubt for all buckets; the empty ones have a part behind the point of 0, below it.
        self._doubt = max((doubt for _, _, doubt in owners), default=1.0)
        for first, end, _ in owners:
            base[first:end] += self._doubt
        self._bucket_scale, self._bucket_base = _by_stored_word(scale), _by_stored_word(base)

    def indices(self, words: "Signed", tape: Tape, places: "Floats", out: "Floats") -> None:
        """Write the index of each word into ``out``; ``places`` is room for as many floats."""
        buckets = (words.view(np.uint64) >> self._shift).view(np.int64)
        np.take(self._bucket_scale, buckets, out=places, mode="clip")
        np.take(self._bucket_base, buckets, out=out, mode="clip")
        np.multiply(np.bitwise_and(words, self._mask, out=buckets), places, out=places)
        np.add(places, out, out=places)
        np.floor(places, out=out)
        np.subtract(places, out, out=places)
        near = np.flatnonzero(places < 2 * self._doubt)
        if len(near):
            self._look_up(words, near, tape, out)

    def _look_up(
        self, words: "Signed", near: "NDArray[np.intp]", tape: Tape, out: "Floats"
    ) -> None:
        """Settle single words by their run, and exactly what floats leave in doubt."""
        unsigned = uncentred(words[near])
        run = np.searchsorted(self._thresholds, unsigned, side="right") - 1
        gone = unsigned - self._thresholds[run]
        place = gone.astype(np.float64) * self._scales[run] + self._bases[run]
        index = np.floor(place)
        out[near] = index
        unsure = np.flatnonzero(place - index < 2 * self._doubts[run])
        for at in unsure.tolist():
            out[near[at]] = inverted(self._law, int(unsigned[at]), tape)


class DigitTable:
    """The inverse of the distribution function of one digit of a geometric number."""

    def __init__(self, digit: Digit) -> None:
        """Make the tables of thresholds and of buckets."""
        self._digit = digit
        found = digit.thresholds
        self._thresholds = np.array(found, dtype=np.uint64)
        bits = _bucket_bits(len(found))
        self._shift = np.uint64(WORD - bits)
        values = np.full(1 << bits, -1.0)
        ends = [*found[1:], 1 << WORD]
        for k in range(len(found)):
            # From the first bucket after the threshold's doubt to the last that ends before the
            # next threshold.
            first = -(-(found[k] + 2) >> (WORD - bits)) if k else 0
            end = ends[k] >> (WORD - bits)
            if digit.settled(k) and end > first:
                values[first:end] = k
        self._values = _by_stored_word(values)

    def digits(self, words: "Signed", tape: Tape, out: "Floats") -> dict[int, int]:
        """Write the digit of each word into ``out``; return those that were settled exactly."""
        buckets = (words.view(np.uint64) >> self._shift).view(np.int64)
        np.take(self._values, buckets, out=out, mode="clip")
        near = np.flatnonzero(out < 0)
        unsigned = uncentred(words[near])
        place = np.searchsorted(self._thresholds, unsigned, side="right") - 1
        out[near] = place
        unsure = (unsigned - self._thresholds[place] <= 1) & (place > 0)
        if self._digit.last:
            unsure |= place == len(self._thresholds) - 1
        settled = {}
        for at in np.flatnonzero(unsure).tolist():
            settled[int(near[at])] = self._digit.resolved(int(unsigned[at]), tape)
        for at, value in settled.items():
            out[at] = as_float(value)
        return settled


@lru_cache(maxsize=32)
def runs_table(law: DiscreteSteps) -> RunsTable:
    """Return the table of a law in runs."""
    return RunsTable(law)


@lru_cache(maxsize=64)
def digit_table(digit: Digit) -> DigitTable:
    """Return the table of a digit."""
    return DigitTable(digit)


def uncentred(words: "Signed") -> "Words":
    """Undo the centring of stored words: flip the sign bit, which adds 2⁶³."""
    return words.view(np.uint64) ^ np.uint64(1 << 63)


def _bucket_bits(thresholds: int) -> int:
    return min(max(thresholds.bit_length() + _SPARSE_BITS, _FEWEST_BITS), _MOST_BITS)


def _by_stored_word(table: "Floats") -> "Floats":
    """Order a table by the top bits of words as they are stored, with the sign bit flipped."""
    return np.roll(table, len(table) // 2)


# Words at a time, so that all arrays of a pass stay in the cache.
_CHUNK = 1 << 14
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


_MOST_BITS, _FEWEST_BITS = 15, 8
_MANTISSA, _BIAS = 52, 1023
