"""Typical code of users, which type checkers read and nothing runs (test_user_typing.py)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_type

import leastnoise as ln
from leastnoise.tables import (
    AnswerTable,
    BoundsAnswer,
    Explanation,
    ExtremeAnswer,
    GroupedAnswers,
    IntervalQuantileAnswer,
    MeanAnswer,
    ProtectedTable,
    QuantileAnswer,
    Query,
    TableNumber,
    VarianceAnswer,
)

PRIVACY = ln.Privacy("0.2", "1e-7")


def ask_a_table(people: ProtectedTable) -> None:
    assert_type(people.count(privacy=PRIVACY), TableNumber)
    assert_type(people.count(by="region", privacy=PRIVACY), GroupedAnswers[TableNumber])
    total = people.sum("income", bounds=(0, 150_000), where="age >= 18", privacy=PRIVACY)
    assert_type(total, TableNumber)
    assert_type(total.interval(), tuple[Fraction, Fraction])
    sums = people.sum("hours", bounds=(0, 80), by="region", groups=["north"], share="1/50")
    assert_type(sums, GroupedAnswers[TableNumber])
    assert_type(sums["north"], TableNumber)
    assert_type(
        people.count(error=10, at_most="1/10", params={"n": 3}, where="age > :n"), TableNumber
    )
    mean = people.mean("income", bounds=("0.5", 9), privacy=PRIVACY, key="mean")
    assert_type(mean, MeanAnswer)
    means = people.mean("income", bounds=(0, 9), by=["sex", "age"], privacy=PRIVACY, max_groups=1)
    assert_type(means["f", 3], MeanAnswer)
    for _, one in means:
        assert_type(one.value, Fraction)
    assert_type(people.median("income", bounds=(0, 9), privacy=PRIVACY), QuantileAnswer)
    wide = people.quantile("income", 0.9, bounds=(0, 9), interval=0.95, privacy=PRIVACY)
    assert_type(wide, IntervalQuantileAnswer)
    some = people.median(
        "income", bounds=(0, 9), bins=64, by="sex", groups=["f", "m"], privacy=PRIVACY
    )
    assert_type(some, GroupedAnswers[QuantileAnswer])
    ends = people.quantile(
        "income", 0.9, bounds=(0, 9), interval=0.95, by="sex", groups=["f"], privacy=PRIVACY
    )
    assert_type(ends, GroupedAnswers[IntervalQuantileAnswer])
    assert_type(ends["f"], IntervalQuantileAnswer)
    ages = people.histogram("age", edges=[0, 18, 65], max_groups=1, privacy=PRIVACY)
    assert_type(ages, GroupedAnswers[TableNumber])


def ask_together(people: ProtectedTable) -> list[Fraction]:
    queries: Sequence[Query] = [
        ln.Count(by="sex", groups=["f", "m"], max_groups=1),
        ln.Sum("hours", bounds=(0, 80), where="age >= 18"),
        ln.Mean("hours", bounds=(0, 80)),
        ln.Quantile("age", 0.5, bounds=(0, 120)),
        ln.Histogram("age", edges=range(0, 120, 10), max_groups=1),
    ]
    assert_type(people.explain(*queries, privacy=PRIVACY), Explanation)
    assert_type(people.ask(queries, by="sex", max_groups=1, privacy=PRIVACY), AnswerTable)
    assert_type(people.clipped_share("hours", bounds=(0, 80), privacy=PRIVACY), MeanAnswer)
    assert_type(
        people.variance("hours", bounds=(0, 80), max_rows=2, privacy=PRIVACY), VarianceAnswer
    )
    lowest = people.min("age", bounds=(0, 9), by="sex", max_groups=1, max_rows=2, privacy=PRIVACY)
    assert_type(lowest, GroupedAnswers[ExtremeAnswer])
    assert_type(people.estimate_bounds("age", max_rows=2, privacy=PRIVACY), BoundsAnswer)
    assert_type(people.count(of="units", max_rows=1, privacy=PRIVACY), TableNumber)
    found = people.ask(queries, privacy=PRIVACY)
    return [one.value for one in found if not isinstance(one, GroupedAnswers)]


def open_a_table() -> None:
    with (
        ln.Ledger("people.ledger") as ledger,
        ln.protect("people.csv", unit="person_id", max_rows=1, ledger=ledger) as people,
    ):
        assert_type(people, ProtectedTable)
        ask_a_table(people)
    assert_type(ln.protect(card="people.toml", analyst="ann"), ProtectedTable)
    rows = ln.protect("people.csv", unit=None, ledger=ln.UNRECORDED, neighbors="replace")
    assert_type(rows, ProtectedTable)
