"""Figures of several densities side by side, on the same axes and with point masses to scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.core.exact import as_float, format_rounded
from leastnoise.plots.canvas import COLORS, Row, apply_style, load_altair, make_title

if TYPE_CHECKING:
    from altair.typing import ChartType

# The width of all panels of a row together, so that text has the same size in every figure.
_ROW_WIDTH = 560
_HEIGHT = 150
# The room above the highest density or mass, for labels.
_ROOM = Fraction(13, 10)
_MARK = "#767676"
# How much of its color an area has; the rest is white. The legend shows the same shade.
_SHARE = 0.45


class Piece(NamedTuple):
    """A filled part of a density: between two places, from one height to another."""

    start: Fraction
    end: Fraction
    low: Fraction
    high: Fraction


class Mass(NamedTuple):
    """A part of the point mass at 0, drawn from one height to another on the axis of masses."""

    part: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Panel:
    """One density of a figure.

    Attributes:
        title: The line above the panel.
        fills: The pieces of each named part of the density, from left to right.
        masses: The parts of the point mass at 0, from below.
        curves: The corners of each named line.
        marks: The places of labeled vertical rules.
    """

    title: str
    fills: Mapping[str, Sequence[Piece]]
    masses: Sequence[Mass] = ()
    curves: Mapping[str, Sequence[tuple[Fraction, Fraction]]] = field(default_factory=dict)
    marks: Mapping[str, Fraction] = field(default_factory=dict)


def draw_panels(
    panels: Sequence[Panel],
    colors: Mapping[str, int],
    *,
    title: str,
    subtitle: str = "",
    columns: int,
    reach: Fraction,
) -> "ChartType":
    """Draw panels in rows; all have the same axes.

    The axis of point masses, on the right of panels that have one, has the same numbers as that of
    densities. So the heights of point masses are proportional to them in all panels. A label
    ``P_α`` has its index as a subscript in SVG, PNG and PDF files.

    Args:
        panels: The panels, row by row.
        colors: The index of the color of each part and line, in the order of the legend.
        title: The title of the figure.
        subtitle: The line below the title. Default: none.
        columns: The number of panels in a row.
        reach: The horizontal axis extends from ``-reach`` to ``reach``.

    Raises:
        Unsupported: If Altair is not installed.

    >>> half = Fraction(1, 2)
    >>> flat = Panel("flat", {"noise": [Piece(-half, half, Fraction(0), Fraction(1))]})
    >>> chart = draw_panels([flat], {"noise": 0}, title="Flat", columns=1, reach=Fraction(1))
    """
    alt = load_altair()
    top = as_float(_ROOM * max(_find_highest(panel) for panel in panels))
    filled = {part for panel in panels for part in panel.fills}
    shades = {
        part: _lighten(COLORS[i]) if part in filled else COLORS[i] for part, i in colors.items()
    }
    charts, datasets = [], _Datasets()
    for i, panel in enumerate(panels):
        axes = _Axes(
            as_float(reach),
            top,
            is_left=i % columns == 0,
            is_lowest=i >= len(panels) - columns,
        )
        chart = _draw_density(panel, shades, axes, datasets)
        if panel.masses:
            chart = alt.layer(chart, _draw_masses(panel, colors, axes, datasets))
            chart = chart.resolve_scale(y="independent")
        label = alt.Title(panel.title, fontSize=12, fontWeight="normal", offset=4)
        charts.append(chart.properties(width=_ROW_WIDTH // columns, height=_HEIGHT, title=label))
    figure = alt.concat(*charts, columns=columns, spacing=14)
    styled = apply_style(figure.properties(title=make_title(title, subtitle)))
    styled.datasets = dict(datasets)
    return styled


class _Datasets(dict[str, list[Row]]):
    """The data of all panels by name.

    Altair copies charts at each step. Charts that only name their data are copied quickly.
    """

    def chart(self, rows: list[Row]) -> Any:
        """Store rows, and return a chart of them."""
        alt = load_altair()
        name = f"rows-{len(self)}"
        self[name] = rows
        return alt.Chart(alt.NamedData(name))


class _Axes(NamedTuple):
    """The ends of the axes, and the sides of the figure at which a panel lies.

    Scales, axes and legends are dictionaries, because Altair's classes for them are copied slowly.
    """

    reach: float
    top: float
    is_left: bool
    is_lowest: bool

    @property
    def x(self) -> Any:
        alt = load_altair()
        # Without padding=0, panels with bars would have a wider axis than others.
        ends = {"domain": [-self.reach, self.reach], "nice": False, "padding": 0}
        title = "noise" if self.is_lowest else None
        return alt.X("value:Q", title=title, scale=ends, axis={"tickCount": 5})

    def y(self, name: str, title: str, *, orient: str) -> Any:
        """Return a vertical axis; the axis of densities has its title on the left only."""
        alt = load_altair()
        is_outer = self.is_left if orient == "left" else True
        axis = {"orient": orient, "tickCount": 5, "minExtent": 24}
        ends = {"domain": [0, self.top], "nice": False}
        return alt.Y(f"{name}:Q", title=title if is_outer else None, scale=ends, axis=axis)


def _find_highest(panel: Panel) -> Fraction:
    heights = [piece.high for pieces in panel.fills.values() for piece in pieces]
    heights += [y for corners in panel.curves.values() for _, y in corners]
    return max(*heights, *(mass.high for mass in panel.masses), Fraction(0))


def _draw_density(panel: Panel, shades: Mapping[str, str], axes: _Axes, datasets: _Datasets) -> Any:
    """Draw the parts of a density, its lines and the marks."""
    alt = load_altair()
    height = axes.y("density", "density", orient="left")
    areas: list[Row] = [
        {
            "value": as_float(x),
            "low": as_float(piece.low),
            "density": as_float(piece.high),
            "part": part,
        }
        for part, pieces in panel.fills.items()
        for piece in pieces
        if -axes.reach < piece.end and piece.start < axes.reach
        for x in (piece.start, piece.end)
    ]
    fills = datasets.chart(areas).mark_area(opacity=1, clip=True)
    fills = fills.encode(x=axes.x, y=height, y2="low:Q", color=_encode_color(shades))
    layers = [fills]
    lines: list[Row] = [
        {"value": as_float(x), "density": as_float(y), "part": part, "place": place}
        for part, corners in panel.curves.items()
        for place, (x, y) in enumerate(corners)
    ]
    if lines:
        curves = datasets.chart(lines).mark_line(strokeWidth=1.5, clip=True)
        layers.append(
            curves.encode(x=axes.x, y=height, order="place:Q", color=_encode_color(shades))
        )
    # Labels are on the outer side of the rules, so that those of neighbors do not meet.
    for align, side in (("right", -1), ("left", 1)):
        marks: list[Row] = [
            {"value": as_float(x), "label": label}
            for label, x in panel.marks.items()
            if (x < 0) == (side < 0)
        ]
        if not marks:
            continue
        base = datasets.chart(marks).encode(x=axes.x)
        layers.append(base.mark_rule(color=_MARK, strokeDash=[3, 3]))
        labels = base.mark_text(align=align, dx=3 * side, dy=6, fontSize=12, color="#4a4a4a")
        layers.append(labels.encode(y=alt.value(0), text="label:N"))
    return alt.layer(*layers)


def _draw_masses(panel: Panel, colors: Mapping[str, int], axes: _Axes, datasets: _Datasets) -> Any:
    """Draw the point mass at 0 as a bar on the right axis, labeled with its probability."""
    alt = load_altair()
    height = axes.y("mass", "probability of 0", orient="right")
    rows: list[Row] = [
        {
            "value": 0,
            "low": as_float(low),
            "mass": as_float(high),
            "part": part,
            "color": COLORS[colors[part]],
        }
        for part, low, high in panel.masses
    ]
    bars = datasets.chart(rows).mark_bar(size=7)
    # A bar in front of an area of the same part has the full color.
    color = alt.Color("color:N", scale=None, legend=None)
    layers = [bars.encode(x=axes.x, y=height, y2="low:Q", color=color)]
    if panel.masses:
        total = max(mass.high for mass in panel.masses)
        row: Row = {
            "value": 0,
            "mass": as_float(total),
            "label": f"mass {format_rounded(total, 3)}",
        }
        label = datasets.chart([row]).encode(x=axes.x, y=height, text="label:N")
        # A white border separates the label from the lines behind it.
        looks: list[dict[str, Any]] = [{"stroke": "white", "strokeWidth": 4}, {}]
        layers += [label.mark_text(dy=-7, fontSize=12, fontWeight="bold", **look) for look in looks]
    return alt.layer(*layers)


def _lighten(color: str) -> str:
    """Return a color mixed with white, for areas."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(_SHARE * part + (1 - _SHARE) * 255):02x}" for part in parts)


def _encode_color(shades: Mapping[str, str]) -> Any:
    alt = load_altair()
    scale = {"domain": list(shades), "range": list(shades.values())}
    legend = {"orient": "bottom", "title": None, "symbolType": "square", "symbolOpacity": 1}
    return alt.Color("part:N", scale=scale, sort=None, legend=legend if len(shades) > 1 else None)
