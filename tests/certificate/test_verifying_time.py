"""A short file cannot keep its verifier busy for long.

Times are of the processor, several hundred times what is needed and far below what the quadratic
loops of earlier versions took for the same input.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.certificate import Frame, LatticeBound
from leastnoise.core.exact import Interval
from leastnoise.costs.fit import Readings, find_fitting
from leastnoise.errors import InvalidParameter

F = Fraction


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds


def lattice(cells: int, reach: int, weights: list[int], falls: list[int]) -> LatticeBound:
    floors = tuple(F(k, cells) for k in range(reach + 2))
    return LatticeBound(
        Frame("chords", cells, reach), F(1), tuple(weights), (), tuple(falls), floors
    )


def test_many_cells_take_time_in_proportion() -> None:
    n = 20_000
    with at_most(8):  # 25 before
        assert lattice(n, n, [0] * n, []).prove(ln.l1, ln.Privacy(delta="0.1"), F(1)) == 0


def test_many_falls_take_time_in_proportion() -> None:
    n = 40_000
    with at_most(8):  # 30 before
        assert lattice(1, n, [0], [0] * n).prove(ln.l1, ln.Privacy(delta="0.1"), F(1)) == 0


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.integers(0, 9),
    st.sampled_from(["points", "chords", "cells", "smoothed"]),
)
def test_the_rim_counts_each_shift_at_its_own_points(
    weights: list[int], reach: int, rule: str
) -> None:
    """A shift j gains its weight at the first j points: counted one by one."""
    frame = Frame(rule, len(weights), reach)
    bound = LatticeBound(frame, F(1), tuple(weights), (), (), (F(0),) * (reach + 2))
    gained, owed = bound._sum_tests()
    expected = [0] * (reach + 1)
    for shift, weight in enumerate(weights, start=1):
        for point in range(min(shift, frame.points)):
            expected[frame.side(point)] += weight
    assert (gained, owed) == (expected, [0] * (reach + 1))


@pytest.mark.parametrize("falls", [[-1], [0, -1], [1, 1, 1, 1, 1]])
def test_multipliers_of_falling_are_still_verified(falls: list[int]) -> None:
    bound = lattice(1, 4, [0], falls)
    with pytest.raises(InvalidParameter, match="multipliers of unimodality are out of order"):
        bound.find_least_charge(F(1), F(0))


def table(nodes: int, kind: str, asked: Callable[[int], tuple[Fraction, ...]], of: int) -> Readings:
    """Return the values of x² at 0, 1, … and further readings that it has."""
    readings = {("value", (F(i),)): Interval.exact(i * i) for i in range(nodes)}
    further = {(kind, asked(i)): Interval(F(0), F(10**12)) for i in range(of)}
    return readings | further


COSTLY: dict[str, Callable[[int], tuple[Fraction, ...]]] = {
    "largest_sag": lambda i: (F(1, 10 + i), F(10**4)),
    "total": lambda i: (F(1, 10 + i), F(5)),
    "sag": lambda i: (F(0), F(10**4 + i)),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_no_table_is_read_from_end_to_end_for_each_of_its_readings(kind: str) -> None:
    """A thousand lattices over a thousand values are more than a proof needs: not verified."""
    with at_most(10):  # 20 to 80 before
        assert find_fitting(table(1000, kind, COSTLY[kind], 1000)) is None
    assert find_fitting(table(1000, kind, COSTLY[kind], 4)) is not None
