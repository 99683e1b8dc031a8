"""``Bins``: the bins of a public grid between two bounds, and the bin of every row.

A row lies in the last bin whose lower edge is at most its value, by exact comparison. k bins have
the edges low + i·(high − low)/k, i = 0 … k. For a value x let n be the integer nearest to
F = k·(x − low)/(high − low), computed in doubles. The error of F is less than 1/4, so x lies in bin
n − 1 or n. So x is compared with one edge, the lower edge of n. The comparison depends on the type:

* Integers, and decimals with a fixed number of digits after the point, are an integer number of
  units above low, from 0 to M. Bin n begins at the first integer from its edge on, ⌈n·M/k⌉. With
  M = Q·k + R this is n·Q + ⌈n·R/k⌉, where n·R < 2³³ is divided exactly.
* A float z has 53 binary digits, and k has at most 17. Veltkamp's splitting z = a + b separates the
  first 36 digits from the rest, so a·k and b·k are doubles. k times the edge,
  P = k·low + n·(high − low), is a double too, because low and high are small multiples of a power
  of two. The sign of (a·k − P) + b·k is that of k·z − P. If P is within a factor of two of a·k, the
  difference is exact (Sterbenz), and rounding the sum of two doubles preserves its sign. Otherwise
  the difference is more than twice as large as b·k, also after rounding. If the bounds are too far
  from 0 for this, low is subtracted first. The bounds are then so close to each other that x − low
  is exact too. If the width of a bin is a dyadic fraction, all edges are doubles, and z is compared
  with the edge itself.

All numbers are first clipped in the type of their column, so no row raises an error.
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
    index_decimal,
    index_integer,
    is_unknown,
    is_unlimited,
)

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

    Bounds = tuple[Fraction, Fraction]

# Doubles represent integers below 2⁵³, and ⌊a/b⌋ of such integers is exact in doubles, in which
# some engines divide integers.
_LARGEST = 1 << 52
# The maximum number of units of a decimal column between the bounds, a 64-bit integer. With more,
# edges are multiples of a larger unit.
_UNITS = 10**18
# The number of digits of a decimal that one product moves before the point: it has at most 38.
_AT_ONCE = 9
# Products of decimals with this many digits have 38 digits.
_WIDE = 19
# Veltkamp's splitting of 53 digits after the 36th.
_SPLIT = float((1 << 17) + 1)


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of equal width between ``low`` and ``high``.

    A bin contains its lower edge but not its upper edge; the last bin contains both.

    Attributes:
        low: The lower edge of the first bin.
        high: The upper edge of the last bin.
        count: The number of bins.
        integer: Whether the values are integers. Then a bin is a range of at least one integer. If
            each integer has its own bin, ``count`` is ``high`` − ``low`` + 1.
        unit: If positive, edges are rounded up to ``low`` plus a multiple of it.
    """

    low: Fraction
    high: Fraction
    count: int
    integer: bool = False
    unit: Fraction = Fraction(0)

    @classmethod
    def of_integers(cls, bounds: "Bounds", bins: int) -> "Bins":
        """Return at most ``bins`` bins of integers between integer bounds.

        >>> Bins.of_integers((Fraction(0), Fraction(150)), 150).ends(149)
        (Fraction(149, 1), Fraction(150, 1))
        >>> Bins.of_integers((Fraction(0), Fraction(120)), 1024).count
        121
        """
        low, high = bounds
        return cls(low, high, min(bins, int(high - low) + 1), integer=True)

    def ends(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the edges of a bin; for a bin of integers, its first and last integer."""
        if self.one_each:
            return self.low + place, self.low + place
        if not self.integer:
            return self._edge(place), self._edge(place + 1)
        last = self.high if place == self.count - 1 else _ceil(self._edge(place + 1)) - 1
        return _ceil(self._edge(place)), last

    def _edge(self, place: int) -> Fraction:
        above = place * (self.high - self.low) / self.count
        return self.low + (_ceil(above / self.unit) * self.unit if self.unit else above)

    def place(self, value: Fraction) -> int:
        """Return the bin of a number."""
        if self.one_each:
            place = int(value - self.low)
        else:
            place = int((value - self.low) * self.count // (self.high - self.low))
        return min(max(place, 0), self.count - 1)

    @property
    def one_each(self) -> bool:
        """Whether each integer has its own bin."""
        return self.integer and self.count == self.high - self.low + 1


def divide(
    column: "ir.Value", bounds: "Bounds", bins: int, engine: str
) -> tuple[Bins, "ir.IntegerValue"]:
    """Return at most ``bins`` bins between bounds, and the bin of every row.

    The grid of an integer column with integer bounds ends at these bounds. For decimals, the bounds
    are rounded outward to multiples of a power of ten, and otherwise to a lattice of about 2²⁰
    steps.
    """
    kind = column.type()
    whole = kind.is_integer() or kind.is_boolean()
    if whole and all(end.denominator == 1 for end in bounds):
        grid = Bins.of_integers(bounds, bins)
        if kind.is_boolean():
            return grid, _bin_of_boolean(column, grid)
        low, high = int(grid.low), int(grid.high)
        return grid, _bin_of_steps(
            index_integer(column, Ends(low, high, low)) - low, high - low, grid
        )
    if kind.is_decimal() and not is_read_as_double(kind, engine):
        return _divide_decimals(column, bounds, bins, engine)
    lattice = Lattice.between(bounds, whole=False)
    grid = Bins(lattice.low * lattice.step, lattice.high * lattice.step, bins)
    if kind.is_boolean():
        return grid, _bin_of_boolean(column, grid)
    return grid, _bin_of_double(column.cast("float64"), lattice, bins)


def is_read_as_double(kind: "dt.DataType", engine: str) -> bool:
    """Return whether decimals have too many digits for an engine, and are rounded to doubles."""
    return kind.is_decimal() and engine != "postgres" and (is_unlimited(kind) or not fits(kind))


def _bin_of_boolean(column: Any, grid: Bins) -> Any:
    import ibis

    yes, no = (ibis.literal(grid.place(Fraction(value)), "int64") for value in (1, 0))
    return ibis.cases((column, yes), else_=no)


def _bin_of_steps(steps: Any, most: int, grid: Bins) -> Any:
    """Return the bin of a number of steps above the lower edge, from 0 to ``most``."""
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


def _bin_of_double(real: Any, lattice: Lattice, count: int) -> Any:
    """Return the bin of a double between bounds on a lattice."""
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
    # Half a bin is added first, because the product could otherwise be too small for a double.
    nearest = builtin("floor", "float64")((number + double(width / 2 - first)) * double(1 / width))
    if width.denominator & (width.denominator - 1) == 0:  # then all edges are doubles
        above = number - (nearest * double(width) + double(first))
    else:
        head = number * double(_SPLIT) - (number * double(_SPLIT) - number)
        edge = nearest * double(high - low) + double(first * count)
        above = (head * double(count) - edge) + (number - head) * double(count)
    # Not by cases, in which DuckDB would compute common terms several times.
    before = (above < double(0)).cast("int32")
    return ibis.least((nearest - before).cast("int64"), ibis.literal(count - 1, "int64"))


# ---------------------------------------------------------------- decimals


def _divide_decimals(
    column: Any, bounds: "Bounds", bins: int, engine: str
) -> tuple[Bins, "ir.IntegerValue"]:
    """Return the bins of decimals, which are integer multiples of a unit above the lower bound.

    The unit is a power of ten. It is that of the type, so that edges need not be rounded, unless
    too many units would lie between the bounds.
    """
    kind = column.type()
    digits = 0
    while (bounds[1] - bounds[0]) * 10 ** (digits + 1) <= _UNITS:
        digits += 1
    all_digits = kind.scale is not None and 0 <= kind.scale <= digits
    digits = kind.scale if all_digits else digits
    unit = Fraction(1, 10**digits)
    low, high = bounds[0] // unit * unit, _ceil(bounds[1] / unit) * unit
    grid = Bins(low, high, bins, unit=Fraction(0) if all_digits else unit)
    most = int((high - low) / unit)
    if engine != "postgres" and (low > _farthest(kind) or high < -_farthest(kind)):
        return grid, _same_bin(column, 0 if low > 0 else grid.count - 1)
    if engine == "postgres":
        steps = _count_numeric_steps(column, low, high, digits)
    elif kind.scale == 0:
        steps = index_decimal(column, Ends(int(low), int(high), int(low))) - int(low)
    else:
        steps = _count_decimal_steps(column, low, high, digits)
    return grid, _bin_of_steps(steps, most, grid)


def _farthest(kind: Any) -> Fraction:
    """Return the largest number of a decimal type."""
    return Fraction(10**kind.precision - 1, 10**kind.scale)


def _same_bin(column: Any, place: int) -> Any:
    """Return the same bin for every row."""
    import ibis

    index = ibis.literal(place, "int64")
    return ibis.cases((column.isnull(), index), else_=index)


def _count_numeric_steps(column: Any, low: Fraction, high: Fraction, digits: int) -> Any:
    """Return the number of units above low of PostgreSQL's numerics, rounded down."""
    import ibis

    def numeric(value: Fraction) -> Any:
        return ibis.literal(_write(value, digits), "decimal")

    number = column.cast("decimal")
    least, most = numeric(low), numeric(high)
    clipped = ibis.cases(
        (is_unknown(number) | (number < least), least), (number > most, most), else_=number
    )
    return ((clipped - least) * numeric(Fraction(10**digits))).floor().cast("int64")


def _count_decimal_steps(column: Any, low: Fraction, high: Fraction, digits: int) -> Any:
    """Return the number of units above low of decimals, rounded down, with at most 38 digits."""
    import ibis

    kind, farthest = column.type(), _farthest(column.type())

    def literal(value: Fraction | int, kind: Any, places: int) -> Any:
        return ibis.literal(_write(Fraction(value), places)).cast(kind)

    # The product of two factors with at most 18 digits each has at most 18 digits on DuckDB.
    narrow, wide, part = (
        f"decimal({digits_in_all}, {kind.scale})"
        for digits_in_all in (
            WHOLE_DIGITS + kind.scale,
            WHOLE_DIGITS + 1 + kind.scale,
            max(1 + kind.scale, _WIDE),
        )
    )
    # A bound outside the range of the type is replaced by the end of the range.
    least = literal(max(low, -farthest), kind, kind.scale)
    most = literal(min(high, farthest), kind, kind.scale)
    clipped = ibis.cases(
        (column.isnull() | (column < least), least), (column > most, most), else_=column
    )
    # Each result is cast to a type that is wide enough, because Ibis and engines disagree on it.
    rest = (clipped.cast(narrow) - literal(low, narrow, kind.scale)).cast(wide)
    steps, left = rest.floor().cast("int64"), digits
    while left:
        shifted = min(left, _AT_ONCE)
        ten = literal(10**shifted, f"decimal({shifted + 1}, 0)", 0)
        rest = ((rest - rest.floor()).cast(part) * ten).cast(wide)
        steps = steps * 10**shifted + rest.floor().cast("int64")
        left -= shifted
    return steps


def _write(value: Fraction, places: int) -> str:
    """Write all digits of a multiple of 10^−places."""
    digits = f"{abs(int(value * 10**places)):0{places + 1}d}"
    end = len(digits) - places
    return f"{'-' if value < 0 else ''}{digits[:end]}" + (f".{digits[end:]}" if places else "")


def _ceil(value: Fraction) -> Fraction:
    return Fraction(-(-value // 1))
