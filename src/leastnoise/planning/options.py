"""The options of a plan: the noise and the cost of each, or the reason it was rejected."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from leastnoise.calibration import Effort, Problem
from leastnoise.core.exact import format_exact, format_ratio, quote
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, LeastnoiseError, Unsupported, parameter
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import Mechanism, calibrate_problem, half_width
from leastnoise.planning.numeric_query import NumericQuery, parse_queries
from leastnoise.planning.shares import TooLittle

# How the answers satisfy the guarantee together. These words are stored in JSON.
EACH, SHARED, JOINT = "split", "shared", "joint"
# The class of noise in which plans search.
SHAPE = "unimodal"
CLOSED_FORMS = Effort(solve=False)
_LARGEST_EPSILON = 5_000

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Option:
    """One way to release the answers of a plan: a row of its table.

    Attributes:
        family: The family of noise. ``"least"``: the noise that the solver finds for each answer.
            ``"cheapest known"``: the cheapest closed form for some or all answers. ``"as asked"``:
            each answer has a family of its own. ``"gaussian"``: shared Gaussian noise.
            ``"boxes"``: joint noise on nested boxes.
        how: ``"split"``: each answer satisfies a part of the guarantee. ``"shared"``: all answers
            together are one Gaussian release. ``"joint"``: blocks of answers have joint noise, and
            each block satisfies a part of the guarantee.
        cost: The weighted sum of expected costs; if there are only targets, the largest ratio of an
            error to its target. None if the option was rejected.
        guarantees: The guarantee of each answer by itself.
        costs: The expected cost of the discretized noise of each answer: exact, or a proved upper
            bound.
        half_widths: The error that each answer stays within at its confidence.
        excluded: The reason why the option was rejected; None otherwise.
    """

    family: str
    how: str
    cost: Fraction | None = None
    guarantees: tuple[Privacy, ...] = ()
    costs: tuple[Fraction, ...] = ()
    half_widths: tuple[Fraction, ...] = ()
    excluded: str | None = None
    promises = RenamedAttribute[tuple[Privacy, ...]]("guarantees")
    refused = RenamedAttribute[str | None]("excluded")

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
            "promises": [privacy_to_json(part) for part in self.guarantees],
            "costs": [format_ratio(cost) for cost in self.costs],
            "half_widths": [format_ratio(width) for width in self.half_widths],
            "refused": self.excluded,
        }


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """The arguments of a plan, parsed and checked."""

    privacy: Privacy
    queries: tuple[NumericQuery, ...]

    @property
    def targets(self) -> bool:
        """Whether some answer has a target."""
        return any(query.error is not None for query in self.queries)

    @property
    def only_targets(self) -> bool:
        """Whether no answer has a cost; then the largest ratio of error to target is minimized."""
        return all(query.cost is None for query in self.queries)

    def score(self, costs: tuple[Fraction, ...], widths: tuple[Fraction, ...]) -> Fraction:
        """Return the objective: the weighted cost, or the largest ratio of error to target."""
        if self.only_targets:
            return max(self.target_ratios(widths))
        pairs = zip(self.queries, costs, strict=True)
        costs_of = (query.weight * cost for query, cost in pairs if query.cost is not None)
        return sum(costs_of, Fraction(0))

    def target_ratios(self, widths: tuple[Fraction, ...]) -> list[Fraction]:
        """Return the ratio of error to target of each answer that has a target."""
        pairs = zip(self.queries, widths, strict=True)
        return [width / query.error for query, width in pairs if query.error is not None]

    def check_targets(self, widths: tuple[Fraction, ...]) -> None:
        """Reject errors that miss a target."""
        if self.misses(widths):
            raise InvalidParameter("it just misses a target", fix="Accept a larger error.")

    def misses(self, widths: tuple[Fraction, ...]) -> bool:
        """Return whether some target is not met."""
        return any(ratio > 1 for ratio in self.target_ratios(widths))


def parse_problem(privacy: Privacy, queries: object) -> PlanProblem:
    """Return the problem of a plan, or reject its guarantee or its queries."""
    if not privacy.epsilon and not privacy.delta:
        raise InvalidParameter(
            "privacy must have ε > 0 or δ > 0",
            got="ε = 0, δ = 0, which no noise satisfies",
            fix="Use, for example, Privacy(1, '1e-6').",
        )
    if privacy.epsilon > _LARGEST_EPSILON:
        raise Unsupported(
            parameter("epsilon") + f" must be at most {_LARGEST_EPSILON}",
            got=format_exact(privacy.epsilon),
            fix="Use a smaller ε. Values above 10 hardly protect anybody.",
        )
    answers = parse_queries(queries)
    names = [query.name for query in answers]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidParameter(
            "The names of answers must be different",
            got=f"{quote(repeated[0])} twice",
            fix="Rename one of them.",
        )
    return PlanProblem(privacy, answers)


@dataclass(frozen=True)
class Candidate:
    """An option with its mechanisms; if it was rejected, with the reason and what would suffice.

    Attributes:
        option: The row of the plan.
        mechanisms: The mechanism of each answer; none if the option was rejected.
        parts: The part of the guarantee of each answer of a split.
        lacking: Why the guarantee is too small for the targets, if it is.
    """

    option: Option
    mechanisms: tuple[Mechanism, ...] = ()
    parts: tuple[Privacy, ...] = ()
    lacking: TooLittle | None = None

    @classmethod
    def from_error(cls, family: str, how: str, error: LeastnoiseError) -> "Candidate":
        """Return the candidate of an option that an error rules out."""
        option = Option(family, how, excluded=error.problem)
        return cls(option, lacking=error if isinstance(error, TooLittle) else None)


def map_distinct(
    function: Callable[..., ResultT], queries: Iterable[NumericQuery], *columns: Sequence[object]
) -> tuple[ResultT, ...]:
    """Call a function for each query and its values; only once for queries of the same kind."""
    known: dict[object, ResultT] = {}
    results = []
    for query, *values in zip(queries, *columns, strict=True):
        key = (query.kind(), *values)
        if key not in known:
            known[key] = function(query, *values)
        results.append(known[key])
    return tuple(results)


def error_width(noise: LatticeNoise, query: NumericQuery) -> Fraction:
    """Return the error that an answer stays within at its confidence, rounding included."""
    steps = noise.half_width_in_steps(query.confidence)
    return steps * noise.step + rounding_error(noise.step, integer=query.integer)


def calibrate_query(
    query: NumericQuery, privacy: Privacy, family: str | None, effort: Effort = CLOSED_FORMS
) -> Mechanism:
    """Return the mechanism for an answer, of a family or the cheapest."""
    return calibrate_problem(problem_of(query, privacy), effort, family)


def problem_of(query: NumericQuery, privacy: Privacy) -> Problem:
    """Return the problem that calibration solves for an answer."""
    return Problem(privacy, query.sensitivity, query.objective, query.integer, SHAPE)


def option_of(
    family: str, how: str, problem: PlanProblem, mechanisms: tuple[Mechanism, ...]
) -> Option:
    """Return the option that has these mechanisms."""
    costs = tuple(mechanism.discretized.cost for mechanism in mechanisms)
    pairs = [
        (mechanism, query.confidence)
        for mechanism, query in zip(mechanisms, problem.queries, strict=True)
    ]
    distinct = {(id(mechanism), confidence): mechanism for mechanism, confidence in pairs}
    known = {key: half_width(mechanism, key[1]) for key, mechanism in distinct.items()}
    widths = tuple(known[id(mechanism), confidence] for mechanism, confidence in pairs)
    parts = tuple(mechanism.privacy for mechanism in mechanisms)
    return Option(family, how, problem.score(costs, widths), parts, costs, widths)
