"""``Mean``: the mean of a column, from a released count and a released sum."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from leastnoise.core.exact import Number, as_float, format_exact, parse_confidence
from leastnoise.core.lattice import rounding_error
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute, renamed_arguments
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Answer, AnyMechanism, as_noise, farthest, half_width
from leastnoise.tables.answers import (
    INTERVAL,
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    Shown,
    Statement,
    Subject,
    TableNumber,
    as_html,
    as_text,
    at_most,
    confidence_of_each,
    exact_words,
    interval_cells,
)
from leastnoise.tables.bounding import Lattice, Summed
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit
from leastnoise.tables.queries.query import BoundedQuery, make_title
from leastnoise.tables.ratio import ErrorQuantile, Quotients, Ratio
from leastnoise.tables.registration import Bounds, Columns
from leastnoise.tables.rounding import float_near, format_nearest
from leastnoise.tables.where import Node


@dataclass(frozen=True)
class Mean(BoundedQuery):
    """The mean of a column: a count, and the sum of value − middle of the bounds.

    Both are released, and both can be used. Missing values are left out. A unit with more than
    ``max_rows`` rows in a group counts as ``max_rows`` rows, each with the average of its values.
    """

    # Which rows count follows from the column: those with a value (Rows.known).
    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "column", "bounds")
    # Of the table that is asked, whose types decide: see plan().
    _rounding: Fraction | None = field(init=False, repr=False, compare=False, default=None)

    @renamed_arguments(keys="groups")
    def __init__(
        self,
        column: str,
        *,
        bounds: Bounds,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        max_groups: int | None = None,
    ) -> None:
        self._start(
            column=column, bounds=bounds, by=by, groups=groups, where=where, max_groups=max_groups
        )

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

    @property
    def rounding(self) -> Fraction:
        """How far rounding can move a mean, of a query that :meth:`plan` has bound to a table.

        Let g be the step of the lattice. Each value counts as the nearest point between the points
        around the bounds. So it is off by at most g/2, or, beyond a bound, by as much as the point
        around that bound, and a mean by no more. Integers up to 2⁵³ are multiples of g if g ≤ 1. A
        decimal counts as a double beside it first, at most |bound|·2⁻⁵² off.

        A unit with more than c rows adds c times their average, rounded down: less than g off for
        c rows that count, hence g/c for each row. Doubles compute it, for c up to 2³². With
        |sum of indices| ≤ rows times m, m ≤ 2²¹, three roundings make c·average less than
        c·m·2⁻⁵¹ steps off, for each row less than 2⁻³⁰ steps.
        """
        if self._rounding is None:
            raise TypeError("how a mean is rounded depends on the table that it is asked of")
        return self._rounding

    def _find_rounding(self, rows: Rows) -> Fraction:
        lattice, (low, high) = self.lattice, self.bounds
        step, kind = lattice.step, rows.source.number(self.column).type()
        exact = (kind.is_integer() or kind.is_boolean()) and step <= 1
        ends = low - lattice.low * step, lattice.high * step - high
        off: Fraction = max(*ends, Fraction(0) if exact else step / 2)
        if kind.is_decimal():
            off += max(abs(low), abs(high)) / (1 << 52)
        if rows.unit.column is not None:
            off += step * (Fraction(1, rows.unit.max_rows) + Fraction(1, 1 << 30))
        return off

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "mean"

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return which rows do not count, a phrase for each rule."""
        return *super().omitted(unit), f"rows without {self.column}"

    def contributions(self, subject: Subject) -> str:
        """Return what counts of a unit with more rows: their average, for each that may count."""
        there = " there" if subject.per_group else ""
        return (
            f"each {subject.unit} counts as {at_most(subject.max_rows, 'row')}{subject.per_group}, "
            f"with the average of its values{there}{subject.and_groups}"
        )

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        middle = self.lattice.middle * self.lattice.step
        return (f"the sum is of {self.column} - {format_exact(middle)}",)

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows with a value, and add up their indices from that of the middle."""
        lattice = self.lattice
        index = lattice.index(rows.source.number(self.column), rows.source.engine) - lattice.middle
        low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
        unit_can = self.contribution(rows.unit)
        total = ReleasedNumber(
            name="sum", shift=unit_can.sum(low, high), step=lattice.step, touched=unit_can.touched
        )
        bound = copy(self)
        bound._set("_rounding", self._find_rounding(rows))
        return PlannedQuery(
            query=bound,
            rows=rows.known(self.column),
            numbers=(self.group_count(rows.unit), total),
            sums=(Summed(index, low, high, averaged=True),),
        )

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> "list[MeanAnswer]":
        """Return a mean for the count and the sum of each group."""
        lattice = self.lattice
        counting, adding = map(as_noise, mechanisms)
        middle = lattice.middle * lattice.step
        bounds = lattice.low * lattice.step, lattice.high * lattice.step
        of_count, of_sum = self._statements(statement, counting, adding)
        return [
            MeanAnswer(
                count=TableNumber(count, counting, of_count),
                sum=TableNumber(total, adding, of_sum),
                middle=middle,
                bounds=bounds,
                rounding=self.rounding,
                privacy=statement.privacy,
                receipt=statement.receipt,
                together=statement.total_privacy,
                subject=statement.subject,
            )
            for count, total in numbers
        ]

    def _statements(
        self, statement: Statement, counting: AnyMechanism, adding: AnyMechanism
    ) -> tuple[Statement, Statement]:
        """Return what the count and the sum of a mean state, each by itself."""
        subject, middle = statement.subject, self.lattice.middle * self.lattice.step
        low, high = self.bounds
        count = replace(
            subject,
            title=make_title(f"count of rows with {self.column}", self.by),
            statistic="count",
            bounds=None,
            contributions=subject.rows_per_unit if subject.contributions else "",
        )
        total = replace(
            subject,
            title=make_title(f"sum of {self.column} - {format_exact(middle)}", self.by),
            statistic="sum",
            bounds=(low - middle, high - middle),
        )
        return (
            replace(statement, subject=count, privacy=counting.privacy),
            replace(statement, subject=total, privacy=adding.privacy),
        )


_SUBJECT = Subject(title="mean", statistic="mean")


@dataclass(frozen=True, slots=True)
class MeanAnswer:
    """A released mean.

    A count ñ = n + X and a sum s̃ = s + Y are released, and the mean is computed from them alone.
    n is the number of rows that count, and s the sum of value − middle over them, each value
    clipped to the bounds: n·(low − middle) ≤ s ≤ n·(high − middle). Bounding the rows of a unit
    preserves this (n′ = min(n, c), and s′ is clipped to c times these ends). Values are rounded
    before they are added up: middle + s/n is at most ``rounding`` from the true mean m, that of the
    clipped values as they are. Both lie within the bounds. If n = 0 there is no mean.

    Attributes:
        count: The released count.
        sum: The released sum of value − middle.
        middle: What is subtracted from each value.
        bounds: The clipping bounds.
        privacy: The guarantee of both together, for one unit: the mean's own share.
        receipt: The ledger's receipt; None if the mean is in no ledger.
        together: The guarantee of everything that was released with the mean; None if there was
            nothing else.
        subject: What the mean is about.
        rounding: How far middle + s/n can be from the true mean (:attr:`Mean.rounding`).
    """

    layout: "ClassVar[Layout[MeanAnswer]]"

    count: Answer
    sum: Answer
    middle: Fraction
    bounds: tuple[Fraction, Fraction]
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT
    rounding: Fraction = Fraction(0)
    bound = RenamedAttribute[Fraction | float]("max_error")

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not low < high or not low <= self.middle <= high:
            raise InvalidParameter(
                "the middle of a mean must be between its bounds, the lower bound first",
                got=f"{format_exact(self.middle)}, and {format_exact(low)} to {format_exact(high)}",
                fix="Correct the bounds.",
            )
        if not self.count.mechanism.integer:
            raise InvalidParameter(
                "the count of a mean must be an integer",
                got="one of a mechanism for real numbers",
                fix="Calibrate it with integer=True.",
            )

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together with the mean, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def value(self) -> Fraction:
        """The middle plus sum/count, clipped to the bounds, exactly.

        It is the middle if the released count is not positive.
        """
        return Fraction(*_quotients(self).value(self.count.index, self.sum.index))

    @property
    def max_error(self) -> Fraction | float:
        """Maximum error: ``value`` is always within this distance of the true mean.

        ``math.inf`` if the noise of the count or of the sum is unbounded.
        """
        if not _bounded(self):
            return math.inf
        return Fraction(*_max_error(self, _errors(self, Fraction(1))))

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true mean with at least this probability.

        It is the set of all means m that the exact distribution of Y − (m − middle)·X leaves
        possible (Fieller 1954; :mod:`leastnoise.tables.ratio`), clipped to the bounds. Rounding the
        true sum to the lattice of its noise shifts the difference by at most half a step, which is
        added. So far it is an interval for middle + s/n. Both of its ends are moved outward by
        ``rounding``, before they are clipped: so it contains the mean of the clipped values, with
        no less probability, however many rows there are. That mean lies within the bounds, so
        clipping to them loses nothing.

        At confidence 1, and for noise that is not unimodal, it is the set of all s/n with
        |X| ≤ r and |Y| ≤ t, which hold with probability 1 − a/2 each, a = 1 − confidence.
        """
        errors = _errors(self, parse_confidence(confidence))
        low, high = errors.ends(self.count.index, self.sum.index)
        return Fraction(*low), Fraction(*high)

    def result(self) -> Shown:
        """Return the figures as they print."""
        value, interval, max_error = self._shown()
        rows = f"about {format_nearest(self.count.value, Fraction(1))}"
        parts = (("count", self.count.mechanism), ("sum", self.sum.mechanism))
        return Shown(
            value=value,
            details=(
                ("95% interval", interval, f"95% interval {interval}"),
                ("Rows", rows, f"{rows} row{'s' * (self.count.index != 1)}"),
            ),
            max_error=None if max_error == NONE else max_error,
            exact=exact_words(parts),
        )

    def _shown(self) -> list[str]:
        """Return value, interval and maximum error as they print."""
        (ratios,) = _figures([self])
        width = self.bounds[1] - self.bounds[0]
        return interval_cells(ratios, whole=False, within=self.bounds, otherwise=width)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __float__(self) -> float:
        return as_float(self.value)

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        return f"MeanAnswer({self._shown()[0]}, {self.privacy!r})"


