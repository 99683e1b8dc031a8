"""Plots of densities, and of curves: a number against another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.plots.canvas import COLORS, Row, finished, library, scale

if TYPE_CHECKING:
    from leastnoise.mechanism import Mechanism


_MOST_PERIODS = 1000
_NEARLY_ALL = Fraction(1999, 2000)
# Smooth density is drawn as so many columns on each side, hard to tell apart.
_COLUMNS = 160


@dataclass(frozen=True)
class Look:
    """How a curve is drawn: which of the colors, and whether dashed."""

    color: int
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
    colors = alt.Scale(domain=names, range=[COLORS[looks[n].color] for n in names])
    dashes = alt.Scale(domain=names, range=[[5, 4] if looks[n].dashed else [1, 0] for n in names])
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=x, scale=scale("x" in log)),
            y=alt.Y("value:Q", title=y, scale=scale("y" in log)),
            color=alt.Color("curve:N", scale=colors, title="", sort=None),
            strokeDash=alt.StrokeDash("curve:N", scale=dashes, title="", sort=None),
        )
    )
    return finished(chart, title, "")


def density(mechanism: "Mechanism") -> Any:
    """Draw the noise beside itself moved by Δ: what an observer must tell apart.

    Only noises on the line; a mass at the origin is a bar labelled with its probability.
    """
    noise, moved = mechanism.noise, mechanism.sensitivity
    moves = {"0": 0.0, format_exact(moved): as_float(moved)}
    laws = [(name, noise, at) for name, at in moves.items()]
    subtitle = f"expected cost {format_rounded(mechanism.cost)} ({mechanism.certificate.objective})"
    if isinstance(noise, Uniform):  # its profile is flat: all of δ is certainty
        share = format_exact(mechanism.privacy.delta)
        subtitle += f"; with probability {share} the output reveals the true value"
    certificate = mechanism.certificate
    optimal = "Optimal noise" if certificate.shape == "any" else "Optimal unimodal noise"
    kind = optimal if certificate.exact and certificate.verified else "Noise"
    title = f"{kind} for {mechanism.privacy}, Δ = {format_exact(moved)}"
    return finished(_laws(laws, "true value"), title, subtitle)


def laws(noises: Mapping[str, Noise], title: str, subtitle: str = "") -> Any:
    """Draw several noises on the line over one another, by name."""
    return finished(_laws([(name, law, 0.0) for name, law in noises.items()], ""), title, subtitle)


def _laws(
    laws: Iterable[tuple[str, Noise, float]],
    legend_title: str,
    *,
    top: float | None = None,
    reach: float | None = None,
) -> Any:
    """Draw densities as areas and atoms as labelled bars; no legend for a law without a name."""
    alt = library()
    drawn = [(name, outline(noise), at) for name, noise, at in laws]
    if not drawn:
        raise InvalidParameter(
            "there must be a noise to draw",
            got="none",
            fix="Give at least one.",
        )
    names = [name for name, _, _ in drawn]
    color = alt.Color(
        "law:N",
        scale=alt.Scale(domain=names, range=COLORS[: len(names)]),
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
    rows = [
        {"value": as_float(x) + at, "density": as_float(y), "law": name}
        for name, noise, at in drawn
        for x, y in noise.corners
    ]
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
            color=color,
        )
    )
    return area + _bars(drawn, top * 0.55 if top else tallest, color) if atoms else area


def _bars(drawn: list[tuple[str, "Outline", float]], top: float, color: Any) -> Any:
    """Draw atoms as bars; their height means nothing, their label does."""
    alt = library()
    rows = [
        {
            "value": as_float(x) + at,
            "density": top * (1.2 + 0.2 * i),
            "law": name,
            "mass": f"mass {format_rounded(mass, 3)}",
        }
        for i, (name, noise, at) in enumerate(drawn)
        for x, mass in noise.points
    ]
    height = alt.Y("density:Q", stack=None)
    base = alt.Chart(alt.Data(values=rows)).encode(x="value:Q", y=height, color=color)
    return base.mark_bar(size=4) + base.mark_text(align="left", dx=6, dy=6, fontSize=12).encode(
        text="mass:N"
    )


class Outline(NamedTuple):
    """What is drawn of a law: where its density may change, its density between, its atoms."""

    breaks: Sequence[Fraction]
    heights: Sequence[Fraction]
    points: Sequence[tuple[Fraction, Fraction]]

    @property
    def corners(self) -> list[tuple[Fraction, Fraction]]:
        """The corners of the density in order, from 0 up and down to 0 again."""
        pieces = zip(pairwise(self.breaks), self.heights, strict=True)
        inner = [(x, height) for ends, height in pieces for x in ends]
        return [(self.breaks[0], Fraction(0)), *inner, (self.breaks[-1], Fraction(0))]


@singledispatch
def outline(noise: Noise) -> Outline:
    """Return the outline of noise on the line; where it is unbounded, of nearly all of it."""
    raise Unsupported(
        "only noise with a density on the line is drawn",
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
        return outline.dispatch(Noise)(noise)  # which rejects atoms alone
    return Outline(noise.breaks, noise.heights, noise.points)


@outline.register
def _(noise: Staircase) -> Outline:
    # As far as all but a thousandth of it goes.
    periods = -(-noise.quantile(_NEARLY_ALL) // noise.period)
    if periods > _MOST_PERIODS:
        raise Unsupported(
            f"a staircase is drawn with at most {_MOST_PERIODS} periods",
            got=format_exact(periods),
            fix="Give a ratio further from 1.",
        )
    falls = [(n + (noise.gamma or 1)) * noise.period for n in range(periods)]
    heights = [noise.height * noise.ratio ** (n + (not noise.gamma)) for n in range(periods)]
    breaks = [*(-x for x in reversed(falls)), *falls]
    return Outline(breaks, [*reversed(heights), *heights[1:]], ())


@outline.register
def _(noise: Smooth) -> Outline:
    # Narrow columns, as far as all but a thousandth of it goes.
    far = noise.radius if isinstance(noise.radius, Fraction) else noise.quantile(_NEARLY_ALL)
    breaks = [far * i / _COLUMNS for i in range(-_COLUMNS, _COLUMNS + 1)]
    side = [noise.density(far * (2 * i + 1) / (2 * _COLUMNS), 40).middle for i in range(_COLUMNS)]
    return Outline(breaks, [*reversed(side), *side], ())


def pointed(noise: LatticeNoise, reach: int) -> Outline:
    """Return the probabilities of whole numbers up to a reach, as columns about them.

    Where they are more than can be told apart, of evenly spaced ones.
    """
    apart = -(-reach // _COLUMNS) or 1
    places = range(-(reach // apart), reach // apart + 1)
    breaks = [Fraction((2 * i + 1) * apart, 2) for i in (places[0] - 1, *places)]
    heights = [Fraction(noise.weight(i * apart), noise.total) for i in places]
    return Outline(breaks, heights, ())
