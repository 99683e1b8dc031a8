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
from leastnoise.core.noise import (
    JointMarginal,
    Noise,
    PiecewiseNoise,
    Rounded,
    Smooth,
    StaircaseNoise,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import NotPrivate

Falling = StaircaseNoise | JointMarginal


def check_privacy(noise: Noise, privacy: Privacy, *, sensitivity: Fraction) -> None:
    """Raise an error unless ``noise`` satisfies ``privacy`` at ``sensitivity``.

    The check covers every shift |d| ≤ Δ exactly. At ε = 0, unimodal noise is checked by Theorem 1
    (GDGK19). A staircase is first checked by the factor by which a shift can change its density.
    All other noise, and smooth noise in every case, is checked by its privacy curve. Where δ is
    only enclosed, the check uses its upper end.

    Raises:
        NotPrivate: If the noise does not; it states the δ that is needed and the worst shift.
    """
    enclosed = isinstance(noise, Smooth | Rounded)  # even their δ(0) is irrational
    if not privacy.epsilon and not enclosed and noise.is_unimodal:
        reached, shift = noise.total_variation(sensitivity), sensitivity
    elif isinstance(noise, Falling) and _falls_slowly(noise, privacy, sensitivity):
        return
    else:
        curve = noise.curve(parse_positive(sensitivity, "sensitivity"))
        reached, shift = curve.delta_above(privacy.epsilon)
    if reached > privacy.delta:
        # Where two atoms can meet, δ is largest not at that shift but next to it.
        where = "near" if isinstance(noise, PiecewiseNoise) and len(noise.atoms) > 1 else "of"
        raise NotPrivate(
            f"This noise does not satisfy {privacy} at sensitivity {format_exact(sensitivity)}: a "
            f"shift {where} {format_exact(shift)} needs δ = {format_up(reached, 17)}",
            fix="Use wider noise, such as calibrate() returns.",
        )


def _falls_slowly(noise: Falling, privacy: Privacy, sensitivity: Fraction) -> bool:
    """Return whether the density of a staircase changes by at most e^ε over a shift of Δ.

    The density never rises away from 0 and falls by the factor b over one period. Let m =
    ⌈Δ/period⌉. Over a shift of Δ the density changes by a factor of at most 1/bᵐ, and it reaches
    that factor somewhere (Geng and Viswanath 2016). So the noise is (ε, 0)-private exactly if 1/b ≤
    e^(ε/m), and then it satisfies (ε, δ) for every δ. If it falls faster, it is rejected at δ = 0;
    at δ > 0 its profile decides. One number of joint noise falls by at most the factor b over one
    period, and by nearly that factor far from 0.
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
    """Return ln of a number > 1 to about forty digits, for messages only."""
    context = Context(prec=100, Emin=MIN_EMIN, Emax=MAX_EMAX)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(context.ln(quotient))
