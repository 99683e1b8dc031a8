"""What a guarantee is said to mean: checked against the theorems, and never rounded down."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from tests.support.screens import unwrapped

EPSILONS = st.sampled_from(["0", "1e-9", "0.1", "1", "5", "40"])
DELTAS = st.sampled_from(["0", "1e-300", "1e-9", "1/3", "0.1", "0.999"])


def said(words: str, pattern: str) -> Fraction:
    """Return the one number that stands where the pattern says."""
    (number,) = re.findall(pattern, words)
    return Fraction(number)


def said_probability(words: str, pattern: str) -> Fraction:
    """Return the one probability that stands where the pattern says, with or without %."""
    ((number, percent),) = re.findall(f"{pattern} ([\\d.e-]+[\\d])(%?)", words)
    assert bool(percent) == (Fraction(number) >= Fraction(1, 1000))
    return Fraction(number) / (100 if percent else 1)


def leaky(epsilon: float, delta: float) -> tuple[list[float], list[float]]:
    """The worst answer there is: with probability δ it tells all, else it lies once in 1 + e^ε."""
    told, lie = delta, (1 - delta) / (1 + math.exp(epsilon))
    truth = (1 - delta) - lie
    return [told, truth, lie, 0.0], [0.0, lie, truth, told]


@given(EPSILONS, DELTAS)
def test_what_is_said_is_never_less_than_the_worst_answer_does(epsilon: str, delta: str) -> None:
    guarantee = ln.Privacy(epsilon, delta)
    words = unwrapped(guarantee.explain())
    e, d = float(guarantee.epsilon), float(guarantee.delta)
    here, there = leaky(e, d)
    best_guess = sum(map(max, zip(here, there, strict=True))) / 2
    told = said(words, r"correctly at most ([\d.]+)%")
    assert best_guess * 100 * (1 - 1e-12) <= told <= 100
    assert told <= best_guess * 100 + min(0.01, (best_guess - 0.5) + 1e-5)
    if guarantee.delta:
        told = said_probability(words, "reveals no more than if, with probability")
        assert guarantee.delta <= told <= guarantee.delta * (1 + Fraction(1, 1000))
    if guarantee.epsilon:
        factor = said(words, r"factor of at most ([\d.e]+[\d])")
        assert math.exp(e) <= factor * (1 + Fraction(1, 10**12)) <= math.exp(e) * (1 + 1e-3)


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "0.5"])
def test_at_epsilon_0_the_worst_case_is_stated_and_no_epsilon(delta: str) -> None:
    """A (0, δ) never passes for an ε that it does not satisfy."""
    words = unwrapped(ln.Privacy(delta=delta).explain())
    assert re.findall(r"ε = ([\d.e-]+)", words) == ["0"]
    assert "and otherwise revealed nothing." in words


def test_an_epsilon_alone_is_said_to_hold_always() -> None:
    words = unwrapped(ln.Privacy(epsilon=1).explain())
    assert "certainty" not in words
    assert "stronger" not in words
    assert "changes the odds by a factor of at most 2.719." in words


def test_no_chance_is_above_one() -> None:
    assert ln.Privacy(3000, "0.5").advantage == 1
    assert "correctly at most 100% of" in unwrapped(ln.Privacy(3000, "0.5").explain())


@pytest.mark.parametrize("delta", ["0.01", "0.02"])
def test_from_one_in_n_on_a_record_can_be_published_outright(delta: str) -> None:
    """One record of n drawn at random is (0, 1/n)-private, whoever is in the data."""
    words = unwrapped(ln.Privacy(delta=delta).explain(people=100))
    assert f"n·δ = {100 * Fraction(delta)}" in words
    assert "publishing the full row of one randomly chosen person would satisfy" in words
    assert "publishing" not in ln.Privacy(delta=delta).explain(people=49)


def test_below_one_in_n_the_average_is_told_rounded_up() -> None:
    words = unwrapped(ln.Privacy(1, "1/3000000").explain(people=1000))
    assert said(words, r"n·δ = ([\d.]+) of them") >= Fraction(1, 3000)
    assert "on average" in words
    assert "nobody's presence is revealed with certainty" in unwrapped(
        ln.Privacy(1).explain(people=7)
    )


@pytest.mark.parametrize("people", [0, -3, 1.5, "many"])
def test_people_are_counted_in_whole_numbers(people: object) -> None:
    with pytest.raises(InvalidParameter, match="people must be a"):
        ln.Privacy(1).explain(people=people)  # type: ignore[arg-type]


# ------------------------------------------------------------------- the noise that is drawn


@pytest.mark.parametrize(("delta", "shown"), [("0.1", 10), ("0.75", 75)])
def test_uniform_noise_proves_membership_with_all_of_delta(delta: str, shown: int) -> None:
    """GDGK19's noise has a flat profile, with mass at 0 (δ > 1/2 in l1) and without."""
    words = unwrapped(ln.calibrate(ln.Privacy(delta=delta), sensitivity=1).explain())
    told = 100 * said_probability(words, "reveals with certainty .* in the data is at most")
    assert shown * (1 - Fraction(1, 10**6)) <= told <= shown
    assert ("the exact answer is released" in words) == (delta == "0.75")


