"""Distributions of losses on a grid: their curves lie above, or below, those they stand for."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.curves import LossCurve, RatioTable
from leastnoise.accounting.discretize import discretize_above, discretize_below
from leastnoise.accounting.joint import JointLoss
from leastnoise.accounting.parts import noise_losses
from leastnoise.accounting.privacy_loss import Losses, LossGrid
from leastnoise.accounting.smooth_curves import (
    DecayingLossCurve,
    EvaluatedLossCurve,
    NormalLossCurve,
)
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.exact.series import product
from leastnoise.noise import DiscreteSteps, Run

BITS = 160
ONE = Fraction(1)


def exact_delta(table: RatioTable, factor: Fraction) -> Fraction:
    """Return δ at a level of at least 1, from the definition."""
    parts = (mass * max(ONE - factor / ratio, Fraction(0)) for ratio, mass in table.ratios)
    return table.infinite + sum(parts, Fraction(0))


@st.composite
def tables(draw: st.DrawFn) -> RatioTable:
    """Ratios above 1 with masses such that these, their mirror images and the rest make up 1."""
    drawn = st.fractions(Fraction(101, 100), 20, max_denominator=100)
    ratios = draw(st.lists(drawn, min_size=1, max_size=6, unique=True))
    weights = draw(st.lists(st.integers(1, 50), min_size=len(ratios), max_size=len(ratios)))
    infinite, spare = draw(st.integers(0, 20)), draw(st.integers(0, 50))
    pairs = list(zip(sorted(ratios), weights, strict=True))
    total = sum((w + w / r for r, w in pairs), Fraction(infinite + spare))
    return RatioTable(tuple((r, w / total) for r, w in pairs), infinite / total)


steps = st.fractions(Fraction(1, 50), 1, max_denominator=100)
levels = st.fractions(0, 4, max_denominator=40)


def top_of(curve: LossCurve, step: Fraction) -> int:
    return math.ceil(min(curve.farthest, 12.0) / float(step))


@given(tables(), steps, levels)
@settings(deadline=None, max_examples=150)
def test_chords_lie_above_and_the_hull_below(
    table: RatioTable, step: Fraction, level: Fraction
) -> None:
    grid = LossGrid(step, BITS)
    top = top_of(table, step)
    above, below = discretize_above(table, grid, top), discretize_below(table, grid, top)
    factor = exponential(level, 256)
    assert above.delta(level) >= exact_delta(table, factor.upper)
    if below is not None:
        assert below.delta(level) <= exact_delta(table, factor.lower)
        assert sum(below.masses) + below.infinite <= grid.one
    assert sum(above.masses) + above.infinite >= grid.one


@given(tables(), tables(), steps, levels, st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_sums_of_losses_lie_between(
    first: RatioTable, second: RatioTable, step: Fraction, level: Fraction, times: int
) -> None:
    """Against the product distribution, with every combination of ratios listed."""
    grid = LossGrid(step, BITS)
    spared = 1 << (BITS - 120)
    pair = (first, second)
    bounds = []
    for make in (discretize_above, discretize_below):
        distributions = [make(table, grid, top_of(table, step)) for table in pair]
        if distributions[0] is None or distributions[1] is None:
            bounds.append(Fraction(0))
            continue
        bounds.append(
            distributions[0].power(times, spared).convolve(distributions[1], spared).delta(level)
        )
    factor = exponential(level, 256).middle
    truth = composed_exactly([first] * times + [second], factor)
    slack = Fraction(1, 1 << 110)
    assert bounds[0] >= truth - slack
    assert bounds[1] <= truth + slack


def composed_exactly(given_tables: list[RatioTable], factor: Fraction) -> Fraction:
    """Return δ of all together: ratios multiply, masses too; what one never puts out decides."""
    distribution = {ONE: ONE}
    possible = ONE
    for table in given_tables:
        each = dict(table.ratios)
        each.update({1 / ratio: mass / ratio for ratio, mass in table.ratios})
        each[ONE] = 1 - table.infinite - sum(each.values(), Fraction(0))
        possible *= 1 - table.infinite
        joint: dict[Fraction, Fraction] = {}
        for a, m in distribution.items():
            for b, n in each.items():
                joint[a * b] = joint.get(a * b, Fraction(0)) + m * n
        distribution = joint
    hints = (mass * max(ONE - factor / ratio, Fraction(0)) for ratio, mass in distribution.items())
    return 1 - possible + sum(hints, Fraction(0))


CURVES: dict[str, tuple[ln.Noise, Fraction]] = {
    "Laplace": (ln.noise.Laplace(3), Fraction(2)),
    "Laplace moved far": (ln.noise.Laplace(1), Fraction(9)),
    "cut Laplace": (ln.noise.TruncatedLaplace(2, 7), Fraction(1)),
    "cut Laplace moved beyond its radius": (ln.noise.TruncatedLaplace(2, 3), Fraction(4)),
    "cut Laplace moved beyond its support": (ln.noise.TruncatedLaplace(2, 3), Fraction(6)),
    "Gaussian": (ln.noise.Gaussian(2), Fraction(3)),
    "staircase": (ln.noise.Staircase(1, "0.3", "0.4"), Fraction(1)),
    "staircase moved far": (ln.noise.Staircase(1, "0.3", "0.7"), Fraction(5, 2)),
    "uniform with an atom": (ln.noise.Uniform(5, "0.1"), Fraction(2)),
    "steps": (ln.Steps([-2, -1, 1, 2], ["1/8", "3/8", "1/8"]), Fraction(3, 2)),
    "comb": (
        ln.Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"]),
        Fraction(1),
    ),
    "skew": (DiscreteSteps(ONE, (Run(0, 2, 5), Run(2, 1, 3), Run(3, 1, 1))), Fraction(2)),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_those_of_the_profile(name: str) -> None:
    """Two routes to the same δ: the quick formula and the profile at each level of the grid."""
    noise, move = CURVES[name]
    profile = ln.Profile(noise, sensitivity=move)
    grid = LossGrid(Fraction(3, 20), BITS)
    unit = Fraction(1, 1 << (BITS - 20))
    for i, (low, high) in enumerate(noise_losses(noise, move).above.heights(grid, 24)):
        found = Interval(Fraction(low, grid.one), Fraction(high, grid.one))
        truth = profile.enclose(i * grid.step)
        assert found.lower <= truth.upper
        assert found.upper >= truth.lower
        assert found.upper - found.lower <= unit


@pytest.mark.parametrize("name", CURVES)
def test_two_fixed_neighbours_reach_the_curve_from_below(name: str) -> None:
    noise, move = CURVES[name]
    profile = ln.Profile(noise, sensitivity=move)
    curve = noise_losses(noise, move).below
    if curve is None:
        assert name == "skew"
        return
    grid = LossGrid(Fraction(3, 20), BITS)
    distribution = discretize_below(curve, grid, min(24, top_of(curve, grid.step)))
    assert distribution is not None
    for level in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(7, 5)):
        assert distribution.delta(level) <= profile.delta(level)


@pytest.mark.parametrize(
    "curve",
    [
        DecayingLossCurve(ln.noise.Laplace(2), ONE),
        DecayingLossCurve(ln.noise.TruncatedLaplace(2, 9), ONE),
        NormalLossCurve(Interval.exact(1)),
    ],
    ids=["Laplace", "cut", "Gaussian"],
)
def test_halving_the_step_quarters_the_error(curve: LossCurve) -> None:
    """Second order in h, above and below; a first-order method would only halve it."""
    widths = []
    for parts in (12, 24, 48):
        grid = LossGrid(Fraction(1, parts), BITS)
        top = math.ceil(min(curve.farthest, 8.0) * parts)
        below = discretize_below(curve, grid, top)
        assert below is not None
        widths.append(discretize_above(curve, grid, top).delta(ONE / 7) - below.delta(ONE / 7))
    assert widths[0] > 3 * widths[1] > 9 * widths[2] > 0


def nearest(table: RatioTable, step: Fraction, level: float) -> float:
    """The wrong way: every loss goes to the nearest multiple of h, as if that changed nothing."""
    total = float(table.infinite)
    for ratio, mass in table.ratios:
        loss = float(step) * round(math.log(ratio) / float(step))
        total += float(mass) * max(0.0, 1 - math.exp(level - loss))
    return total


def test_rounding_losses_to_the_nearest_would_break_the_bound() -> None:
    """The control: the same check that ours passes fails for losses that are rounded."""
    table = RatioTable(((Fraction(3, 2), Fraction(1, 2)),), Fraction(0))
    step = Fraction(3, 10)  # ln 1.5 is 0.405, which is nearer to 0.3 than to 0.6
    truth = exact_delta(table, exponential(Fraction(1, 10)).upper)
    ours = discretize_above(table, LossGrid(step, BITS), 2).delta(Fraction(1, 10))
    assert ours >= truth
    assert nearest(table, step, 0.1) < truth


def float_power(masses: list[float], count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The other wrong way: convolve in floats, by the fast Fourier transform."""
    size = 1 << ((len(masses) - 1) * count + 1).bit_length()
    spectrum = np.fft.rfft(np.array(masses), size) ** count
    return np.asarray(np.fft.irfft(spectrum, size))[: (len(masses) - 1) * count + 1]


