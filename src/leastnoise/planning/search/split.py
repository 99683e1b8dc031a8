"""Give each answer a part of the guarantee: how to split it, and what that costs."""

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
    Asked,
    Candidate,
    Figures,
    Laws,
    Option,
    OutOfTime,
    calibrate_query,
)
from leastnoise.planning.search.allocation import (
    Curve,
    TooLittle,
    balance,
    crossing,
    promises,
    smallest,
)
from leastnoise.planning.search.estimates import (
    LEAST,
    Estimate,
    taken_for,
)

# What the least noise of an answer is chosen from where nothing is solved, if near by estimate.
_CLOSED = ("staircase", "truncated_laplace", "canonical", "cut_staircase", "uniform")
_NEAR = 1.3
# Where cutting a staircase off gains less than this part of the cost, it is not tried.
_GAIN = 1e-4
# How cheap one split is beside another may be off by as much: for powers, and for other costs.
_DOUBTS = (1.02, 1.25)
# No answer gets less than this part of an even share. Parts are rounded by less than the hair.
_FLOOR = 1e-3
_HAIR = 1 + 1e-6
# ε and δ are parted in turns, so often.
_TURNS = 3
_BEYOND_FLOATS = (ArithmeticError, ValueError)

Shares = tuple[list[float], list[float]]


def split_families() -> tuple[str, ...]:
    """Return the families that a promise is parted for; Gaussian noise is shared instead."""
    return tuple(n for n, family in FAMILIES.items() if not family.is_gaussian and n != "comb")


