"""An audit of fifty adaptive releases from an allocation, through the public calls.

The attacker knows that the true count is 0 or 1, and chooses the noise of each release by the
answers before it: less noise as long as the answers point to 1. The ledger bounds what it learns.
Without a ledger the same attacker distinguishes the two counts almost surely: the control.
"""

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import leastnoise as ln
from leastnoise.core.gaussian_cost import GaussianCost, find_caps
from leastnoise.errors import BudgetExceeded
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.planning import build_gaussian
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

GUARANTEE = ln.Privacy(1, "0.05")
RELEASES = 50
RUNS = 100


@cache
def noise_of_share(share: Fraction) -> ln.Mechanism:
    """Gaussian noise for a count that costs this share of the allocation, or very little less."""
    square = find_caps(GUARANTEE).square * share * (1 - Fraction(1, 1 << 40))
    return build_gaussian(
        GaussianCost(square), sensitivity=Fraction(1), integer=True, delta=GUARANTEE.delta
    )


def attack(count: int, ledger: ln.Ledger | None) -> float:
    """Return the log-likelihood ratio of 1 and 0 after up to fifty releases of the count."""
    evidence = 0.0
    for place in range(RELEASES):
        share = Fraction(1, 20) if evidence > 0 else Fraction(1, 80)
        mechanism = noise_of_share(share if ledger is not None else Fraction(1))
        try:
            if ledger is None:
                answer = mechanism.release(count)
            else:
                answer = mechanism.release(count, ledger=ledger, key=f"release {place}")
        except BudgetExceeded:
            break
        noise = mechanism.discretized.noise
        index = int(answer.value)
        evidence += math.log(noise.weight(index - 1) / noise.weight(index))
    return evidence


def distinguishes(absent: list[float], present: list[float]) -> bool:
    """Return whether the runs prove a better distinction than (ε, δ), at a false alarm of 1e-9.

    A threshold of ε on the log-likelihood ratio is the best for this ε (Neyman and Pearson).
    """
    epsilon = float(GUARANTEE.epsilon)
    low, _ = clopper_pearson(sum(x > epsilon for x in present), len(present), FALSE_ALARM / 2)
    _, high = clopper_pearson(sum(x > epsilon for x in absent), len(absent), FALSE_ALARM / 2)
    return low - math.exp(epsilon) * high > float(GUARANTEE.delta)


@pytest.mark.long
def test_fifty_adaptive_releases_from_an_allocation(tmp_path: Path) -> None:
    runs: dict[int, list[float]] = {0: [], 1: []}
    for run in range(RUNS):
        for count, evidence in runs.items():
            path = tmp_path / f"{run}-{count}.ledger"
            with ln.Ledger(path, limit=GUARANTEE) as ledger:
                allocation = ledger.allocate("attack", GUARANTEE, discovery=0)
                evidence.append(attack(count, allocation))
                remaining = allocation.remaining
                assert isinstance(remaining, AllocatedPrivacy)
                assert remaining.share < Fraction(1, 2)  # most of it is spent
    assert not distinguishes(runs[0], runs[1])
    unbounded = [[attack(count, None) for _ in range(RUNS)] for count in (0, 1)]
    assert distinguishes(*unbounded)
