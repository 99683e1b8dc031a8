"""Polynomials with whole coefficients, and normal curves at many levels.

How far two normal laws are apart, at many levels at once: Arb's balls, turned into integers.

Products of polynomials with whole coefficients: how laws of sums are computed, exactly.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.exact.interval import Interval
from leastnoise.errors import Unsupported

if TYPE_CHECKING:
    import flint


_GUARD_BITS = 32
_MOST_BITS = 1 << 14


def normal_excess(
    squared: Interval, step: Fraction, count: int, bits: int
) -> list[tuple[int, int]]:
    """Enclose Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) at ε = 0, step, … count·step, times 2^bits.

    μ² > 0 lies in an interval. That is δ(ε) of a Gaussian noise of standard deviation 1 moved by μ
    (Balle and Wang 2018, Theorem 8). The ends are whole numbers, at most a few units apart where
    the interval is narrow enough.
    """
    import flint

    digits = bits + _GUARD_BITS
    # e^ε is multiplied with what is known to so many binary digits.
    digits += int(Fraction(3, 2) * count * step) + 8
    if digits > _MOST_BITS:
        raise Unsupported(
            f"losses are computed with at most {_MOST_BITS} binary digits",
            got="levels that need more",
            fix="Give less extreme parameters.",
        )
    with flint.ctx.workprec(digits):
        ends = [
            flint.arb(flint.fmpq(*x.as_integer_ratio())) for x in (squared.lower, squared.upper)
        ]
        move = ends[0].union(ends[1]).sqrt()
        each = flint.arb(flint.fmpq(*step.as_integer_ratio()))
        # P(Z < −x) is erfc(x/√2)/2.
        half, slope = move / flint.arb(8).sqrt(), each / move / flint.arb(2).sqrt()
        found = []
        for i in range(count + 1):
            far = (slope * i + half).erfc() * (each * i).exp()
            found.append(_scaled(((slope * i - half).erfc() - far) / 2, bits))
    return found


def _scaled(ball: "flint.arb", bits: int) -> tuple[int, int]:
    """Return whole numbers around 2^bits times a number between 0 and 1."""
    ends = []
    for end, way in ((ball.lower(), 0), (ball.upper(), 1)):
        mantissa, exponent = (int(part) for part in end.man_exp())
        shift = exponent + bits
        if shift >= 0:
            ends.append(mantissa << shift)
        else:
            ends.append(-(-mantissa >> -shift) if way else mantissa >> -shift)
    return max(0, ends[0]), min(max(0, ends[1]), 1 << bits)


def product(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the sums over i + j = n of first[i]·second[j], for every n, exactly.

    The coefficients of the product of two polynomials, by python-flint, which is loaded on first
    use: whole numbers of any length, in time that grows hardly faster than their digits.

    >>> product([1, 2], [3, 0, 5])
    [3, 6, 5, 10]
    """
    import flint

    if not first or not second:
        return []
    left = flint.fmpz_poly(list(first))
    right = left if second is first else flint.fmpz_poly(list(second))
    found = [int(each) for each in (left * right).coeffs()]
    # Flint leaves out zeros at the end.
    return found + [0] * (len(first) + len(second) - 1 - len(found))
