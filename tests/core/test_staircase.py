"""Staircases: distributions without a largest size, on the line, on the lattice, drawn and
released."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.core.arrays import draw as bulk
from leastnoise.core.arrays.lookup import DigitLookup, WordReader
from leastnoise.core.exact import Number, exponential
from leastnoise.core.exact.series import fixed_power, power_sums, smallest_exponent
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.lattice import CELLS, Grid
from leastnoise.core.noise import power_series_bound
from leastnoise.core.sampling.entropy import CipherTape
from leastnoise.core.sampling.staircase import (
    BASE,
    Digit,
    DigitTable,
    Geometric,
    geometric,
    mirror_period,
)
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.noise import DiscreteStaircase, DiscreteSteps, Run, Staircase
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.tapes import Replay, released

END = 1 << 64
HALF = Fraction(1, 2)
ratios = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60)
shares = st.fractions(min_value=0, max_value=1, max_denominator=60)
levels = st.fractions(min_value=Fraction(1, 10**6), max_value=1, max_denominator=10**6).filter(
    lambda level: level < 1
)
lengths = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9)
lines = st.builds(Staircase, lengths, shares, ratios)


def private(epsilon: str = "1", gamma: Number | None = None, period: Number = 1) -> Staircase:
    """The staircase that just keeps ε at sensitivity ``period``; γ as best for ℓ1."""
    best = Fraction(1 / (1 + math.exp(float(epsilon) / 2))) if gamma is None else gamma
    return Staircase(period, best, 1 / exponential(Fraction(epsilon)).lower)


@st.composite
def lattices(draw: st.DrawFn) -> DiscreteStaircase:
    """Periods of a few points with falling weights, the last no lighter than b times the first."""
    ratio, step = draw(ratios), draw(lengths)
    top = draw(st.integers(60, 200))
    weights = draw(
        st.lists(st.integers(math.ceil(ratio * top), top), max_size=3).map(
            lambda rest: sorted(rest, reverse=True)
        )
    )
    runs, first = [], 0
    for weight in (top, *weights):
        points = draw(st.integers(1, 4))
        runs.append(Run(first, points, weight))
        first += points
    return DiscreteStaircase(step, ratio, tuple(runs))


# ------------------------------------------------------------------- sums of powers


@settings(max_examples=20)
@given(ratios, shares)
def test_sums_of_powers_are_their_terms_added_up(ratio: Fraction, shift: Fraction) -> None:
    sums = power_sums(ratio, shift, 4)
    for degree in range(5):
        terms = math.fsum(float(ratio) ** n * float(n + shift) ** degree for n in range(3000))
        assert float(sums[degree]) == pytest.approx(terms, rel=1e-12)
    rest = power_series_bound(ratio, 40 + shift, Fraction(5, 2))
    if rest is not None:
        terms = math.fsum(float(ratio) ** n * (1 + n / (40 + shift)) ** 2.5 for n in range(3000))
        assert float(rest) >= terms * (1 - 1e-12)


@given(ratios, st.integers(0, 300), st.integers(8, 300))
def test_powers_are_enclosed(ratio: Fraction, exponent: int, bits: int) -> None:
    low, high = fixed_power(ratio, exponent, bits)
    assert low <= ratio**exponent * (1 << bits) <= high
    assert high - low <= 4 * (exponent + 1) ** 2


@given(ratios, st.fractions(min_value=Fraction(1, 10**30), max_value=2), st.integers(0, 90))
def test_where_a_power_falls_to_a_level(ratio: Fraction, level: Fraction, exponent: int) -> None:
    for to in (level, ratio**exponent):  # the second is reached exactly
        first, below = smallest_exponent(ratio, to), smallest_exponent(ratio, to, below=True)
        assert ratio**first <= to
        assert first == 0 or ratio ** (first - 1) > to
        assert ratio**below < to
        assert below == 0 or ratio ** (below - 1) >= to


@pytest.mark.parametrize("ratio", [Fraction(1, 10**40), Fraction(1, 3**900), 1 - Fraction(1, 999)])
def test_where_a_power_of_an_extreme_ratio_falls_to_a_level(ratio: Fraction) -> None:
    for exponent in (0, 1, 2, 3, 20):
        level = ratio**exponent
        assert smallest_exponent(ratio, level) == exponent
        assert smallest_exponent(ratio, level, below=True) == exponent + 1
        assert smallest_exponent(ratio, level * Fraction(1001, 1000)) <= exponent


# ------------------------------------------------------------------- the distribution on the line


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("period", ["1", "3/7"])
def test_the_closed_forms_of_geng_and_viswanath(epsilon: float, period: str) -> None:
    b, moved = math.exp(-epsilon), float(Fraction(period))
    first = Staircase(period, Fraction(1 / (1 + math.exp(epsilon / 2))), Fraction(b))
    expected = moved * math.exp(epsilon / 2) / math.expm1(epsilon)
    assert float(first.expected(ln.l1)) == pytest.approx(expected, rel=1e-12)
    root = (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3) / 2 ** (1 / 3)
    second = Staircase(period, Fraction(root / (1 - b) ** 2 - b / (1 - b)), Fraction(b))
    expected = 2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b
    expected *= moved**2 / (1 - b) ** 2
    assert float(second.expected(ln.l2)) == pytest.approx(expected, rel=1e-12)
    for distribution, cost in ((first, ln.l1), (second, ln.l2)):  # and those γ are the best
        for shift in (Fraction(-1, 100), Fraction(1, 100)):
            other = Staircase(period, distribution.gamma + shift, distribution.ratio)
            assert other.expected(cost) > distribution.expected(cost)


@settings(max_examples=25)
@given(lines)
def test_the_line_is_what_quadrature_makes_of_its_density(noise: Staircase) -> None:
    period, gamma = float(noise.period), float(noise.gamma)
    edges = sorted({*(n * period for n in range(12)), *((n + gamma) * period for n in range(11))})

    def integrated(function: ln.Cost | None) -> float:
        total = 0.0
        for a, b in pairwise(edges):
            height = noise.pdf((a + b) / 2)
            total += height * (quad(function, a, b, epsabs=0)[0] if function else b - a)
        return total

    inside = float(noise.probability_up_to(Fraction(edges[-1])) - HALF)
    assert integrated(None) == pytest.approx(inside, rel=1e-9)
    # The first moments up to an edge, and beyond it those of the same distribution moved: X − edge
    # there.
    for cost in (ln.l1, ln.lp("3/2")):
        near = 2 * integrated(cost)
        assert near <= float(noise.expected(cost)) * (1 + 1e-9)
    far = noise.ratio**11
    first, second = noise.expected(ln.l1), noise.expected(ln.l2)
    reach = 11 * noise.period
    assert 2 * integrated(ln.l1) == pytest.approx(
        float(first - far * (first + reach)), rel=1e-7, abs=1e-12
    )
    assert 2 * integrated(ln.l2) == pytest.approx(
        float(second - far * (second + 2 * reach * first + reach**2)), rel=1e-7, abs=1e-12
    )


@given(lines, levels)
def test_quantile_and_mass_are_inverse(noise: Staircase, level: Fraction) -> None:
    place = noise.quantile(level)
    assert noise.probability_up_to(place) == level
    assert noise.quantile(1 - level) == -place
    assert noise.probability_up_to(place) + noise.probability_up_to(-place) == 1
    assert noise.probability_up_to(Fraction(0)) == HALF


@given(lines)
def test_variance_and_costs_agree(noise: Staircase) -> None:
    assert noise.variance() == noise.expected(ln.l2)
    assert noise.var() == pytest.approx(float(noise.variance()))
    limit = 3 * noise.period / 2
    beyond = noise.enclose(ln.threshold(limit))
    assert beyond.lower <= 2 * (1 - noise.probability_up_to(limit)) <= beyond.upper
    assert beyond.upper - beyond.lower <= beyond.upper / 2**70
    # A cost through points that follows |x| up to the limit and stays there: min(|X|, limit).
    capped = noise.enclose(ln.piecewise_linear([(0, 0), (limit, limit)]))
    excess = noise.expected(ln.l1) - capped.upper
    assert 0 < excess < noise.expected(ln.l1)
    # A power that is nearly 2, added up, lies between its neighbours' closed forms at Δ ≥ 1.
    wide = Staircase(1, noise.gamma, noise.ratio)
    near = wide.enclose(ln.lp(Fraction(2) + Fraction(1, 10**9)))
    assert near.lower <= near.upper
    assert near.upper - near.lower <= near.upper / 2**60
    assert float(near.upper) == pytest.approx(float(wide.variance()), rel=1e-6)


def test_gamma_0_and_gamma_1_are_one_law() -> None:
    one, other = Staircase(2, 0, "1/3"), Staircase(2, 1, "1/3")
    for place in (Fraction(k, 3) for k in range(-20, 21)):
        assert one.probability_up_to(place) == other.probability_up_to(place)
    assert one.variance() == other.variance()


def test_it_speaks_scipy_and_has_no_end() -> None:
    noise = Staircase(1, "0.3", "0.5")
    distribution = DiscreteStaircase(Fraction(1, 4), HALF, (Run(0, 2, 2), Run(2, 2, 1)))
    for each in (noise, distribution):
        assert each.radius == math.inf
        assert each.support() == (-math.inf, math.inf)
        assert each.interval(1) == (-math.inf, math.inf)
        assert (each.ppf(0), each.ppf(1)) == (-math.inf, math.inf)
        assert each.mean() == 0.0
        assert (each.cdf(math.inf), each.cdf(-math.inf)) == (1.0, 0.0)
        places, probabilities = np.array([-2.5, 0.0, 0.25, 7.0]), np.array([0.0, 0.1, 0.5, 1.0])
        for call, inputs in ((each.cdf, places), (each.sf, places), (each.ppf, probabilities)):
            assert call(inputs) == pytest.approx([call(x) for x in inputs.tolist()], rel=1e-12)
        assert "<td>none</td>" in each._repr_html_()
        assert "inf" not in repr(each)
    assert noise.pdf(np.array([0.0, 0.4, math.inf])).tolist() == [noise.pdf(0.0), noise.pdf(0.4), 0]
    assert noise.pdf(0.4) == noise.pdf(0.0) / 2 == noise.pdf(1.2)
    assert noise.atoms == {}
    assert repr(noise) == "Staircase(period=1, gamma=0.3, ratio=0.5)"
    assert repr(distribution) == "DiscreteStaircase(step=0.25, period=1, ratio=0.5)"
    assert distribution.pmf(0.25) == float(distribution.weight(1) / distribution.total)


# ------------------------------------------------------------------ the distribution on the lattice


@given(lattices())
def test_a_lattice_law_is_its_weights(noise: DiscreteStaircase) -> None:
    far = 12 * noise.steps
    inside = sum(noise.weight(j) for j in range(-far + 1, far))
    rest = noise.ratio**12 * (noise.total + noise.runs[0].weight)
    assert inside + rest == noise.total
    cumulative = noise.probability_up_to(-far * noise.step)
    for j in range(-far + 1, far):
        cumulative += noise.weight(j) / noise.total
        assert noise.probability_up_to(j * noise.step) == cumulative
    assert noise.weight(3 + noise.steps) == noise.ratio * noise.weight(3)
    for points in range(9):
        middle = sum(noise.weight(j) for j in range(-(points // 2), (points + 1) // 2))
        assert noise.central_mass(points) == middle / noise.total


@given(lattices(), levels)
def test_lattice_quantiles_are_the_smallest_points(
    noise: DiscreteStaircase, level: Fraction
) -> None:
    def covered(reach: int) -> Fraction:
        return noise.probability_up_to(reach * noise.step) - noise.probability_up_to(
            (-reach - 1) * noise.step
        )

    at = noise.probability_up_to(noise.step * 3)  # a level that is reached exactly
    for aim in (level, at, 1 - at):
        x = noise.quantile(aim)
        assert noise.probability_up_to(x) >= aim > noise.probability_up_to(x - noise.step)
        reach = noise.half_width_in_steps(aim)
        assert covered(reach) >= aim
        assert reach == 0 or covered(reach - 1) < aim


@settings(max_examples=15)
@given(lattices().filter(lambda noise: noise.ratio < HALF))
def test_lattice_costs_are_their_terms_added_up(noise: DiscreteStaircase) -> None:
    limit = 2 * noise.period + noise.step / 3
    edge, step = float(limit), float(noise.step)
    costs: dict[ln.Cost, Callable[[float], float]] = {
        ln.lp(p): partial(lambda p, x: x**p, float(Fraction(p))) for p in ("1", "2", "3", "1/2")
    }
    costs[ln.threshold(limit)] = lambda x: float(x > edge)
    costs[ln.piecewise_linear([(0, 1), (limit, 3)])] = lambda x: 1 + 2 * min(x / edge, 1)
    share = float(1 / noise.total)
    weights = [share * float(noise.weight(j)) for j in range(50 * noise.steps)]
    for cost, function in costs.items():
        terms = (weight * function(j * step) for j, weight in enumerate(weights) if j)
        found = noise.enclose(cost)
        direct = weights[0] * function(0.0) + 2 * math.fsum(terms)
        assert float(found.upper) == pytest.approx(direct, rel=1e-9)
        assert found.lower <= found.upper <= found.lower * (1 + Fraction(1, 2**40))
    assert noise.variance() == noise.expected(ln.l2)


@pytest.mark.parametrize(("steps", "edge"), [(7, 1), (7, 3), (7, 7), (1, 1), (16, 9)])
@pytest.mark.parametrize("ratio", ["1/3", "9/10"])
def test_the_lattice_law_is_the_line_rounded(steps: int, edge: int, ratio: str) -> None:
    """Cell by cell, where the density falls at the end of a cell."""
    b, step = Fraction(ratio), Fraction(2, 5)
    runs = [Run(0, edge, b.denominator), Run(edge, steps - edge, b.numerator)]
    distribution = DiscreteStaircase(step, b, tuple(run for run in runs if run.points))
    line = Staircase(steps * step, (edge - HALF) / steps, b)
    for j in range(-5 * steps, 5 * steps + 1):
        cell = line.probability_up_to((j + HALF) * step) - line.probability_up_to((j - HALF) * step)
        assert distribution.weight(j) / distribution.total == cell


@pytest.mark.parametrize("gamma", ["0", "1e-9", "0.25", "0.37754066879814546", "0.9999999", "1"])
@pytest.mark.parametrize("moved", ["1", "0.7", "1e-300", "355/113"])
def test_what_is_drawn_is_nearly_the_line_and_keeps_the_promise(gamma: str, moved: str) -> None:
    noise = private("1", gamma, moved)
    distribution = noise.discretize(Fraction(moved))
    protected = (-(-Fraction(moved) // distribution.step) + 1) * distribution.step
    assert distribution.period >= protected
    check_privacy(distribution, ln.Privacy(1), sensitivity=protected)
    assert distribution.period / noise.period - 1 < Fraction(3, CELLS)
    edge = distribution.runs[0].points
    assert abs(Fraction(edge, distribution.steps) - (noise.gamma or 1)) < Fraction(3, CELLS)
    assert 1 <= distribution.expected(ln.l2) / noise.variance() < 1 + Fraction(1, 10**4)
    # A fall within half a step of 0 leaves 0 alone above its neighbours.
    assert bool(distribution.isolated_weight) == (gamma == "1e-9")


# ------------------------------------------------------------------- privacy


@given(lattices(), st.integers(1, 3))
def test_the_factor_over_a_move_is_the_largest_there_is(
    noise: DiscreteStaircase, periods: int
) -> None:
    moved, far = periods * noise.steps, 6 * noise.steps
    most = max(
        noise.weight(j) / noise.weight(j + d)
        for j in range(-far, far)
        for d in (-moved, -moved + 1, -1, 1, moved - 1, moved)
    )
    assert most == noise.ratio**-periods


@pytest.mark.parametrize("epsilon", ["0.01", "1", "30"])
def test_a_ratio_a_hair_smaller_is_not_private(epsilon: str) -> None:
    promise, noise = ln.Privacy(epsilon), private(epsilon)
    steeper = Staircase(1, noise.gamma, noise.ratio * (1 - Fraction(1, 1 << 110)))
    for good, bad in ((noise, steeper), (on_grid(noise), on_grid(steeper))):
        for moved in ("1", "1/2", "1/1000"):
            check_privacy(good, promise, sensitivity=Fraction(moved))
            with pytest.raises(
                NotPrivate, match=rf"a shift over 1 of its periods needs ε = {epsilon}"
            ):
                check_privacy(bad, promise, sensitivity=Fraction(moved))
        with pytest.raises(
            NotPrivate, match=r"sensitivity 2\.5: a shift over 3 of its periods needs ε = "
        ):
            check_privacy(good, promise, sensitivity=Fraction(5, 2))
        check_privacy(good, ln.Privacy(3 * Fraction(epsilon)), sensitivity=Fraction(5, 2))


def on_grid(noise: Staircase) -> DiscreteStaircase:
    return noise.discretize(noise.period)


@given(lines, lengths)
def test_at_epsilon_0_it_is_theorem_1(noise: Staircase, moved: Fraction) -> None:
    """δ is the mass within half a move; checked against the sum over the period of a lattice."""
    distance = noise.total_variation(moved)
    assert distance == noise.probability_up_to(moved / 2) - noise.probability_up_to(-moved / 2)
    check_privacy(noise, ln.Privacy(delta=distance), sensitivity=moved)
    with pytest.raises(NotPrivate, match=r"a shift of \S+ needs δ = \S+\. Use wider"):
        check_privacy(noise, ln.Privacy(delta=distance * Fraction(999, 1000)), sensitivity=moved)


@settings(max_examples=25)
@given(lattices().filter(lambda noise: noise.ratio < HALF), st.integers(0, 6))
def test_at_epsilon_0_on_the_lattice_too(noise: DiscreteStaircase, moved: int) -> None:
    far = 60 * noise.steps
    direct = sum(
        max(0.0, float(noise.weight(j) - noise.weight(j - moved))) for j in range(-far, far)
    )
    distance = noise.total_variation(moved * noise.step)
    assert float(distance) == pytest.approx(direct / float(noise.total), rel=1e-6, abs=1e-9)


def test_a_profile_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidParameter, match=r"at most 128 periods of the staircase, got 12"):
        Profile(Staircase(1, 0, "1/2"), sensitivity=129).delta(1)


# ------------------------------------------------------------------- geometric numbers


DIGITS = [
    Digit(Fraction(1, 2), 1, last=True),
    Digit(Fraction(2, 3), 1, last=True),
    Digit(Fraction(1, 10**6), 1, last=True),
    Digit(Fraction(999, 1000), 1, last=True),
    Digit(Fraction(999, 1000), 1, last=False),
    Digit(1 - Fraction(1, 10**7), 1, last=False),
    Digit(1 - Fraction(1, 10**6), BASE, last=True),
]


def below(digit: Digit, k: int) -> Fraction:
    """P(digit < k), by its definition."""
    whole = Fraction(1) if digit.last else 1 - digit.ratio ** (BASE * digit.exponent)
    return (1 - digit.ratio ** (k * digit.exponent)) / whole


@pytest.mark.parametrize("digit", DIGITS[:3], ids=repr)
@pytest.mark.parametrize("bits", [1, 4, 7, 10])
def test_every_word_of_a_digit_is_decided_iff_it_can_be(digit: Digit, bits: int) -> None:
    edges = [below(digit, k) for k in range(1, 60)]
    for word in range(1 << bits):
        low, high = Fraction(word, 1 << bits), Fraction(word + 1, 1 << bits)
        first = next(k for k, edge in enumerate(edges) if edge > low)
        last = next((k for k, edge in enumerate(edges) if edge >= high), None)
        assert digit.index_if_certain(word, bits) == (first if first == last else None)


@pytest.mark.parametrize("digit", DIGITS[3:5], ids=repr)
def test_long_digits_are_decided_rightly(digit: Digit) -> None:
    found = []
    for word in range(0, 1 << 24, 311_111):
        value = digit.index_if_certain(word, 24)
        if value is not None:
            found.append(value)
            assert below(digit, value) <= Fraction(word, 1 << 24)
            assert below(digit, value + 1) >= Fraction(word + 1, 1 << 24)
    assert len(found) > 50
    assert found == sorted(found)


@pytest.mark.parametrize("digit", DIGITS, ids=repr)
def test_the_thresholds_are_where_the_digits_begin(digit: Digit) -> None:
    found = digit.thresholds()
    assert found[0] == 0
    assert found == sorted(found)
    assert len(found) == BASE or found[-1] >= END - 2 - 4 * (END - found[-2])
    for k in {1, 2, 3, len(found) // 2, len(found) - 1}:
        low, high = fixed_power(digit.ratio, k * digit.exponent, 400)
        whole = (0, 0) if digit.last else fixed_power(digit.ratio, BASE * digit.exponent, 400)
        one = 1 << 400
        assert found[k] * (one - whole[0]) <= (one - low) * END
        assert (found[k] + 2) * (one - whole[1]) >= (one - high) * END


@pytest.mark.parametrize("digit", DIGITS, ids=repr)
def test_digits_one_by_one_and_together_are_the_same(digit: Digit) -> None:
    rng = np.random.default_rng(4)
    table = DigitTable(digit)
    picked = [table.thresholds[k] for k in rng.integers(0, len(table.thresholds), 200).tolist()]
    words = [t + shift for t in picked for shift in range(-3, 4) if 0 <= t + shift < END]
    words += [*rng.integers(0, END, 2000, dtype=np.uint64).tolist(), 0, END - 1]
    more = rng.integers(0, END, 40, dtype=np.uint64).tolist()
    singles = []
    for word in words:
        tape = Replay(more)
        value = table.draw(word, tape)
        singles.append((value, 1 + tape.read // 8))
        assert value == digit.exact_digit(word, Replay(more))
    further = [more[: read - 1] for _, read in singles]
    tape = Replay([*words, *(word for own in further for word in own)])
    sampler = bulk.InversionSampler(DigitLookup(table), digit.index_if_certain, WordReader())
    proposed = np.empty(len(words))
    sampler.write(tape, proposed, proposed)
    assert proposed.tolist() == [value for value, _ in singles]
    assert any(further)  # some did need more than a word
    for word, (value, read) in zip(words[:300], singles, strict=False):
        if read == 1 and value < 300 and digit.last and digit.exponent == 1:
            assert below(digit, value) * END <= word
            assert word + 1 <= below(digit, value + 1) * END


def test_without_flagging_digits_would_differ() -> None:
    """The control: the same words by thresholds alone, at the very edges."""
    digit = DIGITS[1]
    wrong = [t for t in digit.thresholds()[1:30] if below_word(digit, t) != t]
    assert wrong


def below_word(digit: Digit, threshold: int) -> int:
    """Return the first word whose every U has at least the digit that begins at a threshold."""
    place = digit.thresholds().index(threshold)
    return math.ceil(below(digit, place) * END)


@pytest.mark.parametrize("epsilon", ["2", "1e-3", "1e-6", "1e-9", "1e-15"])
def test_digits_make_up_the_number(epsilon: str) -> None:
    """P(n < N) by the digits is 1 − b^N: for every N = d·Mⁱ, as far as those tables go."""
    ratio = 1 / exponential(Fraction(epsilon)).lower
    found = geometric(ratio)
    assert [digit.exponent for digit in found.digits] == [BASE**i for i in range(len(found.digits))]
    assert [digit.last for digit in found.digits] == [False] * (len(found.digits) - 1) + [True]
    assert (1 - ratio) * found.digits[-1].exponent * BASE >= 10
    low, high = fixed_power(ratio, found.reach, 400)
    assert 0 <= low <= high < 1 << (400 - 60)
    # One tape, every digit read: as many words as digits where the words are ordinary ones.
    tape = Replay([END // 3] * 40)
    found.draw(tape)
    assert tape.read == 8 * len(found.digits)


def test_few_draws_make_no_tables() -> None:
    """They would take longer than the draws; a number is found where enclosures put it."""
    ratio = 1 / exponential(Fraction(1, 10**80)).lower
    found = Geometric(ratio)
    for _ in range(3):
        number = found.draw(Replay([END // 3] * len(found.digits)))
        assert "tables" not in vars(found)
        # U = 1/3 picks the last digit, to which the others add less than one: a third lies below.
        last = found.digits[-1].exponent
        low, high = (number // last * last + shift for shift in (0, last))
        assert 3 * fixed_power(ratio, low, 2000)[1] >= 2 << 2000
        assert 3 * fixed_power(ratio, high, 2000)[0] <= 2 << 2000


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(4999, 5000)])
def test_geometric_numbers_follow_their_law(ratio: Fraction) -> None:
    """Clopper–Pearson at 20 levels; false alarms at most 1e-9 a ratio."""
    trials, tape, found = 20_000, CipherTape(), geometric(ratio)
    drawn = np.array([found.draw(tape) for _ in range(trials)])
    for share in range(1, 21):
        level = smallest_exponent(ratio, Fraction(share, 21))
        low, high = clopper_pearson(int((drawn >= level).sum()), trials, FALSE_ALARM / 20)
        assert low <= float(ratio**level) <= high


# ------------------------------------------------------------------- draws


LAW = DiscreteStaircase(Fraction(1), Fraction(2, 3), (Run(0, 2, 9), Run(2, 1, 7)))


def words_for(distribution: DiscreteStaircase, place: int, periods: int) -> tuple[int, int]:
    """Return words in the middle of where a place, and a number of periods, are picked out."""
    period = one_period(distribution)
    ticket = period._upto(place - 1) + Fraction(period.weight(place), 2)
    (table,) = geometric(distribution.ratio).tables
    return int(ticket * END / period.total), sum(table.thresholds[periods : periods + 2]) // 2


def one_period(distribution: DiscreteStaircase) -> DiscreteSteps:
    """Return the distribution of the place in a period, to either side."""
    return DiscreteSteps(distribution.step, mirror_period(distribution.runs, distribution.ratio))


def test_every_pair_of_parts_gives_one_index_of_their_weight() -> None:
    """The distribution, part by part: the place and the period are independent, and each index has
    one."""
    found: dict[int, Fraction] = {}
    for place in range(-LAW.steps, LAW.steps):
        for periods in range(6):
            tape = Replay([*words_for(LAW, place, periods), 0, 0])
            index = LAW.scheme.draw(tape)
            assert tape.read == 16  # always both words and no other
            assert index not in found
            found[index] = one_period(LAW).weight(place) * LAW.ratio**periods
    indices = range(-6 * LAW.steps, 6 * LAW.steps)
    assert found == {j: LAW.ratio.denominator * LAW.weight(j) for j in indices}


def test_a_period_of_one_point_has_a_side_for_0() -> None:
    """The geometric distribution: 0 or −1, the latter weighing as much as it should, and periods of
    1."""
    distribution = DiscreteStaircase(Fraction(1), Fraction(2, 3), (Run(0, 1, 1),))
    assert [one_period(distribution).weight(place) for place in (-2, -1, 0, 1)] == [0, 2, 3, 0]
    words = [words_for(distribution, place, n) for place in (-1, 0) for n in range(5)]
    drawn = {distribution.scheme.draw(Replay(pair)) for pair in words}
    assert drawn == set(range(-5, 5))


def test_bulk_and_single_draws_agree_on_the_same_words() -> None:
    rng = np.random.default_rng(8)
    distribution = on_grid(private("0.3"))
    pairs = rng.integers(0, END, (3000, 2), dtype=np.uint64).tolist()
    pairs += [
        words_for(distribution, place, n)
        for place in (-distribution.steps, -2, -1, 0, 1)
        for n in (0, 1, 2)
    ]
    singles = [distribution.scheme.draw(Replay(pair)) for pair in pairs]
    first, second = zip(*pairs, strict=True)
    found = []
    for block, far, _ in bulk.sample_blocks(
        distribution.scheme, len(pairs), Replay([*first, *second])
    ):
        assert not far
        assert not np.signbit(block[block == 0]).any()
        found += block.tolist()
    assert found == singles
    assert singles[-15:] == [
        place + (n if place >= 0 else -n) * distribution.steps
        for place in (-distribution.steps, -2, -1, 0, 1)
        for n in (0, 1, 2)
    ]


@pytest.mark.parametrize(
    "distribution", [LAW, DiscreteStaircase(Fraction(1), Fraction(1, 5), LAW.runs[:1])]
)
def test_bulk_draws_follow_the_law(distribution: DiscreteStaircase) -> None:
    """Every point's count, and that of all beyond: false alarms at most 1e-9 a distribution."""
    trials, far = 100_000, 12
    drawn: Counter[float] = Counter()
    for block, _, _ in bulk.sample_blocks(distribution.scheme, trials, CipherTape()):
        drawn.update(block.tolist())
    inside = 0
    for index in range(-far, far + 1):
        inside += drawn[index]
        low, high = clopper_pearson(drawn[index], trials, FALSE_ALARM / (2 * far + 2))
        assert low <= distribution.weight(index) / distribution.total <= high
    low, high = clopper_pearson(trials - inside, trials, FALSE_ALARM / (2 * far + 2))
    assert low <= 2 * (1 - distribution.probability_up_to(Fraction(far))) <= high
    # The control: 0 counted twice is caught by the same interval.
    low, high = clopper_pearson(drawn[0], trials, FALSE_ALARM)
    assert (
        not low
        <= 2 * distribution.weight(0) / (distribution.total + distribution.weight(0))
        <= high
    )


