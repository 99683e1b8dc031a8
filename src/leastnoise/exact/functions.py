"""Rigorous enclosures of irrational functions: Arb's balls, turned into rationals here alone.

python-flint is loaded on first use. Each function takes how many binary digits its value must be
known to, relative to it, and works with as many as that takes.
"""

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

from leastnoise.errors import Unsupported
from leastnoise.exact.interval import Interval

if TYPE_CHECKING:
    import flint

_BITS = 128
_GUARD_BITS = 32
_MOST_BITS = 1 << 16
_LARGEST_FACTORIAL = 1 << 10
# A normal tail further out is below 2^-250000 and only said to be.
_FARTHEST = Fraction(600)


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
    """Enclose ∫₀^upto t^(argument−1)·e^−t dt, for an argument > 0."""
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


def normal_quantile(tail: Fraction, bits: int = _BITS) -> Interval:
    """Enclose the size x ≥ 0 with P(Z > x) = tail, for 0 < tail ≤ 1/2."""
    if 2 * tail == 1:
        return Interval.exact(0)
    return _narrow(lambda: _ball(2 * tail).erfcinv() * _ball(Fraction(2)).sqrt(), bits)


def pi(bits: int = _BITS) -> Interval:
    """Enclose π."""
    return _narrow(_pi, bits)


def enclosed_power(base: Fraction, exponent: Fraction) -> Interval:
    """Enclose base^exponent, for base > 0, narrower than 2⁻⁶⁴ also absolutely."""
    # Enough to be narrow absolutely too, and to tell the powers of neighbouring integers apart.
    upper, lower = base.numerator.bit_length(), base.denominator.bit_length()
    size = int(abs(upper - lower) * exponent)
    bits = _BITS + size + upper + lower + exponent.numerator.bit_length()
    return _narrow(lambda: _ball(base) ** _ball(exponent), bits)


def _narrow(value: "Callable[[], flint.arb]", bits: int) -> Interval:
    """Compute with ever more digits until the ball is as narrow as asked."""
    import flint

    digits = bits + _GUARD_BITS
    while digits <= _MOST_BITS:
        with flint.ctx.workprec(digits):
            ball = value()
            if ball.is_finite() and ball.rel_accuracy_bits() >= bits:
                return Interval(_dyadic(ball.lower()), _dyadic(ball.upper()))
        digits *= 2
    raise Unsupported(
        f"a number is computed with at most {_MOST_BITS} binary digits; got one that needs more to "
        "be told from 0. Give parameters that are less extreme."
    )


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
