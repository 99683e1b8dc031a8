"""``error=``: the smallest amount with which an answer has the target error.

The amount is an ε under basic accounting, and a share of the allocation under Gaussian accounting.
It is searched for among decimals of four digits. The noise that each candidate would get,
as it is sampled, decides whether the error is reached at 95% confidence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded, InvalidParameter, Text, Words, parameter
from leastnoise.ledger import AllocatedPrivacy, SpendingLimit
from leastnoise.tables.budget import allocate
from leastnoise.tables.joint_blocks import find_joint_blocks
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.spending_limit import describe_amount

_DIGITS = 4
# The largest ε that is tried.
_LARGEST_EPSILON = Fraction(50)
# A search stops within this part of the smallest amount.
_CLOSE = 1 + Fraction(1, 1 << 11)
# The 95% error of Gaussian noise over σ, and about that of geometric noise over Δ/ε.
_NORMAL, _LAPLACE = 1.96, 3.0
# While the noise of a final amount is slightly too large, the amount is raised at most so many
# times, by this factor.
_TRIALS, _RAISE = 64, 1 + Fraction(1, 1 << 10)
# A real error that is recommended is larger by this factor, because amounts are rounded up.
_MARGIN = 1 + Fraction(1, 500)

# The error of an answer for an amount; None if there is none, as for a mean of too few rows.
ErrorAt = Callable[[Privacy], Fraction | None]


@dataclass(frozen=True, slots=True)
class Scale:
    """The amounts that are searched, by their size.

    Attributes:
        limit: The limit; None without a ledger.
        discovering: Whether groups are discovered, which needs γ in an allocation.
    """

    limit: SpendingLimit | None
    discovering: bool = False

    @property
    def gaussian(self) -> bool:
        """Whether sizes are shares of an allocation; else they are ε."""
        return self.limit is not None and self.limit.caps is not None

    @property
    def most(self) -> Fraction:
        """The largest size that is tried."""
        return Fraction(1) if self.gaussian else _LARGEST_EPSILON

    def amount(self, size: Fraction) -> Privacy:
        """Return an amount by its size."""
        if self.limit is None or not self.gaussian:
            return Privacy(size)
        return self.limit.take(size) if self.discovering else self.limit.take_pure(size)

    def cap(self, at_most: Fraction) -> Fraction:
        """Return the size of a share of the limit."""
        if self.limit is None or self.gaussian:
            return at_most
        return at_most * self.limit.whole.epsilon

    @property
    def remaining(self) -> Fraction:
        """The size of the rest of the limit."""
        return Fraction(0) if self.limit is None else self.cap(self.limit.remaining_share)

    def guess(self, ratio: float) -> Fraction:
        """Return about the size for a ratio: the total μ in an allocation, otherwise ε."""
        size = ratio
        if self.limit is not None and self.limit.caps is not None:
            size = ratio**2 / as_float(self.limit.caps.square)
        return Fraction(min(max(size, 1e-12), as_float(self.most)))


@dataclass(frozen=True, slots=True)
class TargetError:
    """A target error of a query, and the errors that amounts allow.

    Attributes:
        title: The query in a few words.
        error: The target 95% error.
        scale: The scale of amounts.
        error_at: The error of an answer for an amount.
    """

    title: str
    error: Fraction
    scale: Scale
    error_at: ErrorAt

    def make_error(self, cap: Fraction, amount: Privacy | None) -> BudgetExceeded:
        """Return the error for an amount above a cap, with the error that the cap allows.

        Args:
            cap: The size of the cap.
            amount: The amount that is needed; None if no amount suffices.
        """
        problem = f"{self.describe_problem(cap, amount)}. Nothing was charged or released"
        return BudgetExceeded(problem, fix=self.advise(cap))

    def describe_problem(self, cap: Fraction, amount: Privacy | None) -> str:
        """Return the problem of :meth:`make_error` in words."""
        most = describe_amount(self.scale.amount(round_down(cap))) if cap else "nothing"
        needs = "needs more than the budget"
        if amount is not None:
            needs = f"needs {describe_amount(amount)}, but at most {most} may be spent"
        return f"The {self.title} with an error of ± {_print(self.error)} {needs}"

    def add_advice(self, failure: BudgetExceeded) -> BudgetExceeded:
        """Add to an error of the ledger the answer's error that the remaining budget allows."""
        problem = Words(failure.problem, failure.headline.rstrip("."))
        return BudgetExceeded(
            problem, fix=self.advise(self.scale.remaining), details=failure.details
        )

    def advise(self, cap: Fraction) -> Text:
        """Return a sentence about the error that the size of an amount allows."""
        cap = round_down(cap)
        possible = self.error_at(self.scale.amount(cap)) if cap else None
        if possible is None:
            return "Give a guarantee with " + Words("privacy=", "--epsilon") + " instead."
        return self.advise_error(possible, cap)

    def advise_error(self, possible: Fraction, cap: Fraction) -> Text:
        """Return a sentence that the size of an amount allows this error."""
        cap = round_down(cap)
        margin = 1 if possible.denominator == 1 else _MARGIN
        text = format_rounded(possible * margin, 3, ROUND_CEILING)
        amount = describe_amount(self.scale.amount(cap))
        return (
            f"With {amount}, an error of ± {text} is possible: write "
            + Words(f"error={text}", f"--error {text}")
            + "."
        )


