"""Functions of the normal distribution and of its truncation, enclosed between rationals."""

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

from leastnoise.core.exact.balls import (
    BITS,
    GUARD_BITS,
    enclose,
    enclose_all,
    make_ball,
    make_pi,
    to_rational,
)
from leastnoise.core.exact.interval import Interval
from leastnoise.errors import Unsupported

if TYPE_CHECKING:
    import flint

_MOST_EXCESS_BITS = 1 << 14
# A normal tail further out is below 2^-250000, and only this bound is used.
_FARTHEST = Fraction(600)


def normal_tail(size: Fraction, bits: int = BITS) -> Interval:
    """Enclose P(Z > size) for a standard normal Z and size ≥ 0.

    Beyond 600 it is below 2^−250000, and the enclosure is from 0 to that bound.
    """
    if size > _FARTHEST:
        return Interval(Fraction(0), normal_tail(_FARTHEST, bits).upper)
    return enclose(lambda: (make_ball(size) / make_ball(Fraction(2)).sqrt()).erfc() / 2, bits)


def normal_density(size: Fraction, bits: int = BITS) -> Interval:
    """Enclose e^(−size²/2)/√2π; beyond 600 only by the bound 2^−250000."""
    if size > _FARTHEST:
        return Interval(Fraction(0), normal_density(_FARTHEST, bits).upper)
    return enclose(lambda: (-make_ball(size * size / 2)).exp() / (2 * make_pi()).sqrt(), bits)


def normal_quantile_series(
    tail: Fraction, terms: int, scale: Fraction, bits: int = BITS
) -> tuple[Interval, ...]:
    """Enclose the first Taylor coefficients, at ``tail``, of scale·x with P(Z > x) = tail.

    The nth derivative of x is Pₙ(x)·(−1/φ(x))ⁿ with P₁ = 1 and Pₙ₊₁ = Pₙ′ + n·x·Pₙ, because the
    first derivative is −1/φ(x), and φ′ = −xφ.
    """
    polynomials = _normal_polynomials(terms)

    def coefficients() -> "list[flint.arb]":
        # Use the side on which nothing cancels.
        half = make_ball(1 - 2 * tail).erfinv() if 4 * tail > 1 else make_ball(2 * tail).erfcinv()
        place, factor = half * make_ball(Fraction(2)).sqrt(), make_ball(scale)
        steep = -(2 * make_pi()).sqrt() * (place * place / 2).exp()
        series = [factor * place]
        for n, polynomial in enumerate(polynomials, 1):
            factor = factor * steep / n
            series.append(factor * _evaluate(polynomial, place))
        return series

    return enclose_all(coefficients, bits)


def normal_excess(
    squared: Interval, step: Fraction, count: int, bits: int
) -> list[tuple[int, int]]:
    """Enclose Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) at ε = 0, step, … count·step, times 2^bits.

    ``squared`` encloses μ² > 0. The value is δ(ε) of Gaussian noise of standard deviation 1 shifted
    by μ (Balle and Wang 2018, Theorem 8). The ends are integers, at most a few units apart if the
    interval is narrow enough.
    """
    import flint

    digits = bits + GUARD_BITS
    # The product with e^ε loses this many binary digits.
    digits += int(Fraction(3, 2) * count * step) + 8
    if digits > _MOST_EXCESS_BITS:
        raise Unsupported(
            f"These privacy losses need more than {_MOST_EXCESS_BITS} binary digits",
            fix="Use less extreme parameters.",
        )
    with flint.ctx.workprec(digits):
        shift = make_ball(squared.lower).union(make_ball(squared.upper)).sqrt()
        stride = make_ball(step)
        # P(Z < −x) is erfc(x/√2)/2.
        half, slope = shift / flint.arb(8).sqrt(), stride / shift / flint.arb(2).sqrt()
        excesses = []
        for i in range(count + 1):
            far = (slope * i + half).erfc() * (stride * i).exp()
            excesses.append(_scaled(((slope * i - half).erfc() - far) / 2, bits))
    return excesses


def truncated_normal_tail(size: Fraction, cut: Fraction, bits: int = BITS) -> Interval:
    """Enclose P(Z > size) for a standard normal Z conditioned on |Z| ≤ cut, 0 ≤ size < cut."""

    def value() -> "flint.arb":
        beyond = _upper_tail(make_ball(cut))
        return (_upper_tail(make_ball(size)) - beyond) / (1 - 2 * beyond)

    return enclose(value, bits)


def truncated_normal_density(size: Fraction, cut: Fraction, bits: int = BITS) -> Interval:
    """Enclose the density at ``size`` of a standard normal conditioned on |Z| ≤ cut."""

    def value() -> "flint.arb":
        return _density(make_ball(size)) / (1 - 2 * _upper_tail(make_ball(cut)))

    return enclose(value, bits)


def truncated_normal_tail_area(size: Fraction, cut: Fraction, bits: int = BITS) -> Interval:
    """Enclose the integral of :func:`truncated_normal_tail` from ``size`` to ``cut``.

    The integral of P(Z > x) from s on is G(s) = φ(s) − s·P(Z > s), so the result is
    (G(size) − G(cut) − (cut − size)·P(Z > cut)) / (1 − 2·P(Z > cut)).
    """

    def value() -> "flint.arb":
        near, far = make_ball(size), make_ball(cut)
        beyond = _upper_tail(far)
        area = _density(near) - near * _upper_tail(near) - _density(far) + near * beyond
        return area / (1 - 2 * beyond)

    return enclose(value, bits)


