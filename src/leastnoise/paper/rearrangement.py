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
from leastnoise.core.noise import (
    LatticeNoise,
    Noise,
    PiecewiseNoise,
    Smooth,
    Staircase,
    Steps,
    Uniform,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, as_cost
from leastnoise.errors import InvalidParameter
from leastnoise.paper.discretization import discretize


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
        stages: The discretization, then three rearrangements. The first stage may change the cost
            by an amount that vanishes as the cells shrink. The others never increase it. The noise
            of every stage satisfies the guarantee.
        result: The resulting P_α. Its cost is at most that of the given noise plus :attr:`change`.
    """

    start: Interval
    stages: tuple[Stage, ...]
    result: Uniform

    @property
    def change(self) -> Interval:
        """An enclosure of the cost of stage 0 minus the cost of the given noise.

        It vanishes as the cells shrink (docs/theory/theorem-2.md). It is 0 for noise that is
        constant on the cells, if the cost is rational.
        """
        return self.stages[0].cost - self.start

    @property
    def stages_move_inward(self) -> bool:
        """Whether stages 1 to 3 move mass only towards 0, so that no cost increases. Exact."""
        return all(moves_inward(a.noise, b.noise) for a, b in pairwise(self.stages))

    def __str__(self) -> str:
        lines = [f"{'the noise given':<34} costs {format_rounded(self.start.upper, 9)}"]
        lines += [
            f"{stage.name:<34} costs {format_rounded(stage.cost.upper, 9)}" for stage in self.stages
        ]
        return "\n".join([*lines, f"{'':<34} {self.result!r}"])


def rearrange(
    noise: Noise, privacy: Privacy, *, sensitivity: Number, cost: Cost, cells: Number = 64
) -> Rearrangement:
    """Turn unimodal (0, δ)-private noise into a P_α of at most the same cost (Theorem 2).

    Stage 0 cuts the noise into cells. It can change the cost, and
    :attr:`Rearrangement.change` encloses by how much.

    Args:
        noise: Symmetric unimodal noise on the line, bounded or not.
        privacy: A guarantee (0, δ) that the noise satisfies.
        sensitivity: Δ, how much one person can change the true answer.
        cost: The cost of an error.
        cells: The number of cells into which stage 0 cuts half of Δ. Stage 0 costs nothing if the
            noise is constant on the cells. Default: 64.

    Returns:
        All stages with their costs, and the resulting P_α.

    Raises:
        InvalidParameter: If the noise is not symmetric and unimodal, or needs too many cells.
        NotPrivate: If the noise does not satisfy the guarantee; the error names the worst shift.
        Unsupported: If the noise is unbounded and the cost is a function. The expected cost after
            stage 0 could be infinite even if that of the noise is finite.

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
    _check_shape(noise)
    check_privacy(noise, privacy, sensitivity=2 * half)
    start = noise.enclose(cost)
    stages = []

    def record(name: str, shaped: Steps) -> Steps:
        check_privacy(shaped, privacy, sensitivity=2 * half)
        stages.append(Stage(name, shaped, shaped.enclose(cost)))
        return shaped

    in_cells = record("0 cut into cells", discretize(noise, half, parts))
    level = in_cells.pdf_before(half)
    outside = 1 - in_cells.between(-half, half)
    # δ < 1, so some mass lies outside, and unimodal noise has at least that density just inside.
    reach = half + outside / (2 * level)
    record("1 level beyond half of Δ", _level_outside(in_cells, half, level, reach))
    atom = 1 - 2 * level * reach
    record("2 level within, the rest to 0", _hat(reach, level, atom))
    level = (1 - privacy.delta) / (2 * (reach - half))
    atom = 1 - 2 * level * reach
    record("3 the mass within half of Δ to δ", _hat(reach, level, atom))
    return Rearrangement(start, tuple(stages), Uniform(reach, atom))


def moves_inward(before: Steps, after: Steps) -> bool:
    """Return whether P(|X| > x) of ``after`` is at most that of ``before`` at every x, exactly.

    Then no cost that never falls is higher, because E L(X) = L(0) + ∫ P(|X| > x) dL(x). Both tails
    are linear between breaks and jump down at atoms. So the comparison at each break, and at each
    atom from both sides, is enough.
    """
    atoms = {abs(x) for noise in (before, after) for x in noise.atoms}
    places = {abs(x) for noise in (before, after) for x in noise.breaks}
    return all(_upto(after, x) >= _upto(before, x) for x in places | atoms) and all(
        after.between(-x, x) >= before.between(-x, x) for x in atoms
    )


def _upto(noise: Steps, size: Fraction) -> Fraction:
    """Return P(|X| ≤ size)."""
    below = noise.probability_up_to(-size) - sum(m for x, m in noise.points if x == -size)
    return noise.probability_up_to(size) - below


def _level_outside(noise: Steps, half: Fraction, level: Fraction, reach: Fraction) -> Steps:
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


def _check_shape(noise: Noise) -> None:
    """Reject noise that is not unimodal, or that cannot be cut into cells."""
    if isinstance(noise, LatticeNoise):
        raise InvalidParameter(
            "noise must have a unimodal density",
            got="noise on a lattice, with point masses away from 0 (GDGK19, Lemma 2)",
            fix="Use noise on the line, such as Uniform, Laplace or Steps.",
        )
    if not isinstance(noise, PiecewiseNoise | Smooth | Staircase):
        raise InvalidParameter(
            "noise must be a noise distribution of leastnoise on the line",
            got=f"an object of type {type(noise).__name__}",
            fix="Use Uniform, Laplace, TruncatedLaplace, Gaussian, Staircase or Steps.",
        )
    if isinstance(noise, Steps) and (why := noise.rise()) is not None:
        raise InvalidParameter(
            "noise must be symmetric and unimodal",
            got=f"{noise!r}; {why}",
            fix="Use symmetrize(noise) if it is only not symmetric, or unimodal noise.",
        )
