"""What families of noise cost by their formulas, without a certificate: for searches and curves.

A noise that is to be drawn is calibrated, which proves that it keeps its promise.
"""

from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Question
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.noise import Rounded, Smooth
from leastnoise.planning.releases import SHARED, shared_move, split

# Noise of many steps is left out of the search over many releases below this ε of one release:
# it then costs as much as truncated Laplace noise, within a thousandth, and takes long.
_MANY_STEPS = Fraction(1, 16)
STEPPED = ("canonical", "cut_staircase")


def one_of(asked: Question, releases: int, family: str | None = None) -> Question:
    """Return the question for one of several releases; a Gaussian's is for all of them."""
    if family in SHARED:
        return replace(asked, sensitivity=shared_move(asked.sensitivity, releases))
    return replace(asked, privacy=split(asked.privacy, releases))


def gaussian_ahead(asked: Question, releases: int) -> bool:
    """Tell whether the Gaussian is the cheapest of the closed forms for so many releases."""
    cost = closed_cost("gaussian", asked, releases)
    if cost is None:
        return False
    others = [name for name in FAMILIES if name not in (*SHARED, *STEPPED)]
    if asked.privacy.epsilon / releases >= _MANY_STEPS:
        others += STEPPED  # last, for they take longest and one that is ahead is enough
    for name in others:
        other = closed_cost(name, asked, releases)
        if other is not None and other <= cost:
            return False
    return True


def closed_cost(family: str, asked: Question, releases: int) -> Fraction | None:
    """Return what a family costs in each of so many releases; None where it cannot keep it."""
    one = one_of(asked, releases, family)
    try:
        if family in SHARED and asked.integer:
            return Rounded(Fraction(1), on_line(family, one)).expected(asked.cost)
        return FAMILIES[family].find(one).expected(asked.cost)
    except (InvalidParameter, Unsupported):
        return None


def on_line(family: str, asked: Question) -> Smooth:
    """Return the smooth noise of a family for a question that is taken to be of real answers."""
    noise = FAMILIES[family].find(replace(asked, integer=False))
    if not isinstance(noise, Smooth):
        raise Unsupported(f"releases share a promise under smooth noise only; got {noise!r}.")
    return noise
