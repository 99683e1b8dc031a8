"""``Quantile``: the bin of a public grid that contains a quantile, selected by permute-and-flip."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.core.exact import (
    Number,
    format_exact,
    format_ratio,
    parse_confidence,
    parse_rational,
    quote,
)
from leastnoise.deprecation import RenamedAttribute, renamed_arguments
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.json_types import Json
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip
from leastnoise.tables.answers import USUAL, Statement, Subject
from leastnoise.tables.bounding import Bins, divide, is_read_as_double
from leastnoise.tables.keys import Groups, Key
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit
from leastnoise.tables.queries.quantile_answer import IntervalQuantileAnswer, QuantileAnswer
from leastnoise.tables.queries.query import AddNoise, Result, make_title
from leastnoise.tables.queries.selecting import (
    BinRows,
    as_selection,
    count_below,
    one_bin_words,
    parse_bins,
    rank_errors,
    select_by_group,
)
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.rounding import format_rows
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters

_LARGEST_DENOMINATOR = 1000


@dataclass(frozen=True)
class Quantile(BoundedQuery):
    """A quantile of a column, as a bin of a public grid.

    A unit with rows in several bins counts in one bin of each of its groups, chosen by a hash, with
    at most ``max_rows`` rows.

    Args:
        column: The column.
        q: The share of rows below the value, above 0 and below 1; 0.5 for the median.
        bounds: The ends of the grid. Values outside them are clipped. Missing values are omitted.
        bins: The number of bins of equal width between the bounds. The answer is a bin. An integer
            column with integer bounds has ranges of integers as bins; with fewer integers than
            ``bins``, one bin for each integer. Default: 1024.
        interval: The confidence of an interval for the quantile in units of the column, such as
            0.95. It costs two thirds of ε. Default: no interval, only the rank error.
    """

    # The selection of a bin is independent of the count that decides which groups are shown.
    selects_by_its_count: ClassVar[bool] = False

    q: Fraction
    bins: int = field(kw_only=True, default=1024)
    interval: Fraction | None = field(kw_only=True, default=None)
    share = RenamedAttribute[Fraction]("q")
    cells = RenamedAttribute[int]("bins")
    # The bins depend on the type of the column: plan() sets them.
    _grid: Bins | None = field(init=False, repr=False, compare=False, default=None)

    @renamed_arguments(keys="groups", share="q", cells="bins")
    def __init__(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        bins: int = 1024,
        interval: Number | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> None:
        self._start(
            column=column,
            q=q,
            bounds=bounds,
            bins=bins,
            interval=interval,
            by=by,
            groups=groups,
            where=bind_parameters(where, params),
            max_groups=max_groups,
            max_rows=max_rows,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        q = parse_rational(self.q, "q")
        if not 0 < q < 1:
            raise InvalidParameter(
                parameter("q") + " must be above 0 and below 1",
                got=quote(self.q),
                fix="Use 0.5 for the median.",
            )
        if q.denominator > _LARGEST_DENOMINATOR:
            raise InvalidParameter(
                parameter("q") + f" must be a ratio of integers up to {_LARGEST_DENOMINATOR}",
                got=format_exact(q),
                fix="Round it.",
            )
        bins = parse_bins(self.bins)
        if self.interval is not None:
            below_one = "and below 1 for the interval of a quantile"
            self._set(
                "interval", parse_confidence(self.interval, name="interval", below_one=below_one)
            )
        self._set("q", q)
        self._set("bins", bins)

    @property
    def title(self) -> str:
        """The query in a few words."""
        what = "median" if self.q == Fraction(1, 2) else f"{format_exact(self.q)}-quantile"
        return make_title(f"{what} of {self.column}", self.by)

    def to_dict(self) -> Json:
        """Return the query as JSON."""
        words = super().to_dict() | {"share": format_ratio(self.q), "cells": self.bins}
        return words if self.interval is None else words | {"interval": format_ratio(self.interval)}

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "median" if self.q == Fraction(1, 2) else "quantile"

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: a unit counts in one bin of a group."""
        return one_bin_words(self, subject)

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        rounded = f"Values of {self.column} are rounded to the nearest floating-point number."
        doubles = is_read_as_double(rows.source.number(self.column).type(), rows.source.engine)
        return *super().notes(rows), *([rounded] if doubles else [])

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        three = "3 bins are selected: that of the quantile, and the ends of its interval"
        return () if self.interval is None else (three,)

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return the sensitivity and the 95% error of a number, in rows, for a dry run."""
        if not isinstance(mechanism, PermuteAndFlip):
            return super().expected_error(number, mechanism)
        error = self.answer_error([mechanism])
        sensitivity = number.sensitivity / self.q.denominator
        return f"{format_exact(sensitivity)} rows", f"± {format_rows(error)}"

    def answer_error(self, mechanisms: Sequence[AnyMechanism]) -> Fraction:
        """Return the 95% error of the rank of the selected bin, in rows."""
        select = as_selection(mechanisms[-1])
        return Fraction(select.error_bound(USUAL), self.q.denominator)

    @property
    def grid(self) -> Bins:
        """The bins. Only the query that :meth:`plan` returns for a table has them."""
        if self._grid is None:
            raise TypeError("the bins of a quantile depend on the types of its table")
        return self._grid

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group and bin; one bin is released, or three with an interval."""
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
            shift=contribution.rank(*self.q.as_integer_ratio()),
            step=Fraction(1),
            touched=(1 if self.interval is None else 3) * contribution.touched,
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
        """Return the bin of each group; with an interval, also the bins of its two ends."""
        return select_by_group(result, keys, noise, threshold, self._select)

    def _select(self, rows: BinRows, total: int, select: PermuteAndFlip) -> tuple[int, ...]:
        """Select a bin by rank errors; for the ends of an interval, by those of shifted ranks."""
        part, whole = self.q.as_integer_ratio()
        shift = 0 if self.interval is None else end_shift(select, self.interval)
        below = count_below(rows, self.grid.count, whole * total + shift)
        ranks = whole * below - part * total  # D at each edge between two bins
        shifts = [0] if self.interval is None else [0, shift, -shift]
        return tuple(select(rank_errors(ranks + each))[0] for each in shifts)

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[QuantileAnswer]:
        """Return an answer for the bin of each group."""
        select = as_selection(mechanisms[-1])
        facts: dict[str, Any] = {
            "grid": self.grid,
            "q": self.q,
            "mechanism": select,
            "privacy": statement.privacy,
            "receipt": statement.receipt,
            "together": statement.total_privacy,
            "subject": statement.subject,
        }
        if self.interval is None:
            return [QuantileAnswer(bin=selected, **facts) for (selected,) in numbers]
        facts["confidence"] = self.interval
        return [
            IntervalQuantileAnswer(bin=bins[0], ends=(min(bins), max(bins)), **facts)
            for bins in numbers
        ]


def end_shift(select: PermuteAndFlip, confidence: Fraction) -> int:
    """Return the shift of D for the ends of an interval.

    Each end may fail with probability (1 − confidence)/2. If t is the bound of a selection's error
    at that probability, the shift is t + 1. See :meth:`IntervalQuantileAnswer.interval`.
    """
    return select.error_bound(1 - (1 - confidence) / 2) + 1
