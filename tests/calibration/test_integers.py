"""The least noise on the integers, against a linear program and known values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import leastnoise as ln
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter

SATURATING = ln.piecewise_linear([(0, 0), (3, 5), (30, 6)])


def programme(cost: Cost, moved: int, delta: float, window: int) -> float:
    """The least cost over all decreasing distributions on −window … window, straight from the
    definition.

    Variables p₀ … p_window; the distance at a move of d is the mass of the d central points, which
    must be at most δ for every d ≤ Δ.
    """
    value = np.array([cost(float(j)) for j in range(window + 1)])
    both = np.array([1.0] + [2.0] * window)
    rows, limits = [], []
    for j in range(window):  # decreasing
        row = np.zeros(window + 1)
        row[j], row[j + 1] = -1, 1
        rows.append(row)
        limits.append(0.0)
    for d in range(1, moved + 1):
        row = np.zeros(window + 1)
        for j in range(-((d - 1) // 2), d // 2 + 1):
            row[abs(j)] += 1
        rows.append(row)
        limits.append(delta)
    solved = linprog(
        both * value, A_ub=np.array(rows), b_ub=limits, A_eq=[both], b_eq=[1.0], method="highs"
    )
    assert solved.status == 0
    return float(solved.fun)


@pytest.mark.parametrize(
    "cost", [ln.l1, ln.l2, ln.lp(4), ln.lp("1/2"), ln.threshold(3), SATURATING], ids=repr
)
@pytest.mark.parametrize("moved", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("delta", ["0.08", "1/3", "0.5", "0.7", "0.9", "0.97"])
def test_it_equals_a_linear_programme(cost: Cost, moved: int, delta: str) -> None:
    privacy = ln.Privacy(delta=delta)
    try:
        mechanism = ln.calibrate(privacy, sensitivity=moved, cost=cost, integer=True)
    except InvalidParameter as refusal:
        # Only a bounded cost can lack a least noise, and then a wider window is always cheaper.
        if cost.constant_beyond is None or "in the limit" not in str(refusal):
            raise AssertionError("a noise of least cost exists here") from refusal
        wider = [programme(cost, moved, float(privacy.delta), window) for window in (100, 200)]
        assert wider[1] < wider[0]
        return
    window = int(2 * moved / privacy.delta) + 3 * int(mechanism.noise.radius) + 40
    expected = programme(cost, moved, float(privacy.delta), window)
    assert float(mechanism.cost) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    certificate = mechanism.certificate
    assert certificate.gap < Fraction(1, 1 << 60)
    assert certificate.exact is not certificate.cost_is_upper_bound  # √x is enclosed
    if cost != ln.lp("1/2"):
        assert certificate.exact


def test_only_what_has_no_least_noise_is_refused() -> None:
    """A threshold below Δ/2: wider is always cheaper, which the program shows too."""
    with pytest.raises(InvalidParameter, match=r"ever less, down to 0\.5 in the limit"):
        ln.calibrate(ln.Privacy(delta="0.5"), sensitivity=8, cost=ln.threshold(3), integer=True)
    costs = [programme(ln.threshold(3), 8, 0.5, window) for window in (20, 40, 80)]
    assert costs[0] > costs[1] > costs[2] > 0.5


@pytest.mark.parametrize(
    ("moved", "delta", "cost", "least"),
    [
        (1, "0.1", ln.l1, "2.5"),
        (1, "0.1", ln.l2, "8.5"),
        (1, "0.3", ln.l1, "0.8"),
        (1, "0.3", ln.l2, "1"),
        (2, "0.9", ln.l1, "0.2"),
    ],
)
def test_known_values(moved: int, delta: str, cost: Cost, least: str) -> None:
    """mathematics.md §4 and §5: canonical noise for counts, and the atom at k = 2."""
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=cost, integer=True)
    assert mechanism.cost == mechanism.certificate.lower_bound == Fraction(least)


def test_a_uniform_law_where_one_fits_exactly() -> None:
    """Geng and Viswanath 2016: at Δ = 1 and δ = 1/(2M+1) the discrete uniform noise is optimal."""
    for reach in (1, 2, 10, 1000):
        delta = Fraction(1, 2 * reach + 1)
        noise = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, integer=True).noise
        assert noise == ln.noise.DiscreteUniform(reach=reach)


@pytest.mark.parametrize("delta", ["0.001", "0.1", "0.4", "0.6", "0.9"])
@pytest.mark.parametrize("moved", [1, 2, 5, 64])
def test_for_l1_the_integers_are_never_worse_than_the_line(delta: str, moved: int) -> None:
    privacy = ln.Privacy(delta=delta)
    whole = ln.calibrate(privacy, sensitivity=moved, integer=True)
    line = ln.calibrate(privacy, sensitivity=moved)
    assert whole.cost <= line.cost


def test_a_sensitivity_beyond_every_machine_integer() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="1e-6"), sensitivity=10**30, integer=True)
    assert float(mechanism.cost) == pytest.approx(10**30 * 10**6 / 4, rel=1e-9)
    assert mechanism.certificate.exact
    assert abs(mechanism.release(5).value - 5) <= mechanism.discretized.radius


def test_costs_that_are_only_enclosed_keep_a_small_gap() -> None:
    for cost in (ln.lp("1/2"), ln.Cost(math.log1p)):
        mechanism = ln.calibrate(
            ln.Privacy(delta="0.99"), sensitivity=2000, cost=cost, integer=True
        )
        assert 0 <= mechanism.certificate.gap < Fraction(1, 100)


def test_an_integer_answer_that_mostly_leaves_as_it_is_must_be_allowed() -> None:
    peaked = ln.calibrate(ln.Privacy(delta="0.6"), sensitivity=1, integer=True)
    assert peaked.exact_probability == Fraction(3, 5)
    with pytest.raises(InvalidParameter, match=r"probability 0\.6 this noise adds nothing"):
        peaked.release(5)
    assert "exact with probability 0.6" in str(peaked.release(5, allow_exact=True))
    level = ln.calibrate(ln.Privacy(delta="1/3"), sensitivity=1, integer=True)
    assert level.exact_probability == Fraction(1, 3)  # said, but no more likely than one off
    assert not level.needs_allow_exact
    assert level.release(5).exact_probability == Fraction(1, 3)
