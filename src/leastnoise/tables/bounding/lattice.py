"""``Lattice``: the values of a column as integers, clipped and rounded row by row.

Sums of integers are exact, in any order and on any engine. Sums of floats are not, and can change
by more than their declared sensitivity (docs/exact-sums.md). Every value has an index on the
lattice, including NULL, NaN, ±∞ and numbers outside the bounds.

The index of a row is the integer nearest to x/step, ties to even. DuckDB and PostgreSQL round so
when they cast a double (the default of IEEE 754), so this is the fastest exact way. Values to which
noise is added are rounded differently, because a shift of the value must shift the rounded value
equally. Here a row changes its own index only, and the index always lies between the bounds.

No row makes the index NULL or raises an error, even in a branch that is not taken. The expressions
avoid these differences between engines:

* PostgreSQL's numerics have NaN and ±∞, and can be too large or too small for a double.
* Unsigned 64-bit integers do not fit into signed ones.
* Spark drops digits of decimals if a result could have more than 38.
* ``least`` and ``greatest`` replace NULL by a bound.
* NaN is greater than all numbers on some engines, and not comparable on others.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.core.exact import format_exact, parse_rational, quote
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.tables.sources import engine_function

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

# The default number of steps between the bounds of a real column, approximately.
_STEPS = 1 << 20
# Doubles represent all integers up to this, and all bounds on a lattice.
_LARGEST = 1 << 53
_BOUNDS = parameter("bounds")
_BOUND = Words("Each end of bounds", "Each end of --bounds")
# The digits of decimals that every engine supports; PostgreSQL's numerics may have more.
_DIGITS = 38
# The digits of a number clipped to ±2⁵³, and one more for a carry.
WHOLE_DIGITS = 17


@dataclass(frozen=True, slots=True)
class Lattice:
    """The multiples of ``step`` from low·step to high·step.

    Attributes:
        low: The index of the lower bound, or of the lattice point below it.
        high: The index of the upper bound, or of the lattice point above it.
        step: 1 for integer columns with integer bounds, otherwise a power of two, because engines
            divide floats by it exactly.
    """

    low: int
    high: int
    step: Fraction

    @classmethod
    def between(cls, bounds: object, *, whole: bool, steps: int = _STEPS) -> "Lattice":
        """Return the lattice for the caller's bounds.

        Args:
            bounds: The clipping bounds, the lower one first.
            whole: Whether the column has integers.
            steps: The approximate number of steps between the bounds, unless the step is 1.

        >>> Lattice.between((0, 200_000), whole=True)
        Lattice(low=0, high=200000, step=Fraction(1, 1))
        >>> Lattice.between((0, 200_000), whole=False)
        Lattice(low=0, high=1600000, step=Fraction(1, 8))
        """
        lower, upper = parse_bounds(bounds)
        if whole and lower.denominator == upper.denominator == 1:
            return cls(int(lower), int(upper), Fraction(1))
        # No index may exceed 2⁵³, because doubles must represent bounds and indices.
        coarse = max(abs(lower), abs(upper)) / _LARGEST
        step = _power_of_two((upper - lower) / steps)
        while step < coarse:
            step *= 2
        return cls(lower // step, -(-upper // step), step)

    @property
    def nearest_to_zero(self) -> int:
        """The index within the bounds that is nearest to 0."""
        return min(max(0, self.low), self.high)

    @property
    def middle(self) -> int:
        """The index halfway between the bounds, rounded down."""
        return (self.low + self.high) // 2

    def index(
        self, column: "ir.Value", engine: str, *, missing: int | None = None
    ) -> "ir.IntegerValue":
        """Return the index of every row: the integer nearest to x/step, clipped to [low, high].

        The index is never NULL and never an error. Values are first clipped in the type of their
        column, because engines may compute a branch that they do not take. The index is exact for
        floats, integers and booleans, for decimals of any length on PostgreSQL, and, if the step is
        1, for decimals of at most 38 digits with at most 18 after the point. Any other decimal is
        converted to the nearest double (on some engines, to a double beside it).

        Args:
            column: The column.
            engine: "duckdb", "postgres" or "pyspark".
            missing: The index of NULL and NaN. A sum passes 0, so that missing values add nothing.
                Default: the index that is nearest to 0.
        """
        kind = column.type()
        ends = Ends(self.low, self.high, self.nearest_to_zero if missing is None else missing)
        if kind.is_boolean():
            return _index_boolean(column, ends, self.step)
        if kind.is_decimal() and is_unlimited(kind):
            return _index_numeric(column, ends, self.step)
        if self.step != 1 or kind.is_floating() or (kind.is_decimal() and not fits(kind)):
            return _index_real(column, ends, self.step, engine)
        return index_decimal(column, ends) if kind.is_decimal() else index_integer(column, ends)


class Ends(NamedTuple):
    """The first and the last index of a lattice, and the index of missing values."""

    low: int
    high: int
    missing: int


def parse_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Return the caller's bounds as fractions."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter(
            _BOUNDS + " must be two numbers, the lower first",
            got=quote(bounds),
            fix="Give, for example, "
            + Words("bounds=(0, 200_000)", "--bounds 0 200000")
            + ", chosen without looking at the data.",
        )
    lower, upper = (parse_rational(end, _BOUND) for end in bounds)
    if lower >= upper:
        raise InvalidParameter(
            "The lower bound must be below the upper bound",
            got=f"{format_exact(lower)} and {format_exact(upper)}",
            fix="Swap them.",
        )
    if max(abs(lower), abs(upper)) > _LARGEST or upper - lower < Fraction(1, _LARGEST):
        raise InvalidParameter(
            _BOUNDS + " must lie within ±2⁵³ and be at least 2⁻⁵³ apart",
            got=f"{format_exact(lower)} and {format_exact(upper)}",
            fix="Store the column in another unit of measure.",
        )
    return lower, upper


def _power_of_two(at_most: Fraction) -> Fraction:
    """Return the largest power of two up to a number."""
    power = Fraction(1)
    while power > at_most:
        power /= 2
    while 2 * power <= at_most:
        power *= 2
    return power


def _index_boolean(column: Any, ends: Ends, step: Fraction) -> Any:
    no, yes = (min(max(round(value / step), ends.low), ends.high) for value in (0, 1))
    return _make_cases((column.isnull(), ends.missing), (column, yes), else_=_int64(no))


def index_integer(column: Any, ends: Ends) -> Any:
    """Return the index of integers at step 1."""
    kind = column.type()
    if kind.is_unsigned_integer() and kind.nbytes == 8:
        return _clip(column, ends, within=(0, (1 << 64) - 1), literal=kind)
    within = (-(1 << 63), (1 << 63) - 1)
    return _clip(column.cast("int64"), ends, within=within, literal="int64")


def index_decimal(column: Any, ends: Ends) -> Any:
    """Return the index at step 1, in decimals that lose no digit on any engine."""
    kind = column.type()
    largest = 10 ** (kind.precision - kind.scale) - 1
    # Ibis reports DuckDB's HUGEINT as decimal(38, 0), but it has larger numbers.
    huge = (-(1 << 127), 1 << 127) if kind.precision == _DIGITS and not kind.scale else None
    narrow = f"decimal({WHOLE_DIGITS + kind.scale}, {kind.scale})" if kind.scale else "int64"
    clipped = _clip(
        column,
        ends,
        within=huge or (-largest, largest),
        literal=kind if kind.scale else "int64",
        narrow=narrow,
    )
    if not kind.scale or not clipped.type().is_decimal():
        return clipped
    return _round_to_integer(clipped, "decimal(2, 1)")


def _index_numeric(column: Any, ends: Ends, step: Fraction) -> Any:
    """Return the index in PostgreSQL's numerics, which multiply exactly."""
    import ibis

    def numeric(value: Fraction) -> Any:
        return ibis.literal(_write_digits(value), "decimal")

    lowest, highest, missing = (numeric(end * step) for end in ends)
    clipped = ibis.cases(
        ((column >= lowest) & (column <= highest), column),
        (column < lowest, lowest),
        (is_unknown(column), missing),
        else_=highest,
    )
    return _round_to_integer(clipped * numeric(1 / step), "decimal")


