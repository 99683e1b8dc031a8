"""Gaussian noise that all answers share: together they are one Gaussian noise.

With noises of σᵢ on answers that move by up to Δᵢ, divide each axis by its σᵢ and turn the axes so
that one points along the move: there is one Gaussian noise of σ = 1 moved by at most
√Σ(Δᵢ/σᵢ)², and others that do not move (Dong, Roth and Su 2022, Corollary 3.3). So the promise is
kept just if Σ(Δᵢ/σᵢ)² ≤ 1/s², where s is the least σ for one answer that moves by 1 (Balle and Wang
2018, Theorem 8). Each answer has a share xᵢ of that, σᵢ = s·Δᵢ/√xᵢ, and the xᵢ add up to 1.

For costs wᵢ·E|X|ᵖ with the same p the best shares are xᵢ ∝ (wᵢΔᵢᵖ)^(2/(p+2)): a cost is then
aᵢ·xᵢ^(−p/2) with aᵢ ∝ wᵢΔᵢᵖ, and where the sum is least all aᵢ·xᵢ^(−p/2−1) are equal (Lagrange).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property

from leastnoise.accounting import Profile
from leastnoise.calibration import Problem
from leastnoise.certificate import Certificate
from leastnoise.core.basic_composition import LEAST_DELTA
from leastnoise.core.exact import Interval, as_float, format_rounded, power
from leastnoise.core.noise import Gaussian, LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Power, l2
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.mechanism import Discretized, Mechanism
from leastnoise.planning.closed_forms import drawn_of, on_line
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import SHAPE, SHARED, Asked, Candidate, Option, reach
from leastnoise.planning.search.allocation import TooLittle, apportion, balance, smallest
from leastnoise.planning.search.estimates import Estimate

GAUSSIAN = "gaussian"
_SOURCE = "Gaussian noise shared by several answers (Balle and Wang 2018; Dong, Roth and Su 2022)"
_HALF = Fraction(1, 2)
_BITS = 96
_FLOOR = 1e-4
_HAIR = 1 + 1e-6
# ε that targets would need is looked for up to here.
_LARGEST_EPSILON = Fraction(50)


@dataclass(frozen=True)
class SharedGaussian:
    """Gaussian noise shared by all wanted answers."""

    asked: Asked

    def candidate(self) -> Candidate:
        """Return the cheapest shares that are found, with what is drawn for them."""
        other = next((w.family for w in self.asked.wanted if w.family not in (None, GAUSSIAN)), "")
        if other:
            return _refused(f"an answer is to have {other} noise")
        try:
            shares = apportion(Fraction(1), self.shares())
            return self._at([*map(self._sigma, self.asked.wanted, shares)])
        except TooLittle as error:
            return replace(_refused(error.problem), needs=error.needs)
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            return _refused(error.problem)

    def shares(self) -> list[float]:
        """Return the shares xᵢ of the answers: in closed form, or searched for."""
        wanted, least = self.asked.wanted, self._least()
        if sum(least) > 1:
            raise self._too_little(sum(least))
        if self.asked.only_targets:
            return [x / sum(least) for x in least]
        try:
            return self._balanced(least)
        except (ArithmeticError, ValueError):  # beyond what floats hold
            return [1.0] * len(wanted)

    def _balanced(self, least: list[float]) -> list[float]:
        wanted = self.asked.wanted
        powers = {one.cost.p for one in wanted if isinstance(one.cost, Power)}
        smooth = all(isinstance(one.cost, Power) and not one.integer for one in wanted)
        if smooth and len(powers) == 1 and not self.asked.targets:
            return best_shares(wanted, as_float(powers.pop()))
        return balance([self._curve(one) for one in wanted], least, lambda: self.asked.left)

    def _curve(self, one: NumericQuery) -> Callable[[float], float]:
        estimate, sigma = Estimate(one), as_float(self.unit.sigma * one.sensitivity)
        return lambda x: estimate.shared(sigma / math.sqrt(x))

    @cached_property
    def unit(self) -> Gaussian:
        """The least Gaussian noise for one answer that moves by 1."""
        found = on_line(
            GAUSSIAN, Problem(self.asked.privacy, Fraction(1), l2, integer=False, shape=SHAPE)
        )
        if not isinstance(found, Gaussian):
            raise Unsupported("Gaussian noise is shared", got=f"{found!r}")
        return found

    def _sigma(self, one: NumericQuery, share: Fraction) -> Fraction:
        wide = self.unit.sigma * one.sensitivity / power(share, _HALF).lower
        return Interval.exact(wide).shortened(_BITS).upper

    def _at(self, sigmas: list[Fraction]) -> Candidate:
        wanted = self.asked.wanted
        laws = list(map(drawn_for, wanted, sigmas))
        costs = tuple(map(self._cost, laws, wanted))
        widths = tuple(map(reach, laws, wanted))
        epsilon = self.asked.privacy.epsilon
        parts = tuple(alone(epsilon, one, s) for one, s in zip(wanted, sigmas, strict=True))
        option = self.asked.option(GAUSSIAN, SHARED, parts, costs, widths)
        return Candidate(option, lambda: tuple(map(made, wanted, sigmas, parts)))

    def _cost(self, law: LatticeNoise, one: NumericQuery) -> Fraction:
        self.asked.in_time()
        return law.expected(one.objective)

    def _least(self) -> list[float]:
        wanted = self.asked.wanted
        floor = _FLOOR / len(wanted)
        return [floor if one.error is None else self._needed(one) for one in wanted]

    def _needed(self, one: NumericQuery) -> float:
        """Return the share with which an answer meets its target."""

        def enough(share: float) -> bool:
            self.asked.in_time()
            law = drawn_for(one, self._sigma(one, Fraction(share)))
            return one.error is not None and reach(law, one) <= one.error

        target = as_float(one.error or Fraction(0)) + (0.5 if one.integer else 0.0)
        usual = as_float(Gaussian(1).quantile((1 + one.confidence) / 2))
        guess = (as_float(self.unit.sigma * one.sensitivity) * usual / target) ** 2
        return smallest(enough, guess) * _HAIR

    def _too_little(self, times: float) -> TooLittle:
        """Say how much more the targets need, and which ε would do at this δ."""
        said = format_rounded(Fraction(math.sqrt(times)), 3)
        move = power(Fraction(times), _HALF).upper / self.unit.sigma
        profile = Profile(Gaussian(1), sensitivity=Interval.exact(move).shortened(_BITS).upper)
        low, high = self.asked.privacy.epsilon, _LARGEST_EPSILON
        message = f"the targets need noise {said} times as narrow"
        if profile.delta(high) > self.asked.privacy.delta:
            return TooLittle(message)
        for _ in range(24):
            middle = (low + high) / 2
            enough = profile.delta(middle) <= self.asked.privacy.delta
            low, high = (low, middle) if enough else (middle, high)
        return TooLittle(message, high)


def best_shares(wanted: tuple[NumericQuery, ...], p: float) -> list[float]:
    """Return xᵢ ∝ (wᵢΔᵢᵖ)^(2/(p+2)), which add up to 1, for costs of the same power p."""
    parts = [
        (as_float(one.weight) * as_float(one.sensitivity) ** p) ** (2 / (p + 2)) for one in wanted
    ]
    return [part / sum(parts) for part in parts]


def drawn_for(one: NumericQuery, sigma: Fraction) -> LatticeNoise:
    """Return what is drawn for an answer."""
    return drawn_of(Gaussian(sigma), one.sensitivity, integer=one.integer)


def alone(epsilon: Fraction, one: NumericQuery, sigma: Fraction) -> Privacy:
    """Return what one answer keeps by itself: the ε of all, and its own δ there, rounded up."""
    own = Profile(Gaussian(sigma), sensitivity=one.sensitivity).delta(epsilon)
    return Privacy(epsilon, max(Fraction(format_rounded(own, 6, ROUND_CEILING)), LEAST_DELTA))


def made(one: NumericQuery, sigma: Fraction, privacy: Privacy) -> Mechanism:
    """Return the mechanism, held to the promise that it keeps by itself."""
    law = drawn_for(one, sigma)
    noise: Noise = law if one.integer else Gaussian(sigma)
    certificate = Certificate.of(noise, privacy, one.sensitivity, one.objective, source=_SOURCE)
    certificate.verify()
    drawn = Discretized(law, one.objective)
    return Mechanism(privacy, one.sensitivity, noise, certificate, drawn, one.integer)


def _refused(why: str) -> Candidate:
    return Candidate(Option(GAUSSIAN, SHARED, refused=why))
