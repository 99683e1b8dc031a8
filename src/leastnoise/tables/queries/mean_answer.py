"""``MeanAnswer``: a mean with its interval, from a released count and a released sum."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from leastnoise.core.exact import Number, format_exact, parse_confidence
from leastnoise.core.lattice import rounding_error
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import (
    Answer,
    Mechanism,
    farthest,
    format_brief,
    half_width,
)
from leastnoise.tables.answers import (
    INTERVAL,
    NONE,
    TEXT_NOTE,
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
    exact_words,
    print_interval,
)
from leastnoise.tables.joint_ratio import JointErrorQuantile, make_error_quantile
from leastnoise.tables.ratio import PIECES, ErrorQuantile, Quotients, Ratio
from leastnoise.tables.rounding import float_near, format_nearest

_SUBJECT = Subject(title="mean", statistic="mean")


@dataclass(frozen=True, slots=True)
class MeanAnswer(TableValue):
    """A released mean.

    A count n + X and a sum s + Y are released, and the mean is computed from them alone. Here n is
    the number of rows that count and s is the sum of value − middle over them, where each value is
    clipped to the bounds. So n·(low − middle) ≤ s ≤ n·(high − middle). The contribution bounds
    preserve this, because a unit adds n′ = min(n, c) to the count and an s′ that is clipped to c
    times these ends. Values are rounded before they are summed, so middle + s/n is at most
    ``rounding`` from the true mean of the clipped values. Both lie within the bounds. If n = 0,
    there is no true mean.

    Attributes:
        count: The released count.
        sum: The released sum of value − middle.
        middle: The number that is subtracted from each value.
        bounds: The clipping bounds.
        privacy: The guarantee of the mean alone, count and sum together, for one unit.
        receipt: The ledger's receipt; None if the mean is in no ledger.
        together: The guarantee of all answers that were released together; None if this is the only
            one.
        subject: The quantity that the mean is about.
        rounding: The maximum distance of middle + s/n from the true mean (:attr:`Mean.rounding`).
    """

    layout: "ClassVar[Layout[MeanAnswer]]"

    count: Answer
    sum: Answer
    middle: Fraction
    bounds: tuple[Fraction, Fraction]
    privacy: Privacy
    receipt: Receipt | None = None
    together: Privacy | None = None
    subject: Subject = _SUBJECT
    rounding: Fraction = Fraction(0)
    bound = RenamedAttribute[Fraction | float]("max_error")

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not low < high or not low <= self.middle <= high:
            raise InvalidParameter(
                "The middle of a mean must be between its bounds, the lower bound first",
                got=f"{format_exact(self.middle)}, and {format_exact(low)} to {format_exact(high)}",
                fix="Correct the bounds.",
            )
        if not self.count.mechanism.integer:
            raise InvalidParameter(
                "The count of a mean must be an integer",
                got="a count with noise on the reals",
                fix="Calibrate it with integer=True.",
            )

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @property
    def value(self) -> Fraction:
        """The exact middle + sum/count, clipped to the bounds.

        If the released count is not positive, the value is the middle.
        """
        return Fraction(*_quotients(self).value(self.count.index, self.sum.index))

    @property
    def max_error(self) -> Fraction | float:
        """The maximum distance of ``value`` from the true mean.

        ``math.inf`` if the noise of the count or of the sum is unbounded.
        """
        if not _is_bounded(self):
            return math.inf
        return Fraction(*_max_error(self, _errors(self, Fraction(1))))

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:
        """Return an interval that contains the true mean with at least this probability.

        The interval is Fieller's set of means m, by the exact distribution of Y − (m − middle)·X
        (Fieller 1954; :mod:`leastnoise.tables.ratio`). Rounding the true sum to the lattice of its
        noise shifts this difference by at most half a step, which is added. The result is an
        interval for middle + s/n. Its ends are then moved outward by ``rounding``, so it contains
        the mean of the clipped values with at least the same probability, for any number of rows.
        Finally the interval is clipped to the bounds, which contain that mean.

        At confidence 1, and for noise that is not unimodal, it is the set of all s/n with
        |X| ≤ r and |Y| ≤ t. Each of the two holds with probability 1 − a/2, a = 1 − confidence.
        """
        errors = _errors(self, parse_confidence(confidence))
        low, high = errors.ends(self.count.index, self.sum.index)
        return Fraction(*low), Fraction(*high)

    def result(self) -> Shown:
        """Return the figures as they print."""
        value, interval, max_error = self._format_cells()
        rows = f"about {format_nearest(self.count.value, Fraction(1))}"
        only = " with a number" if TEXT_NOTE in self.subject.notes else ""
        parts = (("count", self.count.mechanism), ("sum", self.sum.mechanism))
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
            exact=exact_words(parts),
        )

    def _format_cells(self) -> list[str]:
        """Return value, interval and maximum error as they print."""
        (ratios,) = _figures([self])
        width = self.bounds[1] - self.bounds[0]
        return print_interval(ratios, whole=False, within=self.bounds, otherwise=width)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        return as_html(self, self.result())

    def __str__(self) -> str:
        return as_text(self, self.result())

    def __repr__(self) -> str:
        value, interval, _ = self._format_cells()
        return format_brief(self.subject.name, f"{value} ({interval}, 95%)", self.privacy)


class _Errors:
    """Intervals at one confidence, for all means with the same noise, middle and bounds."""

    def __init__(
        self, count: Mechanism, total: Mechanism, quotients: Quotients, confidence: Fraction
    ) -> None:
        # It holds both mechanisms, so that no other object can get their ids while it is cached.
        self.count, self.total, self.quotients = count, total, quotients
        self._reaches: dict[int, int] = {}
        self._quantile: ErrorQuantile | JointErrorQuantile | None = None
        self._box: tuple[int, int] | None = None
        of_count, of_sum = count.discretized.noise, total.discretized.noise
        if confidence < 1 and of_count.is_unimodal and of_sum.is_unimodal:
            self._quantile = make_error_quantile(count, total, confidence)
        else:
            each = confidence_of_each(confidence, 2) if confidence < 1 else confidence
            reach = half_width(self.total, each) * self.quotients.scale
            # The true count is an integer, so its distance can be rounded down.
            self._box = math.floor(half_width(self.count, each)), int(reach)

    def ends(self, count: int, index: int) -> tuple[Ratio, Ratio]:
        """Return the ends of the interval for a released count and the index of a sum."""
        if self._box is not None:
            return self.quotients.box(count, index, *self._box)
        return self.quotients.fieller(count, index, self._reach)

    def largest_error(self, count: int) -> Fraction:
        """Return a bound of the distance between a mean and its interval's ends.

        It holds for a released count and any released sum. For a box with |X| ≤ r and |Y| ≤ t,
        and for a mean at a distance of at most w from the middle, s/(n − r) + t/(n − r) − s/n is
        at most (t + r·w)/(n − r).
        """
        quotients, scale = self.quotients, self.quotients.scale
        width = Fraction(quotients.high - quotients.low, scale)
        if self._box is None:
            reach = Fraction(self._reach(PIECES), scale * count)
        elif count <= self._box[0]:
            return width
        else:
            rows, total = self._box
            slope = max(quotients.high - quotients.middle, quotients.middle - quotients.low)
            reach = Fraction(total + rows * slope, scale * (count - rows))
        return min(width, reach + Fraction(quotients.rounding, scale))

    def _reach(self, piece: int) -> int:
        """Return the bound of |sum − slope·count| for slopes up to the end of a piece."""
        reach = self._reaches.get(piece)
        if reach is None and self._quantile is not None:
            scale, rounding = (
                self.quotients.scale,
                rounding_error(self.total.discretized.step, integer=self.total.integer),
            )
            slope = Fraction(self.quotients.piece * piece, scale)
            reach = self._reaches[piece] = int((self._quantile.at(slope) + rounding) * scale)
        return reach or 0


def _quotients(answer: MeanAnswer) -> Quotients:
    step = answer.sum.mechanism.discretized.step
    return Quotients.of(step, answer.middle, answer.bounds, answer.rounding)


# The last intervals: a loop over many groups computes them once.
_cache: OrderedDict[tuple[object, ...], _Errors] = OrderedDict()
_CACHE_SIZE = 32


def _errors(answer: MeanAnswer, confidence: Fraction) -> _Errors:
    """Return the errors of means like this one, cached by ids: hashing mechanisms is slower."""
    mechanisms = id(answer.count.mechanism), id(answer.sum.mechanism)
    kind = (*mechanisms, confidence, answer.middle, answer.bounds, answer.rounding)
    errors = _cache.get(kind)
    if errors is None:
        errors = _cache[kind] = _Errors(
            answer.count.mechanism, answer.sum.mechanism, _quotients(answer), confidence
        )
        if len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    return errors


def mean_errors(
    count: Mechanism,
    total: Mechanism,
    quotients: Quotients,
    rows: Sequence[int],
    confidence: Fraction = USUAL,
) -> list[Fraction]:
    """Return a bound of the error of a mean, at a confidence, for each count in ``rows``."""
    errors = _Errors(count, total, quotients, confidence)
    return [errors.largest_error(number) for number in rows]


def _is_bounded(answer: MeanAnswer) -> bool:
    mechanisms = answer.count.mechanism, answer.sum.mechanism
    return not any(isinstance(farthest(mechanism), float) for mechanism in mechanisms)


def _max_error(answer: MeanAnswer, sure: _Errors) -> Ratio:
    """Return the larger distance from the mean to an end of its interval at confidence 1."""
    count, index = answer.count.index, answer.sum.index
    value, under = sure.quotients.value(count, index)
    (low, least), (high, most) = sure.ends(count, index)
    below = (value * least - low * under, under * least)
    above = (high * under - value * most, under * most)
    return above if above[0] * below[1] > below[0] * above[1] else below


def _figures(answers: Sequence[MeanAnswer]) -> Iterator[Figures]:
    known: dict[tuple[int, ...], tuple[_Errors, _Errors | None, Ratio]] = {}
    for answer in answers:
        # The answers of one query share these objects; hashing fractions would take longer.
        noise = answer.count.mechanism, answer.sum.mechanism
        kind = tuple(map(id, (*noise, answer.middle, answer.bounds, answer.rounding)))
        if kind not in known:
            sure = _errors(answer, Fraction(1)) if _is_bounded(answer) else None
            known[kind] = _errors(answer, USUAL), sure, answer.middle.as_integer_ratio()
        usual, sure, middle = known[kind]
        rows, index, quotients = answer.count.index, answer.sum.index, usual.quotients
        low, high = usual.ends(rows, index)
        error = None if sure is None else _max_error(answer, sure)
        total = index * quotients.step, quotients.scale
        yield quotients.value(rows, index), low, high, error, (rows, 1), total, middle


def _find_integers(answers: Sequence[MeanAnswer]) -> set[str]:
    sums = {id(answer.sum.mechanism): answer.sum.mechanism for answer in answers}.values()
    integer = all(mechanism.integer for mechanism in sums)
    return {"count", "sum_from_middle"} if integer else {"count"}


def _print_row(figures: Figures, answer: MeanAnswer, whole: bool) -> list[str]:
    rows = format_nearest(answer.count.value, Fraction(1))
    value, interval, max_error = print_interval(figures, whole=whole, within=answer.bounds)
    return [value, interval, rows, max_error]


MeanAnswer.layout = Layout(
    # The sum is that of value − middle, so the middle is exported too.
    columns=(
        *INTERVAL,
        Figure("count"),
        Figure("sum_from_middle", float_near),
        Figure("middle", float_near),
    ),
    figures=_figures,
    mechanisms=lambda answer: (answer.count.mechanism, answer.sum.mechanism),
    whole=_find_integers,
    header=("95% interval", "rows", "max error"),
    cells=_print_row,
    released="each count or sum",
    with_group=lambda answer, group: replace(answer, subject=replace(answer.subject, group=group)),
)
