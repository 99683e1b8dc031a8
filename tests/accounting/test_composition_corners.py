"""Corners of composition: moves that are not the longest, nothing kept, losses below floats."""

from fractions import Fraction
from itertools import product

import pytest

import leastnoise as ln
from leastnoise.core.exact import exponential
from leastnoise.core.lattice import Run
from leastnoise.noise import DiscreteSteps

WEIGHTS = (7, 1, 1, 7)
RISING = ln.Profile(
    DiscreteSteps(Fraction(1), tuple(Run(i, 1, w) for i, w in enumerate(WEIGHTS))), sensitivity=3
)


def enumerated(epsilon: int, promised: int) -> tuple[Fraction, Fraction]:
    """Enclose δ of that noise and the worst mechanism of (promised, 0), output by output."""
    total, best = sum(WEIGHTS), (Fraction(0), Fraction(0))
    factor, odds = exponential(Fraction(epsilon), 300), exponential(Fraction(promised), 300)
    for move, sign in product(range(-3, 4), (1, -1)):
        ends = []
        for f, e in ((factor.upper, odds.lower), (factor.lower, odds.upper)):
            likely = [e / (1 + e), 1 / (1 + e)]
            told, other = likely[::sign], likely[::-sign]
            found = Fraction(0)
            for x, bit in product(range(-4, 8), (0, 1)):
                here = WEIGHTS[x] if 0 <= x < 4 else 0
                there = WEIGHTS[x - move] if 0 <= x - move < 4 else 0
                gain = Fraction(here, total) * told[bit] - f * Fraction(there, total) * other[bit]
                found += max(gain, Fraction(0))
            ends.append(found)
        best = max(best[0], ends[0]), max(best[1], ends[1])
    return best


@pytest.mark.parametrize("epsilon", [0, 1, 2, 3, 4])
def test_a_worst_move_that_is_not_the_longest_is_counted_once(epsilon: int) -> None:
    least, most = enumerated(epsilon, 2)
    for parts in ([RISING, ln.Privacy(2)], [ln.Privacy(2), RISING]):
        found = ln.compose(parts).enclose(epsilon)
        assert found.lower <= most
        assert least <= found.upper
        assert found == ln.compose(parts[::-1]).enclose(epsilon)


def test_what_keeps_nothing_keeps_nothing_together() -> None:
    nothing = ln.Profile(ln.noise.Uniform(Fraction(1, 2)), sensitivity=1)
    for parts in ([nothing], [nothing, ln.Privacy(1)], [(nothing, 3)]):
        assert ln.compose(parts).delta(0) == ln.compose(parts).delta(5) == 1
    with pytest.raises(ln.errors.InvalidParameter, match="no total guarantee"):
        _ = ln.compose([nothing]).simple


@pytest.mark.parametrize("power", [50, 80, 100, 200, 400, 1000])
def test_losses_below_any_float_are_losses(power: int) -> None:
    """δ(0) of two promises of ε is ((e^ε − 1)/(e^ε + 1))·(1 + …) ≥ ε/2 − ε², and at most 2ε."""
    tiny = Fraction(1, 10**power)
    for parts in (
        [(ln.Privacy(tiny), 2)],
        [(ln.Profile(ln.noise.Laplace(1 / tiny), sensitivity=1), 2)],
    ):
        found = ln.compose(parts).delta(0)
        assert tiny / 2 - tiny**2 <= found <= 2 * tiny
