"""One exact integer from a tape of bits.

Contract: for any tape of independent fair bits, :func:`draw` returns index j with probability
exactly ``law.weight(j) / law.total``.
"""

from leastnoise.noise import LatticeNoise
from leastnoise.sampling.entropy import Tape


def draw(law: LatticeNoise, tape: Tape) -> int:
    """Return one index of the lattice, with exactly the probability the law gives it.

    One ticket decides both the mass at 0 and the rest: drawing a coin first and the spread part
    only when needed would tell by its timing that the exact value left.
    """
    return law.index_of(ticket(law.total, tape))


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
