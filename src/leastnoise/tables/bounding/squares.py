"""``Squares``: the squares of lattice indices as integers, for the sum of a variance.

Let u be the index of a row relative to the middle, |u| ≤ m. Its square lies in [0, m²], with up to
2⁴⁰ steps. So it is divided by a power of two h, and rounded to the nearest integer (ties upward).
These integers lie in [0, w] with w about 2²⁰, so doubles represent the sums of a unit's rows
exactly, as for a mean. Then w/2 (rounded down) is subtracted, which halves the sensitivity of the
sum: one row adds from −⌊w/2⌋ to ⌈w/2⌉ instead of up to w.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.tables.bounding.lattice import Lattice

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The largest square, in steps, is about this.
_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Squares:
    """Squares of (value − middle), in multiples of ``step``.

    Attributes:
        farthest: The largest distance of an index from that of the middle, m.
        divisor: The power of two h.
        reach: The same distance in the unit of the values: A = m·g, where g is the step of the
            lattice.
        step: The size of a multiple: h·g².
    """

    farthest: int
    divisor: int
    reach: Fraction
    step: Fraction

    @classmethod
    def of(cls, lattice: Lattice) -> "Squares":
        """Return the squares for a lattice.

        >>> Squares.of(Lattice(low=0, high=4096, step=Fraction(1)))
        Squares(farthest=2048, divisor=4, reach=Fraction(2048, 1), step=Fraction(4, 1))
        """
        farthest = max(lattice.high - lattice.middle, lattice.middle - lattice.low)
        divisor = 1
        while farthest * farthest > divisor * _STEPS:
            divisor *= 2
        return cls(farthest, divisor, farthest * lattice.step, divisor * lattice.step**2)

    @property
    def most(self) -> int:
        """The largest rounded square, w."""
        return self._round(self.farthest)

    @property
    def middle(self) -> int:
        """The integer that is subtracted from each rounded square."""
        return self.most // 2

    def index(self, indices: "ir.IntegerValue") -> "ir.IntegerValue":
        """Return the rounded square of each index, minus ``middle``.

        Squares are below 2⁴², so engines that divide integers in doubles divide exactly.
        """
        if self.divisor == 1:
            return indices * indices - self.middle
        rounded = (indices * indices + self.divisor // 2) // self.divisor
        return rounded.cast("int64") - self.middle

    def rounding(self, of_value: Fraction) -> Fraction:
        """Return the maximum error of a square, if each value is rounded by at most ``of_value``.

        Let x be the distance of a value from the middle and y that of its lattice point. Both are
        at most A = ``reach``. So |x² − y²| = |x − y|·|x + y| ≤
        2A·|x − y|. Rounding y² to a multiple of the step adds at most half a step.
        """
        half = self.step / 2 if self.divisor > 1 else Fraction(0)
        return 2 * self.reach * of_value + half

    def _round(self, index: int) -> int:
        return (index * index + self.divisor // 2) // self.divisor