ONES = END - 1


def far_tape(distribution: DiscreteStaircase, place: int, size: int) -> Replay:
    """Words for ``size`` elements whose U for the periods begins with 128 ones, then zeros."""
    word, _ = words_for(distribution, place, 0)
    return Replay([word] * size + [ONES] * size + [ONES, 0] * size)


@pytest.mark.parametrize("place", [-3, -1, 0, 2])
def test_an_index_beyond_the_tables_is_kept_as_an_integer(place: int) -> None:
    distribution = DiscreteStaircase(Fraction(1), HALF, (Run(0, 3, 1),))
    ((block, far, _),) = bulk.sample_blocks(
        distribution.scheme, 2, far_tape(distribution, place, 2)
    )
    assert len(block) == 2
    index = place + 128 * 3 if place >= 0 else place - 128 * 3
    assert far == {0: index, 1: index}
    assert bulk.draw_integers(distribution.scheme, 2, far_tape(distribution, place, 2)) == [
        index,
        index,
    ]
    values = np.array([5.25, -(2.0**30)])
    floats = released(
        values,
        Grid(Fraction(1, 4)),
        distribution,
        partial(far_tape, distribution, place, 2),
        integer=False,
    )
    assert floats.tolist() == (values + index / 4).tolist()
    ends = np.array([7, np.iinfo(np.int64).max if place >= 0 else np.iinfo(np.int64).min])
    whole = released(
        ends,
        Grid(Fraction(1)),
        distribution,
        partial(far_tape, distribution, place, 2),
        integer=True,
    )
    assert whole.tolist() == [7 + index, int(ends[1])]  # it stops at the end


