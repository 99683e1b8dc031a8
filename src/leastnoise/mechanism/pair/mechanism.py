"""Two answers at once: ``calibrate_pair`` finds their noise; a ``PairMechanism`` adds it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from leastnoise.accounting import Releasing
from leastnoise.calibration import sensitivity_read
from leastnoise.core.exact import (
    Number,
    exact_ratio,
    exponential,
    format_exact,
    format_ratio,
    format_rounded,
    format_to_place,
    magnitude,
    parse_rational,
    quote,
)
from leastnoise.core.lattice import Grid
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import SYSTEM
from leastnoise.costs import l1
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.ledger import UNRECORDED, Ledger, Place, Receipt, Spending, Unrecorded
from leastnoise.mechanism.answer import recorded_as
from leastnoise.mechanism.pair.calibrate import least_planar, planar_on_lattice, protected_steps
from leastnoise.mechanism.pair.sampler import draw_pair
from leastnoise.mechanism.pair.staircase import DiscretePlanarStaircase, PlanarStaircase
from leastnoise.mechanism.storage import PAIR, digest
from leastnoise.rendering import table

if TYPE_CHECKING:
    from decimal import Decimal

    Value = int | float | Fraction | Decimal


def releasing_pair(
    values: object, grid: Grid, law: DiscretePlanarStaircase
) -> Callable[[], tuple[int, int]]:
    """Check two values; return what releases them: their lattice points plus noise, as indices."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InvalidParameter(
            "a pair to release must be a tuple or a list of two numbers; "
            f"got one of type {type(values).__name__} that is not. Give (x, y)."
        )
    first, second = (grid.index(*exact_ratio(value)) for value in values)

    def release() -> tuple[int, int]:
        i, j = draw_pair(law, SYSTEM)
        return first + i, second + j

    return release


SOURCE = (
    "least among all noises added to two answers, for the cost |x₁| + |x₂| and answers that one "
    "person moves by at most Δ together (Geng, Kairouz, Oh and Viswanath 2015, two dimensions); "
    "γ and e^ε rounded"
)
_NEARLY_ALL = Fraction(999, 1000)


def calibrate_pair(privacy: Privacy, *, sensitivity: Number) -> "PairMechanism":
    """Find the noise of least |x₁| + |x₂| on average that keeps a promise about two answers.

    It is the planar staircase: two numbers that belong together, not one noise for each answer.
    Two Laplace noises of scale Δ/ε keep the same promise and cost 2Δ/ε; this costs less, little
    less for small ε and much less for large. That it is the least of all noises is a theorem
    (:data:`SOURCE`), for δ = 0; that it is private and what it costs is proved here.

    Args:
        privacy: What is promised: ε > 0, and δ = 0.
        sensitivity: Δ, how much one person can change both true answers together: |x₁ − x₁′| +
            |x₂ − x₂′| ≤ Δ. It is never read from data.

    Raises:
        InvalidParameter: If the question is wrong or has no answer.
        Unsupported: For δ > 0, to which the theorem does not extend, or an ε beyond all use.

    >>> mechanism = calibrate_pair(Privacy(epsilon=4), sensitivity=1)
    >>> mechanism.noise
    PlanarStaircase(period=1, gamma=≈0.311999738, ratio=≈0.0183156389)
    >>> round(float(mechanism.cost), 4), 2 / 4
    (0.3881, 0.5)
    """
    moved = sensitivity_read(privacy, sensitivity, l1, integer=False)
    noise = least_planar(privacy, moved)
    return PairMechanism(privacy, moved, noise, planar_on_lattice(noise, moved))


