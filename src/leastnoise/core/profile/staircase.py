"""How private a staircase is: exactly, from the finitely many likelihood ratios it has."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.noise import DiscreteStaircase, Staircase
from leastnoise.core.profile.curve import Curve, Level
from leastnoise.errors import InvalidParameter

_BITS = 128
# Over more periods the exact powers of the ratio grow too long.
_MOST_PERIODS = 128


@dataclass(frozen=True)
class StaircaseCurve(Curve):
    """The ratios p(x)/p(x − d) at the longest move d, with the probability of each.

    ``higher`` holds those above 1. The mirror image x → d − x exchanges the two neighbours, so a
    ratio L of probability m comes with a ratio 1/L of probability m/L; what is left has ratio 1.
    """

    move: Fraction
    higher: dict[Fraction, Fraction]

    @cached_property
    def masses(self) -> dict[Fraction, Fraction]:
        """All ratios, with the probability of each."""
        lower = {1 / ratio: mass / ratio for ratio, mass in self.higher.items()}
        both = {**self.higher, **lower}
        return {**both, Fraction(1): 1 - sum(both.values(), Fraction(0))}

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the longest move."""
        factor = level.factor(_BITS)
        return Interval(self._excess(factor.upper), self._excess(factor.lower)), self.move

    def _excess(self, factor: Fraction) -> Fraction:
        """Return the sum of (1 − factor/ratio)₊ over the probabilities."""
        parts = (mass * (1 - factor / ratio) for ratio, mass in self.masses.items())
        return sum((part for part in parts if part > 0), Fraction(0))


def line_ratios(noise: Staircase, sensitivity: Fraction) -> StaircaseCurve:
    """Return the ratios of a staircase on the line at the longest move.

    The density is a·bⁿ after n falls, and these are at (n + γ)Δ: between two places where a fall of
    p or of p moved lies, the ratio is one power of 1/b.
    """
    period, move = noise.period, sensitivity
    _refuse_long(move, period)

    def falls(size: Fraction) -> int:
        return (size / period - noise.gamma).__floor__() + 1

    def pieces(
        breaks: set[Fraction], end: Fraction, other: Callable[[Fraction], Fraction]
    ) -> Iterable[tuple[Fraction, Fraction]]:
        cuts = sorted({Fraction(0), end, *(x for x in breaks if 0 < x < end)})
        for a, b in pairwise(cuts):
            middle = (a + b) / 2
            more = falls(other(middle)) - falls(middle)
            yield noise.ratio**-more, noise.mass(b) - noise.mass(a)

    first = noise.gamma * period
    # On the far side of 0, x = −y, the ratios repeat with the period; what lies in all further
    # periods is b times as much in each.
    beyond = pieces({first, (first - move) % period}, period, lambda y: y + move)
    places = [first + n * period for n in range(ceil(move / period) + 1)]
    between = pieces({*places, *(move - x for x in places)}, move / 2, lambda x: move - x)
    repeated = [(ratio, mass / (1 - noise.ratio)) for ratio, mass in beyond]
    return StaircaseCurve(move, _gathered([*repeated, *between]))


def lattice_ratios(noise: DiscreteStaircase, sensitivity: Fraction) -> StaircaseCurve:
    """Return the ratios of a staircase on a lattice at the longest move by whole steps."""
    period, move = noise.steps, sensitivity // noise.step
    _refuse_long(Fraction(move), Fraction(period))

    def pieces(
        breaks: set[int], first: int, end: int, other: Callable[[int], int]
    ) -> Iterable[tuple[Fraction, Fraction]]:
        for a, b in pairwise(sorted({first, end, *(i for i in breaks if first < i < end)})):
            ratio = Fraction(noise.weight(a)) / noise.weight(other(a))
            yield ratio, noise.mass((b - 1) * noise.step) - noise.mass((a - 1) * noise.step)

    starts = [run.first for run in noise.runs]
    beyond = pieces(
        {*starts, *((s - move) % period for s in starts)}, 0, period, lambda i: i + move
    )
    places = [n * period + s for n in range(move // period + 2) for s in starts]
    # Among the points strictly between 0 and d/2; that at d/2 has ratio 1.
    last = max(1, (move + 1) // 2)
    mirrored = {move - s + 1 for s in places}
    between = pieces({*places, *mirrored}, 1, last, lambda i: move - i)
    repeated = [(ratio, mass / (1 - noise.ratio)) for ratio, mass in beyond]
    return StaircaseCurve(move * noise.step, _gathered([*repeated, *between]))


def _gathered(pieces: Iterable[tuple[Fraction, Fraction]]) -> dict[Fraction, Fraction]:
    """Add up the probabilities of each ratio above 1."""
    found: dict[Fraction, Fraction] = {}
    for ratio, mass in pieces:
        if ratio > 1 and mass:
            found[ratio] = found.get(ratio, Fraction(0)) + mass
    return found


def _refuse_long(move: Fraction, period: Fraction) -> None:
    if move > _MOST_PERIODS * period:
        raise InvalidParameter(
            f"the profile of a staircase is for moves of up to {_MOST_PERIODS} of its periods",
            got=f"a sensitivity of {format_exact(move / period)} of them",
            fix="Give a staircase of a longer period, for instance what calibrate finds.",
        )
