"""The staircase in the plane: its distribution, its privacy, its draws, and two answers released at
once."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.core.exact import exponential
from leastnoise.core.lattice import Grid, choose_lattice, effective_steps
from leastnoise.core.sampling.entropy import CipherTape
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.mechanism import PairAnswer, PairMechanism, calibrate_pair
from leastnoise.mechanism import planar_staircase as planar
from leastnoise.mechanism.planar_staircase import (
    DiscretePlanarStaircase,
    PlanarStaircase,
    _rises_for_good,
    best_gamma,
    discretize_planar,
    mixture,
    point,
    sample_pair,
)
from leastnoise.noise import DiscreteStaircase, Run, Staircase
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

HALF = Fraction(1, 2)
ratios = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60)
shares = st.fractions(min_value=0, max_value=1, max_denominator=60)
lengths = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9)
planes = st.builds(PlanarStaircase, lengths, shares, ratios)
SMALL = [
    DiscretePlanarStaircase(Fraction(1), Fraction(1, 3), steps, edge)
    for steps in (1, 2, 3)
    for edge in range(1, steps + 1)
]
EPSILONS = ["0.001", "0.1", "0.5", "1", "2", "4", "8", "16", "32"]


@st.composite
def lattices(draw: st.DrawFn) -> DiscretePlanarStaircase:
    """Staircases of a few steps to a period."""
    steps = draw(st.integers(1, 6))
    return DiscretePlanarStaircase(draw(lengths), draw(ratios), steps, draw(st.integers(1, steps)))


def diamond(radius: int) -> list[tuple[int, int]]:
    """Every lattice point with |i| + |j| ≤ radius, found by looking at a square."""
    side = range(-radius, radius + 1)
    return [(i, j) for i, j in product(side, side) if abs(i) + abs(j) <= radius]


def vanishes(left: list[Fraction]) -> bool:
    """Whether the last differences of a sequence vanish: a polynomial of lower degree does so."""
    while len(left) > 1:
        left = [b - a for a, b in pairwise(left)]
    return left == [0]


# ------------------------------------------------------------------- the distributions


@given(planes)
def test_the_plane_holds_all_mass_and_its_cost(noise: PlanarStaircase) -> None:
    """Exactly. Ring by ring: what is missing after N periods is bᴺ times a polynomial in N.

    Of degree 2 for the mass and 3 for the cost, whose last differences vanish; of any other total
    they would not, for a constant is no such product.
    """
    length, part = noise.period, noise.gamma

    def ring(low: Fraction, high: Fraction, power: int) -> Fraction:
        """∫ ‖x‖^power over low ≤ ‖x‖ < high; the curve ‖x‖ = r encloses the area 2r²."""
        if low == high:
            return Fraction(0)
        height = noise.density((low + high) / 4, -(low + high) / 4)
        return height * (high ** (power + 2) - low ** (power + 2)) * Fraction(4, power + 2)

    for power, whole in ((0, Fraction(1)), (1, noise.cost)):
        left = [whole]
        for n in range(power + 3):
            edges = (n * length, (n + part) * length, (n + 1) * length)
            inner, outer = ring(*edges[:2], power), ring(*edges[1:], power)
            left.append(left[-1] - inner - outer)
        assert vanishes([rest / noise.ratio**n for n, rest in enumerate(left)])
        control = [(rest + Fraction(1, 10**9)) / noise.ratio**n for n, rest in enumerate(left)]
        assert not vanishes(control)


@given(lattices())
def test_the_lattice_holds_all_mass_and_its_cost(distribution: DiscretePlanarStaircase) -> None:
    """The same, point by point, from the first period on: the one point at 0 is not 4·0 of them."""
    found = Counter(abs(i) + abs(j) for i, j in diamond(5 * distribution.steps))
    for power, whole in ((0, Fraction(1)), (1, distribution.cost / distribution.step)):
        left = [whole]
        for n in range(power + 4):
            distances = range(n * distribution.steps, (n + 1) * distribution.steps)
            mass = sum(found[r] * r**power * distribution.weight(r) for r in distances)
            left.append(left[-1] - mass / distribution.total)
        assert vanishes([rest / distribution.ratio**n for n, rest in enumerate(left)][1:])
        control = [
            (rest + Fraction(1, 10**9)) / distribution.ratio**n for n, rest in enumerate(left)
        ]
        assert not vanishes(control[1:])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("gamma", ["0", "0.3", "1"])
def test_the_cost_is_what_mpmath_adds_up(epsilon: float, gamma: str) -> None:
    b, part = mpmath.exp(-epsilon), mpmath.mpf(gamma)

    def moment(power: int) -> mpmath.mpf:
        def ring(n: mpmath.mpf) -> mpmath.mpf:
            high = mpmath.quad(lambda r: 4 * r**power, [n, n + part])
            low = mpmath.quad(lambda r: 4 * r**power, [n + part, n + 1])
            return b**n * (high + b * low)

        return mpmath.fsum(ring(n) for n in range(int(60 / epsilon)))

    noise = PlanarStaircase(3, gamma, Fraction(float(b)))
    assert float(noise.cost) == pytest.approx(float(3 * moment(2) / moment(1)), rel=1e-10)


def test_gamma_0_and_gamma_1_are_one_law() -> None:
    one, other = PlanarStaircase(2, 0, "1/3"), PlanarStaircase(2, 1, "1/3")
    assert one.cost == other.cost
    for x, y in product((Fraction(k, 3) for k in range(-9, 10)), repeat=2):
        assert one.density(x, y) == other.density(x, y)


@given(lattices(), st.fractions(min_value=Fraction(1, 100), max_value=Fraction(999, 1000)))
def test_the_smallest_distance_that_enough_stay_within(
    distribution: DiscretePlanarStaircase, level: Fraction
) -> None:
    mass, distance = distribution.weight(0) / distribution.total, 0
    while mass < level:
        distance += 1
        mass += 4 * distance * distribution.weight(distance) / distribution.total
    assert distribution.within(level) == distance


def test_nearly_certain_distances_are_found_too() -> None:
    distribution = DiscretePlanarStaircase(Fraction(1), HALF, 1, 1)
    rare = Fraction(1, 10**400)
    reach = distribution.within(1 - rare)
    # P(‖X‖ > r) = Σ 4n·2⁻ⁿ/9 over n > r = 4(r + 2)·2⁻ʳ/9
    assert Fraction(4 * (reach + 2), 9 << reach) <= rare < Fraction(8 * (reach + 1), 9 << reach)


# ------------------------------------------------------------------- privacy


@pytest.mark.parametrize(
    "distribution", SMALL, ids=lambda distribution: f"{distribution.edge} of {distribution.steps}"
)
def test_every_move_of_a_period_keeps_the_ratio_and_one_more_step_does_not(
    distribution: DiscretePlanarStaircase,
) -> None:
    """By brute force, exactly: over all moves, from every point of a few periods."""

    def worst(steps: int) -> Fraction:
        moves = diamond(steps)
        return max(
            distribution.probability(i, j) / distribution.probability(i + di, j + dj)
            for i, j in diamond(3 * distribution.steps)
            for di, dj in moves
        )

    assert worst(distribution.steps) == 1 / distribution.ratio  # no more, and no less
    assert worst(distribution.steps + 1) > 1 / distribution.ratio


@settings(max_examples=30)
@given(planes, st.tuples(*[st.fractions(min_value=-3, max_value=3, max_denominator=40)] * 4))
def test_moves_in_the_plane_keep_the_ratio(
    noise: PlanarStaircase, places: tuple[Fraction, Fraction, Fraction, Fraction]
) -> None:
    x, y, dx, dy = places
    size = max(abs(dx) + abs(dy), Fraction(1, 100))
    dx, dy = dx / size * noise.period, dy / size * noise.period
    assert noise.ratio <= noise.density(x, y) / noise.density(x + dx, y + dy) <= 1 / noise.ratio


def test_two_staircases_would_cost_less_and_do_not_keep_the_promise() -> None:
    """Why the noise of a pair is not a noise for each: half of Δ in both moves two densities."""
    mechanism = calibrate_pair(ln.Privacy(epsilon=4), sensitivity=1)
    line = ln.calibrate(ln.Privacy(epsilon=4), sensitivity=1).noise
    assert isinstance(line, Staircase)
    assert 2 * line.expected(ln.l1) < mechanism.cost
    near, far = line.gamma * Fraction(99, 100), line.gamma + Fraction(1, 100)
    assert far - near < HALF
    there, here = line._pdf(far) ** 2, line._pdf(near) ** 2
    assert here / there > exponential(Fraction(4)).upper
    assert mechanism.noise.density(near, near) / mechanism.noise.density(far, far) < 1 / line.ratio


# ------------------------------------------------------------------- what is least


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_pair_costs_less_than_two_laplace_noises(epsilon: str) -> None:
    """Two Laplace noises of scale Δ/ε keep ε at ‖x − x′‖ ≤ Δ and cost 2Δ/ε."""
    for moved in (Fraction(1), Fraction(3, 7)):
        mechanism = calibrate_pair(ln.Privacy(epsilon=epsilon), sensitivity=moved)
        assert mechanism.cost < 2 * moved / Fraction(epsilon)
        # Nor is it worth to spend half of ε on each answer: Δe^(ε/2)/(e^ε − 1) for one (Geng and
        # Viswanath 2016).
        quarter = exponential(Fraction(epsilon) / 4)
        assert mechanism.cost < 2 * moved * quarter.lower / (quarter.upper**2 - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gamma_is_the_best_of_a_fine_scan(epsilon: str) -> None:
    ratio = 1 / exponential(Fraction(epsilon)).lower
    best = PlanarStaircase(1, best_gamma(ratio), ratio)
    scan = [Fraction(k, 500) for k in range(501)]
    near = [best.gamma * (1 + Fraction(k, 10**5)) for k in (-100, -10, -1, 1, 10, 100)]
    costs = {g: PlanarStaircase(1, g, ratio).cost for g in scan + near if g <= 1}
    assert all(best.cost <= cost for cost in costs.values())
    # The control: the scan would notice the γ that is best on the line.
    line = Fraction(1 / (1 + math.exp(float(epsilon) / 2)))
    assert PlanarStaircase(1, line, ratio).cost > best.cost


@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "2", "8"])
def test_the_cost_rises_then_falls_then_rises_for_good(epsilon: str) -> None:
    """What the bisection rests on: the last rise begins once and never ends, and 0 is no part."""
    ratio = 1 / exponential(Fraction(epsilon)).lower
    scan = [Fraction(k, 200) for k in range(201)]
    flags = [_rises_for_good(ratio, gamma) for gamma in scan]
    assert flags == sorted(flags)
    assert (flags[0], flags[-1]) == (False, True)
    costs = [PlanarStaircase(1, gamma, ratio).cost for gamma in scan]
    start = flags.index(True)
    assert all(before < after for before, after in pairwise(costs[start:]))
    assert costs[start - 2] > costs[start - 1]
    assert costs[0] == costs[-1]
    beside = PlanarStaircase(1, ratio / 10**6, ratio).cost
    assert beside > costs[0]  # it rises beside 0 too, so that rising alone is not the sign


def test_the_ends_of_small_and_large_epsilon() -> None:
    """As ε → 0 like two Laplace noises; as ε → ∞ Θ(e^(−ε/3)) (Geng et al. 2015).

    For b = e^−ε → 0 the cost is (2/3)(γ³ + b)/(γ² + b) but for higher orders, least at γ³ = 2b,
    where it is (2b)^(1/3). For b → 1 expanding S₃/S₂ leaves γ = (1 + 1/√3)/2.
    """
    tiny = calibrate_pair(ln.Privacy(epsilon="1e-9"), sensitivity=1)
    assert float(tiny.noise.gamma) == pytest.approx((1 + 1 / math.sqrt(3)) / 2, rel=1e-6)
    assert 1 - Fraction(1, 10**16) < tiny.cost * Fraction("1e-9") / 2 < 1
    for epsilon in (24, 36):
        large = calibrate_pair(ln.Privacy(epsilon=epsilon), sensitivity=1)
        cost = (2 * math.exp(-epsilon)) ** (1 / 3)
        assert float(large.cost) == pytest.approx(cost, rel=math.exp(-epsilon / 3))
        assert float(large.noise.gamma) == pytest.approx(cost, rel=1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS[:-2])
@pytest.mark.parametrize("moved", [Fraction(1), Fraction(1, 10), Fraction(10**12 + 1, 3**25)])
def test_what_is_drawn_costs_a_hair_more(epsilon: str, moved: Fraction) -> None:
    mechanism = calibrate_pair(ln.Privacy(epsilon=epsilon), sensitivity=moved)
    assert 1 < mechanism.discretized.cost / mechanism.cost < 1 + Fraction(5, 1 << 20)


# ------------------------------------------------------------------- draws


def test_every_point_of_a_diamond_has_one_index() -> None:
    for radius in range(13):
        points = [point(radius, index) for index in range(2 * radius * (radius + 1) + 1)]
        assert sorted(points) == sorted(diamond(radius))


@given(lattices())
def test_the_mixture_chooses_each_diamond_as_often_as_it_weighs(
    distribution: DiscretePlanarStaircase,
) -> None:
    """j + j+1 geometric numbers are m with probability C(m, j)·b^(m−j)·(1−b)^(j+1)."""
    parts, b = mixture(distribution), distribution.ratio
    for m in range(6):
        drawn = sum(
            Fraction(part, sum(parts)) * math.comb(m, j) * b ** (m - j) * (1 - b) ** (j + 1)
            for j, part in enumerate(parts)
            if j <= m
        )
        points = len(diamond(m * distribution.steps + distribution.edge - 1))
        assert drawn == (1 - b) * b**m * points / distribution.total


class Choices:
    """A tape of choices: tries every one of them, and knows each path's probability."""

    def __init__(self, largest: int, ratio: Fraction) -> None:
        self.largest, self.ratio = largest, ratio
        self.path: list[int] = []
        self.chances: list[list[Fraction]] = []
        self.place = 0

    def take(self, chances: list[Fraction]) -> int:
        if self.place == len(self.path):
            self.path.append(0)
            self.chances.append(chances)
        self.place += 1
        return self.path[self.place - 1]

    def ticket(self, total: int) -> int:
        return self.take([Fraction(1, total)] * total)

    def draw(self, tape: object) -> int:
        """A geometric number; the largest stands for all from there on."""
        chances = [(1 - self.ratio) * self.ratio**n for n in range(self.largest)]
        return self.take([*chances, self.ratio**self.largest])

    def every(self, work: Callable[[], tuple[int, int]]) -> Counter[tuple[int, int]]:
        """Return the probability of each result."""
        found: Counter[tuple[int, int]] = Counter()
        while True:
            self.place = 0
            result = work()
            chance = math.prod(
                (c[i] for c, i in zip(self.chances, self.path, strict=True)), start=Fraction(1)
            )
            found[result] += chance  # type: ignore[assignment]
            while self.path and self.path[-1] == len(self.chances[-1]) - 1:
                self.path.pop()
                self.chances.pop()
            if not self.path:
                return found
            self.path[-1] += 1


