"""What a profile is read from: one curve for each kind of noise."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import Interval, exponential, logarithm
from leastnoise.errors import Unsupported

# Enclosures are to be narrower than 2^-70 of their value; so many binary digits are tried for it.
_NARROW = 70
# Probabilities that are smaller are only said to be.
_NEGLIGIBLE = Fraction(1, 1 << 200_000)


@dataclass(frozen=True)
class Level:
    """A number e^ε, known by ε ≥ 0 or by itself: both enclosed to as many digits as asked."""

    factor: Callable[[int], Interval]
    epsilon: Callable[[int], Interval]

    @classmethod
    def at(cls, epsilon: Fraction) -> "Level":
        """Return the level of an ε ≥ 0."""
        return cls(lambda bits: exponential(epsilon, bits), lambda _: Interval.exact(epsilon))

    @classmethod
    def of(cls, factor: Fraction) -> "Level":
        """Return the level of a rational e^ε ≥ 0."""
        return cls(lambda _: Interval.exact(factor), lambda bits: logarithm(factor, bits))


class Curve(ABC):
    """How well the best attacker tells two true answers apart that are up to Δ from each other."""

    @abstractmethod
    def worst(self, level: Level) -> tuple[Interval, Fraction]:
        """Enclose δ(ε) and return the move that reaches it (nearly, where atoms meet)."""

    def at_factor(self, factor: Fraction) -> Fraction:
        """Return δ at a rational e^ε, from above."""
        return self.worst(Level.of(factor))[0].upper


def refine(enclosed: Callable[[int], Interval]) -> Interval:
    """Enclose a number ≥ 0 with ever more binary digits until it is known to 70 of its own.

    Near 1 to 70 of those by which it differs from 1, where the digits suffice for that. What is
    proved to be below 2^−200000 is only said to lie between 0 and that.

    Raises:
        Unsupported: If the digits do not suffice to tell it from 0.
    """
    bits = _FEWEST_BITS
    while bits <= _MOST_BITS:
        found = enclosed(bits)
        found = Interval(max(Fraction(0), found.lower), max(Fraction(0), found.upper))
        if found.upper <= _NEGLIGIBLE:
            return found.shortened(_FEWEST_BITS)
        left = Interval.exact(1) - found
        if found.is_narrow(_NARROW) and (left.is_narrow(_NARROW) or bits == _MOST_BITS):
            near = int(1 / left.lower).bit_length() if left.lower > 0 else 0
            return found.shortened(bits + near)
        bits *= 2
    raise Unsupported(
        f"a profile is computed with at most {_MOST_BITS} binary digits",
        got="a noise and a move that need more to be told from perfect privacy",
        fix="Give a longer move or less noise.",
    )


_FEWEST_BITS, _MOST_BITS = 128, 1 << 14
