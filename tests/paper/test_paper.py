"""The paper as a program: its claims, and the data behind its figures."""

import json
from fractions import Fraction
from math import exp, pi
from pathlib import Path

import pytest
from scipy.stats import norm

import leastnoise as ln
from leastnoise import plots
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.paper import cheaper_noise, claims, numbers, theorem_claims
from leastnoise.paper import numbers as series
from leastnoise.paper.random_checks import check_theorem_1
from leastnoise.paper.random_noise import Sample

DISAGREES = {
    "Section 5, amplitude",
    "Table 1, δ → 0 (l1)",
    "Section 5, δ → 1 (l1)",
    "Footnote 1",
}


def test_exactly_the_known_errata_disagree_and_each_has_its_sentence() -> None:
    found = claims()
    assert {claim.where for claim in found if not claim.agrees} == DISAGREES
    assert all(claim.remark for claim in found if not claim.agrees)
    assert len(found) == 40
    corrected = {claim.where for claim in found if claim.status == "holds with a correction"}
    assert all(claim.remark for claim in found if claim.where in corrected)
    assert {
        "Table 2, δ → 0 (l2)",
        "Section 5, δ → 1 (l2)",
        "Section 5, low privacy regime",
        "Lemma 1",
        "Theorem 3, p = 2",
        "Theorem 2, last step",
        "Corollary 4 (ℓ1)",
        "Corollary 5 (ℓ2)",
    } <= corrected
    assert len(corrected) == 20


def test_the_gain_over_the_tight_gaussian_first_falls() -> None:
    def gain(delta: str, cost: ln.Cost) -> float:
        exact = Fraction(delta)
        sigma = float(1 / (2 * norm.ppf((1 + float(exact)) / 2)))
        noise = sigma * (2 / pi) ** 0.5 if cost is ln.l1 else sigma**2
        return noise / float(numbers.least(exact, cost))

    (found,) = (claim for claim in claims() if claim.where == "Section 5, low privacy regime")
    assert gain("1e-6", ln.l1) > gain("0.1", ln.l1) > gain("0.5", ln.l1)
    assert gain("1e-6", ln.l2) > gain("0.5", ln.l2) > gain("0.77", ln.l2) < gain("0.8", ln.l2)
    lowest = [(ln.l1, "0.55"), (ln.l2, "0.77")]
    for cost, delta in lowest:
        numbers_shown = [gain("1e-6", cost), gain(delta, cost), gain("0.99", cost)]
        shown = " ".join(f"{number:.4g}" for number in numbers_shown).split()
        assert f"from {shown[0]} to {shown[1]} at δ = {delta}, and grows to {shown[2]}" in (
            found.recomputed
        )
    assert "only from δ = 0.7 (ℓ1) and 0.93 (ℓ2) on" in found.remark


def test_every_statement_is_listed_with_the_number_of_inputs_and_its_proof() -> None:
    found = {claim.where: claim for claim in claims()}
    assert len(found) == 40
    for where in ("Property 1", "Property 2", "Equations 4 and 7", "Algorithm 1"):
        assert found[where].evidence == "no counterexample in 400"
    proved = {
        "Lemma 1": ("lemma-1", 400),
        "Lemma 2": ("lemma-2", 400),
        "Theorem 1": ("theorem-1", 400),
        "Section 3, P_α": ("theorem-1", 400),
        "Theorem 1, worst set": ("theorem-1", 400),
        "Theorem 2": ("theorem-2", 300),
        "Theorem 2, other densities": ("theorem-2", 100),
        "Theorem 2, last step": ("theorem-2", 400),
        "Theorem 3, p = 1/3": ("theorem-3", 57),
        "Corollary 5 (ℓ2)": ("theorem-3", 297),
        "Theorem 6": ("errata", 297),
    }
    for where, (page, count) in proved.items():
        assert (
            found[where].evidence == f"proved: docs/theory/{page}.md; no counterexample in {count}"
        )
        assert (Path(__file__).parents[2] / f"docs/theory/{page}.md").is_file()
    assert found["Section 5, classic Gaussian noise"].evidence == "no counterexample in 95"


