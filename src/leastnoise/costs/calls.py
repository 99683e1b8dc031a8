"""What a function is at evenly spaced sizes, and its sums: each size is called once."""

import math
from array import array
from collections.abc import Callable
from fractions import Fraction
from threading import Lock
from weakref import WeakKeyDictionary

# Cells are a power of two wide: at least so many of them, and less than twice as many.
CELLS = 1 << 14

Called = Callable[[list[float]], list[float]]


class Calls:
    """L at 0, w, 2w, … as far as was asked, and bounds of its sums from the left.

    Sizes of one octave have the same w, so noise of a thousand steps calls a function not much
    oftener than noise of one. No size beyond those asked for is called.
    """

    def __init__(self, width: float) -> None:
        """Begin with nothing called."""
        self.width = width
        self.values = array("d")
        self._lock = Lock()
        self._lower, self._upper = array("d", [0.0]), array("d", [0.0])

    def left(self, cells: int) -> tuple[Fraction, Fraction]:
        """Return a lower bound of L(0) + … + L((cells−1)·w), and an upper one."""
        return Fraction(self._lower[cells]), Fraction(self._upper[cells])

    def extend(self, called: Called, cells: int) -> bool:
        """Call L up to ``cells``·w; tell whether the sums stay within the floats."""
        known = len(self.values)
        if known <= cells:
            fresh = called([self.width * i for i in range(known, cells + 1)])
            with self._lock:  # another thread may have called some of them meanwhile
                for value in fresh[len(self.values) - known :]:
                    self._add(value)
        return math.isfinite(self._lower[cells + 1]) and math.isfinite(self._upper[cells + 1])

    def _add(self, value: float) -> None:
        """Add a value to the sums: two floats are rounded once, so one step outward bounds it."""
        self._lower.append(math.nextafter(self._lower[-1] + value, -math.inf))
        self._upper.append(math.nextafter(self._upper[-1] + value, math.inf))
        self.values.append(value)


_KNOWN: WeakKeyDictionary[object, dict[float, Calls]] = WeakKeyDictionary()


def calls_of(cost: object, size: float) -> Calls:
    """Return what is known of a cost on the cells for a size; a new table if it cannot be kept."""
    width = math.ldexp(1.0, math.frexp(size)[1] - CELLS.bit_length())
    try:
        tables = _KNOWN.setdefault(cost, {})
    except TypeError:  # a function that has no hash
        return Calls(width)
    return tables.setdefault(width, Calls(width))