def truncated_normal_quantile_series(
    tail: Fraction, terms: int, scale: Fraction, cut: Fraction, bits: int = BITS
) -> tuple[Interval, ...]:
    """Enclose the first Taylor coefficients, at ``tail``, of scale·x with P(Z > x) = tail.

    Z is standard normal conditioned on |Z| ≤ cut, and 0 ≤ tail ≤ 1/2. With t = P(Z₀ > cut) for a
    standard normal Z₀, x is the quantile of Z₀ at t + (1 − 2t)·tail, so the nth coefficient is that
    of :func:`normal_quantile_series` times (1 − 2t)ⁿ.
    """
    polynomials = _normal_polynomials(terms)

    def coefficients() -> "list[flint.arb]":
        beyond = _upper_tail(make_ball(cut))
        mass = 1 - 2 * beyond
        # By the side on which nothing cancels: erf of the size is (1 − 2t)·(1 − 2·tail).
        if 4 * tail > 1:
            half = (mass * make_ball(1 - 2 * tail)).erfinv()
        else:
            half = (2 * (beyond + mass * make_ball(tail))).erfcinv()
        place, factor = half * make_ball(Fraction(2)).sqrt(), make_ball(scale)
        steep = -mass / _density(place)
        series = [factor * place]
        for n, polynomial in enumerate(polynomials, 1):
            factor = factor * steep / n
            series.append(factor * _evaluate(polynomial, place))
        return series

    return enclose_all(coefficients, bits)


def gaussian_delta(square: Fraction, epsilon: Fraction, bits: int = BITS) -> Interval:
    """Enclose δ_μ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) for μ² = square > 0 and ε ≥ 0.

    It is the smallest δ at which two normal distributions of standard deviation 1, a distance of μ
    apart, satisfy (ε, δ) (Balle and Wang 2018, Theorem 8). The enclosure is relative to the value,
    unless the value is below 2^−250000 (:func:`normal_tail`).
    """
    away = epsilon - square / 2
    if away > 0 and away**2 > square * _FARTHEST**2:
        return Interval(Fraction(0), normal_tail(_FARTHEST, bits).upper)

    def value() -> "flint.arb":
        mu, level = make_ball(square).sqrt(), make_ball(epsilon)
        if not epsilon:
            return (mu / make_ball(Fraction(8)).sqrt()).erf()
        ratio = level / mu
        return _upper_tail(ratio - mu / 2) - level.exp() * _upper_tail(ratio + mu / 2)

    return enclose(value, bits)


def square_of_epsilon(epsilon: Fraction, bits: int = BITS) -> Interval:
    """Enclose μ² with 2·Φ⁻¹(e^ε/(1 + e^ε)) = μ, for ε ≥ 0.

    Randomized response at ε is as hard to distinguish as two normal distributions a distance of μ
    apart at its corner, and not easier anywhere (docs/theory/many-answers.md).
    """
    if not epsilon:
        return Interval.exact(0)

    def value() -> "flint.arb":
        if epsilon < 1:
            half = (make_ball(epsilon / 2)).tanh().erfinv()
        else:
            half = (2 / (1 + make_ball(epsilon).exp())).erfcinv()
        return 8 * half * half

    return enclose(value, bits)


def epsilon_of_square(square: Fraction, bits: int = BITS) -> Interval:
    """Enclose the ε with ``square_of_epsilon(ε) = square``: ln(Φ(μ/2)/Φ(−μ/2))."""
    if not square:
        return Interval.exact(0)

    def value() -> "flint.arb":
        size = (make_ball(square) / 8).sqrt()
        if square < 1:
            return 2 * size.erf().atanh()
        return ((2 - size.erfc()) / size.erfc()).log()

    return enclose(value, bits)


def _upper_tail(place: "flint.arb") -> "flint.arb":
    return (place / make_ball(Fraction(2)).sqrt()).erfc() / 2


def _density(place: "flint.arb") -> "flint.arb":
    return (-place * place / 2).exp() / (2 * make_pi()).sqrt()


@lru_cache(maxsize=64)
def _normal_polynomials(terms: int) -> tuple[tuple[int, ...], ...]:
    """Return P₁, P₂, … of :func:`normal_quantile_series`; no coefficient is negative."""
    polynomials: list[tuple[int, ...]] = [(1,)]
    for n in range(1, terms - 1):
        last = polynomials[-1]
        slope = [*(i * c for i, c in enumerate(last) if i), 0, 0]
        raised = [0, *(n * c for c in last)]
        polynomials.append(tuple(c + slope[i] for i, c in enumerate(raised)))
    return tuple(polynomials[: terms - 1])


def _evaluate(polynomial: tuple[int, ...], place: "flint.arb") -> "flint.arb":
    value = make_ball(Fraction(0))
    for coefficient in reversed(polynomial):
        value = value * place + coefficient
    return value


def _scaled(ball: "flint.arb", bits: int) -> tuple[int, int]:
    """Return integers around 2^bits times a number between 0 and 1."""
    low, high = (
        floor(to_rational(ball.lower()) * (1 << bits)),
        ceil(to_rational(ball.upper()) * (1 << bits)),
    )
    return max(0, low), min(max(0, high), 1 << bits)
