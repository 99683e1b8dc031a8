"""Audits from table to answer: neighbouring tables are asked, and must not be told apart.

A table of many groups with the same rows in each is as many tables asked at once: no unit is in two
of them, and each has noise of its own. In the neighbour every group has one unit less. For the
half-line that tells two such groups apart best, P(S) ≤ e^ε·P′(S) + δ must hold; Clopper and
Pearson's intervals bound both probabilities from the safe sides, so that an audit of a guarantee
that is kept fails at a rate of at most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from scipy import stats

import leastnoise as ln
from leastnoise.tables import Count, GroupedAnswers, Sum
from tests.support.confidence_intervals import FALSE_ALARM

MANY = 100_000


def released(size: int, units: int, question: Any, privacy: ln.Privacy, **how: Any) -> list[float]:
    """Ask a table of so many groups, of so many units in each, and return what is released.

    Each unit has two rows, of which one counts.
    """
    given = range(size * units)
    rows = pa.table(
        {
            "unit": [unit for unit in given for _ in range(2)],
            "g": [unit % size for unit in given for _ in range(2)],
            "x": [9.5] * (2 * len(given)),
        }
    )
    options: dict[str, Any] = {"unit": "unit", "max_rows": 1} | how
    people = ln.protect(rows, ledger=ln.UNRECORDED, **options)
    (answer,) = people.ask([question], privacy=privacy)
    assert isinstance(answer, GroupedAnswers)
    assert len(answer) == size
    return [float(one) for one in answer.answers if isinstance(one, ln.Answer)]


def proved(near: list[float], far: list[float], places: list[float], delta: float) -> float:
    """Return an ε below which no guarantee can be kept, wrongly at a rate of at most 1e-9.

    ``near`` are answers of the smaller table; half-lines are from ``places``, fixed beforehand.
    """
    rate, best = FALSE_ALARM / (2 * len(places)), 0.0
    for place in places:
        often = sum(value > place for value in far)
        seldom = sum(value > place for value in near)
        low = float(stats.beta.ppf(rate, often, len(far) - often + 1)) if often else 0.0
        high = float(stats.beta.ppf(1 - rate, seldom + 1, len(near) - seldom))
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best


def audit(
    size: int, kind: str, asked: ln.Privacy, delta: Fraction = Fraction(0), **how: Any
) -> float:
    """Return the ε that two neighbouring tables prove, at a δ."""
    keys = range(size)
    question = Count(by="g", max_groups=1, groups=keys) if kind == "count" else Sum(
        "x", bounds=(0, 4), by="g", max_groups=1, groups=keys
    )  # fmt: skip
    moved = 1 if kind == "count" else 4
    near, far = (released(size, units, question, asked, **how) for units in (1, 2))
    rows = 2 if how.get("unit", "") is None else 1
    # Half-way between the true answers of the two tables, and at both.
    places = [moved * (1 + 1 / 2) - 1e-6, moved * 1.0, moved * 2.0 - 1e-6]
    return proved(near, far, [place * rows for place in places], float(delta))


GUARANTEES = [ln.Privacy(1), ln.Privacy("0.5", "0.05")]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["count", "sum"])
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_neighbouring_tables_are_told_apart_no_better_than_promised(
    kind: str, guarantee: ln.Privacy
) -> None:
    found = audit(MANY, kind, guarantee, guarantee.delta)
    assert found <= guarantee.epsilon
    assert found >= guarantee.epsilon / 2, "the audit must be able to see something"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["count", "sum"])
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_half_the_noise_is_seen(kind: str, guarantee: ln.Privacy) -> None:
    """The control: noise for twice the ε, and δ, is half as large and does not satisfy the
    guarantee."""
    half = ln.Privacy(2 * guarantee.epsilon, 2 * guarantee.delta)
    assert audit(MANY, kind, half, guarantee.delta) > guarantee.epsilon


def test_a_small_audit_of_a_count_and_of_a_claim_that_is_false() -> None:
    """Where rows are called units and everyone has two, twice the ε is proved."""
    guarantee = ln.Privacy(1)
    assert audit(6_000, "count", guarantee) <= guarantee.epsilon
    false: dict[str, Any] = {"unit": None, "max_rows": None}
    assert audit(6_000, "count", guarantee, **false) > guarantee.epsilon
