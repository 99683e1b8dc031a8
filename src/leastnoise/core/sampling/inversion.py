"""Exact inversion by as many words as it takes, and the noise in runs that it samples.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and the point that holds ticket ⌊U·total⌋
has exactly its probability. The first word nearly always settles the point. Where U could still lie
on either side of an edge between two points, and only there, the next word is read. Floats propose
the point with a bound of how far off they are; exact numbers settle what that leaves in doubt.
"""

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from leastnoise.core.exact import as_float
from leastnoise.core.lattice import Run
from leastnoise.core.sampling.entropy import WORD, Tape


def draw_exactly(index_if_certain: Callable[[int, int], int | None], word: int, tape: Tape) -> int:
    """Return the index for the U that begins with a word of 64 bits; read on while undecided.

    ``index_if_certain(word, bits)`` returns the index that every U in [word, word + 1)/2^bits has,
    or None if that is not certain.
    """
    bits = WORD
    while (index := index_if_certain(word, bits)) is None:
        word, bits = (word << WORD) | tape.word(WORD), bits + WORD
    return index


class RunScheme:
    """Samples noise in runs of equal weight, from left to right, by inversion.

    In run k the place of U is first + (U·total − C)/weight, C the tickets before the run. A word
    stands for the U from word/2⁶⁴ up to the next: the place of its lower end is computed in floats,
    less than ``doubt`` off, and ``doubt`` is added. Then the floor is the index for every U of the
    word unless the part behind the point is below 2·doubt.

    Attributes:
        runs: The runs.
        starts: For each run, the tickets before it; then the number of all tickets.
        thresholds: For each run, ⌊2⁶⁴·C/total⌋: the word that it begins with.
        scales: For each run, how many points a word spans.
        doubts: For each run, how far off a place can be.
    """

    def __init__(self, runs: tuple[Run, ...]) -> None:
        """Compute the numbers of each run."""
        self.runs = runs
        self.starts = [*accumulate((run.points * run.weight for run in runs), initial=0)]
        self.total = total = self.starts[-1]
        self.reach = max(-runs[0].first, runs[-1].first + runs[-1].points - 1)
        self.thresholds = [(start << WORD) // total for start in self.starts[:-1]]
        scales = [as_float(Fraction(total, run.weight << WORD)) for run in runs]
        # A dozen roundings of numbers up to twice the farthest index; a threshold that is rounded
        # down, and a word that stands for an interval: one point's share of a word each.
        rounding = as_float(Fraction(self.reach + 1, 1 << 48))
        doubts = [rounding + 2 * scale for scale in scales]
        # A run whose points are hardly wider than a word is never settled by floats.
        fine = [doubt < 0.25 for doubt in doubts]
        self.scales = [s if ok else 0.0 for s, ok in zip(scales, fine, strict=True)]
        self.doubts = [d if ok else 1.0 for d, ok in zip(doubts, fine, strict=True)]
        firsts = [run.first for run in runs]
        self._rows = list(zip(self.thresholds, self.scales, self.doubts, firsts, strict=True))

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        return self.index(tape.word(WORD), tape)

    def index(self, word: int, tape: Tape) -> int:
        """Return the index for the U that begins with ``word``; read on while undecided."""
        threshold, scale, doubt, first = self._rows[bisect_right(self.thresholds, word) - 1]
        place = (word - threshold) * scale + doubt
        index = int(place)
        if place - index < 2 * doubt:
            return draw_exactly(self.index_if_certain, word, tape)
        return first + index

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return the index for every U in [word, word + 1)/2^bits, or None if there are two.

        The tickets lie in the order of the points; so it is enough to look at both ends.
        """
        first, last = word * self.total >> bits, ((word + 1) * self.total - 1) >> bits
        lowest = self.index_of(first)
        highest = lowest if first == last else self.index_of(last)
        return lowest if lowest == highest else None

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket: the tickets lie in the order of the points."""
        place = bisect_right(self.starts, ticket) - 1
        run = self.runs[place]
        return run.first + (ticket - self.starts[place]) // run.weight


@lru_cache(maxsize=64)
def run_scheme(runs: tuple[Run, ...]) -> RunScheme:
    """Return the scheme of these runs: one for all noise that is equal."""
    return RunScheme(runs)
