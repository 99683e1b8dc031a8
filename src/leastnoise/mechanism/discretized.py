"""The discretized noise of a mechanism: the noise on a lattice that a release samples."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.core.noise import LatticeNoise
from leastnoise.costs import Cost


@dataclass(frozen=True, repr=False)
class Discretized:
    """The discretized noise that a release adds: integer multiples of a step.

    Attributes:
        noise: The noise distribution on the lattice.
        objective: The cost of an error.

    >>> from leastnoise import Privacy, calibrate
    >>> discretized = calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True).discretized
    >>> discretized.step, discretized.radius
    (Fraction(1, 1), Fraction(5, 1))
    """

    noise: LatticeNoise
    objective: Cost

    def __repr__(self) -> str:
        return f"Discretized({self.noise!r})"

    @property
    def step(self) -> Fraction:
        """The step of the lattice: 1 for integers, about Δ/2²⁰ for real numbers."""
        return self.noise.step

    @property
    def radius(self) -> Fraction | float:
        """The largest noise that can be sampled; ``math.inf`` if the noise is unbounded."""
        return self.noise.radius

    @cached_property
    def cost(self) -> Fraction:
        """The expected cost of the discretized noise: exact, or a proved upper bound."""
        return self.noise.expected(self.objective)
