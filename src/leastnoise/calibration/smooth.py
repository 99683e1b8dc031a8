"""Smooth noise of the literature, at the parameters that a guarantee requires."""

from collections.abc import Callable
from fractions import Fraction

from leastnoise.calibration.problem import Problem
from leastnoise.core.exact import logarithm, power
from leastnoise.core.noise import (
    Gaussian,
    Laplace,
    Noise,
    Rounded,
    Smooth,
    TruncatedLaplace,
    outside,
    widen,
)


def find_smooth(find: Callable[[Problem], Smooth]) -> Callable[[Problem], Noise]:
    """Return a finder that also covers integers, because rounding preserves the guarantee."""

    def find_or_round(problem: Problem) -> Noise:
        noise = find(problem)
        return Rounded(Fraction(1), noise) if problem.integer else noise

    return find_or_round


def find_laplace(problem: Problem) -> Laplace:
    """Return Laplace noise of the smallest scale that satisfies (ε, δ)."""
    return Laplace.for_privacy(problem.privacy, sensitivity=problem.sensitivity)


def find_truncated_laplace(problem: Problem) -> TruncatedLaplace:
    """Return the truncated Laplace noise of Geng, Ding, Guo and Kumar 2020, Theorem 1."""
    return TruncatedLaplace.for_privacy(problem.privacy, sensitivity=problem.sensitivity)


def find_gaussian(problem: Problem) -> Gaussian:
    """Return Gaussian noise of the smallest σ that satisfies (ε, δ)."""
    return Gaussian.for_privacy(problem.privacy, sensitivity=problem.sensitivity)


def find_classic_gaussian(problem: Problem) -> Gaussian:
    """Return σ = Δ·√(2·ln(1.25/δ))/ε, for 0 < ε < 1: Dwork and Roth 2014, Theorem A.1."""
    privacy, sensitivity = problem.privacy, problem.sensitivity
    if not 0 < privacy.epsilon < 1 or not privacy.delta:
        raise outside("classic Gaussian noise", "0 < ε < 1 and δ > 0", privacy)
    root = power(2 * logarithm(Fraction(5, 4) / privacy.delta).upper, Fraction(1, 2)).upper
    return widen(Gaussian, root * sensitivity / privacy.epsilon, privacy, sensitivity)
