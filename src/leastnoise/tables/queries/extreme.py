"""``Min`` and ``Max``: a bin of a public grid with few rows beyond it, by permute-and-flip.

No private answer can be the minimum itself, because one row determines it. So the query selects a
bin that has about r rows below it (above it, for a maximum). The target r follows from the
guarantee and the grid, not from the data (:func:`tail_target`): it is as small as the error of the
selection allows. A share of the rows, as of a quantile, would be too few rows of a small table and
needlessly many of a large one.

Let below(e) be the number of rows below the edge e. The error of a bin is that of a quantile
(:func:`rank_errors`) with D(e) = below(e) − r, or r − above(e) for a maximum. One unit changes
below(e) and above(e) by at most its rows, under both relations of neighbors, and r not at all.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from leastnoise.json_types import Json
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip
from leastnoise.tables.answers import USUAL, Statement, Subject
from leastnoise.tables.bounding import Bins, divide, is_read_as_double
from leastnoise.tables.keys import Groups, Key
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.extreme_answer import ExtremeAnswer
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit
from leastnoise.tables.queries.query import AddNoise, Result, make_title
from leastnoise.tables.queries.selecting import (
    BinRows,
    as_selection,
    count_below,
    one_bin_words,
    parse_bins,
    rank_errors,
    ranks_from_high,
    ranks_from_low,
    rows_of,
    select_by_group,
    tail_target,
)
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters


@dataclass(frozen=True)
class Extreme(BoundedQuery):
    """The base of :class:`Min` and :class:`Max`.

    A unit with rows in several bins counts in one bin of each of its groups, chosen by a hash, with
    at most ``max_rows`` rows.

    Args:
        column: The column.
        bounds: The ends of the grid. Values outside them are clipped. Missing values are omitted.
        bins: The number of bins of equal width between the bounds, as for a quantile. Default:
            1024.
    """

    # The selection of a bin is independent of the count that decides which groups are shown.
    selects_by_its_count: ClassVar[bool] = False
    highest: ClassVar[bool] = False
    word: ClassVar[str] = "minimum"

    bins: int = field(kw_only=True, default=1024)
    # The bins depend on the type of the column: plan() sets them.
    _grid: Bins | None = field(init=False, repr=False, compare=False, default=None)

    def __init__(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        bins: int = 1024,
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
            bins=bins,
            by=by,
            groups=groups,
            where=bind_parameters(where, params),
            max_groups=max_groups,
            max_rows=max_rows,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("bins", parse_bins(self.bins))

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title(f"approximate {self.word} of {self.column}", self.by)

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        return super().to_dict() | {"bins": self.bins}

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return f"near {self.word}"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: a unit counts in one bin of a group."""
        return one_bin_words(self, subject)

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read, and what is released."""
        few = "above" if self.highest else "below"
        extreme = (
            f"The {self.word} itself is the value of one row and cannot be private. This is a bin "
            f"with few rows {few} it."
        )
        rounded = f"Values of {self.column} are rounded to the nearest floating-point number."
        doubles = is_read_as_double(rows.source.number(self.column).type(), rows.source.engine)
        return *super().notes(rows), extreme, *([rounded] if doubles else [])

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return the sensitivity and the 95% error of a number, in rows, for a dry run."""
        if not isinstance(mechanism, PermuteAndFlip):
            return super().expected_error(number, mechanism)
        return rows_of(number.shift), f"{rows_of(int(self.answer_error([mechanism])))} beyond"

    def answer_error(self, mechanisms: Sequence[AnyMechanism]) -> Fraction:
        """Return the number of rows that lie beyond the bin at most, with 95% confidence."""
        select = as_selection(mechanisms[-1])
        return Fraction(tail_target(select, USUAL) + select.error_bound(USUAL))

    @property
    def grid(self) -> Bins:
        """The bins. Only the query that :meth:`plan` returns for a table has them."""
        if self._grid is None:
            raise TypeError("the bins of an extreme depend on the types of its table")
        return self._grid

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group and bin; one bin is released."""
        rows = rows.known(self.column).among(self.by, self.groups)
        source = rows.source
        grid, bin_of_row = divide(
            source.number(self.column), self.clipping_bounds, self.bins, source.engine
        )
        contribution = self.contribution(rows.unit)
        planned = copy(self)
        planned._set("_grid", grid)
        selected = ReleasedNumber(
            name="bin",
            shift=contribution.count,
            step=Fraction(1),
            touched=contribution.touched,
            integer=True,
            candidates=grid.count,
        )
        return PlannedQuery(
            query=planned,
            rows=rows,
            numbers=(*self.deciding_count(rows.unit), selected),
            bin=bin_of_row,
            one_bin=True,
        )

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the bin of each group."""
        return select_by_group(result, keys, noise, threshold, self._select)

    def _select(self, rows: BinRows, total: int, select: PermuteAndFlip) -> tuple[int, ...]:
        target = tail_target(select, USUAL)
        below = count_below(rows, self.grid.count, total + target)
        ranks = (
            ranks_from_high(below, total, target) if self.highest else ranks_from_low(below, target)
        )
        return (select(rank_errors(ranks))[0],)

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[ExtremeAnswer]:
        """Return an answer for the bin of each group."""
        select = as_selection(mechanisms[-1])
        return [
            ExtremeAnswer(
                bin=selected,
                grid=self.grid,
                highest=self.highest,
                mechanism=select,
                privacy=statement.privacy,
                receipt=statement.receipt,
                together=statement.total_privacy,
                subject=statement.subject,
            )
            for (selected,) in numbers
        ]


@dataclass(frozen=True, init=False)
class Min(Extreme):
    """About the lowest value of a column: a bin with few rows below it.

    The minimum itself is the value of one row, which no private answer can be.
    """


@dataclass(frozen=True, init=False)
class Max(Extreme):
    """About the highest value of a column: a bin with few rows above it.

    The maximum itself is the value of one row, which no private answer can be.
    """

    highest: ClassVar[bool] = True
    word: ClassVar[str] = "maximum"
