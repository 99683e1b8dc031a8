"""Sensitivities: how much one unit can change an answer, from what is declared, never from data.

At most c rows of a unit count in a group: the query bounds the rest (bounding.py). So what a unit
adds to a count lies in [0, c], and what it adds to a sum of indices in [low, high] lies in
[c·min(low, 0), c·max(high, 0)]. A unit that is added or removed changes an answer by at most the
end of that range that is farther from 0; a unit that is replaced, by at most its length. Both can
be reached.

A row without a value has index 0 in a sum, even if 0 is outside [low, high]. It lies in
[min(low, 0), max(high, 0)], so the range above holds with such rows: where a row is a unit, of each
row by itself; else because a unit's sum is clipped to the range.
"""

from dataclasses import dataclass

ADD_REMOVE, REPLACE = "add_remove", "replace"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one unit can contribute.

    Attributes:
        rows: c, how many of its rows count in each group.
        neighbors: ``"add_remove"``: a unit is added or removed; ``"replace"``: it is replaced by
            another one with any rows, or none.
        groups: In how many groups a unit counts at most.
        grouped: Whether the answer has groups at all.
    """

    rows: int
    neighbors: str
    groups: int
    grouped: bool

    @property
    def touched(self) -> int:
        """How many groups can change at once: a replaced unit leaves some and enters others."""
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

        Below counts some rows of total.
        A row below adds whole − part, any other row −part: this is a sum of indices from −part to
        whole − part. Its sign says on which side the quantile part/whole lies.
        """
        return self.sum(-part, whole - part)
