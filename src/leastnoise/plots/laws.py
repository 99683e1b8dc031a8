"""Densities of noises, over one another or side by side."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter
from leastnoise.exact import approximately, as_float, exactly
from leastnoise.noise import Noise, Uniform
from leastnoise.plots.canvas import COLOURS, Row, finished, library, styled, titled
from leastnoise.plots.outlines import Outline, outlined

if TYPE_CHECKING:
    from leastnoise.mechanism import Mechanism
    from leastnoise.rearrangement import Rearrangement


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
    return finished(_laws(laws, "true value"), title, subtitle)


def laws(noises: Mapping[str, Noise], title: str, subtitle: str = "") -> Any:
    """Draw several noises on the line over one another, by name."""
    return finished(_laws([(name, law, 0.0) for name, law in noises.items()], ""), title, subtitle)


def rearrangement(proof: "Rearrangement") -> Any:
    """Draw the stages of Theorem 2's proof side by side, on one scale, with what each costs."""
    alt = library()
    top = max(as_float(max(stage.noise.heights)) for stage in proof.stages)
    reach = 1.08 * max(as_float(stage.noise.radius) for stage in proof.stages)
    panels = []
    for stage in proof.stages:
        label = f"{stage.name}: cost {approximately(stage.cost.upper, 5)}"
        panel = _laws([("", stage.noise, 0.0)], "", top=top * 1.6, reach=reach)
        title = alt.Title(label, fontSize=12, fontWeight="normal", offset=4)
        panels.append(panel.properties(width=250, height=120, title=title))
    chart = alt.concat(*panels, columns=2)
    return styled(chart.properties(title=titled("Theorem 2's proof, stage by stage", "")))


def _laws(
    laws: Iterable[tuple[str, Noise, float]],
    legend_title: str,
    *,
    top: float | None = None,
    reach: float | None = None,
) -> Any:
    """Draw densities as areas and atoms as labelled bars; no legend for a law without a name."""
    alt = library()
    drawn = [(name, outlined(noise), at) for name, noise, at in laws]
    if not drawn:
        raise InvalidParameter("there must be a noise to draw; got none. Give at least one.")
    names = [name for name, _, _ in drawn]
    colour = alt.Color(
        "law:N",
        scale=alt.Scale(domain=names, range=COLOURS[: len(names)]),
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
    alt = library()
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
