"""Noises of one's own: held to a promise over every move, then drawn by the same sampler."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.core.arrays import draw as bulk
from leastnoise.core.guarantee import check_privacy
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.noise import Steps
from tests.support.random_noise import steps
from tests.support.tapes import Replay

COMB = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])


@settings(max_examples=60)
@given(steps(), st.sampled_from([Fraction(1, 12), Fraction(1, 5), Fraction(3, 4), Fraction(7)]))
def test_a_rounded_law_is_the_mass_of_every_cell(noise: Steps, step: Fraction) -> None:
    law = noise.rounded(step)
    low, high = noise.ends
    total = Fraction(0)
    for index in range(int(low / step) - 2, int(high / step) + 3):
        mass = noise.between((index - Fraction(1, 2)) * step, (index + Fraction(1, 2)) * step)
        assert Fraction(law.weight(index), law.total) == mass
        total += mass
        assert law.mass(index * step) == total
    assert total == 1
    indices = range(-law.farthest, law.farthest + 1)
    first = sum(Fraction(law.weight(j), law.total) * j * step for j in indices)
    second = sum(Fraction(law.weight(j), law.total) * (j * step) ** 2 for j in indices)
    assert law.variance() == second - first**2
    assert law.expected(ln.l2) == second
    reach = law.within(Fraction(9, 10))
    inside = sum(law.weight(j) for j in range(-reach, reach + 1))
    assert Fraction(inside, law.total) >= Fraction(9, 10)


@settings(max_examples=30)
@given(steps())
def test_every_ticket_is_held_by_its_point(noise: Steps) -> None:
    law = noise.rounded(Fraction(1, 3))
    held = Counter(law.scheme.index_of(ticket) for ticket in range(law.total))
    assert held == {
        j: law.weight(j) for j in range(-law.farthest, law.farthest + 1) if law.weight(j)
    }


@settings(max_examples=30)
@given(steps(), st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=50))
def test_both_routes_draw_the_same(noise: Steps, words: list[int]) -> None:
    """Words that need another one are left out: bulk reads that one after the block."""
    law = noise.rounded(Fraction(1, 64))
    kept = [w for w in words if law.scheme.index_if_certain(w, 64) is not None]
    if not kept:
        return
    one, many = Replay(kept), Replay(kept)
    singles = [law.scheme.draw(one) for _ in kept]
    blocks = bulk.blocks(law.scheme, len(kept), many)
    assert [x for block, _, _ in blocks for x in block.tolist()] == singles


@settings(max_examples=25)
@given(steps(), st.sampled_from(["0", "0.5", "2"]))
def test_what_is_drawn_keeps_the_promise_that_the_law_keeps(noise: Steps, epsilon: str) -> None:
    needed = Profile(noise, sensitivity="0.9").delta(epsilon)
    if needed in (0, 1):
        return
    mechanism = ln.Mechanism.from_noise(noise, ln.Privacy(epsilon, needed), sensitivity="0.9")
    assert mechanism.effective_sensitivity > Fraction(9, 10)
    check_privacy(
        mechanism.discretized.noise, mechanism.privacy, sensitivity=mechanism.effective_sensitivity
    )
    answer = mechanism.release(5, allow_exact=True)
    assert abs(answer.value - 5) <= answer.max_error
    with pytest.raises(NotPrivate, match=r"a shift (of|near) -?\S+ needs δ = "):
        ln.Mechanism.from_noise(
            noise, ln.Privacy(epsilon, needed * Fraction(999, 1000)), sensitivity="0.9"
        )


def test_the_counter_example_is_released() -> None:
    mechanism = ln.Mechanism.from_noise(COMB, ln.Privacy(delta="1/2"), sensitivity=1, cost=ln.l2)
    assert mechanism.cost == Fraction(5, 16)
    assert mechanism.discretized.cost / mechanism.cost - 1 < Fraction(1, 10**5)
    values = mechanism.release(np.zeros(50_000)).values
    assert abs(values).max() <= float(mechanism.discretized.radius)
    assert "no lower bound was asked for" in str(mechanism.certificate)


def test_a_move_shorter_than_the_sensitivity_can_be_the_worst() -> None:
    teeth = Steps([-2, -1, 1, 2], ["1/2", 0, "1/2"])
    with pytest.raises(NotPrivate, match=r"a shift of 2 needs δ = 1\."):
        ln.Mechanism.from_noise(teeth, ln.Privacy(delta="0.6"), sensitivity=3)
    assert Profile(teeth, sensitivity=3).worst() == (Fraction(1), Fraction(2))


def test_only_steps_are_held() -> None:
    with pytest.raises(InvalidParameter, match=r"noise must be Steps, Staircase, .*, got 5\. Use"):
        ln.Mechanism.from_noise(5, ln.Privacy(delta="0.6"), sensitivity=3)  # type: ignore[arg-type]
