"""Find the options of a plan with their costs, or the reasons why there are none."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Effort
from leastnoise.core.exact import as_float, format_exact, format_rounded
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Mechanism, half_width
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    COMPOSED,
    EACH,
    OUT_OF_TIME,
    SHARED,
    Candidate,
    NoiseCache,
    Option,
    OutOfTime,
    PlanProblem,
    calibrate_query,
    option_of,
)
from leastnoise.planning.search.allocation import TooLittle, find_smallest
from leastnoise.planning.search.composed import MOST_COMPOSED, NARROWED, narrow
from leastnoise.planning.search.estimates import LEAST
from leastnoise.planning.search.gaussian import SharedGaussian
from leastnoise.planning.search.split import SplitSearch, split_families

AS_ASKED = "as asked"
# The family name of the cheapest noise per answer if the solver did not run.
CHEAPEST = "cheapest known"
# A family whose estimated cost exceeds the lowest one by this factor is not searched.
_FAR = 2.0
# Noise of many steps takes long: for more answers than this it is tried only if δ matters.
_FEW = 3
# The solver gains less than this factor: it does not run for an option that is costlier by more.
_SOLVING = Fraction(3, 2)
# Composition is tried if the cost of sharing lies in this range, relative to splitting.
_BAND = (Fraction(3, 4), Fraction(5, 4))
# The number of distinct answers that are composed without the solver.
_AT_ONCE = 4
# For impossible targets: the factor and number of tries for a sufficient total ε, the precision of
# possible errors, and the number of answers to name.
_A_LITTLE_MORE = Fraction(101, 100)
_MOST_TRIES = 5
_NEARLY = 1.02
_MOST_NAMED = 3
_MOST_REASONS = 2
_NEVER = (
    Option("comb", EACH, refused="plans use unimodal noise, and the comb is not unimodal"),
    Option("classic_gaussian", SHARED, refused="Gaussian noise of smallest σ never costs more"),
)


def find_candidates(problem: PlanProblem, effort: Effort) -> list[Candidate]:
    """Return all candidates, including rejected ones."""
    search = SplitSearch(problem, NoiseCache())
    if all(query.family for query in problem.wanted):
        return _given_families(search, effort)
    least, shared = search.find_candidate(LEAST), SharedGaussian(problem).find_candidate()
    others = [shared, *_search_families(search)]
    if not any(query.family for query in problem.wanted):
        others += list(_compose_splits(search, [least, *others], effort))
    solved = _solve(problem, [least, *others]) if effort.solve else None
    if solved is not None:
        first = [solved]
    else:
        first = [replace(least, option=replace(least.option, family=CHEAPEST))]
        first += [_explain_unsolved(problem, least)] if effort.solve else []
    return [*first, *others, *map(Candidate, _NEVER)]


def _given_families(search: SplitSearch, effort: Effort) -> list[Candidate]:
    """Return the candidates if every answer has a given family."""
    problem, least = search.problem, search.find_candidate(LEAST)
    candidates = [replace(least, option=replace(least.option, family=AS_ASKED))]
    given = problem.wanted[0].family
    if given in NARROWED and all(query.family == given for query in problem.wanted):
        alike = replace(least, option=replace(least.option, family=given or LEAST))
        candidates += list(_compose_splits(search, [alike], effort))
    return [*candidates, SharedGaussian(problem).find_candidate()]


def _compose_splits(
    search: SplitSearch, candidates: list[Candidate], effort: Effort
) -> Iterator[Candidate]:
    """Yield the splits that may become cheaper by composition."""
    problem = search.problem
    shared = next((known for known in candidates if known.option.how == SHARED), None)
    splits = [known.option for known in candidates if known.option.how == EACH]
    costs = [split.cost for split in splits if split.cost]
    privacy = problem.privacy
    if not privacy.epsilon or not privacy.delta or len(problem.wanted) < 2 or not costs:
        return
    times = shared.option.cost / min(costs) if shared and shared.option.cost else Fraction(1)
    why = None
    if len(problem.different) > (MOST_COMPOSED if effort.solve else _AT_ONCE):
        why = "the composition of so many distinct answers takes long"
        why += "" if effort.solve else f" (solve=True tries up to {MOST_COMPOSED})"
    elif not _BAND[0] <= times <= _BAND[1]:
        why = "splitting and sharing differ too much in cost"
    for split in (known.option for known in candidates if known.make is not None):
        if split.family not in NARROWED:
            continue
        if why is None:
            yield narrow(problem, search.noises, split)
        else:
            yield Candidate(Option(split.family, COMPOSED, refused=f"not searched because {why}"))


def _search_families(search: SplitSearch) -> Iterator[Candidate]:
    """Yield a split for each family, except those that cannot gain by estimate."""
    least, many = search.estimate(LEAST), len(search.problem.wanted)
    for family in split_families():
        times = search.estimate(family) / least if least else 1.0
        why = None
        if _FAR < times < math.inf and not search.problem.targets:
            why = f"its estimated cost is {times:.3g} times the lowest"
        elif FAMILIES[family].many_steps and many > _FEW and search.hardly_cut:
            why = "its estimated cost is at best 0.01% below that of the staircase"
        if why is None:
            yield search.find_candidate(family)
        else:
            yield Candidate(Option(family, EACH, refused=f"not searched because {why}"))


def _solve(problem: PlanProblem, candidates: list[Candidate]) -> Candidate | None:
    """Return the split of the cheapest noise, solved, or None if the solver is not worth it.

    The remaining time is divided evenly among the distinct parts of the guarantee. The first
    candidate is the split in closed form.
    """
    closed = candidates[0]
    if closed.make is None or closed.option.cost is None or not problem.left:
        return None
    costs = (candidate.option.cost for candidate in candidates)
    if closed.option.cost > _SOLVING * min(cost for cost in costs if cost is not None):
        return None
    parts = list(zip(problem.wanted, closed.option.promises, strict=True))
    solved: dict[object, Mechanism] = {}
    closed_forms = closed.make()
    for (query, privacy), closed_form in zip(parts, closed_forms, strict=True):
        if (query, privacy) not in solved:
            seconds = problem.left / (len(set(parts)) - len(solved))
            solve = not query.family and seconds > 0
            better = _solve_query(query, privacy, closed_form, seconds) if solve else closed_form
            solved[query, privacy] = better
    mechanisms = tuple(solved[part] for part in parts)
    option = option_of(LEAST, EACH, problem, mechanisms)
    if problem.misses(option.half_widths) or (option.cost or 0) > closed.option.cost:
        return replace(closed, make=lambda: closed_forms)
    return Candidate(option, lambda: mechanisms)


def _explain_unsolved(problem: PlanProblem, closed: Candidate) -> Candidate:
    """Return a rejected candidate with the reason why the solver did not run."""
    if closed.make is None:
        why = closed.option.refused or "no closed form is known to start from"
    elif not problem.left:
        why = OUT_OF_TIME
    else:
        why = "not searched because the solver is not expected to make it the cheapest"
    return Candidate(Option(LEAST, EACH, refused=why))


def _solve_query(
    query: NumericQuery, privacy: Privacy, closed_form: Mechanism, seconds: float
) -> Mechanism:
    """Return the solved mechanism, unless only the closed form meets the target."""
    solved = calibrate_query(query, privacy, None, Effort(seconds=seconds))
    width = half_width(solved, query.confidence)
    if query.cost is None:
        return solved if width < half_width(closed_form, query.confidence) else closed_form
    misses = query.error is not None and width > query.error
    return closed_form if misses else solved


def no_candidate_error(problem: PlanProblem, candidates: Iterable[Candidate]) -> InvalidParameter:
    """Return the error for a problem that no candidate solves."""
    rejected = list(candidates)
    guarantee = format_guarantee(problem.privacy)
    if not problem.targets:
        options = [candidate.option for candidate in rejected][:_MOST_REASONS]
        reasons = "; ".join(f"{option.name}: {option.refused}" for option in options)
        return InvalidParameter(
            f"No noise satisfies {guarantee} for all answers ({reasons})",
            fix="Use another guarantee or other families.",
        )
    if not problem.left:
        return InvalidParameter(
            f"No noise that meets the targets with {guarantee} was found within the time limit",
            got=_format_targets(problem.wanted),
            fix="Accept larger errors, or allow more seconds.",
        )
    return InvalidParameter(
        f"The targets cannot be met with {guarantee}",
        got=_format_targets(problem.wanted),
        fix=f"{_suggest_epsilon(problem, rejected)}{_suggest_errors(problem, rejected)}",
    )


def _format_targets(wanted: Iterable[NumericQuery]) -> str:
    targets = [
        f"± {format_exact(query.error)} for {query.name}"
        for query in wanted
        if query.error is not None
    ]
    more = len(targets) - _MOST_NAMED
    return ", ".join(targets[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _suggest_epsilon(problem: PlanProblem, rejected: list[Candidate]) -> str:
    """Return a sentence with a total ε that suffices at the same δ, verified and rounded up."""
    needs = [candidate.needs for candidate in rejected if candidate.needs is not None]
    if not needs:
        return ""
    epsilon = Fraction(format_rounded(min(needs), 3, ROUND_CEILING))
    for _ in range(_MOST_TRIES):
        if not problem.left:
            break
        more = replace(problem, privacy=Privacy(epsilon, problem.privacy.delta))
        if any(way(more).make is not None for way in (_share, _split)):
            return f"A total ε of {format_exact(epsilon)} suffices with the same δ. "
        epsilon = Fraction(format_rounded(epsilon * _A_LITTLE_MORE, 3, ROUND_CEILING))
    return ""


def _suggest_errors(problem: PlanProblem, rejected: list[Candidate]) -> str:
    """Return a sentence with possible errors: all targets widened by the same factor."""
    splits = [candidate for candidate in rejected if candidate.option.how != SHARED]
    needs = [split.needs for split in splits if split.needs is not None]
    # For split guarantees, errors are about inversely proportional to ε.
    guess = as_float(min(needs) / problem.privacy.epsilon) if needs else _NEARLY
    try:
        factor = _find_factor(problem, _share, guess)
        if factor is None or (needs and guess < factor):  # a split takes longer to try
            own = _find_factor(problem, _split, guess)
            factor = own if factor is None else min(factor, own or factor)
    except OutOfTime:
        return "Accept larger errors, or allow more seconds to find out how large."
    if factor is None:
        return "Accept larger errors, or use a larger ε or δ."
    errors = _format_targets(_widen(query, factor) for query in problem.wanted)
    many = sum(query.error is not None for query in problem.wanted) > 1
    alike = ", all widened by the same factor" if many else ""
    return f"Errors of {errors} are possible as it is{alike}."


def _find_factor(
    problem: PlanProblem, way: Callable[[PlanProblem], Candidate], guess: float
) -> float | None:
    """Return about the smallest factor of all targets at which a way meets them."""

    def suffices(factor: float) -> bool:
        problem.check_time()
        wanted = tuple(_widen(query, factor) for query in problem.wanted)
        return factor > 1 and way(replace(problem, wanted=wanted)).make is not None

    try:
        return find_smallest(suffices, max(guess, _NEARLY), _NEARLY)
    except TooLittle:
        return None


def _share(problem: PlanProblem) -> Candidate:
    return SharedGaussian(problem).find_candidate()


def _split(problem: PlanProblem) -> Candidate:
    return SplitSearch(problem, NoiseCache()).find_candidate(LEAST)


def _widen(query: NumericQuery, factor: float) -> NumericQuery:
    """Return a query whose target is larger by a factor, to three digits or an integer."""
    if query.error is None:
        return query
    error = Fraction(format_rounded(query.error * Fraction(factor), 3, ROUND_CEILING))
    if query.integer:
        error = Fraction(-(-error // 1))
    return NumericQuery(
        query.name,
        sensitivity=query.sensitivity,
        cost=query.cost,
        integer=query.integer,
        weight=None if query.cost is None else query.weight,
        error=error,
        confidence=query.confidence,
        family=query.family,
    )
