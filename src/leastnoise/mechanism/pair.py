"""Release two answers at once: ``calibrate_pair`` finds the noise, a ``PairMechanism`` adds it."""

import math
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from leastnoise.accounting import Releasing
from leastnoise.calibration import parse_sensitivity
from leastnoise.core.exact import (
    Number,
    exponential,
    format_exact,
    format_ratio,
    format_rounded,
    format_to_place,
    magnitude,
    parse_confidence,
    parse_positive,
)
from leastnoise.core.lattice import Grid, effective_steps, rounding_error
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.core.release import Rebuilt, prepare_pair
from leastnoise.core.withholding import without_values
from leastnoise.costs import l1
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import NotPrivate
from leastnoise.ledger import UNRECORDED, Ledger, Receipt, Recording, Spending, Unrecorded
from leastnoise.mechanism.answer import record_facts, recorded_as, reused_line
from leastnoise.mechanism.planar_staircase import (
    DiscretePlanarStaircase,
    PlanarStaircase,
    draw_pair,
    least_planar,
    planar_on_lattice,
)
from leastnoise.mechanism.storage import digest, numbers
from leastnoise.rendering import sentences, table

if TYPE_CHECKING:
    from decimal import Decimal

    Value = int | float | Fraction | Decimal


SOURCE = (
    "least among all noises added to two answers, for the cost |x₁| + |x₂| and answers that one "
    "person moves by at most Δ together (Geng, Kairouz, Oh and Viswanath 2015, two dimensions); "
    "γ and e^ε rounded"
)
_NEARLY_ALL = Fraction(999, 1000)


def calibrate_pair(privacy: Privacy, *, sensitivity: Number) -> "PairMechanism":
    """Find the noise of least expected |x₁| + |x₂| that satisfies a guarantee for two answers.

    It is the planar staircase: one sample gives both numbers. Independent Laplace noise of scale
    Δ/ε for each answer satisfies the same guarantee and costs 2Δ/ε; the staircase costs less,
    little less for small ε and much less for large. Its optimality among all noise is a theorem
    (:data:`SOURCE`), for δ = 0; its guarantee and cost are proved here.

    Args:
        privacy: The guarantee: ε > 0, and δ = 0.
        sensitivity: Δ, how much one person can change both true answers together: |x₁ − x₁′| +
            |x₂ − x₂′| ≤ Δ. It is never read from data.

    Raises:
        InvalidParameter: If an argument is invalid, or no noise satisfies the guarantee.
        Unsupported: For δ > 0, to which the theorem does not extend, or an ε beyond all use.

    >>> mechanism = calibrate_pair(Privacy(epsilon=4), sensitivity=1)
    >>> mechanism.noise
    PlanarStaircase(period=1, gamma=≈0.311999738, ratio=≈0.0183156389)
    >>> round(float(mechanism.cost), 4), 2 / 4
    (0.3881, 0.5)
    """
    moved = parse_sensitivity(privacy, sensitivity, l1, integer=False)
    noise = least_planar(privacy, moved)
    return PairMechanism(privacy, moved, noise, planar_on_lattice(noise, moved))


