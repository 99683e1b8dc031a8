"""The families of noise, on the line and on the lattice where they are sampled.

Each family defines its distributions in one file, or in two, as classes of a few kinds:
:class:`PiecewiseNoise`, :class:`Smooth` and :class:`StaircaseNoise` on the line,
:class:`FiniteLatticeNoise`, :class:`Rounded` and :class:`StaircaseNoise` on a lattice. Expected
costs, privacy losses and plots are computed by kind.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from leastnoise.core.lattice import Run
from leastnoise.core.noise.base import (
    ExpectedCost,
    LatticeNoise,
    LineNoise,
    Noise,
    not_a_cost,
    outside,
)
from leastnoise.core.noise.discrete_staircase import DiscreteStaircase
from leastnoise.core.noise.gaussian import Gaussian, TruncatedGaussian
from leastnoise.core.noise.joint_marginal import JointMarginal
from leastnoise.core.noise.kinds import (
    FiniteLatticeNoise,
    PiecewiseNoise,
    Smooth,
    StaircaseNoise,
    widen,
)
from leastnoise.core.noise.laplace import Laplace, TruncatedLaplace
from leastnoise.core.noise.rounded import BITS, Rounded, TailTerms, power_series_bound
from leastnoise.core.noise.staircase import Staircase, Stairs
from leastnoise.core.noise.steps import DiscreteSteps, Steps
from leastnoise.core.noise.uniform import DiscreteUniform, Uniform

if TYPE_CHECKING:
    from leastnoise.core.noise.joint import BoundedJointStaircase, JointNoise, JointStaircase

# Every noise class that a certificate can store.
STORED_NOISES: tuple[type[Noise], ...] = (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    JointMarginal,
    Laplace,
    Rounded,
    Staircase,
    Steps,
    TruncatedGaussian,
    TruncatedLaplace,
    Uniform,
)

__all__ = [
    "BITS",
    "STORED_NOISES",
    "BoundedJointStaircase",
    "DiscreteStaircase",
    "DiscreteSteps",
    "DiscreteUniform",
    "ExpectedCost",
    "FiniteLatticeNoise",
    "Gaussian",
    "JointMarginal",
    "JointNoise",
    "JointStaircase",
    "Laplace",
    "LatticeNoise",
    "LineNoise",
    "Noise",
    "PiecewiseNoise",
    "Rounded",
    "Run",
    "Smooth",
    "Staircase",
    "StaircaseNoise",
    "Stairs",
    "Steps",
    "TailTerms",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Uniform",
    "not_a_cost",
    "outside",
    "power_series_bound",
    "widen",
]


def __getattr__(name: str) -> object:
    """Load joint noise on first use: certificates have the noise of one number only."""
    if name in ("BoundedJointStaircase", "JointNoise", "JointStaircase"):
        return getattr(import_module("leastnoise.core.noise.joint"), name)
    raise AttributeError(f"module 'leastnoise.core.noise' has no attribute {name!r}")
