"""Narrow noise whose answers together reveal less than the sum of their guarantees.

With Laplace noises that keep (εᵢ, 0) each, all answers keep (Σεᵢ, 0), and with some δ less than
that sum: how much less is worked out from what is drawn (:func:`leastnoise.compose`). So all εᵢ of
a split are raised by one factor, as far as the δ of all answers together allows. This gains where
splitting and sharing cost about the same: where the answers are few, δ is hardly used, and where
they are many, Gaussian noise does better.
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
from leastnoise.planning.options import COMPOSED, Asked, Candidate, Laws, Option, calibrate_query

# Noises that keep a promise of δ = 0, so that no output proves anything outright.
NARROWED = ("laplace", "staircase")
# More different answers than this are not composed: the time grows with their number.
MOST_COMPOSED = 12
_DIGITS = 6
# The factor is looked for up to here, to this part of itself, with at most so many compositions.
_LARGEST = 2.0
_FINE = 1.0005
_TRIES = 8


def narrow(asked: Asked, laws: Laws, split: Option) -> Candidate:
    """Return the noises of a split, all narrowed by the largest factor that is found."""
    family, wanted = split.family, asked.wanted

    def promises(factor: float) -> tuple[Privacy, ...]:
        more = Fraction(factor)
        return tuple(Privacy(_down(part.epsilon * more)) for part in split.promises)

    def delta(factor: float) -> Fraction:
        asked.in_time()
        pairs = zip(wanted, promises(factor), strict=True)
        drawn = [_profile(laws.drawn(family, one, own), one) for one, own in pairs]
        return compose(drawn).delta(asked.privacy.epsilon)

    try:
        parts = promises(largest(delta, asked.privacy.delta))
        pairs = list(zip(wanted, parts, strict=True))
        found = [laws.figures(family, one, part) for one, part in pairs]
        costs, widths = tuple(one.cost for one in found), tuple(one.width for one in found)
        option = asked.option(family, COMPOSED, parts, costs, widths)
    except (InvalidParameter, NotPrivate, Unsupported) as error:
        return Candidate(Option(family, COMPOSED, refused=error.problem))
    return Candidate(option, lambda: tuple(calibrate_query(one, own, family) for one, own in pairs))


def largest(delta: Callable[[float], Fraction], most: Fraction) -> float:
    """Return about the largest factor from 1 on whose δ is at most ``most``; it rises.

    By straight lines through ln δ, which bends little, and by halving where that is of no use.
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
    """Return the next factor to try, strictly between one that is good and one that is not."""
    middle = math.sqrt(good * bad)
    low, high, wanted = (as_float(x) for x in (known.get(good, 0), known.get(bad, 0), most))
    if 0 < low < high and wanted:
        rise = (math.log(wanted) - math.log(low)) / (math.log(high) - math.log(low))
        # A little below the line's guess: one that is good and near is the aim.
        middle = good + (bad - good) * min(max(rise * 0.98, 0.02), 0.98)
    return middle


def _profile(law: LatticeNoise, one: NumericQuery) -> Profile:
    shift = effective_sensitivity(one.sensitivity, law.step, integer=one.integer)
    return Profile(law, sensitivity=shift)


def _down(number: Fraction) -> Fraction:
    return Fraction(format_rounded(number, _DIGITS, ROUND_FLOOR))
