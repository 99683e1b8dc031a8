"""Variances and standard deviations: what their intervals cover, and what their numbers are.

Coverage is computed and not sampled where noise has few values, and otherwise sampled with a false
alarm rate below 1e-9.
"""

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import leastnoise as ln
from leastnoise.mechanism import Answer, Mechanism, as_noise
from leastnoise.tables import MeanAnswer, Std, StdAnswer, Variance, VarianceAnswer
from leastnoise.tables.bounding import Lattice, Squares
from leastnoise.tables.budget import allocate
from leastnoise.tables.execute import make_batches
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.rounding import root_above, root_below
from leastnoise.tables.sources import fetch
from tests.support.confidence_intervals import FALSE_ALARM

LOSSLESS = ln.Privacy(9000)  # noise of at most about one row


def table(values: Any, unit: Any = None, rows: int | None = None) -> ln.tables.ProtectedTable:
    frame = pd.DataFrame({"x": values} | ({} if unit is None else {"who": unit}))
    column = None if unit is None else "who"
    return ln.protect(frame, unit=column, max_rows=rows, ledger=ln.UNRECORDED)


def weighted(values: list[float], units: list[int], most: int) -> tuple[Fraction, Fraction]:
    """Return mean and variance of values, of which a unit has the weight of ``most`` rows."""
    held = {one: units.count(one) for one in units}
    weights = [min(Fraction(1), Fraction(most, held[one])) for one in units]
    exact = [Fraction(value) for value in values]
    total = sum(weights, Fraction(0))
    mean = sum((w * x for w, x in zip(weights, exact, strict=True)), Fraction(0)) / total
    squares = (w * (x - mean) ** 2 for w, x in zip(weights, exact, strict=True))
    return mean, sum(squares, Fraction(0)) / total


def true_numbers(people: ln.tables.ProtectedTable, query: Variance) -> tuple[PlannedQuery, Any]:
    made = plan_query(query, people.source, people.unit)
    (row,) = fetch(people.source, make_batches([made])[0].expression)
    return made, row


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-3, 9, width=32)), min_size=1, max_size=12),
    st.integers(1, 3),
    st.sampled_from([(-1, 5), ("0.1", "7.3"), (0, 1)]),
)
def test_the_true_numbers_are_within_their_rounding_of_the_variance(
    rows: list[tuple[int, float]], most: int, bounds: Any
) -> None:
    """The integers of the engine, with independent fractions: what roundings claims is proved."""
    units, values = [who for who, _ in rows], [value for _, value in rows]
    made, (n, s, squares) = true_numbers(table(values, units, most), Variance("x", bounds=bounds))
    query = made.query
    assert isinstance(query, Variance)
    low, high = map(Fraction, bounds)
    clipped = [min(max(Fraction(value), low), high) for value in values]
    mean, variance = weighted(clipped, units, most)  # type: ignore[arg-type]
    found = query.middle + s * query.lattice.step / n
    of_squares = (Fraction(squares, n) + query.squares.middle) * query.squares.step
    assert abs(found - mean) <= query.roundings[0]
    true_squares = variance + (mean - query.middle) ** 2
    assert abs(of_squares - true_squares) <= query.roundings[1]
    assert 0 <= variance <= query.largest
    # The rounding is a small part of the range, so the claims above say something.
    assert query.roundings[1] < (high - low) ** 2 * 3 / (1 << 20)


def test_squares_are_rounded_to_the_nearest_and_fit_doubles() -> None:
    for bounds in ((0, 1), (-3, 1_000_000), (0, "0.001"), (1 << 52, (1 << 52) + 3)):
        lattice = Lattice.between(bounds, whole=False)
        squares = Squares.of(lattice)
        low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
        assert squares.farthest == max(-low, high)
        assert squares.most <= (1 << 20) + 1
        assert squares.step == squares.divisor * lattice.step**2
        # Half of the largest square, rounded up, is what one row can add.
        assert squares.most - squares.middle - squares.middle in (0, 1)
        # Not a wider step than needed: the next finer one has more than 2²⁰ squares.
        assert squares.divisor == 1 or 2 * squares.most > 1 << 20


