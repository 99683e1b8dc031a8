"""``mean(error=…)``: a mean in two releases, because its error depends on the number of rows.

The rows are counted first, roughly, with a small part of the budget. The noise of the mean follows
from that noisy count. This is adaptive composition: the second release is chosen after seeing the
first answer, and the two charges add up (docs/theory/many-answers.md). The second release is an
ordinary mean with a count and a sum of its own, and its interval holds for any number of rows. Only
its width depends on the first count.

*The width.* Let q be the 95% quantile of |Y − s·X|, where X and Y are the noise of count and sum,
and s is the largest distance of a value from the middle. Fieller's set for a released count N lies
within q/N of the released quotient, because it consists of slopes m with |S − m·N| ≤ q. Let N₁ be
the first count, and let the noise of N₁ and that of N exceed a and b in size with probability at
most 1% each. Noise is symmetric and only one side of each matters, so N ≥ N₁ − a − b with
probability at least 99%. The noise is chosen such that q/(N₁ − a − b), with rounding, is at most
the wanted error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from leastnoise.core.exact import as_float, format_exact
from leastnoise.core.lattice import rounding_error
from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded, InvalidParameter, Text, Words
from leastnoise.ledger import Ledger, Unrecorded
from leastnoise.mechanism import Mechanism, as_noise, half_width
from leastnoise.tables.answers import USUAL, GroupedAnswers, TableNumber
from leastnoise.tables.budget import allocate
from leastnoise.tables.queries.known_rows import KnownRows
from leastnoise.tables.queries.mean import Mean
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery, Unit
from leastnoise.tables.ratio import ErrorQuantile
from leastnoise.tables.release import PreparedRelease, TableResult, prepare, release
from leastnoise.tables.sources import Source
from leastnoise.tables.spending_limit import SpendingLimit, describe_amount
from leastnoise.tables.target_error import Scale, Wanted, find_size, round_down, size_of

# The largest part of the budget that the first count gets, in an allocation and without one.
_MOST_GAUSSIAN, _MOST_PLAIN = Fraction(1, 20), Fraction(1, 10)
# The error of the first count is about a tenth of the fewest rows that allow the wanted error, if
# the part is this multiple of error over bounds, squared where costs add up in squares.
_GAUSSIAN, _PLAIN = 8, 6
# About the quantile of |Y − s·X| over s/μ or s/ε of everything.
_GAUSSIAN_WIDTH, _PLAIN_WIDTH = 3.92, 8.2
# The probability with which each of the two counts is not far below the true count.
_SURE = Fraction(99, 100)


@dataclass(frozen=True)
class MeanTarget:
    """A mean with a wanted error.

    Attributes:
        source: The table.
        unit: The privacy unit.
        query: The mean.
        error: The wanted half width of its 95% interval.
        limit: The limit that is charged.
        at_most: The largest share of the limit that both releases may cost together.
    """

    source: Source
    unit: Unit
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
                "error is smaller than the step to which values are rounded",
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

    @property
    def count_share(self) -> Fraction:
        """The share of the limit that the first count gets: a public number, before any answer."""
        ratio = self.error / self._slope
        part, wanted, power = _MOST_PLAIN, _PLAIN * ratio, 1
        if self.scale.gaussian:
            part, wanted, power = _MOST_GAUSSIAN, (_GAUSSIAN * ratio) ** 2, 2
        # There are few different parts, so that an earlier count is often found in the ledger.
        while part / 2**power >= wanted:
            part /= 2**power
        return part * self.at_most

    def prepare_count(self) -> PreparedRelease:
        """Prepare the first release, the count of rows."""
        amount = self.limit.take_pure(self.count_share)
        return prepare([KnownRows.of(self.query)], self.source, self.unit, amount)

    def prepare_mean(
        self, rows: int, counting: Mechanism, spent: Privacy, rest: SpendingLimit
    ) -> PreparedRelease:
        """Prepare the second release for the number of rows in the first.

        Args:
            rows: The noisy count of rows.
            counting: The noise of that count.
            spent: The amount that it cost.
            rest: The limit after it was charged, for the advice of an error.

        Raises:
            BudgetExceeded: If the error cannot be reached within the budget.
        """
        wanted = self.aim(rows, counting)
        cap = self.scale.cap(self.at_most) - size_of(spent)
        size = find_size(wanted, self._guess(rows))
        if size is None or size > cap:
            amount = None if size is None else self.scale.amount(size)
            most = max(min(cap, Scale(rest).rest), Fraction(0))
            problem = wanted.describe_problem(most, amount)
            if amount is None:
                problem = (
                    f"About {max(rows, 0)} rows are too few for the {self.query.title} with an "
                    f"error of ± {format_exact(self.error)}"
                )
            raise BudgetExceeded(
                f"{problem}. The charge of its count stands",
                fix=self.advise(most, rows, counting),
                # The number of rows is an answer, and the price follows from it.
                summary=f"Not enough budget for the {self.query.title} with the wanted error. The "
                "charge of its count stands",
            )
        prepared = prepare([self.query], self.source, self.unit, self.scale.amount(size))
        return replace(prepared, with_earlier=self.limit.add(spent, prepared.together))

    def aim(self, rows: int, counting: Mechanism | None = None) -> Wanted:
        """Return the wanted error, for a number of rows as in :meth:`find_error`."""

        def error_at(amount: Privacy) -> Fraction | None:
            return self.find_error(amount, rows, counting)

        return Wanted(self.query.title, self.error, self.scale, error_at)

    def advise(self, cap: Fraction, rows: int, counting: Mechanism) -> Text:
        """Return a sentence about the error that the size of an amount allows.

        For an error that is much larger, the rows are counted once more, with another part. With
        probability 99% that count is not below the first one by more than its errors on both sides.
        """
        wanted = self.aim(rows, counting)
        possible = wanted.error_at(self.scale.amount(cap)) if cap else None
        other = self if possible is None else replace(self, error=possible)
        if other.count_share != self.count_share:
            again = other.prepare_count()
            ((_, ((_, mechanism),)),) = again.queries
            further = math.ceil(half_width(as_noise(mechanism), _SURE))
            wanted = self.aim(rows - 2 * further, counting)
            cap = max(cap - size_of(again.together), Fraction(0))
        return wanted.advise(cap)

    def find_error(
        self, amount: Privacy, rows: int, counting: Mechanism | None = None
    ) -> Fraction | None:
        """Return the half width of the interval, unless chance makes the count very small.

        Args:
            amount: The amount that the mean costs.
            rows: The first count.
            counting: The noise of the first count; None if ``rows`` is the true number of rows.
        """
        (own, adding), _ = allocate(amount, self.planned.numbers)
        count, total = as_noise(own), as_noise(adding)
        fewest = rows - half_width(count, _SURE)
        if counting is not None:
            fewest -= half_width(counting, _SURE)
        if fewest <= 0:
            return None
        noise = count.discretized.noise, total.discretized.noise
        quantile = ErrorQuantile(*noise, USUAL).at(self._slope)
        rounding = rounding_error(total.discretized.step, integer=total.integer)
        return (quantile + rounding) / fewest + self._rounding

    def find_size(self, rows: int) -> Fraction | None:
        """Return the size of the amount for a number of rows, for a dry run; None if none is."""
        return find_size(self.aim(rows), self._guess(rows))

    def _guess(self, rows: int) -> Fraction:
        count, _ = self.planned.numbers
        ratio = as_float(self._slope * count.shift / (self.error * max(rows, 1)))
        if self.scale.gaussian:
            return self.scale.guess(_GAUSSIAN_WIDTH * ratio * count.touched**0.5)
        return self.scale.guess(_PLAIN_WIDTH * ratio * count.touched)


def release_mean(
    target: MeanTarget,
    ledger: Ledger,
    *,
    key: str | None = None,
    fresh: bool = False,
    allow_exact: bool = False,
) -> TableResult:
    """Release the count, then the mean; two charges, under the key with ": count" and the key.

    ``fresh`` is for the mean alone. The noise of the mean follows from the count, so another count
    would make it another query.
    """
    first = target.prepare_count()
    before = None if key is None else f"{key}: count"
    (counted,) = release(first, ledger, key=before, allow_exact=allow_exact)
    counts = _list_counts(counted)
    rows = min(count.index for count in counts)
    rest = SpendingLimit.of(ledger)
    second = target.prepare_mean(rows, counts[0].mechanism, first.together, rest)
    try:
        (answer,) = release(second, ledger, key=key, fresh=fresh, allow_exact=allow_exact)
    except BudgetExceeded as error:
        most = Scale(rest).rest
        needed = describe_amount(second.together)
        remaining = describe_amount(target.scale.amount(round_down(most))) if most else "nothing"

        raise BudgetExceeded(
            f"Not enough budget for the {target.query.title}: it needs {needed}, and {remaining} "
            "remain. The charge of its count stands, and the mean was not released",
            fix=target.advise(most, rows, counts[0].mechanism),
            details=error.details,
        ) from None
    return answer


def _list_counts(counted: TableResult) -> Sequence[TableNumber]:
    answers = counted.answers if isinstance(counted, GroupedAnswers) else (counted,)
    return [answer for answer in answers if isinstance(answer, TableNumber)]


def check_recorded(ledger: Ledger | Unrecorded) -> Ledger:
    """Return the ledger; reject a mean with an error without one."""
    if isinstance(ledger, Ledger):
        return ledger
    raise InvalidParameter(
        Words("error=", "--error") + " needs a ledger for a mean: its rows are counted first",
        fix="Add "
        + Words("ledger=Ledger(…)", "--ledger FILE")
        + ", or give "
        + Words("privacy=", "--epsilon")
        + " instead.",
    )
