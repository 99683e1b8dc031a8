"""Theorem 1: the exact distance in total variation for noise that never rises away from 0."""

from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

from leastnoise.errors import InvalidParameter
from leastnoise.exact import exactly
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Noise,
    Rounded,
    Smooth,
    Staircase,
    Steps,
    Uniform,
)


@singledispatch
def worst_distance(noise: Noise, sensitivity: Fraction) -> Fraction:
    """Return the largest distance in total variation over all moves |d| ≤ sensitivity, exactly.

    A symmetric noise that never rises away from 0 is at distance P([−d/2, d/2)) from itself moved
    by d > 0, which grows with d, so the worst move is the longest (GDGK19, Theorem 1). On a lattice
    moved by j steps it is the mass of the j points in the middle.
    """
    raise InvalidParameter(
        f"Theorem 1 is read from a family's own law; got {type(noise).__name__}, moved by "
        f"{exactly(sensitivity)}, which has none here. Ask its Profile instead."
    )


@worst_distance.register
def _(noise: Uniform, sensitivity: Fraction) -> Fraction:
    spread = min(Fraction(1), sensitivity / (2 * noise.radius))
    return noise.atom + (1 - noise.atom) * spread


@worst_distance.register
def _(noise: Steps, sensitivity: Fraction) -> Fraction:
    why = noise.rise()
    if why is not None:
        raise InvalidParameter(
            f"Theorem 1 is for symmetric noise that never rises away from 0; got {noise!r}, but "
            f"{why}. Ask its Profile instead."
        )
    return noise.between(-sensitivity / 2, sensitivity / 2)


@worst_distance.register
def _(noise: Staircase, sensitivity: Fraction) -> Fraction:
    return noise.mass(sensitivity / 2) - noise.mass(-sensitivity / 2)


@worst_distance.register
def _(noise: DiscreteUniform | DiscreteStaircase, sensitivity: Fraction) -> Fraction:
    # The noise lives on the lattice and so do the true answers: moves are whole steps.
    return noise.central(sensitivity // noise.step)


def never_rises(noise: Noise) -> bool:
    """Tell whether a noise is symmetric about 0 and never rises away from it."""
    if isinstance(noise, Steps):
        return noise.is_decreasing
    if isinstance(noise, DiscreteSteps):
        ends = [(run.first, run.first + run.points, run.weight) for run in noise.runs]
        mirrored = [(1 - end, 1 - first, weight) for first, end, weight in reversed(ends)]
        joined = all(before[1] == after[0] for before, after in pairwise(ends))
        rising = [weight for first, _, weight in ends if first <= 0]
        return ends == mirrored and joined and rising == sorted(rising)
    kinds = DiscreteStaircase | DiscreteUniform | Rounded | Smooth | Staircase | Uniform
    return isinstance(noise, kinds)