def noise_of(query: Variance, privacy: ln.Privacy) -> tuple[Mechanism, ...]:
    people = table([1.0])
    made = plan_query(query, people.source, people.unit)
    return tuple(map(as_noise, allocate(privacy, made.numbers)[0]))


def calibrate_pieces(sensitivity: Fraction, *, integer: bool) -> Mechanism:
    """Return bounded noise."""
    return ln.calibrate(
        ln.Privacy("0.1", "0.05"), sensitivity=sensitivity, integer=integer, solve=False
    )


def answer_of(
    query: Variance, mechanisms: tuple[Mechanism, ...], noisy: tuple[int, int, int], kind: type
) -> Any:
    counting, adding, squaring = mechanisms
    squares = query.squares
    top = max(squares.most * squares.step, squares.reach**2)
    shared: Any = {"privacy": ln.Privacy(1)}
    return kind(
        mean=MeanAnswer(
            count=Answer(noisy[0], counting), sum=Answer(noisy[1], adding),
            middle=query.middle, bounds=query.ends, **shared,
        ),
        squares=MeanAnswer(
            count=Answer(noisy[0], counting), sum=Answer(noisy[2], squaring),
            middle=squares.middle * squares.step, bounds=(Fraction(0), top), **shared,
        ),
        largest=query.largest, **shared,
    )  # fmt: skip


def test_intervals_of_bounded_noise_never_miss_at_confidence_1() -> None:
    """All corners of the noise, for small and large tables: the extremes of the interval."""
    query = Variance("x", bounds=(0, 4))
    people = table([1.0])
    mechanisms = tuple(
        calibrate_pieces(number.sensitivity, integer=number.integer)
        for number in plan_query(query, people.source, people.unit).numbers
    )
    radii = [int(m.discretized.radius / m.discretized.step) for m in mechanisms]
    steps = [m.discretized.step for m in mechanisms]
    for values in ([1, 3], [0] * 40 + [4] * 3, [2] * 50, [0, 4] * 100):
        n = len(values)
        truth = np.var(values)
        mid = query.middle
        s = round(sum(v - mid for v in values) / steps[1])
        base = query.squares.middle * query.squares.step
        t = round(sum((v - mid) ** 2 - base for v in values) / steps[2])
        for signs in product((-1, 0, 1), repeat=3):
            noisy = tuple(
                one + sign * radius
                for one, sign, radius in zip((n, s, t), signs, radii, strict=True)
            )
            for kind, true in ((VarianceAnswer, truth), (StdAnswer, math.sqrt(truth))):
                answer = answer_of(query, mechanisms, noisy, kind)  # type: ignore[arg-type]
                low, high = answer.interval(1)
                assert low - Fraction(1, 10**6) <= true <= high + Fraction(1, 10**6), (
                    values,
                    signs,
                )
                assert low <= answer.value <= high
                assert abs(float(answer.value) - true) <= answer.max_error + 1e-6
                usual = answer.interval()
                assert low <= usual[0] <= answer.value <= usual[1] <= high


@pytest.mark.parametrize(
    "values",
    [[1.0], [0.0, 4.0], [0.0] * 30 + [4.0] * 3, [1.0, 1.25, 3.5] * 40, [2.0] * 200],
    ids=["one row", "two rows", "few", "many", "the same"],
)
def test_the_interval_covers_as_often_as_it_says(values: list[float]) -> None:
    query, trials, missed = Variance("x", bounds=(0, 4)), 400, 0
    mechanisms = noise_of(query, ln.Privacy(1))
    made, true = true_numbers(table(values), query)
    noisy = [
        mechanism.releaser.add_noise_to_steps([one] * trials, step=number.step, tape=None)
        for mechanism, one, number in zip(mechanisms, true, made.numbers, strict=True)
    ]
    variance = float(np.var(values))
    for numbers in zip(*noisy, strict=True):
        answer = answer_of(query, mechanisms, numbers, VarianceAnswer)
        low, high = answer.interval(Fraction(4, 5))
        missed += not low - Fraction(1, 10**9) <= variance <= high + Fraction(1, 10**9)
        assert low <= answer.value <= high
        root = answer_of(query, mechanisms, numbers, StdAnswer)
        assert root.interval(Fraction(4, 5)) == (root_below(low), root_above(high))
    # If the interval covers with probability 80% or more, so many misses are rarer than 1e-9.
    assert stats.binom.sf(missed - 1, trials, 0.2) > FALSE_ALARM


