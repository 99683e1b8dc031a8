"""The families of noise: on the line, and on the lattice where they are drawn."""

from leastnoise.core.noise.base import FiniteLatticeNoise, LatticeNoise, Noise, Run, Stairs
from leastnoise.core.noise.gaussian import Gaussian
from leastnoise.core.noise.laplace import Laplace, TruncatedLaplace
from leastnoise.core.noise.rounded import Rounded
from leastnoise.core.noise.smooth import Smooth
from leastnoise.core.noise.staircase import DiscreteStaircase, Staircase
from leastnoise.core.noise.steps import DiscreteSteps, Steps
from leastnoise.core.noise.uniform import DiscreteUniform, Uniform

__all__ = [
    "DiscreteStaircase",
    "DiscreteSteps",
    "DiscreteUniform",
    "FiniteLatticeNoise",
    "Gaussian",
    "Laplace",
    "LatticeNoise",
    "Noise",
    "Rounded",
    "Run",
    "Smooth",
    "Staircase",
    "Stairs",
    "Steps",
    "TruncatedLaplace",
    "Uniform",
]
