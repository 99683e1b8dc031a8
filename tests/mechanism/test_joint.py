"""Mechanisms of joint noise: answers, intervals of all numbers together, ledgers and bad input."""

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.mechanism import JointMechanism, calibrate_joint
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

BOTH: dict[str, Any] = {"sensitivity": [1, 50], "integer": [True, False]}


def test_ten_counts_have_half_the_error_of_independent_noise() -> None:
    """5.49 instead of 9.98 at (1, 1e-6) (batch.md), with no δ; for two 1.43 instead of 1.92."""
    for numbers, joint, split in ((10, 5.4875, 9.983), (2, 1.428956, 1.919035)):
        mechanism = calibrate_joint(ln.Privacy(1), sensitivity=[1] * numbers, integer=True)
        assert float(mechanism.parts[0].cost) == pytest.approx(joint, rel=1e-4)
        alone = ln.calibrate(
            ln.Privacy(Fraction(1, numbers)), sensitivity=1, integer=True, family="staircase"
        )
        assert float(alone.cost) == pytest.approx(split, rel=1e-3)


def test_answers_are_on_their_lattices_with_their_own_intervals() -> None:
    mechanism = calibrate_joint(ln.Privacy(1, "1e-6"), bounded=True, **BOTH)
    answers = mechanism.release((120, 4500.5))
    count, total = answers
    assert answers.value == (count.value, total.value)
    assert count.value.denominator == 1
    low, high = total.interval("0.95")
    assert high - low < 2 * 300
    assert abs(count.value - 120) <= count.max_error
    sure = answers.intervals(1)
    assert sure[0] == (count.value - count.max_error, count.value + count.max_error)
    truth = Fraction(120), Fraction("4500.5")
    assert all(low <= value <= high for value, (low, high) in zip(truth, sure, strict=True))


@pytest.mark.parametrize("bounded", [False, True])
def test_all_intervals_together_hold_as_often_as_they_say(bounded: bool) -> None:
    """False alarms at most 1e-9 a case; each number alone at 90%, and both together at 80%."""
    privacy = ln.Privacy("0.5", "1e-6")
    mechanism = calibrate_joint(privacy, bounded=bounded, **BOTH)
    truth, trials = (Fraction(7), Fraction("3.25")), 4000
    alone, together = [0, 0], 0
    for _ in range(trials):
        answers = mechanism.release((7, 3.25))
        for place, answer in enumerate(answers):
            low, high = answer.interval("0.9")
            alone[place] += low <= truth[place] <= high
        pairs = zip(truth, answers.intervals("0.8"), strict=True)
        together += all(low <= value <= high for value, (low, high) in pairs)
    for count in alone:
        assert clopper_pearson(count, trials, FALSE_ALARM)[1] >= 0.9
        assert clopper_pearson(count, trials, FALSE_ALARM)[0] <= 0.97
    assert clopper_pearson(together, trials, FALSE_ALARM)[1] >= 0.8
    assert clopper_pearson(together, trials, FALSE_ALARM)[0] <= 0.9


def test_a_ledger_is_charged_once_for_all_numbers(tmp_path: Path) -> None:
    mechanism = calibrate_joint(ln.Privacy(1), **BOTH)
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy("1.5", "1e-6")) as ledger:
        answers = mechanism.release((3, 4), ledger=ledger, key="both")
        assert ledger.remaining == ln.Privacy("0.5", "1e-6")
        again = mechanism.release((9, 9), ledger=ledger, key="both")
        assert again.value == answers.value
        assert "Stored answer" in str(again)
        with pytest.raises(BudgetExceeded, match=r"needs ε = 1, δ = 0; ε = 0\.5"):
            mechanism.release((3, 4), ledger=ledger, key="more")
        ledger.verify()
        allocation = ledger.allocate("part", ln.Privacy("0.5", "1e-6"))
        small = calibrate_joint(ln.Privacy("0.05"), **BOTH)
        small.release((3, 4), ledger=allocation)
        ledger.verify()


def test_parts_say_that_they_are_of_joint_noise(tmp_path: Path) -> None:
    """The ledger's description of each number has the whole joint noise and the number's place."""
    mechanism = calibrate_joint(ln.Privacy(1), **BOTH)
    first, second = (part.spending().mechanisms for part in mechanism.parts)
    (own,) = first.values()
    drawn: Any = own["drawn"]
    assert (drawn["kind"], drawn["place"], drawn["shifts"][0]) == ("JointStaircase", 0, 1)
    assert not first.keys() & second.keys()


def test_mechanisms_are_verified_and_pickled() -> None:
    mechanism = calibrate_joint(ln.Privacy(1, "1e-9"), bounded=True, **BOTH)
    mechanism.verify()
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy == mechanism
    assert len(copy.release((1, 2))) == 2
    assert "JointMechanism(Privacy(epsilon=1, delta='1e-9'), sensitivity=[1, 50])" in repr(copy)
    assert "covers all 2 numbers together" in copy.explain().replace("\n", " ")
    stronger = ln.Privacy("0.9", "1e-9")
    with pytest.raises(ln.errors.NotPrivate, match="does not satisfy"):
        JointMechanism(stronger, mechanism.sensitivities, mechanism.integers, mechanism.noise)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sensitivity": []}, "must be a list with the sensitivity of each number"),
        ({"sensitivity": 1}, "must be a list with the sensitivity of each number"),
        ({"sensitivity": [1, 0]}, "sensitivity must be"),
        ({"sensitivity": [1, "1/2"], "integer": True}, "must be an integer for integer answers"),
        ({"sensitivity": [1, 2], "integer": [True]}, "one for each number"),
        ({"sensitivity": [1, 2], "integer": 3}, "integer must be True or False"),
        ({"sensitivity": [1, 2], "bounded": True}, "requires δ > 0"),
    ],
)
def test_bad_arguments_are_rejected(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        calibrate_joint(ln.Privacy(1), **arguments)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1,), "a tuple or a list of 2 numbers"),
        (5, "a tuple or a list of 2 numbers"),
        ((1.5, 2), "must be an integer"),
        ((1, float("nan")), "finite"),
    ],
)
def test_bad_values_are_rejected_before_a_charge(values: Any, message: str, tmp_path: Path) -> None:
    mechanism = calibrate_joint(ln.Privacy(1), **BOTH)
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(1)) as ledger:
        with pytest.raises(InvalidParameter, match=message) as caught:
            mechanism.release(values, ledger=ledger)
        assert ledger.spent == ln.Privacy(0, 0)
        assert caught.value.__traceback__ is not None
    with pytest.raises(InvalidParameter, match="below 1 for unbounded noise"):
        mechanism.release((1, 2)).intervals(1)