def test_without_rows_nothing_is_claimed() -> None:
    for rows in ([], [None], [math.nan]):
        people = table(pd.Series(rows, dtype="float64"))
        for kind, most in ((Variance, 4), (Std, 2)):
            answers = [
                people.ask([kind("x", bounds=(0, 4))], privacy=ln.Privacy("0.1"))[0]
                for _ in range(3)
            ]
            for answer in answers:
                assert isinstance(answer, VarianceAnswer | StdAnswer)
                low, high = answer.interval()
                assert 0 <= low <= answer.value <= high <= most
                if answer.count.value <= 0:
                    assert [low, high] == [0, most]
                    middle = 2 if kind is Variance else math.sqrt(2)
                    assert math.isclose(answer.value, middle)


def test_with_little_noise_the_values_are_close_to_those_of_numpy() -> None:
    chance = random.Random(5)
    values = [chance.uniform(-2, 6) for _ in range(500)]
    people = table([*values, math.inf, -math.inf, math.nan, None])
    clipped = np.clip([*values, 9, -9], -1, 5)
    variance, deviation, mean = people.ask(
        [Variance("x", bounds=(-1, 5)), Std("x", bounds=(-1, 5)), ln.Mean("x", bounds=(-1, 5))],
        privacy=LOSSLESS,
    )
    assert isinstance(variance, VarianceAnswer)
    assert isinstance(deviation, StdAnswer)
    assert isinstance(mean, MeanAnswer)
    assert variance.value == pytest.approx(clipped.var(), rel=0.02)
    assert deviation.value == pytest.approx(clipped.std(), rel=0.02)
    for answer, true in ((variance, clipped.var()), (deviation, clipped.std())):
        low, high = answer.interval()
        assert low <= true <= high
        assert high - low < Fraction(1, 20)
    # One count and one sum are released for all three.
    assert variance.count.index == deviation.count.index == mean.count.index
    assert variance.mean.value == deviation.mean.value == mean.value


@given(st.fractions(min_value=0, max_value=10**40) | st.fractions(0, 1, max_denominator=10**40))
def test_roots_are_rounded_to_both_sides_within_their_accuracy(square: Fraction) -> None:
    low, high = root_below(square), root_above(square)
    assert low * low <= square <= high * high
    assert high - low <= low / (1 << 63)
    if (root := Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))) ** 2 == (
        square
    ) and root.denominator == 1:
        assert low == high == root


def test_a_dry_run_bounds_the_error_for_numbers_of_rows() -> None:
    """The stated error is at least the distance from the value to each end, for that count."""
    for kind, answer_class in ((Variance, VarianceAnswer), (Std, StdAnswer)):
        query = kind("x", bounds=(0, 4))
        people = table([1.0])
        made = plan_query(query, people.source, people.unit).query
        assert isinstance(made, Variance)
        mechanisms = noise_of(query, ln.Privacy(1))
        for n, error in zip((100, 1_000, 10_000), made.find_errors(mechanisms), strict=True):
            for share, square in product(range(-4, 5), range(5)):
                s = n * share * made.squares.reach / 4 / mechanisms[1].discretized.step
                part = Fraction(square, 4) - Fraction(1, 2)
                t = n * part * made.squares.reach**2 / mechanisms[2].discretized.step
                answer = answer_of(made, mechanisms, (n, round(s), round(t)), answer_class)
                low, high = answer.interval()
                assert max(answer.value - low, high - answer.value) <= error * (1 + 2**-50)


def test_an_error_cannot_be_a_target() -> None:
    people = table([1.0])
    with pytest.raises(ln.errors.InvalidParameter, match="one number per group"):
        people.variance("x", bounds=(0, 4), error=1)