def test_every_choice_enumerated_gives_the_claimed_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the sampler itself, with diamonds cut at the third: exactly the claimed rationals.

    Numbers that are cut make the diamond the third or a later one, which is never mistaken for an
    earlier: points of the first diamonds keep their probability from those.
    """
    distribution = DiscretePlanarStaircase(Fraction(1), HALF, steps=1, edge=1)
    largest = 2
    tape = Choices(largest, distribution.ratio)
    radii: list[int] = []

    def noted(radius: int, index: int) -> tuple[int, int]:
        radii.append(radius)
        return point(radius, index)

    monkeypatch.setattr(planar, "uniform_below", lambda total, choices: choices.ticket(total))
    monkeypatch.setattr(planar, "geometric", lambda ratio: tape)
    monkeypatch.setattr(planar, "point", noted)

    def work() -> tuple[int, int]:
        i, j = sample_pair(distribution, tape)  # type: ignore[arg-type]
        return (i, j) if radii.pop() < largest else (99, 99)

    found = tape.every(work)
    beyond = found.pop((99, 99))
    assert beyond + sum(found.values()) == 1
    claimed = {
        (i, j): sum(
            (1 - distribution.ratio) * distribution.ratio**m / distribution.total
            for m in range(largest)
            if m >= abs(i) + abs(j)
        )
        for i, j in diamond(largest - 1)
    }
    assert found == claimed


@pytest.mark.parametrize("trials", [50_000, pytest.param(300_000, marks=pytest.mark.long)])
def test_draws_follow_the_law(trials: int) -> None:
    """Each near point's count in its Clopper–Pearson interval; false alarms at most 1e-9."""
    distribution = DiscretePlanarStaircase(Fraction(1), Fraction(2, 5), steps=2, edge=1)
    line = DiscreteStaircase(Fraction(1), distribution.ratio, (Run(0, 1, 5), Run(1, 1, 2)))
    near, tape = diamond(4), CipherTape()

    def misfits(found: Counter[tuple[int, int]]) -> int:
        bounds = {p: clopper_pearson(found[p], trials, FALSE_ALARM / len(near)) for p in near}
        return sum(
            not low <= distribution.probability(*p) <= high for p, (low, high) in bounds.items()
        )

    assert misfits(Counter(sample_pair(distribution, tape) for _ in range(trials))) == 0
    # The controls: a staircase for each answer; and a distance by its weight without its points.
    apart = Counter((line.scheme.draw(tape), line.scheme.draw(tape)) for _ in range(trials))
    assert misfits(apart) > 0
    sizes = np.abs([line.scheme.draw(tape) for _ in range(trials)])
    ways = np.random.default_rng(3).integers(0, 4, trials)
    turned = np.stack(
        [sizes * np.array([1, 0, -1, 0])[ways], sizes * np.array([0, 1, 0, -1])[ways]]
    )
    assert misfits(Counter(zip(*turned.tolist(), strict=True))) > 0


