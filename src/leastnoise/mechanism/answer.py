"""What leaves: a released number, or an array of them, with what is known about its error."""

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
    parse_rational,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import UNRECORDED, Receipt
from leastnoise.rendering import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.mechanism.columns import Form
    from leastnoise.mechanism.mechanism import Mechanism


_ENDLESS = "there is no largest error"
_NEARLY_ALL = Fraction(999, 1000)


@Releasing.register
class Answer:
    """A released number, which cannot be changed.

    Only the noisy lattice point is kept: the true value is nowhere in it.
    """

    # No frozen dataclass: to set its fields takes a tenth of a release.
    __slots__ = ("_index", "_mechanism", "_receipt")

    def __init__(self, index: int, mechanism: Mechanism, receipt: Receipt | None = None) -> None:
        """Take the parts."""
        self._index = index
        self._mechanism = mechanism
        self._receipt = receipt

    @property
    def index(self) -> int:
        """The lattice point."""
        return self._index

    @property
    def mechanism(self) -> Mechanism:
        """What released it."""
        return self._mechanism

    @property
    def composed_as(self) -> Mechanism:
        """What :func:`leastnoise.compose` counts: its mechanism."""
        return self._mechanism

    @property
    def receipt(self) -> Receipt | None:
        """That it is in a ledger, with the chain's head; None if it is in none."""
        return self._receipt

    @property
    def value(self) -> Fraction:
        """The released number, exactly: a point of the lattice."""
        return self.index * self.mechanism.drawn.step

    @property
    def privacy(self) -> Privacy:
        """The promise this release keeps."""
        return self.mechanism.privacy

    @property
    def bound(self) -> Fraction | float:
        """The true value is never further away than this (100 %, not 99.9 %).

        ``math.inf`` for noise without a largest size.
        """
        return farthest(self.mechanism)

    @property
    def exact_probability(self) -> Fraction:
        """The probability with which the exact value left (:attr:`Mechanism.exact_probability`)."""
        return self.mechanism.exact_probability

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that holds the true value with at least this probability.

        It is exact for what was drawn, rounding of the true value to the lattice included.
        """
        reach = half_width(self.mechanism, confidence)
        return self.value - reach, self.value + reach

    def explain(self) -> str:
        """Say in plain words what was released and what it promises."""
        return f"{self}. {self.mechanism.explain()}"

    def _off(self) -> Fraction:
        """Return how far the printed number can be from the released one."""
        return Fraction(0) if self.mechanism.integer else _place(self.mechanism) / 2

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return table(_rounded(self), _facts(self))

    def __float__(self) -> float:
        """Return the float nearest to the released number."""
        return self.mechanism.grid.nearest_float(self.index)

    def __str__(self) -> str:
        """Say it in one honest line: the errors are rounded up and include that of printing."""
        return f"{_rounded(self)} {_error_line(self)}, {_promise(self)}"

    def __repr__(self) -> str:
        """Print the released number and nothing else that could surprise."""
        return f"Answer({_rounded(self)}, {self.privacy!r})"

    def __eq__(self, other: object) -> bool:
        """Whether another is the same number by the same mechanism in the same place."""
        if not isinstance(other, Answer):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        """Return the same for equal answers."""
        return hash(self._parts())

    def _parts(self) -> tuple[int, Mechanism, Receipt | None]:
        return self._index, self._mechanism, self._receipt


@Releasing.register
@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Released numbers in the shape of the array or column that was given.

    Attributes:
        values: The released numbers: the floats nearest to lattice points, or whole numbers;
            fractions or long integers (in an object array) where those do not reach.
        mechanism: What released them.
        privacy: The promise for one person, as asked with ``touches``.
        form: What kind of column was given, with its index and name and none of its values; None
            for an array.
        receipt: That they are in a ledger, with the chain's head; None if they are in none.
    """

    values: NDArray[Any]
    mechanism: Mechanism
    privacy: Privacy
    form: Form | None = None
    receipt: Receipt | None = None

    @property
    def composed_as(self) -> Mechanism | Privacy:
        """What :func:`leastnoise.compose` counts: priced for several touches, the stated promise.

        Then it is no longer one release of the mechanism.
        """
        return self.mechanism if self.privacy == self.mechanism.privacy else self.privacy

    @property
    def column(self) -> Any:
        """The released numbers as what was given: a pandas or polars Series, an Arrow array.

        A Series has the index and the name of the given one; a chunked Arrow array has one chunk.
        It is made anew each time and shares no memory with :attr:`values`. Where those are
        fractions or long integers, polars and Arrow columns hold the nearest numbers of their
        widest types; :attr:`bound` is of the values. Of a numpy array, the array of values itself.
        """
        if self.form is None:
            return self.values
        return self.form.column(self.values, integer=self.mechanism.integer)

    @property
    def bound(self) -> Fraction | float:
        """No true value is further from its released one than this.

        ``math.inf`` for noise without a largest size.

        The released floats are the nearest to lattice points; how far they may be from them is
        included, so for large values this is a little more than :attr:`Answer.bound`.
        """
        return farthest(self.mechanism) + self._off()

    @property
    def exact_probability(self) -> Fraction:
        """The probability, for each element, with which its exact value left."""
        return self.mechanism.exact_probability

    def interval(self, confidence: Number = 0.95) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return, for each element, an interval that holds its true value so often (one by one).

        The ends are rounded outward.
        """
        from leastnoise.core.arrays import added

        reach = half_width(self.mechanism, confidence) + self._off()
        if self.values.dtype == object:  # fractions or long integers, which are exact
            return self.values - reach, self.values + reach
        import numpy as np

        if self.mechanism.integer:
            return added(self.values, -int(reach)), added(self.values, int(reach))

        width = math.nextafter(as_float(reach), math.inf)
        with np.errstate(over="ignore"):  # beyond the largest float an end is infinite
            low, high = self.values - width, self.values + width
        return np.nextafter(low, -math.inf), np.nextafter(high, math.inf)

    def _repr_html_(self) -> str:
        """Show how many answers there are and what they promise."""
        return table(repr(self), _facts(self))

    def _off(self) -> Fraction:
        """Return how far a released float can be from its lattice point: half an ulp."""
        if self.values.dtype.kind != "f":
            return Fraction(0)
        return Fraction(math.ulp(float(abs(self.values).max()))) / 2

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self.values)

    def __str__(self) -> str:
        """Say it in one honest line."""
        size = self.values.size
        return f"{size} answer{'s' * (size > 1)}, each {_error_line(self)}, {_promise(self)}"

    def __repr__(self) -> str:
        """Print how many there are and what they promise."""
        return f"Answers({self.values.size} values, {self.privacy!r})"


def farthest(mechanism: Mechanism) -> Fraction | float:
    """Return the largest error a release can have, rounding to the lattice included; or inf."""
    radius = mechanism.drawn.radius
    return radius if isinstance(radius, float) else radius + _rounding(mechanism)


def half_width(mechanism: Mechanism, confidence: Number) -> Fraction:
    """Return the smallest error that a release exceeds with probability at most 1 − confidence."""
    level = parse_rational(confidence, "confidence")
    if not 0 < level <= 1:
        raise InvalidParameter(
            f"confidence must be above 0 and at most 1; got {quote(confidence)}. "
            "Give for instance 0.95."
        )
    law = mechanism.drawn.noise
    return law.within(level) * law.step + _rounding(mechanism)


def _rounding(mechanism: Mechanism) -> Fraction:
    """Return how far the true value can be from its lattice point."""
    return Fraction(0) if mechanism.integer else mechanism.drawn.step / 2


def _rounded(answer: Answer) -> str:
    """Print the value to a thousandth of its error, which is all that means anything."""
    return format_to_place(answer.value, _place(answer.mechanism))


def _place(mechanism: Mechanism) -> Fraction:
    """Return the decimal place that values are printed to: 1 for whole numbers."""
    if mechanism.integer:
        return Fraction(1)
    error = farthest(mechanism)
    if isinstance(error, float):  # noise without a largest size: by what nearly all stay within
        error = half_width(mechanism, _NEARLY_ALL)
    return Fraction(10) ** magnitude(error / 1000)


def _error_line(answer: Answer | Answers) -> str:
    usual, always = _errors(answer)
    return f"(± {usual} with 95 %, {f'± {always} always' if always else _ENDLESS})"


def _errors(answer: Answer | Answers) -> tuple[str, str | None]:
    """Return the error that 95 % stay within and that all do, of what is shown: both rounded up.

    None where there is no error that all stay within.
    """
    shown, mechanism = answer._off(), answer.mechanism
    usual = half_width(mechanism, Fraction(19, 20)) + shown
    always = farthest(mechanism)
    return (
        format_rounded(usual, 4, ROUND_CEILING),
        None if isinstance(always, float) else format_rounded(always + shown, 4, ROUND_CEILING),
    )


def _facts(answer: Answer | Answers) -> dict[str, str]:
    """Return what a notebook shows beside a released number."""
    usual, always = _errors(answer)
    facts = {
        "95 %": f"± {usual}",
        "always": f"± {always}" if always else _ENDLESS,
        "promise": str(answer.privacy),
        "recorded": recorded_as(answer.receipt),
    }
    if answer.mechanism.needs_allowance:
        left = format_rounded(answer.exact_probability, 6, ROUND_CEILING)
        facts["exact value left"] = f"with probability {left}"
    return facts


def recorded_as(receipt: Receipt | None) -> str:
    """Say where a release is recorded, if it is."""
    if receipt is None:
        return str(UNRECORDED)
    again = "the stored answer, " if receipt.again else ""
    return f"{again}recorded as {receipt.key!r} on {receipt.at[:10]}"


def _promise(answer: Answer | Answers) -> str:
    left = format_rounded(answer.exact_probability, 6, ROUND_CEILING)
    needed = answer.mechanism.needs_allowance
    exact = f", the exact value left with probability {left}" if needed else ""
    return f"{answer.privacy}{exact}; {recorded_as(answer.receipt)}"
