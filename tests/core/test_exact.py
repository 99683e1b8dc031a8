"""Exact numbers: the door, powers, the lattice."""

from decimal import Decimal
from fractions import Fraction
from math import floor, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from leastnoise.core.arrays.release import float_rounding
from leastnoise.core.exact import exact_ratio, format_exact, format_rounded, parse_rational, power
from leastnoise.core.lattice import Grid

rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
positives = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int16(-3), Fraction(-3)),
        (5e-324, Fraction(5, 10**324)),
    ],
)
def test_a_parameter_means_the_shortest_decimal_that_prints_as_it(
    written: object, meant: Fraction
) -> None:
    assert parse_rational(written, "x") == meant


@pytest.mark.parametrize("value", [0.1, np.float32(0.1), np.float64(0.1), 1e308, 5e-324])
def test_a_value_is_read_at_its_exact_binary_value(value: float) -> None:
    assert Fraction(*exact_ratio(value)) == Fraction(float(value))


@given(positives, st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=50))
def test_a_power_is_enclosed_tightly(base: Fraction, p: Fraction) -> None:
    enclosed = power(base, p)
    # x^(a/b) in [l, u] iff x^a in [l^b, u^b]: integers decide, no logarithm is needed.
    assert enclosed.lower**p.denominator <= base**p.numerator <= enclosed.upper**p.denominator
    assert enclosed.upper - enclosed.lower <= Fraction(1, 1 << 64) * min(
        Fraction(1), enclosed.lower
    )


@given(positives, st.integers(1, 7), st.integers(1, 7))
def test_a_rational_power_stays_exact(root: Fraction, a: int, b: int) -> None:
    enclosed = power(root**b, Fraction(a, b))
    assert enclosed.is_exact
    assert enclosed.lower == root**a


@given(st.one_of(rationals, st.integers(-99, 99)), positives, st.integers(-50, 50))
def test_rounding_moves_with_the_lattice(place: Fraction | int, step: Fraction, j: int) -> None:
    """An integer stands for the edge after that cell, where roundings differ."""
    grid = Grid(step)
    q = (place + Fraction(1, 2)) * step if isinstance(place, int) else place
    moved = q + j * step
    index = grid.index(q.numerator, q.denominator)
    assert index == floor(q / step + Fraction(1, 2))
    assert grid.index(moved.numerator, moved.denominator) == index + j


@given(st.lists(st.integers(-(10**20), 10**20)), positives, positives, st.integers(1, 9))
def test_whole_numbers_of_steps_are_rounded_as_any_number(
    numbers: list[int], step: Fraction, other: Fraction, odd: int
) -> None:
    """Beside any step, one of which odd numbers of steps lie on the edges of cells."""
    for grid in (Grid(other), Grid(2 * step / odd)):
        wanted = [floor(number * step / grid.step + Fraction(1, 2)) for number in numbers]
        assert grid.indices(numbers, step) == wanted


@given(rationals, st.fractions(min_value=0, max_value=1), positives, st.integers(1, 9))
def test_rounding_costs_no_sensitivity(
    q: Fraction, share: Fraction, sensitivity: Fraction, k: int
) -> None:
    grid = Grid(sensitivity / k)
    other = q + share * sensitivity
    moved = grid.index(*other.as_integer_ratio()) - grid.index(*q.as_integer_ratio())
    assert 0 <= moved <= k


def edge_floats(step: Fraction, scale: int, count: int) -> NDArray[np.float64]:
    """Floats at, just below and just above the edges of cells, and plain ones."""
    rng = np.random.default_rng(1)
    cells = rng.integers(-scale, scale, count)
    edges = [float((int(j) + Fraction(1, 2)) * step) for j in cells]
    near = [nextafter(x, side) for x in edges for side in (-np.inf, np.inf)]
    tiny = [0.0, -0.0, float(step / 2), nextafter(float(step / 2), 0.0), -float(step) / 3]
    return np.array([*edges, *near, *tiny, *rng.normal(size=count) * scale * float(step)])


@pytest.mark.parametrize("sensitivity", ["1", "0.7", "0.1", "3", "1/3", "1e-9", "1e3"])
@pytest.mark.parametrize("scale", [10, 2**30, 2**44])
def test_fast_rounding_is_exact_rounding_at_the_edges_of_cells(
    sensitivity: str, scale: int
) -> None:
    grid = Grid(Fraction(sensitivity) / 2**20)
    values = edge_floats(grid.step, scale, 3000)
    rounding = float_rounding(grid, float(abs(values).max()), 10)
    assert rounding is not None
    out, scratch = np.empty(values.size), np.empty(values.size)
    rounding.indices(values, out, scratch)
    exact = [grid.index(*x.as_integer_ratio()) for x in values.tolist()]
    assert np.array_equal(out, np.array(exact, dtype=np.float64))
    assert not np.signbit(out[out == 0]).any()  # a −0.0 would tell the sign of the true value
    expected = [grid.nearest_float(int(index)) for index in out]
    rounding.values(out)
    assert np.array_equal(out, expected)


def test_plain_float_rounding_fails_at_the_edges_of_cells() -> None:
    """The control: without the exact way for doubtful elements the same comparison fails."""
    step = Fraction(7, 10) / 2**20
    values = edge_floats(step, 2**30, 3000)
    naive = np.floor(values / float(step) + 0.5)
    exact = [Grid(step).index(*x.as_integer_ratio()) for x in values.tolist()]
    assert not np.array_equal(naive, exact)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 10), "0.1"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 10**300), "1e-300"),
        (Fraction(5 * 10**300), "5e300"),
        (Fraction(2**70, 3), "≈3.9353054e20"),
        (Fraction(0), "0"),
    ],
)
def test_numbers_print_exactly_or_say_that_they_do_not(number: Fraction, text: str) -> None:
    assert format_exact(number) == text


@given(rationals.filter(bool))
def test_a_number_rounded_up_is_not_below(number: Fraction) -> None:
    assert Fraction(format_rounded(number, 4, "ROUND_CEILING")) >= number
