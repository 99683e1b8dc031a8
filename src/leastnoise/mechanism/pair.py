"""Release two answers at once: ``calibrate_pair`` finds the noise, a ``PairMechanism`` adds it."""

import math
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from leastnoise.accounting import Composable
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
from leastnoise.json_types import Json
from leastnoise.ledger import UNRECORDED, Ledger, Receipt, Recording, Spending, Unrecorded, mark
from leastnoise.mechanism.answer_text import record_facts, recorded_as, reused_lines
from leastnoise.mechanism.planar_staircase import (
    DiscretePlanarStaircase,
    PlanarStaircase,
    discretize_planar,
    optimal_planar,
    sample_pair,
)
from leastnoise.mechanism.storage import digest, numbers
from leastnoise.rendering import sentences, table

if TYPE_CHECKING:
    from decimal import Decimal

    Value = int | float | Fraction | Decimal


# Stored in ledgers: these words must never change.
SOURCE = (
    "least among all noises added to two answers, for the cost |x₁| + |x₂| and answers that one "
    "person moves by at most Δ together (Geng, Kairouz, Oh and Viswanath 2015, two dimensions); "
    "γ and e^ε rounded"
)
_NEARLY_ALL = Fraction(999, 1000)


def calibrate_pair(privacy: Privacy, *, sensitivity: Number) -> "PairMechanism":
    """Find the optimal noise for two answers that one person changes by at most Δ in total.

    The noise minimizes the expected cost |x₁| + |x₂| among all noise that is added to two answers.
    It is the planar staircase: one sample gives both numbers. Independent Laplace noise of scale
    Δ/ε for each answer satisfies the same guarantee and costs 2Δ/ε; the staircase costs a little
    less for small ε and much less for large ε. Its optimality rests on a published theorem for
    δ = 0 (Geng, Kairouz, Oh and Viswanath 2015, two dimensions). Its guarantee and its cost are
    proved here.

    Args:
        privacy: The guarantee, with ε > 0 and δ = 0.
        sensitivity: Δ, how much one person can change both true answers together: |x₁ − x₁′| +
            |x₂ − x₂′| ≤ Δ. It is never read from data.

    Returns:
        A mechanism that releases both answers at once.

    Raises:
        InvalidParameter: If an argument is invalid, or no noise satisfies the guarantee.
        Unsupported: If δ > 0, which the theorem does not cover, or if ε is below 2⁻¹⁰⁰ or above
            about 42.

    >>> mechanism = calibrate_pair(Privacy(epsilon=4), sensitivity=1)
    >>> mechanism.noise
    PlanarStaircase(period=1, gamma=≈0.311999738, ratio=≈0.0183156389)
    >>> round(float(mechanism.cost), 4), 2 / 4
    (0.3881, 0.5)
    """
    delta = parse_sensitivity(privacy, sensitivity, l1, integer=False)
    noise = optimal_planar(privacy, delta)
    return PairMechanism(privacy, delta, noise, discretize_planar(noise, delta))


