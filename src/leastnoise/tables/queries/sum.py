"""``Sum``: the sum of a column."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import format_exact
from leastnoise.deprecation import renamed_arguments
from leastnoise.json_types import Json
from leastnoise.tables.answers import Subject
from leastnoise.tables.bounding import Lattice, Summed
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.planned_query import PlannedQuery, Rows
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters, bind_parameters

# So fine that the rounding errors of 10¹² rows add up to far less than the noise.
_STEPS = 1 << 40
# Integer sums up to this sensitivity get noise on the integers; beyond it, continuous noise costs
# no more.
_LARGEST_INTEGER = 64


@dataclass(frozen=True)
class Sum(BoundedQuery):
    """The sum of a column.

    All rows of a unit are summed, and its total in each group is clipped to the range of
    ``max_rows`` rows.

    Args:
        column: The column.
        bounds: The clipping bounds of values, the lower one first. Missing values add 0, as in SQL,
            even if the bounds exclude 0.
    """

    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "column", "bounds", "missing")
    # The noise of a sum is independent of the count that decides which groups are shown.
    selects_by_its_count: ClassVar[bool] = False

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
        return make_title(f"sum of {self.column}", self.by)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "sum"

    def to_dict(self) -> Json:
        """Return the query as JSON.

        Version 0.5.0 counted missing values as the bound nearest to 0. If that is not 0, this is a
        different query, and its words differ.
        """
        low, high = self.clipping_bounds
        return super().to_dict() | ({} if low <= 0 <= high else {"missing": 0})

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return *super().notes(rows), f"Rows without {self.column} add 0 to the sum."

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: the range of a unit's total.

        A row without a value adds 0, so the range includes 0.
        """
        rows = subject.max_rows
        lower, upper = self.clipping_bounds
        low, high = (rows * end for end in (min(lower, Fraction(0)), max(upper, Fraction(0))))
        worth = "" if rows == 1 else f"{rows} rows' worth, "
        return (
            f"each {subject.unit}'s total{subject.per_group} is clipped to {worth}"
            f"[{format_exact(low)}, {format_exact(high)}]{subject.and_groups}"
        )

    def plan(self, rows: Rows) -> PlannedQuery:
        """Sum indices on a lattice; an integer column with integer bounds has step 1."""
        source = rows.source
        whole = source.kind(self.column) in ("integer", "boolean")
        lattice = Lattice.between(self.clipping_bounds, whole=whole, steps=_STEPS)
        index = lattice.index(source.number(self.column), source.engine, missing=0)
        contribution = self.contribution(rows.unit)
        shift = contribution.sum(lattice.low, lattice.high)
        total = ReleasedNumber(
            name="sum",
            shift=shift,
            step=lattice.step,
            touched=contribution.touched,
            integer=lattice.step == 1 and shift <= _LARGEST_INTEGER,
        )
        return PlannedQuery(
            query=self,
            rows=rows,
            numbers=(*self.deciding_count(rows.unit), total),
            counted=self.discovered,
            sums=(Summed(index, lattice.low, lattice.high),),
        )
