"""The error of a ratio of two noisy numbers with joint noise, from their joint distribution.

As in :mod:`leastnoise.tables.ratio`, h(m) must satisfy |Y − m·X| ≤ h(m) with probability at least
1 − α, now for X and Y of one joint noise. Given the box, X and Y are independent and uniform: X on
the integers from −a to a, Y on the steps from −c to c. So the probability is a sum over the boxes.
"""

import math
from fractions import Fraction

from leastnoise.core.exact import as_float
from leastnoise.core.noise import JointNoise
from leastnoise.mechanism import JointPart, Mechanism
from leastnoise.tables.ratio import ErrorQuantile

# Boxes beyond the last one have at most this part (1/256) of the probability α.
_REST = 256
# From this many boxes on they are grouped, into about as many groups.
_MOST = 96
# The relative accuracy of a quantile, and the halvings of the search for it.
_ACCURACY = Fraction(1, 1 << 12)
_HALVINGS = 14


def make_error_quantile(
    rows: Mechanism, total: Mechanism, level: Fraction
) -> "ErrorQuantile | JointErrorQuantile":
    """Return the error of a ratio by the distribution of both errors: joint, or independent."""
    if isinstance(rows, JointPart) and isinstance(total, JointPart) and rows.owner is total.owner:
        return JointErrorQuantile(rows.owner.noise, rows.place, total.place, level)
    return ErrorQuantile(rows.discretized.noise, total.discretized.noise, level)


class JointErrorQuantile:
    """An upper bound of the quantile of |Y − m·X| at one level, for all slopes m.

    *Proof of the bounds.* Let t = |m·x|/g for a given |X| = x, where g is the step of Y. Of the
    2c + 1 points of Y, those within j/2 steps of t are at least min(j, 2c + 1, c + j/2 − t), or 0:
    an interval of length j contains j integers, and one from l to the integer c at least c − l.
    This falls as t grows. So the bound for |m| = slope holds for smaller |m| too. The sum over x is
    that of an arithmetic series.

    Where boxes are grouped, X is a rounded uniform variable U on ±(a + ½), and Y one V on ±(c + ½),
    so |gY − m·X| ≤ |gV − m·U| + (g + |m|)/2. The probability that |gV − m·U| ≤ t has a closed form.
    It falls as a, c or |m| grows, because a symmetric unimodal variable is within ±t of an
    independent symmetric one less often if either is stretched. So all boxes of a group may be
    replaced by the largest. ∎
    """

    def __init__(self, joint: JointNoise, rows: int, total: int, level: Fraction) -> None:
        """Take joint noise, the places of X and Y among its numbers, and a level below 1."""
        self._level = level
        self._row_step, self._step = joint.steps[rows], joint.steps[total]
        groups = joint.mixture((1 - level) / _REST, _MOST)
        self._grouped = groups[-1][0] >= len(groups)
        # For each group its probability, and the half-widths of its largest box.
        self._boxes = [
            (mass, joint.half_width(rows, last), joint.half_width(total, last))
            for last, mass in groups
        ]
        self._known: dict[Fraction, Fraction] = {}

    def at(self, slope: Fraction) -> Fraction:
        """Return h such that P(|Y − m·X| ≤ h) is at least the level, for all |m| ≤ ``slope``."""
        if slope not in self._known:
            self._known[slope] = self._find(slope) * self._step / 2
        return self._known[slope]

    def _find(self, slope: Fraction) -> int:
        """Return the j of h = j·g/2, close to the smallest that suffices.

        Floats propose it; the sum of exact lower bounds decides.
        """
        shift = 2 * slope * self._row_step / self._step
        rough = [(as_float(mass), a, c) for mass, a, c in self._boxes]
        level, turn = as_float(self._level), as_float(shift)
        largest = max(c + math.ceil(shift * a) for _, a, c in self._boxes) * 2 + 2

        def estimate(points: int) -> float:
            return sum(mass * self._bound(points, a, c, turn) for mass, a, c in rough)

        low, high = 0, largest
        for _ in range(largest.bit_length() + _HALVINGS):
            if high - low <= 1 + high * _ACCURACY:
                break
            middle = (low + high) // 2
            low, high = (low, middle) if estimate(middle) >= level else (middle, high)
        while not self._suffices(high, shift):
            high += 1 + int(high * _ACCURACY)
        return high

    def _suffices(self, points: int, shift: Fraction) -> bool:
        parts = (mass * self._bound(points, a, c, shift) for mass, a, c in self._boxes)
        return sum(parts, Fraction(0)) >= self._level

    def _bound(self, points: int, a: int, c: int, shift: "Fraction | float") -> "Fraction | float":
        """Return a lower bound of P(|Y − m·X| ≤ points·g/2) for one box, or for a group.

        ``shift`` is 2|m|/g per row: exact, or a float for a proposal.
        """
        if self._grouped:
            return _within(points - 1 - shift / 2, shift * (a + Fraction(1, 2)), 2 * c + 1)
        most = min(points, 2 * c + 1)
        # Twice the number of points of Y for |X| = x is at least 2c + points − x·shift.
        whole = 2 * c + points
        if not shift:
            full = last = a
        else:
            full = min(a, max(-1, math.floor((whole - 2 * most) / shift)))
            last = min(a, math.floor(whole / shift))
        counted: Fraction | float = Fraction(most * (1 + 2 * full)) if full >= 0 else Fraction(0)
        if last > full:
            # The rest of the series; x = 0 counts once.
            first = max(full + 1, 1)
            terms = last - first + 1
            counted += terms * whole - shift * (last * (last + 1) - (first - 1) * first) / 2
            if full < 0:
                counted += Fraction(whole, 2)
        return counted / ((2 * a + 1) * (2 * c + 1))


def _within(reach: "Fraction | float", one: "Fraction | float", other: int) -> "Fraction | float":
    """Return P(|V − W| ≤ reach) for V and W uniform on ±one and ±other, independent."""
    big, small = max(one, other), min(one, other)
    if reach <= 0:
        return 0
    if reach <= big - small:
        return reach / big
    if reach >= big + small:
        return 1
    return 1 - (big + small - reach) ** 2 / (4 * big * small)
