"""``Quantile``: the bin of a public grid that contains a quantile, selected by permute-and-flip."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from leastnoise.core.exact import (
    Number,
    format_exact,
    format_ratio,
    parse_confidence,
    parse_count,
    parse_rational,
    quote,
)
from leastnoise.deprecation import RenamedAttribute, renamed_arguments
from leastnoise.errors import InvalidParameter, Words
from leastnoise.mechanism import AnyMechanism, PermuteAndFlip
from leastnoise.tables.answers import USUAL, Statement, Subject, at_most
from leastnoise.tables.bounding import Cells, divide, is_read_as_double
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Groups, Key
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows, Unit
from leastnoise.tables.queries.quantile_answer import IntervalQuantileAnswer, QuantileAnswer
from leastnoise.tables.queries.query import AddNoise, BoundedQuery, Result, make_title
from leastnoise.tables.registration import Bounds, Columns
from leastnoise.tables.rounding import format_rows
from leastnoise.tables.where import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BINS = 1 << 16
_LARGEST_DENOMINATOR = 1000
# Ranks times the denominator of q are 64-bit integers below this, and Python's own above.
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Quantile(BoundedQuery):
    """Query the bin of a public grid that contains the q-quantile of a column.

    A unit with rows in several bins counts in one of them, chosen by a hash, with at most
    ``max_rows`` rows.

    Args:
        column: The column.
        q: The share of rows below the value, above 0 and below 1; 0.5 for the median.
        bounds: Where the grid begins and ends; values beyond count as the nearest bound. Missing
            values are omitted.
        bins: The number of bins of equal width between the bounds. The answer is a bin. An integer
            column with integer bounds has ranges of integers as bins; with fewer integers than
            ``bins``, one bin for each integer. Default: 1024.
        interval: The confidence of an interval for the quantile in the unit of the data, such as
            0.95. It costs two thirds of ε. Default: no interval; the rank error is known always.
    """

    # Other noise than that of the count that decides selects the cell.
    selects_by_its_count: ClassVar[bool] = False

    q: Fraction
    bins: int = field(kw_only=True, default=1024)
    interval: Fraction | None = field(kw_only=True, default=None)
    share = RenamedAttribute[Fraction]("q")
    cells = RenamedAttribute[int]("bins")
    # The bins depend on the type of the column: plan() sets them.
    _grid: Cells | None = field(init=False, repr=False, compare=False, default=None)

    @renamed_arguments(keys="groups", share="q", cells="bins")
    def __init__(
        self,
        column: str,
        q: Number,
        *,
        bounds: Bounds,
        bins: int = 1024,
        interval: Number | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        max_groups: int | None = None,
    ) -> None:
        self._start(
            column=column,
            q=q,
            bounds=bounds,
            bins=bins,
            interval=interval,
            by=by,
            groups=groups,
            where=where,
            max_groups=max_groups,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        q = parse_rational(self.q, "q")
        if not 0 < q < 1:
            raise InvalidParameter(
                "q must be above 0 and below 1",
                got=quote(self.q),
                fix="Use 0.5 for the median.",
            )
        if q.denominator > _LARGEST_DENOMINATOR:
            raise InvalidParameter(
                f"q must be a ratio of integers up to {_LARGEST_DENOMINATOR}",
                got=format_exact(q),
                fix="Round it.",
            )
        bins = parse_count(self.bins, "bins", least=2)
        if bins > _MOST_BINS:
            raise InvalidParameter(
                f"bins must be at most {_MOST_BINS}", got=quote(self.bins), fix="Use fewer bins."
            )
        if self.groups_per_unit != 1:
            raise InvalidParameter(
                Words("max_groups", "--max-groups")
                + " must be 1 for a quantile, because a unit counts in one bin of one group",
                got=f"{self.groups_per_unit}",
                fix="Write " + Words("max_groups=1", "--max-groups 1") + ".",
            )
        if self.interval is not None:
            below_one = "and below 1 for the interval of a quantile"
            self._set("interval", parse_confidence(self.interval, below_one=below_one))
        self._set("q", q)
        self._set("bins", bins)

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        what = "median" if self.q == Fraction(1, 2) else f"{format_exact(self.q)}-quantile"
        return make_title(f"{what} of {self.column}", self.by)

    def to_dict(self) -> dict[str, Any]:
        """Return the query as JSON."""
        words = super().to_dict() | {"share": format_ratio(self.q), "cells": self.bins}
        return words if self.interval is None else words | {"interval": format_ratio(self.interval)}

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "median" if self.q == Fraction(1, 2) else "quantile"

    def contributions(self, subject: Subject) -> str:
        """Return what counts of a unit with rows in several bins: those in one of them."""
        cell = "one bin of one group" if self.by else "one bin"
        rows = at_most(subject.max_rows, "row")
        return f"{rows} {subject.per_unit}, all in {cell}, chosen by a hash"

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        rounded = f"Values of {self.column} are rounded to the nearest floating-point number."
        doubles = is_read_as_double(rows.source.number(self.column).type(), rows.source.engine)
        return *super().notes(rows), *([rounded] if doubles else [])

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return which rows do not count, a phrase for each rule."""
        return *super().omitted(unit), f"rows without {self.column}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        three = "3 bins are selected: that of the quantile, and the ends of its interval"
        return () if self.interval is None else (three,)

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return sensitivity and 95% error of a number as a dry run prints them: in rows."""
        if not isinstance(mechanism, PermuteAndFlip):
            return super().expected_error(number, mechanism)
        whole = self.q.denominator
        error = Fraction(mechanism.error_bound(USUAL), whole)
        return f"{format_exact(number.sensitivity / whole)} rows", f"± {format_rows(error)}"

    @property
    def grid(self) -> Cells:
        """The bins, of a query that :meth:`plan` has bound to the types of a table."""
        if self._grid is None:
            raise TypeError("the bins of a quantile depend on the table that it is asked of")
        return self._grid

    def plan(self, rows: Rows) -> PlannedQuery:
        """Count the rows of each group and cell; released is a cell, or three of them."""
        rows = rows.known(self.column).among(self.by, self.groups)
        source = rows.source
        grid, of_row = divide(source.number(self.column), self.bounds, self.bins, source.engine)
        unit_can = self.contribution(rows.unit)
        bound = copy(self)
        bound._set("_grid", grid)
        cell = ReleasedNumber(
            name="bin",
            shift=unit_can.rank(*self.q.as_integer_ratio()),
            step=Fraction(1),
            touched=(1 if self.interval is None else 3) * unit_can.touched,
            integer=True,
            candidates=grid.count,
        )
        return PlannedQuery(
            query=bound,
            rows=rows,
            numbers=(*self.deciding_count(rows.unit), cell),
            cell=of_row,
        )

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the cell of each group; with an interval, also those of its two ends."""
        columns = len(keys[0]) if keys else 0
        groups: dict[Key, list[tuple[int, ...]]] = {}
        for row in result:
            groups.setdefault(row[:columns], []).append(row[columns:])
        return [self._select(groups.get(key, []), noise, threshold) for key in keys]

    def _select(
        self, rows: Result, noise: Sequence[AddNoise], threshold: int | None
    ) -> tuple[int, ...]:
        """Select by rank errors; for the ends of an interval, by those of shifted ranks."""
        select = noise[-1]
        if not isinstance(select, PermuteAndFlip):
            raise TypeError("a quantile is selected; no noise is added to it")
        total = sum(number for _, number in rows)
        if threshold is not None and noise[0]([total])[0] <= threshold:
            return ()
        shift = 0 if self.interval is None else end_shift(select, self.interval)
        ranks = self._ranks(rows, total, shift)
        shifts = [0] if self.interval is None else [0, shift, -shift]
        return tuple(select(rank_errors(ranks + each))[0] for each in shifts)

    def _ranks(self, rows: Result, total: int, shift: int) -> "NDArray[Any]":
        """Return D = whole·below − part·total at each edge between two cells."""
        import numpy as np

        part, whole = self.q.as_integer_ratio()
        kind = np.int64 if whole * total + shift < _LARGEST else object
        counts = np.zeros(self.grid.count, dtype=kind)
        counts[[cell for cell, _ in rows]] = [number for _, number in rows]
        ranks: NDArray[Any] = whole * np.cumsum(counts[:-1], dtype=kind) - part * total
        return ranks

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> list[QuantileAnswer]:
        """Return the cell of each group."""
        select = mechanisms[-1]
        if not isinstance(select, PermuteAndFlip):
            raise TypeError("a quantile is selected; no noise is added to it")
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
            return [QuantileAnswer(cell=cell, **facts) for (cell,) in numbers]
        facts["confidence"] = self.interval
        return [
            IntervalQuantileAnswer(cell=cells[0], ends=(min(cells), max(cells)), **facts)
            for cells in numbers
        ]


def rank_errors(ranks: "NDArray[Any]") -> "NDArray[Any]":
    """Return the rank error of each cell from D at the edges between them.

    It is max(0, D at its lower edge, −D at its upper edge); the first cell has no lower edge and
    the last no upper one. D never falls from edge to edge, so the error of some cell is 0. Each of
    the three numbers changes by at most as much as D does when one unit changes, so their maximum
    does too, and a shift of all D by a constant changes nothing about that.
    """
    import numpy as np

    errors = np.zeros(len(ranks) + 1, dtype=ranks.dtype)
    errors[1:] = np.maximum(ranks, 0)
    errors[:-1] = np.maximum(errors[:-1], -ranks)
    return errors


def end_shift(select: PermuteAndFlip, confidence: Fraction) -> int:
    """Return by how much D is shifted for the ends of an interval.

    Each end fails with probability at most (1 − confidence)/2. With t the error that a selection
    stays within otherwise, D is shifted by t + 1. See :meth:`IntervalQuantileAnswer.interval`.
    """
    return select.error_bound(1 - (1 - confidence) / 2) + 1
