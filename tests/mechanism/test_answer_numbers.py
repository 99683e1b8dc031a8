"""Answers as Python numbers, as arrays and as JSON."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.mechanism import INTERVAL, Answer, figures_to_json, float_above

COUNT = ln.calibrate(ln.Privacy(delta="1/4"), sensitivity=1, integer=True)  # within ± 2
REAL = ln.calibrate(ln.Privacy(delta="1/10"), sensitivity=3)
HALVES = ln.calibrate(ln.Privacy(delta="1/10"), sensitivity=1)  # its step is a power of two
ENDLESS = ln.calibrate(ln.Privacy(1), sensitivity=1, integer=True)


def real(value: Fraction) -> Answer:
    """Return an answer with this value, a multiple of 1/4."""
    step = HALVES.discretized.step
    assert (value / step).denominator == 1
    return Answer(int(value / step), HALVES)


@pytest.mark.parametrize("index", [-7, 0, 1, 1234, 2**70])
def test_a_count_is_an_integer_in_python(index: int) -> None:
    answer = Answer(index, COUNT)
    assert (int(answer), round(answer)) == (index, index)
    assert float(answer) == float(index)
    assert f"{answer:,}" == f"{index:,}"
    assert f"{answer:>9d}" == f"{index:>9d}"
    assert type(round(answer, -2)) is int
    assert round(answer, -2) == round(index, -2)


@pytest.mark.parametrize(
    ("value", "whole", "nearest", "tenth"),
    [("-5/4", -1, -1, -1.2), ("7/2", 3, 4, 3.5), ("5/2", 2, 2, 2.5), ("-1/4", 0, 0, -0.2)],
)
def test_a_real_is_truncated_and_rounded_as_a_fraction_is(
    value: str, whole: int, nearest: int, tenth: float
) -> None:
    answer = real(Fraction(value))
    assert (int(answer), round(answer), round(answer, 1)) == (whole, nearest, tenth)
    assert (type(int(answer)), type(round(answer)), type(round(answer, 1))) == (int, int, float)
    assert float(answer) == float(Fraction(value))
    assert f"{answer:+.3f}" == f"{float(Fraction(value)):+.3f}"


def test_without_a_format_the_whole_answer_is_printed() -> None:
    answer = Answer(1234, COUNT)
    assert f"{answer}" == str(answer)
    assert "95% confidence" in f"{answer}"
    with pytest.raises(ValueError, match="Unknown format code 'q'"):
        f"{answer:q}"


def test_a_released_number_as_json() -> None:
    assert json.loads(Answer(5, COUNT).to_json()) == {
        "format": "leastnoise answer",
        "version": 1,
        "title": "release",
        "by": [],
        "confidence": "0.95",
        "confidence_of": ["low", "high"],
        "interval_confidence": "19/20",
        "privacy": {"epsilon": "0", "delta": "1/4"},
        "total_privacy": {"epsilon": "0", "delta": "1/4"},
        "subject": None,
        "recorded": None,
        "reused": None,
        "not_private": False,
        "value": 5,
        "low": 3,
        "high": 7,
        "max_error": 2,
        "exact": {"value": "5", "low": "3", "high": "7", "max_error": "2"},
    }


def test_an_infinite_error_is_null_beside_and_below_exact() -> None:
    found: Any = Answer(5, ENDLESS).to_dict()
    assert (found["max_error"], found["exact"]["max_error"]) == (None, None)


@given(st.integers(-(10**30), 10**30))
def test_numbers_of_json_hold_and_their_ratios_are_exact(index: int) -> None:
    answer = Answer(index, REAL)
    found: Any = json.loads(answer.to_json())
    exact = {name: Fraction(ratio) for name, ratio in found["exact"].items()}
    low, high = answer.interval()
    assert exact == {"value": answer.value, "low": low, "high": high, "max_error": answer.max_error}
    assert found["value"] == float(answer)
    for end, outward in (("low", -math.inf), ("high", math.inf)):
        assert found[end] in (float(exact[end]), math.nextafter(float(exact[end]), outward))
    assert Fraction(found["low"]) <= low <= high <= Fraction(found["high"])
    off = abs(Fraction(found["value"]) - answer.value)
    assert Fraction(found["max_error"]) >= answer.max_error + off


def test_a_number_beyond_floats_is_null_beside_its_ratio() -> None:
    for mechanism in (COUNT, REAL):
        answer = Answer(10**400, mechanism)
        found: Any = json.loads(answer.to_json())
        assert found["value"] is None
        assert Fraction(found["exact"]["value"]) == answer.value
        assert float(answer) == math.inf
    near = 2**1024 - 2**971  # the largest float
    figure = figures_to_json([INTERVAL[2]], ((near + 1, 1),), ())
    assert figure == {"high": None, "exact": {"high": str(near + 1)}}
    assert float_above(near + 1, 1) == math.inf


def test_arrays_are_arrays_and_rows_of_json() -> None:
    answers = COUNT.release(np.array([[120, 80], [95, 7]]), contributions=2)
    assert np.asarray(answers) is answers.values or (np.asarray(answers) == answers.values).all()
    assert np.asarray(answers).dtype == np.int64
    assert np.asarray(answers, dtype=float).dtype == np.float64
    assert [row.tolist() for row in answers] == answers.values.tolist()
    found: Any = json.loads(answers.to_json())
    assert (found["format"], found["version"], found["shape"]) == ("leastnoise answer", 1, [2, 2])
    assert [row["value"] for row in found["rows"]] == answers.values.ravel().tolist()
    lows, highs = (end.ravel().tolist() for end in answers.interval())
    assert [row["low"] for row in found["rows"]] == lows
    assert [row["high"] for row in found["rows"]] == highs
    assert {row["max_error"] for row in found["rows"]} == {2}
    assert found["privacy"] == {"epsilon": "0", "delta": "7/16"}


def test_rows_of_reals_hold_for_the_released_floats() -> None:
    answers = REAL.release(np.array([0.1, 1e15 / 3, -5.0]))
    rows: Any = answers.to_dict()["rows"]
    for row, value in zip(rows, answers.values.tolist(), strict=True):
        assert Fraction(row["exact"]["value"]) == Fraction(value) == Fraction(row["value"])
        assert Fraction(row["exact"]["max_error"]) == answers.max_error
        assert Fraction(row["low"]) <= Fraction(row["exact"]["low"])
        assert Fraction(row["exact"]["high"]) <= Fraction(row["high"])
        assert Fraction(row["max_error"]) >= answers.max_error


def test_seeded_answers_stay_marked() -> None:
    ledger = ln.testing.NotPrivateLedger(seed=1, limit=ln.Privacy(1, "0.9"))
    one = COUNT.release(5, ledger=ledger)
    many = COUNT.release(np.array([5, 6]), ledger=ledger)
    for answer in (one, many):
        found = json.loads(answer.to_json())
        assert found["not_private"] is True
        assert found["title"] == "NOT PRIVATE (seeded noise): release"
        assert "NOT PRIVATE" in f"{answer}"
    assert f"{one:d}" == str(one.index)  # a bare number, as float() returns one
