"""Irrational functions of exact numbers, enclosed between rationals.

e^ε is rounded outward from the standard library's decimal arithmetic, so that certificates can be
verified without other packages. All other functions use ball arithmetic. ``bits`` is the relative
accuracy of a result in binary digits. Each function computes with as many digits as that takes.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, factorial, floor
from typing import TYPE_CHECKING

from leastnoise.core.exact.balls import BITS, enclose, enclose_all, make_ball, make_pi
from leastnoise.core.exact.interval import Interval
from leastnoise.errors import InvalidParameter, Unsupported

if TYPE_CHECKING:
    import flint


_LARGEST_FACTORIAL = 1 << 10
_LARGEST_ARGUMENT = 1 << 12
# Exact powers grow with their exponent; beyond this many binary digits they are enclosed instead.
_LONGEST_EXACT_POWER = 1 << 16
_LARGEST_EXPONENT = 1 << 18


def error_function(argument: Fraction, bits: int = BITS) -> Interval:
    """Enclose erf(argument)."""
    return enclose(lambda: make_ball(argument).erf(), bits)


def inverse_error_function(level: Fraction, bits: int = BITS) -> Interval:
    """Enclose the x with erf(x) = level, for −1 < level < 1."""
    return enclose(lambda: make_ball(level).erfinv(), bits)


def logarithm(number: Fraction, bits: int = BITS) -> Interval:
    """Enclose ln(number), for a number > 0; exactly 0 at 1."""
    if number == 1:
        return Interval.exact(0)
    return enclose(lambda: make_ball(number).log(), bits)


def gamma(argument: Fraction, bits: int = BITS) -> Interval:
    """Enclose Γ(argument), for an argument > 0: exact where it is a factorial."""
    if argument.denominator == 1 and argument <= _LARGEST_FACTORIAL:
        return Interval.exact(factorial(int(argument) - 1))
    return enclose(lambda: make_ball(argument).gamma(), bits)


def lower_gamma(argument: Fraction, upto: Fraction, bits: int = BITS) -> Interval:
    """Enclose ∫₀^upto t^(argument−1)·e^−t dt, for an argument > 0 that is not huge."""
    if argument > _LARGEST_ARGUMENT:
        raise Unsupported(
            f"This moment needs an incomplete gamma function beyond {_LARGEST_ARGUMENT}",
            fix="Use a smaller exponent.",
        )
    return enclose(lambda: make_ball(upto).gamma_lower(make_ball(argument)), bits)


def decay(exponent: Fraction, bits: int = BITS) -> Interval:
    """Enclose e^−exponent, for an exponent ≥ 0; exactly 1 at 0."""
    return enclose(lambda: make_ball(-exponent).exp(), bits)


def decay_complement(exponent: Fraction, bits: int = BITS) -> Interval:
    """Enclose 1 − e^−exponent, for an exponent ≥ 0; exactly 0 at 0."""
    return enclose(lambda: -make_ball(-exponent).expm1(), bits)


def cut_decay(exponent: Fraction, cut: Fraction, bits: int = BITS) -> Interval:
    """Enclose (e^−exponent − e^−cut) / (1 − e^−cut) without cancellation, 0 ≤ exponent ≤ cut."""

    def value() -> "flint.arb":
        return (
            make_ball(-exponent).exp() * make_ball(exponent - cut).expm1() / make_ball(-cut).expm1()
        )

    return enclose(value, bits)


def cut_decay_area(exponent: Fraction, cut: Fraction, bits: int = BITS) -> Interval:
    """Enclose the integral of :func:`cut_decay` from ``exponent`` to ``cut``.

    With y = cut − exponent it is e^−exponent·(1 − (1 + y)·e^−y) / (1 − e^−cut). The bracket is
    about y²/2 for small y, so the smaller y is, the more digits cancel.
    """

    def value() -> "flint.arb":
        left = make_ball(cut - exponent)
        bracket = -(-left).expm1() - left * (-left).exp()
        return make_ball(-exponent).exp() * bracket / -make_ball(-cut).expm1()

    return enclose(value, bits)


def exponential_quantile_series(
    tail: Fraction, terms: int, scale: Fraction, cut: Fraction | None, bits: int = BITS
) -> tuple[Interval, ...]:
    """Enclose the first Taylor coefficients of −scale·ln(κ + 2(1−κ)·tail), 0 < tail ≤ 1/2.

    κ is e^−cut, or 0 without a cut. The nth coefficient is scale·(−c)ⁿ/n with c = 2(1−κ)/(κ + …).
    """

    def coefficients() -> "list[flint.arb]":
        mass = make_ball(Fraction(1)) if cut is None else -make_ball(-cut).expm1()
        level = 2 * make_ball(tail) * mass
        if cut is not None:
            level += make_ball(-cut).exp()
        # Near tail 1/2 the level is almost 1 and its logarithm almost 0, so log1p cancels less.
        near = -(make_ball(1 - 2 * tail) * mass)
        place = -(near.log1p() if 4 * tail > 1 else level.log())
        factor, steep = make_ball(scale), -2 * mass / level
        series = [factor * place]
        for n in range(1, terms):
            factor *= steep
            series.append(factor / n)
        return series

    return enclose_all(coefficients, bits)


def pi(bits: int = BITS) -> Interval:
    """Enclose π."""
    return enclose(make_pi, bits)


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
            f"A power lies outside of 2^-{_LARGEST_EXPONENT} to 2^{_LARGEST_EXPONENT}",
            fix="Use a smaller exponent.",
        )
    # Enough to be narrow absolutely too, and to distinguish the powers of neighboring integers.
    upper, lower = base.numerator.bit_length(), base.denominator.bit_length()
    bits = BITS + int(max(0, upper - lower) * exponent) + upper + lower
    bits += exponent.numerator.bit_length()
    return enclose(lambda: make_ball(base) ** make_ball(exponent), bits)


def exponential(exponent: Fraction, bits: int = BITS) -> Interval:
    """Enclose e^exponent, narrower than 2^(8 − bits) of it; exactly 1 at 0.

    Near 0 the enclosure is so narrow that it does not contain 1.
    """
    if not exponent:
        return Interval.exact(1)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InvalidParameter(
            f"e^x is computed for x from -{_LARGEST_EXPONENT} to {_LARGEST_EXPONENT}, and this x "
            "lies outside",
            fix="Use a smaller ε.",
        )
    bits += max(0, -_magnitude(exponent) - BITS // 2)
    return Interval(
        _exponential(exponent, bits, ROUND_FLOOR), _exponential(exponent, bits, ROUND_CEILING)
    )


def round_up(number: Fraction, bits: int = 128) -> Fraction:
    """Return ``number`` > 0 if it is short; otherwise round it up to ``bits`` binary digits."""
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
    # Newton's steps fall from above until they reach the integer part of the root.
    root, lower = 1 << (number.bit_length() // degree + 1), 0
    while lower < root:
        root = lower or root
        lower = ((degree - 1) * root + number // root ** (degree - 1)) // degree
    return root if root**degree == number else None


def _exponential(exponent: Fraction, bits: int, rounding: str) -> Fraction:
    """Return e^exponent rounded down or up.

    The exponent is rounded to the same side. ``Context.exp`` then rounds to nearest in every
    context, correctly as documented, so the next decimal on that side is beyond the true value.
    """
    digits = bits * 302 // 1000 + 7  # decimal digits, a few more than the result has
    context = Context(digits, rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    near = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    beyond = Decimal("-Infinity" if rounding == ROUND_FLOOR else "Infinity")
    end = Fraction(context.next_toward(context.exp(near), beyond))
    parts = 1 << max(0, bits - _magnitude(end))
    scaled = floor(end * parts) if rounding == ROUND_FLOOR else ceil(end * parts)
    return Fraction(scaled, parts)


def _magnitude(base: Fraction) -> int:
    return base.numerator.bit_length() - base.denominator.bit_length()