@pytest.mark.parametrize("p", ["1/3", "1/2", "1", "3/2", "2", "3", "4"])
def test_noise_of_another_shape_costs_less_than_theorem_3_states(p: str) -> None:
    """The cost by adding up ∫|x|ᵖ in floats, the guarantee by the general profile."""
    delta, noise = cheaper_noise(Fraction(p))
    assert not noise.is_unimodal
    assert ln.Profile(noise, sensitivity=1).advantage == delta
    power, level = float(Fraction(p)), float(delta)
    places, heights = [float(x) for x in noise.breaks], [float(h) for h in noise.heights]

    def primitive(x: float) -> float:
        return float(abs(x) ** (power + 1) / (power + 1) * (1 if x > 0 else -1))

    cost = sum(
        h * (primitive(b) - primitive(a))
        for h, a, b in zip(heights, places, places[1:], strict=False)
    )
    if level <= power / (power + 1):
        stated = 1 / (2**power * (power + 1) * level**power)
    else:
        stated = ((power + 1) / (2 * power)) ** power * (1 - level)
    assert cost < stated * 0.998
    (found,) = (claim for claim in claims() if claim.where == f"Theorem 3, p = {p}")
    assert found.status == "holds with a correction"
    assert "among symmetric unimodal noise, a condition that the statement omits" in found.remark
    assert f"costs {cost:.6g} instead of {stated:.6g}" in found.remark


def test_the_slope_of_the_cost_is_that_of_differences() -> None:
    step, delta = Fraction(1, 10**6), Fraction("0.8")
    for p in (1, 2, 3):
        for alpha in (Fraction("0.1"), Fraction("0.45"), Fraction("0.7")):
            ends = (numbers.f(alpha + move, delta, p) for move in (step, -step))
            slope = (next(ends) - next(ends)) / (2 * step)
            assert float(numbers.f_slope(alpha, delta, p)) == pytest.approx(float(slope), rel=1e-6)


def test_claims_use_the_words_of_the_glossary() -> None:
    """Plain words for a reader of the paper: unimodal, shift, smallest σ, guarantee."""
    for found in claims():
        words = " ".join((found.claimed, found.recomputed, found.remark)).lower()
        for word in ("decreasing noise", "never falls", "move.", "teeth", "tight one", "ε-privacy"):
            assert word not in words, (found.where, word)


def test_the_limit_of_the_wide_gaussian_is_not_half_of_the_sensitivity() -> None:
    """As δ → 1, σ = Δ/2δ tends to Δ/2, and E|X| to Δ/√(2π)."""
    found = {claim.where: claim for claim in claims()}
    assert f"{1 / (2 * pi) ** 0.5:.5f}" in found["Section 5, δ → 1 (l1)"].recomputed
    assert "0.250001 with σ" in found["Section 5, δ → 1 (l2)"].recomputed