@pytest.mark.parametrize("epsilon", ["1e-6", "1", "12"])
def test_releases_stay_within_as_often_as_they_say(epsilon: str) -> None:
    """False alarms at most 1e-9 a case; the sum of both errors and where they point."""
    mechanism = calibrate_pair(ln.Privacy(epsilon=epsilon), sensitivity="0.1")
    distribution, trials, tape = mechanism.discretized, 5_000, CipherTape()
    drawn = [sample_pair(distribution, tape) for _ in range(trials)]
    for level in (HALF, Fraction(9, 10)):
        reach = distribution.within(level)
        low, high = clopper_pearson(
            sum(abs(i) + abs(j) <= reach for i, j in drawn), trials, FALSE_ALARM / 8
        )
        assert low <= level <= high  # the distribution is so fine that P(‖X‖ ≤ reach) is the level
    for count in (
        sum(i > j for i, j in drawn),
        sum(i + j > 0 for i, j in drawn),
        sum(abs(i) > abs(j) for i, j in drawn),
    ):
        low, high = clopper_pearson(count, trials, FALSE_ALARM / 8)
        assert low <= 0.5 <= high


# ------------------------------------------------------------------- rounding to the lattice

steps_of = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 10)])
quotients = st.fractions(min_value=-5, max_value=5, max_denominator=64)


