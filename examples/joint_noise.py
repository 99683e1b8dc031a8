"""Compare joint, split and shared noise for k counts, for docs/several-answers.md.

``python examples/joint_noise.py OUT/`` writes a CSV and an SVG file in some seconds and prints the
table of the document. Without OUT it writes next to the theory pages.
"""

import csv
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair

import leastnoise as ln
from leastnoise import plots
from leastnoise.core.exact import format_up
from leastnoise.mechanism import calibrate_joint

alt: Any = altair  # not all of it is typed

Row = dict[str, str]

PRIVACY = ln.Privacy(1, "1e-6")
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 43, 44, 50, 64, 80, 100)
SHOWN = (1, 2, 3, 5, 10, 16, 32, 43, 64)
WAYS = {"joint": "joint noise", "split": "a part of ε each", "shared": "shared Gaussian noise"}
INKS = ["#1f4e79", "#d1853a", "#5b8c5a"]


def main() -> None:
    """Write the table and the figure into the named folder, or next to the theory pages."""
    default = Path(__file__).parents[1] / "docs" / "theory" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    rows = [compare(number) for number in COUNTS]
    with (folder / "joint-errors.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    plots.save(draw(rows), folder / "joint-errors.svg")
    print(markdown(rows))


def compare(number: int) -> Row:
    """Return E|error| of each of so many counts for each way, rounded up."""
    queries = [ln.NumericQuery(f"count {i}", sensitivity=1, integer=True) for i in range(number)]
    plan = ln.plan(PRIVACY, queries, solve=False)
    errors = {row.how: row.costs[0] for row in plan.rows if row.cost is not None}
    joint = calibrate_joint(ln.Privacy(1), sensitivity=[1] * number, integer=True)
    errors["joint"] = Fraction(joint.parts[0].cost)
    return {"k": str(number), **{way: format_up(errors[way]) for way in WAYS}}


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows of the document as a table of Markdown."""
    lines = [["k", *WAYS.values()], ["---:"] * (len(WAYS) + 1)]
    lines += [list(row.values()) for row in rows if int(row["k"]) in SHOWN]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(rows: Sequence[Row]) -> Any:
    """Draw the error of each way against the number of counts."""
    values = [
        {"k": int(row["k"]), "error": float(row[way]), "noise": name}
        for way, name in WAYS.items()
        for row in rows
    ]
    numbers = [1, 2, 5, 10, 20, 50, 100]
    across = alt.Scale(type="log", nice=False, domain=[1, COUNTS[-1]])
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "k:Q",
                title="counts under one guarantee",
                scale=across,
                axis=alt.Axis(values=numbers, format="~g"),
            ),
            y=alt.Y(
                "error:Q",
                title="expected |error| of each count",
                scale=alt.Scale(type="log", nice=False, domain=[0.7, 100]),
                axis=alt.Axis(values=numbers, format="~g"),
            ),
            color=alt.Color(
                "noise:N",
                title="",
                sort=None,
                scale=alt.Scale(domain=list(WAYS.values()), range=INKS),
                legend=alt.Legend(symbolType="stroke", symbolSize=300),
            ),
        )
    )
    title = plots.make_title(
        "Error of k counts at ε = 1, δ = 1e-6", "joint noise and parts of ε need no δ"
    )
    return plots.apply_style(lines.properties(width=560, height=280, title=title))


if __name__ == "__main__":
    main()
