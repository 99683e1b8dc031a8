"""Noise distributions, for :meth:`leastnoise.Mechanism.from_noise` and for your own analysis."""

from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    FiniteLatticeNoise,
    Gaussian,
    Laplace,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    Steps,
    TruncatedGaussian,
    TruncatedLaplace,
    Uniform,
)

TicketNoise = FiniteLatticeNoise  # its name in 0.5.0

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
    "Steps",
    "TicketNoise",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Uniform",
]
