"""The ways to release the answers of a plan: what each draws and costs, or why it was refused."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from leastnoise.calibration import FAMILIES, Effort, Problem
from leastnoise.core.exact import format_ratio
from leastnoise.core.lattice import rounding_error
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import privacy_to_json
from leastnoise.mechanism import Mechanism, calibrate_problem, half_width
from leastnoise.planning.numeric_query import NumericQuery

# How all answers satisfy the guarantee together, as a plan prints it.
EACH, SHARED, COMPOSED = "split", "shared", "composed"
# The class of noise that plans search in.
SHAPE = "unimodal"
CLOSED_FORMS = Effort(solve=False)


@dataclass(frozen=True, slots=True)
class Option:
    """A row of a plan's table.

    Attributes:
        family: The kind of noise: ``"least"`` for what solving finds for each answer,
            ``"cheapest known"`` for the cheapest closed form of each where nothing is solved for.
        how: ``"split"``: each answer keeps a part of the promise. ``"shared"``: all answers are one
            Gaussian noise. ``"composed"``: what all of them tell together is worked out.
        cost: The weighted sum of the costs; where there are targets alone, the largest error as
            a part of its target. None if the option was refused.
        promises: What each answer promises by itself.
        costs: The expected cost of each answer as drawn: exact or a proved upper bound.
        half_widths: So far the errors of each answer reach, as often as its confidence says.
        refused: Why it cannot be had, or was not worked out.
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
        """The family, and how the promise is kept where it is not split."""
        return self.family if self.how == EACH else f"{self.how} {self.family}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: exact numbers as texts."""
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
    """The seconds were up before it was worked out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a plan, read and checked; ``ends`` is when to stop searching."""

    privacy: Privacy
    wanted: tuple[NumericQuery, ...]
    ends: float = math.inf

    @property
    def left(self) -> float:
        """How many seconds are left to search and solve in; 0 where they are up."""
        return max(0.0, self.ends - time.monotonic())

    def in_time(self) -> None:
        """Raise OutOfTime if no time is left."""
        if not self.left:
            raise OutOfTime("passed over: the seconds were up")

    @property
    def targets(self) -> bool:
        """Whether some answer has a target."""
        return any(one.error is not None for one in self.wanted)

    @property
    def different(self) -> set[object]:
        """The answers that are not alike but for their names."""
        return {(w.sensitivity, w.objective, w.integer, w.weight, w.error) for w in self.wanted}

    @property
    def only_targets(self) -> bool:
        """Whether no answer has a cost: then all errors are made small together."""
        return all(one.cost is None for one in self.wanted)

    def score(self, costs: tuple[Fraction, ...], widths: tuple[Fraction, ...]) -> Fraction:
        """Return what is made least: the weighted costs, or the largest error to its target."""
        if self.only_targets:
            return max(self.shares_of_targets(widths))
        pairs = zip(self.wanted, costs, strict=True)
        return sum((one.weight * cost for one, cost in pairs if one.cost is not None), Fraction(0))

    def shares_of_targets(self, widths: tuple[Fraction, ...]) -> list[Fraction]:
        """Return each error as a part of its target, for the answers that have one."""
        pairs = zip(self.wanted, widths, strict=True)
        return [width / one.error for one, width in pairs if one.error is not None]

    def option(
        self,
        family: str,
        how: str,
        parts: tuple[Privacy, ...],
        costs: tuple[Fraction, ...],
        widths: tuple[Fraction, ...],
    ) -> Option:
        """Return the row of a way to release the answers; reject one that misses a target."""
        if self.missed(widths):
            raise InvalidParameter("it misses a target by a hair")
        return Option(family, how, self.score(costs, widths), parts, costs, widths)

    def missed(self, widths: tuple[Fraction, ...]) -> bool:
        """Tell whether some target is not met."""
        return any(share > 1 for share in self.shares_of_targets(widths))


@dataclass(frozen=True)
class Figures:
    """What is drawn for one answer, by its family, cost and width."""

    family: str
    cost: Fraction
    width: Fraction


@dataclass(frozen=True)
class Candidate:
    """An option, what makes its mechanisms, and the total ε it would need if it is refused."""

    option: Option
    make: Callable[[], tuple[Mechanism, ...]] | None = None
    needs: Fraction | None = None


@dataclass(frozen=True)
class Laws:
    """What families draw for wanted answers, worked out once for all that are alike."""

    _found: dict[tuple[str, Problem], LatticeNoise] = field(default_factory=dict)
    _costs: dict[tuple[str, Problem], Fraction] = field(default_factory=dict)

    def drawn(self, family: str, one: NumericQuery, privacy: Privacy) -> LatticeNoise:
        """Return what a family draws; it raises where it cannot keep the promise."""
        problem = _problem(one, privacy)
        key = family, problem
        if key not in self._found:
            self._found[key] = FAMILIES[family].find(problem).discretize(problem.sensitivity)
        return self._found[key]

    def width(self, family: str, one: NumericQuery, privacy: Privacy) -> Fraction:
        """Return how far errors reach, as often as the answer's confidence says."""
        return reach(self.drawn(family, one, privacy), one)

    def figures(self, family: str, one: NumericQuery, privacy: Privacy) -> Figures:
        """Return what the drawn noise costs, without the answer's weight, and its width."""
        key = family, _problem(one, privacy)
        if key not in self._costs:
            self._costs[key] = self.drawn(family, one, privacy).expected(one.objective)
        return Figures(family, self._costs[key], self.width(family, one, privacy))


def reach(law: LatticeNoise, one: NumericQuery) -> Fraction:
    """Return how far errors of what is drawn reach, rounding of the true answer included."""
    return law.within(one.confidence) * law.step + rounding_error(law.step, integer=one.integer)


def calibrate_query(
    one: NumericQuery, privacy: Privacy, family: str | None, effort: Effort = CLOSED_FORMS
) -> Mechanism:
    """Return the mechanism of a family, or the least, for a wanted answer."""
    return calibrate_problem(_problem(one, privacy), effort, family)


def _problem(one: NumericQuery, privacy: Privacy) -> Problem:
    return Problem(privacy, one.sensitivity, one.objective, one.integer, SHAPE)


def option_of(family: str, how: str, asked: Asked, mechanisms: tuple[Mechanism, ...]) -> Option:
    """Return the row of a plan's table for mechanisms that are made."""
    costs = tuple(mechanism.discretized.cost for mechanism in mechanisms)
    widths = tuple(
        half_width(mechanism, one.confidence)
        for mechanism, one in zip(mechanisms, asked.wanted, strict=True)
    )
    parts = tuple(mechanism.privacy for mechanism in mechanisms)
    return Option(family, how, asked.score(costs, widths), parts, costs, widths)
