"""Within one ask, numbers that are the same are released once: answers agree, and cost less.

The control of each case is a question about other rows, whose number is released by itself.
"""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leastnoise as ln
from leastnoise.mechanism import find_blocks
from leastnoise.tables import Count, Histogram, Mean, ProtectedTable, Quantile, Sum
from leastnoise.tables.explanation import Explanation

PRIVACY = ln.Privacy(1, "1e-6")
ROWS = 4_000


def table() -> Any:
    """Return a table of units in two groups each, some without a value."""
    return pa.table(
        {
            "unit": [i // 2 for i in range(ROWS)],
            "g": [("a", "b", "c")[(i // 2 + i) % 3] for i in range(ROWS)],
            "x": [None if i % 5 == 0 else float(i % 7) for i in range(ROWS)],
            "h": [i % 4 for i in range(ROWS)],
            "k": [i % 3 for i in range(ROWS)],
        }
    )


def people() -> ProtectedTable:
    return ln.protect(table(), unit="unit", max_rows=2, ledger=ln.UNRECORDED)


def ask(questions: list[Any], privacy: ln.Privacy = PRIVACY) -> list[Any]:
    return list(people().ask(questions, privacy=privacy))


BY: dict[str, Any] = {"by": "g", "max_groups": 1}
KEYS: dict[str, Any] = {**BY, "groups": ["a", "b"]}
KNOWN = "x is not null"


def _explain(questions: list[Any]) -> Explanation:
    return people().explain(*questions, privacy=PRIVACY)


def numbers(questions: list[Any]) -> list[list[int]]:
    """Return which number each question releases: equal places are one number."""
    explained: dict[str, Any] = _explain(questions).to_dict()
    return [[one["number"] for one in asked["numbers"]] for asked in explained["questions"]]


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ([Count(), Count()], [[0], [0]]),
        ([Count(where=KNOWN), Mean("x", bounds=(0, 6))], [[0], [0, 1]]),
        ([Mean("x", bounds=(0, 6)), Count(where=KNOWN)], [[0, 1], [0]]),
        (
            [
                Count(where=f"{KNOWN} and h < 3"),
                Mean("x", bounds=(0, 6), where="h < 3"),
                Mean("x", bounds=(0, 3), where="h < 3 and x is not null"),
            ],
            [[0], [0, 1], [0, 2]],
        ),
        ([Mean("x", bounds=(0, 6), **KEYS), Count(where=KNOWN, **KEYS)], [[0, 1], [0]]),
        (
            [Count(**BY), Sum("h", bounds=(0, 3), **BY), Sum("x", bounds=(0, 6), **BY)],
            [[0], [0, 1], [0, 2]],
        ),
        ([Sum("x", bounds=(0, 6)), Sum("x", bounds=(0, 6)), Count()], [[0], [0], [1]]),
        ([Mean("x", bounds=(0, 6)), Mean("x", bounds=(0, 6))], [[0, 1], [0, 1]]),
        (
            [Histogram("x", edges=[0, 3, 7], max_groups=2)] * 2,
            [[0], [0]],
        ),
        ([Quantile("x", "0.5", bounds=(0, 7), bins=8)] * 2, [[0], [0]]),
        # Other rows, other groups, other values: other numbers.
        ([Count(), Mean("x", bounds=(0, 6))], [[0], [1, 2]]),
        ([Count(**BY), Count(**KEYS)], [[0], [1]]),
        ([Count(**KEYS), Count(**KEYS | {"max_groups": 2})], [[0], [1]]),
        ([Sum("x", bounds=(0, 6)), Sum("x", bounds=(0, 5))], [[0], [1]]),
        ([Sum("h", bounds=(0, 3)), Sum("k", bounds=(0, 3))], [[0], [1]]),
        ([Sum("h", bounds=(-3, 2)), Sum("h", bounds=(-2, 3))], [[0], [1]]),
        ([Count(where="h < 3"), Count(where="h < 2")], [[0], [1]]),
        ([Mean("x", bounds=(0, 6)), Mean("h", bounds=(0, 6))], [[0, 1], [2, 3]]),
        (
            [
                Quantile("x", "0.5", bounds=(0, 7), bins=8),
                Quantile("x", "0.9", bounds=(0, 7), bins=8),
            ],
            [[0], [1]],
        ),
    ],
)
def test_equal_numbers_are_one(questions: list[Any], expected: list[list[int]]) -> None:
    assert numbers(questions) == expected


def test_a_count_and_a_mean_of_the_same_rows_agree() -> None:
    for _ in range(5):
        count, mean = ask([Count(where=KNOWN), Mean("x", bounds=(0, 6))])
        assert count.value == mean.count.value
        assert count.mechanism is mean.count.mechanism


def test_discovered_groups_agree() -> None:
    questions = [Count(**BY), Sum("h", bounds=(0, 3), **BY), Sum("x", bounds=(0, 6), **BY)]
    for _ in range(3):
        counts, *sums = ask(questions)
        assert counts.keys
        assert all(one.keys == counts.keys for one in sums)


def test_numbers_that_differ_have_noise_of_their_own() -> None:
    """The control: 30 pairs of equal noise, by chance alone, are less likely than 1e-9."""
    pairs = [
        ask([Count(where="h < 9"), Count(where="h < 8")], ln.Privacy("0.1")) for _ in range(30)
    ]
    assert any(one.value != other.value for one, other in pairs)


def test_a_question_that_is_asked_twice_costs_once() -> None:
    once = ask([Count()])[0]
    first, second = ask([Count(), Count()])
    assert first.value == second.value
    assert first.mechanism == second.mechanism == once.mechanism
    assert first.privacy == first.total_privacy == PRIVACY


def test_the_budget_is_split_over_distinct_numbers() -> None:
    """A count and two means of the same rows are three numbers, not five."""
    questions = [Count(where=KNOWN), Mean("x", bounds=(0, 6)), Mean("x", bounds=(0, 3))]
    count, *means = ask(questions, ln.Privacy(1))
    parts = [count.mechanism, *(mean.sum.mechanism for mean in means)]
    ((joint, places),) = find_blocks(parts)  # one sample of joint noise for all three
    assert (joint.privacy, places) == (ln.Privacy(1), (0, 1, 2))
    # Each states its own numbers, and the total.
    assert count.privacy == count.mechanism.privacy
    for mean in means:
        assert mean.count.mechanism == count.mechanism
        assert mean.privacy == mean.total_privacy == count.total_privacy == ln.Privacy(1)


def test_all_answers_of_a_batch_state_their_share_and_the_total() -> None:
    questions = [
        Count(**KEYS | {"max_groups": 2}),
        Sum("x", bounds=(0, 6)),
        Mean("x", bounds=(0, 6)),
        Quantile("x", "0.5", bounds=(0, 7), bins=8),
    ]
    answers = ask(questions)
    totals = {answer.total_privacy for answer in answers}
    assert len(totals) == 1
    (total,) = totals
    assert total.epsilon <= 1
    assert all(0 < answer.privacy.epsilon < total.epsilon for answer in answers)
    grouped = answers[0]
    assert grouped.privacy.epsilon == 2 * grouped["a"].privacy.epsilon
    # Together the shares are at least the total: none is understated.
    assert sum(answer.privacy.epsilon for answer in answers) >= total.epsilon * Fraction(99, 100)


def test_an_explanation_names_shared_numbers() -> None:
    explained = str(_explain([Mean("x", bounds=(0, 6)), Count(where=KNOWN)]))
    lines = [line.split() for line in explained.splitlines()]
    assert ["count", "count", "as", "above"] in lines
    alone = str(_explain([Mean("x", bounds=(0, 6))]))
    assert "as above" not in alone


def test_a_ledger_stores_which_numbers_are_shared(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "people.parquet")
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(9, "1e-5")) as ledger:
        source = tmp_path / "people.parquet"
        protected: Any = ln.protect(source, unit="unit", max_rows=2, ledger=ledger)
        shared = [Count(where=KNOWN), Mean("x", bounds=(0, 6))]
        first = protected.ask(shared, privacy=PRIVACY)
        again = protected.ask(shared, privacy=PRIVACY)
        assert [one.value for one in first] == [one.value for one in again]
        protected.ask([Count(), Mean("x", bounds=(0, 6))], privacy=PRIVACY)
        protected.count(privacy=PRIVACY)
        assert len(ledger.releases) == 3
        words: list[dict[str, Any]] = [one.asked for one in ledger.releases if one.asked]
    assert [one.get("numbers") for one in words] == [[[0], [0, 1]], None, None]
    assert [list(map(len, one["noise"])) for one in words] == [[1, 2], [1, 2], [1]]


def test_a_shared_count_is_one_draw_for_every_group() -> None:
    """With many groups all counts agree with those of the means, group by group."""
    many = pa.table({"g": list(range(500)) * 4, "x": [1.5] * 2000})
    protected: Any = ln.protect(many, unit=None, ledger=ln.UNRECORDED)
    keys: dict[str, Any] = {"by": "g", "groups": range(500)}
    counts, means = protected.ask(
        [Count(where=KNOWN, **keys), Mean("x", bounds=(0, 2), **keys)], privacy=ln.Privacy("0.5")
    )
    pairs = zip(counts.answers, means.answers, strict=True)
    assert all(count.value == mean.count.value for count, mean in pairs)
    # The noise of two groups differs: 500 equal values would be as unlikely as 1e-100.
    assert len({count.value for count in counts.answers}) > 1
    assert math.isinf(means.answers[0].max_error)
