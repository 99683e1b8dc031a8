"""All ways to release the answers of a plan and what each costs, or why there is none."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Effort
from leastnoise.core.exact import as_float, format_exact, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Mechanism, half_width
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    COMPOSED,
    EACH,
    SHARED,
    Asked,
    Candidate,
    Laws,
    Option,
    OutOfTime,
    calibrate_query,
    option_of,
)
from leastnoise.planning.search.allocation import TooLittle, smallest
from leastnoise.planning.search.composed import MOST_COMPOSED, NARROWED, narrow
from leastnoise.planning.search.estimates import LEAST
from leastnoise.planning.search.gaussian import SharedGaussian
from leastnoise.planning.search.split import SplitSearch, split_families

AS_ASKED = "as asked"
# What the least noises are called where nothing was solved for.
CHEAPEST = "cheapest known"
# A family whose estimate is so many times the least noise's is passed over.
_FAR = 2.0
# Noises of many steps take long; for more answers than this only where δ matters to them.
_FEW = 3
# Solving gains less than this factor: what is dearer by more is not solved for.
_SOLVING = Fraction(3, 2)
# Composing is tried where sharing costs this much of splitting.
_BAND = (Fraction(3, 4), Fraction(5, 4))
# So many different answers are composed at once, without solving.
_AT_ONCE = 4
# Refused targets: a total ε that may do is raised by so much, so often; errors are looked for to
# this part of themselves; so many answers are named.
_A_LITTLE_MORE = Fraction(101, 100)
_MOST_TRIES = 5
_NEARLY = 1.02
_MOST_NAMED = 3
_NEVER = (
    Option("comb", EACH, refused="it rises away from 0; plans are of noises that never do"),
    Option("classic_gaussian", SHARED, refused="Gaussian noise of the least σ is never dearer"),
)


def find_candidates(asked: Asked, effort: Effort) -> list[Candidate]:
    """Return every way that was considered, the refused ones too."""
    search = SplitSearch(asked, Laws())
    if all(one.family for one in asked.wanted):
        return _as_asked(search, effort)
    found = [search.candidate(LEAST), SharedGaussian(asked).candidate(), *_by_family(search)]
    if not any(one.family for one in asked.wanted):
        found += list(_narrowed(search, found, effort))
    solved = _solved(asked, found) if effort.solve else None
    if solved is None:
        known = replace(found[0], option=replace(found[0].option, family=CHEAPEST))
        found[:1] = [known, *([_unsolved(asked, found)] if effort.solve else [])]
    else:
        found[0] = solved
    return [*found, *map(Candidate, _NEVER)]


def _as_asked(search: SplitSearch, effort: Effort) -> list[Candidate]:
    """Return the split for families that are all given, and how else they keep the promise."""
    asked, least = search.asked, search.candidate(LEAST)
    found = [replace(least, option=replace(least.option, family=AS_ASKED))]
    given = asked.wanted[0].family
    if given in NARROWED and all(one.family == given for one in asked.wanted):
        alike = replace(least, option=replace(least.option, family=given or LEAST))
        found += list(_narrowed(search, [alike], effort))
    return [*found, SharedGaussian(asked).candidate()]


def _narrowed(search: SplitSearch, found: list[Candidate], effort: Effort) -> Iterator[Candidate]:
    """Go through the splits that may gain from being composed."""
    asked, shared = search.asked, next((c for c in found if c.option.how == SHARED), None)
    costs = [one.option.cost for one in found if one.option.how == EACH and one.option.cost]
    if not asked.privacy.epsilon or not asked.privacy.delta or len(asked.wanted) < 2 or not costs:
        return
    times = shared.option.cost / min(costs) if shared and shared.option.cost else Fraction(1)
    why = None
    if len(asked.different) > (MOST_COMPOSED if effort.solve else _AT_ONCE):
        why = "composing so many different answers takes long"
        why += "" if effort.solve else f" (solve=True tries up to {MOST_COMPOSED})"
    elif not _BAND[0] <= times <= _BAND[1]:
        why = "not expected to gain where splitting and sharing differ so much"
    for one in found:
        if one.option.family not in NARROWED or one.make is None:
            continue
        if why is None:
            yield narrow(asked, search.laws, one.option)
        else:
            yield Candidate(Option(one.option.family, COMPOSED, refused=f"passed over: {why}"))


def _by_family(search: SplitSearch) -> Iterator[Candidate]:
    """Go through the families, but for those that cannot gain by estimate."""
    least, many = search.estimate(LEAST), len(search.asked.wanted)
    for family in split_families():
        times = search.estimate(family) / least if least else 1.0
        why = None
        if _FAR < times < math.inf and not search.asked.targets:
            why = f"by estimate {times:.3g} times as dear as the least"
        elif FAMILIES[family].many_steps and many > _FEW and search.hardly_cut:
            why = "by estimate within 0.01 % of the staircase, or dearer"
        if why is None:
            yield search.candidate(family)
        else:
            yield Candidate(Option(family, EACH, refused=f"passed over: {why}"))


def _solved(asked: Asked, found: list[Candidate]) -> Candidate | None:
    """Return the split of the least noise with what solving finds, or None where it is not tried.

    Each part of the promise that differs gets as much of the time that is left as any other.
    """
    closed = found[0]
    if closed.make is None or closed.option.cost is None or not asked.left:
        return None
    lowest = min(one.option.cost for one in found if one.option.cost is not None)
    if closed.option.cost > _SOLVING * lowest:
        return None
    questions = list(zip(asked.wanted, closed.option.promises, strict=True))
    known: dict[object, Mechanism] = {}
    closed_ones = closed.make()
    for (one, part), plain in zip(questions, closed_ones, strict=True):
        if (one, part) not in known:
            seconds = asked.left / (len(set(questions)) - len(known))
            solve = not one.family and seconds > 0
            known[one, part] = _better(one, part, plain, seconds) if solve else plain
    mechanisms = tuple(known[question] for question in questions)
    option = option_of(LEAST, EACH, asked, mechanisms)
    if asked.missed(option.half_widths) or (option.cost or 0) > closed.option.cost:
        return replace(closed, make=lambda: closed_ones)
    return Candidate(option, lambda: mechanisms)


def _unsolved(asked: Asked, found: list[Candidate]) -> Candidate:
    """Return the row that says why nothing was solved for."""
    if found[0].make is None:
        why = found[0].option.refused or "no closed form is known to begin with"
    elif not asked.left:
        why = "passed over: the seconds were up"
    else:
        why = "passed over: solving is not expected to make up for how much dearer it is"
    return Candidate(Option(LEAST, EACH, refused=why))


def _better(one: NumericQuery, part: Privacy, plain: Mechanism, seconds: float) -> Mechanism:
    """Return what solving finds, or the closed form where that meets the target and it does not."""
    solved = calibrate_query(one, part, None, Effort(seconds=seconds))
    width = half_width(solved, one.confidence)
    if one.cost is None:
        return solved if width < half_width(plain, one.confidence) else plain
    missed = one.error is not None and width > one.error
    return plain if missed else solved


def impossible_error(asked: Asked, candidates: Iterable[Candidate]) -> InvalidParameter:
    """Return the refusal of a question that no candidate answers."""
    refused = list(candidates)
    if not asked.targets:
        reasons = "; ".join(f"{one.option.name}: {one.option.refused}" for one in refused)
        return InvalidParameter(
            f"some noise must keep {asked.privacy} for all answers; none does ({reasons}). "
            "Promise something else, or ask for other families."
        )
    rule = f"the targets must be such as {asked.privacy} allows, got {_targets(asked.wanted)}"
    if not asked.left:
        return InvalidParameter(
            f"{rule}, for which no noise was found in time. Ask for less, or give more seconds."
        )
    return InvalidParameter(f"{rule}. {_enough(asked, refused)}{_possible(asked, refused)}")


def _targets(wanted: Iterable[NumericQuery]) -> str:
    said = [
        f"± {format_exact(one.error)} for {one.name}" for one in wanted if one.error is not None
    ]
    more = len(said) - _MOST_NAMED
    return ", ".join(said[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _enough(asked: Asked, refused: list[Candidate]) -> str:
    """Say which total ε is enough at the same δ: tried, and rounded up."""
    needs = [one.needs for one in refused if one.needs is not None]
    if not needs:
        return ""
    epsilon = Fraction(format_rounded(min(needs), 3, ROUND_CEILING))
    for _ in range(_MOST_TRIES):
        if not asked.left:
            break
        more = replace(asked, privacy=Privacy(epsilon, asked.privacy.delta))
        if any(one.make is not None for one in (_shared(more), _split(more))):
            return f"A total ε of {format_exact(epsilon)} would do with the same δ. "
        epsilon = Fraction(format_rounded(epsilon * _A_LITTLE_MORE, 3, ROUND_CEILING))
    return ""


def _possible(asked: Asked, refused: list[Candidate]) -> str:
    """Say which errors are possible instead: all targets made larger by the same factor."""
    needs = [c.needs for c in refused if c.needs is not None and c.option.how != SHARED]
    # With noises of their own, errors are about in the inverse ratio of ε.
    guess = as_float(min(needs) / asked.privacy.epsilon) if needs else _NEARLY
    try:
        factor = _factor(asked, _shared, guess)
        if factor is None or (needs and guess < factor):  # splitting takes longer to try
            own = _factor(asked, _split, guess)
            factor = own if factor is None else min(factor, own or factor)
    except OutOfTime:
        return "Or ask for less: how much less was not worked out in time; give more seconds."
    if factor is None:
        return "Ask for less, or promise more."
    wider = _targets(_wider(one, factor) for one in asked.wanted)
    many = sum(one.error is not None for one in asked.wanted) > 1
    alike = ", all widened by the same factor" if many else ""
    return f"Or accept errors of {wider}{alike}, which are possible as it is."


def _factor(asked: Asked, way: Callable[[Asked], Candidate], guess: float) -> float | None:
    """Return about the smallest factor of all targets with which a way meets them."""

    def enough(factor: float) -> bool:
        asked.in_time()
        wanted = tuple(_wider(one, factor) for one in asked.wanted)
        return factor > 1 and way(replace(asked, wanted=wanted)).make is not None

    try:
        return smallest(enough, max(guess, _NEARLY), _NEARLY)
    except TooLittle:
        return None


def _shared(asked: Asked) -> Candidate:
    return SharedGaussian(asked).candidate()


def _split(asked: Asked) -> Candidate:
    return SplitSearch(asked, Laws()).candidate(LEAST)


def _wider(one: NumericQuery, factor: float) -> NumericQuery:
    """Return an answer with a target that is larger by a factor, in three digits or whole."""
    if one.error is None:
        return one
    error = Fraction(format_rounded(one.error * Fraction(factor), 3, ROUND_CEILING))
    if one.integer:
        error = Fraction(-(-error // 1))
    return NumericQuery(
        one.name,
        sensitivity=one.sensitivity,
        cost=one.cost,
        integer=one.integer,
        weight=None if one.cost is None else one.weight,
        error=error,
        confidence=one.confidence,
        family=one.family,
    )
