"""Figures of a comparison: the densities, and the cost of each family against ε or δ."""

import contextlib
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.calibration import FAMILIES, Problem
from leastnoise.certificate import CanonicalBound
from leastnoise.core.exact import as_float, format_exact, format_rounded, format_short
from leastnoise.core.noise import LatticeNoise, Smooth
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.planning import closed_cost
from leastnoise.plots.canvas import Row, finish_chart, load_altair, save
from leastnoise.plots.densities import outline, outline_of_integers

if TYPE_CHECKING:
    from altair.typing import ChartType

    from leastnoise.planning import Comparison, Contender


# The color of each family, the same in all figures. The certified noise is a broad gray line.
_COLORS = {
    "certified": "#c4c4c4",
    "uniform": "#0072b2",
    "comb": "#8c8c8c",
    "canonical": "#cc79a7",
    "staircase": "#d55e00",
    "cut_staircase": "#e69f00",
    "geometric": "#56b4e9",
    "laplace": "#009e73",
    "truncated_laplace": "#6a51a3",
    "gaussian": "#b2182b",
    "classic_gaussian": "#8c6d31",
    "lower bound": "#7f7f7f",
}
_ANOTHER = "#333333"
# Wider noise, relative to the cheapest, and costlier noise are not shown: they would flatten all
# other curves.
_TOO_WIDE = 12
_TOO_COSTLY = 30
# The number of points of a curve, and the powers of ten of ε or δ to each side of the guarantee.
_PLACES = 18
_LARGEST = {"epsilon": Fraction(10), "delta": Fraction(9, 20)}
_DECADES = {"epsilon": 1.5, "delta": 5.0}
_USUAL = {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}
_FEWER_PLACES = 12
# Below this ε, noise in steps of Δ has too many steps to be drawn quickly.
_FEW_STEPS = Fraction(1, 8)
_QUICK_BOUND = Fraction(1, 20)
# The margins below and above the curves.
_ROOM = (Fraction(9, 10), Fraction(11, 10))
# The number of points of a smooth density.
_POINTS = 161


def density_by_family(comparison: "Comparison") -> "ChartType":
    """Draw the densities of all compared noise in one figure, or the probabilities of integers.

    Args:
        comparison: The result of :func:`leastnoise.compare`.

    Raises:
        Unsupported: If Altair is not installed.

    >>> from leastnoise import Privacy, compare
    >>> chart = density_by_family(compare(Privacy(delta="0.1"), sensitivity=1, solve=False))
    """
    widest = _TOO_WIDE * comparison.rows[0].half_width
    narrow = [row for row in comparison if row.half_width <= widest]
    reach = 2 * min(row.half_width for row in narrow)
    corners = {}
    for row in narrow:
        with contextlib.suppress(Unsupported):  # noise with too many steps to be drawn
            corners[row.family] = _find_corners(row, reach)
    shown = [row for row in narrow if row.family in corners]
    names = list(corners)
    rows = [corner for name in _sort_for_drawing(names) for corner in corners[name]]
    alt = load_altair()
    ends = alt.Scale(domain=[-as_float(reach), as_float(reach)], nice=False)
    height = "probability" if comparison.problem.integer else "density"
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(clip=True)
        .encode(
            x=alt.X("error:Q", title="error of an answer", scale=ends),
            y=alt.Y("density:Q", title=height),
            order="place:Q",
            **_make_looks(names),
        )
    )
    title = f"Noise that satisfies {comparison.privacy}{_format_releases(comparison)}"
    return finish_chart(chart, title, _describe_omitted(comparison, shown))


def _describe_omitted(comparison: "Comparison", shown: "list[Contender]") -> str:
    """Return a subtitle that names the curves outside the figure."""
    words = ["cheapest first"]
    left_out = [row.family for row in comparison if row not in shown]
    if left_out:
        words.append(f"not shown (too wide, or too many steps): {', '.join(left_out)}")
    atoms = [row for row in shown if row.exact_probability]
    if atoms:
        masses = (f"{row.family} {format_rounded(row.exact_probability, 3)}" for row in atoms)
        words.append(f"point masses at 0 are not shown: {', '.join(masses)}")
    return "; ".join(words)


def cost_by_delta(comparison: "Comparison") -> "ChartType":
    """Draw the cost of each family and the lower bound against δ, at the ε of the comparison.

    Args:
        comparison: The result of :func:`leastnoise.compare`.

    Raises:
        Unsupported: If Altair is not installed.

    >>> from leastnoise import Privacy, compare
    >>> chart = cost_by_delta(compare(Privacy(delta="0.1"), sensitivity=1, solve=False))
    """
    return _draw_costs(comparison, "delta", "δ", f"ε = {format_short(comparison.privacy.epsilon)}")


