"""``mean(error=…)``: count the rows until another count would not pay, then release the mean.

This is adaptive composition: every release is chosen by the answers before it, and the charges add
up (docs/theory/many-answers.md). The first count is so cheap that it is of use for many rows only.
While a count is no more than noise, the next one has a quarter of its error. As soon as it is more,
the next one has the error that is expected to make all releases cheapest, unless the mean would
save less than twice the cost of that count.

Every step has a key of its own, and each amount follows from the answers before it. So a query that
is repeated, also after a crash between two steps, finds the steps that were charged and continues.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded, InvalidParameter, Text, Words
from leastnoise.ledger import Ledger, Recording, SpendingLimit, Unrecorded, check_name
from leastnoise.mechanism import Mechanism, as_noise
from leastnoise.tables.answers import GroupedAnswers, TableNumber
from leastnoise.tables.mean_target import MOST_COUNTS, MeanTarget, RowCount
from leastnoise.tables.release import PreparedRelease, TableResult, release
from leastnoise.tables.spending_limit import describe_amount
from leastnoise.tables.target_error import Scale, round_down, size_of


@dataclass(frozen=True, slots=True)
class MeanCost:
    """What a mean and its counts are expected to cost for a number of rows.

    Attributes:
        counts: The amount of all counts.
        mean: The amount of the mean; None if no amount is enough.
    """

    counts: Privacy
    mean: Privacy | None


def release_mean(
    target: MeanTarget,
    ledger: Ledger,
    *,
    key: str | None = None,
    fresh: bool = False,
    allow_exact: bool = False,
) -> TableResult:
    """Release counts, then the mean: charges under the key with ": count", ": count 2", …; the key.

    ``fresh`` is for the mean alone. The noise of the mean follows from the counts, so other counts
    would make it another query.
    """
    Recording(ledger, key, fresh)  # raises here if the mean would be rejected
    steps = _Steps(target, ledger, key, allow_exact=allow_exact)
    count, spent = steps.count_rows()
    size = target.find_mean(count)
    if size is None:
        raise steps.make_error(count, spent, None)
    prepared = target.prepare_mean(size, spent)
    charged = not fresh and steps.is_charged(prepared, key)
    if not charged and size > steps.find_available(spent):
        raise steps.make_error(count, spent, prepared.together)
    return steps.release(prepared, key, fresh=fresh)


def estimate_cost(target: MeanTarget, rows: int) -> MeanCost:
    """Return what a mean and its counts cost if all counts are right, for a dry run."""
    exponent, place = target.first_exponent, 1
    spent: Privacy | None = None
    while True:
        mechanism, cost = target.plan_count(exponent)
        spent = cost if spent is None else target.limit.add(spent, cost)
        count = RowCount(rows, mechanism, exponent, place)
        following = target.find_next(count)
        if following is None:
            break
        exponent, place = following, place + 1
    size = target.estimate_mean(count)
    return MeanCost(spent, None if size is None else target.scale.amount(size))


@dataclass(frozen=True, slots=True)
class _Steps:
    """The releases of one mean."""

    target: MeanTarget
    ledger: Ledger
    key: str | None
    allow_exact: bool

    def count_rows(self) -> tuple[RowCount, Privacy]:
        """Count the rows; return the last count, and what all of them cost."""
        first = self.target.prepare_count(self.target.first_exponent)
        self._check_length()
        begun = not self.is_charged(first, self._name(1))
        if begun:
            self._check_first(first.together)
            self._check_unused(first, 1)
        count = self._count(self.target.first_exponent, 1)
        spent = first.together
        while (exponent := self.target.find_next(count)) is not None:
            prepared = self.target.prepare_count(exponent)
            if not self.is_charged(prepared, self._name(count.place + 1)):
                available = self.find_available(spent)
                needed = size_of(prepared.together)
                if needed > available or self.target.is_hopeless(count, available):
                    raise self.make_error(count, spent, None)
                if not begun:
                    self._check_unused(prepared, count.place + 1)
                begun = True
            count = self._count(exponent, count.place + 1)
            spent = self.target.limit.add(spent, prepared.together)
        return count, spent

    def release(
        self, prepared: PreparedRelease, key: str | None, *, fresh: bool = False
    ) -> TableResult:
        """Release a count or the mean. Its guarantee would reveal the count before."""
        exact = self.allow_exact
        try:
            (answer,) = release(
                prepared, self.ledger, key=key, fresh=fresh, allow_exact=exact, adaptive=True
            )
        except BudgetExceeded as error:  # it states the guarantee
            error.summary = self._summary
            raise
        return answer

    def is_charged(self, prepared: PreparedRelease, key: str | None) -> bool:
        """Return whether a release was charged before, so that repeating it costs nothing."""
        return self.ledger.find_limit(prepared.key if key is None else key) is not None

    def find_available(self, spent: Privacy) -> Fraction:
        """Return the size of the largest amount that the next release may cost."""
        scale = self.target.scale
        rest = Scale(SpendingLimit.of(self.ledger)).remaining
        return max(min(scale.cap(self.target.at_most) - size_of(spent), rest), Fraction(0))

    def make_error(self, count: RowCount, spent: Privacy, needed: Privacy | None) -> BudgetExceeded:
        """Return the error for a mean that is not possible within the budget.

        Args:
            count: The last count.
            spent: What all counts cost.
            needed: The amount that the mean needs; None if there is none, or the rows were not
                counted precisely enough.
        """
        target, available = self.target, self.find_available(spent)
        problem = f"By a noisy count, about {max(count.rows, 0)} rows are too few for {self._mean}"
        if needed is not None:
            most = _describe(target, available)
            needs = f"needs {describe_amount(needed)}, but at most {most} may be spent"
            problem = f"T{self._mean[1:]} {needs}"
        charges = "The charge of its count stands"
        if count.place > 1:
            charges = f"The charges of its {count.place} counts stand"
        remaining = SpendingLimit.of(self.ledger).remaining
        charges += f" ({describe_amount(spent)}), and {describe_amount(remaining)} remain"
        return BudgetExceeded(
            f"{problem}. {charges}",
            fix=self._advise(count, available),
            # The number of rows is an answer, from which the other numbers follow.
            summary=self._summary,
        )

    @property
    def _mean(self) -> str:
        return f"the {self.target.query.title} with an error of ± {format_exact(self.target.error)}"

    @property
    def _summary(self) -> str:
        return f"Not enough budget for {self._mean}. What its counts cost stays charged"

    def _count(self, exponent: int, place: int) -> RowCount:
        prepared = self.target.prepare_count(exponent)
        key = self._name(place)
        counted = self.release(prepared, key)
        rows = min(number.index for number in _list_counts(counted))
        return RowCount(rows, _noise_of(prepared), exponent, place)

    def _check_first(self, needed: Privacy) -> None:
        """Reject a cap that is too small for the first count; the ledger checks its own limit."""
        cap = self.target.scale.cap(self.target.at_most)
        if size_of(needed) > cap:
            raise BudgetExceeded(
                f"The first count of rows for the {self.target.query.title} needs "
                f"{describe_amount(needed)}, but at most {_describe(self.target, cap)} may be "
                "spent. Nothing was charged or released",
                fix="Raise " + Words("at_most=", "--at-most") + ", or give a larger error.",
            )

    def _check_length(self) -> None:
        """Reject a key that leaves no room for the names of the counts."""
        if self.key is not None:
            end = f": count {MOST_COUNTS}"
            check_name(self.key + end, Words(f"key= with {end!r}", f"--key with {end!r}"))

    def _check_unused(self, prepared: PreparedRelease, place: int) -> None:
        """Reject a key of another query before the first count that is to be charged.

        A mean is charged after all of its counts. So if a later step was charged and this one was
        not, even after another look, the later one is of another query.
        """
        if self.key is None:
            return
        later = [self._name(each) for each in range(place + 1, MOST_COUNTS + 1)]
        for name in filter(None, (self.key, *later)):
            used = self.ledger.find_limit(name) is not None
            if used and not self.is_charged(prepared, self._name(place)):
                raise InvalidParameter(
                    f"The key {name!r} was used with a different query", fix="Choose another key."
                )

    def _name(self, place: int) -> str | None:
        """Return the key of a count; None for the default key."""
        if self.key is None:
            return None
        return f"{self.key}: count" if place == 1 else f"{self.key}: count {place}"

    def _advise(self, count: RowCount, available: Fraction) -> Text:
        """Return a sentence about an error that is possible with half of an amount.

        The other half is for the counts of that query and their noise.
        """
        half = round_down(available / 2)
        target = self.target.aim(count.rows, count)
        possible = target.error_at(self.target.scale.amount(half)) if half else None
        if possible is None:
            return target.advise(Fraction(0))
        return target.advise_error(possible, available)


def _describe(target: MeanTarget, size: Fraction) -> str:
    return describe_amount(target.scale.amount(round_down(size))) if size else "nothing"


def _noise_of(prepared: PreparedRelease) -> Mechanism:
    """Return the noise of a count."""
    ((_, ((_, mechanism),)),) = prepared.queries
    return as_noise(mechanism)


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
