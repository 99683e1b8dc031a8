"""Compare optimal noise with the paper's noise and with closed forms: two maps.

``calibrate`` finds each optimal cost with a proof; the closed forms are computed here, in floats.
``python examples/beyond_the_paper.py OUT/`` writes CSV, SVG and PNG files in about two minutes.
"""

import csv
import math
import os
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair

import leastnoise as ln
from leastnoise import plots

alt: Any = altair  # not all of it is typed
Row = dict[str, Any]

POWERS = ("0.5", "1", "1.5", "2", "3", "4", "6", "8")
DELTAS = ("0.05", "0.1", "0.2", "0.35", "0.5", "0.65", "0.8", "0.95")
EPSILONS = ("0.125", "0.25", "0.5", "1", "2", "4")
SMALL_DELTAS = ("1e-6", "1e-4", "0.01", "0.05", "0.1", "0.3")
# The gap of the costs on the maps, and the time limit of one of them.
GAP = "1/500"
SECONDS = 5

SHAPE = "any shape against never rising"
AGAINST = {
    SHAPE: ("any shape", "never rising"),
    "never rising against closed forms": ("never rising", "closed form"),
    "any shape against closed forms": ("any shape", "closed form"),
}


def main() -> None:
    """Write both maps into the named folder, or next to the theory pages."""
    # Cached solutions of earlier runs may be closer to optimal than these.
    os.environ["LEASTNOISE_CACHE"] = "off"
    default = Path(__file__).parents[1] / "docs" / "theory" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    at_zero = over_powers(POWERS, DELTAS)
    above = over_epsilons(EPSILONS, SMALL_DELTAS)
    write(folder, at_zero, above)


# ------------------------------------------------------------------- the numbers


def over_powers(powers: Sequence[str], deltas: Sequence[str]) -> list[Row]:
    """Return the optimal costs at ε = 0, Δ = 1 for |x|ᵖ: the paper's noise and any shape."""
    rows = []
    for p in powers:
        for delta in deltas:
            privacy, cost = ln.Privacy(delta=delta), ln.lp(p)
            paper = ln.calibrate(privacy, sensitivity=1, cost=cost)
            free = calibrate_class(privacy, cost, "any")
            row = {"p": p, "δ": delta, "paper": float(paper.cost), **bracket("any shape", free)}
            row["gain"] = 1 - row["any shape"] / row["paper"]
            row["gain at most"] = 1 - row["any shape, bound"] / row["paper"]
            rows.append(row)
            progress(f"p = {p}, δ = {delta}: gain {row['gain']:.2%}")
    return rows


def over_epsilons(epsilons: Sequence[str], deltas: Sequence[str]) -> list[Row]:
    """Return the optimal costs at Δ = 1 for ℓ1 and ℓ2, by class, and the best closed form."""
    rows = []
    for name, cost in (("ℓ1", ln.l1), ("ℓ2", ln.l2)):
        for epsilon in epsilons:
            for delta in deltas:
                privacy = ln.Privacy(epsilon, delta)
                free, unimodal = (
                    calibrate_class(privacy, cost, shape) for shape in ("any", "unimodal")
                )
                row: Row = {"cost": name, "ε": epsilon, "δ": delta}
                row |= bracket("any shape", free) | bracket("never rising", unimodal)
                # Unimodal noise is noise of any shape too.
                row["any shape"] = min(row["any shape"], row["never rising"])
                forms = closed_forms(float(epsilon), float(delta), cost)
                row["best closed form"] = min(forms, key=lambda form: forms[form])
                row["closed form"] = min(forms.values())
                row |= {gain: 1 - row[a] / row[b] for gain, (a, b) in AGAINST.items()}
                row["proved gain of shape"] = 1 - row["any shape"] / row["never rising, bound"]
                rows.append(row)
                progress(f"{name}, ε = {epsilon}, δ = {delta}: gain {row[SHAPE]:.2%}")
    return rows


def calibrate_class(privacy: ln.Privacy, cost: ln.Cost, shape: str) -> ln.Mechanism:
    """Return noise that is proved to be within GAP of optimal in its class, if time allows."""
    return ln.calibrate(privacy, sensitivity=1, cost=cost, shape=shape, gap=GAP, seconds=SECONDS)


def bracket(name: str, mechanism: ln.Mechanism) -> Row:
    """Return the cost of a mechanism and the lower bound of its class."""
    return {
        name: float(mechanism.cost),
        f"{name}, bound": float(mechanism.certificate.lower_bound),
    }


