"""Pictures of what lies below: one function a picture, each a Vega-Lite chart by Altair.

Save one with :func:`save`; in a notebook a chart shows itself. Altair comes with the extra
``leastnoise[plots]``.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.exact import approximately, as_float, exactly
from leastnoise.noise import Uniform

if TYPE_CHECKING:
    from leastnoise.mechanism import Mechanism

_INK = "#1f4e79"
_NEIGHBOUR = "#d1853a"
_FORMATS = (".png", ".svg", ".pdf", ".html", ".json")


def density(mechanism: "Mechanism") -> Any:
    """Draw the noise beside itself moved by Δ: what an observer must tell apart.

    Only noises on the line; the mass at the origin is a bar labelled with its probability.
    """
    alt = _altair()
    noise = mechanism.noise
    if not isinstance(noise, Uniform):
        raise Unsupported(
            f"only noise on the line is drawn so far; got {type(noise).__name__}. "
            "Calibrate without integer=True."
        )
    moves = {"answer 0": 0.0, f"answer {exactly(mechanism.sensitivity)}": _moved(mechanism)}
    rows = [row for name, at in moves.items() for row in _outline(noise, name, at)]
    colours = alt.Scale(domain=list(moves), range=[_INK, _NEIGHBOUR])
    area = (
        alt.Chart(alt.Data(values=rows))
        .mark_area(opacity=0.35, line=True)
        .encode(
            x=alt.X("output:Q", title="released value"),
            y=alt.Y("density:Q", title="probability density", stack=None, scale=_room(noise)),
            color=alt.Color("truth:N", scale=colours, title="true value"),
        )
    )
    title = alt.Title(
        f"Least noise for {mechanism.privacy}, Δ = {exactly(mechanism.sensitivity)}",
        subtitle=[
            f"expected cost {approximately(mechanism.cost)} ({mechanism.certificate.objective});"
            f" outside the overlap (probability {exactly(mechanism.privacy.delta)})"
            " the output gives the answer away",
        ],
    )
    return _finished(area + _bars(noise, moves, colours) if noise.atom else area, title)


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart as PNG, SVG, PDF, HTML or JSON, by the ending of ``path``."""
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InvalidParameter(
            f"a picture must end in {', '.join(_FORMATS)}; got {target.suffix!r}. "
            "Choose one of them."
        )
    if target.suffix == ".png":
        chart.save(str(target), ppi=144)
    else:
        chart.save(str(target))
    return target


def _outline(noise: Uniform, name: str, at: float) -> list[dict[str, Any]]:
    """Return the corners of the density moved to ``at``."""
    radius, level = as_float(noise.radius), as_float(noise.density)
    corners = [(at - radius, 0.0), (at - radius, level), (at + radius, level), (at + radius, 0.0)]
    return [
        {"output": x, "density": y, "truth": name, "order": i} for i, (x, y) in enumerate(corners)
    ]


def _bars(noise: Uniform, moves: dict[str, float], colours: Any) -> Any:
    """Draw the mass at the origin as a bar; its height means nothing, its label does."""
    alt = _altair()
    top = as_float(noise.density) * 1.6
    rows = [
        {
            "output": at,
            "density": top,
            "truth": name,
            "mass": f"mass {approximately(noise.atom, 3)}",
        }
        for name, at in moves.items()
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x="output:Q", y="density:Q", color=alt.Color("truth:N", scale=colours)
    )
    label = base.mark_text(dy=-8, fontSize=12).encode(text="mass:N")
    return base.mark_bar(size=4) + label


def _room(noise: Uniform) -> Any:
    """Leave room above the density for the bars."""
    return _altair().Scale(domainMin=0, domainMax=as_float(noise.density) * 2)


def _moved(mechanism: "Mechanism") -> float:
    return as_float(mechanism.sensitivity)


def _finished(chart: Any, title: Any) -> Any:
    return (
        chart.properties(width=560, height=260, title=title)
        .configure_axis(grid=False, labelFontSize=12, titleFontSize=12)
        .configure_title(anchor="start", fontSize=15, subtitleFontSize=12, offset=12)
        .configure_legend(labelFontSize=12, titleFontSize=12)
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
