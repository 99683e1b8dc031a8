"""The maps of docs/theory/beyond-the-paper.md: their script on a few points, and their tables."""

import csv
import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import leastnoise as ln

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "theory" / "figures"
# Costs on the maps are this near to the least, or as near as a few seconds bring them.
GAP = 0.002
# Tables hold nine digits.
ROUNDING = 1e-8


def load() -> ModuleType:
    """Return the script as a module: examples are no package."""
    path = ROOT / "examples" / "beyond_the_paper.py"
    spec = importlib.util.spec_from_file_location("beyond_the_paper", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load()


def table(name: str) -> list[dict[str, str]]:
    with (FIGURES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def never_rises(rows: list[dict[str, str]], by: tuple[str, ...], cost: str) -> None:
    """V(δ)/(1−δ) never rises with δ, by what is proved; by what is found, within a gap."""
    for key in {tuple(row[name] for name in by) for row in rows}:
        line = [row for row in rows if tuple(row[name] for name in by) == key]
        quotients = [
            tuple(float(row[name]) / (1 - float(row["δ"])) for name in (f"{cost}, bound", cost))
            for row in sorted(line, key=lambda row: float(row["δ"]))
        ]
        assert len(quotients) > 1
        for (_, before), (proved, found) in pairwise(quotients):
            assert proved <= before * (1 + ROUNDING)
            assert found <= before * (1 + 5 * GAP)


@pytest.mark.long
def test_the_script_on_two_by_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at_zero = script.over_powers(("1", "2"), ("0.35", "0.5"))
    above = script.over_epsilons(("0.5", "1"), ("0.01", "0.1"))
    assert len(capsys.readouterr().err.splitlines()) == 4 + 8
    never_rises(at_zero, ("p",), "any shape")
    assert all(row["gain"] >= -GAP and row["gain at most"] >= row["gain"] for row in at_zero)
    for cost in ("any shape", "never rising"):
        never_rises(above, ("cost", "ε"), cost)
    assert all(row[gain] >= -GAP for row in above for gain in script.AGAINST)
    script.write(tmp_path, at_zero, above)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(sizes) == sorted(path.name for path in FIGURES.glob("beyond-*"))
    assert max(sizes.values()) < 150_000


def test_the_tables_that_are_kept() -> None:
    """Of the whole maps: the order of the costs, and the quotient."""
    at_zero, above = table("beyond-power.csv"), table("beyond-epsilon.csv")
    assert len(at_zero) == len(script.POWERS) * len(script.DELTAS)
    assert len(above) == 2 * len(script.EPSILONS) * len(script.SMALL_DELTAS)
    for row in at_zero:
        bound, found, paper = (
            float(row[name]) for name in ("any shape, bound", "any shape", "paper")
        )
        assert bound <= found <= paper * (1 + GAP)
    never_rises(at_zero, ("p",), "any shape")
    for row in above:
        assert float(row["any shape, bound"]) <= float(row["any shape"])
        assert float(row["any shape"]) <= float(row["never rising"]) * (1 + GAP)
        assert float(row["never rising"]) <= float(row["closed form"]) * (1 + GAP)
    for cost in ("any shape", "never rising"):
        never_rises(above, ("cost", "ε"), cost)


def test_the_tables_agree_with_what_is_found_now() -> None:
    (row,) = (row for row in table("beyond-power.csv") if (row["p"], row["δ"]) == ("2", "0.5"))
    (now,) = script.over_powers(("2",), ("0.5",))
    assert float(row["paper"]) == pytest.approx(1 / 3, abs=1e-9)
    assert float(row["any shape, bound"]) <= now["any shape"]
    assert now["any shape, bound"] <= float(row["any shape"])
    assert float(row["any shape"]) == pytest.approx(now["any shape"], rel=2 * GAP)
    chosen = ("ℓ2", "1", "0.1")
    (row,) = (
        row for row in table("beyond-epsilon.csv") if (row["cost"], row["ε"], row["δ"]) == chosen
    )
    *_, now = script.over_epsilons(("1",), ("0.1",))
    for cost in ("any shape", "never rising"):
        assert float(row[cost]) == pytest.approx(now[cost], rel=2 * GAP)
        assert float(row[f"{cost}, bound"]) <= now[cost]
    assert row["best closed form"] == now["best closed form"]
    assert float(row["closed form"]) == pytest.approx(now["closed form"], rel=1e-8)


def test_the_closed_forms_against_integrals() -> None:
    """E|X| and E X² of each distribution, by quadrature over its density and not by the formula."""
    from math import exp, expm1, inf, log, log1p

    from scipy.integrate import quad

    epsilon, delta = 1.0, 1e-3
    end = log1p(expm1(epsilon) / (2 * delta)) / epsilon
    scale = 1 / (epsilon - 2 * log(1 - delta))
    for power, cost in ((1, ln.l1), (2, ln.l2)):
        forms = script.closed_forms(epsilon, delta, cost)
        laplace = quad(lambda x: x**power * exp(-x / scale) / scale, 0, inf)[0]  # noqa: B023 -- used at once
        mass = quad(lambda x: exp(-epsilon * x), 0, end)[0]
        cut = quad(lambda x: x**power * exp(-epsilon * x), 0, end)[0] / mass  # noqa: B023 -- used at once
        least = ln.calibrate(ln.Privacy(epsilon), sensitivity=1, cost=cost).cost
        assert forms["Laplace"] == pytest.approx(laplace, rel=1e-7)
        assert forms["truncated Laplace"] == pytest.approx(cut, rel=1e-7)
        assert forms["staircase"] == pytest.approx(float(least), rel=1e-7)
