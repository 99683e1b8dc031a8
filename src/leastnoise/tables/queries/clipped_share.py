"""``ClippedShare``: the share of the values that clipping bounds change."""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from leastnoise.core.exact import format_exact
from leastnoise.errors import Words
from leastnoise.tables.answers import Subject, at_most
from leastnoise.tables.bounding import Lattice
from leastnoise.tables.queries.decimals import to_decimal
from leastnoise.tables.queries.mean import Mean
from leastnoise.tables.queries.planned_query import Rows, check_numeric
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Comparison, Literal, truth

_BOUND = Words("Each end of bounds", "Each end of --bounds")


@dataclass(frozen=True, init=False)  # that of a mean
class ClippedShare(Mean):
    """The share of the values of a column that lie outside of its clipping bounds.

    It is a mean: each row with a value counts as 1 if the value is outside, and as 0 otherwise. So
    a count of rows and a sum are released, and the sum is that of these numbers minus 1/2. A unit
    with more than ``max_rows`` rows in a group counts as ``max_rows`` rows, each with the share of
    its values that are outside.

    >>> ClippedShare("income", bounds=(0, 150_000)).title
    'share of income outside [0, 150000]'
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounds is not None:
            _ = self._ends

    @property
    def title(self) -> str:
        """The query in a few words."""
        return make_title(f"share of {self._outside}", self.by)

    @property
    def _outside(self) -> str:
        if self.bounds is None:  # before a card has stated them
            return f"{self.column} outside its bounds"
        return f"{self.column} outside [{', '.join(map(format_exact, self.clipping_bounds))}]"

    @property
    def _ends(self) -> tuple[Decimal, Decimal]:
        low, high = self.clipping_bounds
        return to_decimal(low, _BOUND), to_decimal(high, _BOUND)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice of the numbers from 0 to 1, with the step of a mean between these bounds.

        A step of 1 would be enough for the numbers of rows, but not for the average of a unit.
        """
        return Lattice.between((0, 1), whole=False)

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "share"

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or that are not of numbers."""
        super().check(source)
        check_numeric(source, self.column, booleans=False)

    def subject(self, rows: Rows, hidden_up_to: int | None = None) -> Subject:
        """Return the subject of the answers; no value is clipped."""
        return replace(super().subject(rows, hidden_up_to), bounds=None)

    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase: more rows count by their share."""
        rows = f"{at_most(subject.max_rows, 'row')} {subject.per_unit}{subject.per_group}"
        return f"{rows} (share of its values){subject.and_groups}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        return (f"the sum is of 0.5 for {self._outside}, and -0.5 for any other value",)

    def _index(self, known: Rows) -> Any:
        """Return the index of 1 for each value outside, otherwise that of 0."""
        import ibis

        def compare(sign: str, end: Decimal) -> Any:
            comparison = Comparison(self.column, sign, (Literal("number", end),))
            return truth(comparison, known.source, known.table)

        low, high = self._ends
        one = ibis.literal(self.lattice.high, "int64")
        inside = ibis.literal(0, "int64")
        return ibis.cases((compare("<", low), one), (compare(">", high), one), else_=inside)

    def describe_sum(self) -> tuple[str, None]:
        """Return the released sum in words, and no bounds, because no value is clipped."""
        return f"rows with {self._outside}, minus half of all rows with {self.column}", None

    def round_value(self, rows: Rows) -> Fraction:  # noqa: ARG002 -- depends on no column
        """Return the maximum error by rounding one value: 0 and 1 are on the lattice."""
        return Fraction(0)
