"""Products of polynomials with whole coefficients: how laws of sums are computed, exactly."""

from collections.abc import Sequence


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
