"""``BoundsAnswer``: clipping bounds with the number of rows that may lie outside them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import Number, format_exact, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import PermuteAndFlip, format_brief
from leastnoise.tables.answers import (
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    Shown,
    Subject,
    TableValue,
    as_html,
    as_text,
    confidence_of_each,
)
from leastnoise.tables.bounding import RoundBins
from leastnoise.tables.queries.selecting import rows_of, tail_target
from leastnoise.tables.rounding import float_below, float_near

_UNBOUNDED = "any bin can be selected"
_SUBJECT = Subject(title="bounds", statistic="bounds")


@dataclass(frozen=True, slots=True)
class BoundsAnswer(TableValue):
    """Released clipping bounds. ``bounds`` can be passed to other queries.

    Attributes:
        places: The numbers of the bins with few rows below, and with few rows above, in order.
        grid: All bins.
        mechanism: The mechanism that selected each of them.
        privacy: The guarantee of this answer alone, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
        together: The guarantee of all answers that were released together; None if this is the only
            one.
        subject: The quantity that the answer is about.
    """

    layout: "ClassVar[Layout[BoundsAnswer]]"

    places: tuple[int, int]
    grid: RoundBins
    mechanism: PermuteAndFlip
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT

    def __post_init__(self) -> None:
        first, last = self.places
        if not 0 <= first <= last < self.grid.count:
            raise InvalidParameter(
                f"places must be two numbers of bins, from 0 to {quote(self.grid.count - 1)}",
                got=quote(self.places),
                fix="Use the numbers of the selected bins, the lower one first.",
            )

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The bounds, for the argument ``bounds=`` of other queries.

        They are the outer edges of both bins. If both bins are that of 0 alone, the next bin is
        included, because bounds must differ.
        """
        first, last = self.places
        low, high = self.grid.bins[first][0], self.grid.bins[last][1]
        if low < high:
            return low, high
        if last + 1 < self.grid.count:
            return low, self.grid.bins[last + 1][1]
        return self.grid.bins[first - 1][0], high

    @property
    def low(self) -> Fraction:
        """The lower bound."""
        return self.bounds[0]

    @property
    def high(self) -> Fraction:
        """The upper bound."""
        return self.bounds[1]

    @property
    def value(self) -> Fraction:
        """The distance of the bounds, which the noise of a mean grows with."""
        return self.high - self.low

    @property
    def max_error(self) -> float:
        """The maximum error: ``math.inf``, because any bin can be selected."""
        return math.inf

    def rows_outside(self, confidence: Number = 0.95) -> int:
        """Return how many rows at most lie below the bounds, and how many above.

        Both hold together with at least this probability, for any data. *Proof.* The error of each
        selection is at most t with probability 1 − (1 − confidence)/2, so both are with at least
        this confidence (union bound). Let r be the target. A bin with an error of at most t has at
        most r + t rows beyond it, as for :meth:`ExtremeAnswer.rows_beyond`. The bounds are the
        outer edges of these bins, or farther out, if the upper bin lies below the lower one. ∎
        """
        return most_outside(self.mechanism, confidence)

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Raise an error, because bounds have no interval: see :meth:`rows_outside`.

        Raises:
            InvalidParameter: Always.
        """
        raise InvalidParameter(
            "Released bounds have no interval",
            got=f"a confidence of {quote(confidence)}",
            fix="Use rows_outside(), the number of rows that may lie outside them.",
        )

    def result(self) -> Shown:
        """Return the figures as they print."""
        few = f"at most {rows_of(self.rows_outside())} below and as many above (95% confidence)"
        return Shown(
            value=_format(self),
            details=(("Rows outside", few, few),),
            max_error=None,
            unbounded=_UNBOUNDED,
        )

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        few = f"at most {rows_of(self.rows_outside())} outside at each end (95%)"
        return format_brief(self.subject.name, f"{_format(self)}, {few}", self.privacy)


def outside_target(mechanism: PermuteAndFlip) -> int:
    """Return the number of rows that each bin should have beyond it (:func:`tail_target`)."""
    return tail_target(mechanism, confidence_of_each(USUAL, 2))


def most_outside(mechanism: PermuteAndFlip, confidence: Number) -> int:
    """Return how many rows at most lie beyond each bound, at this confidence for both."""
    each = confidence_of_each(confidence, 2)
    return outside_target(mechanism) + mechanism.error_bound(each)


def _format(answer: BoundsAnswer) -> str:
    return " to ".join(map(format_exact, answer.bounds))


def _figures(answers: Sequence[BoundsAnswer]) -> Iterator[Figures]:
    for answer in answers:
        ends = [end.as_integer_ratio() for end in answer.bounds]
        yield answer.value.as_integer_ratio(), *ends, (answer.rows_outside(), 1), None


def _print_row(_: Figures, answer: BoundsAnswer, __: bool) -> list[str]:
    return [_format(answer), rows_of(answer.rows_outside()), NONE]


def _find_integers(answers: Sequence[BoundsAnswer]) -> set[str]:
    whole = all(end.denominator == 1 for answer in answers for end in answer.bounds)
    return {"rows_outside", *(("value", "lower_bound", "upper_bound") if whole else ())}


BoundsAnswer.layout = Layout(
    columns=(
        Figure("value", float_near),
        Figure("lower_bound", float_below, json="bounds"),
        Figure("upper_bound", json="bounds"),
        Figure("rows_outside", json="rows_outside_95", confident=True),
        Figure("max_error", json="bound"),
    ),
    figures=_figures,
    mechanisms=lambda _: (),
    whole=_find_integers,
    header=("rows outside each end (95%)", "max error"),
    cells=_print_row,
    unbounded=_UNBOUNDED,
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
)
