"""The interface of privacy curves, and their enclosure to a given accuracy."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from leastnoise.core.exact import Interval, exponential, logarithm
from leastnoise.errors import Unsupported

_FEWEST_BITS, _MOST_BITS = 128, 1 << 14
# Enclosures are narrower than 2^-70 of their value.
_NARROW = 70
# A smaller probability is only enclosed between 0 and this.
_NEGLIGIBLE = Fraction(1, 1 << 200_000)


@dataclass(frozen=True)
class Level:
    """A factor e^ε, given by ε ≥ 0 or as a rational; both numbers are enclosed to any accuracy."""

    factor: Callable[[int], Interval]
    epsilon: Callable[[int], Interval]

    @classmethod
    def at(cls, epsilon: Fraction) -> "Level":
        """Return the level of an ε ≥ 0."""
        factor = cache(lambda bits: exponential(epsilon, bits))
        return cls(factor, lambda _: Interval.exact(epsilon))

    @classmethod
    def of(cls, factor: Fraction) -> "Level":
        """Return the level of a rational e^ε ≥ 0."""
        return cls(lambda _: Interval.exact(factor), lambda bits: logarithm(factor, bits))


class Curve(ABC):
    """δ as a function of ε: how well the best attacker distinguishes true answers up to Δ apart."""

    @abstractmethod
    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Enclose δ(ε) and return the shift that reaches it (nearly, where atoms meet)."""

    def at_factor(self, factor: Fraction) -> Fraction:
        """Return an upper bound of δ at a rational e^ε."""
        return self.worst(Level.of(factor))[0].upper

    def delta_above(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return an upper bound of δ(ε) and the shift that reaches it.

        e^ε is replaced by a rational just below it, which can only make δ larger.
        """
        reached, shift = self.worst(Level.of(exponential(epsilon).lower))
        return reached.upper, shift


def refine(enclose: Callable[[int], Interval]) -> Interval:
    """Enclose a number ≥ 0 with more and more binary digits until 70 significant ones are known.

    Near 1 the refinement continues until 70 digits of the distance from 1 are known, up to the
    largest precision. A number proved to be below 2^−200000 is only enclosed between 0 and that.

    Raises:
        Unsupported: If the largest precision does not distinguish the number from 0.
    """
    bits = _FEWEST_BITS
    while bits <= _MOST_BITS:
        raw = enclose(bits)
        number = Interval(max(Fraction(0), raw.lower), max(Fraction(0), raw.upper))
        if number.upper <= _NEGLIGIBLE:
            return number.shortened(_FEWEST_BITS)
        left = Interval.exact(1) - number
        if number.is_narrow(_NARROW) and (left.is_narrow(_NARROW) or bits == _MOST_BITS):
            near = int(1 / left.lower).bit_length() if left.lower > 0 else 0
            return number.shortened(bits + near)
        bits *= 2
    raise Unsupported(
        f"The profile of this noise needs more than {_MOST_BITS} binary digits to differ from "
        "perfect privacy",
        fix="Use a larger sensitivity or less noise.",
    )