def test_truncated_noise_proves_it_less_often_than_the_worst_answer_may() -> None:
    """The canonical noise for counts: its last point holds what remains of the mass."""
    mechanism = ln.calibrate(ln.Privacy(1, "1e-3"), sensitivity=1, integer=True)
    weights = [float(mechanism.discretized.noise.pmf(i)) for i in range(20)]
    last = max(i for i, weight in enumerate(weights) if weight)
    told = said_probability(
        unwrapped(mechanism.explain()), "reveals with certainty .* in the data is at most"
    )
    assert float(told) == pytest.approx(weights[last], rel=1e-4)
    assert weights[last] < 1e-3


@pytest.mark.parametrize("family", ["gaussian", "laplace", "staircase"])
def test_noise_without_a_largest_size_never_proves_it(family: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(1, "1e-3"), sensitivity=1, family=family)
    words = unwrapped(mechanism.explain(people=100))
    assert "no output reveals with certainty" in words
    assert words.startswith(unwrapped(mechanism.privacy.explain(people=100)))
    assert mechanism.release(0).explain().endswith(mechanism.explain())


@pytest.mark.parametrize(
    ("epsilon", "delta", "printed"),
    [
        ("0.8", "9e-7", "Privacy(epsilon=0.8, delta='9e-7')"),
        ("1/3", "0.001", "Privacy(epsilon='1/3', delta=0.001)"),
        (2, "123456789/1234567890123456789", None),
    ],
)
def test_a_guarantee_prints_as_python_that_makes_it(
    epsilon: str, delta: str, printed: str | None
) -> None:
    privacy = ln.Privacy(epsilon, delta)
    assert repr(privacy) == (printed or repr(privacy))
    assert eval(repr(privacy), {"Privacy": ln.Privacy}) == privacy


def test_gaussian_noise_states_mu_and_rho_and_for_counts_its_optimality() -> None:
    both = ln.Privacy(1, "1e-6")
    gaussian = ln.calibrate(both, sensitivity=1, integer=True, family="gaussian")
    count = unwrapped(gaussian.explain())
    assert "μ = 0.2368 (Gaussian differential privacy), ρ = 0.02802 (zCDP)." in count
    assert count.endswith("optimal for every cost that does not decrease with |error|.")
    for delta, integer in ((1, False), (2, True)):
        other = ln.calibrate(both, sensitivity=delta, integer=integer, family="gaussian")
        words = unwrapped(other.explain())
        assert "ρ = 0.0280" in words
        assert "optimal" not in words
    assert "μ" not in ln.calibrate(both, sensitivity=1, integer=True).explain()
    together = ln.compose([(ln.calibrate(both, sensitivity=1, family="gaussian"), 4)])
    assert "All releases have Gaussian noise: μ = 0.4735" in unwrapped(together.explain())
    assert ln.compose([both]).gaussian_cost is None
    assert ln.compose([ln.calibrate(both, sensitivity=1)]).gaussian_cost is None
