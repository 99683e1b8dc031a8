"""A unit in many groups: no largest number of groups, no jump, and an audit of discovery.

Groups compose by Gaussian accounting (docs/theory/many-answers.md). The audit reads counts of many
independent blocks of groups from one query, with and without a unit that is in all groups of its
block. Noise that forgets how many groups a unit is in is the control: the same audit rejects it.
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.core.noise import Gaussian, Rounded, TruncatedGaussian
from leastnoise.tables import Count, GroupedAnswers, Query, Sum
from leastnoise.tables.budget import allocate
from leastnoise.tables.released_number import ReleasedNumber
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

BOTH = ln.Privacy(1, "1e-6")
Counts = np.ndarray[tuple[int, int, int], np.dtype[np.int64]]


def number(groups: int, *, discovered: bool = False, shift: int = 1) -> ReleasedNumber:
    return ReleasedNumber(
        name="count",
        shift=shift,
        step=Fraction(1),
        touched=groups,
        integer=True,
        family="canonical" if discovered else None,
    )


def noise_for(groups: int, *, discovered: bool = False, privacy: ln.Privacy = BOTH) -> ln.Mechanism:
    (mechanism,), total = allocate(privacy, [number(groups, discovered=discovered)])
    assert total == privacy
    assert isinstance(mechanism, ln.Mechanism)
    return mechanism


# ------------------------------------------------------------------------------ closed forms


@pytest.mark.parametrize(
    ("groups", "error"), [(1, 0.8509), (10, 9.996), (100, 33.71), (1000, 106.6), (10**6, 3371)]
)
def test_expected_errors_of_public_groups(groups: int, error: float) -> None:
    """√m/M·√(2/π) with 1/M = 4.22467889 from twelve groups on; geometric noise before."""
    assert float(noise_for(groups).discretized.cost) == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize(("groups", "end"), [(1, 14), (5, 51), (20, 103), (50, 165)])
def test_ends_of_discovered_groups(groups: int, end: int) -> None:
    """Within one of many-answers.md's 14, 50, 102 and 164, whose Γ is the best for each."""
    assert noise_for(groups, discovered=True).discretized.noise.radius == end


def test_no_number_of_groups_is_rejected_and_none_jumps() -> None:
    public = [float(noise_for(groups).discretized.cost) for groups in range(1, 90)]
    assert public == sorted(public)
    assert all(later / one < 1.1 for one, later in pairwise(public[11:]))
    assert all(later - one < 1.5 for one, later in pairwise(public))
    hidden = [
        noise_for(groups, discovered=True).discretized.noise.radius for groups in range(1, 90)
    ]
    assert hidden == sorted(hidden)
    assert all(later - one <= 14 for one, later in pairwise(hidden))


@pytest.mark.parametrize("delta", ["1e-300", "1e-20", "1e-9", "0.3"])
@pytest.mark.parametrize("epsilon", ["0", "1e-3", "1", "50"])
@pytest.mark.parametrize("groups", [2, 20, 10**6])
@pytest.mark.parametrize("discovered", [False, True])
def test_every_guarantee_has_noise(epsilon: str, delta: str, groups: int, discovered: bool) -> None:
    mechanism = noise_for(groups, discovered=discovered, privacy=ln.Privacy(epsilon, delta))
    assert not discovered or not math.isinf(mechanism.discretized.noise.radius)


def test_several_numbers_of_many_groups_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("highspy.Highs", _no_solver)
    people = ln.protect(
        pa.table({"unit": [1], "g": [1], "x": [1.0]}),
        unit="unit",
        max_rows=1,
        ledger=ln.UNRECORDED,
    )
    queries: list[Query] = [
        Count(by="g", max_groups=30),
        Sum("x", bounds=(0, 1), by="g", max_groups=30),
    ]
    explanation = people.explain(*queries, privacy=ln.Privacy("1.01", "1e-6"))
    questions = json.loads(json.dumps(explanation.to_dict()))["questions"]
    noise = [number["noise"] for question in questions for number in question["numbers"]]
    assert all("Gaussian" in one for one in noise)


