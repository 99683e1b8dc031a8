"""Your own noise: its guarantee is verified for every shift, and the same sampler is used."""

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
from leastnoise.noise import Steps, Uniform
from tests.support.random_noise import steps
from tests.support.tapes import Replay

COMB = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])


@settings(max_examples=60)
@given(steps(), st.sampled_from([Fraction(1, 12), Fraction(1, 5), Fraction(3, 4), Fraction(7)]))
def test_a_rounded_law_is_the_mass_of_every_cell(noise: Steps, step: Fraction) -> None:
    distribution = noise.rounded(step)
    low, high = noise.ends
    total = Fraction(0)
    for index in range(int(low / step) - 2, int(high / step) + 3):
        mass = noise.between((index - Fraction(1, 2)) * step, (index + Fraction(1, 2)) * step)
        assert Fraction(distribution.weight(index), distribution.total) == mass
        total += mass
        assert distribution.probability_up_to(index * step) == total
    assert total == 1
    indices = range(-distribution.farthest, distribution.farthest + 1)
    first = sum(Fraction(distribution.weight(j), distribution.total) * j * step for j in indices)
    second = sum(
        Fraction(distribution.weight(j), distribution.total) * (j * step) ** 2 for j in indices
    )
    assert distribution.variance() == second - first**2
    assert distribution.expected(ln.l2) == second
    reach = distribution.half_width_in_steps(Fraction(9, 10))
    inside = sum(distribution.weight(j) for j in range(-reach, reach + 1))
    assert Fraction(inside, distribution.total) >= Fraction(9, 10)


@settings(max_examples=30)
@given(steps())
def test_every_ticket_is_held_by_its_point(noise: Steps) -> None:
    distribution = noise.rounded(Fraction(1, 3))
    held = Counter(distribution.scheme.index_of(ticket) for ticket in range(distribution.total))
    assert held == {
        j: distribution.weight(j)
        for j in range(-distribution.farthest, distribution.farthest + 1)
        if distribution.weight(j)
    }


@settings(max_examples=30)
@given(steps(), st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=50))
def test_both_routes_draw_the_same(noise: Steps, words: list[int]) -> None:
    """Words that need another one are left out: bulk reads that one after the block."""
    distribution = noise.rounded(Fraction(1, 64))
    kept = [w for w in words if distribution.scheme.index_if_certain(w, 64) is not None]
    if not kept:
        return
    one, many = Replay(kept), Replay(kept)
    singles = [distribution.scheme.draw(one) for _ in kept]
    blocks = bulk.sample_blocks(distribution.scheme, len(kept), many)
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
    with pytest.raises(InvalidParameter, match=r"noise must be Steps, Uniform, .*, got 5\. Use"):
        ln.Mechanism.from_noise(5, ln.Privacy(delta="0.6"), sensitivity=3)  # type: ignore[arg-type]


# ------------------------------------------------------------------ uniform noise of one's own

wide = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)
# Some with so many digits that the step is a power of two.
moves = st.one_of(wide, wide.map(lambda x: x + Fraction(1, 10**12 + 39)))
masses = st.one_of(
    st.just(Fraction(0)),
    st.fractions(min_value=0, max_value=Fraction(999, 1000), max_denominator=10**6),
)


@settings(max_examples=300)
@given(moves, st.fractions(min_value=Fraction(1, 10**6), max_value=10**4), masses, wide)
def test_every_private_uniform_noise_can_be_released(
    sensitivity: Fraction, excess: Fraction, atom: Fraction, epsilon: Fraction
) -> None:
    """At the smallest δ that the continuous noise satisfies, so nothing is left for rounding."""
    noise = Uniform(sensitivity / 2 * (1 + excess), atom)
    needed = noise.total_variation(sensitivity)
    assert needed < 1
    for privacy in (ln.Privacy(delta=needed), ln.Privacy(epsilon, needed)):
        mechanism = ln.Mechanism.from_noise(noise, privacy, sensitivity=sensitivity)
        lattice = mechanism.discretized.noise
        reach = mechanism.effective_sensitivity
        assert reach >= sensitivity + lattice.step
        assert lattice.total_variation(reach) <= needed
        # The exact curve over every shift agrees with Theorem 1.
        assert Profile(lattice, sensitivity=reach).advantage == lattice.total_variation(reach)
        has_atom = lattice.weight(0) > lattice.weight(1)
        assert mechanism.needs_allow_exact == has_atom
        assert not has_atom or atom
        assert mechanism.verify() is None  # type: ignore[func-returns-value]


@settings(max_examples=100)
@given(moves, st.fractions(min_value=Fraction(1, 100), max_value=100), masses)
def test_the_lattice_form_of_uniform_noise_is_close_to_it(
    sensitivity: Fraction, excess: Fraction, atom: Fraction
) -> None:
    noise = Uniform(sensitivity / 2 * (1 + excess), atom)
    lattice = noise.discretize(sensitivity)
    assert abs(lattice.radius / noise.radius - 1) <= Fraction(1, 1 << 18)
    excess_mass = Fraction(lattice.atom, lattice.total) - atom
    assert -Fraction(1, lattice.total) <= excess_mass
    assert excess_mass <= Fraction(3, 1 << 20) / (1 - sensitivity / (2 * noise.radius))


def test_uniform_noise_that_is_not_private_is_rejected() -> None:
    with pytest.raises(NotPrivate, match=r"a shift of 1 needs δ = 0\.1"):
        ln.Mechanism.from_noise(Uniform(5), ln.Privacy(delta="0.09"), sensitivity=1)
    with pytest.raises(NotPrivate, match=r"a shift of 2 needs δ = 1"):
        ln.Mechanism.from_noise(Uniform(1, "0.5"), ln.Privacy(1, "0.9"), sensitivity=2)


def test_uniform_noise_narrower_than_the_sensitivity_has_a_lattice_form() -> None:
    """It satisfies no guarantee, but it can be plotted and profiled."""
    lattice = Uniform(1, "0.5").discretize(Fraction(2))
    assert float(Fraction(lattice.atom, lattice.total)) == pytest.approx(0.5, abs=1e-5)


def test_uniform_noise_with_a_point_mass_needs_consent() -> None:
    noise = Uniform.for_privacy(ln.Privacy(delta="0.8"), sensitivity=1, atom="0.4")
    own = ln.Mechanism.from_noise(noise, ln.Privacy(delta="0.8"), sensitivity=1)
    assert own.needs_allow_exact
    assert own.certificate.cost == noise.expected(ln.l1)
    with pytest.raises(InvalidParameter, match=r"With probability 0\.4.* adds nothing"):
        own.release(5)
    assert abs(own.release(5, allow_exact=True).value - 5) <= 0.76
    again = ln.Certificate.from_json(own.certificate.to_json())
    assert again.noise == noise
    again.verify()


def test_the_optimal_alpha_gives_the_calibrated_mechanism() -> None:
    best = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.l2)
    own = ln.Mechanism.from_noise(best.noise, best.privacy, sensitivity=1, cost=ln.l2)  # type: ignore[arg-type]
    assert own.discretized == best.discretized
    assert own.cost == best.cost
