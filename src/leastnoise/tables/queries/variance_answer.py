"""``VarianceAnswer`` and ``StdAnswer``: a spread with its interval, from three released numbers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import Number, parse_confidence
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Answer, Mechanism, format_brief
from leastnoise.tables.answers import (
    INTERVAL,
    NONE,
    TEXT_NOTE,
    Figure,
    Figures,
    Layout,
    Shown,
    Subject,
    TableValue,
    as_html,
    as_text,
    confidence_of_each,
    exact_words,
    print_interval,
)
from leastnoise.tables.queries.mean_answer import MeanAnswer
from leastnoise.tables.rounding import float_near, format_nearest, root_above, root_below

_SUBJECT = Subject(title="variance", statistic="variance")


@dataclass(frozen=True, slots=True)
class SpreadAnswer(TableValue):
    """A released variance or standard deviation: see the classes that inherit it.

    A count n + X, a sum s + Y and a sum of squares t + Z are released. For the values x that count,
    clipped to the bounds, and with weights below 1 in a unit with too many rows, let a be the mean
    of x − middle and b that of (x − middle)². The variance is b − a².

    Attributes:
        mean: The mean of the values, from the count and the sum.
        squares: The mean of (value − middle)², from the count and the sum of squares.
        largest: The largest possible variance: a quarter of the squared distance of the bounds.
        privacy: The guarantee of the count and both sums together, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
        together: The guarantee of all answers that were released together; None if this is the only
            one.
        subject: The quantity that the answer is about.
    """

    layout: "ClassVar[Layout[SpreadAnswer]]"

    mean: MeanAnswer
    squares: MeanAnswer
    largest: Fraction
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT

    def __post_init__(self) -> None:
        same = self.mean.count.mechanism is self.squares.count.mechanism
        if not same or self.mean.count.index != self.squares.count.index:
            raise InvalidParameter(
                "The mean and the mean of squares must have the same count",
                got="two counts",
                fix="Use the count that was released with both sums.",
            )

    @property
    def count(self) -> Answer:
        """The released count."""
        return self.mean.count

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def value(self) -> Fraction:
        """The released value."""
        raise NotImplementedError

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true value with at least this probability."""
        raise NotImplementedError

    @property
    def max_error(self) -> Fraction | float:
        """The maximum distance of ``value`` from the true value.

        ``math.inf`` if the noise of one of the three numbers is unbounded.
        """
        if isinstance(self.mean.max_error, float) or isinstance(self.squares.max_error, float):
            return math.inf
        low, high = self.interval(1)
        return max(high - self.value, self.value - low)

    @property
    def _largest_value(self) -> Fraction:
        """A bound of every value, close to the largest possible one."""
        raise NotImplementedError

    def _variance(self) -> Fraction:
        """Return b − a² from the released numbers, clipped to the possible variances.

        If the released count is not positive, half of the largest possible variance.
        """
        if self.count.index <= 0:
            return self.largest / 2
        variance = self.squares.value - (self.mean.value - self.mean.middle) ** 2
        return min(max(variance, Fraction(0)), self.largest)

    def _variances(self, confidence: Fraction) -> tuple[Fraction, Fraction]:
        """Return an interval for the variance.

        *Proof.* The intervals for a and for b (:meth:`MeanAnswer.interval`) miss them with
        probability at most (1 − confidence)/2 each, for any number of rows ≥ 1. Otherwise b − a² is
        at least the lower end for b minus the largest a², and at most the upper end for b minus the
        smallest a². The variance of values between the bounds lies in [0, ``largest``]. At
        confidence 1 both intervals are those of bounded noise, which never miss. The interval
        contains the released value, because the intervals for a and b contain theirs. ∎
        """
        each = confidence_of_each(confidence, 2) if confidence < 1 else confidence
        low, high = (end - self.mean.middle for end in self.mean.interval(each))
        least, most = self.squares.interval(each)
        farthest = max(-low, high) ** 2
        nearest = max(low, -high, Fraction(0)) ** 2
        zero = Fraction(0)
        return (
            min(max(least - farthest, zero), self.largest),
            min(max(most - nearest, zero), self.largest),
        )

    def result(self) -> Shown:
        """Return the figures as they print."""
        value, interval, max_error = self._format_cells()
        rows = f"about {format_nearest(self.count.value, Fraction(1))}"
        only = " with a number" if TEXT_NOTE in self.subject.notes else ""
        noise = zip(("count", "sum", "sum of squares"), _mechanisms(self), strict=True)
        return Shown(
            value=value,
            details=(
                ("95% interval", interval, f"95% interval {interval}"),
                (
                    "Rows",
                    f"{rows}{only or ' with a value'}",
                    f"{rows} row{'s' * (self.count.index != 1)}{only}",
                ),
            ),
            max_error=None if max_error == NONE else max_error,
            exact=exact_words(tuple(noise)),
        )

    def _format_cells(self) -> list[str]:
        """Return value, interval and maximum error as they print."""
        (figures,) = _figures([self])
        return _print_interval(figures, self)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        value, interval, _ = self._format_cells()
        return format_brief(self.subject.name, f"{value} ({interval}, 95%)", self.privacy)