def closed_forms(epsilon: float, delta: float, cost: ln.Cost) -> dict[str, float]:
    """Return the costs of common noise at Δ = 1 for l1 or l2, in floats.

    Laplace at its smallest scale for (ε, δ), 1/(ε − 2·ln(1−δ)); Laplace noise truncated at
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
    """Print a progress message to stderr."""
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------- the figures


def power_map(rows: Sequence[Row]) -> Any:
    """Draw the gains over (p, δ)."""
    top = max(shown(row["gain"]) for row in rows)
    panel = heat(rows, "gain", ("δ", "p"), "power p of the error", top)
    return with_style(
        panel.properties(width=460, height=300),
        "How much cheaper optimal noise of any shape is than the paper's noise, at ε = 0",
        "cost |error|ᵖ; proved gains in percent, rounded",
    )


def epsilon_map(rows: Sequence[Row], gains: Sequence[str], title: str, subtitle: str) -> Any:
    """Draw gains over (ε, δ), a row of panels for each gain and a column for each cost."""
    top = max(shown(row[gain]) for row in rows for gain in gains)
    bands = []
    for gain in gains:
        panels = []
        for name in dict.fromkeys(row["cost"] for row in rows):
            chosen = [row for row in rows if row["cost"] == name]
            panel = heat(chosen, gain, ("δ", "ε"), "ε", top)
            words = f"{name}: {gain}"
            heading = alt.Title(words, anchor="start", fontSize=12, fontWeight="normal", offset=6)
            panels.append(panel.properties(width=270, height=170, title=heading))
        bands.append(alt.hconcat(*panels, spacing=24))
    return with_style(alt.vconcat(*bands, spacing=24), title, subtitle)


def heat(rows: Sequence[Row], gain: str, axes: tuple[str, str], upright: str, top: float) -> Any:
    """Draw one gain in percent as colored cells with their numbers; ``top`` is the darkest."""
    x, y = axes
    values = [{"x": row[x], "y": row[y], "gain": shown(row[gain])} for row in rows]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("x:O", sort=None, title=x, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("y:O", sort=None, title=upright),
    )
    color = alt.Color(
        "gain:Q",
        title="gain, %",
        scale=alt.Scale(scheme="blues", domain=[0, max(top, 1)]),
        legend=alt.Legend(gradientLength=120, format=".0f", tickCount=5),
    )
    ink = alt.condition(alt.datum.gain > top / 2, alt.value("white"), alt.value("#333333"))
    numbers = base.mark_text(fontSize=11).encode(text=alt.Text("gain:Q", format=".1f"), color=ink)
    return base.mark_rect(stroke="white", strokeWidth=1).encode(color=color) + numbers


def shown(gain: float) -> float:
    """Return a gain in percent to a tenth; negative gains, which are within the gap, are 0."""
    return max(0.0, round(100 * gain, 1))


def with_style(chart: Any, title: str, subtitle: str) -> Any:
    """Return a chart with its title and the common style."""
    heading = alt.Title(title, subtitle=[subtitle], anchor="start", fontSize=15, offset=14)
    return (
        chart.properties(title=heading, background="white", padding=12)
        .configure_axis(grid=False, labelFontSize=12, titleFontSize=12, ticks=False, domain=False)
        .configure_legend(labelFontSize=11, titleFontSize=11)
        .configure_title(subtitleFontSize=12)
        .configure_view(stroke=None)
    )


# ------------------------------------------------------------------- the files


def write(folder: Path, at_zero: Sequence[Row], above: Sequence[Row]) -> None:
    """Write both tables as CSV and the three figures as SVG and PNG."""
    write_table(folder / "beyond-power.csv", at_zero)
    write_table(folder / "beyond-epsilon.csv", above)
    shape, *usual = AGAINST
    charts = {
        "beyond-power": power_map(at_zero),
        "beyond-shape": epsilon_map(
            above,
            [shape],
            "How much cheaper optimal noise of any shape is than optimal symmetric unimodal noise",
            "gain in percent; a gain of 0.2 or less may be none",
        ),
        "beyond-closed": epsilon_map(
            above,
            usual,
            "How much cheaper optimal noise is than the best closed form",
            "gain in percent; closed forms: Laplace, truncated Laplace, staircase, in floats",
        ),
    }
    for name, chart in charts.items():
        plots.save(chart, folder / f"{name}.svg")
        pack(plots.save(chart, folder / f"{name}.png"))


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, numbers to nine digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: f"{v:.9g}" if isinstance(v, float) else v for name, v in row.items()}
            )


def pack(path: Path) -> None:
    """Rewrite a PNG with the strongest compression of zlib: a quarter of the size."""
    data, place, kept, pixels = path.read_bytes(), 8, [], b""
    while place < len(data):
        end = place + 12 + int.from_bytes(data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : end - 4]
        if kind == b"IDAT":
            pixels += body
        else:
            kept.append((kind, body))
        place = end
    kept.insert(-1, (b"IDAT", zlib.compress(zlib.decompress(pixels), 9)))
    chunks = (
        len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)
        for kind, body in kept
    )
    path.write_bytes(data[:8] + b"".join(chunks))


if __name__ == "__main__":
    main()
