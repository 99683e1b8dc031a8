"""Theorem 1 against brute force over every move."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import DiscreteSteps, DiscreteUniform, FiniteLatticeNoise, Run, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, NotPrivate

distributions = st.builds(
    lambda reach, level, rim, atom: DiscreteUniform(
        reach=reach, level=level, rim=min(rim, level), atom=atom
    ),
    st.integers(0, 9),
    st.integers(1, 9),
    st.integers(0, 9),
    st.integers(0, 30),
)


falling = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(
    lambda weights: sorted(weights, reverse=True)
)


def distance(distribution: FiniteLatticeNoise, move: int) -> Fraction:
    """Total variation between a distribution and itself moved, point by point."""
    points = range(-distribution.farthest - 2, distribution.farthest + move + 3)
    more = sum(max(0, distribution.weight(j) - distribution.weight(j - move)) for j in points)
    return Fraction(more, distribution.total)


@given(distributions, st.integers(1, 25))
def test_the_worst_distance_is_the_largest_over_all_moves(
    distribution: DiscreteUniform, moved: int
) -> None:
    brute = max(distance(distribution, d) for d in range(1, moved + 1))
    assert distribution.total_variation(Fraction(moved)) == brute


@given(falling, st.integers(1, 20))
def test_so_it_is_for_points_of_any_weights_that_fall(weights: list[int], moved: int) -> None:
    sides = [Run(sign * k, 1, w) for k, w in enumerate(weights) for sign in (-1, 1) if k]
    runs = sorted([*sides, Run(0, 1, weights[0])], key=lambda run: run.first)
    distribution = DiscreteSteps(Fraction(1, 3), tuple(runs))
    brute = max(distance(distribution, d) for d in range(1, moved + 1))
    assert distribution.is_unimodal
    assert distribution.total_variation(Fraction(moved, 3)) == brute
    assert distribution.curve(Fraction(moved, 3)).at_factor(Fraction(1)) == brute


def test_points_that_rise_have_no_theorem() -> None:
    distribution = DiscreteSteps(Fraction(1), (Run(-1, 1, 2), Run(0, 1, 1), Run(1, 1, 2)))
    assert not distribution.is_unimodal
    with pytest.raises(InvalidParameter, match="got DiscreteSteps at sensitivity 1"):
        distribution.total_variation(Fraction(1))


@given(
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
    st.fractions(min_value=0, max_value=Fraction(49, 50), max_denominator=50),
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
)
def test_on_the_line_too(radius: Fraction, atom: Fraction, moved: Fraction) -> None:
    """Cut the line so finely that radius and move are whole: the cells' distance is the line's."""
    noise = Uniform(radius, atom)
    cell = Fraction(1, 2 * radius.denominator * moved.denominator)
    edges = [-radius + i * cell for i in range(int(2 * radius / cell) + 1)]
    level = (1 - atom) / (len(edges) - 1)
    brute = Fraction(0)
    for steps in {1, int(moved / cell) // 2, int(moved / cell)} - {0}:
        overlap = max(0, len(edges) - 1 - steps) * level
        brute = max(brute, 1 - overlap)
    assert noise.total_variation(moved) == brute


def test_keeps_raises_with_the_distance_and_the_move() -> None:
    distribution = DiscreteUniform(reach=4)
    check_privacy(distribution, Privacy(delta="1/3"), sensitivity=Fraction(3))
    with pytest.raises(NotPrivate, match=r"sensitivity 3: a shift of 3 needs δ = 0\.3333333"):
        check_privacy(distribution, Privacy(delta="0.3"), sensitivity=Fraction(3))