@dataclass(frozen=True, slots=True, repr=False)
class VarianceAnswer(SpreadAnswer):
    """A released population variance: it divides by the number of rows."""

    @property
    def value(self) -> Fraction:
        """The exact variance of the released numbers, clipped to the possible ones.

        If the released count is not positive, it is half of the largest possible variance.
        """
        return self._variance()

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true variance with at least this probability.

        The intervals for the mean and for the mean of squares, each missing with half of the
        probability (union bound), are combined. It holds for any number of rows.
        """
        return self._variances(parse_confidence(confidence))

    @property
    def _largest_value(self) -> Fraction:
        return self.largest


@dataclass(frozen=True, slots=True, repr=False)
class StdAnswer(SpreadAnswer):
    """A released population standard deviation, the root of the variance of the same numbers."""

    @property
    def value(self) -> Fraction:
        """The root of the variance of the released numbers, rounded down by less than 2⁻⁶³ of it.

        If the released count is not positive, it is the root of half of the largest variance.
        """
        return root_below(self._variance())

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true deviation with at least this probability.

        Its ends are the roots of those of the variance, rounded outward.
        """
        low, high = self._variances(parse_confidence(confidence))
        return root_below(low), root_above(high)

    @property
    def _largest_value(self) -> Fraction:
        return root_above(self.largest)


def _mechanisms(answer: SpreadAnswer) -> tuple[Mechanism, ...]:
    mean, squares = answer.mean, answer.squares
    return mean.count.mechanism, mean.sum.mechanism, squares.sum.mechanism


def _figures(answers: Sequence[SpreadAnswer]) -> Iterator[Figures]:
    for answer in answers:
        low, high = answer.interval()
        error = answer.max_error
        yield (
            answer.value.as_integer_ratio(),
            low.as_integer_ratio(),
            high.as_integer_ratio(),
            None if isinstance(error, float) else error.as_integer_ratio(),
            (answer.count.index, 1),
            answer.mean.value.as_integer_ratio(),
        )


def _print_interval(figures: Figures, answer: SpreadAnswer) -> list[str]:
    largest = answer._largest_value
    return print_interval(figures, whole=False, within=(Fraction(0), largest), otherwise=largest)


def _print_row(figures: Figures, answer: SpreadAnswer, _: bool) -> list[str]:
    rows = format_nearest(answer.count.value, Fraction(1))
    value, interval, max_error = _print_interval(figures, answer)
    return [value, interval, rows, max_error]


SpreadAnswer.layout = Layout(
    columns=(*INTERVAL, Figure("count"), Figure("mean", float_near)),
    figures=_figures,
    mechanisms=_mechanisms,
    whole=lambda _: {"count"},
    header=("95% interval", "rows", "max error"),
    cells=_print_row,
    released="each count or sum",
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
)
