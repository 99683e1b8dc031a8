"""Released numbers, one or an array of them, with what is known about their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.accounting import Releasing
from leastnoise.core.exact import (
    Number,
    as_float,
    format_rounded,
    format_to_place,
    magnitude,
    parse_confidence,
)
from leastnoise.core.lattice import rounding_error
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.deprecation import RenamedAttribute
from leastnoise.ledger import Receipt
from leastnoise.rendering import Fact, held, sentences, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.mechanism.columns import SeriesKind
    from leastnoise.mechanism.mechanism import Mechanism

_NEARLY_ALL = Fraction(999, 1000)


@Releasing.register
class Answer:
    """A released number; immutable.

    It holds the noisy lattice point alone: the true value is nowhere in it.
    """

    # No frozen dataclass: to set its fields takes a tenth of a release.
    __slots__ = ("_index", "_mechanism", "_receipt")
    bound = RenamedAttribute[Fraction | float]("max_error")

    def __init__(self, index: int, mechanism: Mechanism, receipt: Receipt | None = None) -> None:
        self._index = index
        self._mechanism = mechanism
        self._receipt = receipt

    @property
    def index(self) -> int:
        """The lattice point."""
        return self._index

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that released it."""
        return self._mechanism

    @property
    def composed_as(self) -> Mechanism:
        """What :func:`leastnoise.compose` counts: its mechanism."""
        return self._mechanism

    @property
    def receipt(self) -> Receipt | None:
        """The proof of its ledger entry, with the chain's head; None if it is unrecorded."""
        return self._receipt

    @property
    def value(self) -> Fraction:
        """The released number, exactly: a point of the lattice."""
        return self.index * self.mechanism.discretized.step

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this release."""
        return self.mechanism.privacy

    @property
    def max_error(self) -> Fraction | float:
        """Maximum error: ``value`` is always within this distance of the true value.

        ``math.inf`` if the noise is unbounded.
        """
        return farthest(self.mechanism)

    @property
    def exact_probability(self) -> Fraction:
        """The probability of an exact release (:attr:`Mechanism.exact_probability`)."""
        return self.mechanism.exact_probability

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true value with at least this probability.

        It is exact for the discretized noise, rounding of the true value to the lattice included.
        """
        reach = half_width(self.mechanism, confidence)
        return self.value - reach, self.value + reach

    def explain(self) -> str:
        """Explain in plain words what was released and what it guarantees."""
        return f"{self}\n{self.mechanism.explain()}"

    def _off(self) -> Fraction:
        """Return how far the printed number can be from the released one."""
        return Fraction(0) if self.mechanism.integer else _place(self.mechanism) / 2

    def _repr_html_(self) -> str:
        return table(format_value(self), _facts(self), above=reused_line(self.receipt))

    def __float__(self) -> float:
        return self.mechanism.grid.nearest_float(self.index)

    def __str__(self) -> str:
        return _lines(self, f"release: {format_value(self)}")

    def __repr__(self) -> str:
        return f"Answer({format_value(self)}, {self.privacy!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[int, Mechanism, Receipt | None]:
        return self._index, self._mechanism, self._receipt


@Releasing.register
@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Released numbers in the shape of the array or column that was given.

    Attributes:
        values: The released numbers: the floats nearest to lattice points, or integers; fractions
            or long integers (in an object array) where those do not reach.
        mechanism: The mechanism that released them.
        privacy: The guarantee for one person who can change ``contributions`` elements.
        form: The kind of the given column, with its index and name and none of its values; None
            for an array.
        receipt: The proof of their ledger entry, with the chain's head; None if unrecorded.
    """

    values: NDArray[Any]
    mechanism: Mechanism
    privacy: Privacy
    form: SeriesKind | None = None
    receipt: Receipt | None = None
    bound = RenamedAttribute[Fraction | float]("max_error")

    @property
    def composed_as(self) -> Mechanism | Privacy:
        """What :func:`leastnoise.compose` counts: for several contributions, the guarantee.

        Then it is no longer one release of the mechanism.
        """
        return self.mechanism if self.privacy == self.mechanism.privacy else self.privacy

    @property
    def column(self) -> Any:
        """The released numbers in the given kind: a pandas or polars Series, an Arrow array.

        A Series has the index and the name of the given one; a chunked Arrow array has one chunk.
        It is created anew each time and shares no memory with :attr:`values`. Where those are
        fractions or long integers, polars and Arrow columns hold the nearest numbers of their
        widest types; :attr:`max_error` is about the values. For a numpy array, it is
        :attr:`values`.
        """
        if self.form is None:
            return self.values
        return self.form.column(self.values, integer=self.mechanism.integer)

    @property
    def max_error(self) -> Fraction | float:
        """Maximum error of every element; ``math.inf`` if the noise is unbounded.

        The released floats are the nearest to lattice points; how far they may be from them is
        included, so for large values this is a little more than :attr:`Answer.max_error`.
        """
        return farthest(self.mechanism) + self._off()

    @property
    def exact_probability(self) -> Fraction:
        """The probability, for each element, that its release is exact."""
        return self.mechanism.exact_probability

    def interval(self, confidence: Number = 0.95) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return, for each element, an interval that contains its true value that often.

        The confidence is that of each element by itself. The ends are rounded outward.
        """
        from leastnoise.core.arrays import saturating_add

        reach = half_width(self.mechanism, confidence) + self._off()
        if self.values.dtype == object:  # fractions or long integers, which are exact
            return self.values - reach, self.values + reach
        import numpy as np

        if self.mechanism.integer:
            low, high = (saturating_add(self.values, shift) for shift in (-int(reach), int(reach)))
            return low, high

        width = math.nextafter(as_float(reach), math.inf)
        with np.errstate(over="ignore"):  # beyond the largest float an end is infinite
            low, high = self.values - width, self.values + width
        return np.nextafter(low, -math.inf), np.nextafter(high, math.inf)

    def _repr_html_(self) -> str:
        return table(repr(self), _facts(self), above=reused_line(self.receipt))

    def _off(self) -> Fraction:
        """Return how far a released float can be from its lattice point: half an ulp."""
        if self.values.dtype.kind != "f":
            return Fraction(0)
        return Fraction(math.ulp(float(abs(self.values).max()))) / 2

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        size = self.values.size
        return _lines(self, f"{size} answer{'s' * (size > 1)}, each")

    def __repr__(self) -> str:
        return f"Answers({self.values.size} values, {self.privacy!r})"


