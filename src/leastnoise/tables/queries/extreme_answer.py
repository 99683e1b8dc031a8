"""``ExtremeAnswer``: the bin that was selected for a minimum or a maximum."""

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
)
from leastnoise.tables.bounding import Bins
from leastnoise.tables.queries.quantile_answer import format_ends
from leastnoise.tables.queries.selecting import tail_target
from leastnoise.tables.rounding import (
    bin_place,
    float_below,
    float_near,
    format_down,
    format_rows,
    format_up,
)

_UNBOUNDED = "any bin can be selected"
_SUBJECT = Subject(title="approximate minimum", statistic="near minimum")


@dataclass(frozen=True, slots=True)
class ExtremeAnswer(TableValue):
    """The bin that was selected for a minimum or a maximum.

    How many rows lie beyond it is known with a confidence. The distance to the true minimum has no
    bound, because the rows beyond the bin can lie anywhere.

    Attributes:
        bin: The number of the selected bin, from 0.
        grid: All bins.
        highest: Whether it is a maximum.
        mechanism: The mechanism that selected the bin.
        privacy: The guarantee of this answer alone, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
        together: The guarantee of all answers that were released together; None if this is the only
            one.
        subject: The quantity that the answer is about.
    """

    layout: "ClassVar[Layout[ExtremeAnswer]]"

    bin: int
    grid: Bins
    highest: bool
    mechanism: PermuteAndFlip
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT

    def __post_init__(self) -> None:
        if not 0 <= self.bin < self.grid.count or self.mechanism.candidates != self.grid.count:
            raise InvalidParameter(
                f"bin must be an integer from 0 to {quote(self.grid.count - 1)}, with one "
                "candidate of the mechanism for each",
                got=f"{quote(self.bin)} and {self.mechanism.candidates} candidates",
                fix="Use the number of a bin of the grid, and the mechanism that selected it.",
            )

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def bin_bounds(self) -> tuple[Fraction, Fraction]:
        """The exact edges of the bin; for a bin of integers, its first and last integer."""
        return self.grid.ends(self.bin)

    @property
    def value(self) -> Fraction:
        """The outer edge of the bin: the lower one for a minimum, the upper one for a maximum."""
        low, high = self.bin_bounds
        return high if self.highest else low

    @property
    def max_error(self) -> float:
        """The maximum error: ``math.inf``, because any bin can be selected."""
        return math.inf

    def rows_beyond(self, confidence: Number = 0.95) -> int:
        """Return how many rows at most lie beyond ``value``, with at least this probability.

        This holds for any data. *Proof.* The error of the selected bin is at most t with at least
        this probability (:meth:`PermuteAndFlip.error_bound`), and some bin has error 0. The bin is
        the first one, below which no row lies, or its lower edge a has below(a) − r ≤ t, where r is
        the target. So at most r + t rows lie below. A maximum is the mirror image. ∎
        """
        return tail_target(self.mechanism, USUAL) + self.mechanism.error_bound(confidence)

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the extreme of the clipped values.

        It reaches from the end of the grid to the inner edge of the bin. At confidences above 95%
        it is the whole grid.

        *Proof.* If the error of the selected minimum is at most t, it is the last bin, or its upper
        edge b has r − below(b) ≤ t. For t < r at least one row lies below b, and so does the
        minimum. All clipped values lie in the grid. A maximum is the mirror image. ∎
        """
        first, last = self.grid.ends(0)[0], self.grid.ends(self.grid.count - 1)[1]
        if self.mechanism.error_bound(confidence) >= tail_target(self.mechanism, USUAL):
            return first, last
        low, high = self.bin_bounds
        return (low, last) if self.highest else (first, high)

    @property
    def _beyond(self) -> str:
        return "above" if self.highest else "below"

    def result(self) -> Shown:
        """Return the figures as they print."""
        few = self._format_rows()
        ends = format_ends(self.bin_bounds)
        return Shown(
            value=f"about {self._format_value()}",
            details=(
                ("Bin", ends, f"bin {ends}"),
                (f"Rows {self._beyond}", few, f"{few} {self._beyond}"),
            ),
            max_error=None,
            unbounded=_UNBOUNDED,
        )

    def _format_rows(self) -> str:
        return f"at most {format_rows(Fraction(self.rows_beyond()))} (95% confidence)"

    def _format_value(self) -> str:
        """Print the outer edge as :func:`format_ends` does: rounded outward."""
        low, high = self.bin_bounds
        if low == high:
            return format_exact(low)
        unit = bin_place(low, high)
        return format_up(high, unit) if self.highest else format_down(low, unit)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        few = f"at most {format_rows(Fraction(self.rows_beyond()))} {self._beyond} (95%)"
        return format_brief(
            self.subject.name, f"{format_ends(self.bin_bounds)}, {few}", self.privacy
        )


def _figures(answers: Sequence[ExtremeAnswer]) -> Iterator[Figures]:
    for answer in answers:
        ends = [end.as_integer_ratio() for end in answer.bin_bounds]
        yield answer.value.as_integer_ratio(), *ends, (answer.rows_beyond(), 1), None


def _print_row(_: Figures, answer: ExtremeAnswer, __: bool) -> list[str]:
    few = format_rows(Fraction(answer.rows_beyond()))
    return [answer._format_value(), few, format_ends(answer.bin_bounds), NONE]


def _find_integers(answers: Sequence[ExtremeAnswer]) -> set[str]:
    whole = all(answer.grid.integer for answer in answers)
    return {"rows_beyond", *(("value", "bin_low", "bin_high") if whole else ())}


ExtremeAnswer.layout = Layout(
    columns=(
        Figure("value", float_near),
        Figure("bin_low", float_below, json="bin"),
        Figure("bin_high", json="bin"),
        Figure("rows_beyond", json="rows_beyond_95", confident=True),
        Figure("max_error", json="bound"),
    ),
    figures=_figures,
    mechanisms=lambda _: (),
    whole=_find_integers,
    header=("rows beyond (95%)", "bin", "max error"),
    cells=_print_row,
    unbounded=_UNBOUNDED,
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
)
