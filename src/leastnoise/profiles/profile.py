"""The privacy profile δ(ε) of a noise, exactly, over every move of the true answer up to Δ."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, Number, described, exponential, positive, rational
from leastnoise.noise import Noise
from leastnoise.profiles.shape import Shape, shape_of


@dataclass(frozen=True, init=False)
class Profile:
    """How private a noise is at sensitivity Δ: δ(ε) = sup over |d| ≤ Δ of H_ε(P, P + d).

    H_ε(P, Q) = sup over S of P(S) − e^ε·Q(S). Exact for piecewise constant noise: at ε = 0 a
    rational, else an enclosure whose upper end counts.

    >>> from leastnoise import Uniform
    >>> Profile(Uniform(5), sensitivity=1).delta(0)
    Fraction(1, 10)
    """

    noise: Noise
    sensitivity: Fraction

    def __init__(self, noise: Noise, *, sensitivity: Number) -> None:
        """Keep the noise; nothing is computed yet."""
        if not isinstance(noise, Noise):
            raise InvalidParameter(
                f"a profile is of a noise; got {described(noise)}. Give for instance Uniform(5)."
            )
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))

    def delta(self, epsilon: Number = 0) -> Fraction:
        """Return δ(ε): exact at ε = 0, else a proved upper bound within 2⁻⁶⁰ or so."""
        return self.enclose(epsilon).upper

    def enclose(self, epsilon: Number = 0) -> Interval:
        """Enclose δ(ε)."""
        exact = rational(epsilon, "ε")
        if exact < 0:
            raise InvalidParameter(f"ε must be 0 or more; got {described(epsilon)}. Give one.")
        factor = exponential(exact)  # H falls as e^ε grows, so its lower end gives the upper one
        upper = self.at_factor(factor.lower)
        return Interval(upper if factor.is_exact else self.at_factor(factor.upper), upper)

    def at_factor(self, factor: Fraction) -> Fraction:
        """Return δ with e^ε replaced by a rational factor ≥ 0, exactly."""
        return self.worst(factor)[0]

    def worst(self, factor: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
        """Return δ at a factor e^ε ≥ 0 and the move that reaches it (nearly, where atoms meet)."""
        exact = rational(factor, "a factor")
        if exact < 0:
            raise InvalidParameter(
                f"a factor must be at least 0; got {described(factor)}. Give e^ε as a rational."
            )
        excess, move, sign = self._largest_excess(exact)
        shape = self._shapes[1]
        return shape.atoms + excess, sign * move * shape.unit

    @property
    def advantage(self) -> Fraction:
        """δ(0): how far from blind guessing the best attacker gets."""
        return self.at_factor(Fraction(1))

    def tradeoff(self, fpr: Number) -> Fraction:
        """Return a false negative rate that no attacker with this false positive rate undercuts.

        The best bound that the profile gives: sup over e^ε ≥ 0 of 1 − δ(ε) − e^ε·fpr, exactly
        (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 2.12).
        """
        rate = rational(fpr, "a false positive rate")
        if not 0 <= rate <= 1:
            raise InvalidParameter(
                f"a false positive rate must lie between 0 and 1; got {described(fpr)}. "
                "Give a probability."
            )

        kinks = [Fraction(0), *self._shapes[1].ratios]

        def value(i: int) -> Fraction:
            return 1 - self.at_factor(kinks[i]) - kinks[i] * rate

        best = _peak(len(kinks), value)
        spans = [(kinks[i], kinks[i + 1]) for i in (best - 1, best) if 0 <= i < len(kinks) - 1]
        return max([value(best), *(self._peak_between(a, b, rate) for a, b in spans)])

    def _peak_between(self, low: Fraction, high: Fraction, rate: Fraction) -> Fraction:
        """Return the largest 1 − δ − e^ε·rate between two kinks, where every move gives a line.

        The least of these lines is concave; its peak is found by crossing the line that rises with
        the one that falls and taking in the line that is least there, until none is less.
        """

        def least(factor: Fraction) -> tuple[Fraction, Fraction]:
            """Return the value at a factor and the slope of a line that passes through it."""
            excess, move, sign = self._largest_excess(factor)
            shape = self._shapes[sign]
            rise = (shape.excess(move, high) - shape.excess(move, low)) / (high - low)
            return 1 - shape.atoms - excess - factor * rate, -rise - rate

        (left, up), (right, down) = least(low), least(high)
        if up <= 0 or down >= 0:
            return left if up <= 0 else right
        at_left, at_right = low, high
        while True:
            factor = (right - left + up * at_left - down * at_right) / (up - down)
            value, slope = least(factor)
            if slope == 0 or value == left + up * (factor - at_left):
                return value
            if slope > 0:
                left, up, at_left = value, slope, factor
            else:
                right, down, at_right = value, slope, factor

    def _largest_excess(self, factor: Fraction) -> tuple[Fraction, int, int]:
        """Return the largest excess over all moves, that move in units, and its direction."""
        return max(
            (shape.excess(move, factor), move, sign)
            for sign, shape in self._shapes.items()
            for move in shape.moves
        )

    @cached_property
    def _shapes(self) -> dict[int, Shape]:
        """The noise for moves to the right; for moves to the left too where they differ."""
        shape = shape_of(self.noise, self.sensitivity)
        mirrored = shape.mirrored()
        return {1: shape} if mirrored == shape else {1: shape, -1: mirrored}


def _peak(count: int, value: Callable[[int], Fraction]) -> int:
    """Return where a concave sequence is largest, by halving."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if value(middle) < value(middle + 1):
            low = middle + 1
        else:
            high = middle
    return low
