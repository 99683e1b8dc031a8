"""A geometric number, exactly: n ≥ 0 with probability (1−b)·bⁿ, for a rational 0 < b < 1.

n = d₀ + d₁·M + d₂·M² + … with M = 2¹². The digits are independent: dᵢ is k with a probability
proportional to βᵏ, β = b^(Mⁱ). The last digit that is drawn has no largest value and stands for all
that follow; the others are below M. Each is found by inversion: it is at least k iff
U·(1 − β^M) ≥ 1 − βᵏ (1 − β^M read as 1 for the last). Enclosures of the powers settle it, with ever
more bits of U while they do not. Where more than a few digits are drawn, a table of 64-bit
thresholds settles nearly every word at once.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count

from leastnoise.core.exact import fixed_power, power_bounds
from leastnoise.core.sampling.entropy import WORD, Tape, words

BASE = 1 << 12
# A table ends where less than e⁻¹⁰ of all draws lie beyond it, at the earliest.
_ENOUGH = 10
_GUARD = 128
# Draws that are made by enclosures rather than that a table is made for them.
_SOME = 20
_LAST_WORD = (1 << WORD) - 1


@dataclass(frozen=True)
class Digit:
    """One digit: k with probability proportional to βᵏ, β = ratio^exponent; below M unless last."""

    ratio: Fraction
    exponent: int
    last: bool
    _draws: "count[int]" = field(default_factory=count, init=False, repr=False, compare=False)

    @cached_property
    def thresholds(self) -> list[int]:
        """⌊2⁶⁴·P(digit < k)⌋ for k = 0, 1, 2, …, or one less: so U < t/2⁶⁴ means digit < k.

        From (t + 2)/2⁶⁴ on, the digit is at least k. The last digit's table ends where t is about
        to reach 2⁶⁴.
        """
        bits = WORD + _GUARD + self._fineness
        one = 1 << bits
        base = base_low, base_high = fixed_power(self.ratio, self.exponent, bits)
        low = high = one
        narrow, wide = self._whole(base, bits)
        found = []
        for _ in range(BASE):
            least = ((one - high) << WORD) // wide
            most = -(-((one - low) << WORD) // narrow)
            if most - least > 2:  # the law rests on it, so it holds under python -O too
                raise AssertionError("guard bits keep the enclosure narrow")
            if self.last and least >= (1 << WORD) - 2:
                break
            found.append(least)
            low, high = low * base_low >> bits, -(-high * base_high >> bits)
        return found

    def drawn(self, word: int, tape: Tape) -> int:
        """Draw the digit with a word: by the table, if it pays and settles it, else exactly."""
        if next(self._draws) >= _SOME:
            rows = self.thresholds
            place = bisect_right(rows, word) - 1
            if rows[place] + 1 < word < self._end:
                return place
        return self.resolved(word, tape)

    def settled(self, place: int) -> bool:
        """Whether a word in this row of the table can have no larger digit: not in the last one."""
        return not self.last or place < len(self.thresholds) - 1

    @cached_property
    def _end(self) -> int:
        """The word from which on the table does not tell the digit."""
        return self.thresholds[-1] if self.last else 1 << WORD

    def resolved(self, word: int, tape: Tape) -> int:
        """Return the digit for the U that begins with ``word``; read on while undecided."""
        bits = WORD
        while True:
            digit = self.decided(word, bits)
            if digit is not None:
                return digit
            word, bits = (word << WORD) | tape.word(WORD), bits + WORD

    def decided(self, word: int, bits: int) -> int | None:
        """Return the digit for every U in [word, word + 1)/2^bits, or None if that is not sure."""
        fine = bits + _GUARD + self._fineness
        reached, missed = self._comparisons(word, bits, fine)
        low, high = 0, BASE
        while self.last and reached(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if reached(middle):
                low = middle
            else:
                high = middle
        # Both sides are proved, whatever the search relied on.
        return low if (high == BASE and not self.last) or missed(high) else None

    def _comparisons(
        self, word: int, bits: int, fine: int
    ) -> tuple[Callable[[int], bool], Callable[[int], bool]]:
        """Return two proofs: that every U has a digit of at least k, and that every U has less."""
        base, one = fixed_power(self.ratio, self.exponent, fine), 1 << fine
        narrow, wide = self._whole(base, fine)

        def reached(k: int) -> bool:
            return word * narrow >= (one - power_bounds(base, k, fine)[0]) << bits

        def missed(k: int) -> bool:
            return (word + 1) * wide <= (one - power_bounds(base, k, fine)[1]) << bits

        return reached, missed

    def _whole(self, base: tuple[int, int], bits: int) -> tuple[int, int]:
        """Enclose 2^bits times the probability (1−b)·Σ… that the digits' weights are parts of.

        ``base`` encloses 2^bits·β.
        """
        if self.last:
            return 1 << bits, 1 << bits
        low, high = power_bounds(base, BASE, bits)
        return (1 << bits) - high, (1 << bits) - low

    @cached_property
    def _fineness(self) -> int:
        """How many more bits it takes for powers so large of a ratio so near to 1."""
        near = (1 / (1 - self.ratio)).__ceil__().bit_length()
        return 2 * near + 4 * (self.exponent * BASE).bit_length()


@dataclass(frozen=True)
class Geometric:
    """The digits that make up a geometric number."""

    digits: tuple[Digit, ...]

    @property
    def reach(self) -> int:
        """A number that the tables never give, and that is reached less than once in 2⁶² draws."""
        last = self.digits[-1]
        rows = len(last.thresholds)
        return (rows if rows < BASE else 8 * BASE) * last.exponent

    def drawn(self, tape: Tape) -> int:
        """Draw the number: every digit, always."""
        return self.of(words(tape, len(self.digits)), tape)

    def of(self, words: int, tape: Tape) -> int:
        """Draw the number with a word for each digit, all in one integer."""
        if len(self.digits) == 1:
            return self.digits[0].drawn(words, tape)
        number = 0
        for digit in self.digits:
            number += digit.drawn(words & _LAST_WORD, tape) * digit.exponent
            words >>= WORD
        return number


@lru_cache(maxsize=64)
def geometric(ratio: Fraction) -> Geometric:
    """Return how to draw n with probability (1−ratio)·ratioⁿ; the tables are made on first use."""
    digits, exponent = [], 1
    while (1 - ratio) * exponent * BASE < _ENOUGH:  # 1 − b is at most −ln b
        digits.append(Digit(ratio, exponent, last=False))
        exponent *= BASE
    return Geometric((*digits, Digit(ratio, exponent, last=True)))
