"""Turn a solver's floats into noise that satisfies the guarantee exactly.

The floats are rounded to integer weights. If their H exceeds δ by a little, noise whose H is well
below δ is mixed in. H is convex, so (1−λ)·P + λ·Q satisfies δ if (1−λ)·H(P) + λ·H(Q) ≤ δ. The exact
profile of the result decides.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, zip_longest
from math import ceil, log2

from leastnoise.accounting import Profile
from leastnoise.certificate import Frame
from leastnoise.core.exact import exponential
from leastnoise.core.noise import DiscreteSteps, Noise, Run, Steps
from leastnoise.core.privacy import Privacy

# The rounding of all weights together is this part of δ. Mixing is in parts of 2^-40.
_ROUNDING_BITS = 36
_PARTS = 1 << 40


@dataclass(frozen=True, slots=True)
class Weights:
    """Integer weights of the points of a frame by side, and of the mass at 0."""

    frame: Frame
    sides: tuple[int, ...]
    atom: int

    @property
    def total(self) -> int:
        """The sum of all weights: each side counts twice, except a point at 0."""
        twice = 2 * sum(self.sides)
        return twice + self.atom - (0 if self.frame.edged else self.sides[0])

    def noise(self, sensitivity: Fraction) -> Noise:
        """Return the noise: on the integers, or constant on the cells around the points."""
        mirrored = [*reversed(self.sides), *self.sides[1 - self.frame.edged :]]
        first = -len(self.sides) + 1 - self.frame.edged
        levels = [(w, len(list(g))) for w, g in groupby(mirrored)]
        if self.frame.rule == "points":
            runs, at = [], first
            for weight, points in levels:
                runs += [Run(at, points, weight)] if weight else []
                at += points
            return DiscreteSteps(Fraction(1), tuple(runs))
        step = sensitivity / self.frame.cells
        breaks = [(first - Fraction(1 - self.frame.edged, 2)) * step]
        for _, points in levels:
            breaks.append(breaks[-1] + points * step)
        heights = [Fraction(weight, self.total) / step for weight, _ in levels]
        if not heights[0]:
            breaks, heights = breaks[1:-1], heights[1:-1]
        return Steps(breaks, heights, {0: Fraction(self.atom, self.total)} if self.atom else {})

    def mix(self, other: "Weights", parts: int) -> "Weights":
        """Return the mixture with ``parts`` of 2⁻⁴⁰ of other weights on the same lattice."""
        mine, theirs = (_PARTS - parts) * other.total, parts * self.total
        pairs = zip_longest(self.sides, other.sides, fillvalue=0)
        sides = tuple(mine * a + theirs * b for a, b in pairs)
        frame = Frame(self.frame.rule, self.frame.cells, len(sides) - 1)
        return Weights(frame, sides, mine * self.atom + theirs * other.atom)


def repair(
    frame: Frame,
    masses: list[float],
    atom: float,
    privacy: Privacy,
    sensitivity: Fraction,
    *,
    decreasing: bool,
) -> Noise:
    """Return noise that satisfies the guarantee exactly, close to the floats.

    ``decreasing`` makes it symmetric unimodal: rises within the solver's tolerance are cut off.
    """
    bits = _ROUNDING_BITS + ceil(log2(frame.points)) + ceil(log2(1 / privacy.delta))
    unit = 1 << bits
    sides = [max(0, round(Fraction(mass) * unit)) for mass in masses]
    if decreasing:
        sides = [*accumulate(sides, min)]
    proposed = Weights(frame, tuple(sides), int(atom * unit))
    noise, excess = _measure(proposed, privacy, sensitivity)
    if excess <= 0:
        return noise
    safe = blocks(frame, privacy.epsilon, privacy.delta / 2)
    parts = ceil(excess / (excess + privacy.delta / 2) * _PARTS) + 1
    while excess > 0:
        noise, excess = _measure(proposed.mix(safe, min(parts, _PARTS)), privacy, sensitivity)
        parts *= 2
    return noise


def blocks(frame: Frame, epsilon: Fraction, delta: Fraction) -> Weights:
    """Return noise in steps of width Δ that satisfies (ε, δ): geometric, cut where δ allows it.

    Each block weighs at least e^−ε of the one before, so only the last one falls short, by its
    own mass. On a finer lattice it is the same noise, rounded.
    """
    factor = exponential(epsilon).lower
    heights = [1 << 96 + delta.denominator.bit_length()]
    while True:
        total = 2 * sum(heights) - heights[0]
        if heights[-1] <= delta * total:
            break
        heights.append(-(-heights[-1] * factor.denominator // factor.numerator))
    cells, doubled = frame.cells, []
    # In half cells: block k covers (2k−1)·cells … (2k+1)·cells half cells from the middle.
    count = (2 * len(heights) - 1) * cells
    for side in range(ceil(count / 2) + 1):
        start = 2 * side - 1 + frame.edged
        halves = [max(start, 0), start + 1]
        inside = [heights[(half + cells) // (2 * cells)] for half in halves if half < count]
        doubled.append(sum(inside))
    while not doubled[-1]:
        doubled.pop()
    return Weights(Frame(frame.rule, cells, len(doubled) - 1), tuple(doubled), 0)


def _measure(weights: Weights, privacy: Privacy, sensitivity: Fraction) -> tuple[Noise, Fraction]:
    noise = weights.noise(sensitivity)
    factor = exponential(privacy.epsilon).lower
    return noise, Profile(noise, sensitivity=sensitivity).at_factor(factor) - privacy.delta
