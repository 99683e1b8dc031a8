"""The cells of a public grid between two bounds, and the cell of every row."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.tables.bounding.lattice import Lattice

if TYPE_CHECKING:
    import ibis.expr.types as ir

# An index times the number of cells must be a double: some engines divide integers as doubles, and
# round the quotient down. For integers below 2⁵³ that is exact.
_LARGEST = 1 << 52


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells that divide the range from ``low`` to ``high``, all of one width.

    A cell begins at its lower edge and ends before the next one; the last one holds ``high`` too.

    Attributes:
        low: The lower edge of the first cell.
        high: The upper edge of the last cell.
        count: How many cells there are.
        integer: Whether they hold integers alone. Then a cell is a range of integers, each at least
            one; with a cell for each integer there is one more than ``high`` − ``low``.
    """

    low: Fraction
    high: Fraction
    count: int
    integer: bool = False

    @classmethod
    def of(cls, lattice: Lattice, cells: int, *, integer: bool) -> "Cells":
        """Return at most so many cells on a lattice.

        >>> Cells.of(Lattice.between((0, 150), whole=True), 150, integer=True).ends(149)
        (Fraction(149, 1), Fraction(150, 1))
        >>> Cells.of(Lattice.between((0, 120), whole=True), 1024, integer=True).count
        121
        """
        low, high = lattice.low * lattice.step, lattice.high * lattice.step
        return cls(low, high, min(cells, int(high - low) + 1) if integer else cells, integer)

    def ends(self, cell: int) -> tuple[Fraction, Fraction]:
        """Return the lower and the upper edge of a cell; of integers, the first and the last."""
        if self.integer and self.one_each:
            return self.low + cell, self.low + cell
        width = (self.high - self.low) / self.count
        first, after = self.low + cell * width, self.low + (cell + 1) * width
        if not self.integer:
            return first, after
        last = self.high if cell == self.count - 1 else Fraction(-(-after // 1) - 1)
        return Fraction(-(-first // 1)), last

    @property
    def one_each(self) -> bool:
        """Whether there is a cell for each integer."""
        return self.integer and self.count == self.high - self.low + 1

    def cell(self, index: "ir.IntegerValue", lattice: Lattice) -> Any:
        """Return the cell of an index on the lattice that the cells are on."""
        import ibis

        if self.one_each:
            return (index - lattice.low).cast("int64")
        place = ((index - lattice.low) * self.count) // (lattice.high - lattice.low)
        last = ibis.literal(self.count - 1, "int64")
        return ibis.cases((place > last, last), else_=place).cast("int64")


def divide(bounds: tuple[Fraction, Fraction], cells: int, *, whole: bool) -> tuple[Lattice, Cells]:
    """Return the lattice that values are rounded to, and at most so many cells on it.

    ``whole`` says that the column holds integers. They stay as they are between integer bounds,
    unless these are so far apart that no engine could divide them into cells exactly.
    """
    lattice = Lattice.between(bounds, whole=whole)
    integer = whole and all(end.denominator == 1 for end in bounds)
    if integer and (lattice.high - lattice.low) * cells >= _LARGEST:
        lattice, integer = Lattice.between(bounds, whole=False), False
    return lattice, Cells.of(lattice, cells, integer=integer)
