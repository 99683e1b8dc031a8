"""The errors for plans without any noise: the reasons, and a guarantee and targets that suffice."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import AllocatedPrivacy, make_part
from leastnoise.planning.joint import join
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import Candidate, PlanProblem
from leastnoise.planning.shared import share
from leastnoise.planning.split import split

# The first relative increase of an insufficient proposal, which then doubles, and the attempts.
_MORE = Fraction(1, 100)
_TRIES = 8
# A larger ε is not suggested, because it protects almost nobody.
_LARGEST_EPSILON = 50
_MOST_NAMED = 3


def explain_impossible(problem: PlanProblem, rejected: Sequence[Candidate]) -> InvalidParameter:
    """Return the error for a plan whose options were all rejected."""
    guarantee = format_guarantee(problem.privacy)
    if not any(candidate.lacking for candidate in rejected):
        options = [candidate.option for candidate in rejected]
        reasons = "; ".join(f"{option.name}: {option.excluded}" for option in options)
        return InvalidParameter(
            f"No noise satisfies {guarantee} for all answers ({reasons})",
            fix="Use another guarantee or other families.",
        )
    return InvalidParameter(
        f"The targets cannot be met with {guarantee}",
        got=_format_targets(problem.queries),
        fix=f"{_suggest_epsilon(problem, rejected)}{_suggest_errors(problem, rejected)}",
    )


def _suggest_epsilon(problem: PlanProblem, rejected: Sequence[Candidate]) -> str:
    """Return a sentence with a total ε that suffices at the same δ, verified and rounded up.

    For a part of an allocation it has a share that suffices.
    """
    lacking = [candidate.lacking for candidate in rejected if candidate.lacking]
    if isinstance(problem.privacy, AllocatedPrivacy):
        return _suggest_share(problem, problem.privacy, [error.factor for error in lacking])
    for guess in _raise(error.epsilon for error in lacking):
        epsilon = _round_up(guess)
        if epsilon > _LARGEST_EPSILON:
            break
        if _is_possible(replace(problem, privacy=Privacy(epsilon, problem.privacy.delta))):
            return f"A total ε of {format_exact(epsilon)} suffices with the same δ. "
    return ""


def _suggest_share(
    problem: PlanProblem, part: AllocatedPrivacy, factors: Iterable[float | None]
) -> str:
    for factor in _raise(factors):
        share = _round_up(part.cost.square / part.caps.square * factor**2)
        if share > 1:
            break
        cost = GaussianCost(part.caps.square * share)
        implied = cost.privacy(part.delta)
        if implied is None:
            break
        if _is_possible(replace(problem, privacy=make_part(cost, part.caps, implied))):
            return f"A share of {format_exact(share)} suffices. "
    return ""


def _suggest_errors(problem: PlanProblem, rejected: Sequence[Candidate]) -> str:
    """Return a sentence with possible errors: all targets widened by the same factor."""
    lacking = [candidate.lacking for candidate in rejected if candidate.lacking]
    for factor in _raise(error.factor for error in lacking):
        wider = tuple(_widen(query, factor) for query in problem.queries)
        if _is_possible(replace(problem, queries=wider)):
            many = sum(query.error is not None for query in problem.queries) > 1
            alike = ", all widened by the same factor" if many else ""
            return f"Errors of {_format_targets(wider)} are possible as it is{alike}."
    return "Accept larger errors, or use a larger ε or δ."


def _raise(proposals: Iterable[Fraction | float | None]) -> Iterator[Fraction]:
    """Yield the smallest proposal, if there is any, then larger and larger numbers."""
    known = [Fraction(proposal) for proposal in proposals if proposal]
    for i in range(_TRIES if known else 0):
        yield min(known) * (1 + _MORE * ((1 << i) - 1))


def _is_possible(problem: PlanProblem) -> bool:
    return any(find(problem).mechanisms for find in (share, split, join))


def _format_targets(queries: Iterable[NumericQuery]) -> str:
    targets = [
        f"± {format_exact(query.error)} for {query.name}"
        for query in queries
        if query.error is not None
    ]
    more = len(targets) - _MOST_NAMED
    return ", ".join(targets[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _widen(query: NumericQuery, factor: Fraction) -> NumericQuery:
    """Return a query whose target is larger by a factor, to three digits or an integer."""
    if query.error is None:
        return query
    error = _round_up(query.error * factor)
    return NumericQuery(
        query.name,
        sensitivity=query.sensitivity,
        cost=query.cost,
        integer=query.integer,
        weight=None if query.cost is None else query.weight,
        error=-(-error // 1) if query.integer else error,
        confidence=query.confidence,
        family=query.family,
    )


def _round_up(number: Fraction) -> Fraction:
    return Fraction(format_rounded(number, 3, ROUND_CEILING))
