"""``RoundBins``: bins between the round numbers ±1, ±2, ±5, ±10, ±20, …, and 0.

They are fine near 0 and coarse far from it, so a few hundred bins cover all numbers within a factor
of 2.5. A round number belongs to the bin on the side of 0. So values from 1 to 100, both included,
lie in the bins up to 100. 0 has a bin of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

# The exponents of 10 of round numbers: that of the smallest, and that of the largest below 2⁵³.
_SMALLEST, _LARGEST = -9, 15


@dataclass(frozen=True, slots=True)
class RoundBins:
    """The bins between two ends.

    Attributes:
        bins: The lower and the upper edge of each bin, in order. 0 alone is a bin from 0 to 0.
    """

    bins: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def between(cls, ends: tuple[Fraction, Fraction], *, whole: bool) -> "RoundBins":
        """Return the bins between two ends; for integers, without fractions as edges.

        >>> [f"{low}..{high}" for low, high in
        ...     RoundBins.between((Fraction(-2), Fraction(12)), whole=True).bins]
        ['-2..-1', '-1..0', '0..0', '0..1', '1..2', '2..5', '5..10', '10..12']
        """
        low, high = ends
        sizes = [
            digit * Fraction(10) ** power
            for power in range(0 if whole else _SMALLEST, _LARGEST + 1)
            for digit in (1, 2, 5)
        ]
        inner = {Fraction(0), *sizes, *(-size for size in sizes)}
        edges = [low, *sorted(edge for edge in inner if low < edge < high), high]
        bins: list[tuple[Fraction, Fraction]] = [(low, low)] if low == 0 else []
        for start, end in pairwise(edges):
            bins.append((start, end))
            if end == 0:
                bins.append((end, end))
        return cls(tuple(bins))

    @property
    def count(self) -> int:
        """The number of bins."""
        return len(self.bins)

    def place(self, compare: Callable[[str, Fraction], Any]) -> Any:
        """Return the bin of every row, by comparisons with about log₂(count) of the edges.

        Args:
            compare: Returns whether the values of rows are ">" or ">=" a number. Values outside the
                ends are in the first or the last bin.
        """
        starts = [self._enter(place) for place in range(1, self.count)]
        return _search(starts, 0, compare)

    def _enter(self, place: int) -> tuple[str, Fraction]:
        """Return the comparison that holds from a bin on: ">" if it excludes its lower edge."""
        low, high = self.bins[place]
        return (">" if low >= 0 and high > low else ">="), low


def _search(
    starts: Sequence[tuple[str, Fraction]], first: int, compare: Callable[[str, Fraction], Any]
) -> Any:
    """Return the number of the bin among ``first`` and the bins that begin at ``starts``."""
    import ibis

    if not starts:
        return ibis.literal(first, "int64")
    half = len(starts) // 2
    return ibis.cases(
        (compare(*starts[half]), _search(starts[half + 1 :], first + half + 1, compare)),
        else_=_search(starts[:half], first, compare),
    )
