"""``EstimateBounds``: clipping bounds of a column, released by a query that is charged.

Two bins are selected from a public grid of round numbers: one with few rows below it and one with
few rows above it, as for a minimum and a maximum (extreme.py). The bounds are the outer edges of
both.

A noisy histogram of the same bins would need the same charge. But it hides up to a threshold of
rows in each bin, and there can be a hundred bins beyond the bounds, so its error is several times
larger for some tables. The error of a selection grows with the logarithm of the number of bins.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

from leastnoise.core.exact import format_exact
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip
from leastnoise.tables.answers import USUAL, Statement, Subject
from leastnoise.tables.bounding import RoundBins
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.keys import Groups, Key
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.bounds_answer import (
    BoundsAnswer,
    most_outside,
    outside_target,
)
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit, check_numeric
from leastnoise.tables.queries.query import AddNoise, Result, make_title
from leastnoise.tables.queries.selecting import (
    BinRows,
    as_selection,
    count_below,
    one_bin_words,
    rank_errors,
    ranks_from_high,
    ranks_from_low,
    rows_of,
    select_by_group,
)
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.sources import Source
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Comparison, Literal, Node, Parameters, bind_parameters, truth

# The range of clipping bounds.
_ALL = (Fraction(-(1 << 53)), Fraction(1 << 53))


@dataclass(frozen=True)
class EstimateBounds(BoundedQuery):
    """Clipping bounds of a column: round numbers with few rows outside them.

    A unit with rows in several bins counts in one bin of each of its groups, chosen by a hash, with
    at most ``max_rows`` rows.

    Args:
        column: The column.
        bounds: The range in which bounds are searched. Default: that of the card, else ±2⁵³.
    """

    # The selection of bins is independent of the count that decides which groups are shown.
    selects_by_its_count: ClassVar[bool] = False

    # The bins depend on the type of the column: plan() sets them.
    _grid: RoundBins | None = field(init=False, repr=False, compare=False, default=None)

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
        return make_title(f"bounds of {self.column}", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "bounds"

    def complete(self, defaults: TableDefaults) -> Self:
        """Return the query with the defaults of its table, and the widest range without one."""
        known = self.bounds is not None or self.column in defaults.bounds
        return BoundedQuery.complete(self if known else replace(self, bounds=_ALL), defaults)

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or whose kind does not fit."""
        super().check(source)
        check_numeric(source, self.column, booleans=False)

    def subject(self, rows: Rows, hidden_up_to: int | None = None) -> Subject:
        """Return the subject of the answers; without clipping bounds if they exclude nothing."""
        subject = super().subject(rows, hidden_up_to)
        return subject if self.clipping_bounds != _ALL else replace(subject, bounds=None)

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: a unit counts in one bin of a group."""
        return one_bin_words(self, subject)

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        return ("2 bins are selected, between round numbers: with few rows below, and few above",)

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return the sensitivity and the 95% error of a number, in rows, for a dry run."""
        if not isinstance(mechanism, PermuteAndFlip):
            return super().expected_error(number, mechanism)
        return rows_of(number.shift), f"{rows_of(int(self.answer_error([mechanism])))} each"

    def answer_error(self, mechanisms: Sequence[AnyMechanism]) -> Fraction:
        """Return the number of rows at most below, and above, the bounds, with 95% confidence."""
        return Fraction(most_outside(as_selection(mechanisms[-1]), USUAL))

    @property
    def grid(self) -> RoundBins:
        """The bins. Only the query that :meth:`plan` returns for a table has them."""
        if self._grid is None:
            raise TypeError("the bins of bounds depend on the types of their table")
        return self._grid

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group and bin; two bins are released."""
        rows = rows.known(self.column).among(self.by, self.groups)
        ends = self.clipping_bounds
        whole = rows.source.kind(self.column) == "integer" and not rows.source.is_text(self.column)
        grid = RoundBins.between(ends, whole=whole)

        if grid.count == 1:
            raise InvalidParameter(
                parameter("bounds") + " must contain a round number, such as 0, 1, 2, 5 or 10",
                got=" to ".join(map(format_exact, ends)),
                fix="Use them as clipping bounds, or widen them.",
            )

        def compare(sign: str, edge: Fraction) -> Any:
            # Only round numbers are compared, and these are short decimals.
            number = Decimal(edge.numerator) / Decimal(edge.denominator)
            comparison = Comparison(self.column, sign, (Literal("number", number),))
            return truth(comparison, rows.source, rows.table)

        contribution = self.contribution(rows.unit)
        planned = copy(self)
        planned._set("_grid", grid)
        selected = ReleasedNumber(
            name="bins",
            shift=contribution.count,
            step=Fraction(1),
            touched=2 * contribution.touched,
            integer=True,
            candidates=grid.count,
        )
        return PlannedQuery(
            query=planned,
            rows=rows,
            numbers=(*self.deciding_count(rows.unit), selected),
            bin=grid.place(compare),
            one_bin=True,
        )

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the two bins of each group."""
        return select_by_group(result, keys, noise, threshold, self._select)

    def _select(self, rows: BinRows, total: int, select: PermuteAndFlip) -> tuple[int, ...]:
        target = outside_target(select)
        below = count_below(rows, self.grid.count, total + target)
        lowest = rank_errors(ranks_from_low(below, target))
        highest = rank_errors(ranks_from_high(below, total, target))
        return select(lowest)[0], select(highest)[0]

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[BoundsAnswer]:
        """Return an answer for the two bins of each group."""
        select = as_selection(mechanisms[-1])
        return [
            BoundsAnswer(
                places=(min(places), max(places)),
                grid=self.grid,
                mechanism=select,
                privacy=statement.privacy,
                receipt=statement.receipt,
                together=statement.total_privacy,
                subject=statement.subject,
            )
            for places in numbers
        ]