@pytest.mark.parametrize("privacy", [(4, "1e-3"), (8, "1e-6"), (4, "0.1")])
def test_one_number_needs_no_solver_where_it_takes_seconds(
    privacy: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("highspy.Highs", _no_solver)
    one = ReleasedNumber(name="sum", shift=100 << 33, step=Fraction(1, 1 << 33), touched=1)
    allocate(ln.Privacy(*privacy), [one])
    with pytest.raises(AssertionError, match="the solver was called"):
        allocate(ln.Privacy(2, "0.07"), [one])


@pytest.mark.long
@pytest.mark.parametrize(("privacy", "most"), [((4, "1e-3"), 1.0002), ((8, "1e-6"), 1.0)])
def test_noise_without_the_solver_costs_hardly_more(privacy: tuple[Any, Any], most: float) -> None:
    guarantee = ln.Privacy(*privacy)
    one = ReleasedNumber(name="sum", shift=100, step=Fraction(1), touched=1)
    (mechanism,), _ = allocate(guarantee, [one])
    assert isinstance(mechanism, ln.Mechanism)
    best = ln.calibrate(guarantee, sensitivity=100, seconds=5)
    assert mechanism.discretized.cost <= Fraction(most) * best.discretized.cost


def _no_solver(*_: object, **__: object) -> None:
    raise AssertionError("the solver was called")


def test_the_noise_of_a_query_is_gaussian_and_truncated_where_groups_are_discovered() -> None:
    (count, total), _ = allocate(BOTH, [number(20, discovered=True), number(20, shift=5)])
    noises = [one.discretized.noise for one in (count, total) if isinstance(one, ln.Mechanism)]
    assert all(isinstance(noise, Rounded) for noise in noises)
    lines = [noise.noise for noise in noises if isinstance(noise, Rounded)]
    assert isinstance(lines[0], TruncatedGaussian)
    assert isinstance(lines[1], Gaussian)
    # Each gets half of M² and a twentieth of that, measured by what one unit changes.
    assert float(lines[1].sigma / 5) == pytest.approx(float(lines[0].sigma), rel=1e-9)


# --------------------------------------------------------------------- an audit of discovery

AUDITED = ln.Privacy(1, "0.05")
MANY = 20
BLOCKS = 600


def discovered_counts(max_groups: int, base: int) -> Counts:
    """Return the noisy counts of every group, 0 if hidden: by block with and without its unit.

    Every group has ``base`` rows of units of their own. Half of the blocks have one more unit, with
    a row in each of their groups.
    """
    blocks, groups = 2 * BLOCKS, MANY
    names = np.arange(blocks * groups)
    others = np.repeat(names, base)
    special = names[: BLOCKS * groups]
    units = np.concatenate([np.arange(len(others)) + blocks, special // groups])
    people = ln.protect(
        pa.table({"unit": units, "g": np.concatenate([others, special])}),
        unit="unit",
        max_rows=1,
        ledger=ln.UNRECORDED,
    )
    answers = people.count(by="g", max_groups=max_groups, privacy=AUDITED)
    assert isinstance(answers, GroupedAnswers)
    counts = np.zeros(blocks * groups, dtype=np.int64)
    for (name,), answer in zip(answers.keys, answers.answers, strict=True):
        counts[int(str(name))] = int(answer.value)
    return counts.reshape(2, BLOCKS, groups)


def exceeds(samples: list[Counts], privacy: ln.Privacy) -> bool:
    """Return whether some statistic is proved to distinguish the neighbors better than allowed.

    The thresholds are chosen by the first half of the samples and judged by the second.
    """
    half = len(samples) // 2
    chosen, judged = np.concatenate(samples[:half], axis=1), np.concatenate(samples[half:], axis=1)
    factor, delta = math.exp(privacy.epsilon), float(privacy.delta)
    statistics: list[Callable[[Counts], Any]] = [
        lambda counts: counts.sum(axis=2),
        lambda counts: counts.max(axis=2),
    ]
    rate = FALSE_ALARM / (4 * len(statistics))
    for statistic in statistics:
        present, absent = statistic(chosen)
        places = np.unique(np.concatenate([present, absent]))
        gains = [np.mean(present >= t) - factor * np.mean(absent >= t) for t in places]
        threshold = places[int(np.argmax(gains))]
        present, absent = statistic(judged)
        low, _ = clopper_pearson(int((present >= threshold).sum()), present.size, rate)
        _, high = clopper_pearson(int((absent >= threshold).sum()), absent.size, rate)
        if low - factor * high > delta:
            return True
    return False


@pytest.mark.long
def test_an_audit_of_discovery_by_a_unit_in_twenty_groups() -> None:
    """False alarms have a rate of at most 1e-9; noise for one group fails the same audit."""
    threshold = 1 + int(noise_for(MANY, discovered=True, privacy=AUDITED).discretized.noise.radius)
    samples = [discovered_counts(MANY, threshold) for _ in range(6)]
    assert not exceeds(samples, AUDITED)
    naive = noise_for(1, discovered=True, privacy=AUDITED)
    shown = 1 + int(naive.discretized.noise.radius)

    def too_little() -> Counts:
        true = np.full((2, BLOCKS, MANY), shown)
        true[0] += 1
        noisy = np.array(
            naive.releaser.add_noise_to_steps(true.ravel().tolist(), Fraction(1))
        ).reshape(true.shape)
        return np.where(noisy > shown, noisy, 0)

    assert exceeds([too_little() for _ in range(6)], AUDITED)
