"""The lattice: how far neighboring answers can lie apart on it, held as floats."""

import math
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.core.lattice import (
    Grid,
    choose_lattice,
    effective_sensitivity,
    effective_steps,
    rounding_error,
)


def shift(grid: Grid, one: list[Fraction], other: list[Fraction]) -> int:
    """Return how many steps two lists of numbers, each held as a float, lie apart together."""
    points = [[grid.index(*float(x).as_integer_ratio()) for x in xs] for xs in (one, other)]
    return sum(abs(a - b) for a, b in zip(*points, strict=True))


@pytest.mark.parametrize("answers", [1, 2, 3])
def test_floats_need_the_margin_and_no_more(answers: int) -> None:
    """Numbers Δ apart together, held as floats with an ulp below g, move by up to k + 2n − 1."""
    delta = Fraction(1, 10)
    step, _ = choose_lattice(delta)
    dice, grid = np.random.default_rng(11), Grid(step)
    # An ulp of 2⁻²⁴ where g is about 2⁻²³.
    assert step / 2 < math.ulp(2.0**28 * 1.5) < step
    worst = 0
    for start in dice.integers(1 << 58, 1 << 59, (4000, answers)).tolist():
        shares = dice.dirichlet([1.0] * answers).tolist()
        parts = [delta * Fraction(share) for share in shares]
        parts[0] += delta - sum(parts)
        one = [Fraction(x, 1 << 30) for x in start]
        worst = max(worst, shift(grid, one, [x + d for x, d in zip(one, parts, strict=True)]))
    cells = -(-delta // step)
    assert cells + answers - 1 < worst <= effective_steps(delta, step, answers=answers)
    assert effective_steps(delta, step, answers=answers) == cells + 2 * answers - 1


@pytest.mark.parametrize("sensitivity", ["1", "0.7", "1e-300", "1e300", "2/3"])
def test_noise_protects_a_step_beyond_the_sensitivity_of_real_answers(sensitivity: str) -> None:
    delta = Fraction(sensitivity)
    step, steps = choose_lattice(delta)
    real = effective_sensitivity(delta, step, integer=False)
    assert real == steps * step
    assert delta + step <= real < delta + 2 * step
    assert effective_sensitivity(delta, step, integer=True) == delta


def test_rounding_is_off_by_at_most_half_a_step() -> None:
    grid = Grid(Fraction(2, 7))
    off = rounding_error(grid.step, integer=False)
    errors = [abs(grid.index(n, 31) * grid.step - Fraction(n, 31)) for n in range(-200, 200)]
    assert max(errors) <= off
    assert abs(grid.index(1, 7) * grid.step - Fraction(1, 7)) == off  # and by as much, at an edge
    assert rounding_error(Fraction(1), integer=True) == 0