def test_a_counterexample_makes_a_claim_false(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(sample: Sample) -> str | None:
        return check_theorem_1(sample, share=Fraction(1, 4))

    monkeypatch.setattr(theorem_claims, "check_theorem_1", check)
    claim = next(theorem_claims.recompute_theorems())
    assert (claim.where, claim.status) == ("Theorem 1", "false")
    assert "; counterexample: Steps(" in claim.evidence


@pytest.mark.parametrize("delta", ["0.000001", "0.001", "0.1", "0.5", "0.9", "0.999999"])
def test_the_tight_gaussian_is_scipys(delta: str) -> None:
    exact = Fraction(delta)
    sigma = numbers.tight_sigma(exact)
    assert float(sigma) == pytest.approx(1 / (2 * norm.ppf((1 + float(exact)) / 2)), rel=1e-9)
    assert numbers.gaussian_distance(sigma) <= exact * (1 + Fraction(1, 10**30))
    # The control: a sigma smaller by a millionth is not private.
    assert numbers.gaussian_distance(sigma * Fraction(999_999, 10**6)) > exact


@pytest.mark.parametrize(
    ("delta", "sigma", "magnitude", "power"),
    [
        ("0.001", 398.94, 1.273, 1.910),
        ("0.1", 3.979, 1.270, 1.900),
        ("0.5", 0.741, 1.183, 1.649),
        ("0.9", 0.304, 2.425, 1.643),
    ],
)
def test_honest_gains(delta: str, sigma: float, magnitude: float, power: float) -> None:
    """Values computed once by another route, in the project's notes on the paper."""
    exact = Fraction(delta)
    tight = numbers.tight_sigma(exact)
    assert float(tight) == pytest.approx(sigma, rel=1e-3)
    for cost, gain in ((ln.l1, magnitude), (ln.l2, power)):
        reached = numbers.gaussian_cost(tight, cost) / numbers.least(exact, cost)
        assert float(reached) == pytest.approx(gain, rel=1e-3)


def test_the_limits_of_the_gains() -> None:
    small = Fraction(1, 10**8)
    for cost, limit in ((ln.l1, 4 / pi), (ln.l2, 6 / pi)):
        gain = numbers.gaussian_cost(numbers.tight_sigma(small), cost) / numbers.least(small, cost)
        assert float(gain) == pytest.approx(limit, rel=1e-9)


def test_the_staircase_costs_what_its_density_gives() -> None:
    """ℓ1 at ε = 1: steps of height falling by e^−1, the first of width γ = 1/(1+√e)."""
    b = exp(-1)
    gamma = 1 / (1 + b**-0.5)
    level = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    total = 0.0
    for k in range(60):
        near, far = (k, k + gamma), (k + gamma, k + 1)
        total += level * b**k * (near[1] ** 2 - near[0] ** 2)
        total += level * b ** (k + 1) * (far[1] ** 2 - far[0] ** 2)
    assert float(numbers.staircase_cost(Fraction(1), ln.l1)) == pytest.approx(total, rel=1e-9)


def test_the_data_behind_the_figures() -> None:
    at_half = [row for row in series.ratios() if row["δ"] == 0.5]
    values = {row["curve"]: row["value"] for row in at_half}
    assert values["magnitude, as the paper has it"] == pytest.approx(0.5)
    assert values["magnitude, σ = Δ/2δ"] == pytest.approx((pi / 8) ** 0.5)
    assert values["power, as the paper has it"] == pytest.approx(1 / 3)
    assert values["power, tight Gaussian"] == pytest.approx(1 / 1.649, rel=1e-3)
    falling = [row["value"] for row in series.consistency() if row["curve"] == "Δ = 5"]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < 1e-5
    small = {row["curve"]: row["value"] for row in series.readings() if row["ε"] == 0.01}
    assert small["ℓ1, δ = ε"] == pytest.approx(4, rel=1e-3)
    assert small["ℓ2, δ = ε"] == pytest.approx(24, rel=1e-3)
    assert small["ℓ2, δ = tanh(ε/2)"] == pytest.approx(6, rel=1e-3)
    for distribution in series.p_alphas().values():
        assert ln.Profile(distribution, sensitivity=1).advantage == Fraction(4, 5)
    costs = [stage.cost.upper for stage in series.proof().stages]
    assert costs == sorted(costs, reverse=True)


def test_pictures_refuse_what_they_cannot_draw(tmp_path: Path) -> None:
    whole = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True)
    with pytest.raises(Unsupported, match="must have a density to be drawn, got DiscreteUniform"):
        plots.density(whole)
    chart = plots.density(ln.calibrate(ln.Privacy(delta="0.75"), sensitivity=1))
    with pytest.raises(InvalidParameter, match=r"must end in \.png.*got '\.gif'"):
        plots.save(chart, tmp_path / "a.gif")
    drawn = json.loads(plots.save(chart, tmp_path / "a.json").read_text())
    assert "mass 0.5" in json.dumps(drawn)


def test_notebooks_show_noises_and_answers() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.75"), sensitivity=1)
    assert "Uniform(radius=1, atom=0.5)" in mechanism.noise._repr_html_()
    shown = mechanism.release(5, allow_exact=True)._repr_html_()
    assert ">95% error</th><td>± 0.9006</td>" in shown
    assert ">Max error</th><td>1.001</td>" in shown
    assert "with probability 0.5" in shown
    assert "not recorded" in shown
    assert "<script" not in ln.Steps([0, 1], [1])._repr_html_()
