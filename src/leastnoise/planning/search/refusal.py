"""What to say where no noise meets the targets: which ε would do, and which errors are possible."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import as_float, format_exact, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.planning.options import SHARED, Asked, Candidate, Laws, OutOfTime
from leastnoise.planning.search.allocation import TooLittle, smallest
from leastnoise.planning.search.estimates import LEAST
from leastnoise.planning.search.gaussian import Sharing
from leastnoise.planning.search.split import Parting
from leastnoise.planning.wanted import Wanted

_MORE = Fraction(101, 100)
_TRIES = 5
# Larger errors are looked for to this part of themselves.
_NEAR = 1.02
# So many answers are named.
_NAMED = 3


def impossible(asked: Asked, candidates: Iterable[Candidate]) -> InvalidParameter:
    """Return the refusal of a question that no candidate answers."""
    refused = list(candidates)
    if not asked.targets:
        reasons = "; ".join(f"{one.option.name}: {one.option.refused}" for one in refused)
        return InvalidParameter(
            f"some noise must keep {asked.privacy} for all answers; none does ({reasons}). "
            "Promise something else, or ask for other families."
        )
    rule = f"the targets must be such as {asked.privacy} allows; got {_targets(asked.wanted)}"
    if not asked.left:
        return InvalidParameter(
            f"{rule}, for which no noise was found in time. Ask for less, or give more seconds."
        )
    return InvalidParameter(f"{rule}. {_enough(asked, refused)}{_possible(asked, refused)}")


def _targets(wanted: Iterable[Wanted]) -> str:
    """Name the first few targets."""
    said = [
        f"± {format_exact(one.error)} for {one.name}" for one in wanted if one.error is not None
    ]
    more = len(said) - _NAMED
    return ", ".join(said[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _enough(asked: Asked, refused: list[Candidate]) -> str:
    """Say which total ε is enough at the same δ: tried, and rounded up."""
    needs = [one.needs for one in refused if one.needs is not None]
    if not needs:
        return ""
    epsilon = Fraction(format_rounded(min(needs), 3, ROUND_CEILING))
    for _ in range(_TRIES):
        if not asked.left:
            break
        more = replace(asked, privacy=Privacy(epsilon, asked.privacy.delta))
        if any(one.make is not None for one in _both(more)):
            return f"A total ε of {format_exact(epsilon)} would do with the same δ. "
        epsilon = Fraction(format_rounded(epsilon * _MORE, 3, ROUND_CEILING))
    return ""


def _possible(asked: Asked, refused: list[Candidate]) -> str:
    """Say which errors are possible instead: all targets made larger by the same factor."""
    needs = [c.needs for c in refused if c.needs is not None and c.option.how != SHARED]
    # With noises of their own, errors are about in the inverse ratio of ε.
    guess = as_float(min(needs) / asked.privacy.epsilon) if needs else _NEAR
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
        return smallest(enough, max(guess, _NEAR), _NEAR)
    except TooLittle:
        return None


def _both(asked: Asked) -> Iterator[Candidate]:
    """Go through the two ways that are tried: a shared noise, and the least of each answer."""
    yield _shared(asked)
    yield _split(asked)


def _shared(asked: Asked) -> Candidate:
    return Sharing(asked).candidate()


def _split(asked: Asked) -> Candidate:
    return Parting(asked, Laws()).candidate(LEAST)


def _wider(one: Wanted, factor: float) -> Wanted:
    """Return an answer with a target that is larger by a factor, in three digits or whole."""
    if one.error is None:
        return one
    error = Fraction(format_rounded(one.error * Fraction(factor), 3, ROUND_CEILING))
    if one.integer:
        error = Fraction(-(-error // 1))
    return Wanted(
        one.name,
        sensitivity=one.sensitivity,
        cost=one.cost,
        integer=one.integer,
        weight=None if one.cost is None else one.weight,
        error=error,
        confidence=one.confidence,
        family=one.family,
    )
