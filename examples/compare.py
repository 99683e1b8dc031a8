"""Noises side by side at (ε, δ) = (1, 1e-6): the tables and pictures of docs/comparing.md.

``python examples/compare.py OUT/`` writes CSV and SVG in about a minute, next to the theory
if no folder is named, and prints the tables as they stand in the document.
"""

import csv
import os
import sys
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair

import leastnoise as ln
from leastnoise import plots
from leastnoise.core.exact import format_rounded
from leastnoise.planning import Comparison

alt: Any = altair  # not all of it is typed

Row = dict[str, str]

PRIVACY = ln.Privacy(1, "1e-6")
COSTS = {"l1": ln.l1, "l2": ln.l2}
# Releases of one promise with an ε, and of one without.
PROMISES = {"(1, 1e-6)": PRIVACY, "(0, 1e-6)": ln.Privacy(delta="1e-6")}
RELEASES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32)
GAUSSIANS = ("gaussian", "classic_gaussian")
BOUND = "(lower bound)"
INKS = ["#1f4e79", "#d1853a"]
COLUMNS = {
    "noise": "noise",
    "cost": "expected cost",
    "times": "times the bound",
    "usual": "95 % within ±",
    "largest": "largest noise ±",
    "proves": "proves",
}


def main() -> None:
    """Write tables and pictures into the folder that is named, or next to the theory."""
    # Numbers kept from earlier questions may be nearer to the least than these.
    os.environ["LEASTNOISE_CACHE"] = "off"
    default = Path(__file__).parents[1] / "docs" / "theory" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, cost in COSTS.items():
        comparison = ln.compare(PRIVACY, sensitivity=1, cost=cost)
        rows = side_by_side(comparison)
        write_table(folder / f"compare-{name}.csv", rows)
        print(f"{name}\n\n{markdown(rows)}\n")
        write_pictures(folder, name, comparison)
    rows = by_releases(PROMISES, RELEASES)
    write_table(folder / "compare-releases.csv", rows)
    plots.save(releases_chart(rows), folder / "compare-releases.svg")


# ------------------------------------------------------------------- the numbers


def side_by_side(comparison: Comparison) -> list[Row]:
    """Return what the table of a comparison shows, to a few digits, and last the lower bound."""
    rows = [
        {
            "noise": row.family,
            "cost": shown(row.cost, 5),
            "times": shown(row.ratio, 5),
            "usual": shown(row.half_width, 4),
            "largest": shown(row.radius, 6),
            "proves": shown(row.infinity_mass, 2),
        }
        for row in comparison
    ]
    bound = format_rounded(comparison.lower_bound, 5, ROUND_FLOOR)
    return [*rows, {**dict.fromkeys(COLUMNS, ""), "noise": BOUND, "cost": bound, "times": "1"}]


def by_releases(promises: dict[str, ln.Privacy], releases: Sequence[int]) -> list[Row]:
    """Return, for k answers under one promise, what a Gaussian costs and the cheapest other."""
    rows = []
    for promise, privacy in promises.items():
        for name, cost in COSTS.items():
            for k in releases:
                comparison = ln.compare(privacy, sensitivity=1, cost=cost, releases=k, solve=False)
                other = next(row for row in comparison if row.family not in GAUSSIANS)
                normal = comparison["gaussian"].cost
                rows.append(
                    {
                        "promise": promise,
                        "cost": name,
                        "releases": str(k),
                        "gaussian": f"{float(normal):.9g}",
                        "cheapest other": other.family,
                        "its cost": f"{float(other.cost):.9g}",
                        "times the Gaussian": f"{float(other.cost / normal):.6g}",
                    }
                )
                print(*rows[-1].values(), file=sys.stderr, flush=True)
    return rows


def shown(number: Fraction | float, digits: int) -> str:
    """Print a number to a few digits, rounded up; what is infinite as a dash."""
    return "–" if isinstance(number, float) else format_rounded(number, digits, ROUND_CEILING)


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table of Markdown."""
    lines = [list(COLUMNS.values()), ["---", *["---:"] * (len(COLUMNS) - 1)]]
    lines += [[row[column] for column in COLUMNS] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ------------------------------------------------------------------- the pictures


def write_pictures(folder: Path, name: str, comparison: Comparison) -> None:
    """Draw the noises and what they cost as δ and as ε changes."""
    charts = {
        "noises": plots.compared(comparison),
        "delta": plots.cost_by_delta(comparison),
        "epsilon": plots.cost_by_epsilon(comparison),
    }
    for what, chart in charts.items():
        plots.save(chart, folder / f"compare-{name}-{what}.svg")


def releases_chart(rows: Sequence[Row]) -> Any:
    """Draw how many times the Gaussian's the cost of the cheapest other noise is."""
    values: list[dict[str, Any]] = [
        {
            "k": int(row["releases"]),
            "times": float(row["times the Gaussian"]),
            "promise": f"(ε, δ) = {row['promise']}",
            "cost": row["cost"],
        }
        for row in rows
    ]
    last = max(value["k"] for value in values)
    across = alt.Scale(type="log", nice=False, domain=[1, last])
    heights = alt.Scale(type="log", nice=False)
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("k:Q", title="answers under one promise", scale=across, axis=axis()),
            y=alt.Y("times:Q", title="times the Gaussian's cost", scale=heights, axis=axis()),
            color=alt.Color("promise:N", title="", sort=None, scale=alt.Scale(range=INKS)),
            strokeDash=alt.StrokeDash("cost:N", title="", sort=None),
        )
    )
    equal = alt.Chart(alt.Data(values=[{"y": 1}])).mark_rule(color="#999999").encode(y="y:Q")
    title = alt.Title(
        "What the cheapest noise but the Gaussian costs, in times the Gaussian's cost",
        subtitle=["above the line at 1 the Gaussian is the cheapest closed form"],
    )
    return (
        (equal + lines)
        .properties(width=560, height=260, title=title)
        .configure_axis(grid=False, labelFontSize=12, titleFontSize=12)
        .configure_title(anchor="start", fontSize=14, subtitleFontSize=12, offset=12)
        .configure_legend(labelFontSize=12, symbolType="stroke", symbolSize=300)
        .configure_view(stroke=None)
    )


def axis() -> Any:
    """Return an axis in powers of ten with few numbers on it."""
    return alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20], format="~g")


# ------------------------------------------------------------------- the files


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
