"""Powers of a ratio 0 < b < 1 and sums over them: what laws without a largest size are made of."""

from fractions import Fraction
from math import comb

from leastnoise.errors import Unsupported

# The most binary digits that a power may have and still be written out.
_LONGEST_POWER = 1 << 25
_BITS = 256


def exact_power(ratio: Fraction, exponent: int) -> Fraction:
    """Return ratio^exponent, or refuse it where it has very many digits."""
    if exponent * ratio.denominator.bit_length() > _LONGEST_POWER:
        raise Unsupported(
            f"an exact probability may have at most {_LONGEST_POWER} binary digits",
            got="one with more, so far out or with a ratio so near to 1 does it lie",
            fix="Ask nearer to 0.",
        )
    return ratio**exponent


def fixed_power(ratio: Fraction, exponent: int, bits: int) -> tuple[int, int]:
    """Return whole numbers low ≤ ratio^exponent · 2^bits ≤ high, for 0 < ratio ≤ 1.

    By squaring, rounded outward each time; each squaring doubles the distance, so high − low is at
    most about the square of the exponent.
    """
    scaled = ratio.numerator << bits
    return power_bounds(
        (scaled // ratio.denominator, -(-scaled // ratio.denominator)), exponent, bits
    )


def power_bounds(base: tuple[int, int], exponent: int, bits: int) -> tuple[int, int]:
    """Return whole numbers low ≤ base^exponent · 2^bits ≤ high, for a base so enclosed itself."""
    low = high = 1 << bits
    base_low, base_high = base
    while exponent:
        if exponent & 1:
            low, high = low * base_low >> bits, -(-high * base_high >> bits)
        base_low, base_high = base_low * base_low >> bits, -(-base_high * base_high >> bits)
        exponent >>= 1
    return low, high


def falls_to(ratio: Fraction, level: Fraction, *, below: bool = False) -> int:
    """Return the smallest n ≥ 0 with ratioⁿ ≤ level, or < level if it must lie ``below``."""
    last = 1
    while not _has_fallen(ratio, last, level, below=below):
        last *= 2
    first = -1
    while last - first > 1:
        middle = (first + last) // 2
        if _has_fallen(ratio, middle, level, below=below):
            last = middle
        else:
            first = middle
    return last


def _has_fallen(ratio: Fraction, exponent: int, level: Fraction, *, below: bool) -> bool:
    """Whether ratio^exponent ≤ level (or <): by an enclosure, exactly where that cannot tell."""
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