@Releasing.register
@dataclass(frozen=True, repr=False)
class PairMechanism:
    """A noise for two answers with the promise it keeps; made by :func:`calibrate_pair`.

    Attributes:
        privacy: The promise.
        sensitivity: Δ, of both answers together.
        noise: The law in the plane, as the theorem has it.
        drawn: The lattice noise that :meth:`release` adds.
    """

    privacy: Privacy
    sensitivity: Fraction
    noise: PlanarStaircase
    drawn: DiscretePlanarStaircase

    def __post_init__(self) -> None:
        """Refuse to exist with a noise, drawn or not, that does not keep the promise as stated."""
        factor = exponential(self.privacy.epsilon).lower
        needed = self.protected
        for law, moved in ((self.noise, self.sensitivity), (self.drawn, needed)):
            if law.ratio * factor < 1 or law.period < moved:
                raise NotPrivate(
                    f"the noise must keep {self.privacy} at a move of {format_exact(moved)}; got "
                    f"one that falls by a factor of {format_exact(1 / law.ratio)} over "
                    f"{format_exact(law.period)}. Calibrate again instead of putting one together."
                )

    @property
    def composed_as(self) -> Privacy:
        """What :func:`leastnoise.compose` counts: the promise."""
        return self.privacy

    @property
    def protected(self) -> Fraction:
        """The move of both lattice points together against which the drawn noise protects.

        Δ rounded up to whole steps, one step more because the two answers are rounded one by one,
        and two more because each may be a float, an ulp off the number it stands for
        (:func:`leastnoise.mechanism.pair.calibrate.protected_steps`).
        """
        return protected_steps(self.sensitivity, self.drawn.step) * self.drawn.step

    @cached_property
    def cost(self) -> Fraction:
        """E|X₁| + E|X₂| of :attr:`noise`, exactly. What is drawn costs ``drawn.cost``."""
        return self.noise.cost

    @cached_property
    def source(self) -> str:
        """Among what the noise is least, and who says so: nothing of a noise that was given."""
        found = self.noise == least_planar(self.privacy, self.sensitivity)
        return SOURCE if found else "given, not found"

    @cached_property
    def grid(self) -> Grid:
        """The lattice that both answers lie on."""
        return Grid(self.drawn.step)

    def release(
        self,
        values: "tuple[Value, Value]",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
    ) -> "PairAnswer":
        """Add noise to two true values and return what may be published.

        Args:
            values: Two numbers, each taken exactly as it is.
            ledger: Where the release is recorded (:meth:`leastnoise.Mechanism.release`).
            key: What the question is called there.
            fresh: Whether to charge and draw again under a key that has an answer.

        Raises:
            InvalidParameter: Before anything is charged or drawn, if they are not two finite
                numbers.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
        """
        place = Place(ledger, key, fresh)
        release = releasing_pair(values, self.grid, self.drawn)

        indices, receipt = place.released(self._spending, release, PAIR)
        return PairAnswer(indices, self, receipt)

    def _spending(self) -> Spending:
        """Return what a ledger is to charge."""
        law = self.drawn
        parts = {
            field.name: format_ratio(Fraction(getattr(law, field.name))) for field in fields(law)
        }
        drawn = {
            "privacy": {"epsilon": format_ratio(self.privacy.epsilon), "delta": "0"},
            "drawn": {"kind": type(law).__name__, **parts},
            "sensitivity": format_ratio(self.sensitivity),
            "integer": False,
        }
        facts = {
            "noise": repr(self.noise),
            "step": format_ratio(law.step),
            "radius": format_ratio(math.inf),
            "exact_probability": "0",
            "cost": format_ratio(self.cost),
            "source": self.source,
        }
        return Spending(self.privacy, {digest(drawn): drawn | facts}, {"answer": "pair"})

    def explain(self) -> str:
        """Say in plain words what is promised."""
        return self.privacy.explain()

    def __repr__(self) -> str:
        """Print the noise and the promise."""
        moved = format_exact(self.sensitivity)
        return f"PairMechanism({self.noise!r}, {self.privacy!r}, sensitivity={moved})"


@Releasing.register
@dataclass(frozen=True, slots=True)
class PairAnswer:
    """Two released numbers.

    Only the noisy lattice points are kept: the true values are nowhere in it.
    """

    indices: tuple[int, int]
    mechanism: PairMechanism
    receipt: Receipt | None = None

    @property
    def value(self) -> tuple[Fraction, Fraction]:
        """The released numbers, exactly: points of the lattice."""
        first, second = self.indices
        return first * self.mechanism.drawn.step, second * self.mechanism.drawn.step

    @property
    def privacy(self) -> Privacy:
        """The promise this release keeps, for both numbers together."""
        return self.mechanism.privacy

    @property
    def composed_as(self) -> Privacy:
        """What :func:`leastnoise.compose` counts: the promise."""
        return self.privacy

    @property
    def bound(self) -> float:
        """Infinite: there is no error that all releases stay within."""
        return math.inf

    def within(self, confidence: Number = 0.95) -> Fraction:
        """Return a size that the two errors together stay within with at least this probability.

        The smallest for what was drawn, and rounding of the true values to the lattice added: half
        a step each.
        """
        level = parse_rational(confidence, "confidence")
        if not 0 < level < 1:
            raise InvalidParameter(
                f"confidence must be above 0 and, for noise without a largest size, below 1; "
                f"got {quote(confidence)}. Give for instance 0.95."
            )
        law = self.mechanism.drawn
        return (law.within(level) + 1) * law.step

    def interval(
        self, confidence: Number = 0.95
    ) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Return two intervals that hold the two true values with at least this probability.

        Both at once: where the errors together stay within a size, each of them does.
        """
        reach = self.within(confidence)
        first, second = self.value
        return (first - reach, first + reach), (second - reach, second + reach)

    def explain(self) -> str:
        """Say in plain words what was released and what it promises."""
        return f"{self}. {self.mechanism.explain()}"

    def _place(self) -> Fraction:
        """Return the decimal place that values are printed to: a thousandth of their error."""
        return Fraction(10) ** magnitude(self.within(_NEARLY_ALL) / 1000)

    def _printed(self) -> str:
        first, second = (format_to_place(value, self._place()) for value in self.value)
        return f"({first}, {second})"

    def _usual(self) -> str:
        """Return what 95 % stay within, that of printing both numbers included, rounded up."""
        return format_rounded(self.within(Fraction(19, 20)) + self._place(), 4, ROUND_CEILING)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        facts = {
            "95 %": f"both errors together ≤ {self._usual()}",
            "always": "there is no largest error",
            "promise": str(self.privacy),
            "recorded": recorded_as(self.receipt),
        }
        return table(self._printed(), facts)

    def __str__(self) -> str:
        """Say it in one honest line: the error is rounded up and includes that of printing."""
        return (
            f"{self._printed()} (both errors together ≤ {self._usual()} with 95 %, there is no "
            f"largest error), {self.privacy}; {recorded_as(self.receipt)}"
        )

    def __repr__(self) -> str:
        """Print the released numbers and nothing else that could surprise."""
        return f"PairAnswer({self._printed()}, {self.privacy!r})"