def test_indices_beyond_64_bits_stop_at_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = DiscreteStaircase(Fraction(1), HALF, (Run(0, 1 << 45, 1),))
    monkeypatch.setattr(Digit, "index_if_certain", lambda *_: 1 << 40)
    ends = np.iinfo(np.int64)
    for place, end in ((-1, ends.min), (0, ends.max)):
        tape = partial(far_tape, distribution, place, 1)
        whole = released(np.array([3]), Grid(distribution.step), distribution, tape, integer=True)
        assert whole.tolist() == [end]
    assert distribution.scheme.draw(far_tape(distribution, 0, 1)) >= 1 << 85
    monkeypatch.setattr(Digit, "index_if_certain", lambda *_: 1 << 2000)
    floats = released(
        np.array([3.0]),
        Grid(distribution.step),
        distribution,
        partial(far_tape, distribution, -1, 1),
        integer=False,
    )
    assert floats.tolist() == [-np.finfo(float).max]


# ------------------------------------------------------------------- held and released


@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "1", "4"])
@pytest.mark.parametrize("moved", ["1", "0.7"])
def test_a_staircase_is_held_and_released(epsilon: str, moved: str) -> None:
    """Clopper–Pearson at the printed 95 %; false alarms at most 1e-9 a case."""
    noise = private(epsilon, None, moved)
    mechanism = ln.Mechanism.from_noise(noise, ln.Privacy(epsilon), sensitivity=moved)
    mechanism.verify()
    assert mechanism.cost == noise.expected(ln.l1)
    assert 1 <= mechanism.discretized.cost / mechanism.cost < 1 + Fraction(1, 10**5)
    assert not mechanism.needs_allow_exact
    assert mechanism.exact_probability == 0
    answer = mechanism.release(42)
    assert answer.max_error == math.inf
    low, high = answer.interval("0.95")
    assert low + high == 2 * answer.value
    distribution = mechanism.discretized.noise
    reach = (high - low) / 2 - distribution.step / 2
    assert distribution.probability_up_to(reach) - distribution.probability_up_to(
        -reach - distribution.step
    ) >= Fraction(95, 100)
    assert distribution.probability_up_to(
        reach - distribution.step
    ) - distribution.probability_up_to(-reach) < Fraction(95, 100)
    trials = 100_000
    answers = mechanism.release(np.zeros(trials))
    inside = int((abs(answers.values) <= float(reach)).sum())
    assert not np.isinf(answers.values).any()
    low_share, high_share = clopper_pearson(inside, trials, FALSE_ALARM)
    assert low_share <= 0.95 + 1e-5
    assert high_share >= 0.95
    ends = answers.interval()
    assert (ends[0] < answers.values).all()
    assert (answers.values < ends[1]).all()