def moved_by(grid: Grid, one: list[Fraction], other: list[Fraction]) -> int:
    """Return how many steps apart two pairs of answers are once they are rounded one by one."""
    return sum(
        abs(grid.index(*p.as_integer_ratio()) - grid.index(*q.as_integer_ratio()))
        for p, q in zip(one, other, strict=True)
    )


@settings(max_examples=100)
@given(
    steps_of,
    st.lists(quotients, min_size=2, max_size=2),
    st.lists(quotients, min_size=2, max_size=2),
    st.lists(st.fractions(-HALF, HALF, max_denominator=64), min_size=4, max_size=4),
)
def test_rounding_two_answers_moves_them_by_a_step_more_than_one(
    step: Fraction, one: list[Fraction], other: list[Fraction], off: list[Fraction]
) -> None:
    """k + 1 steps for exact answers; k + 3 where each is kept up to half a step off."""
    one, other, off = ([step * x for x in xs] for xs in (one, other, off))
    apart = sum(abs(p - q) for p, q in zip(one, other, strict=True))
    grid = Grid(step)
    assert moved_by(grid, one, other) <= math.ceil(apart / step) + 1
    kept = [[p + e for p, e in zip(one, off, strict=False)]]
    kept += [[q + e for q, e in zip(other, off[2:], strict=True)]]
    if apart:
        assert moved_by(grid, *kept) <= effective_steps(apart, step, answers=2)


