"""What every sampling scheme offers, and the two for noise with finitely many points.

Those are by one uniform integer, and by exact inversion with as many words as it takes:
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
from typing import Protocol

from leastnoise.core.exact import as_float
from leastnoise.core.lattice import Run
from leastnoise.core.sampling.entropy import WORD, Tape


class Scheme(Protocol):
    """An exact sampler of one lattice noise.

    There are four: by one uniform integer (:class:`TicketScheme`), by inversion of runs of equal
    weight (:class:`RunScheme`), by a place and a geometric number (:class:`StaircaseScheme`) and by
    the quantiles of a rounded smooth noise (:class:`QuantileScheme`).
    """

    @property
    def reach(self) -> int:
        """How large an index can be; of unbounded noise, but for one in 2⁶² samples."""
        ...

    def draw(self, tape: Tape) -> int:
        """Return one index of the lattice.

        Contract: for any tape of independent fair bits the index is j with probability exactly
        ``weight(j) / total``. How many bits are read does not depend on what comes out, except that
        a word is rejected, or read on from, with a small probability.
        """
        ...


class TicketScheme:
    """Samples uniform noise on a lattice, with less at its two ends and more at 0.

    Of ``total`` tickets each point up to ``side`` steps from 0 holds ``level``, the next one on
    either side holds ``rim``, and 0 holds ``atom`` more. One ticket decides both the mass at 0 and
    the rest: a coin first, and the spread part only where it is needed, would reveal by its timing
    that the exact value was released.
    """

    def __init__(self, *, side: int, level: int, rim: int, atom: int) -> None:
        self.side, self.level, self.rim, self.atom = side, level, rim, atom
        self.total = atom + (2 * side + 1) * level + 2 * rim
        self.reach = side + (1 if rim else 0)
        self._bits = word_bits(self.total)

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        bits, total = self._bits, self.total
        while (ticket := accepted(tape.word(bits), bits, total)) is None:
            pass
        return self.index_of(ticket)

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket: rim, level and rim from left to right, the atom."""
        if ticket >= self.total - self.atom:
            return 0
        return (ticket + self.level - self.rim) // self.level - self.side - 1

    @property
    def runs(self) -> tuple[Run, ...]:
        """The same weights from left to right."""
        side, rim = self.side, self.rim
        runs = [
            Run(-side - 1, 1, rim),
            Run(-side, side, self.level),
            Run(0, 1, self.level + self.atom),
            Run(1, side, self.level),
            Run(side + 1, 1, rim),
        ]
        return tuple(run for run in runs if run.points and run.weight)


def uniform_below(total: int, tape: Tape) -> int:
    """Return a uniform integer in [0, total): read words until one is accepted."""
    bits = word_bits(total)
    while (ticket := accepted(tape.word(bits), bits, total)) is None:
        pass
    return ticket


def word_bits(total: int) -> int:
    """Return how many bits a word has: whole 64s, at least two more than ``total`` needs."""
    return 64 * ((total.bit_length() + 1) // 64 + 1)


def accepted(word: int, bits: int, total: int) -> int | None:
    """Return the ticket of a uniform word of ``bits`` bits, or None if the word is rejected.

    ⌊word·total / 2^bits⌋ takes each ticket ⌊2^bits/total⌋ or ⌈2^bits/total⌉ times. Rejecting the
    products whose low part is below 2^bits mod total leaves each exactly ⌊2^bits/total⌋ words
    (Lemire, Fast Random Integer Generation in an Interval, 2019, Algorithm 5).
    """
    product = word * total
    low = product & ((1 << bits) - 1)
    if low < total and low < (1 << bits) % total:
        return None
    return product >> bits


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
