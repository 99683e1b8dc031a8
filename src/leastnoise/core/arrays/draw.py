"""Many indices of one law at once.

Many exact indices from a tape of bits, with numpy: of the same laws that core.sampling gives.

Four ways. A uniform law on its tickets: where all points weigh 1 the index is ⌊y + 1/2⌋ with
y = s·total/2⁶⁴ + atom/2, s the word as a signed integer. Floats propose it; where y lies so near an
edge between two indices that rounding could matter, or that the word could have to be refused,
64-bit integers settle it; other weights go through the integers altogether. A law in runs by
inversion (lookup.py). A staircase by inversion of its parts. A smooth noise, rounded, by
polynomials of its quantiles (lookup.py too).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.core.arrays.lookup import digit_table, quantile_table, runs_table, uncentred
from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    FiniteLatticeNoise,
    LatticeNoise,
    Rounded,
    Run,
)
from leastnoise.core.sampling import WORD, Tape, both_sides, geometric, reach_of, rounded, word_bits
from leastnoise.core.sampling import fits as quantile_fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Block = tuple[Floats, dict[int, int]]
    Signed = NDArray[np.int64]
    Words = NDArray[np.uint64]


@singledispatch
def indices_of(law: FiniteLatticeNoise, tickets: Any) -> Any:
    """Return the index that holds each ticket of an int64 array, below 2⁶²."""
    raise TypeError(f"{type(law).__name__} has no tickets for {tickets.size} numbers")


@indices_of.register
def discrete_uniform_indices_of(law: DiscreteUniform, tickets: Any) -> Any:
    """Return the index that holds each ticket of an array."""
    indices = (tickets + (law.level - law.rim)) // law.level - (law.reach + 1)
    if law.atom:
        indices[tickets >= law.total - law.atom] = 0
    return indices


@indices_of.register
def discrete_steps_indices_of(law: DiscreteSteps, tickets: Any) -> Any:
    """Return the index that holds each ticket of an array."""
    import numpy as np

    ends = np.array(law._tickets, dtype=np.int64)
    place = np.searchsorted(ends, tickets, side="right")
    before = np.concatenate(([0], ends))[place]
    weights = np.array([run.weight for run in law.runs], dtype=np.int64)
    return np.array(law._firsts, dtype=np.int64)[place] + (tickets - before) // weights[place]


# Elements in a block: small enough for the caches, large enough to hide the calls.
BLOCK = 1 << 17
_LARGEST = 1 << 52
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def fits(law: LatticeNoise) -> bool:
    """Whether this law can be drawn here: indices that floats hold, but for single ones."""
    if isinstance(law, Rounded):
        return quantile_fits(law)
    if isinstance(law, DiscreteStaircase | FiniteLatticeNoise):
        return reach(law) < _LARGEST
    return False


def reach(law: LatticeNoise) -> int:
    """Return how far indices go: all of them, or all but one in 2⁶² of a law without an end."""
    if isinstance(law, DiscreteStaircase):
        return (geometric(law.ratio).reach + 1) * law.steps
    if isinstance(law, Rounded):
        return reach_of(law)
    assert isinstance(law, FiniteLatticeNoise)  # noqa: S101 -- there are no other laws
    return law.farthest


def whole(law: LatticeNoise, size: int, tape: Tape) -> list[int]:
    """Return ``size`` indices as integers."""
    found: list[int] = []
    for indices, far in blocks(law, size, tape, np.empty(min(BLOCK, size))):
        start = len(found)
        found += indices.astype(np.int64).tolist()
        for place, index in far.items():
            found[start + place] = index
    return found


def blocks(law: LatticeNoise, size: int, tape: Tape, scratch: Floats) -> Iterator[Block]:
    """Yield ``size`` indices, in blocks of whole numbers held as floats.

    Beside each block stand the few indices of it that lie beyond :func:`reach`, where floats may
    not hold them, as integers by their place. A block is overwritten by the next. A draw that is
    refused is passed over, as one by one, so blocks may be shorter than :data:`BLOCK`. ``scratch``
    is room for one block that is free between blocks: the fewer arrays there are, the more of them
    stay in the cache.
    """
    drawn = _drawn_by(law, size, scratch)
    while size:
        indices, far = drawn.block(min(BLOCK, size), tape)
        size -= len(indices)
        if len(indices):  # every draw of a short block can be refused
            yield indices, far


def _drawn_by(
    law: LatticeNoise, size: int, scratch: Floats
) -> _Tickets | _Runs | _Staircase | _Smooth:
    if isinstance(law, DiscreteStaircase):
        return _Staircase(law, scratch)
    if isinstance(law, Rounded):
        return _Smooth(law, size, scratch)
    if isinstance(law, DiscreteSteps):
        return _Runs(law, scratch)
    assert isinstance(law, DiscreteUniform)  # noqa: S101 -- there are no other laws
    if word_bits(law.total) > WORD:
        return _Runs(_in_runs(law), scratch)
    return _Tickets(law, scratch)


def _in_runs(law: DiscreteUniform) -> DiscreteSteps:
    """Return the same law, from left to right."""
    side, rim = law.reach, law.rim
    runs = [
        Run(-side - 1, 1, rim),
        Run(-side, side, law.level),
        Run(0, 1, law.weight(0)),
        Run(1, side, law.level),
        Run(side + 1, 1, rim),
    ]
    return DiscreteSteps(law.step, tuple(run for run in runs if run.points and run.weight))


class _Reader:
    """Reads blocks of words from a tape."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def words(self, size: int, tape: Tape) -> Signed:
        """Return the next words; the array is overwritten by the next call."""
        if len(self._buffer) != 8 * size:
            self._buffer = bytearray(8 * size)
        tape.fill(self._buffer)
        return np.frombuffer(self._buffer, dtype="<i8")


