"""``Variance`` and ``Std``: the population variance of a column, and its square root."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.json_types import Json
from leastnoise.ledger import mark
from leastnoise.mechanism import AnyMechanism, Mechanism, as_noise
from leastnoise.tables.answers import (
    USUAL,
    Statement,
    Subject,
    TableNumber,
    at_most,
    confidence_of_each,
)
from leastnoise.tables.bounding import Squares, Summed
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.averaged_query import TYPICAL_ROWS, AveragedQuery, averaging_error
from leastnoise.tables.queries.mean_answer import MeanAnswer, mean_errors
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.queries.variance_answer import SpreadAnswer, StdAnswer, VarianceAnswer
from leastnoise.tables.ratio import Quotients
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.rounding import root_above
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters


@dataclass(frozen=True)
class Variance(AveragedQuery):
    """The population variance of a column: it divides by the number of rows, not by one less.

    Three numbers are released: a count, a sum of value − middle, and a sum of the squares of value
    − middle, where the middle is that of the bounds. Missing values are omitted. In a unit with
    more than ``max_rows`` rows in a group, each row has the weight ``max_rows``/rows.
    """

    word: ClassVar[str] = "variance"
    answer_class: ClassVar[type[SpreadAnswer]] = VarianceAnswer
    # They depend on the type of the column: plan() sets them.
    _roundings: tuple[Fraction, Fraction] | None = field(
        init=False, repr=False, compare=False, default=None
    )

    def __init__(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> None:
        self._start(
            column=column,
            bounds=bounds,
            by=by,
            groups=groups,
            where=bind_parameters(where, params),
            max_groups=max_groups,
            max_rows=max_rows,
        )

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title(f"{self.word} of {self.column}", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return self.word

    @cached_property
    def squares(self) -> Squares:
        """The squares of value − middle as integers."""
        return Squares.of(self.lattice)

    @property
    def largest(self) -> Fraction:
        """The largest possible variance: that of values of which half are at each bound."""
        low, high = self.clipping_bounds
        return (high - low) ** 2 / 4

    @property
    def roundings(self) -> tuple[Fraction, Fraction]:
        """The maximum errors by rounding of the mean of the values, and of that of the squares.

        Only a planned query has them. Each is that of one row, and that of the averages of units
        (:func:`averaging_error`).
        """
        if self._roundings is None:
            raise TypeError("the rounding of a variance depends on the types of its table")
        return self._roundings

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: more rows share the weight of these."""
        rows = f"{at_most(subject.max_rows, 'row')} {subject.per_unit}{subject.per_group}"
        return f"{rows} (more rows share that weight){subject.and_groups}"

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read, and what is computed."""
        dividing = f"This is the population {self.word}: it divides by the number of rows."
        return *super().notes(rows), dividing

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        squares, middle = self.squares, format_exact(self.middle)
        shift = format_exact(squares.middle * squares.step)
        return (
            *super().plan_notes(),
            f"the sum of squares is of ({self.column} - {middle})² - {shift}",
        )

    def result_errors(self, mechanisms: Sequence[AnyMechanism]) -> tuple[str, ...]:
        """Return the 95% error of the result for some numbers of rows, for a dry run."""
        words = (
            f"{format_rounded(error, 4, ROUND_CEILING)} for {n:,} rows"
            for n, error in zip(TYPICAL_ROWS, self.find_errors(mechanisms), strict=True)
        )
        return (f"95% error of the {self.word} at most {', '.join(words)}",)

    def find_errors(self, mechanisms: Sequence[AnyMechanism]) -> list[Fraction]:
        """Return a bound of the 95% error for the released counts ``TYPICAL_ROWS``.

        Let the ends of the intervals for the mean a of value − middle and for the mean b of squares
        be at distances of at most v and w from the released a and b. Since |a| ≤ A, the reach of
        the squares, b − a² changes by at most w + 2A·v.
        """
        counting, *adding = map(as_noise, mechanisms)
        level = confidence_of_each(USUAL, 2)
        of_mean, of_squares = (
            mean_errors(counting, noise, quotients, TYPICAL_ROWS, level)
            for noise, quotients in zip(adding, self._quotients(adding), strict=True)
        )
        reach = self.squares.reach
        both = zip(of_mean, of_squares, strict=True)
        return [min(self.largest, squares + 2 * reach * mean) for mean, squares in both]

    def _quotients(self, adding: Sequence[Mechanism]) -> tuple[Quotients, Quotients]:
        of_mean, of_squares = adding
        return (
            Quotients.of(of_mean.discretized.step, self.middle, self.ends, self.roundings[0]),
            Quotients.of(
                of_squares.discretized.step,
                self.squares.middle * self.squares.step,
                self._ends_of_squares,
                self.roundings[1],
            ),
        )

    @property
    def _ends_of_squares(self) -> tuple[Fraction, Fraction]:
        """The range of squares, both of exact and of rounded ones."""
        squares = self.squares
        return Fraction(0), max(squares.most * squares.step, squares.reach**2)

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows with a value, sum their indices from the middle, and the squares."""
        squares, contribution = self.squares, self.contribution(rows.unit)
        known = rows.known(self.column)
        total, summed = self.plan_sum(known)
        low, high = -squares.middle, squares.most - squares.middle
        of_squares = ReleasedNumber(
            name="sum of squares",
            shift=contribution.sum(low, high),
            step=squares.step,
            touched=contribution.touched,
        )
        planned, value, averaging = copy(self), self.round_value(rows), averaging_error(rows.unit)
        roundings = (
            value + self.lattice.step * averaging,
            squares.rounding(value) + squares.step * averaging,
        )
        planned._set("_roundings", roundings)
        return PlannedQuery(
            query=planned,
            rows=known,
            numbers=(self.group_count(rows.unit), total, of_squares),
            sums=(summed, Summed(squares.index(summed.index), low, high, averaged=True)),
        )

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[SpreadAnswer]:
        """Return an answer for the count and the two sums of each group."""
        noise = counting, adding, squaring = tuple(map(as_noise, mechanisms))
        of_count, of_sum = self.state_numbers(statement, noise)
        of_mean = self._restate(statement, f"mean of {self.column}", "mean")
        of_squares = self._restate(statement, self._name_squares(), "mean")
        own = replace(of_squares, privacy=squaring.privacy)
        squares = self.squares
        return [
            self.answer_class(
                mean=self.make_mean(
                    (count, total),
                    (counting, adding),
                    (of_count, of_sum, of_mean),
                    self.roundings[0],
                ),
                squares=MeanAnswer(
                    count=TableNumber(count, counting, of_count),
                    sum=TableNumber(square, squaring, own),
                    middle=squares.middle * squares.step,
                    bounds=self._ends_of_squares,
                    rounding=self.roundings[1],
                    privacy=statement.privacy,
                    receipt=statement.receipt,
                    together=statement.total_privacy,
                    subject=of_squares.subject,
                ),
                largest=self.largest,
                privacy=statement.privacy,
                receipt=statement.receipt,
                together=statement.total_privacy,
                subject=statement.subject,
            )
            for count, total, square in numbers
        ]

    def _name_squares(self) -> str:
        return f"mean of ({self.column} - {format_exact(self.middle)})²"

    def _restate(self, statement: Statement, title: str, statistic: str) -> Statement:
        """Return the statement about another mean of the same rows."""
        title = mark(statement.receipt) + make_title(title, self.by)
        subject = replace(statement.subject, title=title, statistic=statistic)
        return replace(statement, subject=subject)


@dataclass(frozen=True, init=False)
class Std(Variance):
    """The population standard deviation of a column: the square root of its variance.

    The same three numbers are released as for a :class:`Variance`.
    """

    word: ClassVar[str] = "standard deviation"
    answer_class: ClassVar[type[SpreadAnswer]] = StdAnswer

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        return super().to_dict() | {"ask": "std"}

    def find_errors(self, mechanisms: Sequence[AnyMechanism]) -> list[Fraction]:
        """Return a bound of the 95% error for the released counts ``TYPICAL_ROWS``.

        |√x − √y| ≤ √|x − y|, with equality if x or y is 0. A large deviation has a smaller error.
        """
        return [root_above(error) for error in super().find_errors(mechanisms)]
