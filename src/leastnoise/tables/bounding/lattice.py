"""Values of a column as whole numbers: clamped, then rounded to a lattice, record by record.

The sum of whole numbers is exact, in any order and on any engine; a sum of floats is not, and moves
by more than anyone has declared (docs/tables.md). Every record has a place on the lattice,
whatever it holds: NULL, NaN, ±∞ and numbers beyond the bounds.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter
from leastnoise.exact import described, exactly, rational

if TYPE_CHECKING:
    import ibis.expr.types as ir

# About so many steps lie between the bounds of a real column, unless more are wanted.
_STEPS = 1 << 20
# Up to this every whole number is a double, and so is every bound on a lattice.
_LARGEST = 1 << 53


@dataclass(frozen=True, slots=True)
class Lattice:
    """The whole multiples of ``step`` from low·step to high·step.

    Attributes:
        low: The index of the lower bound, or of the lattice's point below it.
        high: The index of the upper bound, or of the lattice's point above it.
        step: 1 for whole columns between whole bounds; else a power of two, by which engines
            divide floats without an error.
    """

    low: int
    high: int
    step: Fraction

    @classmethod
    def between(cls, bounds: object, *, whole: bool, steps: int = _STEPS) -> "Lattice":
        """Return the lattice for the bounds that a caller gave.

        ``whole`` says that the column holds whole numbers; else about so many ``steps`` lie between
        the bounds.

        >>> Lattice.between((0, 200_000), whole=True)
        Lattice(low=0, high=200000, step=Fraction(1, 1))
        >>> Lattice.between((0, 200_000), whole=False)
        Lattice(low=0, high=1600000, step=Fraction(1, 8))
        """
        lower, upper = bounds_read(bounds)
        if whole and lower.denominator == upper.denominator == 1:
            return cls(int(lower), int(upper), Fraction(1))
        # Not so fine that an index exceeds 2⁵³: the bounds must be doubles, and indices integers.
        coarse = max(abs(lower), abs(upper)) / _LARGEST
        step = _power_of_two((upper - lower) / steps)
        while step < coarse:
            step *= 2
        return cls(lower // step, -(-upper // step), step)

    @property
    def missing(self) -> int:
        """What NULL and NaN count as: the index nearest to 0."""
        return min(max(0, self.low), self.high)

    @property
    def middle(self) -> int:
        """The index half-way between the bounds, rounded down."""
        return (self.low + self.high) // 2

    def index(self, column: "ir.Value", engine: str) -> "ir.IntegerValue":
        """Return the index of every record: that nearest to x/step, clamped to [low, high].

        Of two that are equally near it is the even one.

        Never NULL, and never an error, whatever the record: a value is clamped in the type of its
        column before anything is done with it, as engines may compute a branch that they do not
        take. Exact for floats, integers and truth values, and for decimals of at most 38 digits, 18
        of them after the point, where the step is 1, and of any length on PostgreSQL. Any other
        decimal counts as the nearest double (on some engines, one beside it).
        """
        from leastnoise.tables.bounding.rounding import rounded

        return rounded(column, self, engine)


def bounds_read(bounds: object) -> tuple[Fraction, Fraction]:
    """Return the bounds that a caller gave."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter(
            f"bounds must be two numbers, the lower first; got {described(bounds)}. "
            "Give for instance bounds=(0, 200_000): what a value can be, not what it is here."
        )
    lower, upper = (rational(end, "a bound") for end in bounds)
    if lower >= upper:
        raise InvalidParameter(
            f"the lower bound must be below the upper one; got {exactly(lower)} and "
            f"{exactly(upper)}. Exchange them, or give a range that values can lie in."
        )
    if max(abs(lower), abs(upper)) > _LARGEST or upper - lower < Fraction(1, _LARGEST):
        raise InvalidParameter(
            f"bounds must lie within ±2⁵³ and be at least 2⁻⁵³ apart; got {exactly(lower)} and "
            f"{exactly(upper)}. Give the column in another unit of measure."
        )
    return lower, upper


def _power_of_two(at_most: Fraction) -> Fraction:
    """Return the largest power of two that is not above a number."""
    power = Fraction(1)
    while power > at_most:
        power /= 2
    while 2 * power <= at_most:
        power *= 2
    return power
