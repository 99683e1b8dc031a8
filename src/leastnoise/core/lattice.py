"""The lattice: real numbers to whole multiples of a step, by the one rounding that is safe.

R(q) = ⌊q/g + 1/2⌋, in exact rationals. R rises with q and R(q + j·g) = R(q) + j for integers j, so
two numbers at most k·g apart land at most k points apart: rounding costs no sensitivity. (Rounding
half to even breaks this: 0.5 and 1.5 land on 0 and 2.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from leastnoise.core.exact import as_float


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


CELLS = 1 << 20
# A step with a numerator and denominator beyond this would make every index and value slow.
_UNWIELDY = 1 << 32


def lattice_for(sensitivity: Fraction) -> tuple[Fraction, int]:
    """Return the step g of the lattice, and by how many steps it protects: ⌈Δ/g⌉ + 1.

    g is Δ/2²⁰. Where that is a fraction of very many digits, it is the power of two below it: two
    answers Δ apart are then at most ⌈Δ/g⌉ ≤ 2²¹ steps apart.
    """
    step = sensitivity / CELLS
    if max(sensitivity.numerator, sensitivity.denominator) > _UNWIELDY:
        power = Fraction(2) ** (step.numerator.bit_length() - step.denominator.bit_length())
        step = power if power <= step else power / 2
    return step, ceil(sensitivity / step) + 1