class _Runs:
    """Draws a law in runs: one word a draw, rarely more."""

    def __init__(self, law: DiscreteSteps, scratch: Floats) -> None:
        self._table = runs_table(law)
        self._reader = _Reader()
        self._places = scratch
        self._indices = np.empty(len(scratch))

    def block(self, size: int, tape: Tape) -> Block:
        """Return so many indices."""
        words = self._reader.words(size, tape)
        indices = self._indices[:size]
        self._table.indices(words, tape, self._places[:size], indices)
        return indices, {}


class _Staircase:
    """Draws a staircase: a place in a period with its sign, then the digits of the period."""

    def __init__(self, law: DiscreteStaircase, scratch: Floats) -> None:
        self._law = law
        self._place = _Runs(both_sides(law), scratch)
        self._digits = geometric(law.ratio).digits
        self._tables = [digit_table(digit) for digit in self._digits]
        self._last = self._digits[-1].exponent
        self._reach = geometric(law.ratio).reach
        self._reader = _Reader()
        self._digit = scratch
        self._periods = np.empty(len(scratch))

    def block(self, size: int, tape: Tape) -> Block:
        """Return so many indices."""
        places, _ = self._place.block(size, tape)
        periods, digit = self._periods[:size], self._digit[:size]
        periods.fill(0)
        far: dict[int, int] = {}
        for table, exponent in zip(self._tables, (d.exponent for d in self._digits), strict=True):
            exact = table.digits(self._reader.words(size, tape), tape, digit)
            if exponent == self._last:
                large = {at: n for at, n in exact.items() if (n + 1) * exponent > self._reach}
                # Where the last digit is that large, the others are added in integers.
                far = {at: int(periods[at]) + n * exponent for at, n in large.items()}
                digit[list(far)] = 0
            np.multiply(digit, float(exponent), out=digit)
            np.add(periods, digit, out=periods)
        return self._put_together(places, periods, far)

    def _put_together(self, places: Floats, periods: Floats, far: dict[int, int]) -> Block:
        """Return the indices: the periods go to the side that the place lies on."""
        steps = self._law.steps
        whole = {
            at: int(places[at]) + (n if places[at] >= 0 else -n) * steps for at, n in far.items()
        }
        np.multiply(periods, float(steps), out=periods)
        np.copysign(periods, places, out=periods)
        np.add(places, periods, out=places)  # 0 is never −0, for then both are 0
        return places, whole


