"""A smooth noise, rounded to a lattice, exactly: by inversion, with as many words as it takes.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1). Its first bit chooses the side: below 1/2
the noise is negative and q = U is the probability of its lying farther out, from 1/2 on it is
positive and q = 1 − U. Its size is Q(q), P(X > Q(q)) = q, and the index is ±⌊Q/step + 1/2⌋. The
words read so far leave an interval of q. Q falls as q grows, so enclosures of Q at the two ends of
it settle the index for all of it; where they do not, and only there, the next word is read
(docs/theory/drawing.md).
"""

from fractions import Fraction
from functools import lru_cache

from leastnoise.noise import Rounded
from leastnoise.sampling.entropy import WORD, Tape

# How much narrower than the interval of q the enclosures are, as a power of two.
_GUARD = 32


def rounded(law: Rounded, word: int, tape: Tape) -> int:
    """Return the index for the U that begins with a word of 64 bits; read on while undecided."""
    bits = WORD
    while True:
        index = decided(law, word, bits)
        if index is not None:
            return index
        word, bits = (word << WORD) | tape.word(WORD), bits + WORD


def decided(law: Rounded, word: int, bits: int) -> int | None:
    """Return the index for every U in [word, word + 1)/2^bits, or None if that is not sure."""
    positive = word >> (bits - 1)
    size = _size(law, (1 << bits) - 1 - word if positive else word, bits)
    return size if size is None or positive else -size


def _size(law: Rounded, count: int, bits: int) -> int | None:
    """Return ⌊Q/step + 1/2⌋ for every q in [count, count + 1]/2^bits, or None if not sure."""
    fine = count.bit_length() + _GUARD
    if count:
        place = law.noise.series(Fraction(count, 1 << bits), 1, fine)[0]
        most = _index(place.upper, law.step)
        # At the other end Q is smaller by at most the part 1/(count·(1 − 2q)), q the tail there:
        # that nearly always spares a second enclosure.
        parts = count * ((1 << bits) - 2 * (count + 1))
        if parts and most == _index(place.lower, law.step, parts - (1 << bits), parts):
            return most
    elif isinstance(law.farthest, float):
        return None  # noise without a largest size has no place where q is 0
    else:
        most = law.farthest
    nearest = law.noise.series(Fraction(count + 1, 1 << bits), 1, fine)[0].lower
    return most if most == _index(nearest, law.step) else None


def _index(size: Fraction, step: Fraction, kept: int = 1, parts: int = 1) -> int:
    """Return ⌊size·(kept/parts)/step + 1/2⌋: in integers, for fractions would be shortened."""
    one = size.denominator * step.numerator * parts
    return (2 * size.numerator * step.denominator * kept + one) // (2 * one)


@lru_cache(maxsize=256)
def reach_of(law: Rounded) -> int:
    """Return how large an index is where q ≥ 2⁻⁶⁴: no draw but one in 2⁶³ has a larger one."""
    index = _index(law.noise.series(Fraction(1, 1 << WORD), 1)[0].upper, law.step)
    return index if isinstance(law.farthest, float) else min(index, law.farthest)
