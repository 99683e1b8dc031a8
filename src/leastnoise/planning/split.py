"""Split a guarantee: each answer satisfies a part of it with noise of its own.

An answer gets the same share x of ε and of δ. For small parts, noise at (xε, xδ) is that at (ε, δ)
widened by 1/x, so a cost w·E|X|ᵖ is proportional to wΔᵖ/xᵖ, and the optimal shares of answers with
the same p are x ∝ (wΔᵖ)^(1/(p+1)) (Lagrange). Other shares are found from estimates
(:mod:`leastnoise.planning.estimates`).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Effort
from leastnoise.certificate import Certificate
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.noise import LatticeNoise, Noise
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Power
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.mechanism import Discretized, Mechanism, half_width
from leastnoise.planning.estimates import estimated_error, split_cost, split_size
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    EACH,
    Candidate,
    PlanProblem,
    calibrate_query,
    error_width,
    map_distinct,
    option_of,
    problem_of,
)
from leastnoise.planning.shares import (
    TooLittle,
    balance,
    find_smallest,
    make_guarantees,
    round_down,
)

# The names of the split in tables. They are stored in JSON.
AS_ASKED, CHEAPEST, LEAST = "as asked", "cheapest known", "least"
# Up to this ε stairs and other steps save at most 0.3%, and take long to compute.
_SMALL = Fraction(1, 8)
# The solver gains less than 0.2% if δ is at most this, for powers of the error (and 0.01% mostly).
_SMALL_DELTA = Fraction(1, 1000)
# Noise is not truncated if that saves less than this part of the cost.
_GAIN = 1e-4
# The closed forms among which the cheapest is taken if both ε and δ matter.
_CLOSED = ("canonical", "cut_staircase", "staircase", "truncated_laplace", "uniform")
# The smallest part of an even share, and a factor that exceeds the rounding of parts.
_FLOOR = 1e-3
_ROUNDING = 1 + 1e-6
_LARGEST = 700.0
_HALVINGS = 60


def split(problem: PlanProblem) -> Candidate:
    """Return the split with noise in closed form."""
    every_family = all(query.family for query in problem.queries)
    name = AS_ASKED if every_family else CHEAPEST
    try:
        if isinstance(problem.privacy, AllocatedPrivacy):
            raise InvalidParameter(
                "in an allocation, Gaussian accounting applies", fix="Plan for a guarantee."
            )
        parts = find_parts(problem)
        mechanisms = map_distinct(_build, problem.queries, parts, [len(parts) == 1] * len(parts))
        option = option_of(name, EACH, problem, mechanisms)
        problem.check_targets(option.half_widths)
    except (InvalidParameter, NotPrivate, Unsupported) as error:
        return Candidate.from_error(name, EACH, error)
    return Candidate(option, mechanisms, parts)


def solve(problem: PlanProblem, closed: Candidate, seconds: float) -> Candidate:
    """Return a split with the solver's noise wherever it is cheaper.

    For several answers the solver runs where it can gain much: where the part of ε is above 1/8,
    and that of δ is 0 or above 1/1000 or the cost no power of the error. It ends when the time is
    up. The option is called :data:`LEAST` if it ran for all answers.
    """
    ends, single = time.monotonic() + seconds, len(problem.queries) == 1
    skipped: list[NumericQuery] = []
    distinct = len(set(zip(map(NumericQuery.kind, problem.queries), closed.parts, strict=True)))

    def solve_one(query: NumericQuery, part: Privacy, known: Mechanism) -> Mechanism:
        left = ends - time.monotonic()
        if query.family is not None:
            return known
        if left <= 0 or not (single or _is_worth_solving(query, part)):
            skipped.append(query)
            return known
        solved = calibrate_query(query, part, None, Effort(seconds=left / distinct))
        return solved if _is_better(query, solved, known) else known

    if closed.option.family == AS_ASKED:
        return closed
    mechanisms = map_distinct(solve_one, problem.queries, closed.parts, closed.mechanisms)
    name = CHEAPEST if skipped else LEAST
    return replace(closed, option=option_of(name, EACH, problem, mechanisms), mechanisms=mechanisms)


def _is_worth_solving(query: NumericQuery, part: Privacy) -> bool:
    if part.epsilon <= _SMALL:
        return False
    return not 0 < part.delta <= _SMALL_DELTA or not isinstance(query.objective, Power)


def _is_better(query: NumericQuery, solved: Mechanism, known: Mechanism) -> bool:
    width = half_width(solved, query.confidence)
    if query.cost is None:
        return width < half_width(known, query.confidence)
    meets = query.error is None or width <= query.error
    return meets and solved.discretized.cost <= known.discretized.cost


def find_parts(problem: PlanProblem) -> tuple[Privacy, ...]:
    """Return the guarantee of each answer; all together satisfy that of the problem."""
    epsilons, deltas = ([0.0] * len(problem.queries) for _ in range(2))
    for group in _make_groups(problem):
        for i, share in zip(group.members, group.find_shares(), strict=True):
            epsilons[i] = share if group.epsilon else 0.0
            deltas[i] = share * group.part if _uses_delta(problem.queries[i]) else 0.0
    return make_guarantees(problem.privacy, epsilons, deltas)


@dataclass(frozen=True)
class _Group:
    """Answers that divide ε and a part of δ, or only a part of δ, by the same shares.

    Attributes:
        problem: The plan.
        members: The numbers of the answers.
        epsilon: The ε of the group: all of it, or 0.
        part: The part of −ln(1−δ) that the group gets.
    """

    problem: PlanProblem
    members: tuple[int, ...]
    epsilon: Fraction
    part: float

    def find_shares(self) -> list[float]:
        """Return the shares of the answers, which add up to 1."""
        queries = [self.problem.queries[i] for i in self.members]
        even = [1 / len(queries)] * len(queries)
        if len(set(map(NumericQuery.kind, queries))) == 1 and not self.problem.targets:
            return even
        least = map_distinct(self._find_least, queries)
        needed = sum(share for share, query in zip(least, queries, strict=True) if query.error)
        if needed > 1 or sum(least) > 1:
            raise self._too_little(needed)
        if self.problem.only_targets:
            return [share / sum(least) for share in least]
        epsilon, spent = as_float(self.epsilon), self._spent
        curves = [
            lambda x, query=query: split_cost(query, epsilon * x, spent * x) for query in queries
        ]
        try:
            return balance(curves, least)
        except (ArithmeticError, ValueError):  # beyond the range of floats
            return even

    @property
    def _spent(self) -> float:
        return -math.log1p(-as_float(self.problem.privacy.delta)) * self.part

    def _find_least(self, query: NumericQuery) -> float:
        """Return the share that the target of an answer needs, and almost nothing for others."""
        if query.error is None:
            return _FLOOR / len(self.problem.queries)
        if not self.epsilon and not self._spent:
            _find_closed(query, Privacy(0, 0), needs_cost=False)  # raises the error of its family
        error = query.error
        rejections: list[Exception] = []

        def suffices(share: float) -> bool:
            try:
                return error_width(_find_narrowest(query, self._part_at(share)), query) <= error
            except (InvalidParameter, NotPrivate, Unsupported) as rejection:
                rejections.append(rejection)
                return False

        try:
            return find_smallest(suffices, self._guess_share(query)) * _ROUNDING
        except TooLittle:
            if rejections:
                raise rejections[-1] from None
            raise

    def _part_at(self, share: float) -> Privacy:
        delta = round_down(Fraction(-math.expm1(-self._spent * share)))
        return Privacy(round_down(self.epsilon * Fraction(share)), delta)

    def _guess_share(self, query: NumericQuery) -> float:
        """Return the share at which the estimated error is the target."""
        target = as_float(query.error or Fraction(0)) + (0.5 if query.integer else 0.0)
        epsilon, spent = as_float(self.epsilon), self._spent
        low, high = -_LARGEST / 2, math.log(_LARGEST / max(epsilon, spent))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            x = math.exp(middle)
            size = split_size(query.family, epsilon * x, spent * x)
            low, high = (middle, high) if estimated_error(query, size) > target else (low, middle)
        return math.exp(high)

    def _too_little(self, needed: float) -> TooLittle:
        times = format_rounded(Fraction(needed), 3, ROUND_CEILING)
        if not self.epsilon:
            message = f"the targets need {times} times the available −ln(1−δ)"
            return TooLittle(message, factor=needed)
        enough = self.epsilon * Fraction(needed * _ROUNDING)
        return TooLittle(f"the targets need {times} times the available ε", enough, needed)


def _make_groups(problem: PlanProblem) -> list[_Group]:
    """Return the answers that use ε, and those that use only δ; both divide δ by their number."""
    privacy, queries = problem.privacy, problem.queries
    with_epsilon = tuple(
        i for i, query in enumerate(queries) if privacy.epsilon and _needs_epsilon(query)
    )
    others = tuple(i for i in range(len(queries)) if i not in set(with_epsilon))
    users = [sum(_uses_delta(queries[i]) for i in group) for group in (with_epsilon, others)]
    parts = [count / max(sum(users), 1) for count in users]
    groups = (
        _Group(problem, with_epsilon, privacy.epsilon, parts[0]),
        _Group(problem, others, Fraction(0), parts[1]),
    )
    return [group for group in groups if group.members]


def _needs_epsilon(query: NumericQuery) -> bool:
    return query.family is None or FAMILIES[query.family].needs_epsilon


def _uses_delta(query: NumericQuery) -> bool:
    return query.family is None or FAMILIES[query.family].uses_delta


def _build(query: NumericQuery, part: Privacy, single: bool) -> Mechanism:
    """Return the cheapest closed form for an answer that meets its target."""
    if not part.epsilon and not part.delta:  # its family uses nothing of the guarantee
        _find_closed(query, part, needs_cost=False)
    is_optimal = query.family is None and query.error is None and (single or not part.epsilon)
    if query.family is not None or is_optimal:
        return calibrate_query(query, part, query.family)
    # The expectation of a Python function takes long, and bounded noise always has one.
    closed_forms = _find_closed(query, part, needs_cost=type(query.objective) is not Cost)
    meeting = [
        each for each in closed_forms if query.error is None or each.width(query) <= query.error
    ]
    choices = meeting or closed_forms
    if len(choices) == 1:
        best = choices[0]
    elif query.cost is None:
        best = min(choices, key=lambda each: each.width(query))
    else:
        best = min(choices, key=lambda each: each.discrete.expected(query.objective))
    if part.epsilon > _SMALL:
        return calibrate_query(query, best.privacy, best.family)
    return best.build(query)


def _find_narrowest(query: NumericQuery, part: Privacy) -> LatticeNoise:
    """Return the closed form of an answer with the smallest error."""
    closed_forms = _find_closed(query, part, needs_cost=False)
    return min(closed_forms, key=lambda each: each.width(query)).discrete


@dataclass(frozen=True)
class _Closed:
    """Noise of a family, the guarantee that it satisfies, and its discretized form."""

    family: str
    privacy: Privacy
    noise: Noise
    discrete: LatticeNoise

    def width(self, query: NumericQuery) -> Fraction:
        return error_width(self.discrete, query)

    def build(self, query: NumericQuery) -> Mechanism:
        """Return the mechanism. No lower bound is proved, which would take longer than all else."""
        discretized = Discretized(self.discrete, query.objective)
        certificate = Certificate.of(
            self.noise,
            self.privacy,
            query.sensitivity,
            query.objective,
            source=FAMILIES[self.family].source,
            cost=discretized.cost if self.noise is self.discrete else None,
        )
        return Mechanism(
            self.privacy, query.sensitivity, self.noise, certificate, discretized, query.integer
        )


def _find_closed(query: NumericQuery, part: Privacy, *, needs_cost: bool) -> list[_Closed]:
    """Return noise of the first kind of :func:`_list_kinds` that has any.

    Args:
        query: The answer.
        part: Its guarantee.
        needs_cost: Whether the noise must have an expected cost that can be computed.

    Raises:
        InvalidParameter, NotPrivate, Unsupported: If there is none.
    """
    rejections: list[Exception] = []
    for families, privacy in _list_kinds(query, part):
        closed_forms = []
        for family in families:
            problem = problem_of(query, privacy)
            try:
                noise = FAMILIES[family].find(problem)
                discrete = noise.discretize(problem.sensitivity)
                if needs_cost:
                    discrete.expected(query.objective)
            except (InvalidParameter, NotPrivate, Unsupported) as rejection:
                rejections.append(rejection)
            else:
                closed_forms.append(_Closed(family, privacy, noise, discrete))
        if closed_forms:
            return closed_forms
    raise rejections[0]


def _list_kinds(query: NumericQuery, part: Privacy) -> Sequence[tuple[tuple[str, ...], Privacy]]:
    """Return families to try for a part, the most suitable first.

    If δ saves almost nothing, noise for δ = 0 is used, so that a plan does not spend δ. A cost that
    is a Python function has a proved expectation for bounded noise only.
    """
    if query.family is not None:
        return [((query.family,), part)]
    if not part.epsilon:
        return [(("uniform",), part)]
    small = part.epsilon <= _SMALL
    truncated = (("truncated_laplace",), part)
    if type(query.objective) is Cost and part.delta:
        return [truncated, (_CLOSED, part)]
    if _gain_of_delta(part) < _GAIN:
        pure = Privacy(part.epsilon)
        smooth = [(("geometric",), pure)] if query.integer else []
        smooth += [(("laplace",), pure), truncated]
        return smooth if small else [(("staircase",), pure), *smooth]
    return [truncated, (_CLOSED, part)] if small else [(_CLOSED, part), truncated]


def _gain_of_delta(part: Privacy) -> float:
    """Return at least the part of the cost that truncation saves (Geng et al. 2020, for |x|)."""
    if not part.delta:
        return 0.0
    # At most (e^ε − 1)/2δ, and the gain falls as the ratio grows.
    ratio = as_float((part.epsilon + part.epsilon**2 / 2) / (2 * part.delta))
    return math.log1p(ratio) / ratio if ratio < 1e300 else 0.0
