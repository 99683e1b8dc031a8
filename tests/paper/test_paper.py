"""The paper as a program: its claims, the data behind its figures, and the page."""

import csv
import json
from fractions import Fraction
from math import exp, pi
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import norm

import leastnoise as ln
from leastnoise import plots
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.paper import claims, numbers, write
from leastnoise.paper import numbers as series

DISAGREES = {
    "Section 5",
    "Table 1, δ → 0 (l1)",
    "Table 2, δ → 0 (l2)",
    "Section 5, δ → 1 (l1)",
    "Section 5, δ → 1 (l2)",
    "Footnote 1",
}


def test_exactly_the_known_errata_disagree_and_each_has_its_sentence() -> None:
    found = claims()
    assert {claim.where for claim in found if not claim.agrees} == DISAGREES
    assert all(claim.remark for claim in found if not claim.agrees)
    assert len(found) == 21


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
    assert values["power, as the paper has it"] == pytest.approx(1 / 3)
    assert values["power, tight Gaussian"] == pytest.approx(1 / 1.649, rel=1e-3)
    falling = [row["value"] for row in series.consistency() if row["curve"] == "Δ = 5"]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < 1e-5
    small = {row["curve"]: row["value"] for row in series.readings() if row["ε"] == 0.01}
    assert small["ℓ1, δ = ε"] == pytest.approx(4, rel=1e-3)
    assert small["ℓ2, δ = ε"] == pytest.approx(24, rel=1e-3)
    assert small["ℓ2, δ = tanh(ε/2)"] == pytest.approx(6, rel=1e-3)
    for law in series.p_alphas().values():
        assert ln.Profile(law, sensitivity=1).advantage == Fraction(4, 5)
    costs = [stage.cost.upper for stage in series.proof().stages]
    assert costs == sorted(costs, reverse=True)


def test_the_page_holds_every_table_and_figure(tmp_path: Path) -> None:
    page = write(tmp_path / "out")
    text = page.read_text(encoding="utf-8")
    for name in ("ratio", "p-alpha", "rearrangement", "consistency", "readings"):
        assert f"]({name}.png)" in text
        assert (page.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (page.parent / f"{name}.svg").read_text(encoding="utf-8")
    assert text.count("| **no** |") == len(DISAGREES)
    with (page.parent / "table-2.csv").open(encoding="utf-8") as file:
        rows = {row["δ"]: row for row in csv.DictReader(file)}
    assert float(rows["0.9"]["optimum"]) == pytest.approx(9 / 160)
    assert float(rows["0.1"]["gain as stated"]) == pytest.approx(3)


def test_the_command_says_what_disagrees(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["paper", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert {claim["where"] for claim in told if not claim["agrees"]} == DISAGREES
    taken = tmp_path / "file"
    taken.write_text("")
    refused = CliRunner().invoke(main, ["paper", str(taken)])
    assert refused.exit_code == 2
    assert "folder must be a folder, got the file 'file'" in refused.stderr


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
