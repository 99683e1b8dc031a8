"""Lemma 1 and the proof of Theorem 2 as a program: from any unimodal noise to P_α (GDGK19)."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import (
    Interval,
    Number,
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
    """Mix noise half and half with its mirror image (GDGK19, Lemma 1).

    The mixture satisfies the same guarantee at the same cost: the hockey-stick divergence of a
    mixture is at most the mean of the two divergences, whose maxima over all shifts |d| ≤ Δ are
    equal, and the cost is symmetric.

    Args:
        noise: Steps, symmetric or not.

    Raises:
        InvalidParameter: If the noise is not ``Steps``.

    >>> symmetrize(Steps([0, 1], [1]))
    Steps(2 pieces from -1 to 1)
    """
    if not isinstance(noise, Steps):
        raise InvalidParameter(
            "noise must be Steps",
            got=quote(noise),
            fix="Use Steps(breaks, heights).",
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
    """One stage of the proof: its name, the resulting noise and its cost."""

    name: str
    noise: Steps
    cost: Interval


@dataclass(frozen=True)
class Rearrangement:
    """The proof of Theorem 2, stage by stage; built by :func:`rearrange`.

    Attributes:
        start: The cost of the given noise.
        stages: The discretization, then three rearrangements. The first stage may increase the cost
            by an amount that vanishes as the cells shrink. The others never do. The noise of every
            stage satisfies the guarantee.
        result: The resulting P_α.
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
    """Turn any unimodal (0, δ)-private noise into a P_α of at most the same cost (Theorem 2).

    Args:
        noise: Bounded symmetric unimodal noise.
        privacy: A guarantee (0, δ) that the noise satisfies.
        sensitivity: Δ, how much one person can change the true answer.
        cost: The cost of an error.
        cells: The number of cells into which stage 0 cuts half of Δ. Stage 0 costs nothing if the
            noise is constant on the cells. Default: 64.

    Returns:
        All stages with their costs, and the resulting P_α.

    Raises:
        InvalidParameter: If the noise is not bounded, symmetric and unimodal.
        NotPrivate: If the noise does not satisfy the guarantee; the error names the worst shift.

    >>> from leastnoise import l1
    >>> hill = Steps([-3, -1, 1, 3], ["1/8", "1/4", "1/8"])
    >>> rearrange(hill, Privacy(delta="3/5"), sensitivity=2, cost=l1, cells=8).result
    Uniform(radius=2, atom=0.2)
    """
    as_cost(cost)
    # Callers without a type checker can pass anything.
    if not isinstance(privacy, Privacy) or privacy.epsilon:  # type: ignore[redundant-expr]
        raise InvalidParameter(
            "privacy must be a guarantee (0, δ)",
            got=f"{privacy!r}",
            fix="Use Privacy(delta=…).",
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
    # As δ < 1, some mass lies outside, and unimodal noise has at least its density just inside.
    reach = half + outside / (2 * level)
    record("1 level beyond half of Δ", _levelled_outside(in_cells, half, level, reach))
    atom = 1 - 2 * level * reach
    record("2 level within, the rest to 0", _hat(reach, level, atom))
    level = (1 - privacy.delta) / (2 * (reach - half))
    atom = 1 - 2 * level * reach
    record("3 the mass within half of Δ to δ", _hat(reach, level, atom))
    return Rearrangement(noise.enclose(cost), tuple(stages), Uniform(reach, atom))


def _in_cells(noise: Noise, radius: Fraction, cell: Fraction) -> Steps:
    """Return the noise averaged over every cell, with its point mass at 0 (stage 0)."""
    atom = noise.mass(Fraction(0)) - (1 - noise.mass(Fraction(0)))
    last = -(-radius // cell)
    edges = [i * cell for i in range(last + 1)]
    masses = [noise.mass(b) - noise.mass(a) for a, b in pairwise(edges)]
    heights = [mass / cell for mass in masses]
    breaks = [-x for x in reversed(edges[1:])] + edges
    return Steps(breaks, heights[::-1] + heights, {0: atom} if atom else None)


def _levelled_outside(noise: Steps, half: Fraction, level: Fraction, reach: Fraction) -> Steps:
    """Return the noise with all mass beyond Δ/2 in one step at the density inside (stage 1)."""
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
    """Return the radius of noise; reject noise that is not unimodal, or has too many cells."""
    if isinstance(noise, LatticeNoise):
        raise InvalidParameter(
            "noise must have a unimodal density",
            got="noise on a lattice, with point masses away from 0 (GDGK19, Lemma 2)",
            fix="Use Uniform or Steps.",
        )
    if not isinstance(noise, Noise):  # callers without a type checker can pass anything
        raise InvalidParameter(
            "noise must be a noise distribution of leastnoise",
            got=f"an object of type {type(noise).__name__}",
            fix="Use Uniform or Steps.",
        )
    noise.total_variation(2 * half)  # rejects noise that is not symmetric and unimodal
    radius = noise.radius
    if isinstance(radius, float):
        raise InvalidParameter(
            "noise must be bounded",
            got=f"{type(noise).__name__} noise, which is unbounded",
            fix="Use Uniform or Steps.",
        )
    if radius / half * parts > _MOST_CELLS:
        raise InvalidParameter(
            f"noise must be cut into at most {_MOST_CELLS} cells on each side",
            got="more",
            fix="Use fewer cells, or narrower noise.",
        )
    return radius