@dataclass(frozen=True)
class SplitSearch:
    """All ways to split one promise over the wanted answers, a family each."""

    asked: Asked
    laws: Laws
    _proposed: dict[tuple[tuple[Approximation, bool], ...], Shares] = field(default_factory=dict)

    def candidate(self, family: str) -> Candidate:
        """Return the cheapest found split for a family: the searched one, or an even one."""
        names = [one.family or family for one in self.asked.wanted]
        try:
            return self._cheapest(family, names)
        except TooLittle as error:
            return Candidate(Option(family, EACH, refused=error.problem), needs=error.needs)
        except (InvalidParameter, NotPrivate, Unsupported) as error:
            return Candidate(Option(family, EACH, refused=error.problem))

    def estimate(self, family: str) -> float:
        """Return about what a family costs under an even split; infinite where it has none."""
        names = [one.family or family for one in self.asked.wanted]
        try:
            return self._estimated(names, self._even(names))
        except _BEYOND_FLOATS:
            return math.inf

    @property
    def hardly_cut(self) -> bool:
        """Whether cutting a staircase off gains next to nothing under an even split.

        Not where a cost can only be called, for then a staircase that is not cut has none.
        """
        many = len(self.asked.wanted)
        if any(map(_only_called, self.asked.wanted)):
            return False
        epsilon, spent = (whole / many for whole in self._whole)
        return epsilon > 0 and _cut_gain(epsilon, spent) < _GAIN

    def _cheapest(self, family: str, names: list[str]) -> Candidate:
        level, tried = self._even(names), []
        try:
            tried = [self._shares(names)]
            if not self.asked.targets and level not in tried and self._close(names, level, *tried):
                tried.append(level)
            found = [self._at(family, names, self._promises(shares)) for shares in tried]
        except OutOfTime:
            if family != LEAST:
                raise
            return self._at_last(names, [*tried[:1], level])
        return min(found, key=lambda one: one.option.cost or Fraction(0))

    def _at_last(self, names: list[str], tried: list[Shares]) -> Candidate:
        """Return the first of some splits that can be had, however long that takes."""
        for shares in tried[:-1]:
            with suppress(InvalidParameter, NotPrivate, Unsupported):
                return self._at(LEAST, names, self._promises(shares), hurry=False)
        return self._at(LEAST, names, self._promises(tried[-1]), hurry=False)

    def _close(self, names: list[str], level: Shares, found: Shares) -> bool:
        """Tell whether an even split could be as cheap as the one that was found."""
        try:
            estimates = [self._estimated(names, shares) for shares in (level, found)]
        except _BEYOND_FLOATS:
            return True
        plain = all(isinstance(one.objective, Power) for one in self.asked.wanted)
        return estimates[0] <= _DOUBTS[not plain] * estimates[1]

    def _at(
        self, family: str, names: list[str], parts: tuple[Privacy, ...], *, hurry: bool = True
    ) -> Candidate:
        wanted, chosen = self.asked.wanted, []
        for one in zip(names, wanted, parts, strict=True):
            if hurry:
                self.asked.in_time()
            chosen.append(self._chosen(*one))
        costs, widths = tuple(one.cost for one in chosen), tuple(one.width for one in chosen)
        option = self.asked.option(family, EACH, parts, costs, widths)
        return Candidate(option, lambda: self._made(family, chosen, parts))

    def _made(
        self, family: str, chosen: Sequence[Figures], parts: tuple[Privacy, ...]
    ) -> tuple[Mechanism, ...]:
        """Return what was chosen, proved; of a single answer what calibrate finds by itself."""
        wanted = self.asked.wanted
        if family == LEAST and len(wanted) == 1 and not self.asked.targets:
            least = calibrate_query(wanted[0], parts[0], wanted[0].family)
            if least.discretized.cost <= chosen[0].cost:
                return (least,)
        pairs = zip(wanted, parts, chosen, strict=True)
        return tuple(calibrate_query(one, part, noise.family) for one, part, noise in pairs)

    def _chosen(self, name: str, one: NumericQuery, part: Privacy) -> Figures:
        """Return what a family draws for an answer; of the least, the best of several."""
        if name != LEAST:
            return self.laws.figures(name, one, part)
        found: list[Figures] = []
        refused: list[Exception] = []
        for family in self._near(one, part):
            if found and not self.asked.left:  # one will do
                break
            try:
                found.append(self.laws.figures(family, one, part))
            except (InvalidParameter, NotPrivate, Unsupported) as error:
                refused.append(error)
        if not found:
            raise refused[0]
        meeting = [noise for noise in found if one.error is None or noise.width <= one.error]
        if one.cost is None:
            return min(meeting or found, key=lambda noise: noise.width)
        return min(meeting or found, key=lambda noise: noise.cost)

    def _near(self, one: NumericQuery, part: Privacy) -> list[str]:
        """Return the families that may be the cheapest for a promise, by estimate."""
        try:
            return self._estimated_near(one, as_float(part.epsilon), _spent(part.delta))
        except _BEYOND_FLOATS:
            return list(_CLOSED)

    def _estimated_near(self, one: NumericQuery, epsilon: float, spent: float) -> list[str]:
        if epsilon and len(self.asked.wanted) > 1 and _cut_gain(epsilon, spent) < _GAIN:
            return ["truncated_laplace", "cut_staircase"] if _only_called(one) else ["staircase"]
        estimate, costs = Estimate(one), {}
        for name in _CLOSED:
            if (epsilon or taken_for(name).uses_delta) and (spent or taken_for(name).needs_epsilon):
                known = one.cost is not None
                figure = estimate.cost if known else estimate.width
                costs[name] = figure(name, epsilon, spent)
        lowest = min(costs.values(), default=0.0)
        return [name for name, cost in costs.items() if cost <= _NEAR * lowest] or list(_CLOSED)

    @cached_property
    def _estimates(self) -> list[Estimate]:
        return [Estimate(one) for one in self.asked.wanted]

    @property
    def _whole(self) -> tuple[float, float]:
        return as_float(self.asked.privacy.epsilon), _spent(self.asked.privacy.delta)

    def _promises(self, shares: Shares) -> tuple[Privacy, ...]:
        return promises(self.asked.privacy, *shares)

    def _users(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return which answers make use of ε, and which of δ."""
        privacy, numbers = self.asked.privacy, range(len(names))
        return (
            [i for i in numbers if privacy.epsilon and taken_for(names[i]).needs_epsilon],
            [i for i in numbers if privacy.delta and taken_for(names[i]).uses_delta],
        )

    def _even(self, names: Sequence[str]) -> Shares:
        shares: Shares = ([0.0] * len(names), [0.0] * len(names))
        for part, users in zip(shares, self._users(names), strict=True):
            for i in users:
                part[i] = 1 / len(users)
        return shares

    def _estimated(self, names: Sequence[str], shares: Shares) -> float:
        epsilon, spent = self._whole
        parts = zip(self._estimates, names, *shares, strict=True)
        return sum(one.cost(name, epsilon * e, spent * d) for one, name, e, d in parts)

    def _shares(self, names: list[str]) -> Shares:
        """Return the proposed shares; even ones where floats do not reach."""
        level = self._even(names)
        if len(names) == 1:
            return level
        families = [taken_for(name) for name in names]
        alike = tuple((family.approximation, family.stairs) for family in families)
        if alike in self._proposed:
            return self._proposed[alike]
        least = self._least(names, level)
        try:
            shares = self._balanced(names, level, least)
        except _BEYOND_FLOATS:
            return level
        if not self.asked.targets:  # what a target needs is of the family itself
            self._proposed[alike] = shares
        return shares

    def _balanced(self, names: list[str], level: Shares, least: Shares) -> Shares:
        users, shares = self._users(names), (list(level[0]), list(level[1]))
        if self.asked.only_targets:
            return _scaled(least[0], level[0]), _scaled(least[1], level[1])
        for turn in range(_TURNS if users[0] and users[1] else 1):
            for which in (0, 1):
                ruled = self._ruled(names, which) if self.asked.targets else users[which]
                if not ruled:
                    continue
                rest = sum(shares[which][i] for i in ruled)
                curves = [self._curve(names[i], i, shares, which, rest) for i in ruled]
                low = [least[which][i] / rest for i in ruled]
                found = balance(curves, low, lambda: self.asked.left)
                for i, share in zip(ruled, found, strict=True):
                    shares[which][i] = share * rest
            if turn and self.asked.targets:
                break
        return shares

    def _ruled(self, names: list[str], which: int) -> list[int]:
        with_epsilon, with_delta = self._users(names)
        return [i for i in with_delta if i not in with_epsilon] if which else with_epsilon

    def _curve(self, name: str, i: int, shares: Shares, which: int, rest: float) -> Curve:
        """Return about what an answer costs by its share of ``rest`` of one of the two."""
        epsilon, spent = self._whole
        estimate, (e, d) = self._estimates[i], (shares[0][i], shares[1][i])
        if which:
            return lambda x: estimate.cost(name, epsilon * e, spent * rest * x)
        return lambda x: estimate.cost(name, epsilon * rest * x, spent * d)

    def _least(self, names: list[str], level: Shares) -> Shares:
        """Return the least shares: what the targets need, and next to nothing for others."""
        users = self._users(names)
        least: Shares = ([0.0] * len(names), [0.0] * len(names))
        for which in (0, 1):
            for i in users[which]:
                least[which][i] = _FLOOR * level[which][i]
            ruled = self._ruled(names, which)
            for i in ruled:
                if self.asked.wanted[i].error is not None:
                    least[which][i] = self._needed(names[i], i, level, which)
            there = sum(level[which][i] for i in ruled)
            wanted = sum(least[which][i] for i in ruled)
            if wanted > there:
                raise self._too_little(wanted, which)
        return least

    def _needed(self, name: str, i: int, level: Shares, which: int) -> float:
        """Return the share of ε, or of −ln(1−δ), with which an answer meets its target."""
        one, estimate, whole = self.asked.wanted[i], self._estimates[i], self._whole
        other = self._promises(level)[i].delta if not which else Fraction(0)
        target = as_float(one.error or Fraction(0)) + (0.5 if one.integer else 0.0)

        def about(amount: float) -> float:
            spent = amount if which else whole[1] * level[1][i]
            return estimate.width(name, 0.0 if which else amount, spent)

        refused: list[Exception] = []

        def enough(amount: float) -> bool:
            self.asked.in_time()
            part = Privacy(0, _failing(amount)) if which else Privacy(Fraction(amount), other)
            try:
                return one.error is not None and self._width(name, one, part) <= one.error
            except (InvalidParameter, NotPrivate, Unsupported) as error:
                refused.append(error)
                return False

        guess = crossing(about, target, 700.0 if which else 1e4)
        try:
            return smallest(enough, guess) * _HAIR / whole[which]
        except TooLittle:
            raise refused[-1] if refused else TooLittle("a target is out of its reach") from None

    def _width(self, name: str, one: NumericQuery, part: Privacy) -> Fraction:
        if name == LEAST:
            return self._chosen(name, one, part).width
        return self.laws.width(name, one, part)

    def _too_little(self, wanted: float, which: int) -> TooLittle:
        times = format_rounded(Fraction(wanted), 3, ROUND_CEILING)
        if which:
            return TooLittle(f"the targets need {times} times the −ln(1−δ) that there is")
        return TooLittle(
            f"the targets need {times} times the ε that there is",
            self.asked.privacy.epsilon * Fraction(wanted * _HAIR),
        )


def _scaled(parts: list[float], otherwise: list[float]) -> list[float]:
    whole = sum(parts)
    return [part / whole for part in parts] if whole else otherwise


def _spent(delta: Fraction) -> float:
    return -math.log1p(-as_float(delta))


def _only_called(one: NumericQuery) -> bool:
    return not isinstance(one.objective, Power | Points | Threshold)


def _cut_gain(epsilon: float, spent: float) -> float:
    """Return what part of its cost a noise saves by being cut off (Geng et al. 2020: |x|)."""
    if not spent:
        return 0.0
    ratio = math.expm1(min(epsilon, 600.0)) / (-2 * math.expm1(-spent))
    return math.log1p(ratio) / ratio


def _failing(spent: float) -> Fraction:
    return Fraction(format_rounded(Fraction(-math.expm1(-spent)), 12))
