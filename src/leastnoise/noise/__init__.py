"""Noises: each file states one family's law; how it is drawn, and how private, lie elsewhere."""

from leastnoise.noise.base import Noise
from leastnoise.noise.discrete_uniform import DiscreteUniform
from leastnoise.noise.uniform import Uniform

__all__ = ["DiscreteUniform", "Noise", "Uniform"]
