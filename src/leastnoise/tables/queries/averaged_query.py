"""``AveragedQuery``, the base of queries computed from averages: a mean, a variance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from leastnoise.core.exact import format_exact
from leastnoise.ledger import mark
from leastnoise.mechanism import Mechanism
from leastnoise.tables.answers import Statement, TableNumber
from leastnoise.tables.bounding import Lattice, Summed
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.mean_answer import MeanAnswer
from leastnoise.tables.queries.planned_query import Rows, Unit
from leastnoise.tables.queries.query import make_title
from leastnoise.tables.released_number import ReleasedNumber

# The numbers of rows for which a dry run shows the error of an average.
TYPICAL_ROWS = (100, 1_000, 10_000)


@dataclass(frozen=True)
class AveragedQuery(BoundedQuery):
    """The base of queries that release a count and a sum of value − middle.

    The middle is that of the bounds. Missing values are omitted.
    """

    # ``column`` selects rows, those with a value, through Rows.known.
    selects_nothing: ClassVar[tuple[str, ...]] = ("ask", "column", "bounds")

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice of values, with about 2²⁰ steps.

        It is so coarse that doubles represent the sums of a unit's rows exactly. So all engines
        compute the same averages.
        """
        return Lattice.between(self.clipping_bounds, whole=False)

    @property
    def middle(self) -> Fraction:
        """The number that is subtracted from each value, on the lattice."""
        return self.lattice.middle * self.lattice.step

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds, or the lattice points around them."""
        return self.lattice.low * self.lattice.step, self.lattice.high * self.lattice.step

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        return *super().omitted(unit), f"rows without {self.column}"

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        return (f"the sum is of {self.column} - {format_exact(self.middle)}",)

    def plan_sum(self, known: Rows) -> tuple[ReleasedNumber, Summed]:
        """Return the sum of indices relative to that of the middle, of rows with a value."""
        lattice = self.lattice
        index = self._index(known) - lattice.middle
        low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
        contribution = self.contribution(known.unit)
        total = ReleasedNumber(
            name="sum",
            shift=contribution.sum(low, high),
            step=lattice.step,
            touched=contribution.touched,
        )
        return total, Summed(index, low, high, averaged=True)

    def _index(self, known: Rows) -> Any:
        """Return the index of each row on the lattice, as an Ibis expression; never NULL."""
        return self.lattice.index(known.source.number(self.column), known.source.engine)

    def describe_sum(self) -> tuple[str, tuple[Fraction, Fraction] | None]:
        """Return the released sum in words, and the bounds of a row; None if nothing is clipped."""
        (low, high), middle = self.clipping_bounds, self.middle
        return f"sum of {self.column} - {format_exact(middle)}", (low - middle, high - middle)

    def round_value(self, rows: Rows) -> Fraction:
        """Return the maximum error by rounding one value to the lattice.

        Let g be the step of the lattice. Each value is rounded to the nearest lattice point between
        the points around the bounds. The error is at most g/2, or, for a value at a bound, the
        distance from that bound to the lattice point around it. Integers up to 2⁵³ have no error if
        g ≤ 1, because they are multiples of g. A decimal is first converted to a double beside it,
        with an error of at most |bound|·2⁻⁵².
        """
        lattice, (low, high) = self.lattice, self.clipping_bounds
        step, kind = lattice.step, rows.source.number(self.column).type()
        exact = (kind.is_integer() or kind.is_boolean()) and step <= 1
        ends = low - lattice.low * step, lattice.high * step - high
        error: Fraction = max(*ends, Fraction(0) if exact else step / 2)
        if kind.is_decimal():
            error += max(abs(low), abs(high)) / (1 << 52)
        return error

    def make_mean(
        self,
        numbers: tuple[int, int],
        mechanisms: tuple[Mechanism, Mechanism],
        statements: tuple[Statement, Statement, Statement],
        rounding: Fraction,
    ) -> MeanAnswer:
        """Return the mean for the count and the sum of a group.

        Args:
            numbers: The released count and the index of the released sum.
            mechanisms: The noise of both.
            statements: The statements of the count, the sum and the mean.
            rounding: The maximum error of the mean by rounding values.
        """
        of_count, of_sum, statement = statements
        return MeanAnswer(
            count=TableNumber(numbers[0], mechanisms[0], of_count),
            sum=TableNumber(numbers[1], mechanisms[1], of_sum),
            middle=self.middle,
            bounds=self.ends,
            rounding=rounding,
            privacy=statement.privacy,
            receipt=statement.receipt,
            together=statement.total_privacy,
            subject=statement.subject,
        )

    def state_numbers(
        self, statement: Statement, mechanisms: Sequence[Mechanism]
    ) -> tuple[Statement, Statement]:
        """Return the statements of the count and of the sum."""
        counting, adding = mechanisms[:2]
        subject, seeded = statement.subject, mark(statement.receipt)
        title, bounds = self.describe_sum()
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


def averaging_error(unit: Unit) -> Fraction:
    """Return the maximum error of an average by the averages of units, in steps.

    A unit with more than c rows adds c times the average of its rows, rounded down. The error is
    less than 1 step for the c rows that count, so less than 1/c for each row. The engine computes
    this in doubles, for c up to 2³². Since |sum of indices| ≤ rows·m with m ≤ 2²¹, three roundings
    change c·average by less than c·m·2⁻⁵¹ steps, which is less than 2⁻³⁰ steps for each row.
    """
    if unit.column is None:
        return Fraction(0)
    return Fraction(1, unit.max_rows) + Fraction(1, 1 << 30)