@Composable.register
@dataclass(frozen=True, repr=False)
class PairMechanism(Rebuilt):
    """Noise for two answers with a verified guarantee; built by :func:`calibrate_pair`.

    Attributes:
        privacy: The guarantee of one release of both answers.
        sensitivity: Δ, how much one person can change both true answers together.
        noise: The continuous noise of the theorem, in the plane.
        discretized: The discretized noise that :meth:`release` samples.
    """

    privacy: Privacy
    sensitivity: Fraction
    noise: PlanarStaircase
    discretized: DiscretePlanarStaircase
    drawn = RenamedAttribute[DiscretePlanarStaircase]("discretized")
    protected = RenamedAttribute[Fraction]("effective_sensitivity")

    def __post_init__(self) -> None:
        """Prove that the continuous and the discretized noise satisfy the guarantee."""
        parse_positive(self.sensitivity, "sensitivity")
        factor = exponential(self.privacy.epsilon).lower
        shifts = (self.noise, self.sensitivity), (self.discretized, self.effective_sensitivity)
        for noise, shift in shifts:
            if noise.ratio * factor < 1 or noise.period < shift:
                raise NotPrivate(
                    f"This noise does not satisfy {format_guarantee(self.privacy)} for a shift of "
                    f"{format_exact(shift)}: its density falls by a factor of "
                    f"{format_exact(1 / noise.ratio)} over {format_exact(noise.period)}",
                    fix="Use calibrate_pair().",
                )

    def verify(self) -> None:
        """Verify again that the continuous and the discretized noise satisfy the guarantee.

        Raises:
            NotPrivate: If either noise does not satisfy it.
        """
        replace(self)  # the constructor proves it

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @property
    def effective_sensitivity(self) -> Fraction:
        """The largest shift of both answers together for which the discretized noise is private.

        Δ rounded up to full steps, plus one step because the two answers are rounded separately,
        plus two steps because each can be a float that is an ulp away from the number it stands for
        (:func:`leastnoise.core.lattice.effective_steps`).
        """
        step = self.discretized.step
        return effective_steps(self.sensitivity, step, answers=2) * step

    @cached_property
    def cost(self) -> Fraction:
        """The exact E|X₁| + E|X₂| of :attr:`noise`. The sampled noise has ``discretized.cost``."""
        return self.noise.cost

    @cached_property
    def source(self) -> str:
        """The theorem with the class in which the noise is optimal, or "given, not found"."""
        optimal = self.noise == optimal_planar(self.privacy, self.sensitivity)
        return SOURCE if optimal else "given, not found"

    @cached_property
    def grid(self) -> Grid:
        """The lattice of both released values."""
        return Grid(self.discretized.step)

    def release(
        self,
        values: "tuple[Value, Value]",
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
    ) -> "PairAnswer":
        """Add noise to two true values and return the answer, which may be published.

        Args:
            values: Two numbers, each used exactly as it is.
            ledger: The ledger to charge (:meth:`leastnoise.Mechanism.release`). Default: the
                release is not recorded.
            key: The name of the query in the ledger. Default: every release is a new query.
            fresh: True to charge again and sample new noise under a key that has an answer.
                Default: False.

        Returns:
            Both released numbers.

        Raises:
            InvalidParameter: If the values are not two finite numbers. Nothing was charged.
            BudgetExceeded: If too little budget remains. Nothing was charged or released.

        >>> answer = calibrate_pair(Privacy(epsilon=1), sensitivity=1).release((120, 45.5))
        >>> len(answer.value)
        2
        """
        try:
            return self._release(values, Recording(ledger, key, fresh))
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def _release(self, values: "tuple[Value, Value]", recording: Recording) -> "PairAnswer":
        draw = prepare_pair(values, self.grid, partial(sample_pair, self.discretized))
        (first, second), receipt = recording.release(self._spending, draw, numbers(2))
        return PairAnswer((first, second), self, receipt)

    def _spending(self) -> Spending:
        noise = self.discretized
        parts = {
            field.name: format_ratio(Fraction(getattr(noise, field.name)))
            for field in fields(noise)
        }
        description: Json = {
            "privacy": {"epsilon": format_ratio(self.privacy.epsilon), "delta": "0"},
            "drawn": {"kind": type(noise).__name__, **parts},
            "sensitivity": format_ratio(self.sensitivity),
            "integer": False,
        }
        facts: Json = {
            "noise": repr(self.noise),
            "step": format_ratio(noise.step),
            "radius": format_ratio(math.inf),
            "exact_probability": "0",
            "cost": format_ratio(self.cost),
            "source": self.source,
        }
        return Spending(
            self.privacy, {digest(description): description | facts}, {"answer": "pair"}
        )

    def explain(self) -> str:
        """Return the meaning of the guarantee in plain words."""
        return self.privacy.explain()

    def __repr__(self) -> str:
        delta = format_exact(self.sensitivity)
        return f"PairMechanism({self.noise!r}, {self.privacy!r}, sensitivity={delta})"


