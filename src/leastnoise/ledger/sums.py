"""Sums of two amounts, (ε, δ) or (μ², γ): exact, or rounded to a known side if they get long."""

from fractions import Fraction

# Two amounts that are added up separately: ε and δ, or μ² and γ.
Sum = tuple[Fraction, Fraction]
NOTHING: Sum = (Fraction(0), Fraction(0))
# A sum of unlike fractions can need ever longer numbers. Beyond this many binary digits it is
# rounded up, so the spending is never too small, and too large by less than 2⁻²⁰⁴⁸. Every float is
# shorter, even as the decimal that it prints as.
LONGEST_SUM = 2048


def add(spent: Sum, more: Sum) -> Sum:
    """Add two sums, rounded up if they are long."""
    return add_up(spent[0], more[0]), add_up(spent[1], more[1])


def add_up(a: Fraction, b: Fraction) -> Fraction:
    """Add exactly; round up a sum with more than LONGEST_SUM binary digits."""
    if not b:
        return a
    total = a + b
    if total.denominator.bit_length() <= LONGEST_SUM:
        return total
    return Fraction(-(-(total.numerator << LONGEST_SUM) // total.denominator), 1 << LONGEST_SUM)


def add_rounded_down(spent: Sum, more: Sum) -> Sum:
    """Add two sums, rounded down, so that no sum exceeds that of a ledger, which rounds up."""
    return _round_down(spent[0], more[0]), _round_down(spent[1], more[1])


def subtract(limit: Sum, spent: Sum) -> Sum:
    """Return the remaining part of a limit: 0 if it was lowered below the spending."""
    epsilon, delta = (max(a - b, Fraction(0)) for a, b in zip(limit, spent, strict=True))
    return epsilon, delta


def exceeds(total: Sum, limit: Sum) -> bool:
    """Return whether any amount exceeds its limit."""
    return total[0] > limit[0] or total[1] > limit[1]


def _round_down(a: Fraction, b: Fraction) -> Fraction:
    if not b:
        return a
    total = a + b
    if total.denominator.bit_length() <= LONGEST_SUM:
        return total
    return Fraction((total.numerator << LONGEST_SUM) // total.denominator, 1 << LONGEST_SUM)
