"""Exact inversion by as many words as it takes.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and the point that holds ticket ⌊U·total⌋
has exactly its law. The first word nearly always settles the point. Where U could still lie on
either side of an edge between two points, and only there, the next word is read.
"""

from leastnoise.noise import DiscreteSteps
from leastnoise.sampling.entropy import WORD, Tape


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
