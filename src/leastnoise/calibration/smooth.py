"""Smooth noise of the literature, at the parameters that a guarantee requires.

Irrational parameters are rounded up by a little more than the width of their enclosure, because
wider noise is more private. The check of the guarantee decides.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from leastnoise.accounting import Profile
from leastnoise.calibration.problem import Problem, outside
from leastnoise.core.exact import (
    Interval,
    exponential,
    format_exact,
    inverse_error_function,
    logarithm,
    power,
)
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import Gaussian, Laplace, Noise, Rounded, Smooth, TruncatedLaplace
from leastnoise.core.privacy import Privacy
from leastnoise.errors import NotPrivate

Found = TypeVar("Found", bound=Smooth)

_HALF = Fraction(1, 2)
# Binary digits of the parameters, and the relative amount by which they are rounded up at least.
_BITS = 96
_ROUNDING = Fraction(1, 1 << 56)
# Newton's method ends where δ(σ) is this near to δ, relative to δ or 1 − δ, or after _STEPS steps.
_CLOSE = Fraction(1, 1 << 60)
_STEPS = 200


def find_smooth(find: Callable[[Problem], Smooth]) -> Callable[[Problem], Noise]:
    """Return a finder for integers too: noise that is private on the line is so when rounded."""

    def find_or_round(problem: Problem) -> Noise:
        noise = find(problem)
        return Rounded(Fraction(1), noise) if problem.integer else noise

    return find_or_round


def laplace(problem: Problem) -> Laplace:
    """Return Laplace noise of the smallest scale that satisfies (ε, δ): Δ / (ε − 2·ln(1−δ)).

    At a shift of Δ it needs δ(ε) = 1 − e^((ε − Δ/b)/2) for ε < Δ/b. At δ = 0 the scale is Δ/ε:
    Dwork, McSherry, Nissim and Smith 2006, Theorem 1.
    """
    privacy = problem.privacy
    if not privacy.epsilon and not privacy.delta:
        raise outside("Laplace noise", "ε > 0 or δ > 0", privacy)
    if not privacy.delta:
        return Laplace(problem.sensitivity / privacy.epsilon)
    gained = privacy.epsilon - 2 * logarithm(1 - privacy.delta).upper
    return _widen(problem, Laplace, problem.sensitivity / gained)


def truncated_laplace(problem: Problem) -> TruncatedLaplace:
    """Return b = Δ/ε, A = b·ln(1 + (e^ε−1)/2δ): Geng, Ding, Guo and Kumar 2020, Theorem 1."""
    privacy = problem.privacy
    if not privacy.epsilon or not 0 < privacy.delta < _HALF:
        raise outside("truncated Laplace noise", "ε > 0 and 0 < δ < 1/2", privacy)
    scale = problem.sensitivity / privacy.epsilon
    grown = exponential(privacy.epsilon, 256).upper
    widest = logarithm(1 + (grown - 1) / (2 * privacy.delta)).upper * scale
    return _widen(problem, lambda radius: TruncatedLaplace(scale, radius), widest)


def gaussian(problem: Problem) -> Gaussian:
    """Return Gaussian noise of the smallest σ for (ε, δ): Balle and Wang 2018, Theorem 8.

    Newton's method on ln δ as a function of ln σ, whose slope is −Δ·p(t)/δ with t the place where
    the likelihood ratio is e^ε; at ε = 0 in closed form, Δ / 2Φ⁻¹((1+δ)/2).
    """
    privacy, sensitivity = problem.privacy, problem.sensitivity
    if not privacy.delta:
        raise outside("Gaussian noise", "δ > 0", privacy)
    if not privacy.epsilon:
        wide = power(Fraction(8), _HALF).lower * inverse_error_function(privacy.delta).lower
        return _widen(problem, Gaussian, sensitivity / wide)
    return _widen(problem, Gaussian, _sigma(privacy) * sensitivity)


def classic_gaussian(problem: Problem) -> Gaussian:
    """Return σ = Δ·√(2·ln(1.25/δ))/ε, for 0 < ε < 1: Dwork and Roth 2014, Theorem A.1."""
    privacy = problem.privacy
    if not 0 < privacy.epsilon < 1 or not privacy.delta:
        raise outside("classic Gaussian noise", "0 < ε < 1 and δ > 0", privacy)
    width = power(2 * logarithm(Fraction(5, 4) / privacy.delta).upper, _HALF).upper
    return _widen(problem, Gaussian, width * problem.sensitivity / privacy.epsilon)


def _sigma(privacy: Privacy) -> Fraction:
    """Return σ at Δ = 1, near enough, for ε > 0 and δ > 0."""
    low, high = Fraction(0), None
    close = _CLOSE * min(privacy.delta, 1 - privacy.delta)
    # Below the σ that e^ε alone and δ alone require; Newton's method then comes from one side.
    sigma = 1 / (privacy.epsilon + power(2 * privacy.epsilon, _HALF).upper + privacy.delta)
    for _ in range(_STEPS):
        sigma = Interval.exact(sigma).shortened(_BITS).upper
        noise = Gaussian(sigma)
        reached = Profile(noise, sensitivity=1).delta(privacy.epsilon)
        if abs(reached - privacy.delta) <= close:
            return sigma
        if reached > privacy.delta:
            low = sigma
        else:
            high = sigma
        sigma = _following(noise, privacy, reached)
        if not low < sigma or (high is not None and sigma >= high):
            sigma = 2 * low if high is None else (low + high) / 2
    return sigma if high is None else high


def _following(noise: Gaussian, privacy: Privacy, reached: Fraction) -> Fraction:
    """Return σ·(δ(σ)/δ)^(δ(σ)/p(t)): Newton's next σ; for large δ the same with 1 − δ."""
    place = noise.crossing(Fraction(1), Interval.exact(privacy.epsilon))
    density = noise.density(abs(place.middle), 64).middle
    wanted, there = privacy.delta, reached
    if 2 * privacy.delta > 1:
        wanted, there, density = 1 - wanted, 1 - there, -density
    if there <= 0 or not density:
        return Fraction(0)  # then σ is found by bisection
    exponent = logarithm(there / wanted, 80).middle * there / density
    bounded = max(min(exponent, Fraction(4)), Fraction(-4))
    return noise.sigma * exponential(bounded).middle


def _widen(problem: Problem, noise_of: Callable[[Fraction], Found], width: Fraction) -> Found:
    """Return the noise of this width, rounded up until it is proved to satisfy the guarantee."""
    more = _ROUNDING
    for _ in range(8):
        noise = noise_of(Interval.exact(width * (1 + more)).shortened(_BITS).upper)
        try:
            check_privacy(noise, problem.privacy, sensitivity=problem.sensitivity)
        except NotPrivate:
            more *= 16
        else:
            return noise
    raise NotPrivate(
        f"{noise!r} from a theorem does not satisfy {problem.privacy} at sensitivity "
        f"{format_exact(problem.sensitivity)}",
        fix="Report this as a bug; use another family meanwhile.",
    )
