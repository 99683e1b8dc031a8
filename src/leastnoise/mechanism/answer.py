"""Answers: released numbers with their guarantee, their errors and their ledger entry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic

from leastnoise.accounting import Composable
from leastnoise.core.exact import (
    Number,
    as_float,
    format_rounded,
    format_to_place,
)
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.deprecation import RenamedAttribute
from leastnoise.json_types import Json
from leastnoise.ledger import Receipt, mark
from leastnoise.mechanism.answer_text import (
    format_brief,
    max_error_words,
    record_facts,
    recorded_as,
    reused_lines,
)
from leastnoise.mechanism.figures import INTERVAL, USUAL, figures_to_json
from leastnoise.mechanism.release_errors import (
    decimal_place,
    exact_release,
    farthest,
    half_width,
    interval_figures,
)
from leastnoise.mechanism.value_methods import ReleasedValue, document_head, json_text
from leastnoise.rendering import Fact, sentences, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    from leastnoise.mechanism.columns import Column, SeriesKind
    from leastnoise.mechanism.mechanism import Mechanism

    # The mechanism and the given type decide whether it is int64, float64 or object. With
    # a union of the three, type checkers would reject most uses of the array.
    ReleasedArray = NDArray[Any]
    # The kind of the given array or column. An annotation may omit it.
    AnyColumn = ReleasedArray | Column
    ColumnT_co = TypeVar("ColumnT_co", bound=AnyColumn, default=AnyColumn, covariant=True)
else:
    from typing import TypeVar

    ColumnT_co = TypeVar("ColumnT_co", covariant=True)

_NAMES = [column.name for column in INTERVAL]
# Columns of arrays, whose errors include the rounding of the released floats.
_OF_ARRAYS = [replace(column, widened=False) for column in INTERVAL]


@Composable.register
class Answer(ReleasedValue):
    """A released number with its guarantee and its errors; immutable.

    It holds the noisy lattice point only. The true value is not stored in it.

    >>> from leastnoise import Privacy, calibrate
    >>> answer = calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True).release(42)
    >>> low, high = answer.interval("0.95")
    >>> high - low, answer.max_error
    (Fraction(10, 1), Fraction(5, 1))
    """

    # Not a frozen dataclass, because setting its fields takes a tenth of the time of a release.
    __slots__ = ("_index", "_mechanism", "_receipt")
    _scope = ""  # the subject of the guarantee, if it must be stated
    bound = RenamedAttribute[Fraction | float]("max_error")

    def __init__(self, index: int, mechanism: Mechanism, receipt: Receipt | None = None) -> None:
        self._index = index
        self._mechanism = mechanism
        self._receipt = receipt

    @property
    def index(self) -> int:
        """The noisy lattice point, as a number of steps from 0."""
        return self._index

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that released the answer."""
        return self._mechanism

    @property
    def composed_as(self) -> Mechanism:
        """The part of a composition (:func:`leastnoise.compose`): the mechanism."""
        return self._mechanism

    @property
    def receipt(self) -> Receipt | None:
        """The receipt of the ledger entry, with the head of the chain; None if unrecorded."""
        return self._receipt

    @property
    def value(self) -> Fraction:
        """The released number as an exact fraction: a point of the lattice."""
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
        """Return a confidence interval for the true value.

        The confidence is exact for the discretized noise, and includes the rounding of the true
        value to the lattice.

        Args:
            confidence: The probability with which the interval contains the true value, above 0 and
                at most 1; below 1 for unbounded noise. Default: 0.95.

        Returns:
            The lower and the upper end.

        Raises:
            InvalidParameter: If ``confidence`` is out of range.
        """
        width = half_width(self.mechanism, confidence)
        return self.value - width, self.value + width

    def explain(self) -> str:
        """Return the printed answer and the meaning of its guarantee in plain words."""
        return f"{self}\n{self.mechanism.explain()}"

    def to_dict(self) -> Json:
        """Return the answer as JSON (docs/answers.md): numbers, and their exact ratios."""
        head = document_head(
            title=f"{mark(self._receipt)}release",
            columns=INTERVAL,
            privacy=self.privacy,
            receipt=self._receipt,
        )
        figures = interval_figures(self.value, half_width(self.mechanism, USUAL), self.max_error)
        integers = _NAMES if self._is_integer else ()
        return head | figures_to_json(INTERVAL, figures, integers)

    @property
    def _is_integer(self) -> bool:
        return self.mechanism.integer

    def _rounding_error(self) -> Fraction:
        """Return the largest rounding error of the printed number."""
        return Fraction(0) if self.mechanism.integer else decimal_place(self.mechanism) / 2

    def _repr_html_(self) -> str:
        return table(mark(self._receipt) + format_value(self), _facts(self))

    def __float__(self) -> float:
        return self.mechanism.grid.nearest_float(self.index)

    def __str__(self) -> str:
        return _lines(self, f"release: {format_value(self)}")

    def __repr__(self) -> str:
        return mark(self._receipt) + format_brief(
            "release", f"{format_value(self)} ± {format_errors(self)[0]} (95%)", self.privacy
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[int, Mechanism, Receipt | None]:
        return self._index, self._mechanism, self._receipt


@Composable.register
@dataclass(frozen=True, slots=True, eq=False)
class Answers(Generic[ColumnT_co]):
    """Released numbers in the shape of the given array or column.

    Attributes:
        values: The released numbers: the floats nearest to lattice points, or 64-bit integers; an
            object array of fractions or long integers if 64 bits are too few.
        mechanism: The mechanism that released them.
        privacy: The guarantee for a person who can change ``contributions`` elements.
        form: The kind of the given column with its index and name, without its values; None for an
            array.
        receipt: The receipt of the ledger entry, with the head of the chain; None if unrecorded.

    >>> import numpy as np
    >>> from leastnoise import Privacy, calibrate
    >>> mechanism = calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True)
    >>> answers = mechanism.release(np.array([120, 80, 95]), contributions=2)
    >>> len(answers), answers.max_error, answers.privacy
    (3, Fraction(5, 1), Privacy(epsilon=0, delta=0.19))
    """

    values: ReleasedArray
    mechanism: Mechanism
    privacy: Privacy
    form: SeriesKind | None = None
    receipt: Receipt | None = None
    _scope = ""
    bound = RenamedAttribute[Fraction | float]("max_error")

    @property
    def composed_as(self) -> Mechanism | Privacy:
        """The part of a composition (:func:`leastnoise.compose`).

        It is the mechanism for one contribution, and the guarantee for several, because these are
        more than one release of the mechanism.
        """
        return self.mechanism if self.privacy == self.mechanism.privacy else self.privacy

    @property
    def column(self) -> ColumnT_co:
        """The released numbers as the given kind: a pandas or polars Series or an Arrow array.

        Its elements have the type of the released numbers, which can differ from that of the given
        ones. A Series keeps the index and the name of the given one. A chunked Arrow array has one
        chunk. Every access creates a new column, which shares no memory with :attr:`values`. If the
        values are fractions or long integers, polars and Arrow columns hold the nearest numbers of
        their widest types, while :attr:`max_error` is about :attr:`values`. For a numpy array it is
        :attr:`values` itself.
        """
        values: Any = self.values
        if self.form is not None:
            values = self.form.column(values, integer=self.mechanism.integer)
        column: ColumnT_co = values
        return column

    @property
    def max_error(self) -> Fraction | float:
        """Maximum error of every element; ``math.inf`` if the noise is unbounded.

        Released floats are the nearest ones to lattice points. The bound includes that rounding, so
        for large values it is slightly larger than :attr:`Answer.max_error`.
        """
        return farthest(self.mechanism) + self._rounding_error()

    @property
    def exact_probability(self) -> Fraction:
        """The probability of an exact release, for each element."""
        return self.mechanism.exact_probability

    def interval(self, confidence: Number = 0.95) -> tuple[ReleasedArray, ReleasedArray]:
        """Return a confidence interval for each true value.

        The confidence holds for each element by itself, not for all of them at once. The ends are
        rounded outward.

        Args:
            confidence: The probability with which an interval contains its true value, above 0 and
                at most 1; below 1 for unbounded noise. Default: 0.95.

        Returns:
            An array of the lower ends and an array of the upper ends.

        Raises:
            InvalidParameter: If ``confidence`` is out of range.
        """
        from leastnoise.core.arrays import saturating_add

        values = self.values
        width = half_width(self.mechanism, confidence) + self._rounding_error()
        if values.dtype == object:  # fractions and long integers are exact
            return values - width, values + width
        import numpy as np

        if self.mechanism.integer:
            low, high = (saturating_add(values, shift) for shift in (-int(width), int(width)))
            return low, high

        upper = math.nextafter(as_float(width), math.inf)
        with np.errstate(over="ignore"):  # an end beyond the largest float is infinite
            low, high = values - upper, values + upper
        return np.nextafter(low, -math.inf), np.nextafter(high, math.inf)

    def to_dict(self) -> Json:
        """Return the answers as JSON (docs/answers.md), with a row for each element.

        The rows of an array of several axes are in C order: the last index changes fastest.
        """
        head = document_head(
            title=f"{mark(self.receipt)}release",
            columns=_OF_ARRAYS,
            privacy=self.privacy,
            receipt=self.receipt,
        )
        integers = _NAMES if self.mechanism.integer else ()
        width = half_width(self.mechanism, USUAL) + self._rounding_error()
        rows = [
            figures_to_json(
                _OF_ARRAYS, interval_figures(Fraction(value), width, self.max_error), integers
            )
            for value in self.values.ravel().tolist()
        ]
        return head | {"shape": list(self.values.shape), "rows": rows}

    def to_json(self) -> str:
        """Return the answers as a JSON text of one line; :meth:`to_dict` has its fields."""
        return json_text(self.to_dict())

    def __array__(self, dtype: object = None, copy: bool | None = None) -> ReleasedArray:
        """Return :attr:`values` for ``np.asarray``."""
        import numpy as np

        as_type: Any = dtype
        return np.array(self.values, dtype=as_type, copy=copy)

    def __iter__(self) -> Iterator[ReleasedArray]:
        """Iterate over :attr:`values` along the first axis."""
        return iter(self.values)

    def _repr_html_(self) -> str:
        return table(repr(self), _facts(self))

    def _rounding_error(self) -> Fraction:
        """Return the largest distance of a released float from its lattice point: half an ulp."""
        if self.values.dtype.kind != "f":
            return Fraction(0)
        return Fraction(math.ulp(float(abs(self.values).max()))) / 2

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        size = self.values.size
        return _lines(self, f"{size} answer{'s' * (size > 1)}, each")

    def __repr__(self) -> str:
        return f"{mark(self.receipt)}Answers({self.values.size} values, {self.privacy!r})"


def format_value(answer: Answer) -> str:
    """Format the value to a thousandth of its error, because finer digits mean nothing."""
    return format_to_place(answer.value, decimal_place(answer.mechanism))


def format_errors(answer: Answer | Answers) -> tuple[str, str | None]:
    """Format the 95% error and the maximum error of the printed number, both rounded up.

    The second is None if there is no maximum error.
    """
    rounding, mechanism = answer._rounding_error(), answer.mechanism
    width = half_width(mechanism, USUAL) + rounding
    error = farthest(mechanism)
    return (
        format_rounded(width, 4, ROUND_CEILING),
        None if isinstance(error, float) else format_rounded(error + rounding, 4, ROUND_CEILING),
    )


def _lines(answer: Answer | Answers, result: str) -> str:
    """Return an answer as text: the result first, then its guarantee and ledger entry."""
    width, max_error = format_errors(answer)
    exact = exact_release(answer.mechanism)
    about = f", exact {exact}" if exact else ""
    lines = sentences(
        f"{mark(answer.receipt)}{result} ± {width} (95% confidence, {max_error_words(max_error)})",
        f"{format_guarantee(answer.privacy)}{answer._scope}{about}; {recorded_as(answer.receipt)}",
    )
    return "\n".join([*lines, *reused_lines(answer.receipt)])


def _facts(answer: Answer | Answers) -> list[Fact]:
    width, max_error = format_errors(answer)
    exact = exact_release(answer.mechanism)
    return [
        ("95% error", f"± {width}"),
        ("Max error", max_error or "none"),
        ("Guarantee", format_guarantee(answer.privacy) + answer._scope),
        *([("Exact release", exact)] if exact else []),
        *record_facts(answer.receipt),
    ]
