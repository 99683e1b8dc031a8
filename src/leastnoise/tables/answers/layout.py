"""How answers of one kind become the columns of a table: printed, exported, and exact.

Figures are ratios of integers that are not reduced, because reducing them takes longer than all
else. What depends on the noise alone is computed once per mechanism, so a million answers take
seconds.
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
from leastnoise.mechanism import Answer, Mechanism, farthest, half_width
from leastnoise.tables.answers.number import TableNumber
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.ratio import Ratio
from leastnoise.tables.rounding import (
    float_above,
    float_below,
    float_near,
    format_down,
    format_error,
    format_nearest,
    format_up,
    place_for,
)

USUAL = Fraction(19, 20)
NONE = "none"
# The figures of one answer, in the order of its columns; None for an error without a maximum.
Figures = tuple[Ratio | None, ...]


class TableAnswer(Protocol):
    """What every answer from a table has.

    A class other than :class:`Answer` also has ``layout``, its :class:`Layout`.
    """

    @property
    def value(self) -> Fraction:
        """The released value."""

    @property
    def max_error(self) -> Fraction | float:
        """The maximum error; infinite for unbounded noise."""

    @property
    def subject(self) -> Subject:
        """What the value is about: bounds, contributions and omitted rows."""

    @property
    def privacy(self) -> Privacy:
        """The guarantee of the numbers that make this answer: its own share."""

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together with it."""

    @property
    def receipt(self) -> Receipt | None:
        """The ledger's receipt, if there is one."""

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return a confidence interval."""

    def __float__(self) -> float:
        """Return the float nearest to the value."""


One = TypeVar("One", bound=TableAnswer)


@dataclass(frozen=True)
class Figure:
    """A column of figures.

    Attributes:
        name: The name of the column.
        to_float: How a ratio becomes a float: to the nearest, down or up.
        json: The name in the JSON of a command, if another.
        confident: Whether the column holds with 95 % only.
        widened: Whether it is an error of the value, so that an export must add by how much the
            value was rounded.
    """

    name: str
    to_float: Callable[[int, int], float] = float_above
    json: str | None = None
    confident: bool = False
    widened: bool = False


@dataclass(frozen=True)
class Layout(Generic[One]):
    """How answers of one kind are laid out.

    Attributes:
        columns: The columns; the first one is the value.
        figures: Returns the figures of answers, one after another.
        mechanisms: Returns what released an answer.
        whole: Returns the names of the columns that hold integers, whatever was drawn.
        header: What stands above the printed cells after the value, the maximum error last.
        cells: Prints an answer: from its figures, itself and whether its value is an integer.
        released: What the printed notes call a released number.
        same_max_error: Whether the maximum error depends on the noise alone.
        unbounded: Why there is no maximum error. Default: the noise is unbounded.
    """

    columns: tuple[Figure, ...]
    figures: Callable[[Sequence[One]], Iterator[Figures]]
    mechanisms: Callable[[One], tuple[Mechanism, ...]]
    whole: Callable[[Sequence[One]], set[str]]
    header: tuple[str, ...]
    cells: Callable[[Figures, One, bool], list[str]]
    released: str = "each number"
    same_max_error: bool = True
    unbounded: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


def layout_of(answers: Sequence[TableAnswer]) -> Layout[Any]:
    """Return the layout of answers, which must be of one kind; of no answers, that of numbers."""
    kinds = set(map(type, answers))
    if not kinds:
        return NUMBERS
    layouts = [
        NUMBERS if issubclass(kind, Answer) else getattr(kind, "layout", None) for kind in kinds
    ]
    if len(kinds) > 1 or not isinstance(layouts[0], Layout):
        raise InvalidParameter(
            "the answers of a table must be numbers, or means, or quantiles",
            got=" and ".join(sorted(kind.__name__ for kind in kinds)),
            fix="Make a table for each kind.",
        )
    return layouts[0]


def mechanisms_of(answers: Sequence[TableAnswer]) -> list[Mechanism]:
    """Return the mechanisms that released answers, each once."""
    mechanisms = layout_of(answers).mechanisms
    return list({id(one): one for answer in answers for one in mechanisms(answer)}.values())


def confidence_of_each(confidence: Number, parts: int) -> Fraction:
    """Return the confidence that each part needs for all to hold together (union bound)."""
    level = parse_confidence(confidence)
    return 1 - (1 - level) / parts if parts else level


def interval_cells(
    figures: Figures,
    *,
    whole: bool,
    within: tuple[Fraction, Fraction] | None = None,
    otherwise: Fraction | None = None,
) -> list[str]:
    """Print a value, its 95 % interval and its maximum error, from the first four figures.

    Ends are rounded outward, and the error includes that of rounding the value, all to the decimal
    place of a thousandth of the interval; of ``otherwise``, if that has no width. ``within`` is a
    range that both the true value and the released one lie in.
    """
    value, low, high = (Fraction(*figure) for figure in figures[:3] if figure is not None)
    scale = otherwise or abs(value) or Fraction(1)
    unit = Fraction(1) if whole else place_for(high - low, scale)
    bound = figures[3]
    always = format_error(Fraction(*bound), value, unit, within) if bound else NONE
    return [
        format_nearest(value, unit),
        f"{format_down(low, unit)} to {format_up(high, unit)}",
        always,
    ]


def _figures(answers: Sequence[Answer]) -> Iterator[Figures]:
    known: dict[int, tuple[int, int, int, Ratio | None]] = {}
    for answer in answers:
        mechanism = answer.mechanism
        errors = known.get(id(mechanism))
        if errors is None:
            errors = known[id(mechanism)] = _errors(mechanism)
        step, scale, half, bound = errors
        value = answer.index * step
        yield (value, scale), (value - half, scale), (value + half, scale), bound


def _errors(mechanism: Mechanism) -> tuple[int, int, int, Ratio | None]:
    """Return step, scale and half width (step and half width times the scale), and the bound."""
    step, half, bound = (
        mechanism.discretized.step,
        half_width(mechanism, USUAL),
        farthest(mechanism),
    )
    scale = math.lcm(step.denominator, half.denominator)
    always = None if isinstance(bound, float) else bound.as_integer_ratio()
    return int(step * scale), scale, int(half * scale), always


def _whole(answers: Sequence[TableNumber]) -> set[str]:
    return set(NUMBERS.names) if all(one.integer for one in mechanisms_of(answers)) else set()


# What counts and sums have, and means first of all.
INTERVAL = (
    Figure("value", float_near),
    Figure("low", float_below, json="interval_95", confident=True),
    Figure("high", json="interval_95", confident=True),
    Figure("max_error", json="bound", widened=True),
)
NUMBERS: Layout[TableNumber] = Layout(
    columns=INTERVAL,
    figures=_figures,
    mechanisms=lambda answer: (answer.mechanism,),
    whole=_whole,
    header=("95% interval", "max error"),
    cells=lambda figures, _, whole: interval_cells(figures, whole=whole),
)
