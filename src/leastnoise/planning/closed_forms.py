"""The costs of families of noise by their formulas, for one of several equal releases.

They are for searches and curves only and have no certificates. Noise for releases is calibrated,
which proves its guarantee.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Problem
from leastnoise.core.basic_composition import joint_sensitivity, split_evenly
from leastnoise.core.noise import Rounded, Smooth
from leastnoise.errors import InvalidParameter, Unsupported

# Below this ε per release, the search over many releases omits noise of many steps: it then costs
# the same as truncated Laplace noise within a thousandth, and takes long to compute.
_MANY_STEPS = Fraction(1, 16)


def problem_per_release(problem: Problem, releases: int, family: str | None = None) -> Problem:
    """Return the problem of one of several releases; for Gaussian noise, of all together."""
    if family is not None and FAMILIES[family].is_gaussian:
        return replace(problem, sensitivity=joint_sensitivity(problem.sensitivity, releases))
    return replace(problem, privacy=split_evenly(problem.privacy, releases))


def is_gaussian_cheapest(problem: Problem, releases: int) -> bool:
    """Return whether Gaussian noise is the cheapest closed form for a number of releases."""
    cost = closed_cost("gaussian", problem, releases)
    if cost is None:
        return False
    rivals = {name: family for name, family in FAMILIES.items() if not family.is_gaussian}
    others = [name for name, family in rivals.items() if not family.many_steps]
    if problem.privacy.epsilon / releases >= _MANY_STEPS:
        # Last, because they take longest and one cheaper family is enough.
        others += [name for name, family in rivals.items() if family.many_steps]
    for name in others:
        other = closed_cost(name, problem, releases)
        if other is not None and other <= cost:
            return False
    return True


def closed_cost(family: str, problem: Problem, releases: int) -> Fraction | None:
    """Return the cost of a family in each of several releases.

    None if the family cannot satisfy the guarantee.
    """
    part = problem_per_release(problem, releases, family)
    try:
        if FAMILIES[family].is_gaussian and problem.integer:
            return Rounded(Fraction(1), find_continuous(family, part)).expected(problem.cost)
        return FAMILIES[family].find(part).expected(problem.cost)
    except (InvalidParameter, Unsupported):
        return None


def find_continuous(family: str, problem: Problem) -> Smooth:
    """Return the continuous noise of a family for a problem, as if its answers were real."""
    noise = FAMILIES[family].find(replace(problem, integer=False))
    if not isinstance(noise, Smooth):
        raise Unsupported(
            "noise that several releases share must have a smooth density",
            got=f"{noise!r}",
            fix="Use Gaussian noise.",
        )
    return noise


def discretize_shared(noise: Smooth, sensitivity: Fraction, *, integer: bool) -> Rounded:
    """Discretize noise that several answers share, on the integers or on the lattice of Δ.

    On the lattice each answer shifts by full steps. The noise is stretched by the factor by which
    the largest shift exceeds Δ, so that Δ/σ does not change.
    """
    return Rounded(Fraction(1), noise) if integer else noise.discretize(sensitivity)


# The largest number of releases in the search for where Gaussian noise becomes the cheapest.
MOST_RELEASES = 10_000


def find_first_count(ahead: Callable[[int], bool]) -> int | None:
    """Return the smallest k ≤ 10⁴ with ``ahead(k)``, or None; assumes that it then stays true.

    The search doubles k, then bisects.
    """
    low, high = 0, 1
    while not ahead(high):
        if high == MOST_RELEASES:
            return None
        low, high = high, min(2 * high, MOST_RELEASES)
    while high - low > 1:
        middle = (low + high) // 2
        if ahead(middle):
            high = middle
        else:
            low = middle
    return high
