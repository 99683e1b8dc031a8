"""Coins that land with probability e^(−rate·n), exactly.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1), and a coin lands iff U < e^(−rate·n). The
first word nearly always settles it. Where U could still lie on either side, and only there, the
next word is read, and an ever narrower enclosure of e^(−rate·n) is compared with it.

Floats find the same for many coins at once (core.arrays.selection). With n = d₀ + d₁·M + d₂·M² + …,
M = 2¹⁰, the probability is the product of e^(−rate·M^i·dᵢ), one entry from each of a few tables. It
is less than :data:`DOUBT` off, the rounding of U included; coins so near to U are settled here.
"""

from fractions import Fraction
from functools import lru_cache, partial
from math import ceil

from leastnoise.core.exact import decay
from leastnoise.core.sampling.entropy import Tape
from leastnoise.core.sampling.schemes import draw_exactly

# Binary digits of a digit of n.
DIGIT_BITS = 10
# A table's entry is less than 2⁻⁵² off, a product of up to seven of them less than 2⁻⁴⁸, U as a
# float 2⁻⁵³, and all probabilities below e^−FARTHEST, which are taken for one another, 2⁻⁵⁷.
DOUBT = 2.0**-46
FARTHEST = 40
# So long are the integers that powers are multiplied in: 2¹⁰ roundings stay below 2⁻⁸⁴.
_BITS = 96
_GUARD = 32


class Coins:
    """Coins of one rate > 0.

    Attributes:
        rate: The rate.
        last: The n from which on the probability is below e^−FARTHEST; below 2⁶² for rates from
            2⁻⁵⁶ on.
        tables: For each digit of an n up to ``last``, from the lowest on, the probabilities that
            it stands for.
    """

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        self.last = ceil(FARTHEST / rate)
        digits = -(-self.last.bit_length() // DIGIT_BITS)
        self.tables = [_powers(rate * (1 << DIGIT_BITS * i)) for i in range(digits)]

    def lands(self, n: int, word: int, tape: Tape) -> bool:
        """Tell whether U < e^(−rate·n) for the U that begins with ``word``; read on if unsettled.

        Contract: for any tape of independent fair bits, with a word from it, exactly with that
        probability.
        """
        return bool(draw_exactly(partial(self.lands_if_certain, n), word, tape))

    def lands_if_certain(self, n: int, word: int, bits: int) -> int | None:
        """Return 1 or 0 if that holds for every U in [word, word + 1)/2^bits, else None."""
        exponent = self.rate * n
        if exponent >= bits:  # then the probability is below 2^−bits
            return 0 if word else None
        chance = decay(exponent, bits + _GUARD)
        if word + 1 <= chance.lower * (1 << bits):
            return 1
        return 0 if word >= chance.upper * (1 << bits) else None


@lru_cache(maxsize=64)
def coins_of(rate: Fraction) -> Coins:
    """Return the coins of a rate: the same ones for all uses."""
    return Coins(rate)


def _powers(exponent: Fraction) -> list[float]:
    """Return e^(−exponent·d) for every digit d, each less than 2⁻⁵² off."""
    base = int(decay(exponent).lower * (1 << _BITS)) if exponent < _BITS else 0
    powers, power = [], 1 << _BITS
    for _ in range(1 << DIGIT_BITS):
        powers.append(power / (1 << _BITS))  # a quotient of integers is rounded once
        power = power * base >> _BITS
    return powers
