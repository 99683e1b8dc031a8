"""Exact inversion by as many words as it takes.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and the point that holds ticket ⌊U·total⌋
has exactly its law. The first word nearly always settles the point. Where U could still lie on
either side of an edge between two points, and only there, the next word is read. Floats propose
the point with a bound of how far off they are; exact numbers settle what that leaves in doubt.
"""

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from leastnoise.core.exact import as_float
from leastnoise.core.noise import DiscreteSteps
from leastnoise.core.sampling.entropy import WORD, Tape


def decided(law: DiscreteSteps, word: int, bits: int) -> int | None:
    """Return the index for every U in [word, word + 1)/2^bits, or None if there are two.

    The tickets lie in the order of the points; so it is enough to look at both ends.
    """
    total = law.total
    first, last = word * total >> bits, ((word + 1) * total - 1) >> bits
    lowest = law.index_of(first)
    highest = lowest if first == last else law.index_of(last)
    return lowest if lowest == highest else None


def inverted(law: DiscreteSteps, word: int, tape: Tape) -> int:
    """Return the index for the U that begins with a word of 64 bits; read on while undecided."""
    bits = WORD
    while True:
        index = decided(law, word, bits)
        if index is not None:
            return index
        word, bits = (word << WORD) | tape.word(WORD), bits + WORD


class FloatRuns:
    """The inverse of the distribution function of a law in runs, in floats with a proved doubt.

    In run k the place of U is first + (U·total − C)/weight, C the tickets before the run. A word
    stands for the U from word/2⁶⁴ up to the next: the place of its lower end is computed in floats,
    less than ``doubt`` off, and ``doubt`` is added. Then the floor is the index for every U of the
    word unless the part behind the point is below 2·doubt.

    Attributes:
        thresholds: Of each run, ⌊2⁶⁴·C/total⌋: the word that it begins with.
        scales: How many points a word spans.
        doubts: How far off a place can be.
    """

    def __init__(self, law: DiscreteSteps) -> None:
        """Take the numbers of each run."""
        total = law.total
        before = accumulate((run.points * run.weight for run in law.runs), initial=0)
        self.law = law
        self.thresholds = [(c << WORD) // total for c, _ in zip(before, law.runs, strict=False)]
        scales = [as_float(Fraction(total, run.weight << WORD)) for run in law.runs]
        # A dozen roundings of numbers up to twice the farthest index; a threshold that is rounded
        # down, and a word that stands for an interval: one point's share of a word each.
        rounding = as_float(Fraction(law.farthest + 1, 1 << 48))
        doubts = [rounding + 2 * scale for scale in scales]
        # A run whose points are hardly wider than a word is never settled here.
        fine = [doubt < 0.25 for doubt in doubts]
        self.scales = [s if ok else 0.0 for s, ok in zip(scales, fine, strict=True)]
        self.doubts = [d if ok else 1.0 for d, ok in zip(doubts, fine, strict=True)]
        firsts = [run.first for run in law.runs]
        self._runs = list(zip(self.thresholds, self.scales, self.doubts, firsts, strict=True))

    def index(self, word: int, tape: Tape) -> int:
        """Return what :func:`inverted` returns."""
        threshold, scale, doubt, first = self._runs[bisect_right(self.thresholds, word) - 1]
        place = (word - threshold) * scale + doubt
        index = int(place)
        if place - index < 2 * doubt:
            return inverted(self.law, word, tape)
        return first + index


@lru_cache(maxsize=64)
def float_runs(law: DiscreteSteps) -> FloatRuns:
    """Return the numbers of a law in runs."""
    return FloatRuns(law)
