"""Rényi divergences of noise from itself shifted, from above."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from leastnoise.accounting.tradeoff import infinity_mass
from leastnoise.core.exact import Interval, exponential, format_exact, logarithm
from leastnoise.core.noise import Gaussian, Laplace
from leastnoise.core.profile import (
    Curve,
    LogConcave,
    LogConcaveCurve,
    PiecewiseCurve,
    StaircaseCurve,
    refine,
)
from leastnoise.errors import Unsupported


@singledispatch
def renyi(curve: Curve, order: Fraction) -> Fraction | float:
    """Return the Rényi divergence of an order > 1: exact, from above, or ``math.inf``."""
    raise TypeError(f"{type(curve).__name__} has no Rényi divergence of order {order}")


@renyi.register
def _renyi_of_pieces(curve: PiecewiseCurve, order: Fraction) -> Fraction | float:
    """Return infinity, because some output is impossible for a neighbor; 0 without a shift."""
    return math.inf if infinity_mass(curve) else _renyi_of_ratios({Fraction(1): Fraction(1)}, order)


@renyi.register
def _renyi_of_staircase(curve: StaircaseCurve, order: Fraction) -> Fraction | float:
    """Return an upper bound of the divergence, from the likelihood ratios."""
    return _renyi_of_ratios(curve.masses, order)


@renyi.register
def _renyi_of_log_concave(curve: LogConcaveCurve, order: Fraction) -> Fraction | float:
    """Return the divergence of the noise on the line: rounding can only make it less."""
    return _smooth_renyi(curve.noise, curve.shift, order) if curve.shift else Fraction(0)


@singledispatch
def _smooth_renyi(noise: LogConcave, shift: Fraction, order: Fraction) -> Fraction | float:
    """Return D(P + d, P) of an order > 1: exact or from above; infinite for bounded noise.

    D = ln E (p(X)/p(X − d))^(order − 1) / (order − 1), X sampled from p (Mironov 2017,
    Definition 3).
    """
    if not isinstance(noise.radius, float):
        return math.inf  # some outputs of each are impossible for the other
    raise Unsupported(
        "Rényi divergences are known only for Laplace, Gaussian and staircase noise",
        got=f"{noise!r} at shift {format_exact(shift)} and order {format_exact(order)}",
        fix="Use its profile instead.",
    )


@_smooth_renyi.register
def _(noise: Gaussian, shift: Fraction, order: Fraction) -> Fraction | float:
    # Mironov 2017, Proposition 7.
    return order * (shift / noise.sigma) ** 2 / 2


@_smooth_renyi.register
def _(noise: Laplace, shift: Fraction, order: Fraction) -> Fraction | float:
    # Mironov 2017, Proposition 6, divided by its larger exponential.
    apart, twice = shift / noise.scale, 2 * order - 1

    def mean(bits: int) -> Interval:
        small = _small_power(Interval.exact(-twice * apart), bits)
        return (Interval.exact(order) + small.scaled(order - 1)).scaled(1 / twice)

    return _renyi_from(lambda _: Interval.exact(apart), mean, order)


def _renyi_of_ratios(masses: dict[Fraction, Fraction], order: Fraction) -> Fraction:
    """Return an upper bound of the divergence, given the mass of each likelihood ratio > 0.

    The divergence is ln(Σ mass·ratio^(order − 1)) / (order − 1). The sum is computed relative to
    its largest power.
    """
    largest = max(masses)

    def mean(bits: int) -> Interval:
        total = Interval.exact(0)
        for ratio, mass in masses.items():
            power = logarithm(ratio / largest, bits).scaled(order - 1)
            total += _small_power(power, bits).scaled(mass)
        return total

    return _renyi_from(lambda bits: logarithm(largest, bits), mean, order)


def _renyi_from(
    largest: Callable[[int], Interval], mean: Callable[[int], Interval], order: Fraction
) -> Fraction:
    """Return L + ln(M) / (order − 1) from above, for the largest log-ratio L and a mean M ≤ 1."""

    def enclose(bits: int) -> Interval:
        inner = mean(bits)
        ends = Interval(logarithm(inner.lower, bits).lower, logarithm(inner.upper, bits).upper)
        return largest(bits) + ends.scaled(1 / (order - 1))

    return refine(enclose).upper


def _small_power(exponent: Interval, bits: int) -> Interval:
    """Enclose e^exponent for an exponent ≤ 0, narrower than 2^−bits absolutely or so."""
    if exponent.upper < -bits:
        return Interval(Fraction(0), Fraction(1, 1 << bits))
    lower, upper = (exponential(end, bits) for end in (exponent.lower, exponent.upper))
    return Interval(lower.lower, upper.upper)