def farthest(mechanism: Mechanism) -> Fraction | float:
    """Return the maximum error of a release, rounding to the lattice included; or inf."""
    drawn = mechanism.discretized
    if isinstance(drawn.radius, float):
        return drawn.radius
    return drawn.radius + rounding_error(drawn.step, integer=mechanism.integer)


def half_width(mechanism: Mechanism, confidence: Number) -> Fraction:
    """Return the smallest error that a release exceeds with probability at most 1 − confidence."""
    noise = mechanism.discretized.noise
    steps = noise.within(parse_confidence(confidence))
    return steps * noise.step + rounding_error(noise.step, integer=mechanism.integer)


def _place(mechanism: Mechanism) -> Fraction:
    """Return the decimal place that values are printed to: 1 for integers."""
    if mechanism.integer:
        return Fraction(1)
    error = farthest(mechanism)
    if isinstance(error, float):  # unbounded noise: by what nearly all stay within
        error = half_width(mechanism, _NEARLY_ALL)
    return Fraction(10) ** magnitude(error / 1000)


def format_value(answer: Answer) -> str:
    """Print the value to a thousandth of its error; finer digits mean nothing."""
    return format_to_place(answer.value, _place(answer.mechanism))


def format_errors(answer: Answer | Answers) -> tuple[str, str | None]:
    """Print the 95% error and the maximum error of what is shown, both rounded up.

    None if there is no maximum error.
    """
    shown, mechanism = answer._off(), answer.mechanism
    usual = half_width(mechanism, Fraction(19, 20)) + shown
    always = farthest(mechanism)
    return (
        format_rounded(usual, 4, ROUND_CEILING),
        None if isinstance(always, float) else format_rounded(always + shown, 4, ROUND_CEILING),
    )


def exact_release(mechanism: Mechanism) -> str | None:
    """Print the probability of an exact release, if that had to be allowed."""
    if not mechanism.needs_allow_exact:
        return None
    return f"with probability {format_rounded(mechanism.exact_probability, 6, ROUND_CEILING)}"


def max_error_words(error: str | None) -> str:
    """Print a maximum error within a sentence."""
    return held("no max error" if error is None else f"max error {error}")


def recorded_as(receipt: Receipt | None) -> str:
    """Print where a release is recorded, if it is; no line may break within its key."""
    if receipt is None:
        return "not recorded"
    return f"recorded as {held(repr(receipt.key))} on {receipt.at[:10]}"


def reused_line(receipt: Receipt | None) -> str:
    """Return the first line of an answer that an earlier release stored; else nothing."""
    if receipt is None or not receipt.reused:
        return ""
    return f"Stored answer of {receipt.at[:10]}: nothing was charged, no new noise."


def _lines(answer: Answer | Answers, result: str) -> str:
    """Return an answer as text: the result first, then its guarantee and record."""
    usual, always = format_errors(answer)
    exact = exact_release(answer.mechanism)
    about = f", exact {exact}" if exact else ""
    lines = sentences(
        f"{result} ± {usual} (95% confidence, {max_error_words(always)})",
        f"{format_guarantee(answer.privacy)}{about}; {recorded_as(answer.receipt)}",
    )
    return "\n".join([*filter(None, [reused_line(answer.receipt)]), *lines])


def _facts(answer: Answer | Answers) -> list[Fact]:
    usual, always = format_errors(answer)
    exact = exact_release(answer.mechanism)
    return [
        ("95% error", f"± {usual}"),
        ("Max error", always or "none"),
        ("Guarantee", format_guarantee(answer.privacy)),
        *([("Exact release", exact)] if exact else []),
        *record_facts(answer.receipt),
    ]


def record_facts(receipt: Receipt | None) -> list[Fact]:
    """Return whether and under which key a release is recorded."""
    if receipt is None:
        return [("Budget", "not recorded")]
    return [("Budget", f"recorded on {receipt.at[:10]}"), ("Key", receipt.key)]
