"""``Quantile``: the cell of a public grid in which a noisy binary search ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

from leastnoise.core.exact import (
    Number,
    as_float,
    format_exact,
    format_ratio,
    parse_count,
    parse_rational,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Mechanism, farthest, half_width, recorded_as
from leastnoise.rendering import table
from leastnoise.tables.answers import (
    NONE,
    USUAL,
    Figure,
    Figures,
    Layout,
    Ratio,
    confidence_of_each,
)
from leastnoise.tables.bounding import Lattice
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Key
from leastnoise.tables.queries.query import Query, Rows
from leastnoise.tables.queries.question import AddNoise, BoundedQuestion, Result, make_title
from leastnoise.tables.rounding import (
    exact_words,
    float_below,
    float_near,
    format_cell,
    format_rows,
)

_MOST_CELLS = 1 << 16
_ENDLESS = "there is no largest error"


@dataclass(frozen=True)
class Quantile(BoundedQuestion):
    """The value below which a share of the rows lies, on a public grid between the bounds.

    Args:
        column: The column.
        share: The share, above 0 and below 1: 0.5 for the median.
        bounds: Where the grid begins and ends; values beyond count as the nearest bound. Missing
            values are left out.
        cells: Into how many cells of equal width the grid divides the bounds. The answer is a cell.
    """

    share: Any = "1/2"
    cells: Any = field(kw_only=True, default=1024)

    def __post_init__(self) -> None:
        super().__post_init__()
        share = parse_rational(self.share, "the share of a quantile")
        if not 0 < share < 1:
            raise InvalidParameter(
                f"the share of a quantile must be above 0 and below 1; got {quote(self.share)}."
                " Give for instance 0.5 for the median."
            )
        if share.denominator > 1000:
            raise InvalidParameter(
                "the share of a quantile must be a ratio of whole numbers up to 1000; "
                f"got {format_exact(share)}. Round it."
            )
        cells = parse_count(self.cells, "cells", least=2)
        if cells > _MOST_CELLS:
            raise InvalidParameter(
                f"cells must be at most {_MOST_CELLS}; got {quote(self.cells)}. Give fewer."
            )
        if self.max_groups != 1:
            raise InvalidParameter(
                "for a quantile a unit counts in one group; got max_groups = "
                f"{self.max_groups}. Leave it out."
            )
        self._set("share", share)
        self._set("cells", cells)

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        what = "median" if self.share == Fraction(1, 2) else f"{format_exact(self.share)}-quantile"
        return make_title(f"{what} of {self.column}", self.by)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON."""
        return super().to_dict() | {"share": format_ratio(self.share), "cells": self.cells}

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that values are rounded to before they are put into cells."""
        return Lattice.between(self.bounds, whole=False)

    @property
    def comparisons(self) -> int:
        """How many comparisons the search makes at most: cells are halved until one is left."""
        return int(self.cells - 1).bit_length()

    def query(self, rows: Rows) -> Query:
        """Count the rows of each group and cell; released is a number for each comparison."""
        rows = rows.known(self.column).among(self.by, self.keys)
        index = self.lattice.index(rows.source.number(self.column), rows.source.engine)
        unit_can = self.contribution(rows.unit)
        comparison = ReleasedNumber(
            name="comparison",
            shift=unit_can.rank(*self.share.as_integer_ratio()),
            step=Fraction(1),
            touched=self.comparisons * unit_can.touched,
            integer=True,
        )
        return Query(
            question=self,
            rows=rows,
            numbers=(*self.deciding_count(rows.unit), comparison),
            cell=_cell(index, self.lattice, self.cells),
        )

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the cell of each group, found by noisy comparisons."""
        columns = len(keys[0]) if keys else 0
        groups: dict[Key, list[tuple[int, ...]]] = {}
        for row in result:
            groups.setdefault(row[:columns], []).append(row[columns:])
        return [self._search(groups.get(key, []), noise, threshold) for key in keys]

    def _search(
        self, rows: Result, noise: Sequence[AddNoise], threshold: int | None
    ) -> tuple[int, ...]:
        """Find the cell by halving, each time by one noisy comparison.

        The share below an edge is compared with the share asked for by an integer,
        whole·below − part·total. One unit changes it by at most its sensitivity, whatever the edge:
        so edges may be chosen by earlier comparisons.
        """
        counts = [0] * self.cells
        for cell, number in rows:
            counts[cell] = number
        below = [0, *accumulate(counts)]
        if threshold is not None and noise[0]([below[-1]])[0] <= threshold:
            return ()
        part, whole = self.share.as_integer_ratio()
        add_noise, first, last = noise[-1], 0, self.cells
        while last - first > 1:
            middle = (first + last) // 2
            if add_noise([whole * below[middle] - part * below[-1]])[0] < 0:
                first = middle
            else:
                last = middle
        return (first,)

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[Mechanism],
        privacy: Privacy,
        receipt: Receipt | None,
    ) -> "list[QuantileAnswer]":
        """Return the cell of each group."""
        lattice = self.lattice
        low, high = lattice.low * lattice.step, lattice.high * lattice.step
        return [
            QuantileAnswer(
                cell=cell,
                low=low,
                high=high,
                cells=self.cells,
                q=self.share,
                comparisons=self.comparisons,
                mechanism=mechanisms[-1],
                privacy=privacy,
                receipt=receipt,
            )
            for (cell,) in numbers
        ]


