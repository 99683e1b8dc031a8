"""Algorithm 1: exact in real numbers and on the lattice, revealing in floating-point numbers."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import InvalidParameter
from leastnoise.noise import Uniform
from leastnoise.paper import Algorithm1, algorithm_1
from leastnoise.paper.float_noise import FORMULAS, OutputSearch, _multiples

CASES = [("0.1", 1, 0), ("0.3", 3, 0), ("0.01", "0.1", 0), ("0.8", 1, "0.4"), ("0.5", 1, 0)]


def output(algorithm: Algorithm1, formula: str, value: float, r: float) -> float:
    """Return an output for B = 1 in Python's floats."""
    w = float(algorithm.noise.radius)
    return value + (w * (2 * r - 1) if formula == FORMULAS[0] else -w + 2 * w * r)


def enumerated(algorithm: Algorithm1, formula: str, bits: int) -> tuple[float, float]:
    """Return the distance and the share of certain outputs over all r of so many bits."""
    distributions = []
    for value in (0.0, float(algorithm.sensitivity)):
        distribution = defaultdict(Fraction, {value: algorithm.alpha})
        for k in range(1 << bits):
            distribution[output(algorithm, formula, value, k / (1 << bits))] += (
                1 - algorithm.alpha
            ) / 2**bits
        distributions.append(distribution)
    here, there = distributions
    distance = sum(max(mass - there[y], Fraction(0)) for y, mass in here.items())
    return float(distance), float(sum(mass for y, mass in here.items() if not there[y]))


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("delta", "sensitivity", "alpha"), CASES)
def test_the_search_agrees_with_an_enumeration_of_coarse_random_numbers(
    formula: str, delta: str, sensitivity: str | int, alpha: str | int
) -> None:
    algorithm, bits = algorithm_1(delta, sensitivity, alpha), 9
    search = OutputSearch(algorithm, formula, bits)
    excess, certain = search.compare(np.arange(1 << bits))
    share = float(algorithm.alpha)
    distance = share * search.excess_at_zero + (1 - share) * excess.mean()
    sure = share * (search.excess_at_zero == 1) + (1 - share) * certain.mean()
    assert (distance, sure) == pytest.approx(enumerated(algorithm, formula, bits), abs=1e-12)


@pytest.mark.parametrize("formula", FORMULAS)
def test_outputs_are_those_of_python(formula: str) -> None:
    algorithm = algorithm_1("0.3", "0.1")
    search, multiples = OutputSearch(algorithm, formula), _multiples(300)
    for value in (0.0, 0.1):
        expected = [output(algorithm, formula, value, k / 2**53) for k in multiples.tolist()]
        assert search.outputs(value, multiples).tolist() == expected


def test_counts_are_those_of_the_neighbors_of_a_preimage() -> None:
    """With all 53 bits: every r near the one that was used is tried."""
    algorithm = algorithm_1("0.3", 3)
    search, multiples = OutputSearch(algorithm, FORMULAS[0]), _multiples(40)
    for value in (0.0, 3.0):
        places = search.outputs(value, multiples)
        counts = search.probabilities(value, places) * 2.0**53
        for k, y, count in zip(multiples.tolist(), places.tolist(), counts.tolist(), strict=True):
            near = search.outputs(value, np.arange(max(0, k - 50), min(k + 50, 2**53)))
            assert count == (near == y).sum()


@pytest.mark.parametrize("sensitivity", ["0.1", 1, 3])
@pytest.mark.parametrize("delta", ["0.01", "0.1", "0.3"])
def test_floats_break_the_guarantee_and_the_lattice_satisfies_it(
    delta: str, sensitivity: str | int
) -> None:
    algorithm = algorithm_1(delta, sensitivity)
    assert algorithm.float_distance().lower_bound > algorithm.delta
    assert algorithm.exact_distance == algorithm.delta
    assert algorithm.delta * (1 - Fraction(1, 10**6)) < algorithm.lattice_distance
    assert algorithm.lattice_distance <= algorithm.delta


