"""Lemma 1 and Theorem 2's proof as a program: their distributions over random noises."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.noise import Steps
from leastnoise.paper.rearrangement import rearrange, symmetrize
from tests.support.random_noise import decreasing, steps

COSTS: list[Cost] = [
    ln.l1,
    ln.l2,
    ln.lp(3),
    ln.threshold("1/2"),
    ln.piecewise_linear([(0, 1), (9, 3)]),
]


@settings(max_examples=40)
@given(steps(), st.sampled_from(COSTS))
def test_symmetrizing_keeps_the_cost_and_never_raises_the_profile(noise: Steps, cost: Cost) -> None:
    """GDGK19, Lemma 1, at ε = 0 and beyond."""
    even = symmetrize(noise)
    assert even.is_symmetric
    assert even.enclose(cost) == noise.enclose(cost)
    for factor in (Fraction(1), Fraction(2)):
        before = Profile(noise, sensitivity=1).at_factor(factor)
        assert Profile(even, sensitivity=1).at_factor(factor) <= before


@settings(max_examples=60)
@given(decreasing(), st.sampled_from(COSTS), st.integers(1, 4), st.integers(0, 3), st.data())
def test_every_stage_is_private_and_none_of_the_last_three_costs_more(
    noise: Steps, cost: Cost, moved: int, slack: int, data: st.DataObject
) -> None:
    sensitivity = Fraction(moved, 3)
    tight = noise.total_variation(sensitivity)
    delta = tight + (1 - tight) * Fraction(slack, 5)
    if delta == 1:
        return
    cells = data.draw(st.sampled_from([1, 2, 7]))
    proof = rearrange(
        noise, ln.Privacy(delta=delta), sensitivity=sensitivity, cost=cost, cells=cells
    )
    costs = [stage.cost.upper for stage in proof.stages]
    assert costs[0] >= costs[1] >= costs[2] >= costs[3]
    for stage in proof.stages:
        assert stage.noise.is_decreasing
        assert Profile(stage.noise, sensitivity=sensitivity).advantage <= delta
    best = ln.calibrate(ln.Privacy(delta=delta), sensitivity=sensitivity, cost=ln.l2)
    assert best.cost <= proof.result.expected(ln.l2)
    # It ends in P_α of GDGK19: mass δ within half of Δ, width (1−α)Δ/(2(δ−α)).
    atom = proof.result.atom
    assert 0 <= atom < delta
    assert proof.result.radius == (1 - atom) * sensitivity / (2 * (delta - atom))


def test_cells_that_fit_cost_nothing_and_others_vanish() -> None:
    noise = Steps([-2, -1, 1, 2], ["1/8", "3/8", "1/8"])
    privacy = ln.Privacy(delta="3/4")
    fits = rearrange(noise, privacy, sensitivity=1, cost=ln.l2, cells=1)
    assert fits.stages[0].cost == fits.start
    raised = [
        rearrange(noise, privacy, sensitivity="0.9", cost=ln.l2, cells=n).stages[0].cost.upper
        - noise.expected(ln.l2)
        for n in (1, 4, 16, 64)
    ]
    assert raised == sorted(raised, reverse=True)
    assert 0 <= raised[-1] < raised[0] / 20


def test_the_least_noise_is_left_as_it_is() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.8"), sensitivity=1, cost=ln.l2)
    proof = rearrange(mechanism.noise, mechanism.privacy, sensitivity=1, cost=ln.l2, cells=4)
    assert proof.result == mechanism.noise
    assert [stage.cost.upper for stage in proof.stages] == [mechanism.cost] * 4
    assert "3 the mass within half of Δ to δ   costs 0.1125" in str(proof)


def test_noise_that_is_not_decreasing_is_refused_where_it_rises() -> None:
    comb = Steps([-2, -1, 1, 2], ["1/3", "1/6", "1/3"])
    with pytest.raises(
        InvalidParameter, match=r"^noise must be symmetric and unimodal, .* rises at 1\. Use sym"
    ):
        rearrange(comb, ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.l1)
    lattice = ln.noise.DiscreteUniform(reach=3)
    with pytest.raises(InvalidParameter, match=r"got noise on a lattice.*Lemma 2"):
        rearrange(lattice, ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.l1)
    skew = Steps([0, 2], ["1/2"])
    with pytest.raises(InvalidParameter, match="it is not symmetric"):
        rearrange(skew, ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.l1)


def test_noise_that_breaks_the_promise_is_refused_with_the_move() -> None:
    with pytest.raises(NotPrivate, match=r"sensitivity 1: a shift of 1 needs δ = 0\.5"):
        rearrange(ln.noise.Uniform(1), ln.Privacy(delta="0.4"), sensitivity=1, cost=ln.l1)


def test_only_steps_are_symmetrized() -> None:
    with pytest.raises(InvalidParameter, match="noise must be Steps, got 5"):
        symmetrize(5)  # type: ignore[arg-type]


def test_only_promises_without_epsilon_and_so_many_cells() -> None:
    with pytest.raises(
        InvalidParameter, match=r"must be a guarantee \(0, δ\), got Privacy\(epsilon=1"
    ):
        rearrange(ln.noise.Uniform(5), ln.Privacy(1, "0.5"), sensitivity=1, cost=ln.l1)
    with pytest.raises(InvalidParameter, match="at most 5000 cells on each side, got more"):
        rearrange(ln.noise.Uniform(10**7), ln.Privacy(delta="0.5"), sensitivity=1, cost=ln.l1)
