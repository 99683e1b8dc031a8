"""Which finder answers which question."""

import contextlib
import time
from dataclasses import dataclass, replace
from fractions import Fraction

from leastnoise.calibration.cache import remember, remembered
from leastnoise.calibration.canonical import canonical, least_canonical
from leastnoise.calibration.comb import least_comb
from leastnoise.calibration.integers import least_on_integers
from leastnoise.calibration.lattice import rounded
from leastnoise.calibration.line import least_on_line
from leastnoise.calibration.numeric import Bracket, certified, narrowed
from leastnoise.calibration.progress import Progress
from leastnoise.calibration.question import Question
from leastnoise.calibration.scaling import at_unit, scaled
from leastnoise.calibration.staircases import cheapest_staircase, cut_staircase
from leastnoise.certificate import CanonicalBound, Certificate
from leastnoise.errors import InvalidParameter
from leastnoise.noise import Noise, Steps
from leastnoise.privacy import Privacy

_SOLVED = "a linear programme, proved on a lattice (docs/theory/lattice-bound.md)"
_CLOSED = "the cheapest of a few known noises, with a bound"
# How many steps a noise on the line may have on each side.
_LONGEST = 8_000
# An ε smaller than δ by this factor is as good as none: the noise for ε = 0 is within 0.1 %.
_MUCH_LESS = 10_000
_STAIRCASE = "Geng and Viswanath 2016 (the staircase)"


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look: whether to solve at all, how close to the least, for how many seconds."""

    solve: bool = True
    gap: Fraction = Fraction(1, 1000)
    seconds: float = 10.0


def find(asked: Question, effort: Effort) -> tuple[Noise, Certificate]:
    """Return the least noise of a class, or one proved to be near it, and the proof.

    ============================  =================================================================
    ε = 0, decreasing             GDGK19's P_α; on the integers the mixture of two uniform noises
    ε = 0, any shape              the comb where it is proved least; P_α where a bound shows that
                                  it is near enough; else solved
    integers, Δ = 1               the canonical noise, least for every cost at once
    δ = 0                         the staircase, with a bound that shows how near
    else                          solved
    ============================  =================================================================
    """
    if not asked.privacy.delta and not asked.privacy.epsilon:
        raise InvalidParameter(
            "at ε = 0 no noise keeps δ = 0: the answer would have to be the same for all data; "
            "got (0, 0). Give δ > 0."
        )
    # A cost is looked at before it is trusted, and again as far as the noise turned out to reach.
    level = max(asked.privacy.delta, min(asked.privacy.epsilon, Fraction(1)))
    asked.cost.probe(asked.sensitivity / level)
    noise, certificate = _found(asked, effort)
    if isinstance(noise.radius, Fraction):
        asked.cost.probe(2 * noise.radius)
    certificate.check()
    return noise, certificate


def _found(asked: Question, effort: Effort) -> tuple[Noise, Certificate]:
    privacy = asked.privacy
    if not privacy.epsilon:
        closed = _closed(asked)
        if asked.among == "decreasing":
            return closed
        found = None if asked.integer else least_comb(privacy, asked.sensitivity, asked.cost)
        if found is not None:
            return found
        return _bracketed(asked, closed[0], closed[1].source, effort)
    if not privacy.delta:
        return _bracketed(asked, cheapest_staircase(asked), _STAIRCASE, effort)
    if asked.integer and asked.sensitivity == 1:
        return least_canonical(asked)
    unit = at_unit(asked)
    noise, source = _begin(unit), _CLOSED
    if asked.among == "any" and effort.solve:  # any shape begins with the least decreasing one
        begun, plainer = time.monotonic(), replace(unit, among="decreasing")
        first = replace(effort, seconds=effort.seconds / 8)
        noise, certificate = _bracketed(plainer, noise, source, first)
        source = certificate.source
        left = effort.seconds - (time.monotonic() - begun)
        effort = replace(effort, seconds=max(left, effort.seconds / 8))
    certificate = scaled(_bracketed(unit, noise, source, effort)[1], asked)
    return certificate.noise, certificate


def _bracketed(
    asked: Question, noise: Noise, source: str, effort: Effort
) -> tuple[Noise, Certificate]:
    """Return the noise if a bound that is known at once shows it near enough; else solve."""
    counting = asked.integer and asked.sensitivity == 1
    bracket = Bracket(asked).with_noise(noise).with_evidence(CanonicalBound(integer=asked.integer))
    if bracket.gap <= effort.gap or counting or not effort.solve:
        return certified(bracket, source)
    kept = remembered(asked)
    if kept is not None and kept.gap <= effort.gap:
        return kept.noise, kept
    with Progress() as progress:
        bracket = narrowed(bracket, gap=effort.gap, seconds=effort.seconds, progress=progress)
    noise, certificate = certified(bracket, source if bracket.noise is noise else _SOLVED)
    remember(asked, certificate)
    return noise, certificate


def _closed(asked: Question) -> tuple[Noise, Certificate]:
    """Return the least decreasing noise at ε = 0."""
    finder = least_on_integers if asked.integer else least_on_line
    return finder(asked.privacy, asked.sensitivity, asked.cost)


def _begin(asked: Question) -> Noise:
    """Return the cheapest of a few noises for ε > 0 and δ > 0 that are known at once.

    Where ε is no more than δ, also the noise for ε = 0; it alone if the others have too many steps.
    """
    if asked.privacy.epsilon <= asked.privacy.delta / _MUCH_LESS:
        return _closed(_without_epsilon(asked))[0]
    noises = [noise for noise in (_spread(asked), cut_staircase(asked)) if noise is not None]
    best = min(noises, key=lambda noise: noise.expected(asked.cost))
    noise: Noise = rounded(best, Fraction(1)) if asked.integer else best
    if asked.privacy.epsilon <= asked.privacy.delta:
        with contextlib.suppress(InvalidParameter):  # there need not be a least one at ε = 0
            plain = _closed(_without_epsilon(asked))[0]
            noise = min(noise, plain, key=lambda noise: noise.expected(asked.cost))
    return noise


def _without_epsilon(asked: Question) -> Question:
    return replace(asked, privacy=Privacy(delta=asked.privacy.delta))


def _spread(asked: Question) -> Steps:
    """Return the canonical noise of Δ = 1, each point spread over a Δ.

    Private for all moves up to Δ, since H is linear between whole moves.
    """
    law, moved = canonical(asked.privacy, _LONGEST), asked.sensitivity
    first = -Fraction(len(law.runs), 2)
    return Steps(
        [(first + k) * moved for k in range(len(law.runs) + 1)],
        [Fraction(run.weight, law.total) / moved for run in law.runs],
    )
