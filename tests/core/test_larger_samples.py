"""The same properties on larger samples: python3 go test --all."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import leastnoise as ln
from leastnoise.core.sampling.schemes import ticket_if_accepted
from tests.support.confidence_intervals import FALSE_ALARM

pytestmark = pytest.mark.long


@pytest.mark.parametrize("bits", [14, 16])
def test_every_word_of_more_bits_enumerated(bits: int) -> None:
    for total in (3, 7, 1000, 4095, 4097, (1 << bits) - 1, (1 << bits) // 3):
        found = Counter(ticket_if_accepted(word, bits, total) for word in range(1 << bits))
        assert found.pop(None, 0) == (1 << bits) % total
        assert found == dict.fromkeys(range(total), (1 << bits) // total)


@pytest.mark.parametrize(
    ("delta", "cost"), [("0.01", ln.l1), ("0.1", ln.l2), ("0.5", ln.l1), ("0.9", ln.l2)]
)
@pytest.mark.parametrize("moved", ["1", "0.7"])
def test_two_neighbouring_values_differ_by_no_more_than_delta(
    delta: str, cost: ln.Cost, moved: str
) -> None:
    """An attack on release: the best threshold for telling 0 from Δ, chosen in advance.

    The share of outputs beyond Δ/2 differs by exactly the central mass; both shares are estimated
    from 4·10⁷ releases, with false alarms at most 1e-9 a case.
    """
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=cost)
    trials, batches = 4_000_000, 10
    edge = float(mechanism.sensitivity) / 2
    beyond = [0, 0]
    for _ in range(batches):
        for side, value in enumerate((0.0, float(mechanism.sensitivity))):
            released = mechanism.release(np.full(trials, value), allow_exact=True).values
            beyond[side] += int((released > edge).sum())
    n = trials * batches
    low = stats.beta.ppf(FALSE_ALARM / 2, beyond[1], n - beyond[1] + 1)
    high = stats.beta.isf(FALSE_ALARM / 2, beyond[0] + 1, n - beyond[0])
    assert low - high <= float(mechanism.privacy.delta)
    # The attack is not blind: it sees nearly the whole of the distance that the distribution has.
    seen = (beyond[1] - beyond[0]) / n
    assert (
        seen
        > float(mechanism.discretized.noise.total_variation(mechanism.effective_sensitivity))
        - 0.002
    )


def test_a_promise_that_is_broken_by_a_hundredth_is_seen() -> None:
    """The control: noise narrower by one part in a hundred fails the attack above."""
    rng, n = np.random.default_rng(5), 40_000_000
    beyond = [int((value + rng.uniform(-4.95, 4.95, n) > 0.5).sum()) for value in (0.0, 1.0)]
    low = stats.beta.ppf(FALSE_ALARM / 2, beyond[1], n - beyond[1] + 1)
    high = stats.beta.isf(FALSE_ALARM / 2, beyond[0] + 1, n - beyond[0])
    assert low - high > 0.1


def test_certificates_over_a_fine_grid_of_delta() -> None:
    """V(δ)/(1−δ) never rises with δ: a distribution every table of optima must keep."""
    for cost in (ln.l1, ln.l2, ln.lp("1/2"), ln.piecewise_linear([(0, 0), (1, 2), (50, 9)])):
        for integer in (False, True):
            last = None
            for i in range(1, 400):
                delta = Fraction(i, 400)
                mechanism = ln.calibrate(
                    ln.Privacy(delta=delta), sensitivity=3, cost=cost, integer=integer
                )
                share = mechanism.cost / (1 - delta)
                assert last is None or share <= last * (1 + Fraction(1, 10**15))
                last = share
