"""An audit of joint noise through means by groups: every group is a trial of the same neighbors."""

import math
from typing import Any

import pyarrow as pa

import leastnoise as ln
from leastnoise.mechanism import JointPart
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

GROUPS, CALLS, EPSILON = 5_000, 15, 1
# Events that the count and the sum of value − middle are both large; a unit adds 1 to both.
EVENTS = [(2, 2.0), (3, 3.0), (4, 4.0), (1, 4.0)]

Points = list[tuple[int, float]]


def released(units: int, max_groups: int = 1) -> list[Any]:
    """Return means by public groups of a table with so many units in each group."""
    each = range(GROUPS * units)
    table = pa.table(
        {
            "unit": [*each, -1],
            "g": [*(unit % GROUPS for unit in each), GROUPS],
            "x": [2.0] * (GROUPS * units + 1),
        }
    )
    people = ln.protect(table, unit="unit", max_rows=1, ledger=ln.UNRECORDED)
    answers: list[Any] = []
    for _ in range(CALLS):
        answers += people.mean(
            "x",
            bounds=(0, 2),
            by="g",
            groups=list(range(GROUPS)),
            max_groups=max_groups,
            privacy=ln.Privacy(EPSILON * max_groups),
        ).answers
    return answers


def points_of(answers: list[Any]) -> Points:
    return [(int(answer.count.value), float(answer.sum.value)) for answer in answers]


def exceeds(more: Points, less: Points) -> bool:
    """Return whether some event is proved to be more than e^ε times as likely.

    Clopper–Pearson bounds; false alarms at most 1e-9 for all events together.
    """
    rate = FALSE_ALARM / (2 * len(EVENTS))
    for rows, total in EVENTS:
        often, seldom = (
            sum(n >= rows and s >= total for n, s in points) for points in (more, less)
        )
        low = clopper_pearson(often, len(more), rate)[0]
        high = clopper_pearson(seldom, len(less), rate)[1]
        if low > math.exp(EPSILON) * high:
            return True
    return False


def test_a_unit_does_not_change_a_mean_by_more_than_its_guarantee() -> None:
    """The control: the same noise with sums from other samples, as if both were independent."""
    answers, before = released(1), points_of(released(0))
    assert isinstance(answers[0].sum.mechanism, JointPart)
    after = points_of(answers)
    assert not exceeds(after, before)

    def shuffle(points: Points) -> Points:
        sums = [total for _, total in points]
        return [(n, sums[i - 1]) for i, (n, _) in enumerate(points)]

    assert exceeds(shuffle(after), shuffle(before))
