"""The lattice: real numbers to integer multiples of a step, by the one rounding that is safe.

R(q) = ⌊q/g + 1/2⌋, in exact rationals. R rises with q and R(q + j·g) = R(q) + j for integers j, so
two numbers at most k·g apart land at most k points apart: rounding costs no sensitivity. (Rounding
half to even breaks this: 0.5 and 1.5 land on 0 and 2.)
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.core.exact import as_float

# Steps to a sensitivity, unless Δ is a fraction of very many digits.
CELLS = 1 << 20
# A step with a numerator and denominator beyond this would make every index and value slow.
_UNWIELDY = 1 << 32


@dataclass(frozen=True, slots=True)
class Grid:
    """The integer multiples of ``step``."""

    step: Fraction
    # The step's numerator and twice its denominator: to ask for them anew would take half as long
    # as to round.
    _over: int = field(init=False, repr=False, compare=False)
    _twice_under: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_over", self.step.numerator)
        object.__setattr__(self, "_twice_under", 2 * self.step.denominator)

    def index(self, numerator: int, denominator: int) -> int:
        """Return R(numerator / denominator), exactly."""
        lower = denominator * self._over
        return (numerator * self._twice_under + lower) // (2 * lower)

    def indices(self, numbers: Iterable[int], step: Fraction) -> list[int]:
        """Return R(number · step) of each of several integers, exactly."""
        over, under = (step / self.step).as_integer_ratio()
        return [(2 * number * over + under) // (2 * under) for number in numbers]

    def nearest_float(self, index: int) -> float:
        """Return the float nearest to ``index · step``."""
        return as_float(index * self.step)


@dataclass(frozen=True)
class Run:
    """Neighboring points of a lattice that have the same weight."""

    first: int
    points: int
    weight: int


def lattice_for(sensitivity: Fraction) -> tuple[Fraction, int]:
    """Choose the step g for real answers; return it with :func:`effective_steps`.

    g is Δ/2²⁰. Where that is a fraction of very many digits, it is the power of two below it: two
    answers Δ apart are then at most ⌈Δ/g⌉ ≤ 2²¹ steps apart.
    """
    step = sensitivity / CELLS
    if max(sensitivity.numerator, sensitivity.denominator) > _UNWIELDY:
        power = Fraction(2) ** (step.numerator.bit_length() - step.denominator.bit_length())
        step = power if power <= step else power / 2
    return step, effective_steps(sensitivity, step)


def effective_steps(sensitivity: Fraction, step: Fraction, *, answers: int = 1) -> int:
    """Return how far apart, in steps, the lattice points of neighboring datasets can lie.

    For n answers that differ by d₁ + … + d_n ≤ Δ it is ⌈Δ/g⌉ + 2n − 1. Rounded one by one by R they
    move by at most ⌈d₁/g⌉ + … + ⌈d_n/g⌉ steps, which is at most ⌈Δ/g⌉ + n − 1: the sum of the n
    ceilings is an integer below Δ/g + n. And an answer held as a float can be half an ulp off the
    number it stands for, so two can be an ulp further apart than these numbers: as long as an ulp
    is at most g, one step more for each answer.
    """
    return -(-sensitivity // step) + 2 * answers - 1


def effective_sensitivity(sensitivity: Fraction, step: Fraction, *, integer: bool) -> Fraction:
    """Return the shift of the lattice point that sampled noise must protect against.

    Δ for integer answers, which lie on their lattice; for real ones :func:`effective_steps`.
    """
    return sensitivity if integer else effective_steps(sensitivity, step) * step


def rounding_error(step: Fraction, *, integer: bool) -> Fraction:
    """Return how far a true answer can be from its lattice point: half a step, or 0."""
    return Fraction(0) if integer else step / 2
