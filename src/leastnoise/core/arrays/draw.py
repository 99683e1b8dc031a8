"""Many exact indices at once, with numpy: of the same schemes that core.sampling has.

Each scheme has an array sampler. Floats propose the indices; what they leave in doubt is settled
one by one in exact numbers, reading further words of the same tape after the block. A scheme that
has no array sampler is sampled one by one.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from leastnoise.core.arrays.lookup import (
    Lookup,
    digit_lookup,
    quantile_lookup,
    run_lookup,
)
from leastnoise.core.arrays.words import WordReader, to_unsigned
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
    Block = tuple[Floats, dict[int, int]]

# Elements in a block: small enough for the caches, large enough to hide the calls.
BLOCK = 1 << 17
# Floats hold every integer up to this.
_LARGEST = 1 << 52
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def fits(scheme: Scheme) -> bool:
    """Tell whether a scheme can be sampled here: floats hold its indices, but for single ones."""
    known = _SAMPLERS.get(type(scheme))
    return known is not None and scheme.reach < known[1]


def blocks(scheme: Scheme, size: int, tape: Tape) -> "Iterator[Block]":
    """Yield ``size`` indices, in blocks of integers held as floats.

    Beside each block stand the few indices of it that lie beyond the scheme's reach, where floats
    may not hold them, as integers by their place. A word that is rejected is passed over, as one by
    one, so blocks may be shorter than :data:`BLOCK`.
    """
    sampler = _SAMPLERS[type(scheme)][0](scheme, size)
    while size:
        indices, far = sampler.block(min(BLOCK, size), tape)
        size -= len(indices)
        if len(indices):  # every word of a short block can be rejected
            yield indices, far


def draw_integers(scheme: Scheme, size: int, tape: Tape) -> list[int]:
    """Return ``size`` indices as integers."""
    if not fits(scheme):
        return [scheme.draw(tape) for _ in range(size)]
    integers: list[int] = []
    for indices, far in blocks(scheme, size, tape):
        start = len(integers)
        integers += indices.astype(np.int64).tolist()
        for place, index in far.items():
            integers[start + place] = index
    return integers


class Sampler(Protocol):
    """Samples one scheme, block by block."""

    def block(self, size: int, tape: Tape) -> "Block":
        """Return at most ``size`` indices, and those beyond the scheme's reach by their place."""
        ...


class InversionSampler:
    """Samples by inversion: one word for an index, rarely more."""

    def __init__(
        self,
        lookup: Lookup | None,
        index_if_certain: Callable[[int, int], int | None],
        reader: WordReader,
    ) -> None:
        """Take the table, if there is one, and what settles a word exactly."""
        self._lookup, self._index_if_certain, self._reader = lookup, index_if_certain, reader

    def propose(self, size: int, tape: Tape) -> "Block":
        """Return so many indices, and by their place those that were settled exactly."""
        words = self._reader.read(tape, size)
        if self._lookup is None:
            indices, doubtful = np.empty(size), np.arange(size)
        else:
            indices, doubtful = self._lookup.propose(words)
        exact = {
            place: draw_exactly(self._index_if_certain, word, tape)
            for place, word in zip(
                doubtful.tolist(), to_unsigned(words[doubtful]).tolist(), strict=True
            )
        }
        for place, index in exact.items():
            indices[place] = as_float(index)
        return indices, exact


class RunSampler(InversionSampler):
    """Samples noise in runs."""

    def __init__(self, scheme: RunScheme, _: int = 0) -> None:
        """Find the table."""
        super().__init__(run_lookup(scheme), scheme.index_if_certain, WordReader())

    def block(self, size: int, tape: Tape) -> "Block":
        """See Sampler."""
        return self.propose(size, tape)[0], {}


class QuantileSampler(InversionSampler):
    """Samples a smooth noise, rounded: by polynomials if they are built or pay for ``size``."""

    def __init__(self, scheme: QuantileScheme, size: int) -> None:
        """Find the polynomials."""
        self._reach = scheme.reach
        polynomials = scheme.polynomials.after(size)
        lookup = None if polynomials is None else quantile_lookup(polynomials)
        super().__init__(lookup, scheme.index_if_certain, WordReader())

    def block(self, size: int, tape: Tape) -> "Block":
        """See Sampler."""
        indices, exact = self.propose(size, tape)
        far = {place: index for place, index in exact.items() if abs(index) > self._reach}
        indices[list(far)] = 0
        return indices, far