def _cell(index: Any, lattice: Lattice, cells: int) -> Any:
    """Return the cell of equal width of an index; the last cell includes its upper end."""
    import ibis

    place = ((index - lattice.low) * cells) // (lattice.high - lattice.low)
    last = ibis.literal(cells - 1, "int64")
    return ibis.cases((place > last, last), else_=place).cast("int64")


@dataclass(frozen=True, slots=True)
class QuantileAnswer:
    """The cell in which a search for the q-quantile ended.

    The range from ``low`` to ``high`` has ``cells`` cells of equal width; values beyond count as
    the nearest end. The search asks at edges e of cells, with fresh noise each time, whether
    D(e) = whole·below(e) − part·n is negative, where q = part/whole in lowest terms, n is the
    number of rows that count and below(e) the number of them below e. If so it continues above e,
    else below, until one cell is left. If a unit has more rows than may count, its part of D is
    bounded, and below and n are what this amounts to.

    The rank of the answer is known, not its distance from the true quantile: where no rows lie,
    edges far apart have the same rank.

    Attributes:
        cell: The cell, from 0.
        low: The lower end of the first cell.
        high: The upper end of the last cell.
        cells: The number of cells.
        q: The share of rows that should lie below, above 0 and below 1.
        comparisons: The largest number of noisy comparisons.
        mechanism: What released each D(e).
        privacy: The guarantee of all comparisons together, for one unit.
        receipt: The ledger's receipt; None if the answer is in no ledger.
    """

    layout: "ClassVar[Layout[QuantileAnswer]]"

    cell: int
    low: Fraction
    high: Fraction
    cells: int
    q: Fraction
    comparisons: int
    mechanism: Mechanism
    privacy: Privacy
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
        if not self.low < self.high or not 0 < self.q < 1:
            raise InvalidParameter(
                "a quantile must have a lower bound below the upper one, and a share above 0 and "
                f"below 1; got {format_exact(self.low)}, {format_exact(self.high)} and "
                f"{format_exact(self.q)}. Give such."
            )
        if not 0 <= self.cell < self.cells:
            raise InvalidParameter(
                f"a cell must be one of {quote(self.cells)}, counted from 0; got "
                f"{quote(self.cell)}. Give one of them."
            )
        if self.comparisons < (self.cells - 1).bit_length():
            raise InvalidParameter(
                "so many comparisons must have been made that each cell can be told from the "
                f"others; got {quote(self.comparisons)} for {quote(self.cells)} cells. "
                "Give how many there were."
            )

    @property
    def cell_bounds(self) -> tuple[Fraction, Fraction]:
        """The lower and the upper end of the cell, exactly."""
        width = (self.high - self.low) / self.cells
        return self.low + self.cell * width, self.low + (self.cell + 1) * width

    @property
    def value(self) -> Fraction:
        """The middle of the cell, exactly."""
        return sum(self.cell_bounds, Fraction(0)) / 2

    @property
    def bound(self) -> Fraction | float:
        """The maximum of :meth:`rank_error`, in rows (100 %, not 99.9 %).

        ``math.inf`` for unbounded noise.
        """
        if not self.comparisons:
            return Fraction(0)
        return farthest(self.mechanism) / self.q.denominator

    def rank_error(self, confidence: Number = 0.95) -> Fraction:
        """Return k: with at least this probability the cell holds a quantile within k rows of q·n.

        Let h be the half width of the noise at 1 − (1 − confidence)/comparisons. With at least this
        confidence all comparisons have noise within h (union bound: each noise is fresh, whatever
        was asked before). Then D ≤ h where the search continued above an edge, and D ≥ −h where it
        continued below. The cell's lower edge is one of the former, or ``low``, below which there
        is no row; its upper edge is one of the latter, or ``high``, and all rows lie at or below
        it. So, with k = h/whole,

        * at most q·n + k rows lie below the lower edge, and
        * at least q·n − k rows lie below the upper edge (in the last cell: at or below it).

        So there is a number of rows r with |r − q·n| ≤ k that is not less than the number below
        the lower edge and not more than the number below the upper edge. Let x be the last point of
        the cell, edges included, with at most r rows below it. At least r rows lie at or below x,
        so x is an (r/n)-quantile. Which point of the cell it is remains unknown.
        """
        each = confidence_of_each(confidence, self.comparisons)
        if not self.comparisons:
            return Fraction(0)
        return half_width(self.mechanism, each) / self.q.denominator

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:  # noqa: ARG002
        """Return the cell, whatever the confidence is.

        It is not an interval for the true q-quantile. The distance to that, in the unit of the
        data, depends on where the rows lie, and cannot be computed from the release alone. The
        error of the rank can: :meth:`rank_error`.
        """
        return self.cell_bounds

    def _errors(self) -> tuple[str, str | None]:
        usual, always = format_rows(self.rank_error(USUAL)), self.bound
        return usual, None if isinstance(always, float) else format_rows(always)

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        value, cell = format_cell(*self.cell_bounds)
        usual, always = self._errors()
        facts = {
            "cell": cell,
            "share below": format_exact(self.q),
            "rank, 95 %": usual,
            "rank, always": always or _ENDLESS,
            "promise": f"{self.privacy}{exact_words('rank', self.mechanism)}",
            "recorded": recorded_as(self.receipt),
        }
        return table(value, facts)

    def __float__(self) -> float:
        return as_float(self.value)

    def __str__(self) -> str:
        value, cell = format_cell(*self.cell_bounds)
        usual, always = self._errors()
        sure = f"{always} (always)" if always else _ENDLESS
        exact = exact_words("rank", self.mechanism)
        return (
            f"{value} (cell {cell}; rank within {usual} (95 %), {sure}), "
            f"{self.privacy}{exact}; {recorded_as(self.receipt)}"
        )

    def __repr__(self) -> str:
        return f"QuantileAnswer({format_cell(*self.cell_bounds)[0]}, {self.privacy!r})"


