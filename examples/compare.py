"""Compare noise at (ε, δ) = (1, 1e-6): the tables and figures of docs/comparing.md.

``python examples/compare.py OUT/`` writes CSV and SVG files in about a minute and prints the tables
of the document. Without OUT it writes next to the theory pages.
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
# A guarantee with an ε, and one without.
GUARANTEES = {"(1, 1e-6)": PRIVACY, "(0, 1e-6)": ln.Privacy(delta="1e-6")}
RELEASES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32)
GAUSSIANS = ("gaussian", "classic_gaussian")
BOUND = "(lower bound)"
INKS = ["#1f4e79", "#d1853a"]
COLUMNS = {
    "noise": "noise",
    "cost": "expected cost",
    "times": "times the bound",
    "usual": "95% within ±",
    "largest": "maximum noise ±",
    "proves": "P(reveal)",
}


def main() -> None:
    """Write tables and figures into the named folder, or next to the theory pages."""
    # Cached solutions of earlier runs may be closer to optimal than these.
    os.environ["LEASTNOISE_CACHE"] = "off"
    default = Path(__file__).parents[1] / "docs" / "theory" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, cost in COSTS.items():
        comparison = ln.compare(PRIVACY, sensitivity=1, cost=cost)
        rows = side_by_side(comparison)
        write_table(folder / f"compare-{name}.csv", rows)
        print(f"{name}\n\n{markdown(rows)}\n")
        write_figures(folder, name, comparison)
    rows = by_releases(GUARANTEES, RELEASES)
    write_table(folder / "compare-releases.csv", rows)
    plots.save(releases_chart(rows), folder / "compare-releases.svg")


# ------------------------------------------------------------------- the numbers


def side_by_side(comparison: Comparison) -> list[Row]:
    """Return the rows of a comparison, rounded to a few digits, and last the lower bound."""
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


def by_releases(guarantees: dict[str, ln.Privacy], releases: Sequence[int]) -> list[Row]:
    """Return the costs of Gaussian noise and the cheapest other, for k answers in one guarantee."""
    rows = []
    for guarantee, privacy in guarantees.items():
        for name, cost in COSTS.items():
            for k in releases:
                comparison = ln.compare(privacy, sensitivity=1, cost=cost, releases=k, solve=False)
                other = next(row for row in comparison if row.family not in GAUSSIANS)
                normal = comparison["gaussian"].cost
                rows.append(
                    {
                        "promise": guarantee,
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
    """Format a number to a few digits, rounded up, and infinity as a dash."""
    return "–" if isinstance(number, float) else format_rounded(number, digits, ROUND_CEILING)


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table of Markdown."""
    lines = [list(COLUMNS.values()), ["---", *["---:"] * (len(COLUMNS) - 1)]]
    lines += [[row[column] for column in COLUMNS] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ------------------------------------------------------------------- the figures


def write_figures(folder: Path, name: str, comparison: Comparison) -> None:
    """Draw the densities, and the costs against δ and ε."""
    charts = {
        "noises": plots.density_by_family(comparison),
        "delta": plots.cost_by_delta(comparison),
        "epsilon": plots.cost_by_epsilon(comparison),
    }
    for what, chart in charts.items():
        plots.save(chart, folder / f"compare-{name}-{what}.svg")


def releases_chart(rows: Sequence[Row]) -> Any:
    """Draw the cost of the cheapest other noise as a multiple of the cost of Gaussian noise."""
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
            x=alt.X("k:Q", title="answers under one guarantee", scale=across, axis=axis()),
            y=alt.Y("times:Q", title="multiple of the Gaussian cost", scale=heights, axis=axis()),
            color=alt.Color("promise:N", title="", sort=None, scale=alt.Scale(range=INKS)),
            strokeDash=alt.StrokeDash("cost:N", title="", sort=None),
        )
    )
    equal = alt.Chart(alt.Data(values=[{"y": 1}])).mark_rule(color="#999999").encode(y="y:Q")
    title = alt.Title(
        "Cost of the cheapest other noise, as a multiple of the cost of Gaussian noise",
        subtitle=["above 1, Gaussian noise is the cheapest closed form"],
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
