"""Quantiles of |Y − m·X| for joint noise, against enumeration, and the intervals of means."""

import itertools
from fractions import Fraction

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.calibration import find_joint
from leastnoise.core.noise import BoundedJointStaircase
from leastnoise.mechanism import JointPart
from leastnoise.tables import joint_ratio
from leastnoise.tables.joint_ratio import JointErrorQuantile
from leastnoise.tables.ratio import ErrorQuantile
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

ONE, LEVEL = Fraction(1), Fraction(19, 20)


def within(noise: BoundedJointStaircase, slope: Fraction, reach: Fraction) -> Fraction:
    """Return P(|Y − slope·X| ≤ reach) by enumerating every point of the noise."""
    halves = [noise.half_width(place, noise.last_box) for place in range(noise.dimension)]
    inside = total = 0
    for point in itertools.product(*(range(-half, half + 1) for half in halves)):
        boxes = zip(point, noise.shifts, noise.edges, strict=True)
        box = max(max(0, -((edge - abs(x)) // shift)) for x, shift, edge in boxes)
        weight = noise.weights[box]
        total += weight
        x, y = point[0] * noise.steps[0], point[1] * noise.steps[1]
        inside += weight * (abs(y - slope * x) <= reach)
    return Fraction(inside, total)


SMALL = [
    BoundedJointStaircase((ONE, Fraction(1, 40)), (1, 41), (0, 20), Fraction(2, 5), 4),
    BoundedJointStaircase((ONE, Fraction(1, 10)), (3, 11), (1, 5), Fraction(1, 2), 6),
    BoundedJointStaircase((ONE, Fraction(1, 10), ONE), (1, 11, 1), (0, 5, 0), Fraction(1, 3), 2),
]


@pytest.mark.parametrize("noise", SMALL, ids=lambda noise: str(noise.shifts))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_quantile_covers_and_is_nearly_the_smallest(
    noise: BoundedJointStaircase, grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every slope up to the given one is covered, by the exact probability of all points."""
    if grouped:
        monkeypatch.setattr(joint_ratio, "_MOST", 2)
    quantile = JointErrorQuantile(noise, 0, 1, LEVEL)
    for slope in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(2)):
        reach = quantile.at(slope)
        for part in (0, Fraction(1, 2), 1):
            assert within(noise, slope * part, reach) >= LEVEL
        if not grouped:
            assert within(noise, slope, reach * Fraction(9, 10) - slope - noise.steps[1]) < LEVEL


def test_independent_quantiles_would_not_cover() -> None:
    """The control: quantiles from the marginals alone, as if errors were independent, differ."""
    noise = find_joint(ln.Privacy(1), (ONE, ONE), (True, False))
    own, other = noise.marginal(0), noise.marginal(1)
    slope = Fraction(1)
    joint = JointErrorQuantile(noise, 0, 1, Fraction(1, 2)).at(slope)
    apart = ErrorQuantile(own, other, Fraction(1, 2)).at(slope)
    far = JointErrorQuantile(noise, 0, 1, Fraction(999, 1000)).at(slope)
    far_apart = ErrorQuantile(own, other, Fraction(999, 1000)).at(slope)
    assert joint != apart
    assert far > far_apart  # large errors of both come together


@pytest.mark.parametrize("place", ["low", "middle", "high"])
def test_intervals_of_means_cover(place: str) -> None:
    """300 means of a small table; false alarms at most 1e-9."""
    base = {"low": 0, "middle": 9, "high": 19}[place]
    values = [base / 20 + (i % 7) / 140 for i in range(40)]
    truth, trials, hits = sum(values) / len(values), 300, 0
    table = ln.protect(pa.table({"v": values}), unit=None, ledger=ln.UNRECORDED)
    for _ in range(trials):
        mean = table.mean("v", bounds=(0, 1), privacy=ln.Privacy(1))
        assert isinstance(mean.sum.mechanism, JointPart)
        low, high = mean.interval()
        hits += low <= truth <= high
    assert clopper_pearson(hits, trials, FALSE_ALARM)[1] >= LEVEL
