"""Quantiles of a unit in many groups: its selections are the guarantee together.

The δ of all selections that one unit changes is computed from their exact distributions. Selections
that get the whole ε in every group are the control: the same check rejects them.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.core.gaussian_cost import cost_of_guarantee, find_caps
from leastnoise.mechanism import PermuteAndFlip
from leastnoise.tables import ProtectedTable, Quantile
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE
from leastnoise.tables.queries.selecting import rank_errors

BOTH = ln.Privacy(1, "1e-6")
TABLE = pa.table(
    {
        "unit": [*range(400), *[1000] * 4],
        "g": [*"abcd" * 100, *"abcd"],
        "x": [place % 10 / 10 for place in range(400)] + [0.9] * 4,
    }
)


def protected(neighbors: str = ADD_REMOVE) -> ProtectedTable:
    return ln.protect(
        TABLE, unit="unit", max_rows=1, neighbors=neighbors, ledger=ln.UNRECORDED, name="people"
    )


def selection(
    max_groups: int,
    *,
    privacy: ln.Privacy = BOTH,
    neighbors: str = ADD_REMOVE,
    groups: Any = ("a", "b"),
    **more: Any,
) -> tuple[PermuteAndFlip, int]:
    """Return the mechanism that selects a bin in each group, and how many one unit changes."""
    given: dict[str, Any] = {"bounds": (0, 1), "bins": 2} | more
    query = Quantile("x", "0.5", by="g", groups=groups, max_groups=max_groups, **given)
    ((_, numbers),) = protected(neighbors).explain(query, privacy=privacy).prepared.queries
    number, mechanism = numbers[-1]
    assert isinstance(mechanism, PermuteAndFlip)
    return mechanism, number.touched


def delta_of(mechanism: PermuteAndFlip, times: int, epsilon: float) -> float:
    """Return δ at ε of so many selections of two bins, in both orders.

    In every group a unit is added below the median of a group with as many rows in both bins.
    """
    distributions = []
    for rank in (0, 1):
        errors = rank_errors(np.array([rank]))
        low, high = (math.exp(-float(mechanism.selector.rate) * int(error)) for error in errors)
        both = low * high / 2
        distributions.append((low * (1 - high) + both, high * (1 - low) + both))
    (p, _), (q, _) = distributions
    found = 0.0
    for one, other in ((p, q), (q, p)):
        total = 0.0
        for k in range(times + 1):
            logs = [
                math.lgamma(times + 1)
                - math.lgamma(k + 1)
                - math.lgamma(times - k + 1)
                + k * math.log(chance)
                + (times - k) * math.log1p(-chance)
                for chance in (one, other)
            ]
            total += max(0.0, math.exp(logs[0]) - math.exp(epsilon + logs[1]))
        found = max(found, total)
    return found


@pytest.mark.parametrize("max_groups", [3, 30, 200, 2000])
def test_all_selections_of_one_unit_are_within_the_guarantee(max_groups: int) -> None:
    mechanism, touched = selection(max_groups)
    assert touched == max_groups
    assert delta_of(mechanism, touched, 1.0) <= float(BOTH.delta)
    # Not wasteful: the ε of all selections is at least that of a split.
    assert mechanism.privacy.epsilon >= Fraction(1, max_groups)
    naive = PermuteAndFlip(ln.Privacy(BOTH.epsilon), mechanism.sensitivity, 2)
    assert delta_of(naive, touched, 1.0) > 1000 * float(BOTH.delta)


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("interval", [None, "0.9"])
@pytest.mark.parametrize("max_groups", [1, 7, 400])
def test_costs_of_selections_add_up_to_the_guarantee(
    max_groups: int, interval: str | None, neighbors: str
) -> None:
    """By ε, or by μ(ε)² against M²; nearly all of one of them is used."""
    times = max_groups * (2 if neighbors == REPLACE else 1) * (1 if interval is None else 3)
    for delta in (0, "1e-6"):
        privacy = ln.Privacy(1, delta)
        mechanism, touched = selection(
            max_groups, privacy=privacy, neighbors=neighbors, interval=interval
        )
        assert touched == times
        used = [times * mechanism.privacy.epsilon]
        if delta:
            square = times * cost_of_guarantee(mechanism.privacy).square
            used.append(square / find_caps(privacy).square)
        assert Fraction(999, 1000) < min(used) <= 1


def test_the_rank_error_of_many_groups_grows_as_a_root_without_a_jump() -> None:
    near = [*range(20, 40)]  # the choice changes here
    ratio = {groups: selection(groups)[0].privacy.epsilon for groups in (*near, 10_000, 40_000)}
    assert all(1 <= float(ratio[one] / ratio[later]) < 1.06 for one, later in pairwise(near))
    assert float(ratio[10_000] / ratio[40_000]) == pytest.approx(2, rel=1e-6)


def test_a_unit_counts_in_one_bin_of_each_of_its_groups() -> None:
    """With a huge ε every answer is the true one, and one unit's rows decide each group."""
    table = pa.table({"unit": [1] * 8, "g": [*"aabbccdd"], "x": [0.1, 0.9] * 4})
    people = ln.protect(table, unit="unit", max_rows=1, ledger=ln.UNRECORDED)
    shown = Counter[int]()
    for seed in range(20):
        found: Any = people.quantile(
            "x",
            "0.5",
            bounds=(0, 1),
            bins=2 + 2 * seed,
            by="g",
            groups=[*"abcd"],
            max_groups=4,
            privacy=ln.Privacy(4000),
        )
        bins = [answer.bin for _, answer in found]
        assert all(
            place in (int(0.1 * (2 + 2 * seed)), int(0.9 * (2 + 2 * seed))) for place in bins
        )
        shown.update(answer.value < Fraction(1, 2) for _, answer in found)
    # The hash picks each bin about equally often: 80 fair coins, outside with 1e-9.
    assert 13 < shown[True] < 67


def test_discovered_groups_of_many_share_a_guarantee_with_the_selections() -> None:
    query = Quantile("x", "0.5", bounds=(0, 1), by="g", max_groups=40)
    prepared = protected().explain(query, privacy=BOTH).prepared
    assert prepared.together == BOTH
    caps = find_caps(BOTH, BOTH.delta / 4)
    assert prepared.gaussian_cost.fits(caps)
    assert prepared.gaussian_cost.square > caps.square * Fraction(999, 1000)
    found: Any = protected().median("x", bounds=(0, 1), by="g", max_groups=4, privacy=BOTH)
    assert set(found.keys) <= {("a",), ("b",), ("c",), ("d",)}
