"""``Mean``: the mean of a column."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import format_rounded
from leastnoise.deprecation import renamed_arguments
from leastnoise.mechanism import AnyMechanism, as_noise
from leastnoise.tables.answers import Statement, Subject, at_most
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.averaged_query import TYPICAL_ROWS, AveragedQuery, averaging_error
from leastnoise.tables.queries.mean_answer import MeanAnswer, mean_errors
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.ratio import Quotients
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters

__all__ = ["Mean", "MeanAnswer"]


@dataclass(frozen=True)
class Mean(AveragedQuery):
    """The mean of a column.

    A count and a sum of value − middle are released, where the middle is that of the bounds. The
    answer has both. Missing values are omitted. A unit with more than ``max_rows`` rows in a group
    counts as ``max_rows`` rows, each with the average of its values.
    """

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

    @property
    def rounding(self) -> Fraction:
        """The maximum error of a mean by rounding values. Only a planned query has it.

        It is that of one value (:meth:`round_value`), and that of the averages of units
        (:func:`averaging_error`).
        """
        if self._rounding is None:
            raise TypeError("the rounding of a mean depends on the types of its table")
        return self._rounding

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "mean"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: more rows count by their average."""
        rows = f"{at_most(subject.max_rows, 'row')} {subject.per_unit}{subject.per_group}"
        return f"{rows} (average of its values){subject.and_groups}"

    def result_errors(self, mechanisms: Sequence[AnyMechanism]) -> tuple[str, ...]:
        """Return the 95% error of the mean for some numbers of rows, for a dry run."""
        counting, adding = map(as_noise, mechanisms)
        quotients = Quotients.of(adding.discretized.step, self.middle, self.ends, self.rounding)
        errors = zip(
            TYPICAL_ROWS, mean_errors(counting, adding, quotients, TYPICAL_ROWS), strict=True
        )
        words = (f"{format_rounded(error, 4, ROUND_CEILING)} for {n:,} rows" for n, error in errors)
        return (f"95% error of the {self.statistic} at most {', '.join(words)}",)

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows with a value, and sum their indices relative to that of the middle."""
        known = rows.known(self.column)
        total, summed = self.plan_sum(known)
        planned = copy(self)
        averaging = self.lattice.step * averaging_error(rows.unit)
        planned._set("_rounding", self.round_value(rows) + averaging)
        return PlannedQuery(
            query=planned,
            rows=known,
            numbers=(self.group_count(rows.unit), total),
            sums=(summed,),
        )

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[MeanAnswer]:
        """Return a mean for the count and the sum of each group."""
        counting, adding = map(as_noise, mechanisms)
        statements = *self.state_numbers(statement, (counting, adding)), statement
        return [
            self.make_mean((count, total), (counting, adding), statements, self.rounding)
            for count, total in numbers
        ]