@Releasing.register
@dataclass(frozen=True, repr=False)
class PairMechanism(Rebuilt):
    """Noise for two answers with its guarantee; built by :func:`calibrate_pair`.

    Attributes:
        privacy: The guarantee.
        sensitivity: Δ, of both answers together.
        noise: The noise of the theorem, in the plane.
        discretized: The discretized noise that :meth:`release` adds.
    """

    privacy: Privacy
    sensitivity: Fraction
    noise: PlanarStaircase
    discretized: DiscretePlanarStaircase
    drawn = RenamedAttribute[DiscretePlanarStaircase]("discretized")
    protected = RenamedAttribute[Fraction]("effective_sensitivity")

    def __post_init__(self) -> None:
        """Prove that the noise, ideal and discretized, satisfies the guarantee."""
        parse_positive(self.sensitivity, "sensitivity")
        factor = exponential(self.privacy.epsilon).lower
        shifts = (self.noise, self.sensitivity), (self.discretized, self.effective_sensitivity)
        for noise, shift in shifts:
            if noise.ratio * factor < 1 or noise.period < shift:
                raise NotPrivate(
                    f"the noise must keep {self.privacy} at a move of {format_exact(shift)}, "
                    f"got one that falls by a factor of {format_exact(1 / noise.ratio)} over "
                    f"{format_exact(noise.period)}. Calibrate again instead of putting one "
                    "together."
                )

    def verify(self) -> None:
        """Verify again that the noise satisfies the guarantee, ideal and discretized.

        Raises:
            NotPrivate: If either does not.
        """
        replace(self)  # building it proves it

    @property
    def composed_as(self) -> Privacy:
        """What :func:`leastnoise.compose` counts: the guarantee."""
        return self.privacy

    @property
    def effective_sensitivity(self) -> Fraction:
        """The shift of both lattice points together against which the discretized noise protects.

        Δ rounded up to whole steps, one step more because the two answers are rounded one by one,
        and two more because each may be a float, an ulp off the number it stands for
        (:func:`leastnoise.core.lattice.effective_steps`).
        """
        step = self.discretized.step
        return effective_steps(self.sensitivity, step, answers=2) * step

    @cached_property
    def cost(self) -> Fraction:
        """E|X₁| + E|X₂| of :attr:`noise`, exactly. The sampled noise costs ``discretized.cost``."""
        return self.noise.cost

    @cached_property
    def source(self) -> str:
        """In which class the noise is optimal, by which theorem; or that it was given."""
        optimal = self.noise == least_planar(self.privacy, self.sensitivity)
        return SOURCE if optimal else "given, not found"

    @cached_property
    def grid(self) -> Grid:
        """The lattice that both answers lie on."""
        return Grid(self.discretized.step)

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
            key: The name of the query there.
            fresh: Whether to charge again and draw new noise under a key that has an answer.

        Raises:
            InvalidParameter: Before anything is charged or drawn, if they are not two finite
                numbers.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
        """
        try:
            return self._release(values, Recording(ledger, key, fresh))
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def _release(self, values: "tuple[Value, Value]", recording: Recording) -> "PairAnswer":
        draw = prepare_pair(values, self.grid, partial(draw_pair, self.discretized))
        (first, second), receipt = recording.release(self._spending, draw, numbers(2))
        return PairAnswer((first, second), self, receipt)

    def _spending(self) -> Spending:
        noise = self.discretized
        parts = {
            field.name: format_ratio(Fraction(getattr(noise, field.name)))
            for field in fields(noise)
        }
        drawn = {
            "privacy": {"epsilon": format_ratio(self.privacy.epsilon), "delta": "0"},
            "drawn": {"kind": type(noise).__name__, **parts},
            "sensitivity": format_ratio(self.sensitivity),
            "integer": False,
        }
        facts = {
            "noise": repr(self.noise),
            "step": format_ratio(noise.step),
            "radius": format_ratio(math.inf),
            "exact_probability": "0",
            "cost": format_ratio(self.cost),
            "source": self.source,
        }
        return Spending(self.privacy, {digest(drawn): drawn | facts}, {"answer": "pair"})

    def explain(self) -> str:
        """Explain in plain words what is guaranteed."""
        return self.privacy.explain()

    def __repr__(self) -> str:
        delta = format_exact(self.sensitivity)
        return f"PairMechanism({self.noise!r}, {self.privacy!r}, sensitivity={delta})"


@Releasing.register
@dataclass(frozen=True, slots=True)
class PairAnswer:
    """Two released numbers.

    It holds the noisy lattice points alone: the true values are nowhere in it.
    """

    indices: tuple[int, int]
    mechanism: PairMechanism
    receipt: Receipt | None = None
    bound = RenamedAttribute[float]("max_error")

    @property
    def value(self) -> tuple[Fraction, Fraction]:
        """The released numbers, exactly: points of the lattice."""
        first, second = self.indices
        return first * self.mechanism.discretized.step, second * self.mechanism.discretized.step

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this release, for both numbers together."""
        return self.mechanism.privacy

    @property
    def composed_as(self) -> Privacy:
        """What :func:`leastnoise.compose` counts: the guarantee."""
        return self.privacy

    @property
    def max_error(self) -> float:
        """Infinite: the noise is unbounded."""
        return math.inf

    def within(self, confidence: Number = 0.95) -> Fraction:
        """Return a size that the two errors together stay within with at least this probability.

        The smallest for the discretized noise, plus the rounding of the two true values.
        """
        noise = self.mechanism.discretized
        rule = "and, for noise without a largest size, below 1"
        steps = noise.within(parse_confidence(confidence, below_one=rule))
        return steps * noise.step + 2 * rounding_error(noise.step, integer=False)

    def interval(
        self, confidence: Number = 0.95
    ) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Return two intervals that contain the two true values with at least this probability.

        Both at once: where the errors together stay within a size, each of them does.
        """
        reach = self.within(confidence)
        first, second = self.value
        return (first - reach, first + reach), (second - reach, second + reach)

    def explain(self) -> str:
        """Explain in plain words what was released and what it guarantees."""
        return f"{self}\n{self.mechanism.explain()}"

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
        facts = [
            ("95% error", f"at most {self._usual()} in both together"),
            ("Max error", "none"),
            ("Guarantee", format_guarantee(self.privacy)),
            *record_facts(self.receipt),
        ]
        return table(self._printed(), facts, above=reused_line(self.receipt))

    def __str__(self) -> str:
        lines = sentences(
            f"release: {self._printed()}, errors of both together at most {self._usual()} "
            "(95% confidence, no max error)",
            f"{format_guarantee(self.privacy)}; {recorded_as(self.receipt)}",
        )
        return "\n".join([*filter(None, [reused_line(self.receipt)]), *lines])

    def __repr__(self) -> str:
        return f"PairAnswer({self._printed()}, {self.privacy!r})"
