"""Check that noise satisfies a privacy guarantee, over every shift of the true answer up to Δ."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction

from leastnoise.core.exact import (
    exponential,
    format_exact,
    format_rounded,
    format_up,
    parse_positive,
)
from leastnoise.core.noise import Noise, PiecewiseNoise, Rounded, Smooth, StaircaseNoise
from leastnoise.core.privacy import Privacy
from leastnoise.errors import NotPrivate


def check_privacy(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
    """Return if ``noise`` satisfies ``privacy`` at ``sensitivity``; raise if it does not.

    For every shift |d| ≤ Δ, exactly: at ε = 0 and for unimodal noise by Theorem 1, else by the
    profile curve. A staircase is first compared by the factor that a shift can change its density
    by. Smooth noise, rounded or not, always by its curve. Where δ is only enclosed, its upper end
    counts.

    Raises:
        NotPrivate: With the δ that is needed and the worst shift.
    """
    enclosed = isinstance(noise, Smooth | Rounded)  # of those even δ(0) is irrational
    if not privacy.epsilon and not enclosed and noise.is_unimodal:
        reached, shift = noise.total_variation(sensitivity), sensitivity
    elif isinstance(noise, StaircaseNoise) and _falls_slowly(noise, privacy, sensitivity):
        return
    else:
        curve = noise.curve(parse_positive(sensitivity, "sensitivity"))
        reached, shift = curve.delta_above(privacy.epsilon)
    if reached > privacy.delta:
        # Where two atoms can meet, the worst is not at the shift itself but beside it.
        where = "near" if isinstance(noise, PiecewiseNoise) and len(noise.atoms) > 1 else "of"
        raise NotPrivate(
            f"This noise does not satisfy {privacy} at sensitivity {format_exact(sensitivity)}: a "
            f"shift {where} {format_exact(shift)} needs δ = {format_up(reached, 17)}",
            fix="Use wider noise, such as calibrate() returns.",
        )


def _falls_slowly(noise: StaircaseNoise, privacy: Privacy, sensitivity: Fraction) -> bool:
    """Tell whether a staircase falls by no more than e^ε over a shift of Δ.

    It never rises away from 0 and falls by 1/b from a place to one a period further out, so over
    m periods, Δ rounded up to whole ones, the density changes by a factor of at most 1/bᵐ, and by
    that much somewhere (Geng and Viswanath 2016): private at δ = 0, hence at any δ, iff
    1/b ≤ e^(ε/m). At δ = 0 one that falls faster is rejected; for δ > 0 its profile decides.
    """
    periods = -(-sensitivity // noise.period)
    slow = noise.ratio * exponential(privacy.epsilon / periods).lower >= 1
    if not slow and not privacy.delta:
        needed = format_rounded(periods * _logarithm(1 / noise.ratio), 17, ROUND_CEILING)
        raise NotPrivate(
            f"This noise does not satisfy {privacy} at sensitivity {format_exact(sensitivity)}: a "
            f"shift over {format_exact(periods)} of its periods needs ε = {needed}",
            fix="Use a ratio nearer to 1, such as calibrate() returns.",
        )
    return slow


def _logarithm(number: Fraction) -> Fraction:
    """Return ln of a number > 1, to some forty digits: for messages only."""
    context = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(context.ln(quotient))
