"""Theorem 1: the exact distance in total variation for noise that never rises away from 0."""

from fractions import Fraction
from functools import singledispatch

from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.exact import approximately, exactly
from leastnoise.noise import DiscreteUniform, Noise, Uniform
from leastnoise.privacy import Privacy


def keeps(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
    """Return if ``noise`` is (0, δ)-private at ``sensitivity``; raise if it is not.

    For every move |d| ≤ Δ, exactly (GDGK19, Theorem 1, both directions).

    Raises:
        NotPrivate: With the distance reached and the move that reaches it.
    """
    if privacy.epsilon:
        raise InvalidParameter(
            f"this check is for ε = 0; got ε = {exactly(privacy.epsilon)}. Check the profile at ε."
        )
    distance = worst_distance(noise, sensitivity)
    if distance > privacy.delta:
        raise NotPrivate(
            f"this noise must be within δ = {exactly(privacy.delta)} of itself moved by up to "
            f"{exactly(sensitivity)}; moved by exactly that it is {approximately(distance, 17)} "
            f"away. Use wider noise, for instance the one calibrate finds."
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
        f"{exactly(sensitivity)}, which has none here. Give a Uniform or a DiscreteUniform."
    )


@worst_distance.register
def _(noise: Uniform, sensitivity: Fraction) -> Fraction:
    spread = min(Fraction(1), sensitivity / (2 * noise.radius))
    return noise.atom + (1 - noise.atom) * spread


@worst_distance.register
def _(noise: DiscreteUniform, sensitivity: Fraction) -> Fraction:
    # The noise lives on the lattice and so do the true answers: moves are whole steps.
    return noise.central(sensitivity // noise.step)
