"""A lower bound for equal, independent noise of several counts that share one guarantee.

Let k counts have independent noise N of one symmetric distribution, let one person change each of
them by at most 1, and let all of them together satisfy (ε, δ). Write x_j = P(N > j) and
F_r(x) = P(Bin(k, x) ≥ r). If all true counts rise by 1, at least r of the k answers exceed the old
true count by more than j + 1 with probability F_r(x_j), and else with probability F_r(x_(j+1)). So

    F_r(x_j) ≤ e^ε·F_r(x_(j+1)) + δ    for all r = 1 … k and j ≥ 0, and
    F_r(1 − x_0) ≤ e^ε·F_r(x_0) + δ,   because P(N ≥ 0) = 1 − P(N < 0) = 1 − x_0.

F_r increases. So numbers T_j with F_r(1 − T_0) ≥ e^ε·F_r(T_0) + δ for some r, and with
e^ε·F_r(T_(j+1)) + δ ≤ F_r(T_j) for some r, are at most x_j: every such noise has at least these
tails, and costs at least as much for every cost that does not decrease. At k = 1 they are the tails
of canonical noise.

If for each of the 2^k patterns of signs a person can change all k counts by 1 at once, with these
signs, the bound holds for noise that is not symmetric too (docs/theory/lemma-1.md, Proposition 1).
Otherwise it need not hold: if all shifts have one sign, it does not.

Floats propose T_j and r. The inequalities above are verified in integers, with e^ε rounded up.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from leastnoise.core.exact import exponential
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost

# Some of the counts satisfy the same guarantee, so the bound for fewer counts holds too.
_MOST_RELEASES = 64
# Binary digits of tails, and the smallest and the number of tails that are used.
_BITS, _LEAST, _MOST_TAILS = 160, 2.0**-80, 2000
_ALL = 1 << _BITS
# The relative distances below a proposed tail at which tails are tried.
_BELOW = (1e-13, 1e-11, 1e-8, 1e-4)
_NEWTON_STEPS = 12
# Floats below 1 differ from it by more than this.
_SMALLEST_FIRST = 2.0**-50


def bound_of_counts(cost: Cost, privacy: Privacy, releases: int) -> Fraction:
    """Return a lower bound of the expected cost of each of ``releases`` counts.

    Args:
        cost: The cost of an error.
        privacy: The guarantee of all counts together.
        releases: The number of counts, each of sensitivity 1 with equal independent noise.

    >>> from leastnoise.costs import l1
    >>> round(float(bound_of_counts(l1, Privacy(1, "1e-6"), 5)), 3)
    4.685
    """
    tails = _find_tails(privacy, min(releases, _MOST_RELEASES))
    floors = [cost.value(Fraction(size)).lower for size in range(len(tails) + 1)]
    for size in reversed(range(len(tails))):  # non-decreasing, as the cost is
        floors[size] = min(floors[size], floors[size + 1])
    rises = (after - before for before, after in pairwise(floors))
    return floors[0] + sum(2 * tail * rise for tail, rise in zip(tails, rises, strict=True))


@lru_cache(maxsize=64)
def _find_tails(privacy: Privacy, releases: int) -> tuple[Fraction, ...]:
    """Return lower bounds of P(N > 0), P(N > 1), …; none for the few that are too small."""
    tests = _Tests(privacy, releases)
    tail = tests.first_tail()
    tails: list[Fraction] = []
    while tail and len(tails) < _MOST_TAILS:
        tails.append(Fraction(tail, _ALL))
        tail = tests.next_tail(tail)
    return tuple(tails)


@dataclass
class _Tests:
    """The tests "at least r of the answers exceed a threshold", for all r.

    Tails are integers, as multiples of 2^−_BITS.

    Attributes:
        privacy: The guarantee of all releases together.
        releases: The number of releases, k.
        rank: The r that proved the last tail, where the search for the next one starts.
    """

    privacy: Privacy
    releases: int
    rank: int = 0

    def first_tail(self) -> int:
        """Return a T_0 with F_r(1 − T_0) ≥ e^ε·F_r(T_0) + δ for some r, or 0 if not found."""
        ranks = range(1, self.releases + 1)
        return self._prove({rank: self._propose_first(rank) for rank in ranks}, _ALL)

    def next_tail(self, tail: int) -> int:
        """Return a T' with e^ε·F_r(T') + δ ≤ F_r(tail) for some r, or 0 if the search fails.

        The best r changes slowly along the tails, so those near the last one are tried first.
        """
        chance = tail / _ALL
        near = range(max(1, self.rank - 3), min(self.releases, self.rank + 1) + 1)
        for ranks in (near, range(1, self.releases + 1)):
            proved = self._prove({rank: self._propose_next(chance, rank) for rank in ranks}, tail)
            if proved:
                return proved
        return 0

    def _prove(self, proposals: dict[int, float], before: int) -> int:
        """Return the largest proposed tail that is verified, or 0.

        ``before`` is the tail that it follows, or _ALL, where it is the first one, T_0.
        """
        for rank in sorted(proposals, key=lambda rank: proposals[rank], reverse=True):
            for tail in _below(proposals[rank]):
                if self._implies(before - tail if before == _ALL else before, tail, rank):
                    self.rank = rank
                    return tail
        return 0

    def _implies(self, tail: int, further: int, rank: int) -> bool:
        """Return whether F_r(tail) ≥ e^ε·F_r(further) + δ, in integers."""
        here, there = (self._exceed(each, rank) for each in (tail, further))
        slack = here - self.privacy.delta * (1 << (_BITS * self.releases))
        return slack >= exponential(self.privacy.epsilon).upper * there

    def _exceed(self, tail: int, rank: int) -> int:
        """Return F_r(tail), exactly, as a multiple of 2^−(_BITS·k)."""
        count, rest = self.releases, _ALL - tail
        total, power = 0, tail**rank
        for successes in range(rank, count + 1):
            total = total * rest + math.comb(count, successes) * power
            power *= tail
        return total

    def _propose_first(self, rank: int) -> float:
        """Return about the root of F_r(1 − x) = e^ε·F_r(x) + δ, which has one below 1/2."""
        factor, delta = math.exp(min(700.0, float(self.privacy.epsilon))), float(self.privacy.delta)
        low, high = 0.0, 0.5
        for _ in range(60):
            middle = (low + high) / 2
            if middle < _SMALLEST_FIRST:
                return 0.0
            sides = (math.exp(self._log_exceed(each, rank)) for each in (1 - middle, middle))
            above, below = sides
            low, high = (middle, high) if above - factor * below > delta else (low, middle)
        return low

    def _propose_next(self, tail: float, rank: int) -> float:
        """Return about F_r⁻¹((F_r(tail) − δ)/e^ε), by Newton's method in logarithms; 0 if none."""
        target = self._log_exceed(tail, rank)
        if self.privacy.delta:
            part = float(self.privacy.delta) / math.exp(max(target, -700.0))
            if part >= 1:
                return 0.0
            target += math.log1p(-part)
        target -= float(self.privacy.epsilon)
        place = tail
        for _ in range(_NEWTON_STEPS):
            reached = self._log_exceed(place, rank)
            # d log F/d log x = r·C(k, r)·x^r·(1−x)^(k−r) / F
            slope = rank * math.exp(self._log_term(place, rank) - reached)
            place *= math.exp((target - reached) / slope)
            if not _LEAST < place < tail:
                return 0.0
        return place

    def _log_exceed(self, chance: float, rank: int) -> float:
        """Return log F_r(chance), about."""
        odds, term, total = chance / (1 - chance), 1.0, 1.0
        for successes in range(rank, self.releases):
            term *= odds * (self.releases - successes) / (successes + 1)
            total += term
        return self._log_term(chance, rank) + math.log(total)

    def _log_term(self, chance: float, rank: int) -> float:
        """Return the logarithm of P(Bin(k, chance) = r), about."""
        ways = math.log(math.comb(self.releases, rank))
        return ways + rank * math.log(chance) + (self.releases - rank) * math.log1p(-chance)


def _below(proposed: float) -> Iterator[int]:
    """Go through tails a little below a proposed one."""
    if proposed > _LEAST:
        exact = Fraction(proposed)
        for part in _BELOW:
            yield math.floor(exact * (1 - Fraction(part)) * _ALL)