def test_every_kind_of_array_is_released() -> None:
    mechanism = ln.Mechanism.from_noise(private(), ln.Privacy(1), sensitivity=1)
    for kind in ("float64", "float32", "int8", "uint64"):
        values = mechanism.release(np.arange(12, dtype=kind).reshape(3, 4)).values
        assert values.dtype == np.float64
        assert values.shape == (3, 4)
    far = np.array([1e300, -1.7e308, 0.0])
    assert np.isfinite(mechanism.release(far).values).all()
    tiny = ln.Mechanism.from_noise(
        private("1", None, "1e-300"), ln.Privacy(1), sensitivity="1e-300"
    )
    assert (abs(tiny.release(np.zeros(50)).values) < 1e-297).all()
    slow = ln.Mechanism.from_noise(private("1e-9"), ln.Privacy("1e-9"), sensitivity=1)
    assert not bulk.fits(slow.discretized.noise.scheme)
    assert np.isfinite(slow.release(np.zeros(20)).values).all()
    low, high = slow.release(3).interval()
    assert high - low > 2 * 10**9


def test_two_periods_for_twice_the_sensitivity() -> None:
    noise = private("1")
    mechanism = ln.Mechanism.from_noise(noise, ln.Privacy(2), sensitivity=2)
    distribution = mechanism.discretized.noise
    assert isinstance(distribution, DiscreteStaircase)
    assert 2 * distribution.period >= mechanism.effective_sensitivity
    with pytest.raises(
        NotPrivate, match=r"sensitivity 2: a shift over 2 of its periods needs ε = 2"
    ):
        ln.Mechanism.from_noise(noise, ln.Privacy(1), sensitivity=2)


