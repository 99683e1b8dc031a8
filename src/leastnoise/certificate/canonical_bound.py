"""A lower bound for all noise of any shape, from one lattice point to a Δ.

Round noise that satisfies (ε, δ) to the multiples of Δ by a rule that is invariant under shifts by
Δ (see :mod:`leastnoise.certificate.lattice_bound`). The rounded noise N satisfies (ε, δ) for shifts
of one step, and may be taken symmetric. Then P(N > k) ≤ e^ε·P(N > k+1) + δ, and also
1 − P(N > 0) = P(N ≥ 0) ≤ e^ε·P(N > 0) + δ. So P(N > k) ≥ T_k with

    T_0 = (1−δ)/(1+e^ε),  T_(k+1) = max(0, e^−ε·(T_k − δ)).

The T_k are the tails of the *canonical* noise (Awan and Vadhan 2023; Awan and Ramasethu 2023). So
all such noise costs at least as much as the canonical noise, for **every** cost that never falls.
On the integers at Δ = 1, where nothing is rounded, the bound is exactly E L(canonical). On the
line, and on the integers at other Δ, it is E L(canonical·Δ) less the sag of L below its chords.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil

from leastnoise.certificate.evidence import certificate_error
from leastnoise.core.exact import Interval, exponential, logarithm
from leastnoise.core.noise import DiscreteStaircase, DiscreteUniform, Rounded, Run, TruncatedLaplace
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Points, Power, Threshold

_UNSEEN_BITS = 96


@dataclass(frozen=True, slots=True)
class CanonicalBound:
    """E L of the canonical noise in steps of Δ, less the sag of L; no sag on integers at Δ = 1."""

    integer: bool
    shape = "any"
    method = "proved by a bound on tail probabilities"

    def prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return the bound; raise if it does not apply."""
        if self.integer and sensitivity.denominator != 1:
            raise certificate_error("the sensitivity of integers is not an integer")
        if not privacy.delta and not privacy.epsilon:
            raise certificate_error("no noise satisfies ε = 0, δ = 0")
        if isinstance(cost, Power | Threshold | Points):  # needed repeatedly, and hashable
            return _prove_cached(self, cost, privacy, sensitivity)
        return self._prove(cost, privacy, sensitivity)

    def _prove(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        if not privacy.epsilon:
            return self._prove_without_epsilon(cost, privacy.delta, sensitivity)
        # (ε, δ) implies (0, (e^ε−1+2δ)/(e^ε+1)): a weak bound, but the only one for too many tails.
        factor = exponential(privacy.epsilon).upper
        weaker = (factor - 1 + 2 * privacy.delta) / (factor + 1)
        return max(
            self._prove_with_epsilon(cost, privacy, sensitivity),
            self._prove_without_epsilon(cost, weaker, sensitivity),
        )

    def _prove_with_epsilon(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return the bound from the tails; at δ = 0 they are those of geometric noise."""
        if not privacy.delta and self._at_points(sensitivity):
            ratio = 1 / exponential(privacy.epsilon).upper
            return DiscreteStaircase(sensitivity, ratio, (Run(0, 1, 1),)).enclose(cost).lower
        if _are_many(privacy, _MOST if self._at_points(sensitivity) else _MANY):
            return self._prove_by_closed_form(cost, sensitivity, *_bound_smooth_tails(privacy))
        far = bound_tails(privacy, exponential(privacy.epsilon).upper)
        floors = [self._find_floor(cost, k * sensitivity, sensitivity) for k in range(len(far) + 1)]
        # Beyond the last floor the table is constant. Made non-decreasing, it can be weighted with
        # the tails.
        for k in reversed(range(len(far))):
            floors[k] = min(floors[k], floors[k + 1])
        rises = (after - before for before, after in pairwise(floors))
        return floors[0] + sum(2 * tail * rise for tail, rise in zip(far, rises, strict=True))

    def _prove_by_closed_form(
        self, cost: Cost, step: Fraction, tails: TruncatedLaplace, weight: Fraction
    ) -> Fraction:
        """Return the bound from the closed form of the tails, if they are too many to add up.

        At the middle of each cell they are those of smooth noise, times a weight. The bound is the
        cost of that noise rounded to the points, and the cost of no error for the other mass.
        """
        noise = Rounded(step, tails.scaled(step))
        # Noise farther out than ``farthest`` is charged the cost there.
        sag = (
            Fraction(0)
            if self._at_points(step)
            else cost.largest_sag(step, int(noise.farthest) * step)
        )
        zero = cost.value(Fraction(0)).lower
        return zero + weight * (noise.enclose(cost).lower - zero) - sag

    def _find_floor(self, cost: Cost, place: Fraction, step: Fraction) -> Fraction:
        """Return a lower bound of the cost of noise rounded to a point (Frame.floors)."""
        low = cost.value(place).lower
        if self._at_points(step):
            return low
        before = cost.sag(max(place - step, Fraction(0)), max(place, step))
        return low - max(before, cost.sag(place, place + step))

    def _prove_without_epsilon(self, cost: Cost, delta: Fraction, step: Fraction) -> Fraction:
        """Return the bound at ε = 0, where each tail falls by δ: uniform noise with a rim."""
        noise = build_at_epsilon_0(delta, step)
        sag = Fraction(0) if self._at_points(step) else cost.largest_sag(step, noise.radius)
        return noise.enclose(cost).lower - sag

    def _at_points(self, step: Fraction) -> bool:
        """Return whether nothing is rounded: on the integers at Δ = 1."""
        return self.integer and step == 1


@lru_cache(maxsize=256)
def _prove_cached(
    bound: CanonicalBound, cost: Cost, privacy: Privacy, sensitivity: Fraction
) -> Fraction:
    return bound._prove(cost, privacy, sensitivity)


def _are_many(privacy: Privacy, number: int) -> bool:
    """Return whether about ``number`` tails or more are positive, by their closed form."""
    if privacy.epsilon > 1:
        return False
    grown, fallen = (exponential(x).upper for x in (privacy.epsilon, privacy.epsilon * number))
    # Without δ all are positive; beyond _UNSEEN_BITS scales they are negligible.
    least = privacy.delta * (grown + 1) if privacy.delta else (grown - 1) / (1 << _UNSEEN_BITS)
    return grown - 1 + 2 * privacy.delta > fallen * least


def _bound_smooth_tails(privacy: Privacy) -> tuple[TruncatedLaplace, Fraction]:
    """Return noise X and a weight with T_k ≥ weight·P(X > k + 1/2).

    The recursion of the tails has the solution T_k = G·e^(−ε(k + 1/2)) − c, while that is
    positive, with c = δ/(e^ε−1) and G = e^(ε/2)·(e^ε−1+2δ)/(e^2ε−1) (its value at k = 0 is T_0).
    That is 2(G−c) times the tail of Laplace noise of scale 1/ε, truncated where it is 0. At δ = 0
    it is never 0, so the noise is truncated where the rest is negligible. Rounding and truncating
    only make the tails smaller.
    """
    epsilon, delta = privacy.epsilon, privacy.delta
    # Including the digits that e^ε − 1 loses.
    bits = 256 + 2 * (1 / epsilon).__ceil__().bit_length()
    grown = exponential(epsilon, bits)
    above = grown - Interval.exact(1)
    rise = above + Interval.exact(2 * delta)
    first = exponential(epsilon / 2, bits) * rise
    first *= (above * (grown + Interval.exact(1))).reciprocal()
    scale = 1 / epsilon
    if not delta:
        return TruncatedLaplace(scale, _UNSEEN_BITS * scale), 2 * first.lower
    last = above.reciprocal().scaled(delta)
    radius = logarithm(first.lower / last.upper).lower * scale
    return TruncatedLaplace(scale, radius), 2 * (first - last).lower


def build_at_epsilon_0(delta: Fraction, step: Fraction) -> DiscreteUniform:
    """Return the canonical noise at ε = 0: level δ, the remainder on the two end points."""
    reach = int((1 / delta - 1) / 2)
    rim = (1 - (2 * reach + 1) * delta) / 2
    total = delta.denominator * rim.denominator
    return DiscreteUniform(step=step, reach=reach, level=int(delta * total), rim=int(rim * total))


def choose_bits(privacy: Privacy) -> int:
    """Return the binary digits of weights with which e^−ε and δ have 192 digits each."""
    return 192 + 3 * ceil(privacy.epsilon) + privacy.delta.denominator.bit_length()


def bound_tails(privacy: Privacy, factor: Fraction) -> list[Fraction]:
    """Return lower bounds of T_0, T_1, … with e^ε ≤ ``factor``, as long as they are positive.

    Tails beyond the first _MOST are omitted, which makes a bound smaller, never false.
    """
    unit = 1 << choose_bits(privacy)
    lost = -(-privacy.delta * unit // 1)
    bounds: list[Fraction] = []
    tail = (1 - privacy.delta) / (1 + factor) * unit // 1
    while tail > 0 and len(bounds) < _MOST:
        bounds.append(Fraction(tail, unit))
        tail = (tail - lost) / factor // 1
    return bounds


# The most tails that are added up: if the bound is exact, and if it is not.
_MOST, _MANY = 2_000, 200
