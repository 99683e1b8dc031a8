"""Irrational functions of exact numbers, enclosed between rationals.

e^ε is rounded outward from the standard library's decimal arithmetic, so that certificates can be
checked where nothing else is installed. All else is computed in Arb's balls by python-flint, which
is loaded on first use, and turned into rationals here alone. Each function takes how many binary
digits its value must be known to, relative to it, and works with as many as that takes.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, factorial, floor
from typing import TYPE_CHECKING

from leastnoise.core.exact.interval import Interval
from leastnoise.errors import InvalidParameter, Unsupported

if TYPE_CHECKING:
    import flint


_BITS = 128
_GUARD_BITS = 32
_MOST_BITS = 1 << 16
_MOST_EXCESS_BITS = 1 << 14
_LARGEST_MAGNITUDE = 1 << 20
_LARGEST_FACTORIAL = 1 << 10
_LARGEST_ARGUMENT = 1 << 12
# A normal tail further out is below 2^-250000 and only said to be.
_FARTHEST = Fraction(600)
# Exact powers grow with their exponent; beyond this many binary digits they are enclosed instead.
_LONGEST_EXACT_POWER = 1 << 16
_LARGEST_EXPONENT = 1 << 18


def error_function(argument: Fraction, bits: int = _BITS) -> Interval:
    """Enclose erf(argument)."""
    return _narrow(lambda: _ball(argument).erf(), bits)


def inverse_error_function(level: Fraction, bits: int = _BITS) -> Interval:
    """Enclose the x with erf(x) = level, for −1 < level < 1."""
    return _narrow(lambda: _ball(level).erfinv(), bits)


def logarithm(number: Fraction, bits: int = _BITS) -> Interval:
    """Enclose ln(number), for a number > 0; exactly 0 at 1."""
    if number == 1:
        return Interval.exact(0)
    return _narrow(lambda: _ball(number).log(), bits)


def gamma(argument: Fraction, bits: int = _BITS) -> Interval:
    """Enclose Γ(argument), for an argument > 0: exact where it is a factorial."""
    if argument.denominator == 1 and argument <= _LARGEST_FACTORIAL:
        return Interval.exact(factorial(int(argument) - 1))
    return _narrow(lambda: _ball(argument).gamma(), bits)


def lower_gamma(argument: Fraction, upto: Fraction, bits: int = _BITS) -> Interval:
    """Enclose ∫₀^upto t^(argument−1)·e^−t dt, for an argument > 0 that is not huge."""
    if argument > _LARGEST_ARGUMENT:
        raise Unsupported(
            f"an incomplete gamma function is computed up to {_LARGEST_ARGUMENT}",
            got="a larger argument",
            fix="Choose a smaller exponent.",
        )
    return _narrow(lambda: _ball(upto).gamma_lower(_ball(argument)), bits)


def normal_tail(size: Fraction, bits: int = _BITS) -> Interval:
    """Enclose P(Z > size) for a standard normal Z and size ≥ 0.

    Beyond 600 it is below 2^−250000 and only said to lie between 0 and that.
    """
    if size > _FARTHEST:
        return Interval(Fraction(0), normal_tail(_FARTHEST, bits).upper)
    return _narrow(lambda: (_ball(size) / _ball(Fraction(2)).sqrt()).erfc() / 2, bits)


def normal_density(size: Fraction, bits: int = _BITS) -> Interval:
    """Enclose e^(−size²/2)/√2π; beyond 600 only said to be below 2^−250000."""
    if size > _FARTHEST:
        return Interval(Fraction(0), normal_density(_FARTHEST, bits).upper)
    return _narrow(lambda: (-_ball(size * size / 2)).exp() / (2 * _pi()).sqrt(), bits)


def normal_quantile_series(
    tail: Fraction, terms: int, scale: Fraction, bits: int = _BITS
) -> tuple[Interval, ...]:
    """Enclose the first Taylor coefficients, at ``tail``, of scale·x with P(Z > x) = tail.

    The nth derivative of x is Pₙ(x)·(−1/φ(x))ⁿ with P₁ = 1 and Pₙ₊₁ = Pₙ′ + n·x·Pₙ, for its first
    one is −1/φ(x), and φ′ = −xφ.
    """
    polynomials = _normal_polynomials(terms)

    def coefficients() -> "list[flint.arb]":
        # By the side on which nothing cancels.
        half = _ball(1 - 2 * tail).erfinv() if 4 * tail > 1 else _ball(2 * tail).erfcinv()
        place, factor = half * _ball(Fraction(2)).sqrt(), _ball(scale)
        steep = -(2 * _pi()).sqrt() * (place * place / 2).exp()
        found = [factor * place]
        for n, polynomial in enumerate(polynomials, 1):
            factor = factor * steep / n
            found.append(factor * _at(polynomial, place))
        return found

    return _all_narrow(coefficients, bits)


def normal_excess(
    squared: Interval, step: Fraction, count: int, bits: int
) -> list[tuple[int, int]]:
    """Enclose Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) at ε = 0, step, … count·step, times 2^bits.

    μ² > 0 lies in an interval. That is δ(ε) of a Gaussian noise of standard deviation 1 shifted by
    μ (Balle and Wang 2018, Theorem 8). The ends are whole numbers, at most a few units apart where
    the interval is narrow enough.
    """
    import flint

    digits = bits + _GUARD_BITS
    # e^ε is multiplied with what is known to so many binary digits.
    digits += int(Fraction(3, 2) * count * step) + 8
    if digits > _MOST_EXCESS_BITS:
        raise Unsupported(
            f"losses are computed with at most {_MOST_EXCESS_BITS} binary digits",
            got="levels that need more",
            fix="Give less extreme parameters.",
        )
    with flint.ctx.workprec(digits):
        move = _ball(squared.lower).union(_ball(squared.upper)).sqrt()
        each = _ball(step)
        # P(Z < −x) is erfc(x/√2)/2.
        half, slope = move / flint.arb(8).sqrt(), each / move / flint.arb(2).sqrt()
        found = []
        for i in range(count + 1):
            far = (slope * i + half).erfc() * (each * i).exp()
            found.append(_scaled(((slope * i - half).erfc() - far) / 2, bits))
    return found


def decay(exponent: Fraction, bits: int = _BITS) -> Interval:
    """Enclose e^−exponent, for an exponent ≥ 0; exactly 1 at 0."""
    return _narrow(lambda: _ball(-exponent).exp(), bits)


def decayed(exponent: Fraction, bits: int = _BITS) -> Interval:
    """Enclose 1 − e^−exponent, for an exponent ≥ 0; exactly 0 at 0."""
    return _narrow(lambda: -_ball(-exponent).expm1(), bits)


def cut_decay(exponent: Fraction, cut: Fraction, bits: int = _BITS) -> Interval:
    """Enclose (e^−exponent − e^−cut) / (1 − e^−cut), for 0 ≤ exponent ≤ cut: nothing cancels."""

    def value() -> "flint.arb":
        return _ball(-exponent).exp() * _ball(exponent - cut).expm1() / _ball(-cut).expm1()

    return _narrow(value, bits)


def cut_decay_area(exponent: Fraction, cut: Fraction, bits: int = _BITS) -> Interval:
    """Enclose the integral of :func:`cut_decay` from ``exponent`` to ``cut``.

    With y = cut − exponent it is e^−exponent·(1 − (1 + y)·e^−y) / (1 − e^−cut), in which the
    bracket begins with y²/2 and cancels the more the smaller y is.
    """

    def value() -> "flint.arb":
        left = _ball(cut - exponent)
        bracket = -(-left).expm1() - left * (-left).exp()
        return _ball(-exponent).exp() * bracket / -_ball(-cut).expm1()

    return _narrow(value, bits)


def exponential_quantile_series(
    tail: Fraction, terms: int, scale: Fraction, cut: Fraction | None, bits: int = _BITS
) -> tuple[Interval, ...]:
    """Enclose the first Taylor coefficients of −scale·ln(κ + 2(1−κ)·tail), 0 < tail ≤ 1/2.

    κ is e^−cut, or 0 without a cut. The nth coefficient is scale·(−c)ⁿ/n with c = 2(1−κ)/(κ + …).
    """

    def coefficients() -> "list[flint.arb]":
        kept = _ball(Fraction(1)) if cut is None else -_ball(-cut).expm1()
        level = 2 * _ball(tail) * kept
        if cut is not None:
            level += _ball(-cut).exp()
        # Near tail 1/2 the level is nearly 1 and its logarithm nearly 0: there log1p cancels less.
        near = -(_ball(1 - 2 * tail) * kept)
        place = -(near.log1p() if 4 * tail > 1 else level.log())
        factor, steep = _ball(scale), -2 * kept / level
        found = [factor * place]
        for n in range(1, terms):
            factor *= steep
            found.append(factor / n)
        return found

    return _all_narrow(coefficients, bits)


def pi(bits: int = _BITS) -> Interval:
    """Enclose π."""
    return _narrow(_pi, bits)


def _narrow(value: "Callable[[], flint.arb]", bits: int) -> Interval:
    """Compute with ever more digits until the ball is as narrow as asked."""
    return _all_narrow(lambda: [value()], bits)[0]


def _all_narrow(values: "Callable[[], list[flint.arb]]", bits: int) -> tuple[Interval, ...]:
    """Compute with ever more digits until each ball is as narrow as asked."""
    import flint

    digits = bits + _GUARD_BITS
    while digits <= max(_MOST_BITS, 2 * bits):
        with flint.ctx.workprec(digits):
            balls = values()
            # Two more, for an interval is twice as wide as its radius and the digits are rounded.
            if all(ball.is_finite() and ball.rel_accuracy_bits() >= bits + 2 for ball in balls):
                _check_magnitudes(balls)
                return tuple(Interval(_dyadic(b.lower()), _dyadic(b.upper())) for b in balls)
        digits *= 2
    raise Unsupported(
        f"a number is computed with at most {_MOST_BITS} binary digits",
        got="one that needs more to be told from 0",
        fix="Give parameters that are less extreme.",
    )


def _check_magnitudes(balls: "list[flint.arb]") -> None:
    """Refuse numbers that would fill the memory, written out."""
    if any(abs(int(ball.mid().man_exp()[1])) > _LARGEST_MAGNITUDE for ball in balls):
        raise Unsupported(
            f"a number must lie between 2^-{_LARGEST_MAGNITUDE} and 2^{_LARGEST_MAGNITUDE} to be "
            "written out",
            got="one beyond that",
            fix="Give parameters that are less extreme.",
        )


@lru_cache(maxsize=64)
def _normal_polynomials(terms: int) -> tuple[tuple[int, ...], ...]:
    """Return P₁, P₂, … of :func:`normal_quantile_series`: whole coefficients, none negative."""
    found: list[tuple[int, ...]] = [(1,)]
    for n in range(1, terms - 1):
        last = found[-1]
        slope = [*(i * c for i, c in enumerate(last) if i), 0, 0]
        raised = [0, *(n * c for c in last)]
        found.append(tuple(c + slope[i] for i, c in enumerate(raised)))
    return tuple(found[: terms - 1])


def _at(polynomial: tuple[int, ...], place: "flint.arb") -> "flint.arb":
    value = _ball(Fraction(0))
    for coefficient in reversed(polynomial):
        value = value * place + coefficient
    return value


def _ball(number: Fraction) -> "flint.arb":
    import flint

    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _pi() -> "flint.arb":
    import flint

    return flint.arb.pi()


def _dyadic(end: "flint.arb") -> Fraction:
    """Read an exact end of a ball, mantissa · 2^exponent, as a rational."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _scaled(ball: "flint.arb", bits: int) -> tuple[int, int]:
    """Return whole numbers around 2^bits times a number between 0 and 1."""
    low, high = (
        floor(_dyadic(ball.lower()) * (1 << bits)),
        ceil(_dyadic(ball.upper()) * (1 << bits)),
    )
    return max(0, low), min(max(0, high), 1 << bits)


