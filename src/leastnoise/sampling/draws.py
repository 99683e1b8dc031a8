"""One exact integer from a tape of bits.

Contract: for any tape of independent fair bits, :func:`draw` returns index j with probability
exactly ``law.weight(j) / law.total``.
"""

from functools import lru_cache

from leastnoise.errors import Unsupported
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    LatticeNoise,
    Rounded,
    Run,
    TicketNoise,
)
from leastnoise.sampling.entropy import Tape
from leastnoise.sampling.geometric import geometric
from leastnoise.sampling.inversion import WORD, inverted
from leastnoise.sampling.quantiles import rounded


def draw(law: LatticeNoise, tape: Tape) -> int:
    """Return one index of the lattice, with exactly the probability the law gives it.

    One ticket decides both the mass at 0 and the rest: drawing a coin first and the spread part
    only when needed would tell by its timing that the exact value left.
    """
    if isinstance(law, DiscreteStaircase):
        return _staircase(law, tape)
    if isinstance(law, DiscreteSteps):
        return inverted(law, tape.word(WORD), tape)
    if isinstance(law, Rounded):
        return rounded(law, tape.word(WORD), tape)
    if isinstance(law, TicketNoise):
        return law.index_of(ticket(law.total, tape))
    raise Unsupported(
        f"a law on a lattice must be drawn in a way of its own; got {type(law).__name__}, which "
        "has none here. Give whole weights, a staircase, or a smooth noise rounded."
    )


def _staircase(law: DiscreteStaircase, tape: Tape) -> int:
    """Draw the place in a period with its sign, and the period; again for the second 0.

    Both parts are drawn always, in the same way, whatever they turn out to be.
    """
    period, periods = both_sides(law), geometric(law.ratio)
    while True:
        place, count = inverted(period, tape.word(WORD), tape), periods.drawn(tape)
        if place >= 0:
            return place + count * law.steps
        if place < -1 or count:
            return place + 1 - count * law.steps


@lru_cache(maxsize=64)
def both_sides(law: DiscreteStaircase) -> DiscreteSteps:
    """Return the law of r ≥ 0 and of −1−r, which stands for −r: one period to either side of 0."""
    right = [Run(run.first, run.points, run.weight) for run in law.runs]
    left = [Run(-run.first - run.points, run.points, run.weight) for run in reversed(law.runs)]
    return DiscreteSteps(law.step, tuple(left + right))


def ticket(total: int, tape: Tape) -> int:
    """Return a uniform integer in [0, total): read words until one is accepted."""
    bits = word_bits(total)
    while True:
        found = accepted(tape.word(bits), bits, total)
        if found is not None:
            return found


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