def cost_by_epsilon(comparison: "Comparison") -> "ChartType":
    """Draw the cost of each family and the lower bound against ε, at the δ of the comparison.

    Args:
        comparison: The result of :func:`leastnoise.compare`.

    Raises:
        Unsupported: If Altair is not installed.

    >>> from leastnoise import Privacy, compare
    >>> chart = cost_by_epsilon(compare(Privacy(delta="0.1"), sensitivity=1, solve=False))
    """
    return _draw_costs(comparison, "epsilon", "ε", f"δ = {format_short(comparison.privacy.delta)}")


def save_comparison(comparison: "Comparison", folder: str | Path) -> list[Path]:
    """Write all three figures of a comparison as PNG and SVG files.

    Args:
        comparison: The result of :func:`leastnoise.compare`.
        folder: The folder to write to; it is created if necessary.

    Returns:
        The paths of the six files.

    Raises:
        InvalidParameter: If the folder or a file cannot be written.
        Unsupported: If Altair is not installed.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"The folder {target.name!r} cannot be created ({type(error).__name__})",
            fix="Use a folder where you can write.",
        ) from error
    charts = {
        "noises": density_by_family(comparison),
        "cost-by-delta": cost_by_delta(comparison),
        "cost-by-epsilon": cost_by_epsilon(comparison),
    }
    return [
        save(chart, target / f"{name}{ending}")
        for name, chart in charts.items()
        for ending in (".png", ".svg")
    ]


def _draw_costs(comparison: "Comparison", name: str, symbol: str, fixed: str) -> "ChartType":
    """Draw costs against ε or δ, on logarithmic axes."""
    problem = comparison.problem
    middle = getattr(problem.privacy, name) or _USUAL[name]
    costs = {
        place: _compute_costs(
            replace(problem, privacy=_replace_number(problem.privacy, name, place)), comparison
        )
        for place in _choose_places(name, middle, fewer=problem.integer)
    }
    shown, low, high = _choose_shown(costs)
    curves = [curve for curve in _sort_by_cost(costs[middle]) if curve in shown]
    beyond = [curve for curve in _COLORS if curve not in shown and curve in costs[middle]]
    rows = [
        {"x": as_float(place), "value": as_float(point_costs[curve]), "curve": curve}
        for curve in _sort_for_drawing(curves)
        for place, point_costs in costs.items()
        if point_costs.get(curve, Fraction(0)) > 0
    ]
    alt = load_altair()
    spread = alt.Scale(type="log", nice=False)
    heights = alt.Scale(type="log", nice=False, domain=[as_float(low), as_float(high)])
    along, up = (
        alt.Axis(format=figures, tickCount=6)
        for figures in (".0e" if name == "delta" else "~g", "~g")
    )
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(clip=True, interpolate="monotone")
        .encode(
            x=alt.X("x:Q", title=f"{symbol} of the guarantee", scale=spread, axis=along),
            y=alt.Y("value:Q", title="expected cost of an answer", scale=heights, axis=up),
            **_make_looks(curves),
        )
    )
    point_costs = alt.Chart(alt.Data(values=[{"x": as_float(middle)}]))
    rule = point_costs.mark_rule(color="#cccccc", strokeWidth=1).encode(x="x:Q")
    title = f"Expected cost by {symbol}, at {fixed}{_format_releases(comparison)}"
    return finish_chart(
        rule + lines, title, _make_subtitle(comparison, list(costs.values()), beyond)
    )


def _make_subtitle(
    comparison: "Comparison", costs: list[dict[str, Fraction]], beyond: list[str]
) -> str:
    """Return a subtitle with the problem, and the curves that are missing with the reason."""
    problem = comparison.problem
    words = [f"Δ = {format_exact(problem.sensitivity)}, cost {problem.cost!r}"]
    if beyond:
        words.append(f"far above the figure: {', '.join(beyond)}")
    families = [row.family for row in comparison if row.family != _CERTIFIED]
    absent = [name for name in families if not any(name in point_costs for point_costs in costs)]
    if absent:
        words.append(f"not shown: {', '.join(absent)}")
    elif any(name not in point_costs for name in _list_many_steps() for point_costs in costs):
        words.append("noise in steps of Δ only where it has few steps")
    return "; ".join(words)


def _choose_shown(
    costs: dict[Fraction, dict[str, Fraction]],
) -> tuple[set[str], Fraction, Fraction]:
    """Return the curves near the cheapest, and the smallest and largest cost to show."""
    cheapest = [
        min(_select_families(point_costs).values())
        for point_costs in costs.values()
        if _select_families(point_costs)
    ]
    most = _TOO_COSTLY * max(cheapest)
    values = [
        (curve, cost)
        for point_costs in costs.values()
        for curve, cost in point_costs.items()
        if cost > 0
    ]
    shown = {curve for curve, cost in values if cost <= most}
    shown_costs = [cost for curve, cost in values if curve in shown]
    return (
        shown,
        max(min(shown_costs), min(cheapest) / 4) * _ROOM[0],
        min(max(shown_costs), most) * _ROOM[1],
    )


def _select_families(costs: dict[str, Fraction]) -> dict[str, Fraction]:
    return {curve: cost for curve, cost in costs.items() if curve != _BOUND and cost > 0}


def _sort_by_cost(costs: dict[str, Fraction]) -> list[str]:
    order = sorted(_select_families(costs), key=lambda curve: costs[curve])
    return [*order, *(curve for curve in _COLORS if curve not in order)]


def _sort_for_drawing(names: list[str]) -> list[str]:
    """Return curves in drawing order: the broad line, the costliest first, and dashes on top."""
    return sorted(names, key=lambda name: (name != _CERTIFIED, name in _DASHES, -names.index(name)))


def _list_many_steps() -> list[str]:
    return [name for name, family in FAMILIES.items() if family.many_steps]


def _compute_costs(problem: Problem, comparison: "Comparison") -> dict[str, Fraction]:
    """Return the cost of each closed form, and the lower bound for one release."""
    epsilon, releases = problem.privacy.epsilon, comparison.releases
    few = not epsilon or epsilon / releases >= _FEW_STEPS
    costs = {}
    for name in FAMILIES:
        if few or name not in (*_list_many_steps(), "staircase"):
            cost = closed_cost(name, problem, releases)
            if cost is not None:
                costs[name] = cost
    if not epsilon or epsilon >= _QUICK_BOUND:
        evidence = CanonicalBound(integer=problem.integer)
        costs[_BOUND] = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
    return costs


def _find_corners(row: "Contender", reach: Fraction) -> list[Row]:
    """Return the corners of a density, in order."""
    noise = row.noise
    if isinstance(noise, Smooth):
        corners = _sample_density(noise, reach)
    else:
        shape = (
            outline_of_integers(noise, ceil(reach))
            if isinstance(noise, LatticeNoise)
            else outline(noise)
        )
        corners = shape.corners
    return [
        {"error": as_float(x), "density": as_float(y), "curve": row.family, "place": place}
        for place, (x, y) in enumerate(corners)
    ]


def _sample_density(noise: Smooth, reach: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return points of a smooth density up to ``reach``, or up to its end."""
    far = min(reach, noise.radius) if isinstance(noise.radius, Fraction) else reach
    side = [far * i / (_POINTS // 2) for i in range(_POINTS // 2 + 1)]
    right = [(x, noise.density(x, 40).middle) for x in side]
    right += [(far, Fraction(0))] if far < reach else []
    return [*((-x, y) for x, y in reversed(right)), *right[1:]]


def _choose_places(name: str, middle: Fraction, *, fewer: bool) -> list[Fraction]:
    """Return values spread evenly on a logarithmic scale around the middle, which is included."""
    many, largest = (_FEWER_PLACES if fewer else _PLACES), _LARGEST[name]
    factors = [10 ** (_DECADES[name] * (2 * i / (many - 1) - 1)) for i in range(many)]
    places = {Fraction(format_rounded(middle * Fraction(factor), 3)) for factor in factors}
    inside = {place for place in places if place < largest}
    return sorted(inside | {middle} | ({largest} if inside != places else set()))


def _replace_number(privacy: Privacy, name: str, place: Fraction) -> Privacy:
    if name == "epsilon":
        return Privacy(place, privacy.delta)
    return Privacy(privacy.epsilon, place)


def _format_releases(comparison: "Comparison") -> str:
    return f", {comparison.releases} releases" if comparison.releases > 1 else ""


def _make_looks(names: list[str]) -> dict[str, Any]:
    """Return the color, dashes and width of each curve."""
    alt = load_altair()
    legend = alt.Legend(symbolType="stroke", symbolSize=300)
    colors = alt.Scale(domain=names, range=[_COLORS.get(name, _ANOTHER) for name in names])
    dashes = alt.Scale(domain=names, range=[_DASHES.get(name, [1, 0]) for name in names])
    thick = [7 if name == _CERTIFIED else 2 for name in names]
    widths = alt.Scale(type="ordinal", domain=names, range=thick)
    curve = {"shorthand": "curve:N", "title": "", "sort": None}
    return {
        "color": alt.Color(**curve, scale=colors, legend=legend),
        "strokeDash": alt.StrokeDash(**curve, scale=dashes),
        "strokeWidth": alt.StrokeWidth(**curve, scale=widths),
    }


_CERTIFIED, _BOUND = "certified", "lower bound"
# Curves that lie on another curve, and the lower bound.
_DASHES = {_BOUND: [2, 3], "truncated_laplace": [6, 4], "cut_staircase": [6, 4]}
