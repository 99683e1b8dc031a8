"""One exact integer from a tape of bits.

Contract: for any tape of independent fair bits, :func:`draw` returns index j with probability
exactly ``law.weight(j) / law.total``.
"""

from collections.abc import Callable
from functools import lru_cache

from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    FiniteLatticeNoise,
    LatticeNoise,
    Rounded,
    Run,
)
from leastnoise.core.sampling.entropy import WORD, Tape, flips
from leastnoise.core.sampling.geometric import geometric
from leastnoise.core.sampling.inversion import float_runs
from leastnoise.core.sampling.quantile import prepared, rounded
from leastnoise.errors import Unsupported

Way = Callable[[Tape], int]
# How laws are drawn, by their identity: to hash a law takes longer than to draw from it. A law that
# is kept here lives on, so that no other has its identity.
_ways: dict[int, tuple[LatticeNoise, Way]] = {}
_MOST_WAYS = 64
_LAST_WORD = (1 << WORD) - 1


def draw(law: LatticeNoise, tape: Tape) -> int:
    """Return one index of the lattice, with exactly the probability the law gives it."""
    known = _ways.get(id(law))
    if known is None:
        known = law, way(law)
        if len(_ways) >= _MOST_WAYS:
            _ways.clear()
        _ways[id(law)] = known
    return known[1](tape)


def way(law: LatticeNoise) -> Way:
    """Return how a law is drawn, for whoever draws from it often."""
    if isinstance(law, DiscreteStaircase):
        return _staircase(law)
    if isinstance(law, DiscreteSteps):
        index = float_runs(law).index
        return lambda tape: index(tape.word(WORD), tape)
    if isinstance(law, Rounded):
        return _smooth(law)
    if isinstance(law, FiniteLatticeNoise):
        return _by_ticket(law)
    raise Unsupported(
        f"a law on a lattice must be drawn in a way of its own; got {type(law).__name__}, which "
        "has none here. Give whole weights, a staircase, or a smooth noise rounded."
    )


def _by_ticket(law: FiniteLatticeNoise) -> Way:
    """Draw by one ticket, which decides both the mass at 0 and the rest.

    Drawing a coin first and the spread part only when needed would tell by its timing that the
    exact value left.
    """
    drawn, index_of = tickets(law.total), law.index_of
    return lambda tape: index_of(drawn(tape))


def _staircase(law: DiscreteStaircase) -> Way:
    """Draw the place in a period with its sign, and the period.

    Both parts are drawn always, in the same way, whatever they turn out to be.
    """
    period, periods, steps = float_runs(both_sides(law)).index, geometric(law.ratio), law.steps
    needed = 1 + len(periods.digits)
    counted = periods.digits[0].drawn if len(periods.digits) == 1 else periods.of
    bits, flipped = WORD * needed, flips(needed)

    def drawn(tape: Tape) -> int:
        read = tape.word(bits) ^ flipped
        place, count = period(read & _LAST_WORD, tape), counted(read >> WORD, tape)
        return place + count * steps if place >= 0 else place - count * steps

    return drawn


def _smooth(law: Rounded) -> Way:
    """Draw by polynomials once they are made; by exact numbers before, and where in doubt."""
    after, proposed = prepared(law).after, None

    def drawn(tape: Tape) -> int:
        nonlocal proposed
        word = tape.word(WORD)
        if proposed is None:
            made = after(1)
            if made is None:
                return rounded(law, word, tape)
            proposed = made.index
        index = proposed(word)
        return rounded(law, word, tape) if index is None else index

    return drawn


@lru_cache(maxsize=64)
def both_sides(law: DiscreteStaircase) -> DiscreteSteps:
    """Return the law of one period to either side: 0 … P − 1 to the right, −1 … −P to the left.

    0 belongs to the right alone. So a period to the left ends with the point that begins the next
    one, which weighs b times as much as 0.
    """
    fall, whole = law.ratio.as_integer_ratio()
    right = [Run(run.first, run.points, whole * run.weight) for run in law.runs]
    centre, *others = right
    left = [Run(1 - run.first - run.points, run.points, run.weight) for run in reversed(others)]
    if centre.points > 1:
        left.append(Run(1 - centre.points, centre.points - 1, centre.weight))
    end = Run(-law.steps, 1, fall * law.runs[0].weight)
    return DiscreteSteps(law.step, (end, *left, *right))


def ticket(total: int, tape: Tape) -> int:
    """Return a uniform integer in [0, total)."""
    return tickets(total)(tape)


def tickets(total: int) -> Way:
    """Return how to draw a uniform integer in [0, total): read words until one is accepted."""
    bits = word_bits(total)

    def drawn(tape: Tape) -> int:
        found = accepted(tape.word(bits), bits, total)
        while found is None:
            found = accepted(tape.word(bits), bits, total)
        return found

    return drawn


def word_bits(total: int) -> int:
    """Return how many bits a word has: whole 64s, at least two more than ``total`` needs."""
    return 64 * ((total.bit_length() + 1) // 64 + 1)


def accepted(word: int, bits: int, total: int) -> int | None:
    """Return the ticket of a uniform word of ``bits`` bits, or None if it is to be drawn again.

    ⌊word·total / 2^bits⌋ takes each ticket ⌊2^bits/total⌋ or ⌈2^bits/total⌉ times. Refusing the
    products whose low part is below 2^bits mod total leaves each exactly ⌊2^bits/total⌋ words
    (Lemire, Fast Random Integer Generation in an Interval, 2019, Algorithm 5).
    """
    product = word * total
    low = product & ((1 << bits) - 1)
    if low < total and low < (1 << bits) % total:
        return None
    return product >> bits