def aim(planned: PlannedQuery, error: Fraction, limit: SpendingLimit | None) -> TargetError:
    """Return a target error of a query whose error does not depend on the data.

    Raises:
        InvalidParameter: If the error of such a query cannot be chosen.
    """
    scale = Scale(limit, planned.query.discovered)
    _check_query(planned, error, scale)

    blocks = find_joint_blocks([planned], [tuple(range(len(planned.numbers)))])

    def error_at(amount: Privacy) -> Fraction:
        mechanisms, _ = allocate(amount, planned.numbers, blocks=blocks, solve=False)
        return planned.query.answer_error(mechanisms)

    return TargetError(planned.query.title, error, scale, error_at)


def find_amount(
    planned: PlannedQuery, target: TargetError, at_most: Fraction | None = None
) -> Privacy:
    """Return the smallest amount with which every answer of a query has at most the target error.

    Raises:
        BudgetExceeded: If the whole allocation, or ε = 50, is not enough. The error states what is
            possible with what remains, and at most with a share ``at_most``.
    """
    scale, numbers = target.scale, planned.numbers
    blocks = find_joint_blocks([planned], [tuple(range(len(numbers)))])
    size = find_size(target, _guess(planned, target.error, scale))

    def suffices(size: Fraction) -> bool:
        # As the query will be released.
        mechanisms, _ = allocate(scale.amount(size), numbers, blocks=blocks)
        return planned.query.answer_error(mechanisms) <= target.error

    for _ in range(_TRIALS):
        if size is None or suffices(size):
            break
        size = min(_round_up(size * _RAISE), scale.most) if size < scale.most else None
    if size is None:
        rest = scale.most if scale.limit is None else scale.remaining
        raise target.make_error(rest if at_most is None else min(rest, scale.cap(at_most)), None)
    return scale.amount(size)


def check_cap(target: TargetError, amount: Privacy, at_most: Fraction | None) -> None:
    """Reject an amount above a share of the limit.

    An answer that is stored costs nothing, so this is for a query that was not charged before.

    Raises:
        BudgetExceeded: If the amount is above the share ``at_most`` of the limit.
    """
    cap = None if at_most is None else target.scale.cap(at_most)
    if cap is not None and size_of(amount) > cap:
        raise target.make_error(min(cap, target.scale.remaining), amount)


def find_size(target: TargetError, guess: Fraction) -> Fraction | None:
    """Return the smallest size, to four digits, that reaches the error; None if none does.

    The error falls as the size grows.
    """
    scale = target.scale

    def suffices(size: Fraction) -> bool:
        error = target.error_at(scale.amount(size))
        return error is not None and error <= target.error

    high = min(_round_up(guess), scale.most)
    low = high
    factor = Fraction(9, 8)
    while not suffices(high):
        if high == scale.most:
            return None
        low, high, factor = high, min(_round_up(high * factor), scale.most), factor**2
    factor = Fraction(9, 8)
    while low == high or suffices(low):
        high, low, factor = low, _round_up(low / factor), factor**2
    while high > low * _CLOSE:
        middle = _round_up((low + high) / 2)
        if not low < middle < high:
            break
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def size_of(amount: Privacy) -> Fraction:
    """Return the size of an amount: its share of M² in an allocation, else its ε."""
    if isinstance(amount, AllocatedPrivacy):
        return amount.cost.square / amount.caps.square
    return amount.epsilon


def _check_query(planned: PlannedQuery, error: Fraction, scale: Scale) -> None:
    """Reject a query whose error cannot be chosen."""
    query, numbers = planned.query, planned.numbers
    if len(numbers) - query.discovered != 1 and not (query.discovered and len(numbers) == 1):
        raise InvalidParameter(
            Words("error=", "--error") + " is for queries that release one number per group",
            got=f"the {query.title}",
            fix="Give " + Words("privacy= or share=", "--epsilon or --share") + " instead.",
        )
    if query.discovered and not scale.gaussian:
        raise InvalidParameter(
            "Discovering groups needs δ > 0, which an error does not determine",
            fix="List the groups with "
            + Words("groups=", "--group")
            + ", give "
            + Words("privacy= or share=", "--epsilon and --delta, or --share")
            + " instead, or use an allocation.",
        )
    number = numbers[-1]
    if number.integer and number.candidates is None and error < 1:
        raise InvalidParameter(
            parameter("error") + " must be at least 1 for integers",
            got=_print(error),
            fix="Use 1 or more.",
        )


def _guess(planned: PlannedQuery, error: Fraction, scale: Scale) -> Fraction:
    """Return about the size for the error of the last number of a query."""
    number = planned.numbers[-1]
    ratio, releases = as_float(number.sensitivity / error), len(planned.numbers) * number.touched
    if scale.gaussian:
        return scale.guess(_NORMAL * ratio * releases**0.5)
    return scale.guess(_LAPLACE * ratio * releases)


def round_down(size: Fraction) -> Fraction:
    """Return the largest size of four digits that is not above a size, so that it prints short."""
    return Fraction(format_rounded(size, _DIGITS, ROUND_FLOOR)) if size else size


def _round_up(size: Fraction) -> Fraction:
    return Fraction(format_rounded(size, _DIGITS, ROUND_CEILING))


def _print(error: Fraction) -> str:
    return format_rounded(error, _DIGITS, ROUND_FLOOR)
