"""``Layout``: the columns of answers of one class, for printing and export.

Figures are ratios of integers that are not reduced, because reducing them would take most of the
time. Errors that depend only on the noise are computed once per mechanism, so a million answers
take seconds.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from leastnoise.core.exact import Number, parse_confidence
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import (
    INTERVAL,
    USUAL,
    Answer,
    Figure,
    Figures,
    Mechanism,
    farthest,
    half_width,
)
from leastnoise.tables.answers.facts import Shown
from leastnoise.tables.answers.number import TableNumber
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.ratio import Ratio
from leastnoise.tables.rounding import (
    format_down,
    format_error,
    format_nearest,
    format_up,
    place_for,
    printed_error,
)

NONE = "none"


class TableAnswer(Protocol):
    """The interface of all answers from tables.

    A class that is not an :class:`Answer` also has a :class:`Layout`, ``layout``.
    """

    @property
    def value(self) -> Fraction:
        """The released value."""

    @property
    def max_error(self) -> Fraction | float:
        """The maximum error; infinite for unbounded noise."""

    @property
    def subject(self) -> Subject:
        """The quantity that the value is about: bounds, contributions and omitted rows."""

    @property
    def privacy(self) -> Privacy:
        """The guarantee of this answer alone, for one unit."""

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""

    @property
    def receipt(self) -> Receipt | None:
        """The ledger's receipt; None if the answer is in no ledger."""

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return a confidence interval."""

    def result(self) -> Shown:
        """Return the parts of the answer as they are printed."""

    def __float__(self) -> float:
        """Return the float nearest to the value."""


One = TypeVar("One", bound=TableAnswer)


@dataclass(frozen=True)
class Layout(Generic[One]):
    """The layout of answers of one class.

    Attributes:
        columns: The columns; the first one is the value.
        figures: Yields the figures of each answer.
        mechanisms: Returns the mechanisms that released an answer.
        whole: Returns the names of the columns that always hold integers.
        header: The headers of the printed columns after the value, the maximum error last.
        cells: Prints a row, from the figures, the answer and whether the value is an integer.
        released: The name of a released number in printed notes.
        common_error: Returns the printed maximum error of a row, from its figures and whether the
            value is an integer. Default: the maximum error depends on more than the noise.
        unbounded: Why there is no maximum error. Default: the noise is unbounded.
        with_group: Returns an answer whose subject names a group. Default: the answer as it is.
        confidence: Returns the confidence of ``low`` and ``high``. Default: 95%.
        additive: Whether the values of disjoint groups add up, as counts and sums do. Figures then
            have bars that start at 0.
    """

    columns: tuple[Figure, ...]
    figures: Callable[[Sequence[One]], Iterator[Figures]]
    mechanisms: Callable[[One], tuple[Mechanism, ...]]
    whole: Callable[[Sequence[One]], set[str]]
    header: tuple[str, ...]
    cells: Callable[[Figures, One, bool], list[str]]
    released: str = "each number"
    common_error: Callable[[Figures, bool], Fraction] | None = None
    unbounded: str = ""
    with_group: Callable[[One, str], One] | None = None
    confidence: Callable[[One], Fraction] = lambda _: USUAL
    additive: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


def layout_of(answers: Sequence[TableAnswer]) -> Layout[TableAnswer]:
    """Return the layout of answers of one class; without answers, that of numbers."""
    kinds = set(map(type, answers))
    layouts: list[object] = [
        NUMBERS if issubclass(kind, Answer) else getattr(kind, "layout", None) for kind in kinds
    ] or [NUMBERS]
    if len(kinds) > 1 or not isinstance(layouts[0], Layout):
        raise InvalidParameter(
            "The answers of a table must be numbers, or means, or quantiles",
            got=" and ".join(sorted(kind.__name__ for kind in kinds)),
            fix="Make a table for each class.",
        )
    return layouts[0]


def mechanisms_of(answers: Sequence[TableAnswer]) -> list[Mechanism]:
    """Return the mechanisms that released answers, each once."""
    mechanisms = layout_of(answers).mechanisms
    by_id = {id(each): each for answer in answers for each in mechanisms(answer)}
    return list(by_id.values())


def interval_confidence(answers: Sequence[TableAnswer]) -> Fraction | None:
    """Return the confidence of the columns ``low`` and ``high``, or None without them."""
    layout = layout_of(answers)
    if "low" not in layout.names:
        return None
    return layout.confidence(answers[0]) if answers else USUAL


def confidence_of_each(confidence: Number, parts: int) -> Fraction:
    """Return the confidence that each part needs for all to hold together (union bound)."""
    level = parse_confidence(confidence)
    return 1 - (1 - level) / parts if parts else level


def print_interval(
    figures: Figures,
    *,
    whole: bool,
    within: tuple[Fraction, Fraction] | None = None,
    otherwise: Fraction | None = None,
) -> list[str]:
    """Print a value, its 95% interval and its maximum error, from the first four figures.

    All are rounded to the decimal place of a thousandth of the interval's width. Interval ends are
    rounded outward, and the error includes the rounding of the value.

    Args:
        figures: The figures.
        whole: Whether the value is an integer.
        within: A range that contains the true value and the released one.
        otherwise: The number that determines the decimal place if the interval has width 0.
    """
    value, low, high = (Fraction(*figure) for figure in figures[:3] if figure is not None)
    unit = _printed_place(value, high - low, whole=whole, otherwise=otherwise)
    error = figures[3]
    max_error = NONE
    if error is not None:
        max_error = format_error(printed_error(Fraction(*error), value, unit, within))
    return [
        format_nearest(value, unit),
        f"{format_down(low, unit)} to {format_up(high, unit)}",
        max_error,
    ]


def _printed_place(
    value: Fraction, width: Fraction, *, whole: bool, otherwise: Fraction | None = None
) -> Fraction:
    """Return the decimal place to which a value is printed, from the width of its interval."""
    return Fraction(1) if whole else place_for(width, otherwise or abs(value) or Fraction(1))


def _common_error(figures: Figures, whole: bool) -> Fraction:
    """Return the maximum error of a number, with the rounding of its print."""
    value, low, high, error = (Fraction(*figure) for figure in figures if figure is not None)
    return printed_error(error, value, _printed_place(value, high - low, whole=whole))


def _figures(answers: Sequence[Answer]) -> Iterator[Figures]:
    known: dict[int, tuple[int, int, int, Ratio | None]] = {}
    for answer in answers:
        mechanism = answer.mechanism
        errors = known.get(id(mechanism))
        if errors is None:
            errors = known[id(mechanism)] = _errors(mechanism)
        step, scale, half, max_error = errors
        value = answer.index * step
        yield (value, scale), (value - half, scale), (value + half, scale), max_error


def _errors(mechanism: Mechanism) -> tuple[int, int, int, Ratio | None]:
    """Return step·scale, scale, half width·scale and the maximum error."""
    step, half, radius = (
        mechanism.discretized.step,
        half_width(mechanism, USUAL),
        farthest(mechanism),
    )
    scale = math.lcm(step.denominator, half.denominator)
    max_error = None if isinstance(radius, float) else radius.as_integer_ratio()
    return int(step * scale), scale, int(half * scale), max_error


def _find_integers(answers: Sequence[TableNumber]) -> set[str]:
    integer = all(mechanism.integer for mechanism in mechanisms_of(answers))
    return set(NUMBERS.names) if integer else set()


def _with_group(answer: Answer, group: str) -> Any:
    # A number that was released without a table has no subject.
    return answer.with_group(group) if isinstance(answer, TableNumber) else answer


NUMBERS: Layout[TableNumber] = Layout(
    columns=INTERVAL,
    figures=_figures,
    mechanisms=lambda answer: (answer.mechanism,),
    whole=_find_integers,
    header=("95% interval", "max error"),
    cells=lambda figures, _, whole: print_interval(figures, whole=whole),
    common_error=_common_error,
    with_group=_with_group,
    additive=True,
)
