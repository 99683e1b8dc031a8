"""⌊x/step + 1/2⌋ between two bounds, as an expression that is total in every type of column.

Total: no record makes it NULL or an error, not even in a branch that is not taken. What an engine
could stumble over: PostgreSQL's numerics have NaN and ±∞ and do not all fit into a double, neither
the large nor the small; unsigned 64-bit integers do not fit into signed ones; Spark drops digits of
decimals where a result could have more than 38; ``least`` and ``greatest`` turn NULL into a bound;
NaN is above all numbers on some engines and beside them on others.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

# The digits that decimals have on every engine; PostgreSQL's numerics may have more.
_DIGITS = 38
# Of a number clamped to ±2⁵³, and one more for a carry.
_WHOLE_DIGITS = 17


def rounded(
    column: "ir.Value", low: int, high: int, missing: int, step: Fraction
) -> "ir.IntegerValue":
    """Return the index of every record."""
    kind = column.type()
    if kind.is_boolean():
        return _of_truth(column, low, high, missing, step)
    if kind.is_decimal() and _unlimited(kind):
        return _of_numeric(column, low, high, missing, step)
    if step != 1 or kind.is_floating() or (kind.is_decimal() and not _fits(kind)):
        return _of_real(column, low, high, missing, step)
    if kind.is_decimal():
        return _of_decimal(column, low, high, missing)
    if kind.is_integer():
        return _of_integer(column, low, high, missing)
    raise InvalidParameter(
        f"a column to add up must hold numbers or truth values; got one of type {kind}. "
        "Choose another."
    )


def _of_truth(column: Any, low: int, high: int, missing: int, step: Fraction) -> Any:
    no, yes = (min(max(value // step, low), high) for value in (step / 2, 1 + step / 2))
    return _cases((column.isnull(), missing), (column, yes), else_=_whole(no))


def _of_integer(column: Any, low: int, high: int, missing: int) -> Any:
    kind = column.type()
    if kind.is_unsigned_integer() and kind.nbytes == 8:
        return _clamped(column, low, high, missing, ends=(0, (1 << 64) - 1), literal=kind)
    ends = (-(1 << 63), (1 << 63) - 1)
    return _clamped(column.cast("int64"), low, high, missing, ends=ends, literal="int64")


def _of_decimal(column: Any, low: int, high: int, missing: int) -> Any:
    """Return the index, at step 1, in decimals that lose no digit on any engine."""
    import ibis

    kind = column.type()
    largest = 10 ** (kind.precision - kind.scale) - 1
    # A HUGEINT of DuckDB's says that it is decimal(38, 0), and may be larger than any of them.
    ends = (-(1 << 127), 1 << 127) if kind.precision == _DIGITS and not kind.scale else None
    narrow = f"decimal({_WHOLE_DIGITS + kind.scale}, {kind.scale})" if kind.scale else "int64"
    clamped = _clamped(
        column,
        low,
        high,
        missing,
        ends=ends or (-largest, largest),
        literal=kind if kind.scale else "int64",
        narrow=narrow,
    )
    if not kind.scale or not clamped.type().is_decimal():
        return clamped
    return (clamped + ibis.literal("0.5", "decimal(2, 1)")).floor().cast("int64")


def _of_numeric(column: Any, low: int, high: int, missing: int, step: Fraction) -> Any:
    """Return the index in PostgreSQL's numerics, which multiply without an error."""
    import ibis

    def numeric(value: Fraction) -> Any:
        return ibis.literal(_plain(value), "decimal")

    lowest, highest, nearest = (numeric(end * step) for end in (low, high, missing))
    clamped = ibis.cases(
        ((column >= lowest) & (column <= highest), column),
        (column < lowest, lowest),
        (_unknown(column), nearest),
        else_=highest,
    )
    return (clamped * numeric(1 / step) + numeric(Fraction(1, 2))).floor().cast("int64")


def _of_real(column: Any, low: int, high: int, missing: int, step: Fraction) -> Any:
    """Return the index in doubles: ⌊(⌊2x/step⌋ + 1)/2⌋, none of which is rounded.

    x/step + 1/2 itself would be: of the double just below 1/2 it makes 1.
    """
    import ibis

    def double(value: Fraction) -> Any:
        return ibis.literal(float(value), "float64")

    real = column.cast("float64")
    lowest, highest, nearest = (double(end * step) for end in (low, high, missing))
    within = (real >= lowest) & (real <= highest)
    # What most records are comes first: engines look no further for them.
    cases = [(within, real)]
    if step > 2:
        # PostgreSQL refuses a product that is too small for a double; these have index 0 anyway.
        small = (real > double(Fraction(-1))) & (real < double(Fraction(1)))
        cases.insert(0, (within & small, double(Fraction(0))))
    clamped = ibis.cases(
        *cases,
        (real < lowest, lowest),
        (real.isnull() | real.isnan(), nearest),
        else_=highest,
    )
    halves = (clamped * double(2 / step)).floor().cast("int64")
    return (halves + ibis.literal(1, "int64")) >> ibis.literal(1, "int8")


def _clamped(
    column: Any,
    low: int,
    high: int,
    missing: int,
    *,
    ends: tuple[int, int],
    literal: "dt.DataType | str",
    narrow: str = "int64",
) -> Any:
    """Return a column clamped in its own type, then cast; ``ends`` are the type's whole numbers.

    A bound that the type does not hold is not compared with; where the bounds hold none of the
    type's numbers, every record counts the same.
    """
    import ibis

    if low > ends[1] or high < ends[0]:
        return _cases((column.isnull(), missing), else_=_whole(missing))
    least, most, nearest = (
        ibis.literal(end, literal) if ends[0] <= end <= ends[1] else None
        for end in (low, high, missing)
    )
    within = [column >= least] if least is not None else []
    # Above all bounds there may be NaN.
    within += [column <= most] if most is not None else [~_unknown(column)]
    cases = [(ibis.and_(*within), column)]
    cases += [(column < least, least)] if least is not None else []
    if most is None:
        return ibis.cases(*cases, else_=nearest).cast(narrow)
    return ibis.cases(*cases, (_unknown(column), nearest), else_=most).cast(narrow)


def _unknown(column: Any) -> Any:
    """Return whether a record is NULL or NaN; decimals, too, have a NaN on PostgreSQL."""
    if column.type().is_decimal():
        return column.isnull() | (column.cast("string") == "NaN")
    return column.isnull()


def _cases(*cases: tuple[Any, int], else_: Any) -> Any:
    import ibis

    return ibis.cases(*((when, _whole(then)) for when, then in cases), else_=else_).cast("int64")


def _whole(value: int) -> Any:
    import ibis

    return ibis.literal(value, "int64")


def _unlimited(kind: Any) -> bool:
    return kind.precision is None or kind.scale is None or kind.precision > _DIGITS


def _fits(kind: Any) -> bool:
    """Return whether a clamped decimal has room for a carry within the digits of every engine."""
    return bool(0 <= kind.scale <= _DIGITS - _WHOLE_DIGITS - 3)


def _plain(value: Fraction) -> str:
    """Return a number whose denominator is a power of two in full."""
    power = value.denominator.bit_length() - 1
    digits = f"{abs(value.numerator) * 5**power:0{power + 1}d}"
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[: len(digits) - power]}.{digits[len(digits) - power :]}0"