def test_convolving_in_floats_would_break_the_bound() -> None:
    """The control: in the tails of 60 losses the float transform is noise about 0."""
    count, odds = 60, Fraction(2)
    chances = [1 / (1 + odds), Fraction(0), odds / (1 + odds)]
    grid = LossGrid(Fraction(1, 2), 256)
    distribution = Losses(grid, -1, [grid.above(c) for c in chances], 0, above=True)
    ours = distribution.power(count, 0)
    floats = float_power([float(c) for c in chances], count)
    exact = [
        math.comb(count, j) * chances[0] ** (count - j) * chances[2] ** j for j in range(count + 1)
    ]

    def bounds(masses: list[Fraction]) -> bool:
        """Whether each is at least the probability that j of the answers told the truth."""
        return all(masses[2 * j] >= each for j, each in enumerate(exact))

    assert bounds([Fraction(mass, grid.one) for mass in ours.masses])
    assert not bounds([Fraction(float(mass)) for mass in floats])
    assert Fraction(ours.masses[0], grid.one) <= exact[0] * (1 + Fraction(1, 10**30))


@given(
    st.lists(st.integers(0, 1 << 70), max_size=12), st.lists(st.integers(0, 1 << 70), max_size=9)
)
def test_products_are_the_sums_they_are_defined_by(first: list[int], second: list[int]) -> None:
    found = product(first, second)
    assert len(found) == (len(first) + len(second) - 1 if first and second else 0)
    for n, each in enumerate(found):
        assert each == sum(
            a * b for i, a in enumerate(first) for j, b in enumerate(second) if i + j == n
        )
    assert product(first, first) == product(first, list(first))


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.integers(0, 800), st.booleans())
@example([1000] * 6 + [700], 800, True)  # the highest loss is trimmed, and it is not small
def test_trimming_moves_losses_to_the_stated_side(
    masses: list[int], spared: int, above: bool
) -> None:
    grid = LossGrid(Fraction(1, 4), 64)
    distribution = Losses(grid, -3, masses, 17, above=above)
    trimmed = distribution.trim(spared)
    for level in (Fraction(0), Fraction(1, 3), Fraction(1)):
        before, after = distribution.delta(level), trimmed.delta(level)
        slack = Fraction(20, grid.one)  # of rounding
        assert after >= before - slack if above else after <= before + slack
        assert abs(after - before) <= Fraction(2 * spared, grid.one) + slack


