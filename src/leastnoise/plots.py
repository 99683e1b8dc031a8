"""Pictures of what lies below: one function a picture, each a Vega-Lite chart by Altair.

Save one with :func:`save`; in a notebook a chart shows itself. Altair comes with the extra
``leastnoise[plots]``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.exact import approximately, as_float, exactly
from leastnoise.noise import Noise, Staircase, Steps, Uniform

if TYPE_CHECKING:
    from leastnoise.mechanism import Mechanism
    from leastnoise.rearrangement import Rearrangement

_INK = "#1f4e79"
_NEIGHBOUR = "#d1853a"
_COLOURS = [_INK, _NEIGHBOUR, "#5b8c5a", "#8e5ea2", "#7f7f7f", "#b03a48", "#2a9d8f"]
_FORMATS = (".png", ".svg", ".pdf", ".html", ".json")
_MOST_PERIODS = 1000

Row = dict[str, Any]


def density(mechanism: "Mechanism") -> Any:
    """Draw the noise beside itself moved by Δ: what an observer must tell apart.

    Only noises on the line; a mass at the origin is a bar labelled with its probability.
    """
    noise, moved = mechanism.noise, mechanism.sensitivity
    moves = {"0": 0.0, exactly(moved): as_float(moved)}
    laws = [(name, noise, at) for name, at in moves.items()]
    subtitle = f"expected cost {approximately(mechanism.cost)} ({mechanism.certificate.objective})"
    if isinstance(noise, Uniform):  # its profile is flat: all of δ is certainty
        share = exactly(mechanism.privacy.delta)
        subtitle += f"; with probability {share} the output gives the answer away"
    least = "Least noise" if mechanism.certificate.exact else "Noise"
    title = f"{least} for {mechanism.privacy}, Δ = {exactly(moved)}"
    return _finished(_laws(laws, "true value"), title, subtitle)


def laws(noises: Mapping[str, Noise], title: str, subtitle: str = "") -> Any:
    """Draw several noises on the line over one another, by name."""
    return _finished(_laws([(name, law, 0.0) for name, law in noises.items()], ""), title, subtitle)


def rearrangement(proof: "Rearrangement") -> Any:
    """Draw the stages of Theorem 2's proof side by side, on one scale, with what each costs."""
    alt = _altair()
    top = max(as_float(max(stage.noise.heights)) for stage in proof.stages)
    reach = 1.08 * max(as_float(stage.noise.radius) for stage in proof.stages)
    panels = []
    for stage in proof.stages:
        label = f"{stage.name}: cost {approximately(stage.cost.upper, 5)}"
        panel = _laws([("", stage.noise, 0.0)], "", top=top * 1.6, reach=reach)
        title = alt.Title(label, fontSize=12, fontWeight="normal", offset=4)
        panels.append(panel.properties(width=250, height=120, title=title))
    chart = alt.concat(*panels, columns=2)
    return _styled(chart.properties(title=_title("Theorem 2's proof, stage by stage", "")))


@dataclass(frozen=True)
class Look:
    """How a curve is drawn: which of the colours, and whether dashed."""

    colour: int
    dashed: bool = False


