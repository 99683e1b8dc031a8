"""Powers of a ratio 0 < b < 1, sums of powers and products of polynomials, exactly."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, log1p

from leastnoise.core.exact.parse import as_float, as_log
from leastnoise.errors import Unsupported

# The most binary digits of an exact power.
_LONGEST_POWER = 1 << 25
_BITS = 256
# The largest exponent at which a search starts.
_LARGEST_GUESS = 1e12


def exact_power(ratio: Fraction, exponent: int) -> Fraction:
    """Return ratio^exponent, or reject it if it has very many digits."""
    if exponent * ratio.denominator.bit_length() > _LONGEST_POWER:
        raise Unsupported(
            f"This probability has more than {_LONGEST_POWER} binary digits",
            fix="Use a place nearer to 0, or a ratio further from 1.",
        )
    return ratio**exponent


def fixed_power(ratio: Fraction, exponent: int, bits: int) -> tuple[int, int]:
    """Return integers low ≤ ratio^exponent · 2^bits ≤ high, for 0 < ratio ≤ 1.

    The power is computed by squaring, rounded outward each time. Each squaring doubles the
    distance, so high − low is at most about the square of the exponent.
    """
    scaled = ratio.numerator << bits
    return power_bounds(
        (scaled // ratio.denominator, -(-scaled // ratio.denominator)), exponent, bits
    )


def enclose_product(
    ratio: Fraction, exponent: int, over: int, under: int, bits: int
) -> tuple[int, int]:
    """Return integers low ≤ 2^bits·ratio^exponent·over/under ≤ high, at most 2 apart.

    For 0 < ratio ≤ 1. The power has as many bits more as the quotient is large.
    """
    more = max(0, over.bit_length() - under.bit_length()) + 2 * exponent.bit_length() + 8
    low, high = fixed_power(ratio, exponent, bits + more)
    return (low * over // under) >> more, -((-high * over // under) >> more)


def power_bounds(base: tuple[int, int], exponent: int, bits: int) -> tuple[int, int]:
    """Return integers low ≤ b^exponent · 2^bits ≤ high; ``base`` encloses b · 2^bits likewise."""
    low = high = 1 << bits
    base_low, base_high = base
    while exponent:
        if exponent & 1:
            low, high = low * base_low >> bits, -(-high * base_high >> bits)
        base_low, base_high = base_low * base_low >> bits, -(-base_high * base_high >> bits)
        exponent >>= 1
    return low, high


def smallest_exponent(ratio: Fraction, level: Fraction, *, below: bool = False) -> int:
    """Return the smallest n ≥ 0 with ratioⁿ ≤ level, or ratioⁿ < level if ``below`` is True."""

    def holds(exponent: int) -> bool:
        return _has_fallen(ratio, exponent, level, below=below)

    near = _guess_exponent(ratio, level)
    before, last = (near - 1 if near and not holds(near - 1) else -1), near + 1
    while not holds(last):
        before, last = last, 2 * last
    return first_index(before, last, holds)


def _guess_exponent(ratio: Fraction, level: Fraction) -> int:
    """Return about the n with ratioⁿ = level, in floats; 0 if floats cannot represent it."""
    # The logarithm of a number near 1 cancels.
    fall = -log1p(-as_float(1 - ratio)) if 2 * ratio > 1 else -as_log(ratio)
    size = -as_log(level)
    return int(size / fall) if 0 < size < _LARGEST_GUESS * fall else 0


def first_index(before: int, last: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest n > ``before`` with ``holds(n)``, by bisection.

    ``holds`` must be true at ``last`` and from the smallest such n on.
    """
    while last - before > 1:
        middle = (before + last) // 2
        if holds(middle):
            last = middle
        else:
            before = middle
    return last


def _has_fallen(ratio: Fraction, exponent: int, level: Fraction, *, below: bool) -> bool:
    """Whether ratio^exponent ≤ level (or <): by an enclosure, or exactly if that is undecided."""
    bits = _BITS + 2 * exponent.bit_length() + level.denominator.bit_length()
    low, high = fixed_power(ratio, exponent, bits)
    scaled = level * (1 << bits)
    if high < scaled:
        return True
    if low > scaled:
        return False
    exact = exact_power(ratio, exponent)
    return exact < level or (exact == level and not below)


def power_sums(ratio: Fraction, shift: Fraction, degree: int) -> list[Fraction]:
    """Return Σ ratioⁿ·(n + shift)ʲ over n ≥ 0, for j = 0 … degree, exactly.

    The sum without its first term is ratio·Σ ratioⁿ·(n + 1 + shift)ʲ, which the binomial theorem
    turns into sums of smaller degree: a recursion.
    """
    sums: list[Fraction] = []
    for j in range(degree + 1):
        lower = sum((comb(j, i) * sums[i] for i in range(j)), Fraction(0))
        sums.append((shift**j + ratio * lower) / (1 - ratio))
    return sums


def sum_growing(ratio: Fraction, polynomial: Callable[[int], int], degree: int, first: int) -> int:
    """Return Σ ratioⁱ·N(first + i) over i ≥ 0, times (1 − ratio)^(degree+1)·q^degree, exactly.

    N is a polynomial of at most this degree with integer values, q the denominator of the ratio.
    The sum is evaluated by Horner's rule in p/(q − p), for ratio = p/q.
    """
    fall, keep = ratio.numerator, ratio.denominator - ratio.numerator
    values = [polynomial(first + i) for i in range(degree + 1)]
    differences = []
    while values:
        differences.append(values[0])
        values = [after - before for before, after in pairwise(values)]
    total, scale = 0, 1
    for difference in reversed(differences):
        total, scale = difference * scale + total * fall, scale * keep
    return total


def sum_of_powers(p: int, terms: int) -> int:
    """Return 1ᵖ + … + termsᵖ, exactly, by Pascal's recursion over the smaller exponents."""
    sums = [terms]
    for q in range(1, p + 1):
        lower_terms = sum(comb(q + 1, i) * sums[i] for i in range(q))
        sums.append(((terms + 1) ** (q + 1) - 1 - lower_terms) // (q + 1))
    return sums[p]


def product(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the sums over i + j = n of first[i]·second[j], for every n, exactly.

    These are the coefficients of the product of two polynomials. They are computed by python-flint,
    which is loaded on first use, for integers of any length, in almost linear time.

    >>> product([1, 2], [3, 0, 5])
    [3, 6, 5, 10]
    """
    import flint

    if not first or not second:
        return []
    left = flint.fmpz_poly(list(first))
    right = left if second is first else flint.fmpz_poly(list(second))
    coefficients = [int(coefficient) for coefficient in (left * right).coeffs()]
    # Flint omits zeros at the end.
    return coefficients + [0] * (len(first) + len(second) - 1 - len(coefficients))
