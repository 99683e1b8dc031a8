"""Noises: each file states one family's law; how it is drawn, and how private, lie elsewhere."""

from leastnoise.noise.base import LatticeNoise, Noise, Run, TicketNoise, table
from leastnoise.noise.discrete_planar_staircase import DiscretePlanarStaircase
from leastnoise.noise.discrete_staircase import DiscreteStaircase
from leastnoise.noise.discrete_steps import DiscreteSteps
from leastnoise.noise.discrete_uniform import DiscreteUniform
from leastnoise.noise.gaussian import Gaussian
from leastnoise.noise.laplace import Laplace
from leastnoise.noise.planar_staircase import PlanarStaircase
from leastnoise.noise.rounded import Rounded
from leastnoise.noise.smooth import Smooth
from leastnoise.noise.staircase import Staircase
from leastnoise.noise.steps import Steps
from leastnoise.noise.truncated_laplace import TruncatedLaplace
from leastnoise.noise.uniform import Uniform

__all__ = [
    "DiscretePlanarStaircase",
    "DiscreteStaircase",
    "DiscreteSteps",
    "DiscreteUniform",
    "Gaussian",
    "Laplace",
    "LatticeNoise",
    "Noise",
    "PlanarStaircase",
    "Rounded",
    "Run",
    "Smooth",
    "Staircase",
    "Steps",
    "TicketNoise",
    "TruncatedLaplace",
    "Uniform",
    "table",
]
