"""The common parts of all figures: Altair, loaded on first use, one style, and saving."""

import io
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from leastnoise.errors import InvalidParameter, Unsupported, parameter
from leastnoise.files import write_bytes

if TYPE_CHECKING:
    from altair import Chart, LayerChart, Scale, Title
    from altair.typing import ChartType

_INK = "#1f4e79"
_NEIGHBOR = "#d1853a"
COLORS = [_INK, _NEIGHBOR, "#5b8c5a", "#8e5ea2", "#7f7f7f", "#b03a48", "#2a9d8f"]
_FORMATS = (".png", ".svg", ".pdf", ".html", ".json")
# The name of a clip path in an SVG figure, where it is defined and where it is used.
_CLIP = re.compile(r"""(id="|url\(['"]?#)clip(\d+)(['")])""")

# P_α in the text of an SVG figure, not in an attribute, and its index there.
_SYMBOL = re.compile("P_α(?=[^<>]*<)")
_INDEX = '<tspan dy="0.22em" font-size="0.8em">α</tspan><tspan dy="-0.18em">\u200b</tspan>'

# A row of data, as Altair takes it.
Row = Mapping[str, object]


def save(chart: "ChartType", path: str | Path) -> Path:
    """Write a chart as PNG, SVG, PDF, HTML or JSON.

    The file is written atomically: an interrupted call leaves no partial file.

    Args:
        chart: A chart of this module, or any other Altair chart.
        path: The file; its suffix decides the format.

    Returns:
        The path of the file.

    Raises:
        InvalidParameter: If the suffix is unknown, or the file is a ledger or a witness, or cannot
            be written.

    >>> import tempfile
    >>> from leastnoise import Privacy, calibrate, plots
    >>> chart = plots.density(calibrate(Privacy(delta="0.1"), sensitivity=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(chart, Path(folder) / "noise.svg").name
    'noise.svg'
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _FORMATS:
        raise InvalidParameter(
            parameter("path") + f" must end in {', '.join(_FORMATS)}",
            got=repr(target.suffix),
            fix="Use one of these suffixes.",
        )
    try:
        write_bytes(target, _render(chart, kind[1:]))
    except OSError as error:
        raise InvalidParameter(
            f"The figure {target.name!r} cannot be written ({type(error).__name__})",
            fix="Use a path in a folder where you can write.",
        ) from error
    return target


def _render(chart: "ChartType", kind: str) -> bytes:
    file = io.StringIO()
    if kind in ("html", "json"):
        chart.save(file, format="html" if kind == "html" else "json")
        return file.getvalue().encode()
    vl_convert = load_renderer()
    chart.save(file, format="svg")
    svg = _renumber_clips(_lower_indices(file.getvalue()))
    if kind == "svg":
        return svg.encode()
    content: bytes = (
        vl_convert.svg_to_png(svg, ppi=144) if kind == "png" else vl_convert.svg_to_pdf(svg)
    )
    return content


def _lower_indices(svg: str) -> str:
    """Draw the index of P_α as a subscript; Vega has no subscripts."""
    return _SYMBOL.sub(f"P{_INDEX}", svg)


def _renumber_clips(svg: str) -> str:
    """Number the clip paths of an SVG figure from 0, so that equal charts are equal files.

    Vega numbers them through all figures of a process.
    """
    numbers: dict[str, int] = {}
    return _CLIP.sub(
        lambda match: f"{match[1]}clip{numbers.setdefault(match[2], len(numbers))}{match[3]}",
        svg,
    )


def finish_chart(chart: "Chart | LayerChart", title: str, subtitle: str) -> "ChartType":
    """Return a single chart with its size, title and style."""
    return apply_style(chart.properties(width=560, height=260, title=make_title(title, subtitle)))


def apply_style(chart: "ChartType") -> "ChartType":
    """Return a chart in the style of all figures."""
    styled: ChartType = (
        chart.configure_axis(grid=False, labelFontSize=12, titleFontSize=12)
        .configure_title(anchor="start", fontSize=14, subtitleFontSize=12, offset=12)
        .configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=320)
        .configure_view(stroke=None)
    )
    return styled


def make_title(text: str, subtitle: str) -> "Title":
    """Return a title, with a subtitle unless it is empty."""
    alt = load_altair()
    title: Title = alt.Title(text, subtitle=[subtitle]) if subtitle else alt.Title(text)
    return title


def scale(log: bool) -> "Scale":
    """Return an axis scale, logarithmic if ``log``."""
    alt = load_altair()
    chosen: Scale = alt.Scale(type="log") if log else alt.Scale()
    return chosen


def load_renderer() -> ModuleType:
    """Return the library that turns charts into SVG, PNG and PDF, loaded on first use.

    Raises:
        Unsupported: If it is not installed.
    """
    return _load("vl_convert", "Figures as files need vl-convert")


def load_altair() -> ModuleType:
    """Return Altair, loaded on first use.

    Raises:
        Unsupported: If Altair is not installed.
    """
    return _load("altair", "Figures need Altair")


def _load(name: str, need: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise Unsupported(
            f"{need}, which is not installed", fix="Run pip install 'leastnoise[plots]'."
        ) from error
