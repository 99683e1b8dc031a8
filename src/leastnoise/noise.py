"""The families of noise: what there is to build a mechanism of your own from."""

from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    Laplace,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    Steps,
    TicketNoise,
    TruncatedLaplace,
    Uniform,
)

__all__ = [
    "DiscreteStaircase",
    "DiscreteSteps",
    "DiscreteUniform",
    "Gaussian",
    "Laplace",
    "LatticeNoise",
    "Noise",
    "Rounded",
    "Run",
    "Smooth",
    "Staircase",
    "Steps",
    "TicketNoise",
    "TruncatedLaplace",
    "Uniform",
]
