"""``QuantileAnswer``: the cell that was selected with its rank error, and an interval if asked."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import Number, as_float, format_exact, parse_confidence, quote
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, Words
from leastnoise.ledger import Receipt
from leastnoise.mechanism import PermuteAndFlip
from leastnoise.tables.answers import (
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    Shown,
    Subject,
    as_html,
    as_text,
)
from leastnoise.tables.bounding import Cells
from leastnoise.tables.ratio import Ratio
from leastnoise.tables.rounding import float_below, float_near, format_cell, format_rows

_UNBOUNDED = "any bin can be selected"
_SUBJECT = Subject(title="quantile", statistic="quantile")


@dataclass(frozen=True, slots=True)
class QuantileAnswer:
    """The cell that was selected for the q-quantile.

    Let n be the number of rows that count, below(e) how many of them lie below e, q = part/whole in
    lowest terms and D(e) = whole·below(e) − part·n. The rank error of a cell from edge a to edge b,
    in units of 1/whole rows, is max(0, D(a), −D(b)): 0 for a cell that holds a q-quantile. A cell
    is selected by these errors. If a unit has more rows than may count, or rows in several cells,
    its part of D is bounded: below and n are about the rows that count.

    The rank of the answer is known, and not its distance from the true quantile: where no rows lie,
    edges far apart have the same rank.

    Attributes:
        cell: The cell, from 0.
        grid: All cells.
        q: The share of rows that should lie below, above 0 and below 1.
        mechanism: What selected it.
        privacy: The guarantee of everything the answer consists of, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
        together: The guarantee of everything that was released with it; None if there was nothing
            else.
        subject: What the quantile is about.
    """

    layout: "ClassVar[Layout[QuantileAnswer]]"

    cell: int
    grid: Cells
    q: Fraction
    mechanism: PermuteAndFlip
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT
    bound = RenamedAttribute[float]("max_error")

    def __post_init__(self) -> None:
        if not self.grid.low < self.grid.high or not 0 < self.q < 1:
            raise InvalidParameter(
                "the lower bound must be below the upper one, and q between 0 and 1",
                got=f"{format_exact(self.grid.low)}, {format_exact(self.grid.high)} and "
                f"{format_exact(self.q)}",
                fix="Correct the bounds or q.",
            )
        if not 0 <= self.cell < self.cells:
            raise InvalidParameter(
                f"a cell must be one of {quote(self.cells)}, counted from 0",
                got=quote(self.cell),
                fix="Use one of these.",
            )
        if self.mechanism.candidates != self.cells:
            raise InvalidParameter(
                "a quantile must be selected from all of its cells",
                got=f"{self.cells} cells and {self.mechanism.candidates} candidates",
                fix="Use the mechanism that selected it.",
            )

    @property
    def low(self) -> Fraction:
        """The lower end of the first cell."""
        return self.grid.low

    @property
    def high(self) -> Fraction:
        """The upper end of the last cell."""
        return self.grid.high

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.grid.count

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def cell_bounds(self) -> tuple[Fraction, Fraction]:
        """The lower and the upper end of the cell, exactly; of integers, the first and the last."""
        return self.grid.ends(self.cell)

    @property
    def value(self) -> Fraction:
        """The middle of the cell, exactly; of integers, the lower of two in the middle."""
        middle = sum(self.cell_bounds, Fraction(0)) / 2
        return Fraction(middle // 1) if self.grid.integer else middle

    @property
    def max_error(self) -> float:
        """The maximum of :meth:`rank_error`: ``math.inf``, because any cell can be selected."""
        return math.inf

    def rank_error(self, confidence: Number = 0.95) -> Fraction:
        """Return k: with at least this probability the cell holds a quantile within k rows of q·n.

        The selection's own law says so (:meth:`PermuteAndFlip.error_bound`): whatever the data is,
        the rank error of the cell is at most k rows with this probability. Then

        * at most q·n + k rows lie below the lower edge, and
        * at least q·n − k rows lie below the upper edge (in the last cell: at or below it).

        So there is a number of rows r with |r − q·n| ≤ k that is not less than the number below
        the lower edge and not more than the number below the upper edge. Let x be the last point of
        the cell, edges included, with at most r rows below it. At least r rows lie at or below x,
        so x is an (r/n)-quantile. Which point of the cell it is remains unknown.
        """
        return Fraction(self.mechanism.error_bound(confidence), self.q.denominator)

    def interval(
        self,
        confidence: Number | None = None,  # noqa: ARG002 -- of quantiles that have one
    ) -> tuple[Fraction, Fraction]:
        """Raise an error: an interval must be asked for (:class:`IntervalQuantileAnswer`).

        The distance to the true quantile, in the unit of the data, depends on where the rows lie,
        and cannot be computed from the cell alone. The error of the rank can: :meth:`rank_error`.
        """
        raise InvalidParameter(
            "an interval for a quantile, in the unit of the data, costs a part of ε and must be "
            "asked for",
            got="a quantile that was asked without",
            fix="Ask with " + Words("interval=0.95, or use rank_error().", "--interval 0.95."),
        )

    def result(self) -> Shown:
        """Return the figures as they print."""
        error = f"at most {format_rows(self.rank_error(USUAL))} (95% confidence)"
        return Shown(
            value=_format(self.cell_bounds),
            details=(*self._details(), ("Rank error", error, f"rank error {error}")),
            max_error=None,
            unbounded=_UNBOUNDED,
        )

    def _details(self) -> tuple[tuple[str, str, str], ...]:
        """Return what is known besides the rank error: a label, a text, and both as a phrase."""
        return ()

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __float__(self) -> float:
        return as_float(self.value)

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_format(self.cell_bounds)}, {self.privacy!r})"


@dataclass(frozen=True, slots=True)
class IntervalQuantileAnswer(QuantileAnswer):
    """A quantile with an interval in the unit of the data.

    Attributes:
        ends: The first and the last cell of the interval.
        confidence: The confidence of the interval.
    """

    ends: tuple[int, int] = (0, 0)
    confidence: Fraction = USUAL

    def __post_init__(self) -> None:
        # Of a class with slots, super() without arguments is another class.
        super(IntervalQuantileAnswer, self).__post_init__()
        first, last = self.ends
        if not 0 <= first <= self.cell <= last < self.cells:
            raise InvalidParameter(
                f"the ends of an interval must be cells around {quote(self.cell)}",
                got=quote(self.ends),
                fix="Use the first and the last cell.",
            )

    def interval(self, confidence: Number | None = None) -> tuple[Fraction, Fraction]:
        """Return the interval that was asked for: it holds every q-quantile of the values.

        The values are those that count, clipped to the bounds; none is rounded before it is
        compared with an edge, except for decimals of more than 18 digits after the point on DuckDB
        and Spark, which the answer notes. With at least the confidence that was asked for, all x
        with below(x) ≤ q·n ≤ (rows at or below x) lie in it, for any data.

        *Proof.* Two further cells were selected, by D + s and D − s in place of D, where s = t + 1
        and a selection has an error of at most t with probability 1 − (1 − confidence)/2. Suppose
        that both have; then all holds with at least this confidence (union bound). The first one
        is the first of all cells, or has a lower edge a with D(a) + s ≤ t, so D(a) < 0: fewer than
        q·n rows lie below a, and every q-quantile is at a or above. The second one is the last of
        all cells, or has an upper edge b with −(D(b) − s) ≤ t, so D(b) > 0: more than q·n rows lie
        below b, and every q-quantile is below b. The interval reaches from the first of the three
        cells that were selected to the last of them; a wider one covers no less. ∎

        Raises:
            InvalidParameter: If the interval was asked for with a lower confidence.
        """
        if confidence is not None and parse_confidence(confidence) > self.confidence:
            raise InvalidParameter(
                "the interval of this quantile was asked for with a confidence of "
                f"{format_exact(self.confidence)}",
                got=quote(confidence),
                fix="Give at most that.",
            )
        first, last = self.ends
        return self.grid.ends(first)[0], self.grid.ends(last)[1]

    def _details(self) -> tuple[tuple[str, str, str], ...]:
        label, ends = f"{format_exact(self.confidence * 100)}% interval", _format(self.interval())
        return ((label, ends, f"{label} {ends}"),)


def _format(ends: tuple[Fraction, Fraction]) -> str:
    """Print a range, rounded outward; of one integer, that integer."""
    low, high = ends
    return format_exact(low) if low == high else format_cell(low, high)[1]


def _figures(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    known: dict[object, Ratio] = {}
    for one in answers:
        kind = id(one.mechanism), one.q.denominator
        error = known.get(kind)
        if error is None:
            error = known[kind] = one.rank_error(USUAL).as_integer_ratio()
        ends = [end.as_integer_ratio() for end in one.cell_bounds]
        yield one.value.as_integer_ratio(), *ends, error, None


def _interval_figures(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    for one, figures in zip(answers, _figures(answers), strict=True):
        yield *figures, *(end.as_integer_ratio() for end in one.interval())


def _cells(_: Figures, answer: QuantileAnswer, __: bool) -> list[str]:
    return [_format(answer.cell_bounds), format_rows(answer.rank_error(USUAL)), NONE]


def _interval_cells(_: Figures, answer: QuantileAnswer, __: bool) -> list[str]:
    cell, *errors = _cells(_, answer, __)
    return [cell, _format(answer.interval()), *errors]


def _whole(*names: str) -> Callable[[Sequence[QuantileAnswer]], set[str]]:
    return lambda answers: set(names) if all(one.grid.integer for one in answers) else set()


# A cell is no interval of 95 %, so it is not called low and high. Errors are in rows.
_COLUMNS = (
    Figure("value", float_near),
    Figure("cell_low", float_below, json="cell"),
    Figure("cell_high", json="cell"),
    Figure("rank_error", json="rank_error_95", confident=True),
    Figure("max_error", json="bound"),
)
QuantileAnswer.layout = Layout(
    columns=_COLUMNS,
    figures=_figures,
    mechanisms=lambda _: (),
    whole=_whole("value", "cell_low", "cell_high"),
    header=("rank error (95%)", "max rank error"),
    cells=_cells,
    unbounded=_UNBOUNDED,
)
# The interval has the confidence that was asked for, which need not be 95 %.
IntervalQuantileAnswer.layout = Layout(
    columns=(
        *_COLUMNS,
        Figure("low", float_below, json="interval"),
        Figure("high", json="interval"),
    ),
    figures=_interval_figures,
    mechanisms=lambda _: (),
    whole=_whole("value", "cell_low", "cell_high", "low", "high"),
    header=("interval", "rank error (95%)", "max rank error"),
    cells=_interval_cells,
    unbounded=_UNBOUNDED,
)
