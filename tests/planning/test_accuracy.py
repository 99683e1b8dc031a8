"""privacy_for: compared with formulas, and never a larger guarantee than needed."""

import math
import re
from fractions import Fraction

import pytest

import leastnoise as ln
from leastnoise.core.exact import format_rounded
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import half_width
from leastnoise.planning import accuracy


def is_short(number: Fraction) -> bool:
    """Whether a number has at most three significant digits."""
    return Fraction(format_rounded(number, 3)) == number


def below(number: Fraction) -> Fraction:
    """Return the next smaller number of three significant digits."""
    return accuracy._from_place(accuracy._to_place(number) - 1)


def met(privacy: ln.Privacy, error: object, confidence: object, **asked: object) -> bool:
    """Whether what calibrate finds for a guarantee is as accurate as that."""
    mechanism = ln.calibrate(privacy, **asked)  # type: ignore[arg-type]
    return half_width(mechanism, confidence) <= Fraction(str(error))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "confidence", "sensitivity"),
    [("2", "0.95", "1"), ("1000000", "0.95", "1"), ("17", "1/3", "5"), ("0.003", "0.5", "0.001")],
)
def test_at_epsilon_0_delta_is_that_of_uniform_noise(
    error: str, confidence: str, sensitivity: str
) -> None:
    """Uniform on ±Δ/2δ: P(|X| ≤ e) = 2eδ/Δ, and a millionth more for the lattice."""
    needed = Fraction(sensitivity) * Fraction(confidence) / (2 * Fraction(error))
    found = ln.privacy_for(error=error, confidence=confidence, sensitivity=sensitivity, epsilon=0)
    assert found.epsilon == 0
    assert is_short(found.delta)
    assert below(found.delta) < needed * (1 + Fraction(1, 10**5))
    assert needed < found.delta


@pytest.mark.parametrize(("error", "confidence"), [(3, "0.95"), (1, "0.5"), (40, "0.999")])
def test_without_delta_counts_get_the_epsilon_of_the_geometric_noise(
    error: int, confidence: str
) -> None:
    """P(|X| > e) = 2b^(e+1)/(1+b) with b = e^−ε."""

    def outside(epsilon: Fraction) -> float:
        b = math.exp(-epsilon)
        return 2 * b ** (error + 1) / (1 + b)

    found = ln.privacy_for(error=error, confidence=confidence, sensitivity=1, delta=0, integer=True)
    assert found.delta == 0
    assert is_short(found.epsilon)
    assert outside(found.epsilon) <= 1 - float(confidence) < outside(below(found.epsilon))


ASKED = [
    {"error": 2, "confidence": "0.95", "sensitivity": 1, "delta": "1e-6"},
    {"error": "1/2", "confidence": "0.9", "sensitivity": "1/3", "delta": 0, "cost": ln.l2},
    {"error": 2, "confidence": "0.95", "sensitivity": 1, "epsilon": 1},
    {"error": 9, "confidence": "0.99", "sensitivity": 2, "delta": "0.01", "integer": True},
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("solve", [False, True])
def test_the_promise_is_enough_and_the_next_smaller_one_is_not(
    asked: dict[str, object], solve: bool
) -> None:
    asked = {**asked, "solve": solve}
    found = ln.privacy_for(**asked)  # type: ignore[arg-type]
    how = {key: value for key, value in asked.items() if key not in ("epsilon", "delta")}
    assert met(found, **how)
    if "epsilon" in asked:
        assert found.epsilon == asked["epsilon"]
        less = ln.Privacy(found.epsilon, below(found.delta))
    else:
        assert found.delta == Fraction(str(asked["delta"]))
        less = ln.Privacy(below(found.epsilon), found.delta)
    assert not met(less, **how)


def test_nothing_is_spent_that_is_not_needed() -> None:
    """Where what is given is enough, what is asked for is 0."""
    found = ln.privacy_for(error=4, confidence=0.9, sensitivity=1, epsilon=1)
    assert found == ln.Privacy(1, 0)
    found = ln.privacy_for(error=2, confidence=0.9, sensitivity=1, delta="0.5")
    assert found == ln.Privacy(0, "0.5")


def test_whole_numbers_may_be_right_most_of_the_time() -> None:
    found = ln.privacy_for(
        error=1, confidence="0.999999", sensitivity=1, delta=0, integer=True, solve=False
    )
    assert 2 * math.exp(-2 * found.epsilon) / (1 + math.exp(-found.epsilon)) <= 1e-6


@pytest.mark.parametrize("number", ["1", "0.1", "9.99", "0.0999", "123", "5e-9", "1e-320"])
def test_places_are_the_decimals_of_three_digits_in_order(number: str) -> None:
    place = accuracy._to_place(Fraction(number))
    assert accuracy._from_place(place) == Fraction(number)
    before, after = accuracy._from_place(place - 1), accuracy._from_place(place + 1)
    assert before < Fraction(number) < after
    assert is_short(before)
    assert is_short(after)
    assert accuracy._to_place((before + Fraction(number)) / 2) == place  # rounded up


WRONG = [
    ({"error": 0}, "error must be greater than 0, got 0."),
    ({"error": -1}, "error must be greater than 0, got -1."),
    ({"error": "x"}, "error must be a finite number, got 'x'."),
    (
        {"error": "2.5", "integer": True},
        "error must be an integer for integer answers, got '2.5'. Use 2, or",
    ),
    ({"confidence": 0}, "confidence must be above 0 and below 1, got 0."),
    ({"confidence": 1}, "confidence must be above 0 and below 1, got 1."),
    ({"delta": None}, "Exactly one of epsilon and delta is needed, got neither."),
    ({"epsilon": 1}, "Exactly one of epsilon and delta is needed, got both."),
    ({"delta": 1}, "delta must be at least 0 and less than 1, got 1."),
    ({"sensitivity": 0}, "sensitivity must be greater than 0, got 0."),
    ({"cost": ln.Cost(lambda x: -x)}, "never fall"),
    ({"error": "1e-9"}, "No ε up to 50 keeps errors within 1e-9 with probability 0.95. Accept"),
    ({"error": "1e-9", "delta": None, "epsilon": 0}, "No δ up to 0.999 keeps errors within 1e-9"),
    ({"solve": 1}, "solve must be True or False, got 1."),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    asked = {"error": 2, "confidence": "0.95", "sensitivity": 1, "delta": "0.01", "solve": False}
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        ln.privacy_for(**{**asked, **wrong})  # type: ignore[arg-type]
