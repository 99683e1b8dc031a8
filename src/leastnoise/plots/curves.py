"""Curves: a number against another, one line for each of several names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.plots.canvas import COLOURS, Row, finished, library, scale


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
    alt = library()
    names = list(looks)
    colours = alt.Scale(domain=names, range=[COLOURS[looks[n].colour] for n in names])
    dashes = alt.Scale(domain=names, range=[[5, 4] if looks[n].dashed else [1, 0] for n in names])
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=x, scale=scale("x" in log)),
            y=alt.Y("value:Q", title=y, scale=scale("y" in log)),
            color=alt.Color("curve:N", scale=colours, title="", sort=None),
            strokeDash=alt.StrokeDash("curve:N", scale=dashes, title="", sort=None),
        )
    )
    return finished(chart, title, "")
