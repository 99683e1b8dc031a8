"""How much cheaper noise can be than the paper's and than the usual ones: two maps.

Each least cost is found and proved by ``calibrate``; the usual noises are worked out here, in
floats. ``python examples/beyond_the_paper.py OUT/`` writes CSV, SVG and PNG in about two minutes.
"""

import csv
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

import leastnoise as ln
from leastnoise import plots

Row = dict[str, Any]

POWERS = ("0.5", "1", "1.5", "2", "3", "4", "6", "8")
DELTAS = ("0.05", "0.1", "0.2", "0.35", "0.5", "0.65", "0.8", "0.95")
EPSILONS = ("0.125", "0.25", "0.5", "1", "2", "4")
SMALL_DELTAS = ("1e-6", "1e-4", "0.01", "0.05", "0.1", "0.3")
# How near to the least the costs on the maps are, and how long one of them may take.
GAP = "1/500"
SECONDS = 5

SHAPE = "any shape against never rising"
AGAINST = {
    SHAPE: ("any shape", "never rising"),
    "never rising against closed forms": ("never rising", "closed form"),
    "any shape against closed forms": ("any shape", "closed form"),
}


def main() -> None:
    """Write both maps into the folder that is named, or next to the theory."""
    # Numbers kept from earlier questions may be nearer to the least than these.
    os.environ["LEASTNOISE_CACHE"] = "off"
    default = Path(__file__).parents[1] / "docs" / "theory" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    at_zero = over_powers(POWERS, DELTAS)
    write(folder / "beyond-power", at_zero, power_map(at_zero))
    above = over_epsilons(EPSILONS, SMALL_DELTAS)
    write(folder / "beyond-epsilon", above, epsilon_map(above))


# ------------------------------------------------------------------- the numbers


def over_powers(powers: Sequence[str], deltas: Sequence[str]) -> list[Row]:
    """Return the least costs at ε = 0, Δ = 1 for |x|ᵖ: the paper's noise and any shape."""
    rows = []
    for p in powers:
        for delta in deltas:
            privacy, cost = ln.Privacy(delta=delta), ln.lp(p)
            paper = ln.calibrate(privacy, sensitivity=1, cost=cost)
            found = least(privacy, cost, "any")
            row = {"p": p, "δ": delta, "paper": float(paper.cost), **bracket("any shape", found)}
            rows.append(row | {"gain": 1 - row["any shape"] / row["paper"]})
            progress(f"p = {p}, δ = {delta}: gain {rows[-1]['gain']:.2%}")
    return rows


def over_epsilons(epsilons: Sequence[str], deltas: Sequence[str]) -> list[Row]:
    """Return the least costs at Δ = 1 for ℓ1 and ℓ2, by class, beside the best closed form."""
    rows = []
    for name, cost in (("ℓ1", ln.l1), ("ℓ2", ln.l2)):
        for epsilon in epsilons:
            for delta in deltas:
                privacy = ln.Privacy(epsilon, delta)
                row: Row = {"cost": name, "ε": epsilon, "δ": delta}
                row |= bracket("any shape", least(privacy, cost, "any"))
                row |= bracket("never rising", least(privacy, cost, "decreasing"))
                forms = closed_forms(float(epsilon), float(delta), cost)
                row["best closed form"] = min(forms, key=lambda form: forms[form])
                row["closed form"] = min(forms.values())
                row |= {gain: 1 - row[a] / row[b] for gain, (a, b) in AGAINST.items()}
                row["proved gain of shape"] = 1 - row["any shape"] / row["never rising, bound"]
                rows.append(row)
                progress(f"{name}, ε = {epsilon}, δ = {delta}: gain {row[SHAPE]:.2%}")
    return rows


def least(privacy: ln.Privacy, cost: ln.Cost, among: str) -> ln.Mechanism:
    """Return a noise that is proved to be nearly the least of its class."""
    return ln.calibrate(
        privacy, sensitivity=1, cost=cost, among=among, gap=GAP, seconds=SECONDS
    )


def bracket(name: str, mechanism: ln.Mechanism) -> Row:
    """Return what a noise costs and what no noise of its class costs less than."""
    return {
        name: float(mechanism.cost),
        f"{name}, bound": float(mechanism.certificate.lower_bound),
    }


