"""A geometric number, exactly, and the staircase noise that it makes.

The number is n ≥ 0 with probability (1−b)·bⁿ, for a rational 0 < b < 1. n = d₀ + d₁·M + d₂·M² + …
with M = 2¹². The digits are independent: dᵢ is k with a probability proportional to βᵏ, β = b^(Mⁱ).
The last digit that is sampled has no largest value and stands for all that follow; the others are
below M. Each is found by inversion: it is at least k iff U·(1 − β^M) ≥ 1 − βᵏ (1 − β^M read as 1
for the last). Enclosures of the powers settle it, with ever more bits of U while they do not. Where
more than a few numbers are sampled, a table of 64-bit thresholds settles nearly every word at once.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from leastnoise.core.exact import first_index, fixed_power, power_bounds
from leastnoise.core.lattice import Run
from leastnoise.core.sampling.entropy import WORD, Tape
from leastnoise.core.sampling.schemes import draw_exactly, run_scheme

BASE = 1 << 12
# A table ends where less than e⁻¹⁰ of all samples lie beyond it, at the earliest.
_ENOUGH = 10
_GUARD = 128
# So many numbers are sampled by enclosures before tables are built for them.
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
        """Return the digit for every U in [word, word + 1)/2^bits, or None if that is not sure."""
        is_at_least, is_below = self._proofs(word, bits)
        low, high = 0, BASE
        while self.last and is_at_least(high):
            low, high = high, 2 * high
        high = first_index(low, high, lambda k: not is_at_least(k))
        # Both sides are proved, whatever the search relied on.
        return high - 1 if (high == BASE and not self.last) or is_below(high) else None

    def thresholds(self) -> list[int]:
        """Return ⌊2⁶⁴·P(digit < k)⌋ or one less, for k = 0, 1, 2, …: U < t/2⁶⁴ means digit < k.

        From (t + 2)/2⁶⁴ on, the digit is at least k. The last digit's list ends where t is about
        to reach 2⁶⁴.
        """
        bits = WORD + self._guard_bits
        one = 1 << bits
        base = base_low, base_high = fixed_power(self.ratio, self.exponent, bits)
        low = high = one
        narrow, wide = self._whole(base, bits)
        thresholds: list[int] = []
        for _ in range(BASE):
            least = ((one - high) << WORD) // wide
            most = -(-((one - low) << WORD) // narrow)
            if most - least > 2:  # the distribution rests on it, so it holds under python -O too
                raise AssertionError("guard bits keep the enclosure narrow")
            if self.last and least >= (1 << WORD) - 2:
                break
            thresholds.append(least)
            low, high = low * base_low >> bits, -(-high * base_high >> bits)
        return thresholds

    def _proofs(self, word: int, bits: int) -> tuple[Callable[[int], bool], Callable[[int], bool]]:
        """Return two proofs: that every U has a digit of at least k, and that every U has less."""
        fine = bits + self._guard_bits
        base, one = fixed_power(self.ratio, self.exponent, fine), 1 << fine
        narrow, wide = self._whole(base, fine)

        def is_at_least(k: int) -> bool:
            return word * narrow >= (one - power_bounds(base, k, fine)[0]) << bits

        def is_below(k: int) -> bool:
            return (word + 1) * wide <= (one - power_bounds(base, k, fine)[1]) << bits

        return is_at_least, is_below

    def _whole(self, base: tuple[int, int], bits: int) -> tuple[int, int]:
        """Enclose 2^bits times the probability that the digits' weights are parts of.

        ``base`` encloses 2^bits·β.
        """
        if self.last:
            return 1 << bits, 1 << bits
        low, high = power_bounds(base, BASE, bits)
        return (1 << bits) - high, (1 << bits) - low

    @cached_property
    def _guard_bits(self) -> int:
        """How many more bits it takes for powers so large of a ratio so near to 1."""
        near = (1 / (1 - self.ratio)).__ceil__().bit_length()
        return _GUARD + 2 * near + 4 * (self.exponent * BASE).bit_length()


class DigitTable:
    """The thresholds of one digit: they settle nearly every word before ``end``."""

    def __init__(self, digit: Digit) -> None:
        self.digit = digit
        self.thresholds = digit.thresholds()
        self.end = self.thresholds[-1] if digit.last else 1 << WORD

    def draw(self, word: int, tape: Tape) -> int:
        """Return what :meth:`Digit.exact_digit` returns."""
        place = bisect_right(self.thresholds, word) - 1
        if self.thresholds[place] + 1 < word < self.end:
            return place
        return self.digit.exact_digit(word, tape)


class Geometric:
    """Samples n with probability (1−ratio)·ratioⁿ, digit by digit.

    The tables are built at a number that its count alone chooses: the time it takes reveals nothing
    about the number. ``digits`` begin with the lowest.
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
        """A number that the tables never give; it is reached less than once in 2⁶² samples."""
        last = self.tables[-1]
        rows = len(last.thresholds)
        return (rows if rows < BASE else 8 * BASE) * last.digit.exponent

    def draw(self, tape: Tape) -> int:
        """Sample the number: every digit, always."""
        return self.number(tape.words(len(self.digits)), tape)

    def number(self, words: int, tape: Tape) -> int:
        """Return the number for a word for each digit, all in one integer."""
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
    """Return the sampler of a geometric number: one for all uses of a ratio."""
    return Geometric(ratio)


class StaircaseScheme:
    """Samples a staircase: a place in a period, with its sign, and the number of the period.

    Both parts are sampled always, in the same way, whatever they turn out to be: the place by
    ``period``, of ``steps`` points, and the number by ``periods``.
    """

    def __init__(self, runs: tuple[Run, ...], ratio: Fraction) -> None:
        """Take the weights of one period, from 0 on, and by which factor they fall to the next."""
        self.period = run_scheme(both_sides(runs, ratio))
        self.periods = geometric(ratio)
        self.steps = runs[-1].first + runs[-1].points
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
    """Return the scheme of a staircase: one for all noise that is equal."""
    return StaircaseScheme(runs, ratio)


def both_sides(runs: tuple[Run, ...], ratio: Fraction) -> tuple[Run, ...]:
    """Return one period of P points to either side: 0 … P − 1 to the right, −1 … −P to the left.

    0 belongs to the right alone. So a period to the left ends with the point that begins the next
    one, which weighs b times as much as 0.
    """
    fall, whole = ratio.as_integer_ratio()
    right = [Run(run.first, run.points, whole * run.weight) for run in runs]
    center, *others = right
    left = [Run(1 - run.first - run.points, run.points, run.weight) for run in reversed(others)]
    if center.points > 1:
        left.append(Run(1 - center.points, center.points - 1, center.weight))
    end = Run(-(runs[-1].first + runs[-1].points), 1, fall * runs[0].weight)
    return (end, *left, *right)
