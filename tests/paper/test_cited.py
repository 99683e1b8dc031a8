"""Cited mechanisms at one guarantee, and truncated Laplace noise as ε and δ tend to 0."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb, cosh, exp, expm1, log, pi, sinh, sqrt, tanh

import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.paper import (
    binomial_noise,
    cited_mechanisms,
    claim,
    concentrated_noise,
    renyi_sigma,
    truncated_laplace_over_staircase,
    truncated_laplace_ratio,
    truncated_laplace_ratios,
)
from leastnoise.paper.cited import TRUNCATED_LOOKS, truncated_laplace_chart
from leastnoise.paper.grid_checks import check_classic_gaussian

# The mechanisms that the paper cites, by the words of its Sections 1 and 5.
CITED = {
    "optimal (0, δ) noise",
    "Laplace",
    "Gaussian, classic",
    "Gaussian, analytic",
    "Gaussian, σ = Δ/2δ",
    "staircase",
    "staircase in the plane",
    "concentrated around 0 (d = Δ/4)",
    "geometric",
    "geometric, for minimax users",
    "discrete uniform",
    "discrete (ε, δ) noise",
    "truncated Laplace",
    "Gaussian, by Rényi DP",
    "binomial",
}


def test_every_cited_mechanism_has_a_row() -> None:
    assert {row.name for row in cited_mechanisms()} == CITED
    assert len(cited_mechanisms()) == len(CITED)


def test_costs_are_those_of_the_formulas_in_floats() -> None:
    """At ε = 1/2, δ = 1/100 and Δ = 1."""
    e, d = 0.5, 0.01
    b, x = exp(-e), exp(-e)
    r, classic = expm1(e) / (2 * d), sqrt(2 * log(1.25 / d)) / e
    u = sqrt(2 * log(1 / d))
    renyi = (u + sqrt(u**2 + 2 * e)) / (2 * e)
    level = 1 / (0.5 + 2 * b / (1 - b))  # constant up to 1/4, then steps of length 1
    steps = [(0.0, 0.25, level), *((k - 0.75, k + 0.25, level * b**k) for k in range(1, 200))]
    cut = log(1 + r)
    expected = {
        "optimal (0, δ) noise": (1 / (4 * d), 1 / (12 * d**2)),
        "Laplace": (1 / e, 2 / e**2),
        "Gaussian, classic": (classic * sqrt(2 / pi), classic**2),
        "Gaussian, σ = Δ/2δ": (sqrt(2 / pi) / (2 * d), 1 / (4 * d**2)),
        "staircase": (exp(e / 2) / expm1(e), ((b * (1 + b) / 2) ** (2 / 3) + b) / (1 - b) ** 2),
        "concentrated around 0 (d = Δ/4)": (
            sum(h * (far**2 - near**2) for near, far, h in steps),
            sum(h * (far**3 - near**3) * 2 / 3 for near, far, h in steps),
        ),
        "geometric": (2 * x / (1 - x**2), 2 * x / (1 - x) ** 2),
        "geometric, for minimax users": (2 * x / (1 - x**2), 2 * x / (1 - x) ** 2),
        "truncated Laplace": ((1 - cut / r) / e, 2 * (1 - (cut**2 / 2 + cut) / r) / e**2),
        "Gaussian, by Rényi DP": (renyi * sqrt(2 / pi), renyi**2),
        "binomial": (
            sum(comb(42, i) / 2**42 * abs(i - 21) for i in range(43)),
            42 / 4,
        ),
    }
    rows = {row.name: row for row in cited_mechanisms()}
    for name, costs in expected.items():
        row = rows[name]
        assert row.power is not None
        assert (float(row.amplitude), float(row.power)) == pytest.approx(costs, rel=1e-8), name


def test_no_cited_noise_beats_the_optimum_of_its_guarantee() -> None:
    """Costs of real and integer answers at most those of calibrate() with the same guarantee."""
    for row in cited_mechanisms():
        if row.answers != "two real" and row.power is not None:
            for cost, found in ((ln.l1, row.amplitude), (ln.l2, row.power)):
                best = ln.calibrate(
                    row.privacy,
                    sensitivity=1,
                    cost=cost,
                    integer=row.answers == "integer",
                    shape="any",
                    solve=False,
                )
                assert found >= best.certificate.lower_bound, row.name


def test_the_constructed_noise_satisfies_its_guarantee_and_less_noise_does_not() -> None:
    privacy = ln.Privacy("0.5", "0.01")
    sigma = renyi_sigma(privacy)
    assert ln.Profile(ln.noise.Gaussian(sigma), sensitivity=1).delta("0.5") < privacy.delta
    # The best order gives exactly ε: with a smaller σ no order proves the guarantee.
    for factor, holds in ((Fraction(1), True), (Fraction(999, 1000), False)):
        smaller = float(sigma * factor)
        orders = (1 + i / 100 for i in range(1, 5000))
        proved = min(a / (2 * smaller**2) + log(100) / (a - 1) for a in orders)
        assert (proved <= 0.5 + 1e-5) is holds
    ln.Mechanism.from_noise(concentrated_noise("0.5"), ln.Privacy("0.5"), sensitivity=1)
    with pytest.raises(NotPrivate, match=r"a shift over 1 of its periods needs ε = 0\.5"):
        ln.Mechanism.from_noise(concentrated_noise("0.5"), ln.Privacy("0.4999"), sensitivity=1)


POINTS = [Fraction(1, n) for n in (1, 3, 16, 256, 4096)]
DELTAS = [Fraction(2, 5), Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**9)]


def test_the_inequalities_of_the_proposition() -> None:
    """docs/theory/cited-systems.md, Proposition 1, with the proved lower bound in place of V."""
    for epsilon, delta in product(POINTS, DELTAS):
        share = 1 - epsilon / 4
        costs, bounds = [], []
        for cost in (ln.l1, ln.l2):
            found = ln.calibrate(
                ln.Privacy(epsilon, delta),
                sensitivity=1,
                cost=cost,
                shape="any",
                family="truncated_laplace",
                solve=False,
            )
            costs.append(found.cost)
            bounds.append(found.certificate.lower_bound)
        assert costs[0] <= bounds[0] / share + Fraction(63, 100)
        assert costs[1] <= (bounds[1] + Fraction(1, 4)) / share + costs[0] + Fraction(26, 100)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.45])
def test_the_constants_of_the_proof(epsilon: float, delta: float) -> None:
    """The mass beyond the radius of the canonical noise, times A and A², and the weight w."""
    grown = expm1(epsilon) / (2 * delta)  # e^(εA) − 1
    radius = log(1 + grown) / epsilon
    beyond = (cosh(epsilon / 2) - 1) / grown
    assert beyond * radius <= 0.13
    assert beyond * radius**2 <= 0.26
    none = (expm1(epsilon) + 2 * delta) / (exp(epsilon) + 1)
    assert 1 - tanh(epsilon / 4) * none >= 1 - epsilon / 4


def test_the_ratios_tend_to_1_along_every_path() -> None:
    rows = truncated_laplace_ratios()
    assert {row["curve"] for row in rows} == set(TRUNCATED_LOOKS)
    for name in TRUNCATED_LOOKS:
        values = [float(row["value"]) for row in rows if row["curve"] == name]
        assert len(values) == 9
        assert 0 < values[-1] < 1e-5
        assert values[-1] < values[0] / 1000
    assert "Truncated Laplace noise" in truncated_laplace_chart().to_json()


def test_no_ratio_is_below_1_and_some_are_close() -> None:
    ratios = [truncated_laplace_ratio(e, e, cost) for e in POINTS[1:] for cost in (ln.l1, ln.l2)]
    assert min(ratios) >= 1
    assert min(ratios) < 1 + Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", ["1/4", "1", "3"])
def test_at_a_fixed_epsilon_the_limit_is_above_1(epsilon: str) -> None:
    exact = Fraction(epsilon)
    half = float(exact) / 2
    ratio = truncated_laplace_over_staircase(exact, Fraction(1, 10**15), ln.l1)
    assert float(ratio) == pytest.approx(sinh(half) / half, rel=1e-8)
    assert ratio > 1


def test_the_claim_about_truncated_laplace_noise() -> None:
    found = claim("Section 1, truncated Laplace noise")
    assert (found.status, found.agrees) == ("holds", True)
    assert "1.042 times" in found.remark
    with pytest.raises(InvalidParameter, match="where must be the place of a claim, got 'Lemma 3'"):
        claim("Lemma 3")


def test_the_classic_gaussian_needs_nearly_its_sigma_somewhere() -> None:
    """The control: with three fifths of σ the check finds a counterexample."""
    epsilon, delta = Fraction(19, 20), Fraction(1, 10**6)
    assert check_classic_gaussian(epsilon, delta) is None
    found = check_classic_gaussian(epsilon, delta, factor=Fraction(3, 5))
    assert found == "ε = 19/20, δ = 1/1000000"


def test_binomial_noise_has_the_fewest_coins() -> None:
    """δ(ε) by adding up (p(i) − e^ε·p(i − 1))₊ in floats."""

    def needed(coins: int, epsilon: float) -> float:
        masses = [0.0, *(comb(coins, i) / 2**coins for i in range(coins + 1)), 0.0]
        growth = float(exp(epsilon))
        return float(sum(max(here - growth * before, 0) for before, here in pairwise(masses)))

    for epsilon, delta in (("0.5", "0.01"), ("1", "1e-4"), ("3", "0.2")):
        noise = binomial_noise(ln.Privacy(epsilon, delta))
        coins = 2 * int(noise.farthest)
        assert needed(coins, float(epsilon)) <= float(delta)
        assert coins == 2 or needed(coins - 2, float(epsilon)) > float(delta)
        assert noise.expected(ln.l2) == Fraction(coins, 4)
    with pytest.raises(InvalidParameter, match="that at most 2000 coins satisfy, got ε = 1, δ = 0"):
        binomial_noise(ln.Privacy(1))
