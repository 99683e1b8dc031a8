"""The lattice law for noise of each family.

From the line to the lattice: the noise that is really added to a real-valued answer.

True answers are rounded to whole multiples of g, about Δ/2²⁰, by R(q) = ⌊q/g + 1/2⌋, which moves
two answers Δ apart to at most k = ⌈Δ/g⌉ steps apart. Numbers kept as floats can be an ulp further
apart than the numbers they stand for, which is one step more where they lie at the edge of a cell;
so the noise protects against k + 1 steps.

The noise is a P_α rounded to the lattice: private there because rounding what has left is
post-processing. Its radius is (M + 1/2)·g, so that all 2M + 1 cells are whole and it is drawn by
one uniform integer below A + 2M + 1, A of them for the mass at 0. With n = 2M + 1 the distance at
k + 1 steps is (A + k + 1)/(A + n), which must not exceed δ.

What is drawn for a noise: whole multiples of a step.
"""

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm

from leastnoise.calibration.problem import Problem
from leastnoise.core.lattice import lattice_for
from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    LatticeNoise,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    Steps,
    Uniform,
)
from leastnoise.core.privacy import Privacy

# Breaks at whole multiples of Δ over at most this count as a coarse lattice.
_COARSE = 256


def rounded(noise: Steps, step: Fraction) -> DiscreteSteps:
    """Return the law of ⌊X/step + 1/2⌋ for X of the law ``noise``, exactly.

    Cells that lie whole within a piece weigh the same; only those with an end of a piece or an atom
    in them are worked out one by one.
    """
    half = step / 2
    odd = sorted({floor(x / step + Fraction(1, 2)) for x in (*noise.breaks, *noise.atoms)})
    masses = []
    for index, following in pairwise([*odd, odd[-1] + 1]):
        masses.append((index, 1, noise.between(index * step - half, index * step + half)))
        if following > index + 1:
            level = noise.pdf_before((index + 1) * step) * step
            masses.append((index + 1, following - index - 1, level))
    whole = lcm(*(mass.denominator for _, _, mass in masses))
    runs = (Run(first, points, int(mass * whole)) for first, points, mass in masses if mass)
    return DiscreteSteps(step, tuple(runs))


def stretched(noise: Steps, sensitivity: Fraction) -> DiscreteSteps:
    """Return the lattice noise for a given law that is private at ``sensitivity``.

    Stretched to one step more than Δ it is private there, and rounding keeps that. Where its breaks
    lie on a coarse lattice of their own, they are brought to ends of cells, at most a few parts in
    ten thousand further: then there are few different weights and few moves to be checked.
    """
    step, moved = lattice_for(sensitivity)
    parts = lcm(*((x / sensitivity).denominator for x in noise.breaks))
    if parts <= _COARSE:
        halves = ceil(Fraction(2 * moved, parts)) | 1  # half steps to a part; odd: ends of cells
        return rounded(noise.scaled(halves * parts * step / (2 * sensitivity)), step)
    return rounded(noise.scaled(moved * step / sensitivity), step)


def on_lattice(noise: Uniform, privacy: Privacy, sensitivity: Fraction) -> DiscreteUniform:
    """Return the lattice noise of ``noise``'s shape that keeps the promise a step beyond Δ."""
    step, moved = lattice_for(sensitivity)
    reach = ceil(noise.radius / sensitivity * moved - Fraction(1, 2))
    points = 2 * reach + 1
    spare = (privacy.delta * points - moved) / (1 - privacy.delta)
    return DiscreteUniform(step=step, reach=reach, atom=floor(spare) if noise.atom else 0)


def smooth_on_lattice(noise: Smooth, sensitivity: Fraction) -> Rounded:
    """Return the lattice noise for a smooth law that is private at ``sensitivity``.

    Stretched to whole steps, and one more than Δ, and rounded.
    """
    step, moved = lattice_for(sensitivity)
    return Rounded(step, noise.scaled(moved * step / sensitivity))


def staircase_on_lattice(noise: Staircase, sensitivity: Fraction) -> DiscreteStaircase:
    """Return the lattice noise for a staircase that is private at ``sensitivity``.

    Stretched to whole steps, and one more than Δ, its periods end on lattice points. There the
    density does not fall, and where it falls is moved to the nearest end of a cell: then every cell
    is level, and rounding gives weight 1 to the first points of a period and b to the others. The
    cell at 0 keeps the height that it has; so a fall nearer to 0 than half a step leaves a point
    that stands out. γ = 0 and γ = 1 are the same law.
    """
    step, moved = lattice_for(sensitivity)
    period = ceil(noise.period / sensitivity * moved)
    edge = min(max(1, floor((noise.gamma or 1) * period + 1)), period)
    high, low = noise.ratio.denominator, noise.ratio.numerator
    runs = [Run(0, edge, high), Run(edge, period - edge, low)]
    return DiscreteStaircase(step, noise.ratio, tuple(run for run in runs if run.points))


def lattice_law(noise: Noise, problem: Problem) -> LatticeNoise:
    """Return the lattice noise that is drawn for a noise on the line; others are drawn as such."""
    if isinstance(noise, Uniform):
        return on_lattice(noise, problem.privacy, problem.sensitivity)
    if isinstance(noise, Staircase):
        return staircase_on_lattice(noise, problem.sensitivity)
    if isinstance(noise, Smooth):
        return smooth_on_lattice(noise, problem.sensitivity)
    if isinstance(noise, Steps):
        return stretched(noise, problem.sensitivity)
    assert isinstance(noise, LatticeNoise)  # noqa: S101 -- tells mypy that these are all there are
    return noise
