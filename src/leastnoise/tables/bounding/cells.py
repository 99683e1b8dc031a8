"""The cells of a public grid between two bounds, and the cell of every row.

A row lies in the cell whose lower edge is the last one that is not above its value, by exact
comparison. k cells have the edges low + i·(high − low)/k, i = 0 … k. For a value x let n be the
integer nearest to F = k·(x − low)/(high − low), computed in doubles. F is less than 1/4 off, so x
lies in cell n − 1 or n, and is compared with one edge, that of n. How depends on the type:

* Integers, and decimals of so many digits after the point, are integers u of their unit above low,
  from 0 to M. Cell n begins at the first integer that is not below its edge, ⌈n·M/k⌉. With
  M = Q·k + R that is n·Q + ⌈n·R/k⌉, where n·R < 2³³ is divided exactly.
* A float z has 53 binary digits, and k at most 17. It is split into the first 36 of them and the
  rest, z = a + b (Veltkamp's splitting), so that a·k and b·k are doubles, and so is k times the
  edge, P = k·low + n·(high − low), because low and high are multiples of a power of two, and small
  ones. The sign of (a·k − P) + b·k is that of k·z − P: where P is within a factor of two of a·k,
  the difference is exact (Sterbenz), and the sum of two doubles is rounded to its sign; elsewhere
  the difference is more than twice as large as b·k, and rounding keeps both from changing that.
  If the bounds are too far from 0 for that, low is subtracted first. They are so close to one
  another then that x − low is exact, too. Where the width of a cell is a dyadic fraction, edges are
  multiples of a k-th step, and doubles: z is compared with the edge itself.

All numbers are clipped in the type of their column before anything else: no row is an error.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.tables.bounding.lattice import (
    WHOLE_DIGITS,
    Ends,
    Lattice,
    builtin,
    fits,
    is_unknown,
    is_unlimited,
    of_decimal,
    of_integer,
)

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

    Bounds = tuple[Fraction, Fraction]

# Integers below 2⁵³ are doubles, and ⌊a/b⌋ is exact for them in doubles: some engines divide
# integers so.
_LARGEST = 1 << 52
# So many units of a decimal column may lie between the bounds; with more, edges are multiples of a
# larger unit. They are 64-bit integers.
_UNITS = 10**18
# How many digits of a decimal are moved before the point at once: the result has at most 38.
_AT_ONCE = 9
# Decimals of so many digits are computed with 38 of them.
_WIDE = 19
# Veltkamp's splitting of 53 digits after the 36th.
_SPLIT = float((1 << 17) + 1)


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
        unit: If above 0, every edge is rounded up to the next multiple of this above ``low``.
    """

    low: Fraction
    high: Fraction
    count: int
    integer: bool = False
    unit: Fraction = Fraction(0)

    @classmethod
    def of_integers(cls, bounds: "Bounds", cells: int) -> "Cells":
        """Return at most so many cells of integers between integer bounds.

        >>> Cells.of_integers((Fraction(0), Fraction(150)), 150).ends(149)
        (Fraction(149, 1), Fraction(150, 1))
        >>> Cells.of_integers((Fraction(0), Fraction(120)), 1024).count
        121
        """
        low, high = bounds
        return cls(low, high, min(cells, int(high - low) + 1), integer=True)

    def ends(self, cell: int) -> tuple[Fraction, Fraction]:
        """Return the lower and the upper edge of a cell; of integers, the first and the last."""
        if self.one_each:
            return self.low + cell, self.low + cell
        if not self.integer:
            return self._edge(cell), self._edge(cell + 1)
        last = self.high if cell == self.count - 1 else _ceil(self._edge(cell + 1)) - 1
        return _ceil(self._edge(cell)), last

    def _edge(self, place: int) -> Fraction:
        above = place * (self.high - self.low) / self.count
        return self.low + (_ceil(above / self.unit) * self.unit if self.unit else above)

    def place(self, value: Fraction) -> int:
        """Return the cell of a number."""
        if self.one_each:
            found = int(value - self.low)
        else:
            found = int((value - self.low) * self.count // (self.high - self.low))
        return min(max(found, 0), self.count - 1)

    @property
    def one_each(self) -> bool:
        """Whether there is a cell for each integer."""
        return self.integer and self.count == self.high - self.low + 1


def divide(
    column: "ir.Value", bounds: "Bounds", cells: int, engine: str
) -> tuple[Cells, "ir.IntegerValue"]:
    """Return at most so many cells between bounds, and the cell of every row.

    The bounds are those given for integers between integer bounds; for decimals they are rounded
    outward to multiples of a power of ten, else to a lattice of about 2²⁰ steps.
    """
    kind = column.type()
    whole = kind.is_integer() or kind.is_boolean()
    if whole and all(end.denominator == 1 for end in bounds):
        grid = Cells.of_integers(bounds, cells)
        if kind.is_boolean():
            return grid, _of_truth(column, grid)
        low, high = int(grid.low), int(grid.high)
        return grid, _cell_of_steps(
            of_integer(column, Ends(low, high, low)) - low, high - low, grid
        )
    if kind.is_decimal() and not is_read_as_double(kind, engine):
        return _divide_decimals(column, bounds, cells, engine)
    lattice = Lattice.between(bounds, whole=False)
    grid = Cells(lattice.low * lattice.step, lattice.high * lattice.step, cells)
    if kind.is_boolean():
        return grid, _of_truth(column, grid)
    return grid, _cell_of_double(column.cast("float64"), lattice, cells)


def is_read_as_double(kind: "dt.DataType", engine: str) -> bool:
    """Return whether decimals have too many digits for an engine, and are rounded to doubles."""
    return kind.is_decimal() and engine != "postgres" and (is_unlimited(kind) or not fits(kind))


def _of_truth(column: Any, grid: Cells) -> Any:
    import ibis

    yes, no = (ibis.literal(grid.place(Fraction(value)), "int64") for value in (1, 0))
    return ibis.cases((column, yes), else_=no)


def _cell_of_steps(steps: Any, most: int, grid: Cells) -> Any:
    """Return the cell of a number of steps above the lower edge, from 0 to ``most``."""
    import ibis

    count, last = grid.count, ibis.literal(grid.count - 1, "int64")
    if grid.one_each:
        return steps.cast("int64")
    if most * count < _LARGEST:
        place = (steps * count) // most
        return ibis.cases((place > last, last), else_=place).cast("int64")
    fraction = ibis.literal(count / most, "float64")
    nearest = (steps.cast("float64") * fraction + ibis.literal(0.5, "float64")).floor()
    nearest = nearest.cast("int64")
    quotient, rest = divmod(most, count)
    start = nearest * quotient + ((nearest * rest + (count - 1)) // count).cast("int64")
    place = ibis.cases((steps < start, nearest - 1), else_=nearest)
    return ibis.cases((nearest > last, last), else_=place).cast("int64")


# ---------------------------------------------------------------- floats


def _cell_of_double(real: Any, lattice: Lattice, count: int) -> Any:
    """Return the cell of a double between bounds on a lattice."""
    import ibis

    def double(value: Fraction | float) -> Any:
        return ibis.literal(float(value), "float64")

    low, high = (end * lattice.step for end in (lattice.low, lattice.high))
    lowest, highest = double(low), double(high)
    number = ibis.cases(
        ((real >= lowest) & (real <= highest), real),
        (real < lowest, lowest),
        (real.isnull() | real.isnan(), lowest),
        else_=highest,
    )
    first = low
    if max(abs(lattice.low), abs(lattice.high)) * count >= _LARGEST:
        number, first = number - lowest, Fraction(0)
    width = (high - low) / count
    # Half a cell is added before the product, which could be too small for a double otherwise.
    nearest = builtin("floor", "float64")((number + double(width / 2 - first)) * double(1 / width))
    if width.denominator & (width.denominator - 1) == 0:  # then all edges are doubles
        above = number - (nearest * double(width) + double(first))
    else:
        head = number * double(_SPLIT) - (number * double(_SPLIT) - number)
        edge = nearest * double(high - low) + double(first * count)
        above = (head * double(count) - edge) + (number - head) * double(count)
    # Not as cases: within these DuckDB computes what several terms share for each of them.
    before = (above < double(0)).cast("int32")
    return ibis.least((nearest - before).cast("int64"), ibis.literal(count - 1, "int64"))


# ---------------------------------------------------------------- decimals


def _divide_decimals(
    column: Any, bounds: "Bounds", cells: int, engine: str
) -> tuple[Cells, "ir.IntegerValue"]:
    """Return the cells of decimals: all are integers of a power of ten above the lower bound.

    It is the unit of their type, so edges need not be rounded, unless there were too many of them
    between the bounds.
    """
    kind = column.type()
    digits = 0
    while (bounds[1] - bounds[0]) * 10 ** (digits + 1) <= _UNITS:
        digits += 1
    all_of_them = kind.scale is not None and 0 <= kind.scale <= digits
    digits = kind.scale if all_of_them else digits
    unit = Fraction(1, 10**digits)
    low, high = bounds[0] // unit * unit, _ceil(bounds[1] / unit) * unit
    grid = Cells(low, high, cells, unit=Fraction(0) if all_of_them else unit)
    most = int((high - low) / unit)
    if engine != "postgres" and (low > _farthest(kind) or high < -_farthest(kind)):
        return grid, _of_one_cell(column, 0 if low > 0 else grid.count - 1)
    if engine == "postgres":
        steps = _steps_of_numeric(column, low, high, digits)
    elif kind.scale == 0:
        steps = of_decimal(column, Ends(int(low), int(high), int(low))) - int(low)
    else:
        steps = _steps_of_decimal(column, low, high, digits)
    return grid, _cell_of_steps(steps, most, grid)


def _farthest(kind: Any) -> Fraction:
    """Return the largest number of a decimal type."""
    return Fraction(10**kind.precision - 1, 10**kind.scale)


def _of_one_cell(column: Any, cell: int) -> Any:
    """Return a cell that holds all values of a column."""
    import ibis

    place = ibis.literal(cell, "int64")
    return ibis.cases((column.isnull(), place), else_=place)


def _steps_of_numeric(column: Any, low: Fraction, high: Fraction, digits: int) -> Any:
    """Return how many units above low PostgreSQL's numerics are, rounded down."""
    import ibis

    def numeric(value: Fraction) -> Any:
        return ibis.literal(_write(value, digits), "decimal")

    number = column.cast("decimal")
    least, most = numeric(low), numeric(high)
    clipped = ibis.cases(
        (is_unknown(number) | (number < least), least), (number > most, most), else_=number
    )
    return ((clipped - least) * numeric(Fraction(10**digits))).floor().cast("int64")


def _steps_of_decimal(column: Any, low: Fraction, high: Fraction, digits: int) -> Any:
    """Return how many units above low decimals are, rounded down; no product has over 38 digits."""
    import ibis

    kind, farthest = column.type(), _farthest(column.type())

    def literal(value: Fraction | int, kind: Any, places: int) -> Any:
        return ibis.literal(_write(Fraction(value), places)).cast(kind)

    # Of two factors with at most 18 digits each, DuckDB makes a product with at most 18.
    narrow, wide, part = (
        f"decimal({digits_in_all}, {kind.scale})"
        for digits_in_all in (
            WHOLE_DIGITS + kind.scale,
            WHOLE_DIGITS + 1 + kind.scale,
            max(1 + kind.scale, _WIDE),
        )
    )
    # A bound that the type does not have is not compared with.
    least = literal(max(low, -farthest), kind, kind.scale)
    most = literal(min(high, farthest), kind, kind.scale)
    clipped = ibis.cases(
        (column.isnull() | (column < least), least), (column > most, most), else_=column
    )
    # Each result is cast to a type that has room for it: Ibis and engines disagree on which it is.
    rest = (clipped.cast(narrow) - literal(low, narrow, kind.scale)).cast(wide)
    steps, left = rest.floor().cast("int64"), digits
    while left:
        moved = min(left, _AT_ONCE)
        ten = literal(10**moved, f"decimal({moved + 1}, 0)", 0)
        rest = ((rest - rest.floor()).cast(part) * ten).cast(wide)
        steps = steps * 10**moved + rest.floor().cast("int64")
        left -= moved
    return steps


def _write(value: Fraction, places: int) -> str:
    """Write a multiple of 10^−places in full."""
    digits = f"{abs(int(value * 10**places)):0{places + 1}d}"
    end = len(digits) - places
    return f"{'-' if value < 0 else ''}{digits[:end]}" + (f".{digits[end:]}" if places else "")


def _ceil(value: Fraction) -> Fraction:
    return Fraction(-(-value // 1))
