"""Approximate extremes and released bounds: what they say of the rows beyond them."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.mechanism import PermuteAndFlip
from leastnoise.tables import BoundsAnswer, ExtremeAnswer
from leastnoise.tables.bounding import Bins, RoundBins
from leastnoise.tables.queries.bounds_answer import outside_target
from leastnoise.tables.queries.selecting import (
    rank_errors,
    ranks_from_high,
    ranks_from_low,
    tail_target,
)

GRID = Bins(Fraction(0), Fraction(8), 8)


def answer(place: int, select: PermuteAndFlip, *, highest: bool) -> ExtremeAnswer:
    return ExtremeAnswer(place, GRID, highest, select, ln.Privacy(1))


@pytest.mark.parametrize("highest", [False, True])
@pytest.mark.parametrize(
    "counts",
    [[0] * 8, [1] + [0] * 7, [0] * 7 + [1], [0, 0, 400, 0, 0, 300, 0, 0], [50] * 8, [9, 0] * 4],
)
def test_every_bin_whose_error_is_small_keeps_what_the_answer_says(
    counts: list[int], *, highest: bool
) -> None:
    """Bin by bin, without noise: an error of at most t is all that the proofs use."""
    select = PermuteAndFlip(ln.Privacy("0.5"), sensitivity=2, candidates=8)
    target, total = tail_target(select, Fraction(19, 20)), sum(counts)
    below = np.cumsum(counts[:-1])
    ranks = ranks_from_high(below, total, target) if highest else ranks_from_low(below, target)
    errors = rank_errors(ranks)
    assert min(errors) == 0
    rows = [place + 0.5 for place, count in enumerate(counts) for _ in range(count)]
    for place, error in enumerate(errors):
        if error > select.error_bound("0.95"):
            continue
        one = answer(place, select, highest=highest)
        beyond = sum(row > one.value if highest else row < one.value for row in rows)
        assert beyond <= one.rows_beyond()
        low, high = one.interval()
        if rows:
            assert low <= (max(rows) if highest else min(rows)) <= high
        assert [*one.interval("0.999")] == [0, 8]


def test_round_bins_meet_and_put_round_numbers_on_the_side_of_0() -> None:
    for ends, whole in (((-(1 << 53), 1 << 53), True), ((-1, 3), False), ((0, 7), False)):
        grid = RoundBins.between((Fraction(ends[0]), Fraction(ends[1])), whole=whole)
        assert grid.bins[0][0] == ends[0]
        assert grid.bins[-1][1] == ends[1]
        assert all(one[1] == other[0] for one, other in pairwise(grid.bins))
        assert grid.bins.count((Fraction(0), Fraction(0))) == 1


def test_bounds_hold_all_but_a_few_rows_and_can_be_passed_on() -> None:
    people = ln.protect(ln.tables.census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    found = people.estimate_bounds("income", privacy=ln.Privacy(20))
    assert isinstance(found, BoundsAnswer)
    outside = people.count(where=f"income > {int(found.high)}", privacy=ln.Privacy(20))
    assert outside.value <= found.rows_outside("0.9999999999") + outside.max_error
    assert people.mean("income", bounds=found.bounds, privacy=ln.Privacy(1)).value > 0
    with pytest.raises(ln.errors.InvalidParameter, match="have no interval"):
        found.interval()


def test_bounds_of_no_rows_and_of_zeros_are_bounds() -> None:
    grid = RoundBins.between((Fraction(-1), Fraction(2)), whole=True)
    select = PermuteAndFlip(ln.Privacy(1), sensitivity=1, candidates=grid.count)
    zero = grid.bins.index((Fraction(0), Fraction(0)))
    for places, wanted in (((zero, zero), (0, 1)), ((0, grid.count - 1), (-1, 2))):
        one = BoundsAnswer(places, grid, select, ln.Privacy(1))
        assert [*one.bounds] == [*wanted]
        assert one.rows_outside() >= outside_target(select)


def test_a_grid_of_one_bin_is_rejected() -> None:
    people = ln.protect(ln.tables.census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    with pytest.raises(ln.errors.InvalidParameter, match="must contain a round number"):
        people.estimate_bounds("income", bounds=(3, 4), privacy=ln.Privacy(1))


def test_new_queries_are_recorded_and_repeated_at_no_cost(tmp_path: Any) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(10)) as ledger:
        people = ln.protect(ln.tables.census(), unit="person_id", max_rows=1, ledger=ledger)
        bounds = {"age": (0, 128)}
        for name in ("variance", "std", "min", "max", "estimate_bounds"):
            ask = getattr(people, name)
            first = ask("age", bounds=bounds["age"], privacy=ln.Privacy(1))
            again = ask("age", bounds=bounds["age"], privacy=ln.Privacy(1))
            assert again.receipt.reused
            assert (again.value, again.max_error) == (first.value, first.max_error)
        assert ledger.spent.epsilon == 5