def _round_to_integer(number: Any, kind: str) -> Any:
    """Return the integer nearest to a decimal, ties to even."""
    import ibis

    raised = number + ibis.literal("0.5", kind)
    above = raised.floor().cast("int64")
    halfway = raised == raised.floor()
    return ibis.cases(
        (
            halfway & (above % _int64(2) != _int64(0)),
            above - _int64(1),
        ),
        else_=above,
    )


def _index_real(column: Any, ends: Ends, step: Fraction, engine: str) -> Any:
    """Return the index in doubles: dividing by a power of two is exact, and the cast rounds.

    Spark's cast truncates, so the quotient is rounded first on Spark.
    """
    import ibis

    def double(value: Fraction) -> Any:
        return ibis.literal(float(value), "float64")

    real = column.cast("float64")
    lowest, highest, missing = (double(end * step) for end in ends)
    within = (real >= lowest) & (real <= highest)
    # The case of most rows comes first, because engines then skip the others.
    cases = [(within, real)]
    if step > 1:
        # PostgreSQL rejects a product that is too small for a double. The index is 0 anyway.
        small = (real > double(Fraction(-1))) & (real < double(Fraction(1)))
        cases.insert(0, (within & small, double(Fraction(0))))
    clipped = ibis.cases(
        *cases,
        (real < lowest, lowest),
        (real.isnull() | real.isnan(), missing),
        else_=highest,
    )
    divided = clipped * double(1 / step)
    return (builtin("rint", "float64")(divided) if engine == "pyspark" else divided).cast("int64")


