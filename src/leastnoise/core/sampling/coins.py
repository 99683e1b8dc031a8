"""Coins that land with probability e^(−rate·n), exactly.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and a coin lands iff U < e^(−rate·n). The
first word almost always decides. If and only if U could still lie on either side, the next word is
read and compared with a narrower enclosure of e^(−rate·n).

Floats decide many coins at once (core.arrays.selection). With n = d₀ + d₁·M + d₂·M² + …, M = 2¹⁰,
the probability is the product of e^(−rate·M^i·dᵢ), one entry from each of a few tables. Its error,
including the rounding of U, is below :data:`DOUBT`. Coins that near to U are decided here.
"""

from fractions import Fraction
from functools import lru_cache, partial
from math import ceil

from leastnoise.core.exact import decay
from leastnoise.core.sampling.entropy import Tape
from leastnoise.core.sampling.schemes import draw_exactly

# Binary digits of a digit of n.
DIGIT_BITS = 10
# The error of a table entry is below 2⁻⁵², that of a product of up to seven entries below 2⁻⁴⁸, and
# that of U as a float at most 2⁻⁵³. Probabilities below e^−FARTHEST count as equal: below 2⁻⁵⁷.
DOUBT = 2.0**-46
FARTHEST = 40
# The binary digits of the integers that represent powers; 2¹⁰ roundings add less than 2⁻⁸⁴.
_BITS = 96
_GUARD = 32


class Coins:
    """Coins of one rate > 0.

    Attributes:
        rate: The rate.
        last: The n from which on the probability is below e^−FARTHEST. It is below 2⁶² if the rate
            is at least 2⁻⁵⁶.
        tables: For each digit of an n up to ``last``, the lowest first, the factor of the
            probability for each value of the digit.
    """

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        self.last = ceil(FARTHEST / rate)
        digits = -(-self.last.bit_length() // DIGIT_BITS)
        self.tables = [_powers(rate * (1 << DIGIT_BITS * i)) for i in range(digits)]

    def lands(self, n: int, word: int, tape: Tape) -> bool:
        """Return whether U < e^(−rate·n), where U begins with ``word``; read on while undecided.

        Contract: if the word and the tape are independent fair bits, the result is True with
        probability exactly e^(−rate·n).
        """
        return bool(draw_exactly(partial(self.lands_if_certain, n), word, tape))

    def lands_if_certain(self, n: int, word: int, bits: int) -> int | None:
        """Return 1 or 0 if the coin lands, or does not, for every U in [word, word + 1)/2^bits.

        Otherwise return None.
        """
        exponent = self.rate * n
        if exponent >= bits:  # then the probability is below 2^−bits
            return 0 if word else None
        chance = decay(exponent, bits + _GUARD)
        if word + 1 <= chance.lower * (1 << bits):
            return 1
        return 0 if word >= chance.upper * (1 << bits) else None


@lru_cache(maxsize=64)
def coins_of(rate: Fraction) -> Coins:
    """Return the coins of a rate; the same object for the same rate."""
    return Coins(rate)


def _powers(exponent: Fraction) -> list[float]:
    """Return e^(−exponent·d) for every digit d, each with an error below 2⁻⁵²."""
    base = int(decay(exponent).lower * (1 << _BITS)) if exponent < _BITS else 0
    powers, power = [], 1 << _BITS
    for _ in range(1 << DIGIT_BITS):
        powers.append(power / (1 << _BITS))  # a quotient of integers is rounded once
        power = power * base >> _BITS
    return powers
