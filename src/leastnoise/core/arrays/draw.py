"""Sample many exact indices at once with numpy, from the schemes of core.sampling.

Each scheme has an array sampler. Floats propose the indices. Exact numbers decide the doubtful ones
one by one, with further words of the same tape after the block. A scheme without an array sampler
is sampled one by one.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from leastnoise.core.arrays.lookup import (
    IndexLookup,
    WordReader,
    digit_lookup,
    quantile_lookup,
    run_lookup,
    to_unsigned,
)
from leastnoise.core.exact import as_float
from leastnoise.core.sampling import (
    LARGEST_REACH,
    WORD,
    QuantileScheme,
    RunScheme,
    Scheme,
    StaircaseScheme,
    Tape,
    TicketScheme,
    draw_exactly,
    run_scheme,
    word_bits,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Far = dict[int, int]

# Elements in a block: small enough for the caches, large enough to amortize the calls.
BLOCK = 1 << 17
# Floats represent every integer up to this.
_LARGEST = 1 << 52
# With a smaller step, or one larger than its inverse, products could leave the range of floats.
_SMALLEST_SCALE = 2.0**-900
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def fits(scheme: Scheme) -> bool:
    """Return whether a scheme has an array sampler, and floats represent almost all its indices."""
    entry = _SAMPLERS.get(type(scheme))
    return entry is not None and scheme.reach < entry[1]


def sample_blocks(scheme: Scheme, size: int, tape: Tape) -> "Iterator[tuple[Floats, Far, Floats]]":
    """Yield ``size`` indices, in blocks of integers held as floats.

    Each block comes with two things. One is a dictionary, by place, of the few indices beyond the
    scheme's reach, as integers because floats may not represent them. The other is an array of as
    many floats that the caller may use until the next block; a new array each time would need new
    memory pages. The next block overwrites this one. Rejected words are skipped, so a block can be
    shorter than :data:`BLOCK`.
    """
    sampler = _SAMPLERS[type(scheme)][0](scheme, size)
    indices, room = np.empty(min(BLOCK, size)), np.empty(min(BLOCK, size))
    while size:
        samples, far = sampler.block(tape, indices[:size], room[:size])
        size -= len(samples)
        if len(samples):  # every word of a short block can be rejected
            yield samples, far, room[: len(samples)]


def draw_integers(scheme: Scheme, size: int, tape: Tape) -> list[int]:
    """Return ``size`` indices as integers."""
    if not fits(scheme):
        return [scheme.draw(tape) for _ in range(size)]
    integers: list[int] = []
    for indices, far, _ in sample_blocks(scheme, size, tape):
        start = len(integers)
        integers += indices.astype(np.int64).tolist()
        for place, index in far.items():
            integers[start + place] = index
    return integers


def draw_floats(
    scheme: Scheme, step: Fraction, offset: Fraction, *, size: int, tape: Tape
) -> "Floats":
    """Return ``size`` samples of index·step + offset, in floats."""
    scale, start = as_float(step), 0
    if not fits(scheme) or not _SMALLEST_SCALE < scale < 1 / _SMALLEST_SCALE:
        exact = (scheme.draw(tape) * step + offset for _ in range(size))
        return np.fromiter(map(as_float, exact), np.float64, size)
    floats = np.empty(size)
    for indices, far, _ in sample_blocks(scheme, size, tape):
        part = floats[start : start + len(indices)]
        np.multiply(indices, scale, out=part)
        np.add(part, as_float(offset), out=part)
        for place, index in far.items():
            part[place] = as_float(index * step + offset)
        start += len(indices)
    return floats


class Sampler(Protocol):
    """Samples one scheme, block by block."""

    def block(self, tape: Tape, indices: "Floats", room: "Floats") -> "tuple[Floats, Far]":
        """Write indices; return the accepted ones, and those beyond the scheme's reach by place.

        ``room`` is an array of as many floats, which is overwritten.
        """
        ...


class InversionSampler:
    """Samples by inversion: one word for an index, rarely more."""

    def __init__(
        self,
        lookup: IndexLookup | None,
        index_if_certain: Callable[[int, int], int | None],
        reader: WordReader,
    ) -> None:
        self._lookup, self._index_if_certain, self._reader = lookup, index_if_certain, reader

    def write(self, tape: Tape, indices: "Floats", room: "Floats") -> dict[int, int]:
        """Write the indices; return those that were decided exactly, by place."""
        words = self._reader.read(tape, len(indices))
        if self._lookup is None:
            doubtful = np.arange(len(indices))
        else:
            doubtful = self._lookup.propose(words, indices, room)
        exact = {
            place: draw_exactly(self._index_if_certain, word, tape)
            for place, word in zip(
                doubtful.tolist(), to_unsigned(words[doubtful]).tolist(), strict=True
            )
        }
        for place, index in exact.items():
            indices[place] = as_float(index)
        return exact


class RunSampler(InversionSampler):
    """Samples noise in runs."""

    def __init__(self, scheme: RunScheme, _: int = 0) -> None:
        super().__init__(run_lookup(scheme), scheme.index_if_certain, WordReader())

    def block(self, tape: Tape, indices: "Floats", room: "Floats") -> "tuple[Floats, Far]":
        """See Sampler."""
        self.write(tape, indices, room)
        return indices, {}


class QuantileSampler(InversionSampler):
    """Samples rounded smooth noise, by polynomials if they are built or ``size`` is large."""

    def __init__(self, scheme: QuantileScheme, size: int) -> None:
        self._reach = scheme.reach
        polynomials = scheme.polynomials.for_samples(size)
        lookup = None if polynomials is None else quantile_lookup(polynomials)
        super().__init__(lookup, scheme.index_if_certain, WordReader())

    def block(self, tape: Tape, indices: "Floats", room: "Floats") -> "tuple[Floats, Far]":
        """See Sampler."""
        exact = self.write(tape, indices, room)
        far = {place: index for place, index in exact.items() if abs(index) > self._reach}
        indices[list(far)] = 0
        return indices, far


class StaircaseSampler:
    """Samples a staircase: a place in a period with its sign, then the digits of the period."""

    def __init__(self, scheme: StaircaseScheme, size: int) -> None:
        self._steps, self._reach = scheme.steps, scheme.periods.reach
        self._place = RunSampler(scheme.period)
        reader = WordReader()  # one digit after the other
        self._digits = [
            (
                InversionSampler(digit_lookup(table), table.digit.index_if_certain, reader),
                table.digit,
            )
            for table in scheme.periods.tables
        ]
        self._periods = np.empty(min(BLOCK, size))

    def block(self, tape: Tape, indices: "Floats", room: "Floats") -> "tuple[Floats, Far]":
        """See Sampler."""
        self._place.write(tape, indices, room)
        periods = self._periods[: len(indices)]
        periods.fill(0)
        far: Far = {}
        for sampler, digit in self._digits:
            exact = sampler.write(tape, room, room)  # the lookup of a digit needs no room
            unit = digit.exponent
            if digit.last:
                # Where the last digit is that large, digits are added as integers.
                large = {at: n for at, n in exact.items() if (n + 1) * unit > self._reach}
                far = {at: int(periods[at]) + n * unit for at, n in large.items()}
                room[list(far)] = 0
            np.multiply(room, float(unit), out=room)
            np.add(periods, room, out=periods)
        return self._add_periods(indices, periods, far)

    def _add_periods(self, places: "Floats", periods: "Floats", far: "Far") -> "tuple[Floats, Far]":
        """Return the indices: add the periods on the side of the place."""
        integers = {
            at: int(places[at]) + (n if places[at] >= 0 else -n) * self._steps
            for at, n in far.items()
        }
        np.multiply(periods, float(self._steps), out=periods)
        np.copysign(periods, places, out=periods)
        np.add(places, periods, out=places)  # never −0.0: a sum of 0 means that both are 0
        return places, integers


class TicketSampler:
    """Samples by one uniform integer, where its words are of 64 bits.

    If all points weigh 1, the index is ⌊y + 1/2⌋ with y = s·total/2⁶⁴ + atom/2, where s is the
    centered word. Floats propose it. Where y is so near an edge between two indices that rounding
    could matter, or that the word could be rejected, 64-bit integers decide. Other weights use
    integers only.
    """

    def __init__(self, scheme: TicketScheme) -> None:
        self._scheme = scheme
        self._reader = WordReader()
        total = scheme.total
        self._scale = total * 2.0**-64
        # The error of y from converting the word, the product, the sum and the shift is below
        # this. Adding it makes the error one-sided: the floor can be wrong only if the fractional
        # part is below twice as much. So are the rejected words, because their fractional part is
        # below total/2⁶⁴.
        self._doubt = total * 2.0**-51
        self._by_floats = scheme.level == 1 and scheme.rim == 0 and self._doubt < 0.25
        self._shift = 0.5 + scheme.atom / 2 + self._doubt

    def block(self, tape: Tape, indices: "Floats", room: "Floats") -> "tuple[Floats, Far]":
        """See Sampler."""
        words = self._reader.read(tape, len(indices))
        if self._by_floats:
            return self._propose(words, indices, room), {}
        accepted = self._find_indices(words)
        indices[: len(accepted)] = accepted
        return indices[: len(accepted)], {}

    def _propose(self, words: "Words", indices: "Floats", places: "Floats") -> "Floats":
        places[:] = words  # faster than converting within the product
        np.multiply(places, self._scale, out=places)
        np.add(places, self._shift, out=places)
        np.floor(places, out=indices)
        np.subtract(places, indices, out=places)
        if places.min() < 2 * self._doubt:
            indices = self._decide_doubtful(words, places, indices)
        if self._scheme.atom:
            indices[indices > self._scheme.reach] = 0
        return indices

    def _decide_doubtful(self, words: "Words", places: "Floats", indices: "Floats") -> "Floats":
        """Decide the doubtful words by integers; omit the rejected ones."""
        near = np.flatnonzero(places < 2 * self._doubt)
        tickets, accepted = _take_tickets(words[near], self._scheme.total)
        indices[near] = tickets - self._scheme.reach
        return indices if accepted.all() else np.delete(indices, near[~accepted])

    def _find_indices(self, words: "Words") -> "Words":
        """Return the index of each accepted word by its ticket (TicketScheme.index_of)."""
        scheme = self._scheme
        tickets, accepted = _take_tickets(words, scheme.total)
        tickets = tickets[accepted]
        indices = (tickets + (scheme.level - scheme.rim)) // scheme.level - (scheme.side + 1)
        if scheme.atom:
            indices[tickets >= scheme.total - scheme.atom] = 0
        return indices


def ticket_sampler(scheme: TicketScheme, _: int = 0) -> Sampler:
    """Return the sampler by 64-bit words, or by runs if there are too many tickets for those."""
    if word_bits(scheme.total) > WORD:
        return RunSampler(run_scheme(scheme.runs))
    return TicketSampler(scheme)


def _take_tickets(words: "Words", total: int) -> "tuple[Words, NDArray[np.bool_]]":
    """Return the ticket of each word and whether it is accepted (ticket_if_accepted)."""
    factor, unsigned = np.uint64(total), to_unsigned(words)
    upper, lower = factor >> _HALF, factor & _LOW
    high, low = unsigned >> _HALF, unsigned & _LOW
    # The 128-bit product in halves; no partial sum reaches 2⁶⁴, because total < 2⁶².
    inner = high * lower + ((low * lower) >> _HALF)
    outer = low * upper + (inner & _LOW)
    tickets = high * upper + (inner >> _HALF) + (outer >> _HALF)
    return tickets.astype(np.int64), unsigned * factor >= np.uint64((1 << 64) % total)


# The array sampler of each scheme, and the reach from which on it is not used.
_SAMPLERS: dict[type, tuple[Callable[..., Sampler], int]] = {
    TicketScheme: (ticket_sampler, _LARGEST),
    RunScheme: (RunSampler, _LARGEST),
    StaircaseScheme: (StaircaseSampler, _LARGEST),
    QuantileScheme: (QuantileSampler, LARGEST_REACH),
}
