"""The lattice: round real numbers to integer multiples of a step without raising the sensitivity.

R(q) = ⌊q/g + 1/2⌋, in exact rationals. R never falls as q grows, and R(q + j·g) = R(q) + j for
integers j. So two numbers at most k·g apart are rounded to points at most k steps apart. Rounding
half to even breaks this: 0.5 and 1.5 are rounded to 0 and 2.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, isqrt

from leastnoise.core.exact import as_float

# Steps per sensitivity, unless Δ is a fraction of very many digits.
CELLS = 1 << 20
# The rounding of a vector adds at most this part of its sensitivity.
_VECTOR_MARGIN = Fraction(1, 1 << 10)
# A step with a numerator and denominator beyond this would make every index and value slow.
_UNWIELDY = 1 << 32


@dataclass(frozen=True, slots=True)
class Grid:
    """The integer multiples of ``step``."""

    step: Fraction
    # The step's numerator and twice its denominator. Reading them from the step for every value
    # would take half as long as rounding.
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
        """Return R(number · step) for each integer, exactly."""
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


def choose_lattice(sensitivity: Fraction) -> tuple[Fraction, int]:
    """Choose the step g for real answers; return it with :func:`effective_steps`.

    g is Δ/2²⁰. If that is a fraction of very many digits, g is the largest power of two below it,
    and two answers Δ apart are at most ⌈Δ/g⌉ ≤ 2²¹ steps apart.
    """
    step = sensitivity / CELLS
    if max(sensitivity.numerator, sensitivity.denominator) > _UNWIELDY:
        power = Fraction(2) ** (step.numerator.bit_length() - step.denominator.bit_length())
        step = power if power <= step else power / 2
    return step, effective_steps(sensitivity, step)


def fine_step(square: Fraction) -> Fraction:
    """Return a power of two that is at most 2⁻³² of √square, and at least 2⁻³⁴ of it; 1 for 0."""
    if not square:
        return Fraction(1)
    doublings = square.numerator.bit_length() - square.denominator.bit_length() - 1
    return Fraction(2) ** (doublings // 2 - 32)


def effective_steps(sensitivity: Fraction, step: Fraction, *, answers: int = 1) -> int:
    """Return how far apart, in steps, the lattice points of neighboring datasets can lie.

    For n answers that differ by d₁ + … + d_n ≤ Δ it is ⌈Δ/g⌉ + 2n − 1. R rounds each answer, so the
    lattice points differ by at most ⌈d₁/g⌉ + … + ⌈d_n/g⌉ steps. That is at most ⌈Δ/g⌉ + n − 1,
    because the sum of the n ceilings is an integer below Δ/g + n. An answer stored as a float can
    be half an ulp away from the number it represents, so two answers can be one ulp further apart
    than those numbers. As long as an ulp is at most g, that adds one step for each answer.
    """
    return -(-sensitivity // step) + 2 * answers - 1


def effective_sensitivity(sensitivity: Fraction, step: Fraction, *, integer: bool) -> Fraction:
    """Return the largest shift of a lattice point, which the sampled noise must protect against.

    It is Δ for integer answers, which lie on their lattice, and :func:`effective_steps` for real
    answers.
    """
    return sensitivity if integer else effective_steps(sensitivity, step) * step


def choose_vector_step(sensitivity: Fraction, dimension: int) -> Fraction:
    """Choose the step g for vectors of real numbers.

    g is that of a single number, halved until the rounding of all coordinates together, 2g·√m, adds
    at most a 1024th of Δ. For up to 2¹⁸ coordinates it need not be halved.
    """
    step, _ = choose_lattice(sensitivity)
    while 4 * dimension * step**2 > (_VECTOR_MARGIN * sensitivity) ** 2:
        step /= 2
    return step


def effective_square(
    sensitivity: Fraction, step: Fraction, *, dimension: int, integer: bool
) -> Fraction:
    """Return the largest squared ℓ2 distance between the lattice points of two vectors.

    The vectors are at most Δ apart in ℓ2. Integers lie on their lattice, so their distance is at
    most Δ. R moves each coordinate by at most g/2. A coordinate stored as a float can be half an
    ulp away from the number it represents, which is at most g/2 as long as an ulp is at most g. So
    each coordinate moves by at most g, a vector of m coordinates by at most g·√m, and the distance
    of two of them is at most Δ + 2g·√m.

    In steps, squared distances of lattice points are integers. So (Δ/g + 2√m)² is rounded down,
    after √m is rounded up.
    """
    if integer:
        return Fraction(sensitivity**2 // 1)
    steps = sensitivity / step
    mixed = isqrt(ceil(16 * dimension * steps**2) - 1) + 1  # at least 2 · Δ/g · 2√m
    return ((steps**2 + 4 * dimension + mixed) // 1) * step**2


def rounding_error(step: Fraction, *, integer: bool) -> Fraction:
    """Return the largest distance of a true answer from its lattice point: half a step, or 0."""
    return Fraction(0) if integer else step / 2
