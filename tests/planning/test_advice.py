"""From how many answers on Gaussian accounting pays off, against the numbers of the theory."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import leastnoise as ln
from leastnoise.core.gaussian_cost import find_caps
from leastnoise.planning import describe_accounting, errors_of_counts, gaussian_pays_off_from

BOTH = ln.Privacy(1, "1e-6")


@pytest.mark.parametrize(
    ("limit", "absolute", "squared"),
    [
        (BOTH, 12, 9),
        (ln.Privacy("0.1", "1e-6"), 9, 7),
        (ln.Privacy("0.5", "1e-6"), 11, 9),
        (ln.Privacy(1, "1e-9"), 20, 16),
    ],
)
def test_the_crossover_of_the_theory(limit: ln.Privacy, absolute: int, squared: int) -> None:
    for cost, answers in ((ln.l1, absolute), (ln.l2, squared)):
        found = gaussian_pays_off_from(limit, cost=cost)
        assert found is not None
        assert found.answers == answers
        assert found.gaussian < found.basic
        before = errors_of_counts(limit, answers - 1, cost=cost)
        assert before.basic <= before.gaussian


@pytest.mark.parametrize(
    ("answers", "basic", "gaussian"),
    [(1, 0.851, 3.363), (10, 9.98, 10.66), (100, 100.0, 33.7), (1000, 1000, 106.6)],
)
def test_errors_of_the_theory(answers: int, basic: float, gaussian: float) -> None:
    found = errors_of_counts(BOTH, answers)
    assert float(found.basic) == pytest.approx(basic, rel=1e-3)
    assert float(found.gaussian) == pytest.approx(gaussian, rel=1e-3)


def test_the_gaussian_error_is_that_of_the_caps() -> None:
    """E|error| of rounded noise, added up from normal tails, for σ = √k/M."""
    sigma = math.sqrt(7 / find_caps(BOTH).square)
    tails = 2 * sum(norm.sf((k + 0.5) / sigma) for k in range(1000))
    assert float(errors_of_counts(BOTH, 7).gaussian) == pytest.approx(tails, rel=1e-4)


def test_the_sentence_states_both_errors() -> None:
    assert describe_accounting(BOTH, "leastnoise ledger allocate") == (
        "For 12 or more counts, leastnoise ledger allocate gives smaller expected errors than "
        "basic accounting: for example, 37 instead of 120 for each of 120 counts."
    )
    assert describe_accounting(ln.Privacy(1)) is None
    assert gaussian_pays_off_from(ln.Privacy(1)) is None


@pytest.mark.parametrize(
    "limit", [ln.Privacy("0.001", "1e-6"), ln.Privacy(0, "1e-3"), ln.Privacy(1, "0.9")]
)
def test_extreme_limits_have_a_crossover_too(limit: ln.Privacy) -> None:
    """Also where canonical noise has too many steps: then another noise takes its place."""
    found = gaussian_pays_off_from(limit)
    assert found is not None
    assert 1 < found.answers < 10
    assert errors_of_counts(limit, found.answers - 1).basic <= errors_of_counts(
        limit, found.answers - 1
    ).gaussian * Fraction(1002, 1000)


def test_a_limit_at_which_it_never_pays_off() -> None:
    limit = ln.Privacy(1, Fraction(1, 10**4000))
    assert gaussian_pays_off_from(limit) is None
    assert describe_accounting(limit) is None
