"""Gaussian noise that all answers share: together they are one Gaussian release.

Let answers of sensitivity Δᵢ have Gaussian noise of σᵢ. Divide each axis by its σᵢ, and rotate the
axes so that one points along the shift: it has Gaussian noise of σ = 1 with a shift of at most
√Σ(Δᵢ/σᵢ)², and the others have no shift (Dong, Roth and Su 2022, Corollary 3.3). So the guarantee
is satisfied if and only if Σ(Δᵢ/σᵢ)² ≤ 1/s², where s is the smallest σ for one answer of
sensitivity 1 (Balle and Wang 2018, Theorem 8). Each answer has a share xᵢ of this sum, with
σᵢ = s·Δᵢ/√xᵢ, and the xᵢ add up to 1.

For costs wᵢ·E|X|ᵖ with the same p the optimal shares are xᵢ ∝ (wᵢΔᵢᵖ)^(2/(p+2)): each cost is
aᵢ·xᵢ^(−p/2) with aᵢ ∝ wᵢΔᵢᵖ, and at the minimum of the sum all aᵢ·xᵢ^(−p/2−1) are equal (Lagrange).
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
from leastnoise.planning.closed_forms import discretize_shared, find_continuous
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import SHAPE, SHARED, Candidate, Option, PlanProblem, error_width
from leastnoise.planning.search.allocation import TooLittle, apportion, balance, find_smallest
from leastnoise.planning.search.estimates import Estimate

GAUSSIAN = "gaussian"
_SOURCE = "Gaussian noise shared by several answers (Balle and Wang 2018; Dong, Roth and Su 2022)"
_HALF = Fraction(1, 2)
_BITS = 96
_FLOOR = 1e-4
_HAIR = 1 + 1e-6
# The largest ε in the search for an ε that meets the targets.
_LARGEST_EPSILON = Fraction(50)


@dataclass(frozen=True)
class SharedGaussian:
    """Gaussian noise that all answers of a plan share."""

    problem: PlanProblem

    def find_candidate(self) -> Candidate:
        """Return the cheapest shares found, with their noise."""
        families = (query.family for query in self.problem.wanted)
        other = next((family for family in families if family not in (None, GAUSSIAN)), "")
        if other:
            return _rejected(f"an answer must have {other} noise")
        try:
            shares = apportion(Fraction(1), self.shares())
            return self._at([*map(self._sigma, self.problem.wanted, shares)])
        except TooLittle as error:
            return replace(_rejected(error.problem), needs=error.needs)
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            return _rejected(error.problem)

    def shares(self) -> list[float]:
        """Return the shares xᵢ of the answers, in closed form or by a search."""
        wanted, least = self.problem.wanted, self._least()
        if sum(least) > 1:
            raise self._too_little(sum(least))
        if self.problem.only_targets:
            return [x / sum(least) for x in least]
        try:
            return self._balanced(least)
        except (ArithmeticError, ValueError):  # beyond the range of floats
            return [1.0] * len(wanted)

    def _balanced(self, least: list[float]) -> list[float]:
        wanted = self.problem.wanted
        powers = {query.cost.p for query in wanted if isinstance(query.cost, Power)}
        smooth = all(isinstance(query.cost, Power) and not query.integer for query in wanted)
        if smooth and len(powers) == 1 and not self.problem.targets:
            return optimal_shares(wanted, as_float(powers.pop()))
        return balance([self._curve(query) for query in wanted], least, lambda: self.problem.left)

    def _curve(self, query: NumericQuery) -> Callable[[float], float]:
        estimate, sigma = Estimate(query), as_float(self.unit.sigma * query.sensitivity)
        return lambda x: estimate.shared(sigma / math.sqrt(x))

    @cached_property
    def unit(self) -> Gaussian:
        """The Gaussian noise of smallest σ for one answer of sensitivity 1."""
        noise = find_continuous(
            GAUSSIAN, Problem(self.problem.privacy, Fraction(1), l2, integer=False, shape=SHAPE)
        )
        if not isinstance(noise, Gaussian):
            raise Unsupported(
                "shared noise must be Gaussian", got=f"{noise!r}", fix="Use the gaussian family."
            )
        return noise

    def _sigma(self, query: NumericQuery, share: Fraction) -> Fraction:
        wide = self.unit.sigma * query.sensitivity / power(share, _HALF).lower
        return Interval.exact(wide).shortened(_BITS).upper

    def _at(self, sigmas: list[Fraction]) -> Candidate:
        wanted = self.problem.wanted
        noises = list(map(discretize_for, wanted, sigmas))
        costs = tuple(map(self._cost, noises, wanted))
        widths = tuple(map(error_width, noises, wanted))
        epsilon = self.problem.privacy.epsilon
        pairs = zip(wanted, sigmas, strict=True)
        parts = tuple(own_guarantee(epsilon, query, sigma) for query, sigma in pairs)
        option = self.problem.make_option(GAUSSIAN, SHARED, parts, costs, widths)
        return Candidate(option, lambda: tuple(map(build_mechanism, wanted, sigmas, parts)))

    def _cost(self, noise: LatticeNoise, query: NumericQuery) -> Fraction:
        self.problem.check_time()
        return noise.expected(query.objective)

    def _least(self) -> list[float]:
        wanted = self.problem.wanted
        floor = _FLOOR / len(wanted)
        return [floor if query.error is None else self._needed(query) for query in wanted]

    def _needed(self, query: NumericQuery) -> float:
        """Return the share at which an answer meets its target."""

        def suffices(share: float) -> bool:
            self.problem.check_time()
            noise = discretize_for(query, self._sigma(query, Fraction(share)))
            return query.error is not None and error_width(noise, query) <= query.error

        target = as_float(query.error or Fraction(0)) + (0.5 if query.integer else 0.0)
        usual = as_float(Gaussian(1).quantile((1 + query.confidence) / 2))
        guess = (as_float(self.unit.sigma * query.sensitivity) * usual / target) ** 2
        return find_smallest(suffices, guess) * _HAIR

    def _too_little(self, times: float) -> TooLittle:
        """Return the error with the factor that is missing, and an ε that suffices at this δ."""
        factor = format_rounded(Fraction(math.sqrt(times)), 3)
        shift = power(Fraction(times), _HALF).upper / self.unit.sigma
        profile = Profile(Gaussian(1), sensitivity=Interval.exact(shift).shortened(_BITS).upper)
        low, high = self.problem.privacy.epsilon, _LARGEST_EPSILON
        message = f"the targets need noise that is narrower by a factor of {factor}"
        if profile.delta(high) > self.problem.privacy.delta:
            return TooLittle(message)
        for _ in range(24):
            middle = (low + high) / 2
            suffices = profile.delta(middle) <= self.problem.privacy.delta
            low, high = (low, middle) if suffices else (middle, high)
        return TooLittle(message, high)


def optimal_shares(wanted: tuple[NumericQuery, ...], p: float) -> list[float]:
    """Return xᵢ ∝ (wᵢΔᵢᵖ)^(2/(p+2)), which add up to 1, for costs of the same power p."""
    parts = [
        (as_float(query.weight) * as_float(query.sensitivity) ** p) ** (2 / (p + 2))
        for query in wanted
    ]
    return [part / sum(parts) for part in parts]


def discretize_for(query: NumericQuery, sigma: Fraction) -> LatticeNoise:
    """Return the discretized Gaussian noise of an answer."""
    return discretize_shared(Gaussian(sigma), query.sensitivity, integer=query.integer)


def own_guarantee(epsilon: Fraction, query: NumericQuery, sigma: Fraction) -> Privacy:
    """Return the guarantee of one answer by itself: its δ at the total ε, rounded up."""
    own = Profile(Gaussian(sigma), sensitivity=query.sensitivity).delta(epsilon)
    return Privacy(epsilon, max(Fraction(format_rounded(own, 6, ROUND_CEILING)), LEAST_DELTA))


def build_mechanism(query: NumericQuery, sigma: Fraction, privacy: Privacy) -> Mechanism:
    """Return the mechanism of an answer, with the guarantee that it satisfies by itself."""
    discrete = discretize_for(query, sigma)
    noise: Noise = discrete if query.integer else Gaussian(sigma)
    certificate = Certificate.of(noise, privacy, query.sensitivity, query.objective, source=_SOURCE)
    certificate.verify()
    discretized = Discretized(discrete, query.objective)
    return Mechanism(privacy, query.sensitivity, noise, certificate, discretized, query.integer)


def _rejected(why: str) -> Candidate:
    return Candidate(Option(GAUSSIAN, SHARED, refused=why))