def _figures(answers: Sequence[QuantileAnswer]) -> Iterator[Figures]:
    known: dict[object, tuple[Ratio, Ratio | None]] = {}
    for one in answers:
        kind = id(one.mechanism), one.comparisons, one.q.denominator
        errors = known.get(kind)
        if errors is None:
            bound = one.bound
            always = None if isinstance(bound, float) else bound.as_integer_ratio()
            errors = known[kind] = one.rank_error(USUAL).as_integer_ratio(), always
        low, high = one.cell_bounds
        value = ((low + high) / 2).as_integer_ratio()
        yield value, low.as_integer_ratio(), high.as_integer_ratio(), *errors


def _cells(figures: Figures, _: QuantileAnswer, __: bool) -> list[str]:
    low, high, usual = (Fraction(*figure) for figure in figures[1:4] if figure is not None)
    always = figures[4]
    return [
        *format_cell(low, high),
        format_rows(usual),
        NONE if always is None else format_rows(Fraction(*always)),
    ]


QuantileAnswer.layout = Layout(
    # A cell is no interval of 95 %, so it is not called low and high. Errors are in rows.
    columns=(
        Figure("value", float_near),
        Figure("cell_low", float_below, json="cell"),
        Figure("cell_high", json="cell"),
        Figure("rank_error", json="rank_error_95", confident=True),
        Figure("bound"),
    ),
    figures=_figures,
    mechanisms=lambda answer: (answer.mechanism,),
    whole=lambda _: set(),
    header=("cell", "rank, 95 %", "rank, always"),
    cells=_cells,
)
