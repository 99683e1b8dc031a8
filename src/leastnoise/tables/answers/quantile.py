"""A quantile: the cell of a public grid that a noisy binary search ended in."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import Number, as_float, format_exact, parse_rational, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Mechanism, farthest, half_width, recorded_as
from leastnoise.rendering import table
from leastnoise.tables.answers.rounding import exact_words, printed_cell, printed_rows

_USUAL = Fraction(19, 20)
_ENDLESS = "there is no largest error"


@dataclass(frozen=True, slots=True)
class QuantileAnswer:
    """The cell in which a search for the q-quantile ended.

    The range from ``low`` to ``high`` has ``cells`` cells of equal width; values beyond are taken
    as the nearest end. The search asks at edges e of cells, with fresh noise each time, whether
    D(e) = whole·below(e) − part·n is negative, where q = part/whole in lowest terms, n is how many
    rows count and below(e) how many of them lie below e. If so it goes on above e, else below; it
    ends when one cell is left. Of a unit with more rows than may count, below and n are what its
    bounded part of D comes to.

    What is known of the answer is its rank, not its distance from the true quantile: where no rows
    lie, edges far apart have the same rank.

    Attributes:
        cell: Which cell it is, from 0.
        low: Where the first cell begins.
        high: Where the last one ends.
        cells: How many there are.
        q: The share of rows that should lie below, above 0 and below 1.
        comparisons: How many noisy comparisons there were at the most.
        mechanism: What released each D(e).
        privacy: The promise of all of them together, for one unit.
        receipt: That they are in a ledger; None if they are in none.
    """

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
        """Refuse what no search can have found."""
        if not self.low < self.high or not 0 < self.q < 1:
            raise InvalidParameter(
                "a quantile must have a lower bound below the upper one, and a share above 0 and "
                f"below 1; got {format_exact(self.low)}, {format_exact(self.high)} and "
                f"{format_exact(self.q)}. "
                "Give such."
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
        """Where the cell begins and ends, exactly."""
        width = (self.high - self.low) / self.cells
        return self.low + self.cell * width, self.low + (self.cell + 1) * width

    @property
    def value(self) -> Fraction:
        """The middle of the cell, exactly."""
        return sum(self.cell_bounds, Fraction(0)) / 2

    @property
    def bound(self) -> Fraction | float:
        """As :meth:`rank_error`, for certain (100 %, not 99.9 %): in rows.

        ``math.inf`` for noise without a largest size.
        """
        if not self.comparisons:
            return Fraction(0)
        return farthest(self.mechanism) / self.q.denominator

    def rank_error(self, confidence: Number = 0.95) -> Fraction:
        """Return k: with at least this probability the cell holds a quantile within k rows of q·n.

        Every noise is within h, the half width at 1 − (1 − confidence)/comparisons, with at least
        that probability (the union bound: each noise is fresh, whatever was asked before). Then
        D ≤ h where the search went on above an edge, and D ≥ −h where it went on below. The cell's
        lower edge is one of the former, or ``low``, below which nothing lies; its upper edge one of
        the latter, or ``high``, and all rows lie at or below that. So, with k = h/whole,

        * at most q·n + k rows lie below the lower edge, and
        * at least q·n − k rows lie below the upper edge (in the last cell: at or below it).

        So there is a number r of rows, |r − q·n| ≤ k, not less than those below the lower edge and
        not more than those below the upper one, and a point x of the cell, edges included, with at
        most r rows below it and at least r at or below it: the last x of the cell with at most r
        rows below. That x is an (r/n)-quantile; which point of the cell it is nothing says.
        """
        level = parse_rational(confidence, "confidence")
        if not 0 < level <= 1:
            raise InvalidParameter(
                f"confidence must be above 0 and at most 1; got {quote(confidence)}. "
                "Give for instance 0.95."
            )
        if not self.comparisons:
            return Fraction(0)
        each = 1 - (1 - level) / self.comparisons
        return half_width(self.mechanism, each) / self.q.denominator

    def interval(self, confidence: Number = 0.95) -> tuple[Fraction, Fraction]:  # noqa: ARG002
        """Return the cell, whatever the confidence is.

        It is not an interval for the true q-quantile: how far away that is, in the unit of the
        data, depends on how many rows lie where, and cannot be told from the release alone. What
        can be told is :meth:`rank_error`.
        """
        return self.cell_bounds

    def _errors(self) -> tuple[str, str | None]:
        """Return the rank errors that print; None where there is no largest."""
        always = self.bound
        return (
            printed_rows(self.rank_error(_USUAL)),
            None if isinstance(always, float) else printed_rows(always),
        )

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        value, cell = printed_cell(*self.cell_bounds)
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
        """Return the float nearest to the middle of the cell."""
        return as_float(self.value)

    def __str__(self) -> str:
        """Say it in one honest line: the cell is rounded outward, what is known of the rank up."""
        value, cell = printed_cell(*self.cell_bounds)
        usual, always = self._errors()
        sure = f"{always} (always)" if always else _ENDLESS
        return (
            f"{value} (cell {cell}; rank within {usual} (95 %), {sure}), "
            f"{self.privacy}{exact_words('rank', self.mechanism)}; {recorded_as(self.receipt)}"
        )

    def __repr__(self) -> str:
        """Print the middle of the cell and nothing else that could surprise."""
        return f"QuantileAnswer({printed_cell(*self.cell_bounds)[0]}, {self.privacy!r})"
