"""Lemma 1 and composition (docs/theory/lemma-1.md): it extends to mixed shifts, not to equal ones.

Everything here is computed from the definitions in fractions, without the library.
"""

import random
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

import pytest

Distribution = dict[int, Fraction]

ANSWERS = 4
DELTA = Fraction("0.88")
# e² lies between the two: the remainder of its series after n terms is below twice the next term.
E_LOWER = sum((Fraction(2**n, factorial(n)) for n in range(40)), Fraction(0))
E_UPPER = E_LOWER + Fraction(2 * 2**40, factorial(40))
SKEW = {-1: Fraction("0.17"), 0: Fraction("0.765"), 1: Fraction("0.065")}


def needed_delta(distribution: Distribution, shifts: tuple[int, ...], factor: Fraction) -> Fraction:
    """Return the sum of (p − factor·q)₊, where q is p shifted by ``shifts``."""
    total = Fraction(0)
    for point in product(distribution, repeat=len(shifts)):
        p = prod((distribution[x] for x in point), start=Fraction(1))
        shifted = zip(point, shifts, strict=True)
        q = prod((distribution.get(x - d, Fraction(0)) for x, d in shifted), start=Fraction(1))
        total += max(Fraction(0), p - factor * q)
    return total


def symmetrize(distribution: Distribution) -> Distribution:
    places = {*distribution, *(-x for x in distribution)}
    return {
        x: (distribution.get(x, Fraction(0)) + distribution.get(-x, Fraction(0))) / 2
        for x in places
    }


def cost(distribution: Distribution) -> Fraction:
    return sum((abs(x) * p for x, p in distribution.items()), Fraction(0))


def exceed(least: int, chance: Fraction) -> Fraction:
    """Return the probability that at least ``least`` of the answers exceed a threshold."""
    return sum(
        (
            comb(ANSWERS, i) * chance**i * (1 - chance) ** (ANSWERS - i)
            for i in range(least, ANSWERS + 1)
        ),
        Fraction(0),
    )


def test_e_squared_is_enclosed() -> None:
    assert E_LOWER < E_UPPER < E_LOWER + Fraction(1, 10**30)
    assert float(E_LOWER) == pytest.approx(7.38905609893065, rel=1e-14)


def test_asymmetric_noise_satisfies_the_total_guarantee_if_all_shifts_have_one_sign() -> None:
    assert sum(SKEW.values()) == 1
    for sign in (1, -1):
        for some in product((0, sign), repeat=ANSWERS):
            assert needed_delta(SKEW, some, E_LOWER) <= DELTA
    assert float(needed_delta(SKEW, (1,) * ANSWERS, E_LOWER)) == pytest.approx(0.86705, abs=5e-6)
    assert float(needed_delta(SKEW, (-1,) * ANSWERS, E_LOWER)) == pytest.approx(0.87631, abs=5e-6)


def test_no_symmetric_noise_is_as_cheap() -> None:
    """The test "at least 3 of 4 outputs exceed 0" rejects P(N > 0) = 0.12, hence also less.

    Its gain falls as P(N > 0) rises, and E|N| is at least 2·P(N > 0).
    """
    tail = Fraction("0.12")
    assert exceed(3, 1 - tail) - E_UPPER * exceed(3, tail) > DELTA
    assert cost(SKEW) == Fraction("0.235") < 2 * tail
    # The control: the test does not reject every symmetric noise.
    assert exceed(3, Fraction("0.87")) - E_UPPER * exceed(3, Fraction("0.13")) < DELTA


def test_symmetrizing_breaks_the_total_guarantee_at_the_same_cost() -> None:
    even = symmetrize(SKEW)
    assert cost(even) == cost(SKEW)
    assert needed_delta(even, (1,) * ANSWERS, E_UPPER) > Fraction("0.9") > DELTA


def test_asymmetric_noise_fails_if_shifts_have_both_signs() -> None:
    assert needed_delta(SKEW, (1, 1, -1, -1), E_UPPER) > Fraction("0.9") > DELTA


@pytest.mark.parametrize("seed", range(20))
def test_symmetrizing_needs_no_more_than_the_mean_over_all_signs(seed: int) -> None:
    rng = random.Random(seed)
    weights = [rng.randrange(1, 20) for _ in range(4)]
    distribution = {
        x: Fraction(w, sum(weights)) for x, w in zip((-1, 0, 1, 2), weights, strict=True)
    }
    factor = Fraction(rng.randrange(4, 12), 4)
    signs = list(product((1, -1), repeat=3))
    mean = sum((needed_delta(distribution, s, factor) for s in signs), Fraction(0)) / len(signs)
    assert needed_delta(symmetrize(distribution), (1, 1, 1), factor) <= mean
