"""The noises of the literature by name, each at the parameters its theorem gives for a promise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType

from leastnoise.calibration.integers import canonical, least_on_integers
from leastnoise.calibration.lattice import rounded
from leastnoise.calibration.line import least_comb, least_on_line
from leastnoise.calibration.problem import Problem, outside
from leastnoise.calibration.smooth import classic_gaussian, gaussian, laplace, truncated_laplace
from leastnoise.calibration.staircase import (
    LONGEST_ON_LINE,
    cheapest_staircase,
    cut_staircase,
    geometric,
)
from leastnoise.certificate import Certificate, at_epsilon_0
from leastnoise.core.exact import exponential, quote
from leastnoise.core.noise import Noise, Rounded, Smooth, Staircase, Steps
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import is_unimodal
from leastnoise.errors import InvalidParameter, LeastnoiseError, NotPrivate, Unsupported

# An ε smaller than δ by this factor is as good as none: the noise for ε = 0 is within 0.1 %.
_MUCH_LESS = 10_000


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of noise: what it is in a few words, where it is from, and how it is found."""

    about: str
    source: str
    find: Callable[[Problem], Noise]


def noise_of_family(name: object, problem: Problem) -> tuple[Noise, str]:
    """Return the noise of a family that keeps the promise, and the result it rests on.

    Raises:
        InvalidParameter: If there is no such family, or the promise is outside its theorem, which
            is then named.
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise InvalidParameter(
            f"family must be one of {', '.join(FAMILIES)}",
            got=quote(name),
            fix=f"{_meant(name)}Choose one, or leave it out for the least noise.",
        )
    family = FAMILIES[name]
    return family.find(problem), family.source


def _meant(name: object) -> str:
    near = get_close_matches(str(name).lower(), FAMILIES, n=1)
    return f"Did you mean {near[0]}? " if near else ""


def cheapest_known(problem: Problem) -> tuple[Noise, str]:
    """Return the cheapest noise of all families that keep the promise, and its family's name."""
    best: tuple[Fraction, Noise, str] | None = None
    refused: list[LeastnoiseError] = []
    for name in FAMILIES:
        if best and problem.privacy.epsilon * _MUCH_LESS <= problem.privacy.delta:
            break  # the first, uniform noise, is near enough
        try:
            noise = FAMILIES[name].find(problem)
            cost = noise.expected(problem.cost)
            if problem.among == "decreasing" and not is_unimodal(noise):
                continue
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            refused.append(error)
            continue
        if best is None or cost < best[0]:
            best = cost, noise, name
    if best is None:  # rather why a noise that keeps the promise has no cost than who does not keep
        raise max(refused, key=lambda error: isinstance(error, Unsupported))
    return best[1], best[2]


def least_decreasing(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the least decreasing noise at ε = 0, which keeps every (ε, δ) with the same δ."""
    if not problem.privacy.delta:
        raise outside("the uniform noise", "δ > 0", problem.privacy)
    finder = least_on_integers if problem.integer else least_on_line
    return finder(Privacy(delta=problem.privacy.delta), problem.sensitivity, problem.cost)


def _canonical(problem: Problem) -> Noise:
    """Return the canonical noise: on the integers as it is, on the line spread over cells of Δ.

    Private for all moves up to Δ, since H is linear between whole moves. Awan and Vadhan 2023.
    """
    privacy, moved = problem.privacy, problem.sensitivity
    counting = problem.integer and moved == 1
    if not privacy.delta:
        if counting or not privacy.epsilon:
            return geometric(problem)
        if problem.integer:
            raise outside("the canonical noise", "for whole numbers δ > 0 or Δ = 1", privacy)
        return Staircase(moved, Fraction(1, 2), 1 / exponential(privacy.epsilon).lower)
    if not privacy.epsilon and counting:
        return at_epsilon_0(privacy.delta, moved)
    if counting:
        return canonical(privacy)
    law = canonical(privacy, LONGEST_ON_LINE)
    first = -Fraction(len(law.runs), 2)
    spread = Steps(
        [(first + k) * moved for k in range(len(law.runs) + 1)],
        [Fraction(run.weight, law.total) / moved for run in law.runs],
    )
    return rounded(spread, Fraction(1)) if problem.integer else spread


def _cut(problem: Problem) -> Noise:
    noise = cut_staircase(problem)
    return rounded(noise, Fraction(1)) if problem.integer else noise


def _comb(problem: Problem) -> Noise:
    plain = replace(problem, privacy=Privacy(delta=problem.privacy.delta))
    found = (
        None if problem.integer else least_comb(plain.privacy, problem.sensitivity, problem.cost)
    )
    if found is None:
        raise outside(
            "the comb",
            "the cost l2, real answers and δ ≥ 0.62653… (docs/theory/comb.md)",
            problem.privacy,
        )
    return found[0]


def _smooth(finder: Callable[[Problem], Smooth]) -> Callable[[Problem], Noise]:
    """Return the finder for whole numbers too: what is private on the line is so when rounded."""

    def find(problem: Problem) -> Noise:
        noise = finder(problem)
        return Rounded(Fraction(1), noise) if problem.integer else noise

    return find


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "uniform": Family(
            "uniform, with mass at 0 where δ is large",
            "GDGK19, Theorem 2",
            lambda problem: least_decreasing(problem)[0],
        ),
        "comb": Family("three levels, not decreasing", "docs/theory/comb.md", _comb),
        "canonical": Family(
            "as far in as (ε, δ) lets any noise be, in steps of Δ",
            "Awan and Vadhan 2023",
            _canonical,
        ),
        "staircase": Family(
            "falls by e^−ε once in a Δ", "Geng and Viswanath 2016", cheapest_staircase
        ),
        "cut_staircase": Family(
            "a staircase cut off where δ pays for it", "docs/theory/families.md", _cut
        ),
        "geometric": Family(
            "falls by e^(−ε/Δ) from one whole number to the next",
            "Ghosh, Roughgarden and Sundararajan 2012",
            geometric,
        ),
        "laplace": Family(
            "falls by the same factor over equal lengths",
            "Dwork, McSherry, Nissim and Smith 2006; tight at δ > 0",
            _smooth(laplace),
        ),
        "truncated_laplace": Family(
            "Laplace up to a largest size",
            "Geng, Ding, Guo and Kumar 2020, Theorem 1",
            _smooth(truncated_laplace),
        ),
        "gaussian": Family(
            "normal, of the least σ there is", "Balle and Wang 2018, Theorem 8", _smooth(gaussian)
        ),
        "classic_gaussian": Family(
            "normal, σ by the textbook's formula",
            "Dwork and Roth 2014, Theorem A.1",
            _smooth(classic_gaussian),
        ),
    }
)
