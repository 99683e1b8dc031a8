"""Powers of a ratio 0 < b < 1 and sums over them: what laws without a largest size are made of."""

from collections.abc import Callable
from fractions import Fraction
from math import comb, isqrt

from leastnoise.errors import Unsupported
from leastnoise.exact.enclosures import power
from leastnoise.exact.interval import Interval

# The most binary digits that a power may have and still be written out.
_LONGEST_POWER = 1 << 25
# The most terms that are added up one by one, and the digits of the powers while they are.
_TERMS = 1 << 13
_BITS = 256
_NARROW = Fraction(1, 1 << 80)
_SEEN_BITS = 40


def exact_power(ratio: Fraction, exponent: int) -> Fraction:
    """Return ratio^exponent, or refuse it where it has very many digits."""
    if exponent * ratio.denominator.bit_length() > _LONGEST_POWER:
        raise Unsupported(
            f"an exact probability may have at most {_LONGEST_POWER} binary digits; got one with "
            "more, so far out or with a ratio so near to 1 does it lie. Ask nearer to 0."
        )
    return ratio**exponent


def fixed_power(ratio: Fraction, exponent: int, bits: int) -> tuple[int, int]:
    """Return whole numbers low ≤ ratio^exponent · 2^bits ≤ high, for 0 < ratio ≤ 1.

    By squaring, rounded outward each time; each squaring doubles the distance, so high − low is at
    most about the square of the exponent.
    """
    scaled = ratio.numerator << bits
    return raised((scaled // ratio.denominator, -(-scaled // ratio.denominator)), exponent, bits)


def raised(base: tuple[int, int], exponent: int, bits: int) -> tuple[int, int]:
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


def series(
    ratio: Fraction,
    term: Callable[[int], Interval],
    rest: Callable[[int], Interval | None],
) -> Interval:
    """Enclose Σ ratioⁿ·term(n) over n ≥ 0, for terms that are not negative.

    Term by term, until ``rest(n)``, an enclosure of Σ ratioᵐ·term(n + m) over m ≥ 0 or None where
    there is none yet, adds a doubt of at most 2⁻⁸⁰ of the sum.
    """
    lower = upper = Fraction(0)
    low, high = 1 << _BITS, 1 << _BITS
    last = rest(_TERMS)
    # Where even the last term hardly counts less than the first, none need be added up to see it.
    level = fixed_power(ratio, _TERMS, _BITS)[0] >> (_BITS - _SEEN_BITS)
    for n in range(_TERMS if last is not None and (last.is_narrow(8) or not level) else 0):
        if n <= 16 or n == isqrt(n) ** 2:  # asked ever more seldom, for it may cost as much
            left = rest(n)
            if left is not None:
                after = Interval(
                    left.lower * Fraction(low, 1 << _BITS), left.upper * Fraction(high, 1 << _BITS)
                )
                if after.upper - after.lower <= _NARROW * (upper + after.upper):
                    return Interval(lower, upper) + after
        here = term(n)
        lower += here.lower * Fraction(low, 1 << _BITS)
        upper += here.upper * Fraction(high, 1 << _BITS)
        low = low * ratio.numerator // ratio.denominator
        high = -(-high * ratio.numerator // ratio.denominator)
    raise Unsupported(
        f"an expected cost is added up over at most {_TERMS} periods of a noise; got one that "
        "needs more, with a ratio so near to 1 or a cost that grows so fast. Ask for l1 or l2."
    )


def power_rest(ratio: Fraction, start: Fraction, exponent: Fraction) -> Fraction | None:
    """Return an upper bound of Σ ratioⁿ·((start + n)/start)^exponent over n ≥ 0, start > 0.

    (start + n + 1)/(start + n) falls with n, so all terms fall at least as fast as the second does:
    a geometric series. None where that does not fall.
    """
    if start <= 0:
        return None
    fall = ratio * power((start + 1) / start, exponent).upper
    return 1 / (1 - fall) if fall < 1 else None