@Composable.register
@dataclass(frozen=True, slots=True)
class PairAnswer:
    """Two released numbers with one guarantee; immutable.

    It holds the noisy lattice points only. The true values are not stored in it.

    Attributes:
        indices: The noisy lattice points, as numbers of steps from 0.
        mechanism: The mechanism that released them.
        receipt: The receipt of the ledger entry; None if unrecorded.
    """

    indices: tuple[int, int]
    mechanism: PairMechanism
    receipt: Receipt | None = None
    bound = RenamedAttribute[float]("max_error")

    @property
    def value(self) -> tuple[Fraction, Fraction]:
        """The released numbers as exact fractions: points of the lattice."""
        first, second = self.indices
        return first * self.mechanism.discretized.step, second * self.mechanism.discretized.step

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this release, for both numbers together."""
        return self.mechanism.privacy

    @property
    def composed_as(self) -> Privacy:
        """The part of a composition (:func:`leastnoise.compose`): the guarantee."""
        return self.privacy

    @property
    def max_error(self) -> float:
        """``math.inf``, because the noise is unbounded."""
        return math.inf

    def within(self, confidence: Number = 0.95) -> Fraction:
        """Return the size that the sum of both errors stays within, at a confidence.

        It is the smallest such size for the discretized noise, plus the rounding of both true
        values.

        Args:
            confidence: The probability, above 0 and below 1. Default: 0.95.

        Raises:
            InvalidParameter: If ``confidence`` is out of range.
        """
        noise = self.mechanism.discretized
        rule = "and, for unbounded noise, below 1"
        steps = noise.within(parse_confidence(confidence, below_one=rule))
        return steps * noise.step + 2 * rounding_error(noise.step, integer=False)

    def interval(
        self, confidence: Number = 0.95
    ) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Return an interval for each true value; the confidence is that both contain theirs.

        If the sum of both errors stays within a size, each error does.

        Args:
            confidence: The probability, above 0 and below 1. Default: 0.95.

        Raises:
            InvalidParameter: If ``confidence`` is out of range.
        """
        width = self.within(confidence)
        first, second = self.value
        return (first - width, first + width), (second - width, second + width)

    def explain(self) -> str:
        """Return the printed answer and the meaning of its guarantee in plain words."""
        return f"{self}\n{self.mechanism.explain()}"

    def _place(self) -> Fraction:
        """Return the decimal place to which values are printed: a thousandth of their error."""
        return Fraction(10) ** magnitude(self.within(_NEARLY_ALL) / 1000)

    def _value_text(self) -> str:
        first, second = (format_to_place(value, self._place()) for value in self.value)
        return f"({first}, {second})"

    def _error_text(self) -> str:
        """Format the size that 95% of the errors stay within, rounding of the text included."""
        return format_rounded(self.within(Fraction(19, 20)) + self._place(), 4, ROUND_CEILING)

    def _repr_html_(self) -> str:
        facts = [
            ("95% error", f"at most {self._error_text()} in both together"),
            ("Max error", "none"),
            ("Guarantee", format_guarantee(self.privacy)),
            *record_facts(self.receipt),
        ]
        return table(mark(self.receipt) + self._value_text(), facts)

    def __str__(self) -> str:
        lines = sentences(
            f"{mark(self.receipt)}release: {self._value_text()}, errors of both together at most "
            f"{self._error_text()} (95% confidence, no max error)",
            f"{format_guarantee(self.privacy)}; {recorded_as(self.receipt)}",
        )
        return "\n".join([*lines, *reused_lines(self.receipt)])

    def __repr__(self) -> str:
        return f"{mark(self.receipt)}PairAnswer({self._value_text()}, {self.privacy!r})"
