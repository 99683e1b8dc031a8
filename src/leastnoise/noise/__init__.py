"""Noises: each file states one family's law; how it is drawn, and how private, lie elsewhere."""

from leastnoise.noise.base import LatticeNoise, Noise, table
from leastnoise.noise.discrete_steps import DiscreteSteps, Run
from leastnoise.noise.discrete_uniform import DiscreteUniform
from leastnoise.noise.steps import Steps
from leastnoise.noise.uniform import Uniform

__all__ = [
    "DiscreteSteps",
    "DiscreteUniform",
    "LatticeNoise",
    "Noise",
    "Run",
    "Steps",
    "Uniform",
    "table",
]
