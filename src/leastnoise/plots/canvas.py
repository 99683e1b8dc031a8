"""What all figures share: Altair on first use, one style, and saving."""

import io
from pathlib import Path
from typing import Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.files import write_bytes

_INK = "#1f4e79"
_NEIGHBOUR = "#d1853a"
COLORS = [_INK, _NEIGHBOUR, "#5b8c5a", "#8e5ea2", "#7f7f7f", "#b03a48", "#2a9d8f"]
_FORMATS = (".png", ".svg", ".pdf", ".html", ".json")

Row = dict[str, Any]


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart as PNG, SVG, PDF, HTML or JSON, by the ending of ``path``.

    Raises:
        InvalidParameter: If the file is a ledger or a witness, or cannot be written.
    """
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InvalidParameter(
            f"a picture must end in {', '.join(_FORMATS)}, got {target.suffix!r}. "
            "Choose one of them."
        )
    try:
        write_bytes(target, _drawn(chart, target.suffix[1:]))
    except OSError as error:
        raise InvalidParameter(
            f"a picture must be written where files can be; {target.name!r} could not "
            f"({type(error).__name__}). Give a path in a folder of your own."
        ) from error
    return target


def _drawn(chart: Any, kind: str) -> bytes:
    file: io.BytesIO | io.StringIO = io.BytesIO() if kind in ("png", "pdf") else io.StringIO()
    chart.save(file, format=kind, **({"ppi": 144} if kind == "png" else {}))
    content = file.getvalue()
    return content if isinstance(content, bytes) else content.encode()


def finished(chart: Any, title: str, subtitle: str) -> Any:
    """Return a single chart with its size, title and style."""
    return styled(chart.properties(width=560, height=260, title=titled(title, subtitle)))


def styled(chart: Any) -> Any:
    """Return a chart in the one style."""
    return (
        chart.configure_axis(grid=False, labelFontSize=12, titleFontSize=12)
        .configure_title(anchor="start", fontSize=14, subtitleFontSize=12, offset=12)
        .configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=320)
        .configure_view(stroke=None)
    )


def titled(text: str, subtitle: str) -> Any:
    """Return a title, with a line below it if there is one."""
    alt = library()
    return alt.Title(text, subtitle=[subtitle]) if subtitle else alt.Title(text)


def scale(log: bool) -> Any:
    """Return a scale, in powers of ten if ``log``."""
    alt = library()
    return alt.Scale(type="log") if log else alt.Scale()


def library() -> Any:
    """Return Altair, loaded on first use."""
    try:
        import altair
    except ImportError as error:
        raise Unsupported(
            "pictures need Altair, which is not installed. Install it with the extra: "
            "pip install 'leastnoise[plots]'."
        ) from error
    return altair
