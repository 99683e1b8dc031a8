"""An audit of adaptive releases from an allocation, through the public calls.

The attacker knows that a true number is 0 or 1, and chooses each release by the answers before it.
What the attacker sees is reduced to one number, evidence for 1, and a δ is proved to be exceeded by
Clopper-Pearson intervals at a false alarm of 1e-9. This holds whatever the evidence is. The same
verdict catches three controls: a ledger that lets nine times as much through, and the two false
rules of docs/theory/many-answers.md.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

import leastnoise
from leastnoise.core.gaussian_cost import epsilon_within
from leastnoise.errors import BudgetExceeded
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.ledger_files import quick_folder

ln: Any = leastnoise


def proved(present: Iterable[float], absent: Iterable[float], epsilon: float) -> float:
    """Return a δ at ε that the evidence of runs with 1 and with 0 proves to be exceeded.

    A threshold of ε on the log-likelihood ratio is the best for this ε (Neyman and Pearson).
    """
    ones, zeros = (np.asarray([*runs]) > epsilon for runs in (present, absent))
    low, _ = clopper_pearson(int(ones.sum()), ones.size, FALSE_ALARM / 2)
    _, high = clopper_pearson(int(zeros.sum()), zeros.size, FALSE_ALARM / 2)
    return low - math.exp(epsilon) * high


@cache
def gaussian(square: float) -> Any:
    """Return Gaussian noise for real numbers with Δ = 1 that costs at most this μ²."""
    sigma = Fraction(1 / math.sqrt(square)) * Fraction(100_001, 100_000)
    # A weak guarantee, because an allocation charges μ².
    return ln.Mechanism.from_noise(ln.noise.Gaussian(sigma), ln.Privacy(50, "0.4"), sensitivity=1)


# ------------------------------------------------------------------------------ fifty releases

GUARANTEE = ln.Privacy("0.1", "0.4")
RELEASES = 50
RUNS = 400
# One run in so many asks a table for its first answers, which takes longer.
TABLES, FIRST = 20, 5
# The control lets so many times the caps through.
TIMES = 9


def ask_table(count: int, allocation: Any, place: int, share: Fraction) -> tuple[float, float]:
    """Return the noisy count of a table of ``count`` rows, and the standard deviation."""
    frame = pd.DataFrame({"v": [1.0] * count + [0.0]})
    people = ln.protect(frame, unit=None, ledger=allocation, name=f"people {place}")
    answer = people.count(where="v = 1", share=share)
    return float(answer.value), float(answer.mechanism.discretized.noise.noise.sigma)


def attack(count: int, square: float, allocation: Any = None, *, tables: bool = False) -> float:
    """Return the evidence after up to fifty releases of the count, as far as they are allowed.

    Each has 1/40 of μ² if the answers point to 1, else 1/60. Without an allocation all of them are
    allowed.
    """
    evidence = 0.0
    for place in range(RELEASES):
        share = Fraction(1, 40 if evidence > 0 else 60)
        try:
            if tables and place < FIRST:
                value, sigma = ask_table(count, allocation, place, share)
            else:
                mechanism = gaussian(square * share)
                ledger = ln.UNRECORDED if allocation is None else allocation
                value = float(mechanism.release(float(count), ledger=ledger).value)
                sigma = float(mechanism.noise.sigma)
        except BudgetExceeded:
            break
        evidence += (value - 0.5) / sigma**2
    return evidence


@pytest.mark.long
def test_fifty_adaptive_releases_from_an_allocation() -> None:
    runs: dict[int, list[float]] = {0: [], 1: []}
    with quick_folder() as folder:
        for run in range(RUNS):
            for count, evidence in runs.items():
                path = Path(folder) / f"{run}-{count}.ledger"
                with ln.Ledger(path, limit=GUARANTEE) as ledger:
                    allocation = ledger.allocate("attack", GUARANTEE, discovery=0)
                    square = float(allocation.caps.square)
                    tables = run % TABLES == 0
                    evidence.append(attack(count, square, allocation, tables=tables))
                    assert allocation.remaining.share < Fraction(1, 5)  # nearly all is spent
                    assert len(ledger.releases) > 35
                path.unlink()
    epsilon, delta = map(float, (GUARANTEE.epsilon, GUARANTEE.delta))
    assert proved(runs[1], runs[0], epsilon) <= delta
    assert proved([-x for x in runs[0]], [-x for x in runs[1]], epsilon) <= delta
    ones, zeros = ([attack(count, TIMES * square) for _ in range(RUNS)] for count in (1, 0))
    assert proved(ones, zeros, epsilon) > delta


# ------------------------------------------------------------------------------ two releases

# A two-step attack of so many people at once: each element of an array is an attack of its own.
MANY = 1_000_000

# The evidence in answers to a true number of 0 or 1.
Evidence = NDArray[np.float64]
Release = Callable[[int, int], Evidence]


def delta_of(mu: float, epsilon: float) -> float:
    return float(
        norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    )


def release_gaussian(square: float) -> Release:
    def release(count: int, size: int) -> Evidence:
        mechanism = gaussian(square)
        values = np.asarray(mechanism.release(np.full(size, float(count))).values)
        return (values - 0.5) / float(mechanism.noise.sigma) ** 2

    return release


def release_uniform(failure: float) -> Release:
    """Uniform noise: with probability γ the answer proves the number, else it says nothing."""
    radius = Fraction(1 / (2 * failure)) * Fraction(100_001, 100_000)
    noise = ln.noise.Uniform(radius)
    mechanism = ln.Mechanism.from_noise(noise, ln.Privacy(0, failure), sensitivity=1)

    def release(count: int, size: int) -> Evidence:
        values = np.asarray(mechanism.release(np.full(size, float(count))).values)
        last = float(radius)
        return np.where(values > last + 1e-3, 100.0, np.where(values < 0.999 - last, -100.0, 0.0))

    return release


def release_pure(epsilon: float) -> Release:
    """Geometric noise, which reveals as much as randomized response."""
    mechanism = ln.calibrate(ln.Privacy(epsilon), sensitivity=1, integer=True, family="geometric")

    def release(count: int, size: int) -> Evidence:
        values = np.asarray(
            mechanism.release(np.full(size, count, dtype=np.int64), allow_exact=True).values
        )
        return np.where(values >= 1, epsilon, -epsilon)

    return release


def play(
    count: int, first: float, choose: Callable[[Evidence], Evidence], releases: list[Release]
) -> Evidence:
    """Return the evidence of a Gaussian answer and of the second release chosen by it."""
    evidence = release_gaussian(first)(count, MANY)
    chosen = choose(evidence)
    for number, release in enumerate(releases):
        here = np.flatnonzero(chosen == number)
        if here.size:
            evidence[here] += release(count, here.size)
    return evidence


def attack_in_two_steps(guarantee: Any, part: float, rule: Callable[[float, float], Any]) -> float:
    """Return the proved δ if the rule tells what is allowed after a part of M² was released.

    ``rule`` returns the second releases and the δ of each at a level of the evidence. The attacker
    chooses the one that gains the most.
    """
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
    mu = brentq(lambda mu: delta_of(mu, epsilon) - delta, 1e-3, 20)
    first = part * mu**2
    releases, gains = zip(*rule(mu**2, first), strict=True)

    def choose(evidence: Evidence) -> Evidence:
        levels = np.linspace(-9, 9, 721)
        best = np.array([max(range(len(gains)), key=lambda i: gains[i](level)) for level in levels])
        at = np.clip(np.searchsorted(levels, epsilon - evidence), 0, levels.size - 1)
        return np.asarray(best[at])

    ones, zeros = (play(count, first, choose, list(releases)) for count in (1, 0))
    return proved(ones, zeros, epsilon)


def gain_of_gaussian(square: float) -> Callable[[float], float]:
    return lambda level: delta_of(math.sqrt(square), level)


def gain_of_leak(failure: float) -> Callable[[float], float]:
    return lambda level: failure + (1 - failure) * max(0.0, 1 - math.exp(level))


def gain_of_pure(epsilon: float) -> Callable[[float], float]:
    likely = 1 / (1 + math.exp(-epsilon))
    return lambda level: (
        max(likely - math.exp(level) * (1 - likely), 0)
        + max(1 - likely - math.exp(level) * likely, 0)
    )


TWO = [(ln.Privacy(1, "0.2"), 0.3), (ln.Privacy(2, "0.2"), 0.1)]


@pytest.mark.long
@pytest.mark.parametrize(("guarantee", "part"), TWO)
def test_caps_hold_against_an_attacker_who_chooses_the_second_release(
    guarantee: Any, part: float
) -> None:
    def capped(whole: float, first: float) -> Any:
        rest = whole - first
        pure = float(epsilon_within(Fraction(rest)))
        yield release_gaussian(rest), gain_of_gaussian(rest)
        yield release_pure(pure), gain_of_pure(pure)

    reached = attack_in_two_steps(guarantee, part, capped)
    assert float(guarantee.delta) * 0.9 < reached <= float(guarantee.delta)


@pytest.mark.long
def test_trading_failure_against_squares_is_caught() -> None:
    """Any γ is allowed with which what was released before still satisfies (ε, δ)."""
    guarantee, part = TWO[0]
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)

    def trading(whole: float, first: float) -> Any:
        spent = delta_of(math.sqrt(first), epsilon)
        failure = (delta - spent) / (1 - spent)
        yield release_gaussian(whole - first), gain_of_gaussian(whole - first)
        yield release_uniform(failure), gain_of_leak(failure)

    assert attack_in_two_steps(guarantee, part, trading) > delta * 1.1


@pytest.mark.long
def test_trading_epsilon_against_squares_is_caught() -> None:
    """Any pure ε is allowed that fits beside what was released before."""
    guarantee, part = TWO[1]
    epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)

    def trading(whole: float, first: float) -> Any:
        pure = brentq(lambda p: delta_of(math.sqrt(first), epsilon - p) - delta, 0, epsilon)
        yield release_gaussian(whole - first), gain_of_gaussian(whole - first)
        yield release_pure(pure), gain_of_pure(pure)

    assert attack_in_two_steps(guarantee, part, trading) > delta * 1.1