def closed_forms(epsilon: float, delta: float, cost: ln.Cost) -> dict[str, float]:
    """Return what the usual noises cost at Δ = 1 for l1 or l2, in floats.

    Laplace at its smallest scale for (ε, δ), 1/(ε − 2·ln(1−δ)); the Laplace noise cut off at
    ln(1+r)/ε, r = (e^ε−1)/2δ (Geng et al. 2020); the staircase for (ε, 0) (Geng and Viswanath
    2014). ε > 0, 0 < δ ≤ 1/2.
    """
    scale = 1 / (epsilon - 2 * math.log1p(-delta))
    r, b = math.expm1(epsilon) / (2 * delta), math.exp(-epsilon)
    cut = math.log1p(r)
    if cost == ln.l1:
        return {
            "Laplace": scale,
            "truncated Laplace": (1 - cut / r) / epsilon,
            "staircase": math.exp(epsilon / 2) / math.expm1(epsilon),
        }
    return {
        "Laplace": 2 * scale**2,
        "truncated Laplace": 2 * (1 - (cut**2 / 2 + cut) / r) / epsilon**2,
        "staircase": ((b * (1 + b) / 2) ** (2 / 3) + b) / (1 - b) ** 2,
    }


def progress(text: str) -> None:
    """Say on the error stream what is done."""
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------- the pictures


def power_map(rows: Sequence[Row]) -> Any:
    """Draw the gains over (p, δ)."""
    panel = heat(rows, x="δ", y="p", gain="gain", titles=("δ", "power p of the error"))
    return dressed(
        panel.properties(width=460, height=300),
        "How much less noise of any shape costs than the paper's, at ε = 0",
        "cost |error| to the power p; proved gains in percent, at most 0.2 short of all there is",
    )


def epsilon_map(rows: Sequence[Row]) -> Any:
    """Draw the three gains over (ε, δ), a row of panels for each cost."""
    bands = []
    for name in dict.fromkeys(row["cost"] for row in rows):
        chosen = [row for row in rows if row["cost"] == name]
        panels = []
        for gain in AGAINST:
            panel = heat(chosen, x="δ", y="ε", gain=gain, titles=("δ", "ε"))
            title = alt.Title(f"{name}: {gain}", fontSize=12, fontWeight="normal", offset=6)
            panels.append(panel.properties(width=250, height=190, title=title))
        bands.append(alt.hconcat(*panels, spacing=24))
    return dressed(
        alt.vconcat(*bands, spacing=24),
        "How much less the least noise for (ε, δ) costs",
        "gain in percent; closed forms: the cheapest of Laplace, truncated Laplace and staircase",
    )


def heat(rows: Sequence[Row], *, x: str, y: str, gain: str, titles: tuple[str, str]) -> Any:
    """Draw one gain in percent as coloured cells with their numbers."""
    values = [{"x": row[x], "y": row[y], "gain": shown(row[gain])} for row in rows]
    top = max(value["gain"] for value in values)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("x:O", sort=None, title=titles[0], axis=alt.Axis(labelAngle=0)),
        y=alt.Y("y:O", sort=None, title=titles[1]),
    )
    colour = alt.Color(
        "gain:Q",
        title="gain, %",
        scale=alt.Scale(scheme="blues", domain=[0, max(top, 1)]),
        legend=alt.Legend(gradientLength=120, format="~g", tickCount=4),
    )
    dark = alt.condition(
        alt.datum.gain > 0.6 * max(top, 1), alt.value("white"), alt.value("#333333")
    )
    numbers = base.mark_text(fontSize=11).encode(text=alt.Text("gain:Q", format=".1f"), color=dark)
    return base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour) + numbers


def shown(gain: float) -> float:
    """Return a gain in percent to a tenth; what is below the gap either way is 0."""
    return max(0.0, round(100 * gain, 1))


def dressed(chart: Any, title: str, subtitle: str) -> Any:
    """Give a chart its title and the look of the others."""
    heading = alt.Title(title, subtitle=[subtitle], anchor="start", fontSize=15, offset=14)
    return (
        chart.resolve_scale(color="independent")
        .properties(title=heading, background="white", padding=12)
        .configure_axis(grid=False, labelFontSize=12, titleFontSize=12, ticks=False, domain=False)
        .configure_legend(labelFontSize=11, titleFontSize=11)
        .configure_title(subtitleFontSize=12)
        .configure_view(stroke=None)
    )


def write(stem: Path, rows: Sequence[Row], chart: Any) -> None:
    """Write the rows as CSV, costs to nine digits, and the picture as SVG and PNG."""
    with stem.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: f"{v:.9g}" if isinstance(v, float) else v for name, v in row.items()}
            )
    for ending in (".svg", ".png"):
        plots.save(chart, stem.with_suffix(ending))


if __name__ == "__main__":
    main()
