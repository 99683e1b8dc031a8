"""How private a staircase is: exactly, from the finitely many likelihood ratios it has."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.profile.curve import Curve, Level
from leastnoise.errors import InvalidParameter

_BITS = 128
# Over more periods the exact powers of the ratio grow too long.
_MOST_PERIODS = 128


@dataclass(frozen=True)
class StaircaseCurve(Curve):
    """The ratios p(x)/p(x − d) at the longest shift d, with the probability of each.

    ``higher`` holds those above 1. The mirror image x → d − x exchanges the two neighbors, so a
    ratio L of probability m comes with a ratio 1/L of probability m/L; the rest has ratio 1.
    """

    move: Fraction
    higher: dict[Fraction, Fraction]

    @classmethod
    def of(cls, move: Fraction, ratios: Iterable[tuple[Fraction, Fraction]]) -> "StaircaseCurve":
        """Add up the probabilities of each ratio above 1."""
        higher: dict[Fraction, Fraction] = {}
        for ratio, mass in ratios:
            if ratio > 1 and mass:
                higher[ratio] = higher.get(ratio, Fraction(0)) + mass
        return cls(move, higher)

    @cached_property
    def masses(self) -> dict[Fraction, Fraction]:
        """All ratios, with the probability of each."""
        lower = {1 / ratio: mass / ratio for ratio, mass in self.higher.items()}
        both = {**self.higher, **lower}
        return {**both, Fraction(1): 1 - sum(both.values(), Fraction(0))}

    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Return δ at e^ε, exactly where that is rational, and the longest shift."""
        factor = level.factor(_BITS)
        return Interval(self._excess(factor.upper), self._excess(factor.lower)), self.move

    def _excess(self, factor: Fraction) -> Fraction:
        """Return the sum of (1 − factor/ratio)₊ over the probabilities."""
        parts = (mass * (1 - factor / ratio) for ratio, mass in self.masses.items())
        return sum((part for part in parts if part > 0), Fraction(0))


def check_periods(move: Fraction, period: Fraction) -> None:
    """Reject a shift over more periods than exact powers of the ratio are computed for."""
    if move > _MOST_PERIODS * period:
        raise InvalidParameter(
            f"the profile of a staircase is for moves of up to {_MOST_PERIODS} of its periods",
            got=f"a sensitivity of {format_exact(move / period)} of them",
            fix="Give a staircase of a longer period, for instance what calibrate finds.",
        )