def test_the_lines_say_that_there_is_no_largest_error() -> None:
    mechanism = ln.Mechanism.from_noise(private(), ln.Privacy(1), sensitivity=1)
    answer = mechanism.release(42)
    result, guarantee = str(answer).splitlines()
    assert result.endswith(" (95% confidence, no max error)")
    assert guarantee == "ε = 1, δ = 0; not recorded"
    assert "inf" not in result + repr(answer) + answer._repr_html_()
    digits = Fraction(result.split()[1])
    assert abs(digits - answer.value) <= Fraction(1, 200)
    many = mechanism.release(np.zeros(3))
    assert many.max_error == math.inf
    assert "no max error" in str(many)
    for shown in (answer, many):
        assert ">Max error</th><td>none</td>" in shown._repr_html_()
    with pytest.raises(
        InvalidParameter, match=r"below 1 for unbounded noise, which has no maximum error, got 1"
    ):
        answer.interval(1)
    assert answer.interval("0.999999")[0] < answer.interval()[0]


def test_a_spike_narrower_than_a_step_asks_first() -> None:
    mechanism = ln.Mechanism.from_noise(private("40"), ln.Privacy(40), sensitivity=1)
    assert mechanism.needs_allow_exact
    with pytest.raises(InvalidParameter, match=r"With probability 1 this noise adds nothing"):
        mechanism.release(1)
    assert "exact with probability 1" in str(mechanism.release(1, allow_exact=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, "1/2"), r"period must be greater than 0, got 0\."),
        (("x", 0, "1/2"), r"period must be a finite number, got 'x'\."),
        ((1, "1.1", "1/2"), r"gamma must be between 0 and 1, got '1\.1'\. Use the share"),
        ((1, -1, "1/2"), r"gamma must be between 0 and 1, got -1\. Use the share"),
        (
            (1, None, "1/2"),
            r"Staircase\(\) needs period, gamma and ratio, or .*, got period and ratio\.",
        ),
        ((1, 0, 0), r"ratio must be between 0 and 1, both excluded, got 0\. Use the factor"),
        ((1, 0, 1), r"ratio must be between 0 and 1, both excluded, got 1\. Use the factor"),
        ((1, 0, math.nan), r"ratio must be a finite number, got nan\."),
    ],
)
def test_what_is_no_staircase_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Staircase(*arguments)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("ratio", "runs", "message"),
    [
        (HALF, (), r"must follow one another, beginning at 0, got 0 runs that"),
        (HALF, (Run(1, 1, 1),), r"must follow one another, beginning at 0, got 1 runs that"),
        (
            HALF,
            (Run(0, 2, 2), Run(3, 1, 1)),
            r"must follow one another, beginning at 0, got 2 runs that",
        ),
        (HALF, (Run(0, 0, 1),), r"must follow one another, beginning at 0, got 1 runs that"),
        (HALF, (Run(0, 1, 2), Run(1, 1, 3)), r"must not increase, and the last .* got 2 others"),
        (HALF, (Run(0, 1, 3), Run(1, 1, 1)), r"must not increase, and the last .* got 2 others"),
        (Fraction(1), (Run(0, 1, 1),), r"ratio between 0 and 1, got step 1 and ratio 1\. Use"),
    ],
)
def test_what_is_no_lattice_staircase_is_refused(
    ratio: Fraction, runs: tuple[Run, ...], message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        DiscreteStaircase(Fraction(1), ratio, runs)


def test_what_has_no_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = Staircase(1, "1/2", "1/2")
    for distribution in (noise, LAW):
        with pytest.raises(
            Unsupported, match=r"needs a cost with a formula, got Cost\(log1p\), a function"
        ):
            distribution.expected(ln.Cost(math.log1p))
        for level in (0, 1):
            with pytest.raises(
                InvalidParameter, match=rf"between 0 and 1, both excluded, got {level}"
            ):
                distribution.quantile(Fraction(level))
        with pytest.raises(Unsupported, match=r"more than 33554432 binary digits"):
            distribution.probability_up_to(Fraction(10) ** 12)
    monkeypatch.setattr("leastnoise.costs.expectation._TERMS", 500)
    with pytest.raises(Unsupported, match=r"more than 500 periods of the noise"):
        private("1e-3").expected(ln.lp("3/2"))


def test_a_picture_of_a_staircase_is_its_density() -> None:
    pytest.importorskip("altair")
    from leastnoise import plots
    from leastnoise.plots.densities import outline

    for gamma in (0, Fraction(1, 3)):
        noise = Staircase(2, gamma, "1/2")
        drawn = outline(noise)
        for low, high, height in zip(drawn.breaks, drawn.breaks[1:], drawn.heights, strict=False):
            assert noise._pdf((low + high) / 2) == height
        assert noise.probability_up_to(drawn.breaks[0]) < Fraction(1, 500)
    assert plots.distributions({"staircase": noise}, "a staircase").to_dict()
    with pytest.raises(Unsupported, match=r"at most 1000 periods to be drawn, got \d+\. Use"):
        plots.distributions({"staircase": private("0.001")}, "too long")
