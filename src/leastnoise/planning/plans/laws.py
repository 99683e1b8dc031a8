"""The laws that families have for wanted answers: what is drawn, its cost and its width."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.calibration import FAMILIES, Question
from leastnoise.errors import LeastnoiseError
from leastnoise.mechanism import Mechanism, calibrate
from leastnoise.mechanism.answer import half_width
from leastnoise.mechanism.drawn import lattice_law
from leastnoise.noise import LatticeNoise
from leastnoise.planning.plans.option import Asked, Option
from leastnoise.planning.plans.wanted import Wanted
from leastnoise.privacy import Privacy

AMONG = "decreasing"


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

    _found: dict[tuple[str, Question], LatticeNoise] = field(default_factory=dict)
    _costs: dict[tuple[str, Question], Fraction] = field(default_factory=dict)

    def drawn(self, family: str, one: Wanted, privacy: Privacy) -> LatticeNoise:
        """Return what a family draws; it raises where it cannot keep the promise."""
        asked = Question(privacy, one.sensitivity, one.objective, one.integer, AMONG)
        if (family, asked) not in self._found:
            self._found[family, asked] = lattice_law(FAMILIES[family].find(asked), asked)
        return self._found[family, asked]

    def cost(self, family: str, one: Wanted, privacy: Privacy) -> Fraction:
        """Return what the drawn noise costs, without the answer's weight."""
        asked = Question(privacy, one.sensitivity, one.objective, one.integer, AMONG)
        if (family, asked) not in self._costs:
            self._costs[family, asked] = self.drawn(family, one, privacy).expected(one.objective)
        return self._costs[family, asked]

    def width(self, family: str, one: Wanted, privacy: Privacy) -> Fraction:
        """Return how far errors reach, as often as the answer's confidence says."""
        return reach(self.drawn(family, one, privacy), one)

    def figures(self, family: str, one: Wanted, privacy: Privacy) -> Figures:
        """Return both."""
        return Figures(family, self.cost(family, one, privacy), self.width(family, one, privacy))


def reach(law: LatticeNoise, one: Wanted) -> Fraction:
    """Return how far errors of what is drawn reach, rounding of the true answer included."""
    rounding = Fraction(0) if one.integer else law.step / 2
    return law.within(one.confidence) * law.step + rounding


def calibrated(
    one: Wanted,
    privacy: Privacy,
    family: str | None,
    *,
    solve: bool = False,
    seconds: float = 10,
) -> Mechanism:
    """Return the mechanism of a family, or the least, for a wanted answer."""
    return calibrate(
        privacy,
        sensitivity=one.sensitivity,
        cost=one.objective,
        integer=one.integer,
        among=AMONG,
        family=family,
        solve=solve,
        seconds=seconds,
    )


def option_of(family: str, how: str, asked: Asked, mechanisms: tuple[Mechanism, ...]) -> Option:
    """Return the row of a plan's table for mechanisms that are made."""
    costs = tuple(mechanism.drawn.cost for mechanism in mechanisms)
    widths = tuple(
        half_width(mechanism, one.confidence)
        for mechanism, one in zip(mechanisms, asked.wanted, strict=True)
    )
    parts = tuple(mechanism.privacy for mechanism in mechanisms)
    return Option(family, how, asked.score(costs, widths), parts, costs, widths)


def reason(error: LeastnoiseError) -> str:
    """Return the rule that an error states, without what was got and what to do."""
    return str(error).partition("; got")[0].partition(". ")[0]
