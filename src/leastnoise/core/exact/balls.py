"""Numbers in Arb's balls (python-flint), rounded outward into rationals.

A ball is a number with an error bound. Arithmetic with balls updates the bounds. python-flint is
loaded on first use, and used in this package only.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.exact.interval import Interval
from leastnoise.errors import Unsupported

if TYPE_CHECKING:
    import flint

BITS = 128
GUARD_BITS = 32
_MOST_BITS = 1 << 16
_LARGEST_MAGNITUDE = 1 << 20


def enclose(value: "Callable[[], flint.arb]", bits: int) -> Interval:
    """Compute with more and more digits until the ball has the accuracy ``bits``."""
    return enclose_all(lambda: [value()], bits)[0]


def enclose_all(values: "Callable[[], list[flint.arb]]", bits: int) -> tuple[Interval, ...]:
    """Compute with more and more digits until each ball has the accuracy ``bits``."""
    import flint

    digits = bits + GUARD_BITS
    while digits <= max(_MOST_BITS, 2 * bits):
        with flint.ctx.workprec(digits):
            balls = values()
            # Two more, because an interval is twice as wide as its radius, and digits are rounded.
            if all(ball.is_finite() and ball.rel_accuracy_bits() >= bits + 2 for ball in balls):
                _check_magnitudes(balls)
                return tuple(
                    Interval(to_rational(b.lower()), to_rational(b.upper())) for b in balls
                )
        digits *= 2
    raise Unsupported(
        f"This computation needs more than {_MOST_BITS} binary digits",
        fix="Use less extreme parameters.",
    )


def _check_magnitudes(balls: "list[flint.arb]") -> None:
    """Reject numbers that would fill the memory as rationals."""
    if any(abs(int(ball.mid().man_exp()[1])) > _LARGEST_MAGNITUDE for ball in balls):
        raise Unsupported(
            f"A result lies outside of 2^-{_LARGEST_MAGNITUDE} to 2^{_LARGEST_MAGNITUDE}",
            fix="Use less extreme parameters.",
        )


def make_ball(number: Fraction) -> "flint.arb":
    """Return a ball around a rational, at the current precision."""
    import flint

    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def make_pi() -> "flint.arb":
    """Return a ball around π, at the current precision."""
    import flint

    return flint.arb.pi()


def to_rational(end: "flint.arb") -> Fraction:
    """Convert an exact end of a ball, mantissa · 2^exponent, to a rational."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
