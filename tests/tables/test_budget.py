"""One guarantee is shared among all the numbers that one unit can move."""

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.mechanism import find_blocks
from leastnoise.tables import Count, Mean, Quantile, Query, Sum


def shares(question: Query, neighbours: str) -> list[Fraction]:
    """Return the ε of each number that is released for one group, out of ε = 1 and δ = 0.

    Numbers with joint noise are one sample, whose ε counts once.
    """
    people = ln.protect(
        pa.table({"unit": [1, 2], "g": ["a", "b"], "x": [0.5, 1.5]}),
        unit="unit",
        max_rows=1,
        neighbors=neighbours,
        ledger=ln.UNRECORDED,
    )
    answers: Any = people.ask([question], privacy=ln.Privacy(1))[0]
    assert answers.privacy == ln.Privacy(1)
    one = answers.answers[0]
    parts = [one.count, one.sum] if isinstance(question, Mean) else [one]
    assert not any(part.mechanism.privacy.delta for part in parts)
    mechanisms = [part.mechanism for part in parts]
    if isinstance(question, Mean):
        return [block.privacy.epsilon for block, _ in find_blocks(mechanisms)]
    return [mechanism.privacy.epsilon for mechanism in mechanisms]


@pytest.mark.parametrize(("neighbours", "times"), [("add_remove", 1), ("replace", 2)])
@pytest.mark.parametrize(
    ("question", "moved"),
    [
        *((Count(by="g", groups=["a", "b"], max_groups=groups), groups) for groups in (1, 3, 100)),
        (Sum("x", bounds=(0, 2), by="g", groups=["a", "b"], max_groups=3), 3),
        (Mean("x", bounds=(0, 2), by="g", groups=["a", "b"], max_groups=3), 3),
        (Quantile("x", "0.5", bounds=(0, 2), bins=16, by="g", max_groups=1, groups=["a", "b"]), 1),
        (
            Quantile(
                "x", "0.5", bounds=(0, 2), interval="0.9", by="g", max_groups=1, groups=["a", "b"]
            ),
            3,
        ),
    ],
    ids=[
        "count in 1",
        "count in 3",
        "count in 100",
        "sum in 3",
        "mean in 3",
        "quantile in 1",
        "quantile with an interval",
    ],
)
def test_what_one_unit_can_move_adds_up_to_the_guarantee(
    question: Query, moved: int, neighbours: str, times: int
) -> None:
    """A unit is in so many groups, or leaves as many as it enters; at δ = 0, ε adds up."""
    total = times * moved * sum(shares(question, neighbours))
    assert Fraction(99, 100) < total <= 1