def power(base: Fraction, exponent: Fraction) -> Interval:
    """Enclose ``base ** exponent`` for base ≥ 0, exponent > 0: exactly where it is rational.

    Otherwise the enclosure is narrower than 2⁻⁶⁴, both absolutely and relative to the number.

    >>> power(Fraction(9, 4), Fraction(1, 2))
    Interval(lower=Fraction(3, 2), upper=Fraction(3, 2))
    """
    raised, degree = exponent.as_integer_ratio()
    root = base if degree == 1 else _rational_root(base, degree)
    length = max(base.numerator.bit_length(), base.denominator.bit_length())
    if root is not None and (length * raised <= _LONGEST_EXACT_POWER * degree or root in (0, 1)):
        return Interval.exact(root if raised == 1 else root**raised)
    if abs(_magnitude(base)) * exponent > _LARGEST_EXPONENT:
        raise InvalidParameter(
            f"a power must lie between 2^-{_LARGEST_EXPONENT} and 2^{_LARGEST_EXPONENT} to be "
            "computed",
            got="one beyond that",
            fix="Choose a smaller exponent.",
        )
    # Enough to be narrow absolutely too, and to tell the powers of neighboring integers apart.
    upper, lower = base.numerator.bit_length(), base.denominator.bit_length()
    bits = _BITS + int(max(0, upper - lower) * exponent) + upper + lower
    bits += exponent.numerator.bit_length()
    return _narrow(lambda: _ball(base) ** _ball(exponent), bits)


