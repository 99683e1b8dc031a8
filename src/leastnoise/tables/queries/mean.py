"""``Mean``: the mean of a column, from a released count and a released sum."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from leastnoise.core.exact import Number, as_float, format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Answer, Mechanism, farthest, half_width, recorded_as
from leastnoise.rendering import table
from leastnoise.tables.answers import (
    INTERVAL,
    USUAL,
    Figure,
    Figures,
    Layout,
    Ratio,
    confidence_of_each,
    interval_cells,
)
from leastnoise.tables.bounding import Lattice, Summed
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.queries.query import Query, Rows
from leastnoise.tables.queries.question import BoundedQuestion, make_title
from leastnoise.tables.rounding import exact_words, float_near, format_nearest


@dataclass(frozen=True)
class Mean(BoundedQuestion):
    """The mean of a column: a count, and the sum of value − middle of the bounds.

    Both are released, and both can be used. Missing values are left out.
    """

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return make_title(f"mean of {self.column}", self.by)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice, of about 2²⁰ steps.

        So sums of a unit's rows are doubles, and averages the same on all engines.
        """
        return Lattice.between(self.bounds, whole=False)

    def query(self, rows: Rows) -> Query:
        """Count the rows with a value, and add up their indices from that of the middle."""
        lattice = self.lattice
        index = lattice.index(rows.source.number(self.column), rows.source.engine) - lattice.middle
        low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
        unit_can = self.contribution(rows.unit)
        total = ReleasedNumber(
            name="sum", shift=unit_can.sum(low, high), step=lattice.step, touched=unit_can.touched
        )
        return Query(
            question=self,
            rows=rows.known(self.column),
            numbers=(self.group_count(rows.unit), total),
            sums=(Summed(index, low, high, averaged=True),),
        )

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[Mechanism],
        privacy: Privacy,
        receipt: Receipt | None,
    ) -> "list[MeanAnswer]":
        """Return a mean for the count and the sum of each group."""
        lattice = self.lattice
        counting, adding = mechanisms
        middle = lattice.middle * lattice.step
        bounds = lattice.low * lattice.step, lattice.high * lattice.step
        return [
            MeanAnswer(
                count=Answer(count, counting, receipt),
                sum=Answer(total, adding, receipt),
                middle=middle,
                bounds=bounds,
                privacy=privacy,
                receipt=receipt,
            )
            for count, total in numbers
        ]


