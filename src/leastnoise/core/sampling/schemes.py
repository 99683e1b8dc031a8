"""The interface of sampling schemes, and the two schemes for noise with finitely many points.

One scheme uses one uniform integer, a ticket. The other is exact inversion, with as many words as
needed: U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and each point holds the ticket
⌊U·total⌋ with exactly its probability. The first word almost always decides the point. If and only
if U could still lie on either side of an edge between two points, the next word is read. Floats
propose the point, with a bound of their error. Exact numbers decide where the bound leaves a doubt.
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
        """The largest |index|; for unbounded noise, one sample in 2⁶² can exceed it."""
        ...

    def draw(self, tape: Tape) -> int:
        """Return one index of the lattice.

        Contract: for any tape of independent fair bits the index is j with probability exactly
        ``weight(j) / total``. The number of bits read does not depend on the index, except that
        with a small probability a word is rejected, or a further word is read.
        """
        ...


class TicketScheme:
    """Samples uniform noise on a lattice, with less weight at its two ends and more at 0.

    There are ``total`` tickets. Each point up to ``side`` steps from 0 holds ``level`` of them, the
    next point on either side ``rim``, and 0 holds ``atom`` more. One ticket decides between the
    mass at 0 and the rest. If a coin decided first, and the rest were sampled only if needed, the
    timing would reveal that the exact value was released.
    """

    def __init__(self, *, side: int, level: int, rim: int, atom: int) -> None:
        self.side, self.level, self.rim, self.atom = side, level, rim, atom
        self.total = atom + (2 * side + 1) * level + 2 * rim
        self.reach = side + (1 if rim else 0)
        self._bits = word_bits(self.total)

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        bits, total = self._bits, self.total
        while (ticket := ticket_if_accepted(tape.word(bits), bits, total)) is None:
            pass
        return self.index_of(ticket)

    def index_of(self, ticket: int) -> int:
        """Return the index of a ticket: rim, level and rim from left to right, then the atom."""
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
    while (ticket := ticket_if_accepted(tape.word(bits), bits, total)) is None:
        pass
    return ticket


def word_bits(total: int) -> int:
    """Return the length of a word: a multiple of 64, at least two more bits than ``total`` has."""
    return 64 * ((total.bit_length() + 1) // 64 + 1)


def ticket_if_accepted(word: int, bits: int, total: int) -> int | None:
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

    ``index_if_certain(word, bits)`` returns the index of every U in [word, word + 1)/2^bits, or
    None if they can have different ones.
    """
    bits = WORD
    while (index := index_if_certain(word, bits)) is None:
        word, bits = (word << WORD) | tape.word(WORD), bits + WORD
    return index


class RunScheme:
    """Samples noise in runs of equal weight, from left to right, by inversion.

    In run k the place of U is first + (U·total − C)/weight, where C is the number of tickets before
    the run. A word stands for all U from word/2⁶⁴ up to (word + 1)/2⁶⁴. The place of the lower end
    is computed in floats, with an error below ``doubt``, and ``doubt`` is added. Then the floor is
    the index for every U of the word unless the fractional part is below 2·doubt.

    Attributes:
        runs: The runs.
        starts: For each run, the number of tickets before it; then the number of all tickets.
        thresholds: For each run, its first word ⌊2⁶⁴·C/total⌋.
        scales: For each run, the number of points that a word spans.
        doubts: For each run, a bound of the error of a place.
    """

    def __init__(self, runs: tuple[Run, ...]) -> None:
        self.runs = runs
        self.starts = [*accumulate((run.points * run.weight for run in runs), initial=0)]
        self.total = total = self.starts[-1]
        self.reach = max(-runs[0].first, runs[-1].first + runs[-1].points - 1)
        self.thresholds = [(start << WORD) // total for start in self.starts[:-1]]
        scales = [as_float(Fraction(total, run.weight << WORD)) for run in runs]
        # The bound covers a dozen roundings of numbers up to twice the farthest index, and two
        # words: one for rounding down the threshold, and one for the interval of a word.
        rounding = as_float(Fraction(self.reach + 1, 1 << 48))
        doubts = [rounding + 2 * scale for scale in scales]
        # Floats never decide a run whose points are hardly wider than a word.
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
        """Return the index for every U in [word, word + 1)/2^bits, or None if they differ.

        The tickets are in the order of the points, so both ends decide.
        """
        first, last = word * self.total >> bits, ((word + 1) * self.total - 1) >> bits
        lowest = self.index_of(first)
        highest = lowest if first == last else self.index_of(last)
        return lowest if lowest == highest else None

    def index_of(self, ticket: int) -> int:
        """Return the index of a ticket; the tickets are in the order of the points."""
        place = bisect_right(self.starts, ticket) - 1
        run = self.runs[place]
        return run.first + (ticket - self.starts[place]) // run.weight


@lru_cache(maxsize=64)
def run_scheme(runs: tuple[Run, ...]) -> RunScheme:
    """Return the scheme of these runs; the same object for equal runs."""
    return RunScheme(runs)
