"""Audits: each family is released many times through the public API, and must not be told apart.

For two true answers Δ apart and the half-line that tells them apart best, P(S) ≤ e^ε·P′(S) + δ must
hold. Both probabilities are bounded from the safe sides by Clopper and Pearson's intervals, so a
mechanism that satisfies its guarantee fails at a rate of at most 1e-9 a case.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import leastnoise as ln
from leastnoise.calibration import FAMILIES
from tests.support.confidence_intervals import FALSE_ALARM

DRAWS = 400_000

# One guarantee for each family that is kept tightly enough for an audit to see a broken one.
CASES = [
    ("uniform", "0", "0.1", False, ln.l1),
    ("comb", "0", "0.7", False, ln.l2),
    ("canonical", "1", "0.02", False, ln.l1),
    ("staircase", "1", "0", False, ln.l1),
    ("cut_staircase", "1", "0.02", False, ln.l1),
    ("laplace", "1", "0", False, ln.l1),
    ("laplace", "0.5", "0.1", False, ln.l1),
    ("truncated_laplace", "0.5", "0.1", False, ln.l1),
    ("gaussian", "0.5", "0.1", False, ln.l2),
    ("gaussian", "0", "0.2", False, ln.l2),
    ("classic_gaussian", "0.9", "0.5", False, ln.l2),
    ("uniform", "0", "0.2", True, ln.l1),
    ("canonical", "0.5", "0.05", True, ln.l1),
    ("staircase", "1", "0", True, ln.l1),
    ("geometric", "1", "0", True, ln.l1),
    ("cut_staircase", "1", "0.02", True, ln.l1),
    ("laplace", "1", "0", True, ln.l1),
    ("truncated_laplace", "0.5", "0.1", True, ln.l1),
    ("gaussian", "0.5", "0.1", True, ln.l2),
]


def _told_apart(mechanism: ln.Mechanism, moved: int, privacy: ln.Privacy, draws: int) -> bool:
    """Whether some half-line proves that the guarantee is broken, wrongly at a rate ≤ 1e-9.

    The half-lines are fixed beforehand, from the distribution and not from the draws.
    """
    kind = np.int64 if mechanism.integer else np.float64
    near, far = (
        mechanism.release(np.full(draws, answer, dtype=kind), allow_exact=True).values
        for answer in (0, moved)
    )
    radius = mechanism.noise.radius
    places = {Fraction(moved, 2), Fraction(0), Fraction(moved)}
    if isinstance(radius, Fraction):
        places.add(moved - radius)
    rate = FALSE_ALARM / (2 * len(places))
    for place in places:
        low = _at_least(int((near < float(place)).sum()), draws, rate)
        high = _at_most(int((far < float(place)).sum()), draws, rate)
        if low > math.exp(privacy.epsilon) * high + float(privacy.delta):
            return True
    return False


def _at_least(seen: int, draws: int, rate: float) -> float:
    return float(stats.beta.ppf(rate, seen, draws - seen + 1)) if seen else 0.0


def _at_most(seen: int, draws: int, rate: float) -> float:
    return float(stats.beta.ppf(1 - rate, seen + 1, draws - seen)) if seen < draws else 1.0


def _mechanism(
    name: str, epsilon: str, delta: str, moved: int, *, integer: bool, cost: ln.Cost
) -> ln.Mechanism:
    return ln.calibrate(
        ln.Privacy(epsilon, delta), sensitivity=moved, cost=cost, integer=integer, family=name
    )


def test_every_family_is_audited() -> None:
    assert {name for name, *_ in CASES} == set(FAMILIES)


@pytest.mark.parametrize(("name", "epsilon", "delta", "integer", "cost"), CASES)
def test_neighbours_are_not_told_apart(
    name: str, epsilon: str, delta: str, integer: bool, cost: ln.Cost
) -> None:
    mechanism = _mechanism(name, epsilon, delta, 4, integer=integer, cost=cost)
    assert not _told_apart(mechanism, 4, mechanism.privacy, DRAWS)


@pytest.mark.parametrize(
    ("name", "epsilon", "delta", "integer", "cost"),
    [case for case in CASES if case[0] != "classic_gaussian"],  # much wider than it need be
)
def test_half_the_noise_is_seen(
    name: str, epsilon: str, delta: str, integer: bool, cost: ln.Cost
) -> None:
    """The naive control: noise for half the sensitivity is caught by the same audit."""
    mechanism = _mechanism(name, epsilon, delta, 2, integer=integer, cost=cost)
    assert _told_apart(mechanism, 4, mechanism.privacy, DRAWS)
