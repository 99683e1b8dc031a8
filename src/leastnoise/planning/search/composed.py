"""Noises whose answers tell less together than their promises add up to: narrowed until δ is met.

With Laplace noises that keep (εᵢ, 0) each, all answers keep (Σεᵢ, 0), and with some δ less than
that sum: how much less is worked out from what is drawn (:func:`leastnoise.compose`). So all εᵢ of
a split are raised by one factor, as far as the δ of all answers together allows. This gains where
splitting and sharing cost about the same: where the answers are few, δ is hardly used, and where
they are many, Gaussian noise does better.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.accounting import Profile, compose
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.lattice import effective_sensitivity
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.planning.options import COMPOSED, Asked, Candidate, Laws, Option, calibrated
from leastnoise.planning.wanted import Wanted

# Noises that keep a promise of δ = 0, so that no output proves anything outright.
NARROWED = ("laplace", "staircase")
# More different answers than this are not composed: the time grows with their number.
MOST_COMPOSED = 12
_DIGITS = 6
# The factor is looked for up to here, to this part of itself, with at most so many compositions.
_LARGEST = 2.0
_FINE = 1.0005
_TRIES = 8


@dataclass(frozen=True)
class Narrowing:
    """Noises of one family, each private with an ε of its own, proved together."""

    asked: Asked
    laws: Laws

    def candidate(self, split: Option) -> Candidate:
        """Return the noises of a split, all narrowed by the largest factor that is found."""
        try:
            factor = largest(lambda times: self._delta(split, times), self.asked.privacy.delta)
            return self._at(split.family, self._promises(split, factor))
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            return Candidate(Option(split.family, COMPOSED, refused=error.rule))

    def _promises(self, split: Option, factor: float) -> tuple[Privacy, ...]:
        """Return what each answer then promises by itself."""
        more = Fraction(factor)
        return tuple(Privacy(_down(part.epsilon * more)) for part in split.promises)

    def _delta(self, split: Option, factor: float) -> Fraction:
        """Return the δ that all answers are proved to keep together."""
        self.asked.in_time()
        pairs = zip(self.asked.wanted, self._promises(split, factor), strict=True)
        drawn = [_profile(self.laws.drawn(split.family, one, own), one) for one, own in pairs]
        return compose(drawn).delta(self.asked.privacy.epsilon)

    def _at(self, family: str, parts: tuple[Privacy, ...]) -> Candidate:
        pairs = list(zip(self.asked.wanted, parts, strict=True))
        found = [self.laws.figures(family, one, part) for one, part in pairs]
        costs, widths = tuple(one.cost for one in found), tuple(one.width for one in found)
        if self.asked.missed(widths):
            raise InvalidParameter("it misses a target by a hair")
        option = Option(family, COMPOSED, self.asked.score(costs, widths), parts, costs, widths)
        return Candidate(option, lambda: tuple(calibrated(one, own, family) for one, own in pairs))


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


def _profile(law: LatticeNoise, one: Wanted) -> Profile:
    """Return the profile of what is drawn, against the move that it protects from."""
    shift = effective_sensitivity(one.sensitivity, law.step, integer=one.integer)
    return Profile(law, sensitivity=shift)


def _down(number: Fraction) -> Fraction:
    return Fraction(format_rounded(number, _DIGITS, ROUND_FLOOR))
