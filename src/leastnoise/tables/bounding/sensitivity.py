"""Sensitivities of counts, sums and ranks, from declared bounds and never from data.

A unit counts with at most c rows in a group, because the query bounds contributions (bounding.py).
So a unit adds a number in [0, c] to a count. To a sum of indices in [low, high] it adds a number in
[c·min(low, 0), c·max(high, 0)]. If a unit is added or removed, an answer changes by at most the end
of that range that is farther from 0. If a unit is replaced, it changes by at most the length of the
range. Both changes can occur.

A row without a value has index 0 in a sum, even if 0 is outside [low, high]. Since 0 lies in
[min(low, 0), max(high, 0)], the range above includes such rows. If a row is a unit, this holds for
each row. Otherwise it holds because a unit's sum is clipped to the range.
"""

from dataclasses import dataclass

ADD_REMOVE, REPLACE = "add_remove", "replace"


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution bounds of one unit.

    Attributes:
        rows: Maximum rows per unit per group, c.
        neighbors: ``"add_remove"`` if neighboring datasets add or remove a unit; ``"replace"`` if
            they replace a unit by another one with any rows, or none.
        groups: Maximum groups per unit.
        grouped: Whether the answer is by group.
    """

    rows: int
    neighbors: str
    groups: int
    grouped: bool

    @property
    def touched(self) -> int:
        """How many groups one unit can change; a replaced unit leaves some and enters others."""
        if not self.grouped:
            return 1
        return 2 * self.groups if self.neighbors == REPLACE else self.groups

    @property
    def count(self) -> int:
        """The sensitivity of a count."""
        return self.rows

    def sum(self, low: int, high: int) -> int:
        """Return the sensitivity of a sum of indices that are 0 or from ``low`` to ``high``."""
        if self.neighbors == ADD_REMOVE:
            return self.rows * max(abs(low), abs(high))
        return self.rows * (max(high, 0) - min(low, 0))

    def rank(self, part: int, whole: int) -> int:
        """Return the sensitivity of whole·below − part·total, where 0 ≤ part ≤ whole.

        ``below`` counts some of the rows that ``total`` counts. Each of them adds whole − part,
        and any other row adds −part. So this is a sum of indices from −part to whole − part. Its
        sign shows on which side the quantile part/whole lies.
        """
        return self.sum(-part, whole - part)