def builtin(name: str, kind: str) -> Any:
    """Return a function that all engines have, from a type to the same type."""
    return engine_function(name, (kind,), kind)


def _clip(
    column: Any,
    ends: Ends,
    *,
    within: tuple[int, int],
    literal: "dt.DataType | str",
    narrow: str = "int64",
) -> Any:
    """Return a column clipped in its own type, then cast.

    ``within`` is the range of the type. A bound outside this range is not compared with the column.
    If the bounds contain no number of the type, every row with a value gets the same bound.
    """
    import ibis

    first, last = within
    if ends.low > last or ends.high < first:
        nearest = ends.low if ends.low > last else ends.high
        return _make_cases((is_unknown(column), ends.missing), else_=_int64(nearest))
    least, most, missing = (
        ibis.literal(end, literal) if first <= end <= last else None for end in ends
    )
    between = [column >= least] if least is not None else []
    # NaN may be greater than all bounds.
    between += [column <= most] if most is not None else [~is_unknown(column)]
    cases = [(ibis.and_(*between), column)]
    cases += [(column < least, least)] if least is not None else []
    if most is None:
        return ibis.cases(*cases, else_=missing).cast(narrow)
    return ibis.cases(*cases, (is_unknown(column), missing), else_=most).cast(narrow)


def is_unknown(column: Any) -> Any:
    """Return whether a value is NULL or NaN; PostgreSQL's decimals have a NaN too."""
    if column.type().is_decimal():
        return column.isnull() | (column.cast("string") == "NaN")
    return column.isnull()


def _make_cases(*cases: tuple[Any, int], else_: Any) -> Any:
    import ibis

    return ibis.cases(*((when, _int64(then)) for when, then in cases), else_=else_).cast("int64")


def _int64(value: int) -> Any:
    import ibis

    return ibis.literal(value, "int64")


def is_unlimited(kind: Any) -> bool:
    """Return whether decimals may have more digits than every engine supports."""
    return kind.precision is None or kind.scale is None or kind.precision > _DIGITS


def fits(kind: Any) -> bool:
    """Return whether every engine has enough digits for a clipped decimal and a carry."""
    return bool(0 <= kind.scale <= _DIGITS - WHOLE_DIGITS - 3)


def _write_digits(value: Fraction) -> str:
    """Write all digits of a number whose denominator is a power of two."""
    power = value.denominator.bit_length() - 1
    digits = f"{abs(value.numerator) * 5**power:0{power + 1}d}"
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[: len(digits) - power]}.{digits[len(digits) - power :]}0"
