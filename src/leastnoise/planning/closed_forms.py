"""What families of noise cost by formula, for one of several equal releases; without a certificate.

For searches and curves only: noise that is to be drawn is calibrated, which proves its guarantee.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Problem
from leastnoise.core.basic_composition import joint_sensitivity, split_evenly
from leastnoise.core.noise import Rounded, Smooth
from leastnoise.errors import InvalidParameter, Unsupported

# Noise of many steps is left out of the search over many releases below this ε of one release:
# it then costs as much as truncated Laplace noise, within a thousandth, and takes long.
_MANY_STEPS = Fraction(1, 16)


def one_of(problem: Problem, releases: int, family: str | None = None) -> Problem:
    """Return the question for one of several releases; a Gaussian's is for all of them."""
    if family is not None and FAMILIES[family].is_gaussian:
        return replace(problem, sensitivity=joint_sensitivity(problem.sensitivity, releases))
    return replace(problem, privacy=split_evenly(problem.privacy, releases))


def gaussian_ahead(problem: Problem, releases: int) -> bool:
    """Tell whether the Gaussian is the cheapest of the closed forms for so many releases."""
    cost = closed_cost("gaussian", problem, releases)
    if cost is None:
        return False
    rivals = {name: family for name, family in FAMILIES.items() if not family.is_gaussian}
    others = [name for name, family in rivals.items() if not family.many_steps]
    if problem.privacy.epsilon / releases >= _MANY_STEPS:
        # Last, because they take longest and one that is ahead is enough.
        others += [name for name, family in rivals.items() if family.many_steps]
    for name in others:
        other = closed_cost(name, problem, releases)
        if other is not None and other <= cost:
            return False
    return True


def closed_cost(family: str, problem: Problem, releases: int) -> Fraction | None:
    """Return what a family costs in each of so many releases; None where it cannot keep it."""
    one = one_of(problem, releases, family)
    try:
        if FAMILIES[family].is_gaussian and problem.integer:
            return Rounded(Fraction(1), on_line(family, one)).expected(problem.cost)
        return FAMILIES[family].find(one).expected(problem.cost)
    except (InvalidParameter, Unsupported):
        return None


def on_line(family: str, problem: Problem) -> Smooth:
    """Return the smooth noise of a family for a question that is taken to be of real answers."""
    noise = FAMILIES[family].find(replace(problem, integer=False))
    if not isinstance(noise, Smooth):
        raise Unsupported(
            "releases share a promise under smooth noise only",
            got=f"{noise!r}",
        )
    return noise


def drawn_of(noise: Smooth, sensitivity: Fraction, *, integer: bool) -> Rounded:
    """Return what is drawn of noise that answers share: on the integers, or the lattice of Δ.

    On the lattice each answer moves by whole steps, and the noise is stretched as much as that move
    is longer than Δ, so that Δ/σ stays as it is.
    """
    return Rounded(Fraction(1), noise) if integer else noise.discretize(sensitivity)


# From which number of releases on the Gaussian is the cheapest is looked for up to here.
MOST_RELEASES = 10_000


def first_release(ahead: Callable[[int], bool]) -> int | None:
    """Return the least k ≤ 10⁴ at which something holds that goes on holding, or None.

    By doubling, then halving.
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
