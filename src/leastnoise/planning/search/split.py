"""Split the guarantee among the answers: search for the shares, and compute the cost."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property

from leastnoise.calibration import FAMILIES, Approximation
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Points, Power, Threshold
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.mechanism import Mechanism
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    EACH,
    Candidate,
    Figures,
    NoiseCache,
    Option,
    OutOfTime,
    PlanProblem,
    calibrate_query,
)
from leastnoise.planning.search.allocation import (
    Curve,
    TooLittle,
    balance,
    find_crossing,
    find_smallest,
    make_guarantees,
)
from leastnoise.planning.search.estimates import (
    LEAST,
    Estimate,
    estimated_family,
)

# The closed forms for the cheapest noise of an answer, and the factor of estimates to try.
_CLOSED = ("staircase", "truncated_laplace", "canonical", "cut_staircase", "uniform")
_NEAR = 1.3
# A cut staircase is not tried if the cut saves less than this part of the cost.
_GAIN = 1e-4
# The uncertainty of the ratio of two estimates: for powers, and for other costs.
_DOUBTS = (1.02, 1.25)
# The smallest part of an even share, and a factor that exceeds the rounding of parts.
_FLOOR = 1e-3
_HAIR = 1 + 1e-6
# The number of times that ε and δ are divided in turn.
_TURNS = 3
_BEYOND_FLOATS = (ArithmeticError, ValueError)

Shares = tuple[list[float], list[float]]


def split_families() -> tuple[str, ...]:
    """Return the families for which a guarantee is split; Gaussian noise is shared instead."""
    return tuple(n for n, family in FAMILIES.items() if not family.is_gaussian and n != "comb")


@dataclass(frozen=True)
class SplitSearch:
    """A search for the cheapest split of a guarantee among the answers of a plan."""

    problem: PlanProblem
    noises: NoiseCache
    _proposed: dict[tuple[tuple[Approximation, bool], ...], Shares] = field(default_factory=dict)

    def find_candidate(self, family: str) -> Candidate:
        """Return the cheapest split found for a family: by the search, or an even query."""
        names = [query.family or family for query in self.problem.wanted]
        try:
            return self._cheapest(family, names)
        except TooLittle as error:
            return Candidate(Option(family, EACH, refused=error.problem), needs=error.needs)
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            return Candidate(Option(family, EACH, refused=error.problem))

    def estimate(self, family: str) -> float:
        """Return the estimated cost of a family under an even split, or infinity."""
        names = [query.family or family for query in self.problem.wanted]
        try:
            return self._estimate_cost(names, self._even(names))
        except _BEYOND_FLOATS:
            return math.inf

    @property
    def hardly_cut(self) -> bool:
        """Whether cutting off a staircase saves almost nothing under an even split.

        False if a cost is a Python function, because an uncut staircase then has no proved cost.
        """
        many = len(self.problem.wanted)
        if any(map(_only_called, self.problem.wanted)):
            return False
        epsilon, spent = (whole / many for whole in self._whole)
        return epsilon > 0 and _cut_gain(epsilon, spent) < _GAIN

    def _cheapest(self, family: str, names: list[str]) -> Candidate:
        level, tried = self._even(names), []
        try:
            tried = [self._shares(names)]
            if (
                not self.problem.targets
                and level not in tried
                and self._close(names, level, *tried)
            ):
                tried.append(level)
            found = [self._at(family, names, self._guarantees(shares)) for shares in tried]
        except OutOfTime:
            if family != LEAST:
                raise
            return self._at_last(names, [*tried[:1], level])
        return min(found, key=lambda candidate: candidate.option.cost or Fraction(0))

    def _at_last(self, names: list[str], tried: list[Shares]) -> Candidate:
        """Return the first possible split of some, without a time limit."""
        for shares in tried[:-1]:
            with suppress(InvalidParameter, NotPrivate, Unsupported):
                return self._at(LEAST, names, self._guarantees(shares), hurry=False)
        return self._at(LEAST, names, self._guarantees(tried[-1]), hurry=False)

    def _close(self, names: list[str], level: Shares, found: Shares) -> bool:
        """Return whether an even split could be as cheap as the one found."""
        try:
            estimates = [self._estimate_cost(names, shares) for shares in (level, found)]
        except _BEYOND_FLOATS:
            return True
        plain = all(isinstance(query.objective, Power) for query in self.problem.wanted)
        return estimates[0] <= _DOUBTS[not plain] * estimates[1]

    def _at(
        self, family: str, names: list[str], parts: tuple[Privacy, ...], *, hurry: bool = True
    ) -> Candidate:
        wanted, chosen = self.problem.wanted, []
        for part in zip(names, wanted, parts, strict=True):
            if hurry:
                self.problem.check_time()
            chosen.append(self._choose(*part))
        costs, widths = (
            tuple(noise.cost for noise in chosen),
            tuple(noise.width for noise in chosen),
        )
        option = self.problem.make_option(family, EACH, parts, costs, widths)
        return Candidate(option, lambda: self._build(family, chosen, parts))

    def _build(
        self, family: str, chosen: Sequence[Figures], parts: tuple[Privacy, ...]
    ) -> tuple[Mechanism, ...]:
        """Return the chosen mechanisms; for a single answer, those of calibrate if cheaper."""
        wanted = self.problem.wanted
        if family == LEAST and len(wanted) == 1 and not self.problem.targets:
            least = calibrate_query(wanted[0], parts[0], wanted[0].family)
            if least.discretized.cost <= chosen[0].cost:
                return (least,)
        pairs = zip(wanted, parts, chosen, strict=True)
        return tuple(calibrate_query(query, part, noise.family) for query, part, noise in pairs)

    def _choose(self, name: str, query: NumericQuery, part: Privacy) -> Figures:
        """Return the noise of a family for an answer; for LEAST, the best of several families."""
        if name != LEAST:
            return self.noises.figures(name, query, part)
        found: list[Figures] = []
        rejections: list[Exception] = []
        for family in self._near(query, part):
            if found and not self.problem.left:  # one is enough
                break
            try:
                found.append(self.noises.figures(family, query, part))
            except (InvalidParameter, NotPrivate, Unsupported) as error:
                rejections.append(error)
        if not found:
            raise rejections[0]
        meeting = [noise for noise in found if query.error is None or noise.width <= query.error]
        if query.cost is None:
            return min(meeting or found, key=lambda noise: noise.width)
        return min(meeting or found, key=lambda noise: noise.cost)

    def _near(self, query: NumericQuery, part: Privacy) -> list[str]:
        """Return the families that may be the cheapest for a guarantee, by estimate."""
        try:
            return self._estimated_near(query, as_float(part.epsilon), _spent(part.delta))
        except _BEYOND_FLOATS:
            return list(_CLOSED)

    def _estimated_near(self, query: NumericQuery, epsilon: float, spent: float) -> list[str]:
        if epsilon and len(self.problem.wanted) > 1 and _cut_gain(epsilon, spent) < _GAIN:
            return ["truncated_laplace", "cut_staircase"] if _only_called(query) else ["staircase"]
        estimate, costs = Estimate(query), {}
        for name in _CLOSED:
            if (epsilon or estimated_family(name).uses_delta) and (
                spent or estimated_family(name).needs_epsilon
            ):
                known = query.cost is not None
                figure = estimate.cost if known else estimate.width
                costs[name] = figure(name, epsilon, spent)
        lowest = min(costs.values(), default=0.0)
        return [name for name, cost in costs.items() if cost <= _NEAR * lowest] or list(_CLOSED)

    @cached_property
    def _estimates(self) -> list[Estimate]:
        return [Estimate(query) for query in self.problem.wanted]

    @property
    def _whole(self) -> tuple[float, float]:
        return as_float(self.problem.privacy.epsilon), _spent(self.problem.privacy.delta)

    def _guarantees(self, shares: Shares) -> tuple[Privacy, ...]:
        return make_guarantees(self.problem.privacy, *shares)

    def _users(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the indices of the answers that use ε, and of those that use δ."""
        privacy, numbers = self.problem.privacy, range(len(names))
        return (
            [i for i in numbers if privacy.epsilon and estimated_family(names[i]).needs_epsilon],
            [i for i in numbers if privacy.delta and estimated_family(names[i]).uses_delta],
        )

    def _even(self, names: Sequence[str]) -> Shares:
        shares: Shares = ([0.0] * len(names), [0.0] * len(names))
        for part, users in zip(shares, self._users(names), strict=True):
            for i in users:
                part[i] = 1 / len(users)
        return shares

    def _estimate_cost(self, names: Sequence[str], shares: Shares) -> float:
        epsilon, spent = self._whole
        parts = zip(self._estimates, names, *shares, strict=True)
        return sum(estimate.cost(name, epsilon * e, spent * d) for estimate, name, e, d in parts)

    def _shares(self, names: list[str]) -> Shares:
        """Return the proposed shares; even ones beyond the range of floats."""
        level = self._even(names)
        if len(names) == 1:
            return level
        families = [estimated_family(name) for name in names]
        alike = tuple((family.approximation, family.stairs) for family in families)
        if alike in self._proposed:
            return self._proposed[alike]
        least = self._least(names, level)
        try:
            shares = self._balance(names, level, least)
        except _BEYOND_FLOATS:
            return level
        if not self.problem.targets:  # the share that a target needs depends on the family
            self._proposed[alike] = shares
        return shares

    def _balance(self, names: list[str], level: Shares, least: Shares) -> Shares:
        users, shares = self._users(names), (list(level[0]), list(level[1]))
        if self.problem.only_targets:
            return _normalize(least[0], level[0]), _normalize(least[1], level[1])
        for turn in range(_TURNS if users[0] and users[1] else 1):
            for which in (0, 1):
                ruled = self._ruled(names, which) if self.problem.targets else users[which]
                if not ruled:
                    continue
                rest = sum(shares[which][i] for i in ruled)
                curves = [self._curve(names[i], i, shares, which, rest) for i in ruled]
                low = [least[which][i] / rest for i in ruled]
                found = balance(curves, low, lambda: self.problem.left)
                for i, share in zip(ruled, found, strict=True):
                    shares[which][i] = share * rest
            if turn and self.problem.targets:
                break
        return shares

    def _ruled(self, names: list[str], which: int) -> list[int]:
        with_epsilon, with_delta = self._users(names)
        return [i for i in with_delta if i not in with_epsilon] if which else with_epsilon

    def _curve(self, name: str, i: int, shares: Shares, which: int, rest: float) -> Curve:
        """Return the estimated cost of an answer by its share of ``rest``, of ε or of δ."""
        epsilon, spent = self._whole
        estimate, (e, d) = self._estimates[i], (shares[0][i], shares[1][i])
        if which:
            return lambda x: estimate.cost(name, epsilon * e, spent * rest * x)
        return lambda x: estimate.cost(name, epsilon * rest * x, spent * d)

    def _least(self, names: list[str], level: Shares) -> Shares:
        """Return the minimum shares: those that targets need, and almost nothing for others."""
        users = self._users(names)
        least: Shares = ([0.0] * len(names), [0.0] * len(names))
        for which in (0, 1):
            for i in users[which]:
                least[which][i] = _FLOOR * level[which][i]
            ruled = self._ruled(names, which)
            for i in ruled:
                if self.problem.wanted[i].error is not None:
                    least[which][i] = self._needed(names[i], i, level, which)
            there = sum(level[which][i] for i in ruled)
            wanted = sum(least[which][i] for i in ruled)
            if wanted > there:
                raise self._too_little(wanted, which)
        return least

    def _needed(self, name: str, i: int, level: Shares, which: int) -> float:
        """Return the share of ε, or of −ln(1−δ), at which an answer meets its target."""
        query, estimate, whole = self.problem.wanted[i], self._estimates[i], self._whole
        other = self._guarantees(level)[i].delta if not which else Fraction(0)
        target = as_float(query.error or Fraction(0)) + (0.5 if query.integer else 0.0)

        def about(amount: float) -> float:
            spent = amount if which else whole[1] * level[1][i]
            return estimate.width(name, 0.0 if which else amount, spent)

        rejections: list[Exception] = []

        def enough(amount: float) -> bool:
            self.problem.check_time()
            part = Privacy(0, _failing(amount)) if which else Privacy(Fraction(amount), other)
            try:
                return query.error is not None and self._width(name, query, part) <= query.error
            except (InvalidParameter, NotPrivate, Unsupported) as error:
                rejections.append(error)
                return False

        guess = find_crossing(about, target, 700.0 if which else 1e4)
        try:
            return find_smallest(enough, guess) * _HAIR / whole[which]
        except TooLittle:
            error = TooLittle("a target is below the error of its noise")
            raise rejections[-1] if rejections else error from None

    def _width(self, name: str, query: NumericQuery, part: Privacy) -> Fraction:
        if name == LEAST:
            return self._choose(name, query, part).width
        return self.noises.width(name, query, part)

    def _too_little(self, wanted: float, which: int) -> TooLittle:
        times = format_rounded(Fraction(wanted), 3, ROUND_CEILING)
        if which:
            return TooLittle(f"the targets need {times} times the available −ln(1−δ)")
        return TooLittle(
            f"the targets need {times} times the available ε",
            self.problem.privacy.epsilon * Fraction(wanted * _HAIR),
        )


def _normalize(parts: list[float], otherwise: list[float]) -> list[float]:
    whole = sum(parts)
    return [part / whole for part in parts] if whole else otherwise


def _spent(delta: Fraction) -> float:
    return -math.log1p(-as_float(delta))


def _only_called(query: NumericQuery) -> bool:
    return not isinstance(query.objective, Power | Points | Threshold)


def _cut_gain(epsilon: float, spent: float) -> float:
    """Return the part of the cost that cutting noise off saves (Geng et al. 2020, for |x|)."""
    if not spent:
        return 0.0
    ratio = math.expm1(min(epsilon, 600.0)) / (-2 * math.expm1(-spent))
    return math.log1p(ratio) / ratio


def _failing(spent: float) -> Fraction:
    return Fraction(format_rounded(Fraction(-math.expm1(-spent)), 12))
