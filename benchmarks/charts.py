"""Results as figures, in the style of the library's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair

from benchmarks.formatting import guarantee
from benchmarks.growth import FAMILIES
from benchmarks.targets import MEGABYTES
from benchmarks.timing import Row
from leastnoise import plots
from leastnoise.plots.canvas import COLORS, apply_style, make_title

alt: Any = altair  # parts of it have no types

LIBRARIES = ("leastnoise", "numpy", "AES-CTR", "diffprivlib", "opendp", "python-dp")
_COLORS = (COLORS[0], COLORS[4], "#333333", COLORS[1], COLORS[2], COLORS[3])
_SHAPES = ("circle", "square", "triangle-right", "triangle-up", "diamond", "cross")
_WIDTH = 520
_ACROSS = {"n": "numbers released", "digits": "digits of 1/δ", "m": "cells per Δ (m)"}


def write_charts(results: Row, folder: Path) -> None:
    """Write a figure of each measured part."""
    folder.mkdir(exist_ok=True)
    for name, (part, chart) in CHARTS.items():
        if part in results["parts"]:
            plots.save(apply_style(chart(results["parts"][part])), folder / f"{name}.svg")


# ------------------------------------------------------------------- dots on lines


def draws_bulk(part: Row) -> Any:
    """Draw the time per value of an array."""
    subtitle = f"{part['size']:,} values at once if the library can; lower is faster"
    title = make_title("Time to sample noise for an array, per value", subtitle)
    return _draws(part, "bulk", 1e9, "nanoseconds").properties(title=title)


def draws_single(part: Row) -> Any:
    """Draw the time to release a single number."""
    title = make_title("Time to release a single number", "one call per number; lower is faster")
    return _draws(part, "single", 1e6, "microseconds").properties(title=title)


def _draws(part: Row, mode: str, factor: float, unit: str) -> Any:
    values = [
        {
            "noise": row["family"].replace("_", " "),
            "library": name,
            "low": times["low"] * factor,
            "time": times["median"] * factor,
            "high": times["high"] * factor,
        }
        for row in part["rows"]
        if row["mode"] == mode
        for name, times in row["seconds"].items()
        if name in LIBRARIES
    ]
    return _dots(values, "noise", "time", f"{unit}, log scale")


def accuracy(part: Row) -> Any:
    """Draw costs as multiples of the proved lower bound."""
    values = []
    for row in part["rows"]:
        kind = (
            f"{'counts' if row['integer'] else 'real'}, {'E|X|' if row['cost'] == 'l1' else 'E X²'}"
        )
        ratios = {"leastnoise": row["certified"]["ratio"]}
        ratios |= {name: best["ratio"] for name, best in row["peers"].items() if best}
        values += [
            {
                "guarantee": guarantee(row["guarantee"]),
                "kind": kind,
                "library": name,
                "ratio": ratio,
            }
            for name, ratio in ratios.items()
        ]
    kinds = list(dict.fromkeys(value["kind"] for value in values))
    panels = [
        _dots(
            [v for v in values if v["kind"] == kind],
            "guarantee",
            "ratio",
            "multiple of the bound",
            240,
        ).properties(title=kind)
        for kind in kinds
    ]
    rows = [alt.hconcat(*panels[at : at + 2]) for at in range(0, len(panels), 2)]
    return alt.vconcat(*rows).properties(
        title=make_title(
            "Cost of each library's best noise for the same guarantee (ε, δ)",
            "as a multiple of the proved lower bound among all noise; no noise is below 1",
        )
    )


def _dots(values: list[Row], down: str, across: str, unit: str, width: int = _WIDTH) -> Any:
    """Draw one row for each name, with a dot and the quartiles of each library."""
    present = [name for name in LIBRARIES if any(value["library"] == name for value in values)]
    places = [LIBRARIES.index(name) for name in present]
    colors = alt.Scale(domain=present, range=[_COLORS[place] for place in places])
    shapes = alt.Scale(domain=present, range=[_SHAPES[place] for place in places])
    base = alt.Chart(alt.Data(values=values))
    row = alt.Y(f"{down}:N", sort=None, title="", axis=alt.Axis(grid=True, ticks=False))
    scale = alt.Scale(type="log", nice=False, padding=12)
    dots = base.mark_point(size=70, filled=True, opacity=0.9).encode(
        y=row,
        x=alt.X(f"{across}:Q", title=unit, scale=scale, axis=alt.Axis(labelOverlap="greedy")),
        color=alt.Color("library:N", scale=colors, sort=None, title=""),
        shape=alt.Shape("library:N", scale=shapes, sort=None, title=""),
    )
    if not any("low" in value for value in values):
        return dots.properties(width=width, height={"step": 24})
    quartiles = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        y=row,
        x="low:Q",
        x2="high:Q",
        color=alt.Color("library:N", scale=colors, sort=None, title=""),
    )
    return (quartiles + dots).properties(width=width, height={"step": 28})


# ------------------------------------------------------------------- curves


def growth_n(part: Row) -> Any:
    """Draw time and memory against the number of samples."""
    values = [
        {
            "n": row["n"],
            "name": row["family"],
            "seconds": row["seconds"]["median"],
            "megabytes": max(0.0, row["above_mb"]),
        }
        for row in part["n"]["rows"]
    ]
    time = _lines(values, ("n", "seconds"), FAMILIES, "seconds")
    memory = _lines(values, ("n", "megabytes"), FAMILIES, "MB beyond the result", log="x")
    return alt.hconcat(time, memory).properties(
        title=make_title("Time and memory against the number of samples", "")
    )


def growth_delta(part: Row) -> Any:
    """Draw the times of calibrations and of single releases against 1/δ."""
    values = [
        {
            "digits": row["exponent"],
            "name": row["question"],
            "calibrate": row["calibrate"]["median"],
            "release": row["release"]["median"],
        }
        for row in part["delta"]["rows"]
    ]
    names = tuple(dict.fromkeys(value["name"] for value in values))
    panels = [
        _lines(values, ("digits", what), names, f"seconds to {what}")
        for what in ("calibrate", "release")
    ]
    return alt.hconcat(*panels).properties(title=make_title("Time against 1/δ", ""))


def growth_m(part: Row) -> Any:
    """Draw time and memory of solves against m."""
    values = [
        {
            "m": row["m"],
            "name": "ε = 1, δ = 0.05, l2",
            "seconds": row["seconds"]["median"],
            "megabytes": row["above_mb"],
        }
        for row in part["m"]["rows"]
        if row["m"]
    ]
    names = ("ε = 1, δ = 0.05, l2",)
    panels = [
        _lines(values, ("m", what), names, unit)
        for what, unit in (("seconds", "seconds"), ("megabytes", "MB"))
    ]
    return alt.hconcat(*panels).properties(
        title=make_title("Time and memory of a certified solve against m", "")
    )


def _lines(
    values: list[Row], places: tuple[str, str], names: tuple[str, ...], up: str, log: str = "xy"
) -> Any:
    """Draw a line with dots for each name; ``places`` are the keys of both axes."""
    x, y = places
    colors = alt.Scale(domain=list(names), range=COLORS[: len(names)])
    wide = alt.Scale(type="log", nice=False, padding=8)
    # The memory is nearly constant, so the axis ends at its target.
    plain = alt.Scale(domain=[0, MEGABYTES])
    high = alt.Scale(type="log", nice=False, padding=8) if "y" in log else plain
    axis = alt.Axis(format="~s", labelOverlap="greedy")
    ends = {"values": sorted({value[x] for value in values})} if x == "n" else {}
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=40))
        .encode(
            x=alt.X(
                f"{x}:Q",
                title=_ACROSS[x],
                scale=wide,
                axis=alt.Axis(format="~s", labelOverlap="greedy", **ends),
            ),
            y=alt.Y(f"{y}:Q", title=up, scale=high, axis=axis),
            color=alt.Color("name:N", scale=colors, sort=None, title=""),
        )
        .properties(width=260, height=220)
    )


# ------------------------------------------------------------------- solves and sizes


def solves(part: Row) -> Any:
    """Draw the fraction of solves that are finished after a time, by cost."""
    values = []
    costs = tuple(dict.fromkeys(row["cost"] for row in part["rows"]))
    for cost in costs:
        times = sorted(row["seconds"] for row in part["rows"] if row["cost"] == cost)
        values += [
            {"name": cost, "seconds": took, "finished": (at + 1) / len(times)}
            for at, took in enumerate(times)
        ]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2, interpolate="step-after")
        .encode(
            x=alt.X(
                "seconds:Q",
                title="seconds, log scale",
                scale=alt.Scale(type="log", nice=False, padding=8),
                axis=alt.Axis(format="~g", labelOverlap="greedy"),
            ),
            y=alt.Y("finished:Q", title="fraction of solves finished", axis=alt.Axis(format="%")),
            color=alt.Color(
                "name:N",
                scale=alt.Scale(domain=list(costs), range=COLORS[: len(costs)]),
                sort=None,
                title="cost",
            ),
        )
    )
    title = make_title(
        "Certified solves over the grid", f"{len(part['rows'])} guarantees and costs"
    )
    return chart.properties(width=_WIDTH, height=240, title=title)


def installing(part: Row) -> Any:
    """Draw megabytes by package."""
    megabytes = part["megabytes"]
    large = [
        (name, package, size)
        for name, sizes in megabytes.items()
        for package, size in sizes.items()
        if size >= 5
    ]
    values = [{"install": name, "package": package, "MB": size} for name, package, size in large]
    for name, sizes in megabytes.items():
        others = sum(size for size in sizes.values() if size < 5)
        values.append({"install": name, "package": "others", "MB": others})
    packages = [*dict.fromkeys(package for _, package, _ in large), "others"]
    colors = [*(COLORS * 2)[: len(packages) - 1], "#cccccc"]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            y=alt.Y("install:N", sort=None, title=""),
            x=alt.X("MB:Q", title="megabytes"),
            color=alt.Color(
                "package:N", scale=alt.Scale(domain=packages, range=colors), sort=None, title=""
            ),
        )
    )
    title = make_title("Size of an installation", "with all dependencies")
    return chart.properties(width=_WIDTH, height={"step": 32}, title=title)


CHARTS: dict[str, tuple[str, Callable[[Row], Any]]] = {
    "draws-bulk": ("draws", draws_bulk),
    "draws-single": ("draws", draws_single),
    "accuracy": ("accuracy", accuracy),
    "solves": ("solves", solves),
    "installing": ("installing", installing),
    "growth-n": ("growth", growth_n),
    "growth-delta": ("growth", growth_delta),
    "growth-m": ("growth", growth_m),
}