def test_two_thirds_of_the_outputs_reveal_the_value_at_delta_one_tenth() -> None:
    found = algorithm_1("0.1", 1).float_distance()
    assert found.certain == pytest.approx(0.67, abs=0.02)
    assert found.lower_bound < found.estimate < found.lower_bound + 0.03
    assert (found.samples, found.false_alarm) == (20_000, 1e-9)


def test_the_bound_is_wider_for_fewer_samples() -> None:
    few = algorithm_1("0.1", 1).float_distance(samples=200)
    assert few.estimate - few.lower_bound == pytest.approx(0.2276, abs=1e-4)  # √(ln 10⁹/400)


def test_the_product_is_that_of_the_paper() -> None:
    algorithm = algorithm_1("0.8", 1, "0.4")
    assert algorithm.noise == Uniform("0.75", atom="0.4")
    assert [algorithm.product(1, r) for r in (0, "0.5")] == [Fraction(-3, 4), 0]
    assert algorithm.product(0, "0.9") == 0
    mechanism = algorithm.mechanism
    assert mechanism.needs_allow_exact
    assert float(mechanism.exact_probability) == pytest.approx(0.4, abs=1e-5)
    with pytest.raises(InvalidParameter, match="adds nothing and the release is the exact value"):
        mechanism.release(1)
    assert abs(mechanism.release(1, allow_exact=True).value - 1) <= 0.76


@pytest.mark.parametrize(
    ("sensitivity", "alpha", "message"),
    [
        (
            Fraction(10) ** 320,
            "0.1",
            r"sensitivity must be between 1e-290 and 1e300.* got about 10\^320",
        ),
        (Fraction(1, 10**320), "0.1", r"sensitivity must be between .* got about 10\^-320"),
        (
            1,
            Fraction(1, 2) - Fraction(1, 10**400),
            r"w must be between 1e-290 and 1e300 .*got about 10\^399",
        ),
    ],
)
def test_numbers_that_no_float_represents_are_rejected(
    sensitivity: Fraction | int, alpha: str | Fraction, message: str
) -> None:
    algorithm = algorithm_1("0.5", sensitivity, alpha)
    assert algorithm.exact_distance == Fraction(1, 2)
    with pytest.raises(InvalidParameter, match=message):
        algorithm.float_distance()


def test_a_mass_that_is_one_in_floats_is_rejected() -> None:
    tiny = Fraction(1, 10**20)
    with pytest.raises(InvalidParameter, match="alpha must be less than 1 in floats, got 1 − 1e-2"):
        algorithm_1(1 - tiny / 10, 1, 1 - tiny).float_distance()


@pytest.mark.parametrize("sensitivity", [Fraction(10) ** 290, Fraction(1, 10**290)])
@pytest.mark.parametrize("formula", FORMULAS)
def test_numbers_near_the_ends_of_the_floats_are_measured(
    sensitivity: Fraction, formula: str
) -> None:
    found = algorithm_1("0.3", sensitivity).float_distance(formula, samples=500)
    assert 0 < found.estimate <= 1


def test_arguments_are_checked() -> None:
    algorithm = algorithm_1("0.1", 1)
    with pytest.raises(InvalidParameter, match=r"b must be 0 or 1, .* got 2 and"):
        algorithm.product(2, "0.5")
    with pytest.raises(InvalidParameter, match="got 1 and 1"):
        algorithm.product(1, 1)
    with pytest.raises(InvalidParameter, match=r"formula must be one of 'w\*.* got 'r'"):
        algorithm.float_distance("r")
    with pytest.raises(InvalidParameter, match="samples must be an integer of at least 1, got 0"):
        algorithm.float_distance(samples=0)
    with pytest.raises(InvalidParameter, match="atom must be at least 0 and less than δ"):
        algorithm_1("0.1", 1, "0.2")