class _Smooth:
    """Draws a smooth noise, rounded: one word a draw, rarely more."""

    def __init__(self, law: Rounded, size: int, scratch: Floats) -> None:
        self._law = law
        self._reach = reach(law)
        self._table = quantile_table(law, size)
        self._reader = _Reader()
        self._places = scratch
        self._indices = np.empty(len(scratch))

    def block(self, size: int, tape: Tape) -> Block:
        """Return so many indices."""
        words = self._reader.words(size, tape)
        indices = self._indices[:size]
        if self._table is None:
            near = list(range(size))
        else:
            near = self._table.propose(words, self._places[:size], indices)
        far = {}
        for at in near:
            index = rounded(self._law, int(words[at]) + (1 << (WORD - 1)), tape)
            if abs(index) > self._reach:
                far[at] = index
            indices[at] = 0 if at in far else index
        return indices, far


class _Tickets:
    """Turns words into indices of one law."""

    def __init__(self, law: DiscreteUniform, scratch: Floats) -> None:
        self._law = law
        self._reader = _Reader()
        self._even = law.level == 1 and law.rim == 0
        self._reach = law.farthest
        self._scale = law.total * 2.0**-64
        # Converting the word, the product, the sum and the shift itself put y off by less than
        # this. Adding it makes the error one-sided: only where the part behind the point is below
        # twice as much can the floor be wrong. Refused words lie there too, for they are those
        # with a part behind the point below total/2⁶⁴.
        self._doubt = law.total * 2.0**-51
        self._atom = law.total - 2 * law.farthest - 1  # where every point weighs 1
        self._shift = 0.5 + self._atom / 2 + self._doubt
        self._places = scratch
        self._indices = np.empty(len(scratch))

    def block(self, size: int, tape: Tape) -> Block:
        """Return the index of each word that is accepted, in order."""
        return self._of(self._reader.words(size, tape)), {}

    def _of(self, words: Signed) -> Floats:
        if not self._even or self._doubt >= 0.25:
            tickets, accepted = _accepted(uncentred(words), self._law.total)
            held: Floats = indices_of(self._law, tickets[accepted].astype(np.int64))
            return held.astype(np.float64)
        places, indices = self._places[: len(words)], self._indices[: len(words)]
        places[:] = words  # a pass of its own is quicker than converting within the product
        np.multiply(places, self._scale, out=places)
        np.add(places, self._shift, out=places)
        np.floor(places, out=indices)
        np.subtract(places, indices, out=places)
        if places.min() < 2 * self._doubt:
            indices = self._settled(words, places, indices)
        if self._atom:
            indices[indices > self._reach] = 0
        return indices

    def _settled(self, words: Signed, places: Floats, indices: Floats) -> Floats:
        """Settle by integers what floats could not decide; leave out the words to be refused."""
        near = np.flatnonzero(places < 2 * self._doubt)
        tickets, accepted = _accepted(uncentred(words[near]), self._law.total)
        indices[near] = tickets.astype(np.int64) - self._reach
        return indices if accepted.all() else np.delete(indices, near[~accepted])


def _accepted(words: Words, total: int) -> tuple[Words, NDArray[np.bool_]]:
    """Return the ticket of each 64-bit word and whether it is accepted (draws.accepted)."""
    factor = np.uint64(total)
    upper, lower = factor >> _HALF, factor & _LOW
    high, low = words >> _HALF, words & _LOW
    # The 128-bit product by halves; no partial sum reaches 2⁶⁴ because total < 2⁶².
    inner = high * lower + ((low * lower) >> _HALF)
    outer = low * upper + (inner & _LOW)
    tickets = high * upper + (inner >> _HALF) + (outer >> _HALF)
    return tickets, words * factor >= np.uint64((1 << 64) % total)
