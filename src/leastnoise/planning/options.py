"""The options of a plan: the noise and the cost of each, or the reason it was rejected."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Effort, Problem
from leastnoise.core.exact import format_ratio
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import Mechanism, calibrate_problem, half_width
from leastnoise.planning.numeric_query import NumericQuery

# How the answers satisfy the guarantee together. These words are stored in JSON.
EACH, SHARED, COMPOSED = "split", "shared", "composed"
# The class of noise in which plans search.
SHAPE = "unimodal"
CLOSED_FORMS = Effort(solve=False)
OUT_OF_TIME = "not searched because the time limit was reached"


@dataclass(frozen=True, slots=True)
class Option:
    """One way to release the answers of a plan: a row of its table.

    Attributes:
        family: The family of noise. ``"least"``: the noise that the solver finds for each answer.
            ``"cheapest known"``: the cheapest closed form for each answer, without the solver.
        how: ``"split"``: each answer satisfies a part of the guarantee. ``"shared"``: all answers
            together are one Gaussian release. ``"composed"``: the total guarantee is computed by
            composition.
        cost: The weighted sum of expected costs; if there are only targets, the largest ratio of an
            error to its target. None if the option was rejected.
        promises: The guarantee of each answer by itself.
        costs: The expected cost of the discretized noise of each answer: exact, or a proved upper
            bound.
        half_widths: The error that each answer stays within at its confidence.
        refused: The reason why the option was rejected or not searched; None otherwise.
    """

    family: str
    how: str
    cost: Fraction | None = None
    promises: tuple[Privacy, ...] = ()
    costs: tuple[Fraction, ...] = ()
    half_widths: tuple[Fraction, ...] = ()
    refused: str | None = None

    @property
    def name(self) -> str:
        """The family, preceded by ``how`` unless the guarantee is split."""
        return self.family if self.how == EACH else f"{self.how} {self.family}"

    def to_dict(self) -> dict[str, object]:
        """Return the option for JSON, with exact numbers as strings."""
        return {
            "family": self.family,
            "how": self.how,
            "cost": None if self.cost is None else format_ratio(self.cost),
            "promises": [privacy_to_json(part) for part in self.promises],
            "costs": [format_ratio(cost) for cost in self.costs],
            "half_widths": [format_ratio(width) for width in self.half_widths],
            "refused": self.refused,
        }


class OutOfTime(InvalidParameter):
    """The time limit was reached before the search ended."""


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """The arguments of a plan, parsed and checked; the search stops at the time ``ends``."""

    privacy: Privacy
    wanted: tuple[NumericQuery, ...]
    ends: float = math.inf

    @property
    def left(self) -> float:
        """The seconds that remain to search and solve; 0 after the time limit."""
        return max(0.0, self.ends - time.monotonic())

    def check_time(self) -> None:
        """Raise OutOfTime after the time limit."""
        if not self.left:
            raise OutOfTime(OUT_OF_TIME, fix="Allow more seconds.")

    @property
    def targets(self) -> bool:
        """Whether some answer has a target."""
        return any(query.error is not None for query in self.wanted)

    @property
    def different(self) -> set[object]:
        """The distinct answers, apart from their names."""
        return {(w.sensitivity, w.objective, w.integer, w.weight, w.error) for w in self.wanted}

    @property
    def only_targets(self) -> bool:
        """Whether no answer has a cost; then the largest ratio of error to target is minimized."""
        return all(query.cost is None for query in self.wanted)

    def score(self, costs: tuple[Fraction, ...], widths: tuple[Fraction, ...]) -> Fraction:
        """Return the objective: the weighted cost, or the largest ratio of error to target."""
        if self.only_targets:
            return max(self.target_ratios(widths))
        pairs = zip(self.wanted, costs, strict=True)
        costs_of = (query.weight * cost for query, cost in pairs if query.cost is not None)
        return sum(costs_of, Fraction(0))

    def target_ratios(self, widths: tuple[Fraction, ...]) -> list[Fraction]:
        """Return the ratio of error to target of each answer that has a target."""
        pairs = zip(self.wanted, widths, strict=True)
        return [width / query.error for query, width in pairs if query.error is not None]

    def make_option(
        self,
        family: str,
        how: str,
        parts: tuple[Privacy, ...],
        costs: tuple[Fraction, ...],
        widths: tuple[Fraction, ...],
    ) -> Option:
        """Return an option of the plan; reject one that misses a target."""
        if self.misses(widths):
            raise InvalidParameter("it just misses a target", fix="Accept a larger error.")
        return Option(family, how, self.score(costs, widths), parts, costs, widths)

    def misses(self, widths: tuple[Fraction, ...]) -> bool:
        """Return whether some target is not met."""
        return any(ratio > 1 for ratio in self.target_ratios(widths))


@dataclass(frozen=True)
class Figures:
    """The family, the expected cost and the error of the discretized noise of one answer."""

    family: str
    cost: Fraction
    width: Fraction


@dataclass(frozen=True)
class Candidate:
    """An option, the function that builds its mechanisms, and the ε that a rejected one needs."""

    option: Option
    make: Callable[[], tuple[Mechanism, ...]] | None = None
    needs: Fraction | None = None


@dataclass(frozen=True)
class NoiseCache:
    """The discretized noise of families for the answers, computed once for equal answers."""

    _noises: dict[tuple[str, Problem], LatticeNoise] = field(default_factory=dict)
    _costs: dict[tuple[str, Problem], Fraction] = field(default_factory=dict)

    def discretized(self, family: str, query: NumericQuery, privacy: Privacy) -> LatticeNoise:
        """Return the discretized noise of a family; raise if it cannot satisfy the guarantee."""
        problem = _problem_of(query, privacy)
        key = family, problem
        if key not in self._noises:
            self._noises[key] = FAMILIES[family].find(problem).discretize(problem.sensitivity)
        return self._noises[key]

    def width(self, family: str, query: NumericQuery, privacy: Privacy) -> Fraction:
        """Return the error that an answer stays within at its confidence."""
        return error_width(self.discretized(family, query, privacy), query)

    def figures(self, family: str, query: NumericQuery, privacy: Privacy) -> Figures:
        """Return the expected cost of the discretized noise, without the weight, and its error."""
        key = family, _problem_of(query, privacy)
        if key not in self._costs:
            noise = self.discretized(family, query, privacy)
            self._costs[key] = noise.expected(query.objective)
        return Figures(family, self._costs[key], self.width(family, query, privacy))


def error_width(noise: LatticeNoise, query: NumericQuery) -> Fraction:
    """Return the error that an answer stays within at its confidence, rounding included."""
    steps = noise.within(query.confidence)
    return steps * noise.step + rounding_error(noise.step, integer=query.integer)


def calibrate_query(
    query: NumericQuery, privacy: Privacy, family: str | None, effort: Effort = CLOSED_FORMS
) -> Mechanism:
    """Return the mechanism for an answer, of a family or the cheapest."""
    return calibrate_problem(_problem_of(query, privacy), effort, family)


def _problem_of(query: NumericQuery, privacy: Privacy) -> Problem:
    return Problem(privacy, query.sensitivity, query.objective, query.integer, SHAPE)


def option_of(
    family: str, how: str, problem: PlanProblem, mechanisms: tuple[Mechanism, ...]
) -> Option:
    """Return the option that has these mechanisms."""
    costs = tuple(mechanism.discretized.cost for mechanism in mechanisms)
    widths = tuple(
        half_width(mechanism, query.confidence)
        for mechanism, query in zip(mechanisms, problem.wanted, strict=True)
    )
    parts = tuple(mechanism.privacy for mechanism in mechanisms)
    return Option(family, how, problem.score(costs, widths), parts, costs, widths)
