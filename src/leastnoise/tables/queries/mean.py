"""``Mean``: the mean of a column."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.deprecation import renamed_arguments
from leastnoise.ledger import mark
from leastnoise.mechanism import AnyMechanism, as_noise
from leastnoise.tables.answers import Statement, Subject, TableNumber, at_most
from leastnoise.tables.bounding import Lattice, Summed
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.mean_answer import MeanAnswer, mean_errors
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.ratio import Quotients
from leastnoise.tables.registration import Bounds, ColumnName, Columns
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.where import Node, Parameters, bind_parameters

__all__ = ["Mean", "MeanAnswer"]

# The numbers of rows for which a dry run shows the error of a mean.
TYPICAL_ROWS = (100, 1_000, 10_000)


@dataclass(frozen=True)
class Mean(BoundedQuery):
    """The mean of a column.

    A count and a sum of value − middle are released, where the middle is that of the bounds. The
    answer has both. Missing values are omitted. A unit with more than ``max_rows`` rows in a group
    counts as ``max_rows`` rows, each with the average of its values.
    """

    # ``column`` selects rows, those with a value, through Rows.known.
    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "column", "bounds")
    # It depends on the type of the column: plan() sets it.
    _rounding: Fraction | None = field(init=False, repr=False, compare=False, default=None)

    @renamed_arguments(keys="groups")
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
        return make_title(f"mean of {self.column}", self.by)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice of values, with about 2²⁰ steps.

        It is so coarse that doubles represent the sums of a unit's rows exactly. So all engines
        compute the same averages.
        """
        return Lattice.between(self.clipping_bounds, whole=False)

    @property
    def rounding(self) -> Fraction:
        """The maximum error of a mean by rounding values. Only a planned query has it.

        Let g be the step of the lattice. Each value is rounded to the nearest lattice point between
        the points around the bounds. The error is at most g/2, or, for a value at a bound, the
        distance from that bound to the lattice point around it. The mean has at most this error.
        Integers up to 2⁵³ have no error if g ≤ 1, because they are multiples of g. A decimal is
        first converted to a double beside it, with an error of at most |bound|·2⁻⁵².

        A unit with more than c rows adds c times the average of its rows, rounded down. The error
        is less than g for the c rows that count, so less than g/c for each row. The engine computes
        this in doubles, for c up to 2³². Since |sum of indices| ≤ rows·m with m ≤ 2²¹, three
        roundings change c·average by less than c·m·2⁻⁵¹ steps, which is less than 2⁻³⁰ steps for
        each row.
        """
        if self._rounding is None:
            raise TypeError("the rounding of a mean depends on the types of its table")
        return self._rounding

    def _find_rounding(self, rows: Rows) -> Fraction:
        error = self._find_value_error(rows)
        if rows.unit.column is not None:
            error += self.lattice.step * (Fraction(1, rows.unit.max_rows) + Fraction(1, 1 << 30))
        return error

    def _find_value_error(self, rows: Rows) -> Fraction:
        """Return the maximum error by rounding a single value."""
        lattice, (low, high) = self.lattice, self.clipping_bounds
        step, kind = lattice.step, rows.source.number(self.column).type()
        exact = (kind.is_integer() or kind.is_boolean()) and step <= 1
        ends = low - lattice.low * step, lattice.high * step - high
        error: Fraction = max(*ends, Fraction(0) if exact else step / 2)
        if kind.is_decimal():
            error += max(abs(low), abs(high)) / (1 << 52)
        return error

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "mean"

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: more rows count by their average."""
        rows = f"{at_most(subject.max_rows, 'row')} {subject.per_unit}{subject.per_group}"
        return f"{rows} (average of its values){subject.and_groups}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        middle = self.lattice.middle * self.lattice.step
        return (f"the sum is of {self.column} - {format_exact(middle)}",)

    def result_errors(self, mechanisms: Sequence[AnyMechanism]) -> tuple[str, ...]:
        """Return the 95% error of the mean for some numbers of rows, for a dry run."""
        counting, adding = map(as_noise, mechanisms)
        lattice = self.lattice
        bounds = lattice.low * lattice.step, lattice.high * lattice.step
        middle = lattice.middle * lattice.step
        quotients = Quotients.of(adding.discretized.step, middle, bounds, self.rounding)
        errors = zip(
            TYPICAL_ROWS, mean_errors(counting, adding, quotients, TYPICAL_ROWS), strict=True
        )
        words = (f"{format_rounded(error, 4, ROUND_CEILING)} for {n:,} rows" for n, error in errors)
        return (f"95% error of the {self.statistic} at most {', '.join(words)}",)

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows with a value, and sum their indices relative to that of the middle."""
        lattice = self.lattice
        known = rows.known(self.column)
        index = self._index(known) - lattice.middle
        low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
        contribution = self.contribution(rows.unit)
        total = ReleasedNumber(
            name="sum",
            shift=contribution.sum(low, high),
            step=lattice.step,
            touched=contribution.touched,
        )
        planned = copy(self)
        planned._set("_rounding", self._find_rounding(rows))
        return PlannedQuery(
            query=planned,
            rows=known,
            numbers=(self.group_count(rows.unit), total),
            sums=(Summed(index, low, high, averaged=True),),
        )

    def _index(self, rows: Rows) -> Any:
        """Return the index of each row on the lattice, as an Ibis expression; never NULL."""
        return self.lattice.index(rows.source.number(self.column), rows.source.engine)

    def _describe_sum(self) -> tuple[str, tuple[Fraction, Fraction] | None]:
        """Return the released sum in words, and the bounds of a row; None if nothing is clipped."""
        low, high = self.clipping_bounds
        middle = self.lattice.middle * self.lattice.step
        return f"sum of {self.column} - {format_exact(middle)}", (low - middle, high - middle)

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[MeanAnswer]:
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
        """Return the statements of the count and of the sum of a mean."""
        subject, seeded = statement.subject, mark(statement.receipt)
        title, bounds = self._describe_sum()
        count = replace(
            subject,
            title=seeded + make_title(f"count of rows with {self.column}", self.by),
            statistic="count",
            bounds=None,
            contributions=subject.rows_per_unit if subject.contributions else "",
        )
        total = replace(
            subject,
            title=seeded + make_title(title, self.by),
            statistic="sum",
            bounds=bounds,
        )
        return (
            replace(statement, subject=count, privacy=counting.privacy),
            replace(statement, subject=total, privacy=adding.privacy),
        )