class _Errors:
    """The intervals at one confidence of all means with the same noise, middle and bounds."""

    def __init__(self, answer: MeanAnswer, confidence: Fraction) -> None:
        # It holds both mechanisms, so that their ids stay theirs as long as it is known.
        self.count, self.total = answer.count.mechanism, answer.sum.mechanism
        self.quotients = _quotients(answer)
        self._found: dict[int, int] = {}
        self._quantile = self._box = None
        rows, total = self.count.discretized.noise, self.total.discretized.noise
        if confidence < 1 and rows.is_unimodal and total.is_unimodal:
            self._quantile = ErrorQuantile(rows, total, confidence)
        else:
            each = confidence_of_each(confidence, 2) if confidence < 1 else confidence
            reach = half_width(self.total, each) * self.quotients.scale
            # The true count is an integer, so a fraction of a row reaches no further one.
            self._box = math.floor(half_width(self.count, each)), int(reach)

    def ends(self, count: int, index: int) -> tuple[Ratio, Ratio]:
        """Return the ends of the interval for a released count and the index of a sum."""
        if self._box is not None:
            return self.quotients.box(count, index, *self._box)
        return self.quotients.fieller(count, index, self._reach)

    def _reach(self, piece: int) -> int:
        """Return how far sum − slope·count can be from 0, for slopes up to the end of a piece."""
        reach = self._found.get(piece)
        if reach is None and self._quantile is not None:
            scale, rounding = (
                self.quotients.scale,
                rounding_error(self.total.discretized.step, integer=self.total.integer),
            )
            slope = Fraction(self.quotients.piece * piece, scale)
            reach = self._found[piece] = int((self._quantile.at(slope) + rounding) * scale)
        return reach or 0