def test_one_step_less_would_not_do() -> None:
    """The controls, with g = 1: Δ = 1 moves two points by 2 steps, and kept half a step off by 4.

    So k + 1 and k + 3 are what they must be, and k or k + 2 would break the guarantee.
    """
    grid = Grid(Fraction(1))
    assert moved_by(grid, [Fraction(1, 4)] * 2, [Fraction(3, 4)] * 2) == 2
    one, other = Fraction(-1, 8), Fraction(3, 8)  # 1/2 apart in each coordinate
    assert moved_by(grid, [one - HALF] * 2, [other + HALF] * 2) == 4
    assert effective_steps(Fraction(1), Fraction(1), answers=2) == 4


def test_real_floats_need_more_than_exact_answers_do() -> None:
    """Numbers Δ apart together, kept as floats with an ulp below g: up to k + 3 steps, no more."""
    delta = Fraction(1, 10)
    step, _ = choose_lattice(delta)
    steps, grid, rng = -(-delta // step), Grid(step), np.random.default_rng(11)
    worst = 0
    for start, part in zip(
        rng.integers(1 << 58, 1 << 59, (4000, 2)).tolist(), rng.random(4000).tolist(), strict=True
    ):
        one = [Fraction(x, 1 << 30) for x in start]
        other = [one[0] + delta * Fraction(part), one[1] + delta * (1 - Fraction(part))]
        kept = [[Fraction(float(x)) for x in xs] for xs in (one, other)]
        worst = max(worst, moved_by(grid, *kept))
    assert math.ulp(float(1 << 29) - 1) < step
    assert steps + 1 < worst <= effective_steps(delta, step, answers=2)


# ------------------------------------------------------------------- two answers released


def test_an_answer_says_what_it_is_and_holds_no_truth() -> None:
    mechanism = calibrate_pair(ln.Privacy(epsilon=1), sensitivity=1)
    answer = mechanism.release((12345, Fraction(-6789, 7)))
    assert [field.name for field in dataclasses.fields(answer)] == [
        "indices",
        "mechanism",
        "receipt",
    ]
    assert all((value / mechanism.discretized.step).denominator == 1 for value in answer.value)
    assert answer.max_error == mechanism.discretized.radius == mechanism.noise.radius == math.inf
    assert answer.privacy == ln.Privacy(epsilon=1)
    text = str(answer)
    assert text.startswith("release: (")
    assert text.endswith(" max error)\nε = 1, δ = 0; not recorded")
    assert "not recorded" in answer._repr_html_()
    assert "guesses correctly at most" in answer.explain()
    assert repr(answer).startswith("PairAnswer((")
    assert "Geng, Kairouz, Oh and Viswanath 2015" in mechanism.source


def test_intervals_hold_both_values_at_once() -> None:
    """For every draw within the distance, rounding included: by its worst points."""
    mechanism = calibrate_pair(ln.Privacy(epsilon=2), sensitivity="0.3")
    step = mechanism.discretized.step
    reach = mechanism.discretized.within(Fraction(9, 10))
    for i, j in ((reach, 0), (0, -reach), (reach // 2, reach - reach // 2)):
        answer = PairAnswer((i, j), mechanism)
        for off in product((-step / 2, step / 2), repeat=2):  # where the true values can have been
            errors = [abs(v - t) for v, t in zip(answer.value, off, strict=True)]
            assert sum(errors) <= answer.within(0.9)
            for true, (low, high) in zip(off, answer.interval(0.9), strict=True):
                assert low <= true <= high
    worst = PairAnswer((reach, 0), mechanism)
    assert step / 2 + step / 2 + worst.value[0] == worst.within(0.9)  # no smaller size would do


@pytest.mark.parametrize("epsilon", ["0.7", "3", "11"])
def test_the_honest_line_holds_at_the_worst_draw(epsilon: str) -> None:
    """The printed values ± the printed error hold the true ones whenever the drawn ones do."""
    mechanism = calibrate_pair(ln.Privacy(epsilon=epsilon), sensitivity=1)
    step, reach = mechanism.discretized.step, mechanism.discretized.within(Fraction(19, 20))
    for i in range(0, reach + 1, max(1, reach // 15)):
        text = " ".join(str(PairAnswer((i, reach - i), mechanism)).split())
        pair = text[text.index("(") + 1 : text.index(")")]
        printed = [Fraction(number) for number in pair.split(", ")]
        said = Fraction(text.split("at most ")[1].split(maxsplit=1)[0])
        assert sum(value + step / 2 for value in printed) <= said


def test_a_mechanism_cannot_be_bent_into_another_promise() -> None:
    found = calibrate_pair(ln.Privacy(epsilon=1), sensitivity=1)
    for change in (
        {"privacy": ln.Privacy(epsilon="0.99")},
        {"privacy": ln.Privacy(epsilon=0, delta="0.1")},
        {"sensitivity": Fraction(101, 100)},
        {"discretized": dataclasses.replace(found.discretized, steps=found.discretized.steps - 1)},
        {
            "discretized": dataclasses.replace(
                found.discretized, ratio=found.discretized.ratio * Fraction(999, 1000)
            )
        },
        {"noise": PlanarStaircase("0.99", found.noise.gamma, found.noise.ratio)},
    ):
        with pytest.raises(
            NotPrivate, match=r"does not satisfy ε = .* for a shift of .* Use calib"
        ):
            dataclasses.replace(found, **change)
    given_one = PlanarStaircase(1, HALF, found.noise.ratio)
    held = PairMechanism(
        found.privacy, Fraction(1), given_one, discretize_planar(given_one, Fraction(1))
    )
    assert held.source == "given, not found"  # private all the same, but not claimed to be least
    assert held.cost > found.cost


# ------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("privacy", "error", "match"),
    [
        (ln.Privacy(1, "1e-6"), Unsupported, r"delta must be 0 for a pair, .*, got 1e-6\."),
        (ln.Privacy(delta="0.1"), Unsupported, r"delta must be 0 for a pair, .*, got 0\.1\."),
        (ln.Privacy(0, 0), InvalidParameter, r"epsilon must be positive for a pair, got 0\."),
        (ln.Privacy("1e-40"), Unsupported, r"at least 2⁻¹⁰⁰ for a pair, got 1e-40\."),
        (ln.Privacy(50), Unsupported, r"epsilon must be below about 42 for a pair"),
        (1, InvalidParameter, r"privacy must be a Privacy, got 1"),
    ],
    ids=repr,
)
def test_promises_that_are_refused(privacy: ln.Privacy, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        calibrate_pair(privacy, sensitivity=1)


@pytest.mark.parametrize("moved", [0, -1, "x", math.nan, None, True])
def test_sensitivities_that_are_refused(moved: float) -> None:
    with pytest.raises(InvalidParameter, match="sensitivity must be"):
        calibrate_pair(ln.Privacy(epsilon=1), sensitivity=moved)


@pytest.mark.parametrize(
    "values",
    [
        7654321,
        "76",
        (7654321,),
        (7654321, 1, 2),
        {7654321, 1},
        (7654321, math.nan),
        (7654321, "7654321"),
        (7654321, None),
        (True, 7654321),
        np.array([7654321.0, 1.0]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_what_is_no_pair_is_refused_and_not_quoted(values: object) -> None:
    mechanism = calibrate_pair(ln.Privacy(epsilon=1), sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"must be (?:a|finite)") as caught:
        mechanism.release(values)  # type: ignore[arg-type]
    assert "76" not in str(caught.value)


@pytest.mark.parametrize("level", [0, 1, -1, 2, "x"])
def test_confidences_that_are_refused(level: float) -> None:
    answer = calibrate_pair(ln.Privacy(epsilon=1), sensitivity=1).release((0, 0))
    with pytest.raises(InvalidParameter, match="confidence must be"):
        answer.interval(level)


def test_laws_that_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="gamma must be between 0 and 1, got 2"):
        PlanarStaircase(1, 2, HALF)
    with pytest.raises(
        InvalidParameter, match="ratio must be between 0 and 1, both excluded, got 1"
    ):
        PlanarStaircase(1, HALF, 1)
    with pytest.raises(InvalidParameter, match="period must be greater than 0, got 0"):
        PlanarStaircase(0, HALF, HALF)
    with pytest.raises(InvalidParameter, match="edge must be at most steps, got edge 3 of 2 steps"):
        DiscretePlanarStaircase(Fraction(1), HALF, 2, 3)
    with pytest.raises(InvalidParameter, match="edge must be an integer of at least 1, got 0"):
        DiscretePlanarStaircase(Fraction(1), HALF, 2, 0)
    with pytest.raises(InvalidParameter, match="ratio between 0 and 1, got step 1 and ratio 1"):
        DiscretePlanarStaircase(Fraction(1), Fraction(1), 2, 1)
    with pytest.raises(
        InvalidParameter, match="confidence must be below 1 for unbounded noise, got 1"
    ):
        DiscretePlanarStaircase(Fraction(1), HALF, 2, 1).within(Fraction(1))
