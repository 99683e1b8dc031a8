"""From the line to the lattice: the noise that is really added to a real-valued answer.

True answers are rounded to whole multiples of g = Δ/2²⁰ by R(q) = ⌊q/g + 1/2⌋, which moves two
answers Δ apart to at most 2²⁰ steps apart. Numbers kept as floats can be an ulp further apart than
the numbers they stand for, which is one step more where they lie at the edge of a cell; so the
noise protects against 2²⁰ + 1 steps.

The noise is a P_α rounded to the lattice: private there because rounding what has left is
post-processing. Its radius is (M + 1/2)·g, so that all 2M + 1 cells are whole and it is drawn by
one uniform integer below A + 2M + 1, A of them for the mass at 0. With n = 2M + 1 the distance at
2²⁰ + 1 steps is (A + 2²⁰ + 1)/(A + n), which must not exceed δ.
"""

from fractions import Fraction
from math import ceil, floor

from leastnoise.noise import DiscreteUniform, Uniform
from leastnoise.privacy import Privacy

CELLS = 1 << 20


def on_lattice(noise: Uniform, privacy: Privacy, sensitivity: Fraction) -> DiscreteUniform:
    """Return the lattice noise of ``noise``'s shape that keeps the promise at 2²⁰ + 1 steps."""
    moved = CELLS + 1
    reach = ceil(noise.radius / sensitivity * moved - Fraction(1, 2))
    points = 2 * reach + 1
    spare = (privacy.delta * points - moved) / (1 - privacy.delta)
    return DiscreteUniform(
        step=sensitivity / CELLS, reach=reach, atom=floor(spare) if noise.atom else 0
    )
