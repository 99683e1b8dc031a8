"""How much of a promise a target error takes: floats propose, what is drawn decides."""

import math
from collections.abc import Callable
from fractions import Fraction

from leastnoise.errors import InvalidParameter

# Amounts are looked for to this part of themselves where nothing else is said, by at most so many
# doublings of a step.
_FINE = 1.002
_DOUBLINGS = 12


class TooLittle(InvalidParameter):
    """The targets need more than there is."""

    def __init__(self, message: str, needs: Fraction | None = None) -> None:
        """Keep the total ε that would do, where one would."""
        super().__init__(message)
        self.needs = needs


def smallest(enough: Callable[[float], bool], guess: float, fine: float = _FINE) -> float:
    """Return about the smallest amount that is enough, from a guess: never less than that.

    Raises:
        TooLittle: If nothing near the guess is enough.
    """

    def at(place: int) -> float:
        return guess * fine**place

    step, good, bad = 1, None, None
    place = 0
    for _ in range(_DOUBLINGS):
        if enough(at(place)):
            good = place
            if bad is not None:
                break
            place -= step
        else:
            bad = place
            if good is not None:
                break
            place += step
        step *= 2
    if good is None:
        raise TooLittle("a target is far beyond what its noise can reach")
    while bad is not None and good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if enough(at(middle)) else (good, middle)
    return at(good)


def crossing(width: Callable[[float], float], wanted: float, most: float) -> float:
    """Return about the amount up to ``most`` at which a width that falls is as wanted."""
    low, high = most * 1e-12, most
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if width(middle) > wanted else (low, middle)
    return high
