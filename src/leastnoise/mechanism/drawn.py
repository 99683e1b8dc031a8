"""What is drawn for a noise: whole multiples of a step."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.calibration import (
    Question,
    on_lattice,
    smooth_on_lattice,
    staircase_on_lattice,
    stretched,
)
from leastnoise.costs import Cost
from leastnoise.noise import LatticeNoise, Noise, Smooth, Staircase, Steps, Uniform


@dataclass(frozen=True, repr=False)
class Drawn:
    """The lattice noise that release adds, whole multiples of a step.

    Attributes:
        noise: Its law, in whole weights.
        objective: What an error costs.
    """

    noise: LatticeNoise
    objective: Cost

    def __repr__(self) -> str:
        """Print the law."""
        return f"Drawn({self.noise!r})"

    @property
    def step(self) -> Fraction:
        """The lattice's step: 1 for whole numbers, about Δ/2²⁰ for real ones."""
        return self.noise.step

    @property
    def radius(self) -> Fraction | float:
        """The largest noise that can be drawn: ``math.inf`` if there is none."""
        return self.noise.radius

    @cached_property
    def cost(self) -> Fraction:
        """The expected cost of the drawn noise: exact or a proved upper bound."""
        return self.noise.expected(self.objective)


def lattice_law(noise: Noise, asked: Question) -> LatticeNoise:
    """Return the lattice noise that is drawn for a noise on the line; others are drawn as such."""
    if isinstance(noise, Uniform):
        return on_lattice(noise, asked.privacy, asked.sensitivity)
    if isinstance(noise, Staircase):
        return staircase_on_lattice(noise, asked.sensitivity)
    if isinstance(noise, Smooth):
        return smooth_on_lattice(noise, asked.sensitivity)
    if isinstance(noise, Steps):
        return stretched(noise, asked.sensitivity)
    assert isinstance(noise, LatticeNoise)  # noqa: S101 -- tells mypy that these are all there are
    return noise
