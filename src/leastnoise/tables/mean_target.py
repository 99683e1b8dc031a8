"""``mean(error=…)``: what a mean with a target error costs, which depends on the number of rows.

The rows are counted first, roughly (:mod:`leastnoise.tables.mean_release`). The noise of the mean
follows from that noisy count. The mean is an ordinary one with a count and a sum of its own.

*Coverage.* Its interval is Fieller's, which holds for any number of rows and any noise that is
chosen before its own noise is sampled. The noise here depends on earlier answers only, and the
noise of the mean is independent of them. So given these answers, and hence also without them, the
interval contains the true mean with probability at least 95%.

*The width.* Let q be the 95% quantile of |Y − s·X|, where X and Y are the noise of count and sum,
and s is the largest distance of a value from the middle. Fieller's set for a released count N lies
within q/N of the released quotient, because it consists of slopes m with |S − m·N| ≤ q. The noise
of N exceeds b in size with probability at most 1%, and that of each of at most 12 earlier counts
exceeds its own a with probability at most 1/1250. Noise is symmetric, and only one side of each
matters. So with probability at least 1 − 1/200 − 12/2500 > 99% all of these counts, whichever is
the last one N₁, satisfy n ≥ N₁ − a, and N ≥ N₁ − a − b. The noise is chosen such that
q/(N₁ − a − b), with rounding, is at most the target error.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from leastnoise.core.exact import as_float
from leastnoise.core.lattice import rounding_error
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.ledger import SpendingLimit
from leastnoise.mechanism import Mechanism, as_noise, half_width
from leastnoise.tables.answers import USUAL
from leastnoise.tables.budget import allocate
from leastnoise.tables.joint_blocks import find_joint_blocks
from leastnoise.tables.joint_ratio import make_error_quantile
from leastnoise.tables.queries.known_rows import KnownRows
from leastnoise.tables.queries.mean import Mean
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery, TableUnit
from leastnoise.tables.release import PreparedRelease, prepare
from leastnoise.tables.sources import Source
from leastnoise.tables.target_error import Scale, TargetError, find_size, round_down

# About the quantile of |Y − s·X|, divided by s/μ or s/ε of all numbers together.
_GAUSSIAN_WIDTH, _PLAIN_WIDTH = 3.92, 8.2
# The probability with which the mean's own count, and each earlier one, is not far from the truth.
_SURE, _SURE_COUNT = Fraction(99, 100), Fraction(1249, 1250)
# The maximum number of counts before a mean; the proof above depends on it.
MOST_COUNTS = 12
# The first count costs a part, 2 to the power of −this, of a mean of so many rows.
_MANY_ROWS, _PART, _PART_GAUSSIAN = 500_000, 2, 4
# A count that is no more than noise is followed by one with a quarter of its error: the exponents
# of 2 by which its cost grows under basic and under Gaussian accounting.
_GROWTH, _GROWTH_GAUSSIAN = 2, 4
# Another count is worth it if the mean saves more than this multiple of what the count costs.
_WORTH = 2
_FARTHEST = 12


@dataclass(frozen=True)
class RowCount:
    """A noisy number of rows.

    Attributes:
        rows: The number; by group, that of the smallest group.
        mechanism: The noise of each count.
        exponent: Its cost is the size 2 to the power of this.
        place: 1 for the first count before a mean, then 2, 3, …
    """

    rows: int
    mechanism: Mechanism
    exponent: int
    place: int = 1

    @property
    def error(self) -> Fraction:
        """The size that its noise exceeds with probability at most 1/1250."""
        return half_width(self.mechanism, _SURE_COUNT)


@dataclass(frozen=True)
class MeanTarget:
    """A mean with a target error.

    What it and its counts cost depends on neither ``at_most`` nor on a limit that can be raised, so
    that repeating the query finds the stored answers.

    Attributes:
        source: The table.
        unit: The privacy unit.
        query: The mean.
        error: The target half width of its 95% interval.
        limit: The limit that is charged.
        at_most: The largest share of the limit that all releases may cost together.
    """

    source: Source
    unit: TableUnit
    query: Mean
    error: Fraction
    limit: SpendingLimit
    at_most: Fraction

    def __post_init__(self) -> None:
        """Reject discovered groups, and an error that rounding alone exceeds."""
        if self.query.discovered:
            raise InvalidParameter(
                Words("error=", "--error") + " needs public groups for a mean",
                fix="List the groups with "
                + Words("groups=", "--group")
                + ", or give "
                + Words("privacy= or share=", "--epsilon and --delta, or --share")
                + " instead.",
            )
        if self.error <= 2 * self._rounding:
            raise InvalidParameter(
                parameter("error") + " is smaller than the step to which values are rounded",
                fix="Use a larger error, or narrower bounds.",
            )

    @cached_property
    def planned(self) -> PlannedQuery:
        """The plan of the mean."""
        return plan_query(self.query, self.source, self.unit)

    @property
    def scale(self) -> Scale:
        """The scale of amounts."""
        return Scale(self.limit)

    @property
    def _rounding(self) -> Fraction:
        planned = self.planned.query
        return planned.rounding if isinstance(planned, Mean) else Fraction(0)

    @property
    def _slope(self) -> Fraction:
        """The largest distance of a value from the middle."""
        lattice = self.query.lattice
        return max(lattice.high - lattice.middle, lattice.middle - lattice.low) * lattice.step

    # ------------------------------------------------------------------------------ the counts

    @property
    def first_exponent(self) -> int:
        """The exponent of the first count, which follows from the target error alone."""
        part = _PART_GAUSSIAN if self.scale.gaussian else _PART
        return min(math.frexp(self._guess(_MANY_ROWS))[1] - 1 - part, self._last_exponent)

    @property
    def _last_exponent(self) -> int:
        return math.frexp(as_float(self.scale.most))[1] - 1

    def size_of_count(self, exponent: int) -> Fraction:
        """Return the size of the amount that a count costs: a power of 2, of four digits."""
        return round_down(Fraction(2) ** exponent)

    def prepare_count(self, exponent: int) -> PreparedRelease:
        """Prepare a count of rows."""
        query, amount = KnownRows.of(self.query), self.scale.amount(self.size_of_count(exponent))
        return prepare([query], self.source, self.unit, amount)

    def plan_count(self, exponent: int) -> tuple[Mechanism, Privacy]:
        """Return the noise of a count and what it costs, without preparing its query."""
        planned = plan_query(KnownRows.of(self.query), self.source, self.unit)
        amount = self.scale.amount(self.size_of_count(exponent))
        (mechanism,), cost = allocate(amount, planned.numbers)
        return as_noise(mechanism), cost

    def find_next(self, count: RowCount) -> int | None:
        """Return the exponent of the next count; None if another one would save too little.

        It depends on the answers alone, so that a repeated query finds its counts in the ledger.
        """
        last = self._last_exponent
        if count.place == MOST_COUNTS or count.exponent == last:
            return None
        rows, error = count.rows, as_float(count.error)
        if rows <= error:
            growth = _GROWTH_GAUSSIAN if self.scale.gaussian else _GROWTH
            return min(count.exponent + growth, last)
        rate = 0.5 if self.scale.gaussian else 1.0

        def estimate(exponent: int) -> float:
            own = as_float(self.size_of_count(exponent))
            left = error * 2.0 ** (rate * (count.exponent - exponent))
            return _WORTH * own + self._guess(rows - left)

        best = min(
            range(count.exponent + 1, min(count.exponent + _FARTHEST, last) + 1), key=estimate
        )
        return best if estimate(best) < self._guess(rows - error) else None

    def is_hopeless(self, count: RowCount, cap: Fraction) -> bool:
        """Return whether the mean of any likely number of rows costs more than a cap."""
        return self._guess(max(count.rows, 0) + as_float(count.error) / 2) > as_float(cap)

    # ------------------------------------------------------------------------------ the mean

    def find_mean(self, count: RowCount) -> Fraction | None:
        """Return the size of the amount that the mean costs; None if none is enough."""
        near = self.estimate_mean(count)
        return None if near is None else find_size(self.aim(count.rows, count), near)

    def estimate_mean(self, count: RowCount) -> Fraction | None:
        """Return about the size of the amount that the mean costs; None if none is enough.

        The error is about in proportion to 1/ε or 1/μ, so one amount and its error are enough.
        """
        most, left = self.scale.most, count.rows - count.error
        if left <= 0:
            return None
        size = min(round_down(Fraction(self._guess(as_float(left)))), most)
        near = self._scale_size(size, count)
        if (near is None or near > most) and size < most:
            near = self._scale_size(most, count)
        return None if near is None or near > most else round_down(near)

    def _scale_size(self, size: Fraction, count: RowCount) -> Fraction | None:
        """Return about the size for the target error, from the error at another size."""
        error = self.find_error(self.scale.amount(size), count.rows, count)
        if error is None:
            return None
        ratio = error / self.error
        return size * (ratio**2 if self.scale.gaussian else ratio)

    def prepare_mean(self, size: Fraction, spent: Privacy) -> PreparedRelease:
        """Prepare the mean at a size, after counts that cost ``spent``."""
        prepared = prepare([self.query], self.source, self.unit, self.scale.amount(size))
        return replace(prepared, with_earlier=self.limit.add(spent, prepared.together))

    def aim(self, rows: int, count: RowCount | None = None) -> TargetError:
        """Return the target error, for a number of rows as in :meth:`find_error`."""

        def error_at(amount: Privacy) -> Fraction | None:
            return self.find_error(amount, rows, count)

        return TargetError(self.query.title, self.error, self.scale, error_at)

    def find_error(
        self, amount: Privacy, rows: int, count: RowCount | None = None
    ) -> Fraction | None:
        """Return the half width of the interval, unless chance makes the count very small.

        Args:
            amount: The amount that the mean costs.
            rows: The last count.
            count: The last count with its noise; None if ``rows`` is the true number of rows.
        """
        blocks = find_joint_blocks([self.planned], [tuple(range(len(self.planned.numbers)))])
        (own, adding), _ = allocate(amount, self.planned.numbers, blocks=blocks)
        counting, total = as_noise(own), as_noise(adding)
        fewest = rows - half_width(counting, _SURE)
        if count is not None:
            fewest -= count.error
        if fewest <= 0:
            return None
        quantile = make_error_quantile(counting, total, USUAL).at(self._slope)
        rounding = rounding_error(total.discretized.step, integer=total.integer)
        return (quantile + rounding) / fewest + self._rounding

    def _guess(self, rows: float) -> float:
        """Return about the size for a number of rows."""
        number, _ = self.planned.numbers
        ratio = as_float(self._slope * number.shift / self.error) / max(rows, 1)
        if self.scale.gaussian:
            return as_float(self.scale.guess(_GAUSSIAN_WIDTH * ratio * number.touched**0.5))
        return as_float(self.scale.guess(_PLAIN_WIDTH * ratio * number.touched))
