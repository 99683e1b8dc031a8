"""Figures of noise densities, and of curves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.accounting import Profile
from leastnoise.core.exact import as_float, format_exact, format_rounded
from leastnoise.core.noise import (
    LatticeNoise,
    Noise,
    PiecewiseNoise,
    Smooth,
    Staircase,
    Steps,
    Uniform,
)
from leastnoise.deprecation import renamed_arguments
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.plots.canvas import COLORS, Row, finish_chart, load_altair, scale

if TYPE_CHECKING:
    from altair import Chart, LayerChart
    from altair.typing import ChartType

    from leastnoise.mechanism import Mechanism


_MOST_PERIODS = 1000
_NEARLY_ALL = Fraction(1999, 2000)
# The number of columns on each side that draw a smooth density.
_COLUMNS = 160


@dataclass(frozen=True)
class Look:
    """The look of a curve: the index of its color, and whether it is dashed."""

    color: int
    dashed: bool = False


def curves(
    rows: Sequence[Row],
    looks: Mapping[str, Look],
    *,
    x: str,
    y: str,
    title: str,
    subtitle: str = "",
    log: str = "",
    points: bool = False,
) -> "ChartType":
    """Draw curves: one line for each value of ``curve`` in the rows.

    Args:
        rows: Points with the keys ``x`` (the argument's value), ``"value"`` and ``"curve"``.
        looks: The look of each curve, in the order of the legend.
        x: The key of the horizontal coordinate, and the title of its axis.
        y: The title of the vertical axis.
        title: The title of the figure.
        subtitle: The line below the title. Default: none.
        log: The logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``. Default: none.
        points: Whether each row has a marker, for curves of few rows. Default: no.

    Raises:
        Unsupported: If Altair is not installed.

    >>> rows = [{"δ": 0.1, "value": 2.5, "curve": "uniform"}]
    >>> chart = curves(rows, {"uniform": Look(0)}, x="δ", y="cost", title="Cost by δ")
    """
    alt = load_altair()
    names = list(looks)
    colors = alt.Scale(domain=names, range=[COLORS[looks[n].color] for n in names])
    dashes = alt.Scale(domain=names, range=[[5, 4] if looks[n].dashed else [1, 0] for n in names])
    is_broad = len(names) <= 4 or max(map(len, names)) > 20
    # Without the type of the symbol, the legend of curves with markers would have large disks.
    symbol = {"symbolType": "stroke", "symbolFillColor": "transparent"} if points else {}
    legend = alt.Legend(
        orient="bottom", title=None, columns=2 if is_broad else 0, symbolSize=400, **symbol
    )
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=2, **({"point": {"size": 30}} if points else {}))
        .encode(
            x=alt.X(f"{x}:Q", title=x, scale=scale("x" in log), axis=_make_axis("x" in log)),
            y=alt.Y("value:Q", title=y, scale=scale("y" in log), axis=_make_axis("y" in log)),
            color=alt.Color("curve:N", scale=colors, sort=None, legend=legend),
            strokeDash=alt.StrokeDash("curve:N", scale=dashes, sort=None, legend=legend),
        )
    )
    return finish_chart(chart, title, subtitle)


def _make_axis(log: bool) -> Any:
    """Return an axis; a logarithmic one has labels such as 1e-6 and 100, at powers of ten only."""
    alt = load_altair()
    if not log:
        return alt.Axis()
    figures = "replace(format(datum.value, '~e'), 'e+', 'e')"
    plain = "datum.value >= 0.001 && datum.value <= 1000"
    is_power = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-9"
    shown = f"{is_power} ? ({plain} ? format(datum.value, '~f') : {figures}) : ''"
    return alt.Axis(labelExpr=shown, labelOverlap=False)


def density(mechanism: "Mechanism") -> "ChartType":
    """Draw the noise of a mechanism twice: around 0, and shifted by Δ.

    An observer has to distinguish the two densities. A point mass at 0 is a bar, labeled with its
    probability.

    Args:
        mechanism: A mechanism with continuous noise.

    Raises:
        Unsupported: If the noise is on the integers, or Altair is not installed.

    >>> from leastnoise import Privacy, calibrate
    >>> chart = density(calibrate(Privacy(delta="0.1"), sensitivity=1))
    """
    noise, delta = mechanism.noise, mechanism.sensitivity
    shifts = {"0": 0.0, format_exact(delta): as_float(delta)}
    shifted = [(name, noise, shift) for name, shift in shifts.items()]
    subtitle = f"expected cost {format_rounded(mechanism.cost)} ({mechanism.certificate.objective})"
    if isinstance(noise, Uniform):  # some outputs are possible for one of the densities only
        revealing = Profile(noise, sensitivity=delta).infinity_mass
        share = format_rounded(revealing, 6, ROUND_CEILING)
        subtitle += (
            f"; with probability {share}, the output reveals which of the two values is true"
        )
    certificate = mechanism.certificate
    optimal = "Optimal noise" if certificate.shape == "any" else "Optimal unimodal noise"
    kind = optimal if certificate.exact and certificate.verified else "Noise"
    title = f"{kind} for {mechanism.privacy}, Δ = {format_exact(delta)}"
    return finish_chart(layer_densities(shifted, "true value"), title, subtitle)


@renamed_arguments(noises="noise")
def distributions(noise: Mapping[str, Noise], title: str, subtitle: str = "") -> "ChartType":
    """Draw the densities of several noise distributions in one figure.

    Args:
        noise: The continuous noise of each name in the legend.
        title: The title of the figure.
        subtitle: The line below the title. Default: none.

    Raises:
        InvalidParameter: If there is no noise.
        Unsupported: If noise has no density, or Altair is not installed.

    >>> from leastnoise.noise import Laplace, Uniform
    >>> noise = {"uniform": Uniform(5), "Laplace": Laplace(1)}
    >>> chart = distributions(noise, "Two densities")
    """
    centered = [(name, item, 0.0) for name, item in noise.items()]
    return finish_chart(layer_densities(centered, ""), title, subtitle)


def layer_densities(
    distributions: Iterable[tuple[str, Noise, float]], legend_title: str
) -> "Chart | LayerChart":
    """Draw densities as areas and point masses as labeled bars; without names, no legend."""
    alt = load_altair()
    outlines = [(name, outline(noise), at) for name, noise, at in distributions]
    if not outlines:
        raise InvalidParameter(
            "noise must have at least one noise distribution",
            got="none",
            fix="Use, for example, {'uniform': Uniform(5)}.",
        )
    names = [name for name, _, _ in outlines]
    color = alt.Color(
        "noise:N",
        scale=alt.Scale(domain=names, range=COLORS[: len(names)]),
        title=legend_title,
        sort=None,
        legend=alt.Undefined if any(names) else None,
    )
    tallest = max(as_float(max(noise.heights)) for _, noise, _ in outlines)
    atoms = any(noise.points for _, noise, _ in outlines)
    height = alt.Y(
        "density:Q",
        title="density",
        stack=None,
        scale=alt.Scale(domainMin=0, domainMax=tallest * (1.9 if atoms else 1.15)),
    )
    rows = [
        {"value": as_float(x) + at, "density": as_float(y), "noise": name}
        for name, noise, at in outlines
        for x, y in noise.corners
    ]
    area: Chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_area(opacity=0.35, line=True)
        .encode(
            x=alt.X("value:Q", title="released value" if legend_title else "noise"),
            y=height,
            color=color,
        )
    )
    return area + _draw_bars(outlines, tallest, color) if atoms else area


def _draw_bars(outlines: list[tuple[str, "Outline", float]], top: float, color: Any) -> Any:
    """Draw point masses as bars of arbitrary height, labeled with their probabilities."""
    alt = load_altair()
    rows = [
        {
            "value": as_float(x) + at,
            "density": top * (1.2 + 0.2 * i),
            "noise": name,
            "mass": f"mass {format_rounded(mass, 3)}",
        }
        for i, (name, noise, at) in enumerate(outlines)
        for x, mass in noise.points
    ]
    height = alt.Y("density:Q", stack=None)
    base = alt.Chart(alt.Data(values=rows)).encode(x="value:Q", y=height, color=color)
    return base.mark_bar(size=4) + base.mark_text(align="left", dx=6, dy=6, fontSize=12).encode(
        text="mass:N"
    )


class Outline(NamedTuple):
    """The outline of a density: its breaks, its heights between them, and its point masses."""

    breaks: Sequence[Fraction]
    heights: Sequence[Fraction]
    points: Sequence[tuple[Fraction, Fraction]]

    @property
    def corners(self) -> list[tuple[Fraction, Fraction]]:
        """The corners of the density in order, starting and ending at height 0."""
        pieces = zip(pairwise(self.breaks), self.heights, strict=True)
        inner = [(x, height) for ends, height in pieces for x in ends]
        return [(self.breaks[0], Fraction(0)), *inner, (self.breaks[-1], Fraction(0))]


@singledispatch
def outline(noise: Noise) -> Outline:
    """Return the outline of continuous noise; of nearly all of it if it is unbounded."""
    raise Unsupported(
        "noise must have a density to be drawn",
        got=type(noise).__name__,
        fix="Calibrate without integer=True.",
    )


@outline.register
def _(noise: PiecewiseNoise) -> Outline:
    breaks, heights = [noise.pieces[0][0]], []
    for start, end, height in noise.pieces:
        if start != breaks[-1]:  # the density is 0 in between
            breaks.append(start)
            heights.append(Fraction(0))
        breaks.append(end)
        heights.append(height)
    return Outline(breaks, heights, tuple(noise.atoms.items()))


@outline.register
def _(noise: Steps) -> Outline:
    if not noise.heights:
        return outline.dispatch(Noise)(noise)  # rejects noise with point masses only
    return Outline(noise.breaks, noise.heights, noise.points)


@outline.register
def _(noise: Staircase) -> Outline:
    # Up to where all but a thousandth of the mass lies.
    periods = -(-noise.quantile(_NEARLY_ALL) // noise.period)
    if periods > _MOST_PERIODS:
        raise Unsupported(
            f"A staircase must have at most {_MOST_PERIODS} periods to be drawn",
            got=format_exact(periods),
            fix="Use a smaller ratio.",
        )
    falls = [(n + (noise.gamma or 1)) * noise.period for n in range(periods)]
    heights = [noise.height * noise.ratio ** (n + (not noise.gamma)) for n in range(periods)]
    breaks = [*(-x for x in reversed(falls)), *falls]
    return Outline(breaks, [*reversed(heights), *heights[1:]], ())


@outline.register
def _(noise: Smooth) -> Outline:
    # Narrow columns, up to where all but a thousandth of the mass lies.
    far = noise.radius if isinstance(noise.radius, Fraction) else noise.quantile(_NEARLY_ALL)
    breaks = [far * i / _COLUMNS for i in range(-_COLUMNS, _COLUMNS + 1)]
    side = [noise.density(far * (2 * i + 1) / (2 * _COLUMNS), 40).middle for i in range(_COLUMNS)]
    return Outline(breaks, [*reversed(side), *side], ())


def outline_of_integers(noise: LatticeNoise, reach: int) -> Outline:
    """Return the probabilities of integers up to ``reach`` as columns.

    If there are too many to be distinguished, the columns are for evenly spaced integers.
    """
    apart = -(-reach // _COLUMNS) or 1
    places = range(-(reach // apart), reach // apart + 1)
    breaks = [Fraction((2 * i + 1) * apart, 2) for i in (places[0] - 1, *places)]
    heights = [Fraction(noise.weight(i * apart), noise.total) for i in places]
    return Outline(breaks, heights, ())
