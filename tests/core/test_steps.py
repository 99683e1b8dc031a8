"""Steps: the distribution, its profile against brute force, and what it refuses."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.noise import DiscreteUniform, Steps, Uniform
from leastnoise.paper import symmetrize
from tests.support.random_noise import steps

COUNTER_EXAMPLE = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])


def brute(noise: Steps, move: Fraction, factor: Fraction) -> Fraction:
    """H at one move from the definition: on every cell between any two ends, and every atom."""
    cuts = sorted({x + shift for x in noise.breaks for shift in (0, move)})
    total = Fraction(0)
    for a, b in pairwise(cuts):
        middle = (a + b) / 2
        more = noise._pdf(middle) - factor * noise._pdf(middle - move)
        total += (b - a) * max(more, Fraction(0))
    for x, mass in noise.atoms.items():
        total += max(mass - factor * noise.atoms.get(x - move, Fraction(0)), Fraction(0))
    return total


# Two teeth: the worst move is the one that puts each into the other's gap, not the longest.
@example(Steps([0, "1/4", "1/2", "3/4"], [2, 0, 2]), Fraction(1, 2))
@settings(max_examples=40)
@given(steps(), st.fractions(min_value=Fraction(1, 3), max_value=3, max_denominator=6))
def test_the_profile_is_brute_force_over_a_grid_of_moves(noise: Steps, moved: Fraction) -> None:
    profile = Profile(noise, sensitivity=moved)
    for factor in (Fraction(1), Fraction(3, 2), Fraction(4)):
        claimed, where = profile.worst(factor)
        grid = [moved * i / 60 for i in range(-60, 61) if i]
        differences = {x - y for x in noise.breaks for y in noise.breaks if 0 < abs(x - y) <= moved}
        assert max(brute(noise, d, factor) for d in {*grid, *differences}) <= claimed
        # It is reached next to the move that is named, where no two atoms meet.
        tiny = Fraction(1, 10**9)
        near = where - tiny if where > 0 else where + tiny
        assert claimed - brute(noise, near, factor) <= 100 * tiny


@settings(max_examples=60)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 9), st.integers(1, 12))
def test_theorem_1_and_the_general_route_agree(drops: list[int], atom: int, moved: int) -> None:
    """Decreasing noise: heights that fall, a mass at 0."""
    heights = [sum(drops[i:]) for i in range(len(drops))]
    breaks = [-Fraction(i) for i in range(len(drops), 0, -1)] + [
        Fraction(i) for i in range(len(drops) + 1)
    ]
    total = 2 * sum(heights) + atom
    noise = Steps(
        breaks,
        [Fraction(h, total) for h in heights[::-1] + heights],
        {0: Fraction(atom, total)} if atom else None,
    )
    assert noise.is_decreasing
    sensitivity = Fraction(moved, 3)
    assert noise.total_variation(sensitivity) == Profile(noise, sensitivity=sensitivity).advantage


def test_the_papers_noise_has_a_flat_profile() -> None:
    """mathematics.md §6: δ(ε) = δ for every ε, and β(a) = max(0, 1 − δ − a)."""
    noise = ln.calibrate(ln.Privacy(delta="0.7"), sensitivity=2, cost=ln.l1).noise
    profile = Profile(noise, sensitivity=2)
    for epsilon in (0, "0.5", 3, 20):
        assert profile.delta(epsilon) == Fraction(7, 10)
    for rate in ("0", "0.1", "0.25", "0.3", "0.9", "1"):
        assert profile.tradeoff(rate) == max(0, Fraction(3, 10) - Fraction(rate))


def test_a_lattice_noise_agrees_with_its_own_weights() -> None:
    distribution = DiscreteUniform(reach=3, level=4, rim=1, atom=2)
    profile = Profile(distribution, sensitivity=3)
    assert profile.advantage == distribution.total_variation(Fraction(3))
    weights = range(-9, 10)
    for factor in (Fraction(1), Fraction(5, 4), Fraction(7)):
        direct = max(
            sum(
                (
                    distribution.weight(j) - factor * distribution.weight(j - d)
                    for j in weights
                    if distribution.weight(j) > factor * distribution.weight(j - d)
                ),
                Fraction(0),
            )
            for d in (1, 2, 3)
        )
        assert profile.at_factor(factor) == direct / distribution.total


@settings(max_examples=25)
@given(steps(), st.integers(0, 20))
def test_the_tradeoff_is_the_best_of_all_bounds(noise: Steps, rate: int) -> None:
    profile = Profile(noise, sensitivity=1)
    fpr = Fraction(rate, 20)
    bounds = [1 - profile.at_factor(Fraction(i, 40)) - Fraction(i, 40) * fpr for i in range(400)]
    claimed = profile.tradeoff(fpr)
    assert claimed >= max(bounds)
    assert claimed - max(bounds) <= Fraction(1, 15)  # between two points of the grid


def test_the_counter_example_in_rationals() -> None:
    """Any shape: private at (0, 1/2) over every move up to 1, and cheaper in ℓ2 than P_α."""
    profile = Profile(COUNTER_EXAMPLE, sensitivity=1)
    assert profile.advantage == Fraction(1, 2)
    paper = ln.calibrate(ln.Privacy(delta="1/2"), sensitivity=1, cost=ln.l2)
    assert COUNTER_EXAMPLE.expected(ln.l2) == Fraction(5, 16) < paper.cost == Fraction(1, 3)
    assert COUNTER_EXAMPLE.is_symmetric
    assert COUNTER_EXAMPLE.rise() == "its density rises at 0.25"


@settings(max_examples=40)
@given(steps(), st.fractions(min_value=0, max_value=1, max_denominator=40))
def test_steps_keep_the_laws_of_every_noise(noise: Steps, level: Fraction) -> None:
    low, high = noise.ends
    assert noise.probability_up_to(high) == 1
    assert noise.probability_up_to(low - Fraction(1, 99)) == 0
    if level:
        x = noise.quantile(level)
        assert noise.probability_up_to(x) >= level
        assert noise.probability_up_to(x - Fraction(1, 10**9)) < level
    mirrored = noise.enclose(ln.l2)
    assert mirrored.lower == noise.variance() + noise.first_moment() ** 2
    assert noise.between(low, high + 1) == 1


def test_it_is_the_same_law_as_uniform() -> None:
    steps, uniform = Steps([-5, 5], ["0.08"], {0: "0.2"}), Uniform(5, "0.2")
    for cost in (ln.l1, ln.l2, ln.lp("1/2"), ln.threshold(2)):
        assert steps.enclose(cost) == uniform.enclose(cost)
    for x in (-6, -5, -1, 0, 2, 5):
        assert steps.cdf(x) == uniform.cdf(x)
    assert steps.is_decreasing


@pytest.mark.parametrize(
    ("breaks", "heights", "atoms", "message"),
    [
        ([0, 1], [-1], None, r"heights must be 0 or more, got -1 between 0 and 1"),
        ([0, 1], ["0.9"], None, r"sum to exactly 1, got 0\.9"),
        ([0, 2, 1], [1, 1], None, r"got 1 after 2, which is not in order"),
        ([0, 1, 1], [1, 1], None, r"got 1 after 1, which is repeated"),
        ([0, 1], ["0.5"], {0: "1.5"}, r"An atom must be a probability, got '1\.5' at 0"),
        ([0, 1], ["0.5"], {0: "-0.5"}, r"An atom must be a probability, got '-0\.5' at 0"),
        ([0, 1], ["0.5"], {0: "0.25", "0": "0.25"}, r"different places, got two at 0"),
        ([0, 1, 2], [1], None, r"breaks must be one more than heights, got 3 breaks and 1 heights"),
        (5, [1], None, r"breaks must be a list of numbers, got 5"),
        ([0, 1], [1], [0], r"atoms must be a dictionary"),
        ([0, "x"], [1], None, r"a break must be a finite number, got 'x'"),
    ],
)
def test_what_is_no_law_is_refused(
    breaks: object, heights: object, atoms: object, message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Steps(breaks, heights, atoms)  # type: ignore[arg-type]


def test_why_a_law_is_not_decreasing_is_said() -> None:
    lemma = Steps([-1, 1], ["1/4"], {-1: "1/4", 1: "1/4"})
    assert lemma.is_symmetric
    assert not lemma.is_decreasing
    assert "atom of 0.25 at -1, away from 0" in str(lemma.rise())
    assert "Lemma 2" in str(lemma.rise())
    skew = Steps([0, 1], [1])
    assert "not symmetric: the density at" in str(skew.rise())
    assert "no equal twin at -1" in str(Steps([], [], {1: 1}).asymmetry())


def test_a_profile_too_large_to_compute_is_refused() -> None:
    primes = [Fraction(1, p) for p in range(1000, 3000)]
    breaks = sorted({-x for x in primes} | {*primes})
    width = breaks[-1] - breaks[0]
    heights = [(1 + Fraction(k % 2, 10**9)) / width for k in range(len(breaks) - 1)]
    mass = sum(h * (b - a) for h, a, b in zip(heights, breaks, breaks[1:], strict=False))
    noise = Steps(breaks, [h / mass for h in heights])
    with pytest.raises(InvalidParameter, match=r"at most 4194304 comparisons of pieces, got 3999"):
        Profile(noise, sensitivity="0.0001").delta(1)


def test_a_negative_epsilon_has_no_profile() -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon must be 0 or more, got -1"):
        Profile(Uniform(1), sensitivity=1).delta(-1)


@pytest.mark.parametrize("ends", [(-1, 10), (-1, 2), (0, 1), (-3, 2)])
def test_a_skew_interval_is_not_symmetric(ends: tuple[int, int]) -> None:
    skew = Steps(ends, [Fraction(1, ends[1] - ends[0])])
    assert not skew.is_symmetric
    assert not skew.is_decreasing
    with pytest.raises(InvalidParameter, match="it is not symmetric: the density at"):
        skew.total_variation(Fraction(1))


@settings(max_examples=200)
@given(steps())
def test_symmetry_is_that_of_the_mirror_image(noise: Steps) -> None:
    """The mirror image, written down again, has the same distribution function or it has not."""
    mirrored = Steps(
        [-x for x in reversed(noise.breaks)],
        noise.heights[::-1],
        {-x: m for x, m in noise.atoms.items()},
    )
    places = sorted({*noise.breaks, *mirrored.breaks, *noise.atoms, *mirrored.atoms})
    same = all(noise.probability_up_to(x) == mirrored.probability_up_to(x) for x in places)
    assert noise.is_symmetric == same
    assert symmetrize(noise).is_symmetric


def test_a_law_of_atoms_alone_can_be_asked_everything() -> None:
    coin = Steps([], [], {-1: "1/2", 1: "1/2"})
    assert coin.expected(ln.l2) == coin.variance() == 1
    assert coin.is_symmetric
    assert coin.quantile(Fraction(1, 2)) == -1
    assert Profile(coin, sensitivity=1).advantage == 1
    nothing = Steps([], [], {0: 1})
    assert nothing.is_decreasing
    assert nothing.expected(ln.l1) == 0


def test_a_function_far_from_zero_is_enclosed_tightly() -> None:
    far = Steps([1000, 1001], [1]).enclose(ln.Cost(lambda x: x))
    assert 1000 <= far.lower <= Fraction(2001, 2) <= far.upper <= 1001
    left = Steps([-(10**9) - 1, -(10**9)], [1]).enclose(ln.Cost(lambda x: x**0.5))
    assert 31622 < left.lower <= left.upper < 31623


def test_where_atoms_meet_the_worst_move_is_said_to_be_near() -> None:
    noise = Steps([-5, 5], ["1/20"], {0: "1/4", 1: "1/4"})
    with pytest.raises(NotPrivate, match=r"a shift near 1 needs δ = 0\.55"):
        ln.Mechanism.from_noise(noise, ln.Privacy(delta="1/3"), sensitivity=1)


def test_many_pieces_do_not_hang() -> None:
    count = 6000
    noise = Steps(range(count + 1), [Fraction(1, count)] * count)
    assert not noise.is_decreasing
    assert noise.quantile(Fraction(1, 2)) == count // 2
    assert noise.expected(ln.l1) == Fraction(count, 2)
    with pytest.raises(InvalidParameter, match="at most 100000 numbers, got a longer one"):
        Steps(iter(int, 1), [1])
    heights = [Fraction(1 + i % 300) for i in range(300)]
    tall = Steps(range(301), [h / sum(heights) for h in heights])
    with pytest.raises(InvalidParameter, match="at most 16384 pairs of heights, got 300"):
        Profile(tall, sensitivity=1).tradeoff("0.1")


def test_a_factor_must_be_a_number_of_at_least_zero() -> None:
    with pytest.raises(InvalidParameter, match=r"factor must be 0 or more, got -1"):
        Profile(Uniform(1), sensitivity=1).worst(Fraction(-1))
    with pytest.raises(InvalidParameter, match=r"factor must be greater than 0, got 0"):
        Steps([0, 1], [1]).scaled(0)