def curves(
    rows: Sequence[Row],
    looks: Mapping[str, Look],
    *,
    x: str,
    y: str,
    title: str,
    log: str = "",
) -> Any:
    """Draw ``value`` against ``x``, one line for each ``curve``; ``log`` names the log axes."""
    alt = _altair()
    names = list(looks)
    colours = alt.Scale(domain=names, range=[_COLOURS[looks[n].colour] for n in names])
    dashes = alt.Scale(domain=names, range=[[5, 4] if looks[n].dashed else [1, 0] for n in names])
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=x, scale=_scale("x" in log)),
            y=alt.Y("value:Q", title=y, scale=_scale("y" in log)),
            color=alt.Color("curve:N", scale=colours, title="", sort=None),
            strokeDash=alt.StrokeDash("curve:N", scale=dashes, title="", sort=None),
        )
    )
    return _finished(chart, title, "")


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart as PNG, SVG, PDF, HTML or JSON, by the ending of ``path``."""
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InvalidParameter(
            f"a picture must end in {', '.join(_FORMATS)}; got {target.suffix!r}. "
            "Choose one of them."
        )
    try:
        chart.save(str(target), **({"ppi": 144} if target.suffix == ".png" else {}))
    except OSError as error:
        raise InvalidParameter(
            f"a picture must be written where files can be; {target.name!r} could not "
            f"({type(error).__name__}). Give a path in a folder of your own."
        ) from error
    return target


def _scale(log: bool) -> Any:
    alt = _altair()
    return alt.Scale(type="log") if log else alt.Scale()


def _laws(
    laws: Iterable[tuple[str, Noise, float]],
    legend_title: str,
    *,
    top: float | None = None,
    reach: float | None = None,
) -> Any:
    """Draw densities as areas and atoms as labelled bars; no legend for a law without a name."""
    alt = _altair()
    drawn = [(name, _outlined(noise), at) for name, noise, at in laws]
    if not drawn:
        raise InvalidParameter("there must be a noise to draw; got none. Give at least one.")
    names = [name for name, _, _ in drawn]
    colour = alt.Color(
        "law:N",
        scale=alt.Scale(domain=names, range=_COLOURS[: len(names)]),
        title=legend_title,
        sort=None,
        legend=alt.Undefined if any(names) else None,
    )
    tallest = max(as_float(max(noise.heights)) for _, noise, _ in drawn)
    atoms = any(noise.points for _, noise, _ in drawn)
    height = alt.Y(
        "density:Q",
        title="density",
        stack=None,
        scale=alt.Scale(domainMin=0, domainMax=top or tallest * (1.9 if atoms else 1.15)),
    )
    rows = [row for name, noise, at in drawn for row in _outline(name, noise, at)]
    area = (
        alt.Chart(alt.Data(values=rows))
        .mark_area(opacity=0.35, line=True)
        .encode(
            x=alt.X(
                "value:Q",
                title="released value" if legend_title else "noise",
                scale=alt.Scale(domain=[-reach, reach], nice=False) if reach else alt.Scale(),
            ),
            y=height,
            color=colour,
        )
    )
    return area + _bars(drawn, top * 0.55 if top else tallest, colour) if atoms else area


def _outline(name: str, noise: "Outline", at: float) -> list[Row]:
    """Return the corners of a density moved to ``at``."""
    corners = [(noise.breaks[0], 0.0)]
    for i, height in enumerate(noise.heights):
        corners += [(noise.breaks[i], as_float(height)), (noise.breaks[i + 1], as_float(height))]
    corners.append((noise.breaks[-1], 0.0))
    return [{"value": as_float(x) + at, "density": y, "law": name} for x, y in corners]


def _bars(drawn: list[tuple[str, "Outline", float]], top: float, colour: Any) -> Any:
    """Draw atoms as bars; their height means nothing, their label does."""
    alt = _altair()
    rows = [
        {
            "value": as_float(x) + at,
            "density": top * (1.2 + 0.2 * i),
            "law": name,
            "mass": f"mass {approximately(mass, 3)}",
        }
        for i, (name, noise, at) in enumerate(drawn)
        for x, mass in noise.points
    ]
    height = alt.Y("density:Q", stack=None)
    base = alt.Chart(alt.Data(values=rows)).encode(x="value:Q", y=height, color=colour)
    return base.mark_bar(size=4) + base.mark_text(align="left", dx=6, dy=6, fontSize=12).encode(
        text="mass:N"
    )


class Outline(NamedTuple):
    """What is drawn of a law: where its density may change, its density between, its atoms."""

    breaks: Sequence[Fraction]
    heights: Sequence[Fraction]
    points: Sequence[tuple[Fraction, Fraction]]


def _outlined(noise: Noise) -> Outline:
    if isinstance(noise, Uniform):
        ends = (-noise.radius, noise.radius)
        return Outline(ends, (noise.density,), tuple(noise.atoms.items()))
    if isinstance(noise, Steps) and noise.heights:
        return Outline(noise.breaks, noise.heights, noise.points)
    if isinstance(noise, Staircase):
        return _cut(noise)
    raise Unsupported(
        f"only noise with a density on the line is drawn; got {type(noise).__name__}. "
        "Calibrate without integer=True."
    )


def _cut(noise: Staircase) -> Outline:
    """Return a staircase as far as all but a thousandth of it goes."""
    periods = -(-noise.quantile(Fraction(1999, 2000)) // noise.period)
    if periods > _MOST_PERIODS:
        raise Unsupported(
            f"a staircase is drawn with at most {_MOST_PERIODS} periods; got {exactly(periods)}. "
            "Give a ratio further from 1."
        )
    falls = [(n + (noise.gamma or 1)) * noise.period for n in range(periods)]
    heights = [noise.height * noise.ratio ** (n + (not noise.gamma)) for n in range(periods)]
    breaks = [*(-x for x in reversed(falls)), *falls]
    return Outline(breaks, [*reversed(heights), *heights[1:]], ())


def _title(text: str, subtitle: str) -> Any:
    alt = _altair()
    return alt.Title(text, subtitle=[subtitle]) if subtitle else alt.Title(text)


def _finished(chart: Any, title: str, subtitle: str) -> Any:
    return _styled(chart.properties(width=560, height=260, title=_title(title, subtitle)))


def _styled(chart: Any) -> Any:
    return (
        chart.configure_axis(grid=False, labelFontSize=12, titleFontSize=12)
        .configure_title(anchor="start", fontSize=14, subtitleFontSize=12, offset=12)
        .configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=320)
        .configure_view(stroke=None)
    )


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise Unsupported(
            "pictures need Altair, which is not installed. Install it with the extra: "
            "pip install 'leastnoise[plots]'."
        ) from error
    return altair