@dataclass(frozen=True, slots=True)
class MeanAnswer:
    """A released mean.

    A count ñ = n + X and a sum s̃ = s + Y are released, and the mean is computed from them alone.
    n is the number of rows that count, and s the sum of value − middle over them, each value
    clipped to the bounds: n·(low − middle) ≤ s ≤ n·(high − middle). Bounding the rows of a unit
    preserves this (n′ = min(n, c), and s′ is clipped to c times these ends). The true mean is
    m = middle + s/n, which lies within the bounds. If n = 0 there is none.

    Attributes:
        count: The released count.
        sum: The released sum of value − middle.
        middle: What is subtracted from each value.
        bounds: The clipping bounds.
        privacy: The guarantee of both together, for one unit.
        receipt: The ledger's receipt; None if the mean is in no ledger.
    """

    layout: "ClassVar[Layout[MeanAnswer]]"

    count: Answer
    sum: Answer
    middle: Fraction
    bounds: tuple[Fraction, Fraction]
    privacy: Privacy
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
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
        """The middle plus sum/count, clipped to the bounds, exactly.

        It is the middle if the released count is not positive.
        """
        return Fraction(*_ranges(self, reach=None).value(self.count.index, self.sum.index))

    @property
    def bound(self) -> Fraction:
        """The maximum error: the true mean is never further away (100 %, not 99.9 %).

        If both count and sum have bounded noise, the error of :meth:`interval` at confidence 1;
        else the distance between the bounds.
        """
        ranges = _ranges(self, _max_errors(self.count.mechanism, self.sum.mechanism))
        return Fraction(*ranges.bound(self.count.index, self.sum.index))

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that holds the true mean with at least this probability.

        Let a = 1 − confidence, and r and t the half widths of the count's and the sum's intervals
        at 1 − a/2. Then |X| ≤ r and |Y| ≤ t with probability at least 1 − a, whether or not the
        two depend on one another (union bound). So ñ − r ≤ n ≤ ñ + r and s̃ − t ≤ s ≤ s̃ + t.

        Let ñ − r ≥ 1. s/n rises with s; as n grows, it falls where s > 0 and rises where s < 0. So
        its least value on this box is (s̃ − t)/(ñ + r) if s̃ − t > 0, else (s̃ − t)/(ñ − r). Its
        largest value follows with signs exchanged. The true mean always lies within the bounds, so
        it stays in the interval when that is clipped to them.

        If ñ − r ≤ 0 there may be no row at all. The interval is then the bounds.
        """
        reach = _half_widths(self.count.mechanism, self.sum.mechanism, confidence)
        low, high = _ranges(self, reach).ends(self.count.index, self.sum.index)
        return Fraction(*low), Fraction(*high)

    def _shown(self) -> list[str]:
        """Return value, interval and maximum error as they print."""
        figures = (self.value, *self.interval(USUAL), self.bound)
        ratios = tuple(figure.as_integer_ratio() for figure in figures)
        width = self.bounds[1] - self.bounds[0]
        return interval_cells(ratios, whole=False, within=self.bounds, otherwise=width)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        value, usual, always = self._shown()
        facts = {
            "95 %": usual,
            "always": always,
            "rows": f"about {format_nearest(self.count.value, Fraction(1))}",
            "promise": f"{self.privacy}{self._exact()}",
            "recorded": recorded_as(self.receipt),
        }
        return table(value, facts)

    def _exact(self) -> str:
        parts = (("count", self.count.mechanism), ("sum", self.sum.mechanism))
        return "".join(exact_words(name, mechanism) for name, mechanism in parts)

    def __float__(self) -> float:
        return as_float(self.value)

    def __str__(self) -> str:
        """Print one line: the interval is rounded outward, the error up."""
        value, usual, always = self._shown()
        count = format_nearest(self.count.value, Fraction(1))
        rows = f"{count} row{'s' * (self.count.index != 1)}"
        return (
            f"{value} ({usual} with 95 %, {always} always; of about {rows}), "
            f"{self.privacy}{self._exact()}; {recorded_as(self.receipt)}"
        )

    def __repr__(self) -> str:
        return f"MeanAnswer({self._shown()[0]}, {self.privacy!r})"


# How far the noise of the count and that of the sum reach; None if one of them is unbounded.
_Reach = tuple[Fraction, Fraction] | None


def _half_widths(count: Mechanism, total: Mechanism, confidence: Number) -> _Reach:
    """Return half widths of both that hold together with at least this probability."""
    each = confidence_of_each(confidence, 2)
    return half_width(count, each), half_width(total, each)


def _max_errors(count: Mechanism, total: Mechanism) -> _Reach:
    """Return the maximum errors of both; None if one has none."""
    rows, sums = farthest(count), farthest(total)
    if isinstance(rows, float) or isinstance(sums, float):
        return None
    return rows, sums


@dataclass(frozen=True, slots=True)
class _Ranges:
    """The arithmetic of means with the same noise, in multiples of 1/scale.

    Attributes:
        scale: The common denominator of all that follow but ``rows``.
        rows: How far the count's noise reaches; None if one of the two is unbounded.
        total: How far the sum's noise reaches.
    """

    scale: int
    rows: int | None
    total: int
    step: int
    middle: int
    low: int
    high: int

    def value(self, count: int, index: int) -> Ratio:
        """Return the mean for a released count and the index of a released sum."""
        if count <= 0:
            return self.middle, self.scale
        return self._clipped(index * self.step, count)

    def ends(self, count: int, index: int) -> tuple[Ratio, Ratio]:
        """Return the least and the largest mean that the noise leaves possible."""
        if self.rows is None or count <= self.rows:
            return (self.low, self.scale), (self.high, self.scale)
        fewest, most = count - self.rows, count + self.rows
        least, largest = index * self.step - self.total, index * self.step + self.total
        return (
            self._clipped(least, most if least > 0 else fewest),
            self._clipped(largest, fewest if largest > 0 else most),
        )

    def bound(self, count: int, index: int) -> Ratio:
        """Return the larger distance from the mean to its ends; the range if noise is unbounded."""
        if self.rows is None:
            return self.high - self.low, self.scale
        (value, under), (low, least), (high, most) = (
            self.value(count, index),
            *self.ends(count, index),
        )
        below = (value * least - low * under, under * least)
        above = (high * under - value * most, under * most)
        return above if above[0] * below[1] > below[0] * above[1] else below

    def _clipped(self, total: int, count: int) -> Ratio:
        """Return middle + total/count, clipped to the bounds."""
        upper = self.middle * count + total
        if upper <= self.low * count:
            return self.low, self.scale
        if upper >= self.high * count:
            return self.high, self.scale
        return upper, self.scale * count


def _ranges(answer: MeanAnswer, reach: _Reach) -> _Ranges:
    """Bring all numbers to one denominator."""
    rows, total = reach if reach is not None else (None, Fraction(0))
    parts = (total, answer.sum.mechanism.drawn.step, answer.middle, *answer.bounds)
    scale = math.lcm(*(part.denominator for part in parts))
    wholes = [part.numerator * (scale // part.denominator) for part in parts]
    # The true count is an integer, so a fraction of a row reaches no further one.
    return _Ranges(scale, None if rows is None else math.floor(rows), *wholes)


def _figures(answers: Sequence[MeanAnswer]) -> Iterator[Figures]:
    known: dict[tuple[int, ...], tuple[_Ranges, _Ranges, Ratio]] = {}
    for one in answers:
        count, total = one.count.mechanism, one.sum.mechanism
        # The answers of one question share these objects; hashing fractions would take longer.
        kind = id(count), id(total), id(one.middle), id(one.bounds)
        if kind not in known:
            reaches = _half_widths(count, total, USUAL), _max_errors(count, total)
            usual, sure = (_ranges(one, reach) for reach in reaches)
            known[kind] = usual, sure, one.middle.as_integer_ratio()
        usual, sure, middle = known[kind]
        rows, index = one.count.index, one.sum.index
        low, high = usual.ends(rows, index)
        shift = index * usual.step, usual.scale
        value, bound = usual.value(rows, index), sure.bound(rows, index)
        yield value, low, high, bound, (rows, 1), shift, middle


def _whole(answers: Sequence[MeanAnswer]) -> set[str]:
    sums = {id(one.sum.mechanism): one.sum.mechanism for one in answers}.values()
    return {"count", "sum_from_middle"} if all(one.integer for one in sums) else {"count"}


def _cells(figures: Figures, one: MeanAnswer, whole: bool) -> list[str]:
    rows = format_nearest(one.count.value, Fraction(1))
    return [*interval_cells(figures, whole=whole, within=one.bounds), rows]


MeanAnswer.layout = Layout(
    # The sum is one of value − middle, so it needs the middle beside it.
    columns=(
        *INTERVAL,
        Figure("count"),
        Figure("sum_from_middle", float_near),
        Figure("middle", float_near),
    ),
    figures=_figures,
    mechanisms=lambda answer: (answer.count.mechanism, answer.sum.mechanism),
    whole=_whole,
    header=("95 %", "always", "rows"),
    cells=_cells,
    released="each count or sum",
)