class StaircaseSampler:
    """Samples a staircase: a place in a period with its sign, then the digits of the period."""

    def __init__(self, scheme: StaircaseScheme, _: int = 0) -> None:
        """Find the tables."""
        self._steps, self._reach = scheme.steps, scheme.periods.reach
        self._place = RunSampler(scheme.period)
        reader = WordReader()
        self._digits = [
            (
                InversionSampler(digit_lookup(table), table.digit.index_if_certain, reader),
                table.digit,
            )
            for table in scheme.periods.tables
        ]

    def block(self, size: int, tape: Tape) -> "Block":
        """See Sampler."""
        places, _ = self._place.block(size, tape)
        periods = np.zeros(size)
        far: dict[int, int] = {}
        for sampler, digit in self._digits:
            digits, exact = sampler.propose(size, tape)
            unit = digit.exponent
            if digit.last:
                # Where the last digit is that large, the others are added in integers.
                large = {at: n for at, n in exact.items() if (n + 1) * unit > self._reach}
                far = {at: int(periods[at]) + n * unit for at, n in large.items()}
                digits[list(far)] = 0
            np.multiply(digits, float(unit), out=digits)
            np.add(periods, digits, out=periods)
        return self._put_together(places, periods, far)

    def _put_together(self, places: "Floats", periods: "Floats", far: dict[int, int]) -> "Block":
        """Return the indices: the periods go to the side that the place lies on."""
        integers = {
            at: int(places[at]) + (n if places[at] >= 0 else -n) * self._steps
            for at, n in far.items()
        }
        np.multiply(periods, float(self._steps), out=periods)
        np.copysign(periods, places, out=periods)
        np.add(places, periods, out=places)  # 0 is never −0, for then both are 0
        return places, integers


class TicketSampler:
    """Samples by one uniform integer, where its words are of 64 bits.

    Where all points weigh 1 the index is ⌊y + 1/2⌋ with y = s·total/2⁶⁴ + atom/2, s the word,
    centered. Floats propose it; where y lies so near an edge between two indices that rounding
    could matter, or that the word could have to be rejected, 64-bit integers settle it; other
    weights go through the integers altogether.
    """

    def __init__(self, scheme: TicketScheme) -> None:
        """Compute by how much floats can be off."""
        self._scheme = scheme
        self._reader = WordReader()
        total = scheme.total
        self._scale = total * 2.0**-64
        # Converting the word, the product, the sum and the shift itself put y off by less than
        # this. Adding it makes the error one-sided: only where the part behind the point is below
        # twice as much can the floor be wrong. Rejected words lie there too, for they are those
        # with a part behind the point below total/2⁶⁴.
        self._doubt = total * 2.0**-51
        self._by_floats = scheme.level == 1 and scheme.rim == 0 and self._doubt < 0.25
        self._shift = 0.5 + scheme.atom / 2 + self._doubt

    def block(self, size: int, tape: Tape) -> "Block":
        """Return the index of each word that is accepted, in order."""
        words = self._reader.read(tape, size)
        return self._propose(words) if self._by_floats else self._by_tickets(words), {}

    def _propose(self, words: "Words") -> "Floats":
        places = words.astype(np.float64)
        np.multiply(places, self._scale, out=places)
        np.add(places, self._shift, out=places)
        indices = np.floor(places)
        np.subtract(places, indices, out=places)
        if places.min() < 2 * self._doubt:
            indices = self._settle(words, places, indices)
        if self._scheme.atom:
            indices[indices > self._scheme.reach] = 0
        return indices

    def _settle(self, words: "Words", places: "Floats", indices: "Floats") -> "Floats":
        """Settle by integers what floats could not decide; leave out the words to be rejected."""
        near = np.flatnonzero(places < 2 * self._doubt)
        tickets, accepted = _tickets(words[near], self._scheme.total)
        indices[near] = tickets - self._scheme.reach
        return indices if accepted.all() else np.delete(indices, near[~accepted])

    def _by_tickets(self, words: "Words") -> "Floats":
        """Return the index of each accepted word by its ticket (TicketScheme.index_of)."""
        scheme = self._scheme
        tickets, accepted = _tickets(words, scheme.total)
        tickets = tickets[accepted]
        indices = (tickets + (scheme.level - scheme.rim)) // scheme.level - (scheme.side + 1)
        if scheme.atom:
            indices[tickets >= scheme.total - scheme.atom] = 0
        return indices.astype(np.float64)


def ticket_sampler(scheme: TicketScheme, _: int = 0) -> Sampler:
    """Return the sampler by 64-bit words; for more tickets than those hold, by runs."""
    if word_bits(scheme.total) > WORD:
        return RunSampler(run_scheme(scheme.runs))
    return TicketSampler(scheme)


def _tickets(words: "Words", total: int) -> "tuple[Words, NDArray[np.bool_]]":
    """Return the ticket of each word and whether it is accepted (sampling.accepted)."""
    factor, unsigned = np.uint64(total), to_unsigned(words)
    upper, lower = factor >> _HALF, factor & _LOW
    high, low = unsigned >> _HALF, unsigned & _LOW
    # The 128-bit product by halves; no partial sum reaches 2⁶⁴ because total < 2⁶².
    inner = high * lower + ((low * lower) >> _HALF)
    outer = low * upper + (inner & _LOW)
    tickets = high * upper + (inner >> _HALF) + (outer >> _HALF)
    return tickets.astype(np.int64), unsigned * factor >= np.uint64((1 << 64) % total)


# Each scheme's array sampler, and the reach from which on floats are of no use to it.
_SAMPLERS: dict[type, tuple[Callable[..., Sampler], int]] = {
    TicketScheme: (ticket_sampler, _LARGEST),
    RunScheme: (RunSampler, _LARGEST),
    StaircaseScheme: (StaircaseSampler, _LARGEST),
    QuantileScheme: (QuantileSampler, LARGEST_REACH),
}
