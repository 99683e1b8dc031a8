"""One way to release all the answers of a plan: what it costs, or why it was refused."""

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.errors import InvalidParameter
from leastnoise.exact import ratio
from leastnoise.planning.plans.wanted import Wanted
from leastnoise.privacy import Privacy

# How a promise is kept by all answers together, and what a plan says of it.
EACH, SHARED, COMPOSED = "split", "shared", "composed"


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
            "cost": None if self.cost is None else ratio(self.cost),
            "promises": [
                {"epsilon": ratio(part.epsilon), "delta": ratio(part.delta)}
                for part in self.promises
            ],
            "costs": [ratio(cost) for cost in self.costs],
            "half_widths": [ratio(width) for width in self.half_widths],
            "refused": self.refused,
        }


class OutOfTime(InvalidParameter):
    """The seconds were up before it was worked out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a plan, read and checked; ``ends`` is when to stop searching."""

    privacy: Privacy
    wanted: tuple[Wanted, ...]
    ends: float = math.inf

    @property
    def left(self) -> float:
        """How many seconds are left to search and solve in; 0 where they are up."""
        return max(0.0, self.ends - time.monotonic())

    def in_time(self) -> None:
        """Go on if there is time left.

        Raises:
            OutOfTime: If there is none.
        """
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

    def missed(self, widths: tuple[Fraction, ...]) -> bool:
        """Tell whether some target is not met."""
        return any(share > 1 for share in self.shares_of_targets(widths))
