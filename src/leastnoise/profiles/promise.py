"""Does a noise keep a promise? By Theorem 1 where it applies, else by the whole profile."""

from fractions import Fraction

from leastnoise.errors import NotPrivate
from leastnoise.exact import approximately, exactly, exponential
from leastnoise.noise import DiscreteUniform, Noise, Steps, Uniform
from leastnoise.privacy import Privacy
from leastnoise.profiles.decreasing import worst_distance
from leastnoise.profiles.profile import Profile


def keeps(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
    """Return if ``noise`` keeps the promise at ``sensitivity``; raise if it does not.

    For every move |d| ≤ Δ, exactly: at ε = 0 and for noise that never rises away from 0 by
    Theorem 1, else over all moves at which two ends of pieces meet. e^ε is replaced by a rational
    just below it, which can only make the check stricter.

    Raises:
        NotPrivate: With what is reached and the worst move.
    """
    if not privacy.epsilon and _is_decreasing(noise):
        reached, move = worst_distance(noise, sensitivity), sensitivity
    else:
        factor = exponential(privacy.epsilon).lower
        reached, move = Profile(noise, sensitivity=sensitivity).worst(factor)
    if reached > privacy.delta:
        # Where two atoms can meet, the worst is not at the move itself but beside it.
        where = "near" if isinstance(noise, Steps) and len(noise.points) > 1 else "of"
        raise NotPrivate(
            f"this noise must keep {privacy} when the true answer moves by up to "
            f"{exactly(sensitivity)}; at a move {where} {exactly(move)} it needs δ = "
            f"{approximately(reached, 17)}. Use wider noise, for instance what calibrate finds."
        )


def _is_decreasing(noise: Noise) -> bool:
    if isinstance(noise, Steps):
        return noise.is_decreasing
    return isinstance(noise, Uniform | DiscreteUniform)
