"""Sample the noise of several numbers at once: a box by its exact law, then a point of the box.

Joint noise is a mixture of uniform noise on nested boxes (:mod:`leastnoise.core.noise.joint`). Box
m has half-widths mDᵢ + eᵢ. One word almost always decides m by inversion, as it decides a digit of
a geometric number (:mod:`leastnoise.core.sampling.staircase`), and one word each coordinate.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Protocol

from leastnoise.core.exact import enclose_product, first_index, sum_growing
from leastnoise.core.sampling.entropy import WORD, Tape
from leastnoise.core.sampling.schemes import draw_exactly, ticket_if_accepted, uniform_below
from leastnoise.core.sampling.staircase import DigitTable

# The largest number of thresholds of a table. Words beyond it are decided exactly.
_MOST = 1 << 14
_GUARD = 256
# The number of samples before the table is built.
_SOME = 20
_LAST_WORD = (1 << WORD) - 1
# The longest side that is sampled by a single word.
_LONGEST_SIDE = 1 << 62
# The most sums of a series that are kept.
_MOST_SUMS = 1 << 15


class BoxNumbers(Protocol):
    """Samples the number m ≥ 0 of a box."""

    def draw(self, tape: Tape) -> int:
        """Return m."""
        ...


class GrowingBoxes:
    """Samples m with probability proportional to bᵐ·N(m), N(m) the number of points of box m.

    N is a polynomial in m of degree k. With its differences cⱼ = ΔʲN(n) at n, in the basis of
    binomial coefficients,

        Σ bⁱ·N(n + i) over i ≥ 0  =  Σ cⱼ·bʲ/(1−b)ʲ⁺¹ over j = 0 … k.

    So P(m ≥ n) = bⁿ·S(n)/S(0), where S(n) is that sum times (1−b)ᵏ⁺¹·qᵏ, an integer, for b = p/q.

    It has the attributes of a last digit, so a :class:`DigitTable` and its array sampler serve it.

    Attributes:
        ratio: b, 0 < b < 1.
        shifts: D, positive integers.
        edges: e, integers of at least 0.
    """

    last = True
    exponent = 1

    def __init__(self, ratio: Fraction, shifts: Sequence[int], edges: Sequence[int]) -> None:
        self.ratio, self.shifts, self.edges = ratio, tuple(shifts), tuple(edges)
        self._samples = 0
        self._sums: dict[int, int] = {}
        self._whole = self.sum_from(0)

    @cached_property
    def table(self) -> DigitTable:
        """The thresholds that decide almost every word."""
        return DigitTable(self)

    def draw(self, tape: Tape) -> int:
        """Return m. The number of samples alone determines when the table is built."""
        word = tape.word(WORD)
        if self._samples <= _SOME:
            self._samples += 1
            return self.exact_digit(word, tape)
        return self.table.draw(word, tape)

    def exact_digit(self, word: int, tape: Tape) -> int:
        """Return m for the U that begins with ``word``; read on while undecided."""
        return draw_exactly(self.index_if_certain, word, tape)

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return m for every U in [word, word + 1)/2^bits, or None if it is undecided.

        m < n exactly if U < P(m < n) = 1 − P(m ≥ n).
        """
        above = (1 << bits) - word  # 2^bits·(1 − U) is at most that, and more than one less

        def is_at_least(n: int) -> bool:
            return above <= self._enclose_tail(n, bits)[0]

        def is_below(n: int) -> bool:
            return above - 1 >= self._enclose_tail(n, bits)[1]

        low, high = 0, 1
        while is_at_least(high):
            low, high = high, 2 * high
        high = first_index(low, high, lambda n: not is_at_least(n))
        return high - 1 if is_below(high) else None

    def thresholds(self) -> list[int]:
        """Return ⌊2⁶⁴·P(m < n)⌋ or one less for n = 0, 1, 2, …, as :class:`DigitTable` needs.

        P(m < n) is a sum of the boxes before n, whose powers are rounded down.
        """
        one, fine = 1 << WORD, WORD + self._guard_bits
        over, under = self.ratio.as_integer_ratio()
        # P(m) = bᵐ·N(m)·(1 − b)·unit/S(0).
        unit = (under - over) * sum_growing(self.ratio, lambda _: 1, len(self.shifts), 0)
        whole, power = self._whole * under, 1 << fine
        below, thresholds = 0, [0]
        for n in range(_MOST - 1):
            below += self.count_points(n) * power
            power = power * over // under
            threshold = (below * unit // whole) >> self._guard_bits
            if threshold > one - 3:
                break
            thresholds.append(threshold)
        low, high = self._enclose_tail(len(thresholds) - 1, fine)
        least, most = (((1 << fine) - tail) >> self._guard_bits for tail in (high, low))
        # The last one is the least precise. Not an assert, because the distribution depends on it
        # under python -O too.
        if not least - 1 <= thresholds[-1] <= most:
            raise AssertionError("the thresholds are less precise than the guard bits allow")
        return thresholds

    def sum_from(self, first: int) -> int:
        """Return S(first)."""
        known = self._sums.get(first)
        if known is None:
            known = sum_growing(self.ratio, self.count_points, len(self.shifts), first)
            if len(self._sums) < _MOST_SUMS:
                self._sums[first] = known
        return known

    def count_points(self, box: int) -> int:
        """Return the number of points of a box."""
        pairs = zip(self.shifts, self.edges, strict=True)
        return prod(2 * (box * shift + edge) + 1 for shift, edge in pairs)

    def _enclose_tail(self, first: int, bits: int) -> tuple[int, int]:
        """Enclose 2^bits·P(m ≥ first) between integers."""
        return enclose_product(self.ratio, first, self.sum_from(first), self._whole, bits)

    @cached_property
    def _guard_bits(self) -> int:
        """The number of guard bits: more for ratios nearer to 1, where tails need higher powers.

        The error of a power is multiplied by S(n)/S(0), which grows with n, and n with the bits of
        a word that is read on. So as many guard bits are added to these, and every word is decided.
        """
        near = (1 / (1 - self.ratio)).__ceil__().bit_length()
        return _GUARD + (len(self.shifts) + 4) * near


class JointScheme:
    """Samples a box, then a uniform point of it.

    The number of bits read does not depend on the point, except that with a small probability a
    word is rejected or a further word is read, and that a side of more than 2⁶² points needs longer
    words.
    """

    def __init__(self, boxes: BoxNumbers, shifts: Sequence[int], edges: Sequence[int]) -> None:
        self.boxes = boxes
        self.sides = tuple(zip(shifts, edges, strict=True))

    def draw(self, tape: Tape) -> tuple[int, ...]:
        """Return one point.

        Contract: for any tape of independent fair bits, m has exactly its probability, and each
        coordinate is uniform on the integers from −(mD + e) to mD + e, independently given m.
        """
        return self.draw_point(self.boxes.draw(tape), tape)

    def draw_point(self, box: int, tape: Tape) -> tuple[int, ...]:
        """Return a uniform point of a box."""
        words = tape.words(len(self.sides))
        point = []
        for shift, edge in self.sides:
            half = box * shift + edge
            side = 2 * half + 1
            product = (words & _LAST_WORD) * side
            words >>= WORD
            if side > _LONGEST_SIDE or product & _LAST_WORD < side:  # rejected, or nearly
                point.append(_decide(product // side, side, tape) - half)
            else:
                point.append((product >> WORD) - half)
        return tuple(point)


class MarginalScheme:
    """Samples one coordinate of joint noise."""

    reach = 1 << 200  # arrays of one number alone are sampled one by one

    def __init__(self, joint: JointScheme) -> None:
        self._joint = joint

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        return self._joint.draw(tape)[0]


def _decide(word: int, side: int, tape: Tape) -> int:
    """Return a uniform integer in [0, side): that of the word, or of further words."""
    if side > _LONGEST_SIDE:
        return uniform_below(side, tape)
    ticket = ticket_if_accepted(word, WORD, side)
    return uniform_below(side, tape) if ticket is None else ticket