@pytest.mark.parametrize(
    "noise",
    [ln.noise.Gaussian(2), ln.noise.Laplace(2), ln.noise.TruncatedLaplace(2, 7)],
    ids=repr,
)
def test_the_profile_of_any_smooth_noise_gives_the_curve_of_its_formula(noise: Any) -> None:
    move, formula = ONE, noise_losses(noise, ONE).above
    found = EvaluatedLossCurve(noise, move)
    grid = LossGrid(Fraction(1, 20), BITS)
    for (low, high), (least, most) in zip(
        found.heights(grid, 30), formula.heights(grid, 30), strict=True
    ):
        assert least <= high
        assert low <= most
        assert high - low <= 1 << (BITS - 60)
    assert found.infinity_mass.lower <= formula.infinity_mass.upper
    assert formula.infinity_mass.lower <= found.infinity_mass.upper
    # Composed, both bounds hold whichever curve they come from.
    above = JointLoss(((found, 3),), above=True).delta(Fraction(1, 2))
    below = JointLoss(((found, 3),), above=False).delta(Fraction(1, 2))
    assert JointLoss(((formula, 3),), above=False).delta(Fraction(1, 2)) <= above
    assert below <= JointLoss(((formula, 3),), above=True).delta(Fraction(1, 2))
    assert 0 < above - below < Fraction(1, 1000)
