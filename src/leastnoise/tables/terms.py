"""How much a query may cost: a guarantee, a share of the limit, or a target error."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.exact import Number, format_rounded, parse_positive, quote
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.errors import BudgetExceeded, InvalidParameter, Words
from leastnoise.ledger import Ledger, SpendingLimit, Unrecorded, check_name

_PRIVACY = Words("privacy=", "--epsilon and --delta")
_SHARE = Words("share=", "--share")
_SHARE_OF = Words("share=", "--share ")
_ERROR = Words("error=", "--error")
_AT_MOST = Words("at_most=", "--at-most")


@dataclass(frozen=True, slots=True)
class Terms:
    """The amount that a query may cost. Exactly one of the first three is given.

    Attributes:
        privacy: The guarantee.
        share: The share of the limit or of the allocation.
        error: The 95% error that the answer may have.
        at_most: With ``error``: the largest share of the limit or allocation that it may cost.
        limit: The limit of the ledger; None without a ledger, or if the limit does not matter.
    """

    privacy: Privacy | None = None
    share: Fraction | None = None
    error: Fraction | None = None
    at_most: Fraction | None = None
    limit: SpendingLimit | None = None

    @property
    def amount(self) -> Privacy:
        """The guarantee of everything, if no error is given; in an allocation, a part of it."""
        if self.privacy is not None:
            return self.privacy
        if self.limit is None or self.share is None:
            raise TypeError("the amount that an error costs depends on the query")
        return self.limit.take(self.share)

    def add_advice(self, failure: BudgetExceeded) -> BudgetExceeded:
        """Add the largest share that remains to an error of the ledger, if a share was given."""
        possible = self.limit.possible_share if self.limit is not None else Fraction(0)
        rest = format_rounded(possible, 3, ROUND_FLOOR)
        if self.share is None or not 0 < Fraction(rest) < self.share:
            return failure
        fix = Words(failure.fix, failure.advice) + (" Or use " + _SHARE_OF + f"{rest} or less.")
        problem = Words(failure.problem, failure.headline.rstrip("."))
        return BudgetExceeded(problem, fix=fix, details=failure.details)


NO_TERMS = Terms()


def parse_terms(
    ledger: Ledger | Unrecorded,
    *,
    privacy: Privacy | None,
    share: Number | None,
    error: Number | None,
    at_most: Number | None,
    key: str | None = None,
    fresh: bool = False,
) -> Terms:
    """Return the terms that a caller passes.

    If the key was charged before, with ``fresh`` by this analyst, a share is of the limit then.

    Raises:
        InvalidParameter: If not exactly one amount is given, it is out of range, or a share is
            given without a ledger.
    """
    words = {_PRIVACY: privacy, _SHARE: share, _ERROR: error}
    amounts = [word for word, value in words.items() if value is not None]
    if len(amounts) != 1:
        raise InvalidParameter(
            "Exactly one of " + _PRIVACY + ", " + _SHARE + " and " + _ERROR + " must be given",
            got="none" if not amounts else amounts[0] + " and " + amounts[1],
            fix="Write, for example, "
            + Words("privacy=Privacy(1, '1e-6')", "--epsilon 1 --delta 1e-6")
            + ", "
            + Words("share='1/50'", "--share 1/50")
            + " of the limit, or "
            + Words("error=10", "--error 10")
            + " at 95% confidence.",
        )
    if at_most is not None and error is None:
        raise InvalidParameter(
            _AT_MOST + " limits the cost of " + _ERROR,
            got=amounts[0],
            fix="Omit " + _AT_MOST + ", or give " + _ERROR + ".",
        )
    if privacy is not None:
        return Terms(privacy=as_privacy(privacy, "Privacy(1, '1e-6')"))
    own, most = _parse_share(share, _SHARE), _parse_share(at_most, _AT_MOST)
    if isinstance(ledger, Unrecorded):
        if share is not None or at_most is not None:
            raise InvalidParameter(
                (_SHARE if at_most is None else _AT_MOST)
                + " needs a ledger, because it is a share of its limit or of an allocation",
                fix="Add "
                + Words("ledger=Ledger(…)", "--ledger FILE")
                + ", or give "
                + _PRIVACY
                + " instead.",
            )
        return Terms(error=parse_error(error))
    if share is not None:
        named = None if key is None else check_name(key, "A key")
        return Terms(share=own, limit=SpendingLimit.of(ledger, named, fresh=fresh))
    limit = SpendingLimit.of(ledger)
    return Terms(error=parse_error(error), at_most=most, limit=limit)


def parse_error(error: object) -> Fraction:
    """Return an error as a positive rational."""
    return parse_positive(error, "error")


def parse_weights(weights: object, queries: int) -> tuple[Fraction, ...] | None:
    """Return the weights of queries, or None if there are none."""
    if weights is None:
        return None
    if isinstance(weights, str | bytes) or not isinstance(weights, Sequence):
        raise InvalidParameter(
            "weights must be a list", got=quote(weights), fix="Write, for example, [2, 1]."
        )
    if len(weights) != queries:
        raise InvalidParameter(
            "weights must have a number for each query",
            got=f"{len(weights)} for {queries}",
            fix="Write, for example, [2, 1] for two queries.",
        )
    return tuple(parse_positive(weight, "a weight") for weight in weights)


def _parse_share(share: object, name: Words) -> Fraction | None:
    if share is None:
        return None
    exact = parse_positive(share, name)
    if exact > 1:
        raise InvalidParameter(
            name + " must be above 0 and at most 1",
            got=quote(share),
            fix="Write, for example, '1/50'.",
        )
    return exact
