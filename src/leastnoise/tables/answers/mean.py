"""A mean: a released count, and a released sum of what values are above the middle."""

import math
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import Number, as_float, format_exact, parse_rational, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Answer, Mechanism, farthest, half_width, recorded_as
from leastnoise.rendering import table
from leastnoise.tables.answers.rounding import (
    downward,
    exact_words,
    place_for,
    printed_error,
    to_nearest,
    upward,
)

USUAL = Fraction(19, 20)
# A ratio of whole numbers that is not reduced: reducing it takes longer than all else.
Ratio = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MeanAnswer:
    """A released mean of what was counted.

    Released were a count ñ = n + X and a sum s̃ = s + Y; the mean is worked out from them alone. n
    is how many rows count, and s the sum of value − middle over them, each value taken as the
    nearest one within the bounds: n·(low − middle) ≤ s ≤ n·(high − middle), which bounding the
    rows of a unit keeps (n′ = min(n, c) and s′ is held within c times these ends). The true mean is
    m = middle + s/n, and lies within the bounds; of no row at all there is none.

    Attributes:
        count: The released count.
        sum: The released sum of value − middle.
        middle: What was taken off each value.
        bounds: What a value can be.
        privacy: The promise of both together, for one unit.
        receipt: That they are in a ledger; None if they are in none.
    """

    count: Answer
    sum: Answer
    middle: Fraction
    bounds: tuple[Fraction, Fraction]
    privacy: Privacy
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
        """Refuse parts that make no mean."""
        low, high = self.bounds
        if not low < high or not low <= self.middle <= high:
            raise InvalidParameter(
                "the middle of a mean must lie within its bounds, the lower one first; got "
                f"{format_exact(self.middle)}, and {format_exact(low)} to {format_exact(high)}. "
                "Exchange them."
            )
        if not self.count.mechanism.integer:
            raise InvalidParameter(
                "the count of a mean must be a whole number; got one of a mechanism for real "
                "numbers. Calibrate it with integer=True."
            )

    @property
    def value(self) -> Fraction:
        """The middle and sum/count, held within the bounds, exactly.

        The middle, if the released count is not positive.
        """
        return Fraction(*_ranges(self, reach=None).value(self.count.index, self.sum.index))

    @property
    def bound(self) -> Fraction:
        """The true mean is never further away than this (100 %, not 99.9 %).

        Where both noises have a largest size, from the counts and sums that they leave possible, as
        :meth:`interval` has it at confidence 1; else the distance between the bounds.
        """
        reach = largest(self.count.mechanism, self.sum.mechanism)
        ranges = _ranges(self, reach)
        return Fraction(*ranges.bound(self.count.index, self.sum.index))

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that holds the true mean with at least this probability.

        Let a = 1 − confidence. With probability 1 − a/2 at least |X| is within r, the half width of
        the count's interval at 1 − a/2; so is |Y| within t. Both hold with probability 1 − a at
        least, whether the noises depend on one another or not (the union bound). Then ñ − r ≤ n ≤
        ñ + r and s̃ − t ≤ s ≤ s̃ + t. If ñ − r ≥ 1, s/n is on this box at least (s̃ − t)/(ñ + r)
        where s̃ − t > 0 and (s̃ − t)/(ñ − r) where not, for s/n rises with s, and with n it falls
        where s > 0 and rises where s < 0; at most, the same with signs exchanged. The true mean
        lies within the bounds whatever was drawn, so it is still there when the interval is cut to
        them. If ñ − r ≤ 0 there may be no row at all, and the interval is all that lies between the
        bounds: it holds the true mean if there is one.
        """
        reach = reaching(self.count.mechanism, self.sum.mechanism, confidence)
        low, high = _ranges(self, reach).ends(self.count.index, self.sum.index)
        return Fraction(*low), Fraction(*high)

    def _shown(self) -> tuple[str, str, str, str]:
        """Return value, ends and largest error as they print: outward, that of printing included.

        The place is that of a thousandth of the interval.
        """
        low, high = self.interval(USUAL)
        unit = place_for(high - low, self.bounds[1] - self.bounds[0])
        always = printed_error(self.bound, self.value, unit, self.bounds)
        return to_nearest(self.value, unit), downward(low, unit), upward(high, unit), always

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        value, low, high, always = self._shown()
        facts = {
            "95 %": f"{low} to {high}",
            "always": f"± {always}",
            "rows": f"about {to_nearest(self.count.value, Fraction(1))}",
            "promise": f"{self.privacy}{self._exact()}",
            "recorded": recorded_as(self.receipt),
        }
        return table(value, facts)

    def _exact(self) -> str:
        parts = (("count", self.count.mechanism), ("sum", self.sum.mechanism))
        return "".join(exact_words(name, mechanism) for name, mechanism in parts)

    def __float__(self) -> float:
        """Return the float nearest to the mean."""
        return as_float(self.value)

    def __str__(self) -> str:
        """Say it in one honest line: the interval is rounded outward, the error up."""
        value, low, high, always = self._shown()
        count = to_nearest(self.count.value, Fraction(1))
        rows = f"{count} row{'s' * (self.count.index != 1)}"
        return (
            f"{value} ({low} to {high} with 95 %, ± {always} always; of about {rows}), "
            f"{self.privacy}{self._exact()}; {recorded_as(self.receipt)}"
        )

    def __repr__(self) -> str:
        """Print the mean and nothing else that could surprise."""
        return f"MeanAnswer({self._shown()[0]}, {self.privacy!r})"


# How far the noises of a count and of a sum reach; None where one of them has no largest size.
Reach = tuple[Fraction, Fraction] | None


def reaching(count: Mechanism, total: Mechanism, confidence: Number) -> Reach:
    """Return the half widths of both that hold together with at least this probability."""
    level = parse_rational(confidence, "confidence")
    if not 0 < level <= 1:
        raise InvalidParameter(
            f"confidence must be above 0 and at most 1; got {quote(confidence)}. "
            "Give for instance 0.95."
        )
    each = 1 - (1 - level) / 2
    return half_width(count, each), half_width(total, each)


def largest(count: Mechanism, total: Mechanism) -> Reach:
    """Return the largest errors of both; None if one has none."""
    rows, moved = farthest(count), farthest(total)
    if isinstance(rows, float) or isinstance(moved, float):
        return None
    return rows, moved


@dataclass(frozen=True, slots=True)
class MeanRanges:
    """The arithmetic of means of one kind, in whole numbers of 1/scale: a million take seconds.

    Attributes:
        scale: What makes all of them whole.
        rows: How far the count's noise reaches; None if that is not known.
        moved: How far the sum's noise reaches.
        step: The step of the sum.
        middle: What was taken off each value.
        low: The lower bound.
        high: The upper bound.
    """

    scale: int
    rows: int | None
    moved: int
    step: int
    middle: int
    low: int
    high: int

    @classmethod
    def of(
        cls, step: Fraction, middle: Fraction, bounds: tuple[Fraction, Fraction], reach: Reach
    ) -> "MeanRanges":
        """Bring all of them to one denominator."""
        rows, moved = reach if reach is not None else (None, Fraction(0))
        parts = (moved, step, middle, *bounds)
        scale = math.lcm(*(part.denominator for part in parts))
        wholes = [part.numerator * (scale // part.denominator) for part in parts]
        # A true count is whole: what its noise reaches beyond whole numbers reaches none.
        return cls(scale, None if rows is None else math.floor(rows), *wholes)

    def value(self, count: int, index: int) -> Ratio:
        """Return the mean for a released count and the index of a released sum."""
        if count <= 0:
            return self.middle, self.scale
        return self._held(index * self.step, count)

    def ends(self, count: int, index: int) -> tuple[Ratio, Ratio]:
        """Return the least and the largest mean that the noises leave possible."""
        if self.rows is None or count <= self.rows:
            return (self.low, self.scale), (self.high, self.scale)
        fewest, most = count - self.rows, count + self.rows
        least, largest = index * self.step - self.moved, index * self.step + self.moved
        return (
            self._held(least, most if least > 0 else fewest),
            self._held(largest, fewest if largest > 0 else most),
        )

    def bound(self, count: int, index: int) -> Ratio:
        """Return how far from the mean its ends are at the most; of unknown ends, the range."""
        if self.rows is None:
            return self.high - self.low, self.scale
        (value, under), (low, least), (high, most) = (
            self.value(count, index),
            *self.ends(count, index),
        )
        below = (value * least - low * under, under * least)
        above = (high * under - value * most, under * most)
        return above if above[0] * below[1] > below[0] * above[1] else below

    def _held(self, total: int, count: int) -> Ratio:
        """Return middle + total/count, held within the bounds."""
        upper = self.middle * count + total
        if upper <= self.low * count:
            return self.low, self.scale
        if upper >= self.high * count:
            return self.high, self.scale
        return upper, self.scale * count


def _ranges(answer: MeanAnswer, reach: Reach) -> MeanRanges:
    return MeanRanges.of(answer.sum.mechanism.drawn.step, answer.middle, answer.bounds, reach)
