"""Checks of queries and amounts against a card; an error names the line of the card."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from leastnoise.core.exact import format_exact, format_short, quote
from leastnoise.errors import BudgetExceeded, InvalidParameter, Words
from leastnoise.ledger import DEFAULT, Allocation, Ledger, Unrecorded
from leastnoise.tables.card.card import Card, ColumnRules, ContributionLimit
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.histogram import Histogram
from leastnoise.tables.queries.query import Query
from leastnoise.tables.registration import QUERIES
from leastnoise.tables.release import PreparedRelease
from leastnoise.tables.terms import Terms
from leastnoise.tables.where import columns_of, parse_expression

_NO_RULES = ColumnRules()


def check_query(card: Card, query: Query) -> None:
    """Reject a complete query beyond a card. The source rejects columns that are not allowed.

    A query of a class that is not registered could compute anything, so it is rejected too.

    Raises:
        InvalidParameter: With the line of the card.
    """
    if type(query) not in {each.load() for each in QUERIES.values()}:
        raise InvalidParameter(
            f"{card.document.name} allows the registered queries only",
            got=f"a query of the class {type(query).__name__}",
            fix="Use Count, Sum, Mean, ClippedShare, Histogram or Quantile, or register the class.",
        )
    _check_expressions(card, query)
    if isinstance(query, BoundedQuery):
        _check_bounds(card, query)
    if isinstance(query, Histogram):
        _check_edges(card, query)
    _check_groups(card, query)
    # A query may state another max_rows than its table.
    for name, limit in (("max_rows", card.max_rows), ("max_groups", card.max_groups)):
        check_contribution(card, name, getattr(query, name, None), limit)


def _check_expressions(card: Card, query: Query) -> None:
    """Reject expressions of columns whose bounds, edges or groups a card states.

    The rules are those of a column by its name, so an expression such as ``income + 0`` would have
    none.
    """
    named = [query.column] if isinstance(query, BoundedQuery | Histogram) else []
    rules: list[tuple[str, tuple[str, ...]]] = [(text, ("bounds", "edges")) for text in named]
    rules += [(text, ("groups",)) for text in query.by]
    for text, stated in rules:
        if text in card.columns:
            continue
        for column in _columns_of_text(text):
            fixed = [rule for rule in stated if getattr(card.columns.get(column), rule, None)]
            if fixed:
                raise InvalidParameter(
                    f"{card.where('columns', column, fixed[0])} states {fixed[0]} of {column!r}, "
                    "which do not apply to an expression",
                    got=quote(text),
                    fix=f"Use the column {column!r} itself.",
                )


def _columns_of_text(text: str) -> list[str]:
    """Return the columns of an expression; none of a text that is not an expression."""
    try:
        return columns_of(parse_expression(text))
    except InvalidParameter:
        return []  # the source rejects it, if it is no column either


def check_contribution(
    card: Card, name: str, value: int | None, limit: ContributionLimit | None
) -> None:
    """Reject a contribution bound above the largest of a card."""
    if value is not None and limit is not None and value > limit.largest:
        raise InvalidParameter(
            f"{card.where(name, 'largest')} allows {name} of at most {limit.largest}",
            got=str(value),
            fix=f"Use {limit.largest} or less.",
        )


def _check_bounds(card: Card, query: BoundedQuery) -> None:
    allowed = card.columns.get(query.column, _NO_RULES).bounds
    if allowed is None:
        return
    (low, high), (least, most) = query.clipping_bounds, allowed
    if low < least or high > most:
        where = card.where("columns", query.column, "bounds")
        raise InvalidParameter(
            f"{where} allows bounds of {query.column!r} within {_interval(allowed)}",
            got=_interval((low, high)),
            fix="Omit the bounds, or choose an interval within these.",
        )


def _interval(bounds: tuple[Fraction, Fraction]) -> str:
    return f"[{', '.join(map(format_exact, bounds))}]"


def _check_edges(card: Card, query: Histogram) -> None:
    allowed = card.columns.get(query.column, _NO_RULES).edges
    other = set() if allowed is None else set(query.bin_edges) - set(allowed)
    if other:
        raise InvalidParameter(
            f"{card.where('columns', query.column, 'edges')} lists the edges of {query.column!r}",
            got=f"another edge, {format_exact(Fraction(min(other)))}",
            fix="Omit the edges, or choose some of these.",
        )


def _check_groups(card: Card, query: Query) -> None:
    for place, name in enumerate(query.by):
        allowed = card.columns.get(name, _NO_RULES).groups
        if allowed is None or query.groups is None:
            continue
        # True equals 1, but a column has groups of one type.
        other = {key[place] for key in query.groups} - set(allowed)
        if other:
            raise InvalidParameter(
                f"{card.where('columns', name, 'groups')} lists the groups of {name!r}",
                got=f"{len(other)} other group{'s' * (len(other) > 1)}",
                fix="Omit the groups, or choose some of these.",
            )


def limit_terms(card: Card, terms: Terms) -> Terms:
    """Return terms in which a wanted error may cost at most what a card allows."""
    if terms.error is None or terms.limit is None:
        return terms
    most = [share for share in (terms.at_most, card.largest.share) if share is not None]
    whole = terms.limit.whole.epsilon
    if card.largest.epsilon is not None and whole:
        most.append(card.largest.epsilon / whole)
    return replace(terms, at_most=min(most)) if most else terms


@contextmanager
def cite_largest(card: Card | None) -> Iterator[None]:
    """Add the largest release of a card to the error of a budget that is too small for an error."""
    try:
        yield
    except BudgetExceeded as failure:
        line = "" if card is None else describe_largest(card)
        if not line:
            raise
        raise BudgetExceeded(
            Words(failure.problem, failure.headline.rstrip(".")),
            fix=Words(f"{failure.fix} {line}", f"{failure.advice} {line}"),
            details=failure.details,
            summary=failure.summary,
        ) from None


def describe_largest(card: Card) -> str:
    """Return a sentence about the most that one release may cost; empty without a maximum."""
    largest = card.largest
    parts = {"ε": largest.epsilon, "δ": largest.delta, "share": largest.share}
    words = [f"{name} {format_short(part)}" for name, part in parts.items() if part is not None]
    if not words:
        return ""
    return f"{card.where('largest')} allows {', '.join(words)} for one release."


def check_amount(card: Card, prepared: PreparedRelease, ledger: Ledger | Unrecorded) -> None:
    """Reject a release that costs more than a card allows for one.

    Raises:
        InvalidParameter: With the line of the card. Nothing was charged.
    """
    largest, together = card.largest, prepared.together
    share = Fraction(0) if largest.share is None else find_share(prepared, ledger)
    amounts: Sequence[tuple[str, str, Fraction | None, Fraction | None]] = (
        ("epsilon", "ε", together.epsilon, largest.epsilon),
        ("delta", "δ", together.delta, largest.delta),
        ("share", "a share", share, largest.share),
    )
    for name, word, amount, most in amounts:
        if most is not None and (amount is None or amount > most):
            raise InvalidParameter(
                f"{card.where('largest', name)} allows {word} of at most {format_short(most)} for "
                "one release",
                got="all of it and more" if amount is None else format_short(amount),
                fix=f"Use at most {format_short(most)}. Nothing was charged.",
            )


def find_share(prepared: PreparedRelease, ledger: Ledger | Unrecorded) -> Fraction | None:
    """Return the share of the limit or allocation that a release costs; None if it is above 1."""
    if isinstance(ledger, Unrecorded):
        return None
    if ledger.accounting == "gaussian":
        name = ledger.name if isinstance(ledger, Allocation) else DEFAULT
        (account,) = (account for account in ledger.allocations if account.name == name)
        return account.find_share(prepared.cost)
    own = ledger.analyst_account.limit or ledger.limit
    pairs = [
        (prepared.together.epsilon, own.epsilon),
        (prepared.together.delta, own.delta),
    ]
    if any(part > whole for part, whole in pairs):
        return None
    return max((part / whole for part, whole in pairs if whole), default=Fraction(0))