def exponential(exponent: Fraction, bits: int = _BITS) -> Interval:
    """Enclose e^exponent, narrower than 2^(8 − bits) of it; exactly 1 at 0.

    For exponents near 0 so much narrower that it is told from 1.
    """
    if not exponent:
        return Interval.exact(1)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InvalidParameter(
            f"an exponent must lie between -{_LARGEST_EXPONENT} and {_LARGEST_EXPONENT} for e to "
            "its power to be computed",
            got="one beyond that",
            fix="Choose a smaller ε.",
        )
    bits += max(0, -_magnitude(exponent) - _BITS // 2)
    return Interval(
        _exponential(exponent, bits, ROUND_FLOOR), _exponential(exponent, bits, ROUND_CEILING)
    )


def round_up(number: Fraction, bits: int = 128) -> Fraction:
    """Return ``number`` > 0 itself if it is short, else one just above with so many digits."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 16 * bits:
        return number
    shift = bits - _magnitude(number)
    scaled = -(-(number.numerator << max(shift, 0)) // (number.denominator << max(-shift, 0)))
    return Fraction(scaled << max(-shift, 0), 1 << max(shift, 0))


def _rational_root(base: Fraction, degree: int) -> Fraction | None:
    """Return the exact root if it is rational: iff numerator and denominator are both powers."""
    upper = _integer_root(base.numerator, degree)
    lower = _integer_root(base.denominator, degree)
    return None if upper is None or lower is None else Fraction(upper, lower)


def _integer_root(number: int, degree: int) -> int | None:
    """Return the exact integer root, or None if there is none."""
    if degree == 1 or number <= 1:
        return number
    if degree >= number.bit_length():
        return None  # 2**degree is already larger
    # Newton's steps fall from above until they reach the whole part of the root.
    root, lower = 1 << (number.bit_length() // degree + 1), 0
    while lower < root:
        root = lower or root
        lower = ((degree - 1) * root + number // root ** (degree - 1)) // degree
    return root if root**degree == number else None


def _exponential(exponent: Fraction, bits: int, way: str) -> Fraction:
    """Return e^exponent rounded down or up.

    The exponent itself is rounded that way; exp then rounds to nearest whatever the context says
    (the standard library promises that it does so correctly), so the neighbor of the result is
    beyond the truth.
    """
    digits = bits * 302 // 1000 + 7  # decimal ones, a few more than are kept
    context = Context(digits, way, Emin=MIN_EMIN, Emax=MAX_EMAX)
    near = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    beyond = Decimal("-Infinity" if way == ROUND_FLOOR else "Infinity")
    end = Fraction(context.next_toward(context.exp(near), beyond))
    parts = 1 << max(0, bits - _magnitude(end))
    whole = floor(end * parts) if way == ROUND_FLOOR else ceil(end * parts)
    return Fraction(whole, parts)


def _magnitude(base: Fraction) -> int:
    return base.numerator.bit_length() - base.denominator.bit_length()
