"""The table and the figure of docs/several-answers.md: their script, and independent numbers."""

import csv
import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "theory" / "figures"


def load() -> ModuleType:
    """Return the script as a module: examples are no package."""
    path = ROOT / "examples" / "joint_noise.py"
    spec = importlib.util.spec_from_file_location("joint_noise", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load()
with (FIGURES / "joint-errors.csv").open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


def joint_error(number: int) -> float:
    """E|x₁| of P(x) ∝ e^−max|xᵢ| by sums over boxes, in logarithms."""
    mass = [-r + number * math.log(2 * r + 1) for r in range(1200)]
    top = max(mass)
    weights = [math.exp(one - top) for one in mass]
    ends = sum(w * r * (r + 1) / (2 * r + 1) for r, w in enumerate(weights))
    return ends / sum(weights)


def geometric_error(epsilon: float) -> float:
    """E|x| of P(x) ∝ e^−ε|x|."""
    return 2 * math.exp(-epsilon) / (1 - math.exp(-2 * epsilon))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["k"])
def test_the_errors_are_those_of_the_distributions(row: dict[str, str]) -> None:
    """Joint and split noise by their formulas; Gaussian noise grows with the root of k."""
    number = int(row["k"])
    assert joint_error(number) <= float(row["joint"]) * (1 + 1e-9)
    assert float(row["joint"]) == pytest.approx(joint_error(number), rel=2e-5)
    assert float(row["split"]) == pytest.approx(geometric_error(1 / number), rel=1e-3)
    if number > 1:
        assert float(row["shared"]) == pytest.approx(3.3707 * math.sqrt(number), rel=2e-3)
    best = min(("joint", "shared"), key=lambda way: float(row[way]))
    assert best == ("joint" if number <= 43 else "shared")


@pytest.mark.parametrize("number", [2, 10, 50])
def test_the_script_computes_what_the_file_has(number: int) -> None:
    assert script.compare(number) == next(row for row in ROWS if row["k"] == str(number))


def test_the_page_has_the_table_of_the_file() -> None:
    page = (ROOT / "docs" / "several-answers.md").read_text(encoding="utf-8")
    assert script.markdown(ROWS) in page


def test_the_figure_is_drawn_from_the_file() -> None:
    """Each line has a point for each number, and the points are where the numbers are."""
    svg = (FIGURES / "joint-errors.svg").read_text(encoding="utf-8")
    for name in script.WAYS.values():
        assert name in svg
    chart = script.draw(ROWS).to_dict()
    values = chart["data"]["values"]
    assert {(value["k"], value["error"]) for value in values} == {
        (int(row["k"]), float(row[way])) for row in ROWS for way in script.WAYS
    }
    lines = re.findall(r'aria-roledescription="line mark"[^>]* d="([^"]*)"', svg) or re.findall(
        r'd="(M[^"]*)"[^>]*stroke-width="2"', svg
    )
    assert sum(line.count("L") + 1 == len(ROWS) for line in lines) == len(script.WAYS)
