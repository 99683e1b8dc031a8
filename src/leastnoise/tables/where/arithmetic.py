"""Arithmetic that cannot fail, the same on every engine.

All of it is computed in doubles, one IEEE operation at a time, which engines round alike. What they
do at the ends of the range differs, so no operation reaches them:

* An operand that is NULL or NaN makes the result NULL. It is replaced by 0 while the others are
  computed, because engines may compute a branch that they do not take.
* **Integers** are clipped to ±2⁵³, and so is each result. That is exact: a sum, difference or
  product of two such integers is a double if it lies within ±2⁵³. Otherwise its double lies at or
  beyond ±2⁵³, since rounding is monotone, and both are clipped to the same end.
* **Other numbers** are the nearest double, clipped to ±2⁵⁰⁰, and 0 if they are smaller than 2⁻⁷⁵.
  Each result is clipped to ±2⁵⁰⁰, so a product is at most 2¹⁰⁰⁰: no overflow.
* No product or quotient underflows, at which PostgreSQL fails. Call x *of degree k* if it is an
  integer multiple of 2⁻¹²⁸ᵏ. An operand is of degree 1, because a double of at least 2⁻⁷⁵ is a
  multiple of 2⁻¹²⁷. A sum is of the larger degree, a product of the sum of both, and a quotient by
  a constant of at most 2⁷⁵ of one more: it is a double of at least 2⁻¹²⁸ᵏ⁻⁷⁵, so a multiple of
  2⁻¹²⁸ᵏ⁻¹²⁷. Rounding keeps a degree, and so does clipping, since the ends are integers. A degree
  above MOST_FACTORS is rejected, so each result other than 0 is at least 2⁻⁸⁹⁶.

A decimal on DuckDB is converted through its text if it can have more than 15 digits, because the
engine's own conversion need not return the nearest double.
"""

from decimal import Decimal
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

from leastnoise.errors import InvalidParameter
from leastnoise.tables.where.nodes import Arithmetic, Literal, Part, Value

MOST_FACTORS = 7
MOST_OPERATORS = 32
_WHOLE = 1 << 53
_LARGEST = 1 << 500
_SMALLEST = Fraction(1, 1 << 75)
# Smaller numerics of PostgreSQL are not converted, because its conversion fails for some.
_TINY = Fraction(1, 1 << 1000)
_OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv}


def check_size(node: Arithmetic) -> None:
    """Reject an expression with too many operators, or of a degree that could underflow."""
    if _count_operators(node) > MOST_OPERATORS:
        raise InvalidParameter(
            f"An expression must have at most {MOST_OPERATORS} operators",
            got=str(_count_operators(node)),
            fix="Store the column in a table.",
        )
    if _degree(node) > MOST_FACTORS:
        raise InvalidParameter(
            f"An expression must multiply at most {MOST_FACTORS} factors",
            got=str(_degree(node)),
            fix="Store the column in a table.",
        )


def is_whole(literal: Literal) -> bool:
    """Return whether a constant is an integer within ±2⁵³; reject one that is out of range."""
    number = Fraction(literal.value)  # type: ignore[arg-type]
    if number and not _SMALLEST <= abs(number) <= 1 / _SMALLEST:
        raise InvalidParameter(
            "A constant in arithmetic must be 0, or from 2⁻⁷⁵ to 2⁷⁵ in size",
            got=str(literal),
            fix="Use another unit of measure.",
        )
    return number.denominator == 1 and abs(number) <= _WHOLE


def compute(operator: str, left: Any, right: Any, *, whole: bool) -> Any:
    """Return the result of an operation on doubles that :func:`to_operand` returned."""
    return _clip(_OPERATIONS[operator](left, right), _WHOLE if whole else _LARGEST)


def to_operand(column: Any, engine: str) -> tuple[Any, Any]:
    """Return a column of numbers as a double that is never NULL, and whether it is known."""
    import ibis

    kind = column.type()
    if kind.is_integer():
        return _clip(column.cast("float64").fill_null(double(0)), _WHOLE), column.notnull()
    real = to_double(column, engine)
    small, large = double(_SMALLEST), double(Fraction(_LARGEST))
    missing = real.isnull() | real.isnan()
    operand = ibis.cases(
        ((real > -small) & (real < small), double(0)),
        ((real >= -large) & (real <= large), real),
        (missing, double(0)),
        (real < double(0), -large),
        else_=large,
    )
    return operand, ~missing


def to_double(column: Any, engine: str) -> Any:
    """Return the nearest double of a number; a PostgreSQL numeric is clipped to ±2⁵⁰⁰ first."""
    kind = column.type()
    if not kind.is_decimal():
        return column.cast("float64")
    if engine == "duckdb" and (kind.precision is None or kind.precision > 15):
        return column.cast("string").cast("float64")
    return (_clip_numeric(column) if engine == "postgres" else column).cast("float64")


def double(number: Fraction | int) -> Any:
    """Return a constant as a double, from a string, which every engine reads exactly."""
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")


def _clip(number: Any, end: int) -> Any:
    import ibis

    return ibis.least(ibis.greatest(number, double(-end)), double(end))


def _clip_numeric(column: Any) -> Any:
    """Return a numeric that PostgreSQL can convert to a double; NULL for NaN."""
    import ibis

    def numeric(number: Fraction | int) -> Any:
        digits = f"{Decimal(number):f}" if isinstance(number, int) else _write(number)
        return ibis.literal(digits).cast("decimal")

    return ibis.cases(
        (column == ibis.literal("NaN").cast("decimal"), ibis.null("decimal")),
        (column > numeric(_LARGEST), numeric(_LARGEST)),
        (column < numeric(-_LARGEST), numeric(-_LARGEST)),
        ((column > numeric(-_TINY)) & (column < numeric(_TINY)), numeric(0)),
        else_=column,
    )


def _write(number: Fraction) -> str:
    """Write all digits of a fraction whose denominator is a power of two."""
    power = number.denominator.bit_length() - 1
    digits = f"{abs(number.numerator) * 5**power:0{power + 1}d}"
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[: len(digits) - power]}.{digits[len(digits) - power :]}"


def _count_operators(node: Value | Literal) -> int:
    match node:
        case Arithmetic(_, left, right):
            return 1 + _count_operators(left) + _count_operators(right)
        case Part(_, value):
            return _count_operators(value)
        case _:
            return 0


def _degree(node: Value | Literal) -> int:
    match node:
        case Arithmetic("+" | "-", left, right):
            return max(_degree(left), _degree(right))
        case Arithmetic(_, left, right):
            return _degree(left) + _degree(right)
        case _:
            return 1
