"""Many indices of smooth noise, rounded to a lattice, at once: with numpy, exactly as one by one.

The 64-bit words of :mod:`leastnoise.sampling.quantiles` leave the tail q an interval of length
2⁻⁶⁴. Its lower end, as a float, is looked up by its exponent and first digits in a table of Taylor
polynomials of Q. The place Q/step is then at most ``doubt`` off for all of the interval, proved
beforehand; what that leaves in doubt, and the words of the farthest tails, are settled one by one,
reading further words of the same tape after the block (docs/theory/drawing.md).
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, ldexp, nextafter
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.exact import as_float
from leastnoise.noise import Rounded
from leastnoise.sampling.inversion import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Signed = NDArray[np.int64]

# Buckets to an octave of tails, as a power of two; how many octaves at most, for the tails beyond
# are too rare to be worth a table; and the largest degree.
_BUCKET_BITS = 5
_OCTAVES = 20
_LARGEST_DEGREE = 8
# A share of words that may be settled one by one without being felt.
_FEW = Fraction(1, 1 << 16)
# Draws that are made one by one rather than that a table is made for them.
_SOME = 1500
# Words at a time, so that all arrays of a pass stay in the cache.
_CHUNK = 1 << 14
_MANTISSA, _BIAS = 52, 1023
_LARGEST = np.int64((1 << 63) - 1)
# The largest part of a number that rounding it to a float can put it off by.
_UNIT = Fraction(1, 1 << 53)
# A tail rounded to a float can lie in the next bucket, by a hair.
_BEFORE = 1 - Fraction(1, 1 << 10)
# How accurate the coefficients are before they are rounded.
_BITS = 64


@dataclass(frozen=True)
class Plan:
    """How many octaves of tails get polynomials, of which degree, and how far off they can be."""

    octaves: int
    degree: int
    doubt: float

    @property
    def left(self) -> Fraction:
        """A bound of the share of words that are settled one by one."""
        return 2 * Fraction(self.doubt) + Fraction(1, 1 << self.octaves)


class QuantileTable:
    """The polynomials of one law, made by a plan."""

    def __init__(self, law: Rounded, plan: Plan) -> None:
        """Make the polynomials."""
        self._doubt = plan.doubt
        self._first = _first_row(plan)
        self._rows = _rows(law, plan)

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
        np.right_shift(digits, _MANTISSA - _BUCKET_BITS, out=buckets)
        np.left_shift(buckets, _MANTISSA - _BUCKET_BITS, out=middles)
        np.bitwise_or(middles, 1 << (_MANTISSA - _BUCKET_BITS - 1), out=middles)
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
    kept = _kept(law)
    with kept.lock:  # the threads of one array want it at the same time
        if kept.table is None and draws >= _SOME:
            kept.table = QuantileTable(law, planned(law))
        return kept.table


@dataclass
class _Kept:
    lock: AbstractContextManager[bool]
    table: QuantileTable | None = None


@lru_cache(maxsize=32)
def _kept(law: Rounded) -> _Kept:  # noqa: ARG001 -- the cache's key
    return _Kept(Lock())


def planned(law: Rounded) -> Plan:
    """Return the plan of the lowest degree that leaves few words, or of the best that there is."""
    worst = [Fraction(0)] * (_LARGEST_DEGREE + 1)
    best: dict[int, Plan] = {}
    for octave in range(1, _OCTAVES + 1):
        terms = _terms(law, octave)
        for degree in range(1, _LARGEST_DEGREE + 1):
            worst[degree] = max(worst[degree], _doubt(terms, degree, octave))
            plan = Plan(octave, degree, nextafter(as_float(worst[degree]), inf))
            if degree not in best or plan.left < best[degree].left:
                best[degree] = plan
    enough = (plan for plan in best.values() if plan.left <= _FEW)
    return next(enough, min(best.values(), key=lambda plan: plan.left))


def _terms(law: Rounded, octave: int) -> list[Fraction]:
    """Bound each term of the polynomials of an octave, in steps, and the one that follows them.

    They are largest where the tail is least: so at the octave's start, or a little before. Their
    signs alternate.
    """
    start = Fraction(1, 2 << octave)
    series = law.noise.series(start * _BEFORE, _LARGEST_DEGREE + 2, _BITS)
    reach = start / (2 << _BUCKET_BITS)  # from the middle of a bucket to its ends
    # Rounded up to few digits, for they are added up many times.
    return [
        term.scaled((-reach) ** n / law.step).shortened(32).upper for n, term in enumerate(series)
    ]


def _doubt(terms: list[Fraction], degree: int, octave: int) -> Fraction:
    """Bound how far off a place is, for any q of a word, in steps (docs/theory/drawing.md)."""
    start = Fraction(1, 2 << octave)
    slope = terms[1] / (start / (2 << _BUCKET_BITS))
    remainder = terms[degree + 1]
    roundings = (2 * degree + 4) * _UNIT * (1 + sum(terms[: degree + 1]))
    word = slope * (Fraction(2, 1 << WORD) + 2 * start * _UNIT)
    return remainder + roundings + word + _UNIT


def _rows(law: Rounded, plan: Plan) -> "list[Floats]":
    """Return the coefficients of each power, the highest first, by bucket.

    The first and the last row are of the tails before and after; there every place is 0, which is
    in doubt.
    """
    buckets = 1 << _BUCKET_BITS
    rows = np.zeros((plan.degree + 1, plan.octaves * buckets + 2))
    for bucket in range(plan.octaves * buckets):
        octave, place = divmod(bucket, buckets)
        start = Fraction(1 << octave, 2 << plan.octaves)
        middle = start + start * (2 * place + 1) / (2 * buckets)
        series = law.noise.series(middle, plan.degree + 1, _BITS)
        terms = [term.lower / law.step for term in series]
        terms[0] += Fraction(1, 2) + Fraction(plan.doubt)
        # Words count tails in units of 2⁻⁶⁴.
        rows[:, bucket + 1] = [ldexp(as_float(term), -WORD * n) for n, term in enumerate(terms)]
    return list(reversed(rows))


def _first_row(plan: Plan) -> int:
    """Return what the first bits of a float are just before the first octave."""
    return ((_BIAS + WORD - 1 - plan.octaves) << _BUCKET_BITS) - 1
