"""The lattice: real numbers to whole multiples of a step, by the one rounding that is safe.

R(q) = ⌊q/g + 1/2⌋, in exact rationals. R rises with q and R(q + j·g) = R(q) + j for integers j, so
two numbers at most k·g apart land at most k points apart: rounding costs no sensitivity. (Rounding
half to even breaks this: 0.5 and 1.5 land on 0 and 2.)
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.exact.door import as_float

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Floats carry 53 bits. Below 2**50 a float still has 3 bits behind the point, enough to tell on
# which side of a cell's edge a point lies for all but the few that are sent the exact way.
_LARGEST_FLOAT_INDEX = 2.0**50


@dataclass(frozen=True, slots=True)
class Grid:
    """The whole multiples of ``step``."""

    step: Fraction
    # The step as numerator and denominator: to ask it anew takes half as long as to round.
    _over: int = field(init=False, repr=False, compare=False)
    _under: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the step apart."""
        for name, part in zip(("_over", "_under"), self.step.as_integer_ratio(), strict=True):
            object.__setattr__(self, name, part)

    def index(self, numerator: int, denominator: int) -> int:
        """Return R(numerator / denominator), exactly."""
        lower = denominator * self._over
        return (2 * numerator * self._under + lower) // (2 * lower)

    def indices(self, numbers: Iterable[int], step: Fraction) -> list[int]:
        """Return R(number · step) of each of several whole numbers, exactly."""
        over, under = (step / self.step).as_integer_ratio()
        return [(2 * number * over + under) // (2 * under) for number in numbers]

    def nearest_float(self, index: int) -> float:
        """Return the float nearest to ``index · step``."""
        return as_float(index * self.step)

    def rounding(self, largest: float, farthest: int) -> "FloatRounding | None":
        """Return the fast rounding for floats up to ``largest`` to be moved, if there is one.

        ``farthest`` is by how many steps noise may move them. None means that some index could be
        one that floats do not hold exactly; then every element must go through :meth:`index`.
        """
        upper, lower = self.step.as_integer_ratio()
        scale = as_float(1 / self.step)
        reach = largest * scale
        if not 2.0**-1000 < scale < 2.0**1000 or not reach < _LARGEST_FLOAT_INDEX:
            return None
        last = int(reach) + farthest + 2
        if math.isinf(as_float(last * self.step)):
            return None  # a value could lie beyond the largest float
        # Powers of two scale floats exactly; only what is odd in the step takes up digits.
        if _odd_part(lower) >= 1 << 53 or _odd_part(upper) * last >= 1 << 53:
            return None
        return FloatRounding(self, scale, doubt=2.0**-51 * (reach + 1))


def _odd_part(number: int) -> int:
    return number // (number & -number)


@dataclass(frozen=True, slots=True)
class FloatRounding:
    """R for blocks of floats: floats propose, exact integers settle what lies near an edge.

    With s = fl(1/g), rounding puts x·s + 1/2 at most 3·2⁻⁵³·(|x/g| + 1) off; ``doubt`` is more than
    that. Adding it makes the error one-sided: the floor of x·s + 1/2 + doubt is R(x) unless the
    part behind the point is below 2·doubt. Those, and only those, are rounded again exactly.
    """

    grid: Grid
    scale: float
    doubt: float

    def indices(self, block: "Floats", out: "Floats", scratch: "Floats") -> None:
        """Write R of every element of ``block`` into ``out`` (whole numbers held as floats).

        A floor is never −0.0. Rounding to nearest would turn a number just below 0 into −0.0,
        whose sign could survive the noise and tell on which side of 0 the true value lies.
        """
        import numpy as np

        np.multiply(block, self.scale, out=scratch)
        np.add(scratch, 0.5 + self.doubt, out=scratch)
        np.floor(scratch, out=out)
        np.subtract(scratch, out, out=scratch)
        if scratch.min() < 2 * self.doubt:
            for place in np.flatnonzero(scratch < 2 * self.doubt).tolist():
                out[place] = self.grid.index(*float(block[place]).as_integer_ratio())

    def values(self, indices: "Floats") -> None:
        """Turn indices, in place, into the floats nearest to ``index · step``.

        index · numerator is exact, for it stays below 2⁵³; dividing it by the denominator rounds
        once. So these are the floats of :meth:`Grid.nearest_float`; multiplying by a rounded step
        would not give them.
        """
        import numpy as np

        upper, lower = self.grid.step.as_integer_ratio()
        if lower & (lower - 1) == 0:  # a power of two: one exact product
            np.multiply(indices, upper / lower, out=indices)
            return
        if upper > 1:
            np.multiply(indices, float(upper), out=indices)
        np.divide(indices, float(lower), out=indices)
