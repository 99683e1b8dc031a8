"""Whether a noise keeps a promise.

Does a noise keep a promise? By Theorem 1 where it applies, else by the whole profile.

Theorem 1: the exact distance in total variation for noise that never rises away from 0.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

from leastnoise.core.exact import exponential, format_exact, format_rounded, parse_positive
from leastnoise.core.noise import (
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
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile.curve import Curve, Level
from leastnoise.core.profile.piecewise import PiecewiseCurve, shape_of
from leastnoise.core.profile.smooth import LogConcaveCurve, RoundedLogConcaveCurve
from leastnoise.core.profile.staircase import lattice_ratios, line_ratios
from leastnoise.errors import InvalidParameter, NotPrivate


def check_privacy(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
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
        reached, _ = _worst(noise, sensitivity, Level.at(privacy.epsilon))
        move = sensitivity
    elif not privacy.epsilon and not isinstance(noise, DiscreteSteps) and is_unimodal(noise):
        reached, move = total_variation(noise, sensitivity), sensitivity
    elif _falls_slowly(noise, privacy, sensitivity):
        return
    else:
        factor = exponential(privacy.epsilon).lower
        reached, move = _worst(noise, sensitivity, Level.of(factor))
    if reached > privacy.delta:
        # Where two atoms can meet, the worst is not at the move itself but beside it.
        where = "near" if isinstance(noise, Steps) and len(noise.points) > 1 else "of"
        raise NotPrivate(
            f"this noise must keep {privacy} when the true answer moves by up to "
            f"{format_exact(sensitivity)}; at a move {where} {format_exact(move)} it needs δ = "
            f"{format_rounded(reached, 17)}",
            fix="Use wider noise, for instance what calibrate finds.",
        )


def _worst(noise: Noise, sensitivity: Fraction, level: Level) -> tuple[Fraction, Fraction]:
    """Return δ at a level from above, and the move that reaches it."""
    reached, move = curve_of(noise, parse_positive(sensitivity, "sensitivity")).worst(level)
    return reached.upper, move


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
        needed = format_rounded(periods * _logarithm(1 / noise.ratio), 17, ROUND_CEILING)
        raise NotPrivate(
            f"this noise must keep {privacy} when the true answer moves by up to "
            f"{format_exact(sensitivity)}, {format_exact(periods)} of its periods of "
            f"{format_exact(noise.period)} rounded up; it needs ε = {needed}",
            fix="Use a ratio nearer to 1, for instance what calibrate finds.",
        )
    return slow


def _logarithm(number: Fraction) -> Fraction:
    """Return ln of a number > 1, to some forty digits: for messages only."""
    context = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(context.ln(quotient))


@singledispatch
def total_variation(noise: Noise, sensitivity: Fraction) -> Fraction:
    """Return the largest distance in total variation over all moves |d| ≤ sensitivity, exactly.

    A symmetric noise that never rises away from 0 is at distance P([−d/2, d/2)) from itself moved
    by d > 0, which grows with d, so the worst move is the longest (GDGK19, Theorem 1). On a lattice
    moved by j steps it is the mass of the j points in the middle.
    """
    raise InvalidParameter(
        "Theorem 1 is read from a family's own law",
        got=f"{type(noise).__name__}, moved by {format_exact(sensitivity)}, which has none here",
        fix="Ask its Profile instead.",
    )


@total_variation.register
def _(noise: Uniform, sensitivity: Fraction) -> Fraction:
    spread = min(Fraction(1), sensitivity / (2 * noise.radius))
    return noise.atom + (1 - noise.atom) * spread


@total_variation.register
def _(noise: Steps, sensitivity: Fraction) -> Fraction:
    why = noise.rise()
    if why is not None:
        raise InvalidParameter(
            "Theorem 1 is for symmetric noise that never rises away from 0",
            got=f"{noise!r}, but {why}",
            fix="Ask its Profile instead.",
        )
    return noise.between(-sensitivity / 2, sensitivity / 2)


@total_variation.register
def _(noise: Staircase, sensitivity: Fraction) -> Fraction:
    return noise.mass(sensitivity / 2) - noise.mass(-sensitivity / 2)


@total_variation.register
def _(noise: DiscreteUniform | DiscreteStaircase, sensitivity: Fraction) -> Fraction:
    # The noise lives on the lattice and so do the true answers: moves are whole steps.
    return noise.central(sensitivity // noise.step)


def is_unimodal(noise: Noise) -> bool:
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


@singledispatch
def curve_of(noise: Noise, sensitivity: Fraction) -> Curve:
    """Return what is known of a noise against moves up to ``sensitivity``."""
    return PiecewiseCurve(shape_of(noise, sensitivity))


@curve_of.register
def _(noise: Smooth, sensitivity: Fraction) -> Curve:
    return LogConcaveCurve(noise, sensitivity)


@curve_of.register
def _(noise: Rounded, sensitivity: Fraction) -> Curve:
    # The true answers are on the lattice too: moves are whole steps.
    return RoundedLogConcaveCurve(noise.noise, sensitivity // noise.step * noise.step, noise.step)


@curve_of.register
def _(noise: Staircase, sensitivity: Fraction) -> Curve:
    return line_ratios(noise, sensitivity)


@curve_of.register
def _(noise: DiscreteStaircase, sensitivity: Fraction) -> Curve:
    return lattice_ratios(noise, sensitivity)