def _quotients(answer: MeanAnswer) -> Quotients:
    step = answer.sum.mechanism.discretized.step
    return Quotients.of(step, answer.middle, answer.bounds, answer.rounding)


# The last intervals that were asked for: a loop over many groups asks for one after another.
_known: OrderedDict[tuple[object, ...], _Errors] = OrderedDict()
_MOST_KNOWN = 32


def _errors(answer: MeanAnswer, confidence: Fraction) -> _Errors:
    """Return the errors of means like this one; hashing mechanisms would take longer."""
    mechanisms = id(answer.count.mechanism), id(answer.sum.mechanism)
    kind = (*mechanisms, confidence, answer.middle, answer.bounds, answer.rounding)
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = _Errors(answer, confidence)
        if len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return found


def _bounded(answer: MeanAnswer) -> bool:
    parts = answer.count.mechanism, answer.sum.mechanism
    return not any(isinstance(farthest(one), float) for one in parts)


def _max_error(answer: MeanAnswer, sure: _Errors) -> Ratio:
    """Return the larger distance from the mean to an end of its interval at confidence 1."""
    count, index = answer.count.index, answer.sum.index
    value, under = sure.quotients.value(count, index)
    (low, least), (high, most) = sure.ends(count, index)
    below = (value * least - low * under, under * least)
    above = (high * under - value * most, under * most)
    return above if above[0] * below[1] > below[0] * above[1] else below


def _figures(answers: Sequence[MeanAnswer]) -> Iterator[Figures]:
    known: dict[tuple[int, ...], tuple[_Errors, _Errors | None, Ratio]] = {}
    for one in answers:
        # The answers of one query share these objects; hashing fractions would take longer.
        parts = one.count.mechanism, one.sum.mechanism, one.middle, one.bounds, one.rounding
        kind = tuple(map(id, parts))
        if kind not in known:
            sure = _errors(one, Fraction(1)) if _bounded(one) else None
            known[kind] = _errors(one, USUAL), sure, one.middle.as_integer_ratio()
        usual, sure, middle = known[kind]
        rows, index, quotients = one.count.index, one.sum.index, usual.quotients
        low, high = usual.ends(rows, index)
        bound = None if sure is None else _max_error(one, sure)
        shift = index * quotients.step, quotients.scale
        yield quotients.value(rows, index), low, high, bound, (rows, 1), shift, middle


def _whole(answers: Sequence[MeanAnswer]) -> set[str]:
    sums = {id(one.sum.mechanism): one.sum.mechanism for one in answers}.values()
    return {"count", "sum_from_middle"} if all(one.integer for one in sums) else {"count"}


def _cells(figures: Figures, one: MeanAnswer, whole: bool) -> list[str]:
    rows = format_nearest(one.count.value, Fraction(1))
    value, interval, max_error = interval_cells(figures, whole=whole, within=one.bounds)
    return [value, interval, rows, max_error]


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
    header=("95% interval", "rows", "max error"),
    cells=_cells,
    released="each count or sum",
    same_max_error=False,
)
