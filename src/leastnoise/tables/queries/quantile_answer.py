"""``QuantileAnswer``: the selected bin with its rank error, and an interval on request."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import Number, format_exact, parse_confidence, quote
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, Words, parameter
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
from leastnoise.tables.ratio import Ratio
from leastnoise.tables.rounding import float_below, float_near, format_bin, format_rows

_UNBOUNDED = "any bin can be selected"
_SUBJECT = Subject(title="quantile", statistic="quantile")


@dataclass(frozen=True, slots=True)
class QuantileAnswer(TableValue):
    """The bin that was selected for the q-quantile.

    Let n be the number of rows that count and below(e) the number of them below e. Let
    q = part/whole in lowest terms and D(e) = whole·below(e) − part·n. The rank error of a bin from
    edge a to edge b, in units of 1/whole rows, is max(0, D(a), −D(b)). It is 0 for a bin that
    contains a q-quantile. The mechanism selects a bin by these errors. Contribution bounds apply to
    below and n: both refer to the rows that count.

    The rank error has a known bound. The distance to the true quantile has none, because edges far
    apart have the same rank if no row lies between them.

    Attributes:
        bin: The number of the selected bin, from 0.
        grid: All bins.
        q: The share of rows below the quantile, above 0 and below 1.
        mechanism: The mechanism that selected the bin.
        privacy: The guarantee of this answer alone, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
        together: The guarantee of all answers that were released together; None if this is the only
            one.
        subject: The quantity that the answer is about.
    """

    layout: "ClassVar[Layout[QuantileAnswer]]"

    bin: int
    grid: Bins
    q: Fraction
    mechanism: PermuteAndFlip
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT
    bound = RenamedAttribute[float]("max_error")
    cell = RenamedAttribute[int]("bin")
    cells = RenamedAttribute[int]("bins")
    cell_bounds = RenamedAttribute[tuple[Fraction, Fraction]]("bin_bounds")

    def __post_init__(self) -> None:
        if not self.grid.low < self.grid.high or not 0 < self.q < 1:
            raise InvalidParameter(
                "The lower bound must be below the upper one, and q between 0 and 1",
                got=f"{format_exact(self.grid.low)}, {format_exact(self.grid.high)} and "
                f"{format_exact(self.q)}",
                fix="Correct the bounds or q.",
            )
        if not 0 <= self.bin < self.bins:
            raise InvalidParameter(
                f"bin must be an integer from 0 to {quote(self.bins - 1)}",
                got=quote(self.bin),
                fix="Use the number of a bin of the grid.",
            )
        if self.mechanism.candidates != self.bins:
            raise InvalidParameter(
                "The mechanism of a quantile must have one candidate for each bin",
                got=f"{self.bins} bins and {self.mechanism.candidates} candidates",
                fix="Use the mechanism that selected the bin.",
            )

    @property
    def low(self) -> Fraction:
        """The lower edge of the first bin."""
        return self.grid.low

    @property
    def high(self) -> Fraction:
        """The upper edge of the last bin."""
        return self.grid.high

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self.grid.count

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
        """The exact middle of the bin; for a bin of integers, rounded down to an integer."""
        middle = sum(self.bin_bounds, Fraction(0)) / 2
        return Fraction(middle // 1) if self.grid.integer else middle

    @property
    def max_error(self) -> float:
        """The maximum of :meth:`rank_error`: ``math.inf``, because any bin can be selected."""
        return math.inf

    def rank_error(self, confidence: Number = 0.95) -> Fraction:
        """Return the error k of the rank, in rows, at this confidence.

        With at least this probability, the bin contains an (r/n)-quantile with |r − q·n| ≤ k. This
        holds for any data.

        *Proof.* The rank error of the selected bin is at most k rows with at least this probability
        (:meth:`PermuteAndFlip.error_bound`). Then

        * at most q·n + k rows lie below the lower edge, and
        * at least q·n − k rows lie below the upper edge (in the last bin: at or below it).

        So there is a number r with |r − q·n| ≤ k that is at least the number of rows below the
        lower edge and at most the number of rows below the upper edge. Let x be the last point of
        the bin, edges included, with at most r rows below it. At least r rows lie at or below x,
        so x is an (r/n)-quantile. The position of x in the bin is unknown. ∎
        """
        return Fraction(self.mechanism.error_bound(confidence), self.q.denominator)

    def interval(
        self,
        confidence: Number | None = None,  # noqa: ARG002 -- of quantiles that have one
    ) -> tuple[Fraction, Fraction]:
        """Raise an error, because this quantile was queried without ``interval=``.

        The distance to the true quantile, in units of the column, depends on where the rows lie.
        It cannot be computed from the bin alone. :meth:`rank_error` can.

        Raises:
            InvalidParameter: Always. :class:`IntervalQuantileAnswer` has an interval.
        """
        raise InvalidParameter(
            "This quantile has no interval. An interval in the unit of the data costs a part of ε",
            fix="Query it with " + Words("interval=0.95, or use rank_error().", "--interval 0.95."),
        )

    def result(self) -> Shown:
        """Return the figures as they print."""
        error = f"at most {format_rows(self.rank_error(USUAL))} (95% confidence)"
        low, high = self.bin_bounds
        prefix = "" if low == high else "bin "  # so that it is not taken for an interval
        return Shown(
            value=prefix + format_ends(self.bin_bounds),
            details=(*self._details(), ("Rank error", error, f"rank error {error}")),
            max_error=None,
            unbounded=_UNBOUNDED,
        )

    def _details(self) -> tuple[tuple[str, str, str], ...]:
        """Return the figures besides the rank error: label, text, and both as a phrase."""
        return ()

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        error = f"± {format_rows(self.rank_error(USUAL))} (95%)"
        return format_brief(
            self.subject.name, f"{format_ends(self.bin_bounds)}, {error}", self.privacy
        )


@dataclass(frozen=True, slots=True, repr=False)
class IntervalQuantileAnswer(QuantileAnswer):
    """A quantile with an interval in units of the column.

    Attributes:
        ends: The numbers of the first and the last bin of the interval.
        confidence: The confidence of the interval.
    """

    ends: tuple[int, int] = (0, 0)
    confidence: Fraction = USUAL

    def __post_init__(self) -> None:
        # slots=True creates a new class, which super() without arguments does not refer to.
        super(IntervalQuantileAnswer, self).__post_init__()
        first, last = self.ends
        if not 0 <= first <= self.bin <= last < self.bins:
            raise InvalidParameter(
                f"The ends of an interval must be bins around {quote(self.bin)}",
                got=quote(self.ends),
                fix="Use the numbers of the first and the last bin.",
            )

    def interval(self, confidence: Number | None = None) -> tuple[Fraction, Fraction]:
        """Return an interval that contains every q-quantile of the clipped values.

        With at least the confidence of the query, the interval contains all x with
        below(x) ≤ q·n ≤ (rows at or below x), for any data. Values are compared with edges
        exactly. The only exceptions are decimals with more than 18 digits after the point on
        DuckDB and Spark, which are rounded to doubles first. The answer notes this.

        *Proof.* The mechanism selected two further bins, by D + s and by D − s in place of D. Here
        s = t + 1, and the error of a selection is at most t with probability
        1 − (1 − confidence)/2. With at least this confidence, both errors are at most t (union
        bound). Then the first further bin is the first of all bins, or its lower edge a has
        D(a) + s ≤ t, so D(a) < 0: fewer than q·n rows lie below a, and every q-quantile is at least
        a. The second further bin is the last of all bins, or its upper edge b has
        −(D(b) − s) ≤ t, so D(b) > 0: more than q·n rows lie below b, and every q-quantile is below
        b. The interval reaches from the first to the last of the three selected bins. It contains
        the interval between the two further bins, so it covers at least as often. ∎

        Raises:
            InvalidParameter: If ``confidence`` is above the confidence of the query.
        """
        if confidence is not None and parse_confidence(confidence) > self.confidence:
            raise InvalidParameter(
                parameter("confidence")
                + f" must be at most that of the query, {format_exact(self.confidence)}",
                got=quote(confidence),
                fix="Omit it.",
            )
        first, last = self.ends
        return self.grid.ends(first)[0], self.grid.ends(last)[1]

    def _details(self) -> tuple[tuple[str, str, str], ...]:
        label, ends = (
            f"{format_exact(self.confidence * 100)}% interval",
            format_ends(self.interval()),
        )
        return ((label, ends, f"{label} {ends}"),)


def format_ends(ends: tuple[Fraction, Fraction]) -> str:
    """Print a range, rounded outward; a range of one integer as that integer."""
    low, high = ends
    return format_exact(low) if low == high else format_bin(low, high)


def _figures(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    known: dict[object, Ratio] = {}
    for answer in answers:
        kind = id(answer.mechanism), answer.q.denominator
        error = known.get(kind)
        if error is None:
            error = known[kind] = answer.rank_error(USUAL).as_integer_ratio()
        ends = [end.as_integer_ratio() for end in answer.bin_bounds]
        yield answer.value.as_integer_ratio(), *ends, error, None


def _interval_figures(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    for answer, figures in zip(answers, _figures(answers), strict=True):
        yield *figures, *(end.as_integer_ratio() for end in answer.interval())


def _print_row(_: Figures, answer: QuantileAnswer, __: bool) -> list[str]:
    return [format_ends(answer.bin_bounds), format_rows(answer.rank_error(USUAL)), NONE]


def _print_interval_row(_: Figures, answer: QuantileAnswer, __: bool) -> list[str]:
    selected, *errors = _print_row(_, answer, __)
    return [selected, format_ends(answer.interval()), *errors]


def _find_confidence(answer: QuantileAnswer) -> Fraction:
    return answer.confidence if isinstance(answer, IntervalQuantileAnswer) else USUAL


def _find_integers(*names: str) -> Callable[[Sequence[QuantileAnswer]], set[str]]:
    return lambda answers: set(names) if all(answer.grid.integer for answer in answers) else set()


# The edges of a bin are not called low and high, because a bin is not a 95% interval. Errors are in
# rows. The names in JSON are those of 0.5.0.
_COLUMNS = (
    Figure("value", float_near),
    Figure("bin_low", float_below, json="cell"),
    Figure("bin_high", json="cell"),
    Figure("rank_error", json="rank_error_95", confident=True),
    Figure("max_error", json="bound"),
)
QuantileAnswer.layout = Layout(
    columns=_COLUMNS,
    figures=_figures,
    mechanisms=lambda _: (),
    whole=_find_integers("value", "bin_low", "bin_high"),
    header=("rank error (95%)", "max rank error"),
    cells=_print_row,
    unbounded=_UNBOUNDED,
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
)
# The interval has the confidence of the query, which need not be 95%.
IntervalQuantileAnswer.layout = Layout(
    columns=(
        *_COLUMNS,
        Figure("low", float_below, json="interval"),
        Figure("high", json="interval"),
    ),
    figures=_interval_figures,
    mechanisms=lambda _: (),
    whole=_find_integers("value", "bin_low", "bin_high", "low", "high"),
    header=("interval", "rank error (95%)", "max rank error"),
    cells=_print_interval_row,
    unbounded=_UNBOUNDED,
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
    confidence=_find_confidence,
)
