"""Does a noise keep a promise? By Theorem 1 where it applies, else by the whole profile."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction

from leastnoise.errors import NotPrivate
from leastnoise.exact import approximately, exactly, exponential
from leastnoise.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    Noise,
    Rounded,
    Smooth,
    Staircase,
    Steps,
)
from leastnoise.privacy import Privacy
from leastnoise.profiles.decreasing import never_rises, worst_distance
from leastnoise.profiles.profile import Profile


def keeps(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
    """Return if ``noise`` keeps the promise at ``sensitivity``; raise if it does not.

    For every move |d| ≤ Δ, exactly: at ε = 0 and for noise that never rises away from 0 by
    Theorem 1, else over all moves at which two ends of pieces meet; for staircases by the factor
    that a move can change the density by, and by their likelihood ratios where that does not do.
    e^ε is replaced by a rational just below it, which can only make the check stricter. For smooth
    noise, rounded or not, by the upper end of δ(ε).

    Raises:
        NotPrivate: With what is reached and the worst move.
    """
    if isinstance(noise, Smooth | Rounded):
        reached, move = Profile(noise, sensitivity=sensitivity).delta(privacy.epsilon), sensitivity
    elif not privacy.epsilon and not isinstance(noise, DiscreteSteps) and never_rises(noise):
        reached, move = worst_distance(noise, sensitivity), sensitivity
    elif _falls_slowly(noise, privacy, sensitivity):
        return
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


def _falls_slowly(noise: Noise, privacy: Privacy, sensitivity: Fraction) -> bool:
    """Tell whether a noise is a staircase that falls by no more than e^ε over a move.

    It never rises away from 0 and falls by 1/b from a place to one a period further out, so over
    m periods, Δ rounded up to whole ones, the density changes by a factor of at most 1/bᵐ, and by
    that much somewhere (Geng and Viswanath 2016): private at δ = 0, hence at any δ, iff
    1/b ≤ e^(ε/m). At δ = 0 one that falls faster is refused; for δ > 0 its profile decides.
    """
    if not isinstance(noise, Staircase | DiscreteStaircase):
        return False
    periods = -(-sensitivity // noise.period)
    slow = noise.ratio * exponential(privacy.epsilon / periods).lower >= 1
    if not slow and not privacy.delta:
        needed = approximately(periods * _logarithm(1 / noise.ratio), 17, ROUND_CEILING)
        raise NotPrivate(
            f"this noise must keep {privacy} when the true answer moves by up to "
            f"{exactly(sensitivity)}, {exactly(periods)} of its periods of {exactly(noise.period)} "
            f"rounded up; it needs ε = {needed}. Use a ratio nearer to 1, for instance what "
            "calibrate finds."
        )
    return slow


def _logarithm(number: Fraction) -> Fraction:
    """Return ln of a number > 1, to some forty digits: for messages only."""
    context = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(context.ln(quotient))
