"""Gaussian noise that all answers share: together they are one Gaussian release.

Gaussian noise of σᵢ = Δᵢ/μᵢ costs μᵢ², and costs add up (:mod:`leastnoise.core.gaussian_cost`).
Each answer has a share xᵢ of the largest M² that implies the guarantee, so σᵢ = Δᵢ/(M·√xᵢ).

For costs wᵢ·E|X|ᵖ with the same p the optimal shares are xᵢ ∝ (wᵢΔᵢᵖ)^(2/(p+2)): each cost is
aᵢ·xᵢ^(−p/2) with aᵢ ∝ wᵢΔᵢᵖ, and at the minimum of the sum all aᵢ·xᵢ^(−p/2−1) are equal (Lagrange).
Other shares are found from estimates (:mod:`leastnoise.planning.estimates`).
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.gaussian_cost import GaussianCost, find_caps
from leastnoise.core.noise import Gaussian
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.mechanism import Mechanism, half_width
from leastnoise.planning.estimates import expected_cost, gaussian_size
from leastnoise.planning.gaussian_noise import build_gaussian
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import SHARED, Candidate, PlanProblem, map_distinct, option_of
from leastnoise.planning.shares import TooLittle, apportion, balance

GAUSSIAN = "gaussian"
# The shares of M² add up to a little less, because the costs of noise are rounded up.
_ROUNDING = 1 - Fraction(1, 1 << 50)
# The smallest part of an even share, and the first and the last amount to widen a share by.
_FLOOR = 1e-4
_BUMP = 1e-6
_MOST_BUMPS = 16


def share(problem: PlanProblem) -> Candidate:
    """Return Gaussian noise that all answers share."""
    try:
        mechanisms = _SharedGaussian.of(problem).build()
        option = option_of(GAUSSIAN, SHARED, problem, mechanisms)
        problem.check_targets(option.half_widths)
    except (InvalidParameter, NotPrivate, Unsupported) as error:
        return Candidate.from_error(GAUSSIAN, SHARED, error)
    return Candidate(option, mechanisms)


@dataclass(frozen=True)
class _SharedGaussian:
    """The answers of a plan, and the M² that they share."""

    problem: PlanProblem
    square: Fraction

    @classmethod
    def of(cls, problem: PlanProblem) -> "_SharedGaussian":
        families = (query.family for query in problem.queries)
        other = next((family for family in families if family not in (None, GAUSSIAN)), "")
        if other:
            raise InvalidParameter(f"An answer must have {other} noise", fix="Omit its family.")
        if not problem.privacy.delta:
            raise InvalidParameter("Gaussian noise requires δ > 0", fix="Use δ > 0.")
        privacy = problem.privacy
        caps = privacy.cost if isinstance(privacy, AllocatedPrivacy) else find_caps(privacy)
        return cls(problem, caps.square * _ROUNDING)

    def build(self) -> tuple[Mechanism, ...]:
        """Return the mechanisms of the answers."""
        squares = apportion(self.square, self.find_shares())
        return map_distinct(self._build_one, self.problem.queries, squares)

    def find_shares(self) -> list[float]:
        """Return the shares of the answers, which add up to 1."""
        queries = self.problem.queries
        even = [1 / len(queries)] * len(queries)
        if len(set(map(NumericQuery.kind, queries))) == 1 and not self.problem.targets:
            return even
        least = map_distinct(self._find_least, queries)
        if sum(least) > 1:
            raise self._too_little(sum(least))
        if self.problem.only_targets:
            return [x / sum(least) for x in least]
        mu = math.sqrt(as_float(self.square))
        curves = [
            lambda x, query=query: expected_cost(query, gaussian_size(mu * math.sqrt(x)))
            for query in queries
        ]
        try:
            return balance(curves, least)
        except (ArithmeticError, ValueError):  # beyond the range of floats
            return even

    def _build_one(self, query: NumericQuery, square: Fraction) -> Mechanism:
        return build_gaussian(
            GaussianCost(square),
            sensitivity=query.sensitivity,
            integer=query.integer,
            delta=self.problem.privacy.delta,
            objective=query.objective,
        )

    def _find_least(self, query: NumericQuery) -> float:
        """Return the share that the target of an answer needs, and almost nothing for others."""
        if query.error is None:
            return _FLOOR / len(self.problem.queries)
        # Rounded noise stays within an integer e if the noise itself stays within e + ½.
        target = query.error // 1 + Fraction(1, 2) if query.integer else query.error
        usual = Gaussian(1).quantile((1 + query.confidence) / 2)
        exact = (usual * query.sensitivity / target) ** 2 / self.square
        bump = _BUMP
        for _ in range(_MOST_BUMPS):
            needed = exact * Fraction(1 + bump)
            mechanism = self._build_one(query, needed * self.square)
            if half_width(mechanism, query.confidence) <= query.error:
                return as_float(needed) * (1 + _BUMP)
            bump *= 2
        raise TooLittle("a target is below the error of its noise")

    def _too_little(self, needed: float) -> TooLittle:
        factor = math.sqrt(needed)
        enough = GaussianCost(self.square * Fraction(needed)).epsilon(self.problem.privacy.delta)
        times = format_rounded(Fraction(factor), 3, ROUND_CEILING)
        message = f"the targets need noise that is narrower by a factor of {times}"
        return TooLittle(message, enough, factor)
