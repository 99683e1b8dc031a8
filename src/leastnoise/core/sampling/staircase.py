"""Sample geometric numbers exactly, and staircase noise from them.

The number is n ≥ 0 with probability (1−b)·bⁿ, for a rational 0 < b < 1. Write n = d₀ + d₁·M + d₂·M²
+ … with M = 2¹². The digits are independent: dᵢ is k with a probability proportional to βᵏ, β =
b^(Mⁱ). All digits but the last are below M. The last digit has no largest value and stands for all
further ones. Each digit is found by inversion: it is at least k iff U·(1 − β^M) ≥ 1 − βᵏ, with 1
instead of 1 − β^M for the last digit. Enclosures of the powers decide this, with more bits of U
while they do not. After a few samples, a table of 64-bit thresholds decides almost every word at
once.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from leastnoise.core.exact import first_index, fixed_power, power_bounds
from leastnoise.core.lattice import Run
from leastnoise.core.sampling.entropy import WORD, Tape
from leastnoise.core.sampling.schemes import draw_exactly, run_scheme

BASE = 1 << 12
# A table covers all but at most a share e⁻¹⁰ of the samples.
_ENOUGH = 10
_GUARD = 128
# The number of samples by enclosures before tables are built.
_SOME = 20
_LAST_WORD = (1 << WORD) - 1


@dataclass(frozen=True)
class Digit:
    """One digit: k with probability proportional to βᵏ, β = ratio^exponent; below M unless last."""

    ratio: Fraction
    exponent: int
    last: bool

    def exact_digit(self, word: int, tape: Tape) -> int:
        """Return the digit for the U that begins with ``word``; read on while undecided."""
        return draw_exactly(self.index_if_certain, word, tape)

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return the digit for every U in [word, word + 1)/2^bits, or None if it is undecided."""
        is_at_least, is_below = self._proofs(word, bits)
        low, high = 0, BASE
        while self.last and is_at_least(high):
            low, high = high, 2 * high
        high = first_index(low, high, lambda k: not is_at_least(k))
        # Both sides are proved, however the search found the digit.
        return high - 1 if (high == BASE and not self.last) or is_below(high) else None

    def thresholds(self) -> list[int]:
        """Return ⌊2⁶⁴·P(digit < k)⌋ or one less, for k = 0, 1, 2, …: U < t/2⁶⁴ means digit < k.

        If U ≥ (t + 2)/2⁶⁴, the digit is at least k. For the last digit, the list ends just before t
        reaches 2⁶⁴.
        """
        bits = WORD + self._guard_bits
        one = 1 << bits
        base = base_low, base_high = fixed_power(self.ratio, self.exponent, bits)
        low = high = one
        narrow, wide = self._enclose_mass(base, bits)
        thresholds: list[int] = []
        for _ in range(BASE):
            least = ((one - high) << WORD) // wide
            most = -(-((one - low) << WORD) // narrow)
            # Not an assert, because the distribution depends on it under python -O too.
            if most - least > 2:
                raise AssertionError("the enclosure is wider than the guard bits allow")
            if self.last and least >= (1 << WORD) - 2:
                break
            thresholds.append(least)
            low, high = low * base_low >> bits, -(-high * base_high >> bits)
        return thresholds

    def _proofs(self, word: int, bits: int) -> tuple[Callable[[int], bool], Callable[[int], bool]]:
        """Return two predicates of k: every U has a digit ≥ k, and every U has a digit < k."""
        fine = bits + self._guard_bits
        base, one = fixed_power(self.ratio, self.exponent, fine), 1 << fine
        narrow, wide = self._enclose_mass(base, fine)

        def is_at_least(k: int) -> bool:
            return word * narrow >= (one - power_bounds(base, k, fine)[0]) << bits

        def is_below(k: int) -> bool:
            return (word + 1) * wide <= (one - power_bounds(base, k, fine)[1]) << bits

        return is_at_least, is_below

    def _enclose_mass(self, base: tuple[int, int], bits: int) -> tuple[int, int]:
        """Enclose 2^bits·(1 − β^M), or 2^bits for the last digit; ``base`` encloses 2^bits·β."""
        if self.last:
            return 1 << bits, 1 << bits
        low, high = power_bounds(base, BASE, bits)
        return (1 << bits) - high, (1 << bits) - low

    @cached_property
    def _guard_bits(self) -> int:
        """The number of guard bits: more for larger powers, and for ratios nearer to 1."""
        near = (1 / (1 - self.ratio)).__ceil__().bit_length()
        return _GUARD + 2 * near + 4 * (self.exponent * BASE).bit_length()


class InvertedDigit(Protocol):
    """A digit that is sampled by inversion."""

    @property
    def last(self) -> bool:
        """Whether the digit has no largest value."""
        ...

    @property
    def exponent(self) -> int:
        """The unit that the digit counts."""
        ...

    def exact_digit(self, word: int, tape: Tape) -> int:
        """Return the digit for the U that begins with ``word``; read on while undecided."""
        ...

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return the digit for every U in [word, word + 1)/2^bits, or None if it is undecided."""
        ...

    def thresholds(self) -> list[int]:
        """Return ⌊2⁶⁴·P(digit < k)⌋ or one less, for every k from 0 on."""
        ...


class DigitTable:
    """The thresholds of one digit, which decide almost every word before ``end``."""

    def __init__(self, digit: InvertedDigit) -> None:
        self.digit = digit
        self.thresholds = digit.thresholds()
        self.end = self.thresholds[-1] if digit.last else 1 << WORD

    def draw(self, word: int, tape: Tape) -> int:
        """Return the same digit as :meth:`Digit.exact_digit`, faster."""
        place = bisect_right(self.thresholds, word) - 1
        if self.thresholds[place] + 1 < word < self.end:
            return place
        return self.digit.exact_digit(word, tape)


class Geometric:
    """Samples n with probability (1−ratio)·ratioⁿ, digit by digit.

    The number of samples alone determines when the tables are built, so the timing reveals nothing
    about a sample. ``digits`` begin with the lowest.
    """

    def __init__(self, ratio: Fraction) -> None:
        digits, exponent = [], 1
        while (1 - ratio) * exponent * BASE < _ENOUGH:  # 1 − b is at most −ln b
            digits.append(Digit(ratio, exponent, last=False))
            exponent *= BASE
        self.digits = (*digits, Digit(ratio, exponent, last=True))
        self._samples = 0
        self._draws = [digit.exact_digit for digit in self.digits]

    @cached_property
    def tables(self) -> tuple[DigitTable, ...]:
        """A table for each digit."""
        return tuple(DigitTable(digit) for digit in self.digits)

    @cached_property
    def reach(self) -> int:
        """A number that no sample from the tables reaches, and others less than once in 2⁶²."""
        last = self.tables[-1]
        rows = len(last.thresholds)
        return (rows if rows < BASE else 8 * BASE) * last.digit.exponent

    def draw(self, tape: Tape) -> int:
        """Sample the number; every digit is always sampled."""
        return self.number(tape.words(len(self.digits)), tape)

    def number(self, words: int, tape: Tape) -> int:
        """Return the number, given one word for each digit, all in one integer."""
        if self._samples <= _SOME:
            self._count()
        if len(self._draws) == 1:
            return self._draws[0](words, tape)
        number, unit = 0, 1
        for draw in self._draws:
            number += draw(words & _LAST_WORD, tape) * unit
            words, unit = words >> WORD, unit * BASE
        return number

    def _count(self) -> None:
        self._samples += 1
        if self._samples > _SOME:
            self._draws = [table.draw for table in self.tables]


@lru_cache(maxsize=64)
def geometric(ratio: Fraction) -> Geometric:
    """Return the sampler of a geometric number; the same object for the same ratio."""
    return Geometric(ratio)


class StaircaseScheme:
    """Samples a staircase: a place in a period, with its sign, and the number of the period.

    Both parts are always sampled in the same way: ``period``, of ``steps`` points, samples the
    place, and ``periods`` the number.
    """

    def __init__(self, both: tuple[Run, ...], ratio: Fraction) -> None:
        """Take the weights from −P to P − 1, and the factor from one period to the next."""
        self.period = run_scheme(both)
        self.periods = geometric(ratio)
        self.steps = -both[0].first
        self._words = 1 + len(self.periods.digits)

    @property
    def reach(self) -> int:
        """See Scheme."""
        return (self.periods.reach + 1) * self.steps

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        words = tape.words(self._words)
        place = self.period.index(words & _LAST_WORD, tape)
        periods = self.periods.number(words >> WORD, tape)
        return place + periods * self.steps if place >= 0 else place - periods * self.steps


@lru_cache(maxsize=64)
def staircase_scheme(runs: tuple[Run, ...], ratio: Fraction) -> StaircaseScheme:
    """Return the scheme of a staircase; the same object for equal noise."""
    return StaircaseScheme(mirror_period(runs, ratio), ratio)


@lru_cache(maxsize=64)
def cell_scheme(runs: tuple[Run, ...], ratio: Fraction) -> StaircaseScheme:
    """Return the scheme of ⌊X/step⌋, given the masses of the cells of one period, from 0 on.

    The cell before 0 is −1 and weighs as much as the cell 0, which begins at 0.
    """
    left = (Run(-run.first - run.points, run.points, run.weight) for run in reversed(runs))
    return StaircaseScheme((*left, *runs), ratio)


def mirror_period(runs: tuple[Run, ...], ratio: Fraction) -> tuple[Run, ...]:
    """Return one period of P points to either side: 0 … P − 1 to the right, −1 … −P to the left.

    0 belongs to the right side only. So a period to the left ends with the first point of the next
    period, which weighs b times as much as 0.
    """
    fall, unit = ratio.as_integer_ratio()
    right = [Run(run.first, run.points, unit * run.weight) for run in runs]
    center, *outer = right
    left = [Run(1 - run.first - run.points, run.points, run.weight) for run in reversed(outer)]
    if center.points > 1:
        left.append(Run(1 - center.points, center.points - 1, center.weight))
    end = Run(-(runs[-1].first + runs[-1].points), 1, fall * runs[0].weight)
    return (end, *left, *right)
