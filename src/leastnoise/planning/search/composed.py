"""Narrow noise whose answers together reveal less than the sum of their guarantees.

If each answer has Laplace noise that satisfies (εᵢ, 0), all answers satisfy (Σεᵢ, 0), and a smaller
ε with some δ > 0, which is computed from the discretized noise (:func:`leastnoise.compose`). So all
εᵢ of a split are raised by one factor, as far as the total δ allows. This helps if splitting and
sharing cost about the same: with few answers δ is hardly used, and with many answers Gaussian noise
is cheaper.
"""

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.accounting import Profile, compose
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.lattice import effective_sensitivity
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    COMPOSED,
    Candidate,
    NoiseCache,
    Option,
    PlanProblem,
    calibrate_query,
)

# Families with δ = 0, so that no output is impossible for a neighbor.
NARROWED = ("laplace", "staircase")
# The largest number of distinct answers to compose, because the time grows with their number.
MOST_COMPOSED = 12
_DIGITS = 6
# The largest factor, its relative precision, and the largest number of compositions.
_LARGEST = 2.0
_FINE = 1.0005
_TRIES = 8


def narrow(problem: PlanProblem, noises: NoiseCache, split: Option) -> Candidate:
    """Return the candidate with the noise of a split, narrowed by the largest factor found."""
    family, wanted = split.family, problem.wanted

    def scaled(factor: float) -> tuple[Privacy, ...]:
        exact = Fraction(factor)
        return tuple(Privacy(_down(part.epsilon * exact)) for part in split.promises)

    def delta(factor: float) -> Fraction:
        problem.check_time()
        pairs = zip(wanted, scaled(factor), strict=True)
        profiles = [_profile(noises.discretized(family, query, own), query) for query, own in pairs]
        return compose(profiles).delta(problem.privacy.epsilon)

    try:
        parts = scaled(find_largest(delta, problem.privacy.delta))
        pairs = list(zip(wanted, parts, strict=True))
        figures = [noises.figures(family, query, part) for query, part in pairs]
        costs = tuple(figure.cost for figure in figures)
        widths = tuple(figure.width for figure in figures)
        option = problem.make_option(family, COMPOSED, parts, costs, widths)
    except (InvalidParameter, NotPrivate, Unsupported) as error:
        return Candidate(Option(family, COMPOSED, refused=error.problem))
    return Candidate(
        option, lambda: tuple(calibrate_query(query, own, family) for query, own in pairs)
    )


def find_largest(delta: Callable[[float], Fraction], most: Fraction) -> float:
    """Return about the largest factor ≥ 1 whose δ, which increases, is at most ``most``.

    The search interpolates ln δ, which is nearly linear, and bisects if that is impossible.
    """
    good, bad, tried = 1.0, _LARGEST, 1.1
    known: dict[float, Fraction] = {}
    for _ in range(_TRIES):
        known[tried] = delta(tried)
        if known[tried] <= most:
            good = tried
        else:
            bad = tried
        if bad / good < _FINE or good == _LARGEST:
            break
        tried = _between(good, bad, known, most)
    return good


def _between(good: float, bad: float, known: dict[float, Fraction], most: Fraction) -> float:
    """Return the next factor to try, strictly between a good and a bad one."""
    middle = math.sqrt(good * bad)
    low, high, target = (as_float(x) for x in (known.get(good, 0), known.get(bad, 0), most))
    if 0 < low < high and target:
        rise = (math.log(target) - math.log(low)) / (math.log(high) - math.log(low))
        # Slightly below the interpolated factor, because the aim is a good factor.
        middle = good + (bad - good) * min(max(rise * 0.98, 0.02), 0.98)
    return middle


def _profile(noise: LatticeNoise, query: NumericQuery) -> Profile:
    shift = effective_sensitivity(query.sensitivity, noise.step, integer=query.integer)
    return Profile(noise, sensitivity=shift)


def _down(number: Fraction) -> Fraction:
    return Fraction(format_rounded(number, _DIGITS, ROUND_FLOOR))
