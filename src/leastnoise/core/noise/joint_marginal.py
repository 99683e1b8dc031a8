"""The noise of one number of joint noise, alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from leastnoise.core.exact import (
    exact_power,
    first_index,
    fixed_power,
    format_exact,
    sum_growing,
    sum_of_powers,
)
from leastnoise.core.noise.base import LatticeNoise, no_maximum_error, no_quantile_at_ends
from leastnoise.core.profile import Curve
from leastnoise.errors import InvalidParameter, Unsupported

if TYPE_CHECKING:
    from leastnoise.core.noise.joint import JointStaircase
    from leastnoise.core.sampling import MarginalScheme

# Tails are compared in units of 2⁻¹²⁸, or smaller ones.
_BITS = 128


@dataclass(frozen=True, repr=False)
class JointMarginal(LatticeNoise):
    """The noise of one number of unbounded joint noise: symmetric, unimodal and unbounded.

    Let h(m) = mD + e be the half-width of box m for this number, and R(m) the number of its points
    in all other coordinates. A point at distance j has a weight proportional to Σ bᵐ·R(m) over all
    m with h(m) ≥ j. R never falls, so the weight D steps further out is at least b times as large:
    alone, the noise satisfies (ε, 0) at D steps for e^ε ≥ 1/b, as the joint noise does.

    Args:
        step: The step of the lattice.
        ratio: b.
        shifts: D of all numbers.
        edges: e of all numbers.
        place: Which number it is.
    """

    step: Fraction
    ratio: Fraction
    shifts: tuple[int, ...]
    edges: tuple[int, ...]
    place: int

    stored: ClassVar = {
        "step": "rational",
        "ratio": "rational",
        "shifts": "integers",
        "edges": "integers",
        "place": "integer",
    }
    farthest = radius = math.inf  # the noise is unbounded
    is_unimodal = True

    def __post_init__(self) -> None:
        if not 0 <= self.place < len(self.shifts):
            raise InvalidParameter(
                "The place of a number must be one of those of its joint noise",
                got=f"{self.place} of {len(self.shifts)}",
                fix="Count from 0.",
            )
        self.joint  # noqa: B018 -- it checks the other fields

    def __repr__(self) -> str:
        return (
            f"JointMarginal(step={format_exact(self.step)}, period={format_exact(self.period)}, "
            f"ratio={format_exact(self.ratio)}, numbers={len(self.shifts)})"
        )

    @cached_property
    def joint(self) -> "JointStaircase":
        """Joint noise with this marginal; the steps of the other numbers do not matter."""
        from leastnoise.core.noise.joint import JointStaircase  # which refers to this class

        return JointStaircase((self.step,) * len(self.shifts), self.shifts, self.edges, self.ratio)

    @property
    def period(self) -> Fraction:
        """D, in the unit of ``step``."""
        return self.shifts[self.place] * self.step

    @cached_property
    def scheme(self) -> "MarginalScheme":
        """The number of the box, then a uniform point of this coordinate."""
        from leastnoise.core.sampling import GrowingBoxes, JointScheme, MarginalScheme

        own = slice(self.place, self.place + 1)
        boxes = GrowingBoxes(self.ratio, self.shifts, self.edges)
        return MarginalScheme(JointScheme(boxes, self.shifts[own], self.edges[own]))

    @cached_property
    def total(self) -> int:
        """The sum of all weights."""
        return self._sum(self.joint.count_points, 0)

    def weight(self, index: int) -> Fraction:
        """Return the weight of a point: bⁿ·Σ bᵐ·R(n + m), n the first box that contains it."""
        box = self._first_box(abs(index))
        return exact_power(self.ratio, box) * self._sum(self._count_others, box)

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        index = upto // self.step
        return 1 - self._tail(index) if index >= 0 else self._tail(-index - 1)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the smallest lattice point x with P(X ≤ x) ≥ probability, exactly."""
        if probability in (0, 1):
            raise no_quantile_at_ends(probability)
        if probability <= self._tail(0):
            beyond = self._first_index(lambda j: self._tail(j) < probability)
            return -beyond * self.step
        return self._first_index(lambda j: self._tail(j) <= 1 - probability) * self.step

    def half_width_in_steps(self, confidence: Fraction) -> int:
        """Return the smallest j ≥ 0 for which P(|X| ≤ j·step) ≥ confidence is proved.

        Powers are enclosed so precisely that no smaller j suffices, unless P(|X| > j·step) agrees
        with 1 − confidence to one part in 2¹⁰⁰ or so.
        """
        if confidence >= 1:
            raise no_maximum_error(confidence)
        if confidence not in self._widths:
            allowed = (1 - confidence) / 2
            self._widths[confidence] = self._first_index(lambda j: self._tail_fits(j, allowed))
        return self._widths[confidence]

    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ, exactly.

        Given box m it is 2(1ᵖ + … + hᵖ)/(2h + 1), and the box has 2h + 1 times R(m) points. The
        product is a polynomial in m of degree p more than N.
        """
        degree = len(self.shifts) + p

        def spread(box: int) -> int:
            half = self.joint.half_width(self.place, box)
            return 2 * sum_of_powers(p, half) * self._count_others(box)

        own = sum_growing(self.ratio, spread, degree, 0)
        whole = sum_growing(self.ratio, self.joint.count_points, degree, 0)
        return self.step**p * Fraction(own, whole)

    def variance(self) -> Fraction:
        """Return E X², exactly."""
        return self.moment(2)

    def curve(self, sensitivity: Fraction) -> Curve:
        """Reject: the guarantee of joint noise is proved for all of its numbers together."""
        raise Unsupported(
            "The privacy curve of one number of joint noise is not known",
            got=f"sensitivity {format_exact(sensitivity)}",
            fix="Use the guarantee of the joint noise.",
        )

    @cached_property
    def _widths(self) -> dict[Fraction, int]:
        """Half-widths by confidence: every answer of a table asks for the same few."""
        return {}

    def _count_others(self, box: int) -> int:
        return self.joint.count_others(self.place, box)

    def _sum(self, count: Callable[[int], int], box: int) -> int:
        """Return Σ bᵐ·count(box + m) over m ≥ 0, times a constant."""
        return sum_growing(self.ratio, count, len(self.shifts), box)

    def _first_box(self, distance: int) -> int:
        """Return the first box with a half-width of at least ``distance``."""
        shift, edge = self.shifts[self.place], self.edges[self.place]
        return max(0, -((edge - distance) // shift))

    def _tail(self, index: int) -> Fraction:
        """Return P(X > index·step) for index ≥ 0.

        A box with h(m) > index has h(m) − index points beyond it in this coordinate.
        """
        box, beyond = self._beyond(index)
        return exact_power(self.ratio, box) * beyond

    def _tail_fits(self, index: int, allowed: Fraction) -> bool:
        """Return whether P(X > index·step) ≤ allowed is proved."""
        box, beyond = self._beyond(index)
        bits = _BITS + allowed.denominator.bit_length() + 2 * box.bit_length()
        bits += math.ceil(beyond).bit_length()  # the tail is a small power times that
        _, high = fixed_power(self.ratio, box, bits)
        return high * beyond <= allowed * (1 << bits)

    def _beyond(self, index: int) -> tuple[int, Fraction]:
        """Return the first box beyond an index, and the tail without the power of the ratio."""
        box = self._first_box(index + 1)

        def count(m: int) -> int:
            return (self.joint.half_width(self.place, m) - index) * self._count_others(m)

        return box, Fraction(self._sum(count, box), self.total)

    def _first_index(self, holds: Callable[[int], bool]) -> int:
        """Return the smallest index ≥ 0 at which a tail is small enough."""
        high = 1
        while not holds(high):
            high *= 2
        return first_index(-1, high, holds)
