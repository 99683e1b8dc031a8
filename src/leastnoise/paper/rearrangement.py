"""Lemma 1, and the proof of Theorem 2 as a program: from any decreasing noise to P_α."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import (
    Interval,
    Number,
    format_exact,
    format_rounded,
    parse_count,
    parse_positive,
    quote,
)
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.noise import LatticeNoise, Noise, Steps, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, as_cost
from leastnoise.errors import InvalidParameter

_MOST_CELLS = 5000


def symmetrize(noise: Steps) -> Steps:
    """Return the noise mixed half and half with its mirror image (GDGK19, Lemma 1).

    It is as private and costs as much: H of a mixture is at most the mean of the two H, which are
    equal over all moves |d| ≤ Δ, and the cost is symmetric.

    >>> symmetrize(Steps([0, 1], [1]))
    Steps(2 pieces from -1 to 1)
    """
    if not isinstance(noise, Steps):
        raise InvalidParameter(
            "only Steps are symmetrized",
            got=quote(noise),
            fix="Give Steps(breaks, heights).",
        )
    breaks = sorted({*noise.breaks, *(-x for x in noise.breaks)})
    heights = [
        (noise.pdf_before((a + b) / 2) + noise.pdf_before(-(a + b) / 2)) / 2
        for a, b in pairwise(breaks)
    ]
    atoms: dict[Fraction, Fraction] = {}
    for x, mass in noise.points:
        for place in (x, -x):
            atoms[place] = atoms.get(place, Fraction(0)) + mass / 2
    return Steps(breaks, heights, atoms)


@dataclass(frozen=True)
class Stage:
    """One stage of the proof: the noise it ends in and what that costs."""

    name: str
    noise: Steps
    cost: Interval


@dataclass(frozen=True)
class Rearrangement:
    """Theorem 2's proof, stage by stage.

    Attributes:
        start: What the given noise costs.
        stages: Discretise, then three rearrangements. The first may raise the cost by an amount
            that vanishes with the cells; the others never do. Every one keeps the promise.
        result: The P_α it ends in.
    """

    start: Interval
    stages: tuple[Stage, ...]
    result: Uniform

    def __str__(self) -> str:
        lines = [f"{'the noise given':<34} costs {format_rounded(self.start.upper, 9)}"]
        lines += [
            f"{stage.name:<34} costs {format_rounded(stage.cost.upper, 9)}" for stage in self.stages
        ]
        return "\n".join([*lines, f"{'':<34} {self.result!r}"])


def rearrange(
    noise: Noise, privacy: Privacy, *, sensitivity: Number, cost: Cost, cells: Number = 64
) -> Rearrangement:
    """Turn any decreasing (0, δ)-private noise into a P_α that costs no more (Theorem 2's proof).

    Args:
        noise: Symmetric and never rising away from 0; bounded.
        privacy: A promise (0, δ) that it keeps.
        sensitivity: Δ.
        cost: What an error costs.
        cells: Into how many cells half of Δ is cut at stage 0. Free where the noise is constant on
            them.

    Raises:
        InvalidParameter: If the noise is not symmetric and decreasing, saying where.
        NotPrivate: If it does not keep the promise, with the worst move.
    """
    as_cost(cost)
    # Callers without a type checker can pass anything.
    if not isinstance(privacy, Privacy) or privacy.epsilon:  # type: ignore[redundant-expr]
        raise InvalidParameter(
            "Theorem 2 is about promises (0, δ)",
            got=f"{privacy!r}",
            fix="Give Privacy(delta=…).",
        )
    half = parse_positive(sensitivity, "sensitivity") / 2
    parts = parse_count(cells, "cells", least=1)
    radius = _checked_radius(noise, half, parts)
    check_privacy(noise, privacy, sensitivity=2 * half)
    stages = []

    def record(name: str, shaped: Steps) -> Steps:
        check_privacy(shaped, privacy, sensitivity=2 * half)
        stages.append(Stage(name, shaped, shaped.enclose(cost)))
        return shaped

    in_cells = record("0 cut into cells", _in_cells(noise, radius, half / parts))
    level = in_cells.pdf_before(half)
    outside = 1 - in_cells.between(-half, half)
    # δ < 1 leaves mass outside, and decreasing noise has at least that density just inside.
    reach = half + outside / (2 * level)
    record("1 level beyond half of Δ", _levelled_outside(in_cells, half, level, reach))
    atom = 1 - 2 * level * reach
    record("2 level within, the rest to 0", _hat(reach, level, atom))
    level = (1 - privacy.delta) / (2 * (reach - half))
    atom = 1 - 2 * level * reach
    record("3 the mass within half of Δ to δ", _hat(reach, level, atom))
    return Rearrangement(noise.enclose(cost), tuple(stages), Uniform(reach, atom))


def _in_cells(noise: Noise, radius: Fraction, cell: Fraction) -> Steps:
    """Return the noise made level on every cell, the mass at 0 kept (stage 0)."""
    atom = noise.mass(Fraction(0)) - (1 - noise.mass(Fraction(0)))
    last = -(-radius // cell)
    edges = [i * cell for i in range(last + 1)]
    masses = [noise.mass(b) - noise.mass(a) for a, b in pairwise(edges)]
    heights = [mass / cell for mass in masses]
    breaks = [-x for x in reversed(edges[1:])] + edges
    return Steps(breaks, heights[::-1] + heights, {0: atom} if atom else None)


def _levelled_outside(noise: Steps, half: Fraction, level: Fraction, reach: Fraction) -> Steps:
    """Return the noise with all mass beyond Δ/2 in one step at the level just inside (stage 1)."""
    inner = [x for x in noise.breaks if -half < x < half]
    breaks = sorted({-reach, -half, *inner, half, reach})
    heights = [
        noise.pdf_before((a + b) / 2) if -half <= a and b <= half else level
        for a, b in pairwise(breaks)
    ]
    return Steps(breaks, heights, noise.atoms)


def _hat(reach: Fraction, level: Fraction, atom: Fraction) -> Steps:
    return Steps([-reach, reach], [level], {0: atom} if atom else None)


def _checked_radius(noise: Noise, half: Fraction, parts: int) -> Fraction:
    """Return the radius of a noise; reject one that is not decreasing, or has too many cells."""
    if isinstance(noise, LatticeNoise):
        raise InvalidParameter(
            "a noise to rearrange must be decreasing on the line",
            got="one on a lattice, whose atoms away from 0 forbid that (GDGK19, Lemma 2)",
            fix="Give a Uniform or Steps.",
        )
    if not isinstance(noise, Noise):  # callers without a type checker can pass anything
        raise InvalidParameter(
            "Theorem 1 is read from a family's own law",
            got=f"{type(noise).__name__}, moved by {format_exact(2 * half)}, which has none here",
            fix="Ask its Profile instead.",
        )
    noise.total_variation(2 * half)  # rejects what is not symmetric and decreasing
    radius = noise.radius
    if isinstance(radius, float):
        raise InvalidParameter(
            "a noise to rearrange must have a largest size",
            got=f"{type(noise).__name__}, which has none",
            fix="Give a Uniform or Steps.",
        )
    if radius / half * parts > _MOST_CELLS:
        raise InvalidParameter(
            f"a noise may be cut into at most {_MOST_CELLS} cells on each side",
            got="more",
            fix="Give fewer cells, or a narrower noise.",
        )
    return radius
