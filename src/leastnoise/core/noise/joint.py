"""Joint noise for several numbers that one unit changes together: uniform on nested boxes.

Number i lies on a lattice of step gᵢ, and one unit changes it by at most Dᵢ steps. Box m has the
half-widths mDᵢ + eᵢ in steps. A point of the lattice in box n, and in no smaller one, has weight
g(n), and g never rises. This is the K-norm mechanism (Hardt and Talwar, "On the geometry of
differential privacy", STOC 2010) for a cube, as a staircase on a lattice.

*Proposition (privacy).* Let g(n) ≤ e^ε·g(n + 1) for all n below the last box M, or for all n if
there is none. Then the noise satisfies (ε, δ) for all shifts |dᵢ| ≤ Dᵢ together, with

    δ  =  g(M)·(Π(2hᵢ + 1) − Π(2hᵢ + 1 − Dᵢ)) / total,   hᵢ = MDᵢ + eᵢ,

and δ = 0 if there is no last box. *Proof.* If |xᵢ| ≤ nDᵢ + eᵢ, then |xᵢ + dᵢ| ≤ (n + 1)Dᵢ + eᵢ. So
a shift moves a point of box n into box n + 1. For n < M its weight falls at most by the factor e^ε.
A point of box M, and of no smaller one, either stays in box M, where no weight is smaller than
g(M), or leaves it. The points of box M that a shift d moves out of it are Π(2hᵢ + 1) −
Π(2hᵢ + 1 − |dᵢ|), most for |dᵢ| = Dᵢ, and none of them is in box M − 1. They all have weight g(M),
and they are exactly the outputs that a neighbor cannot have. So that δ is attained. ∎

The noise is a mixture: box m has the probability (g(m) − g(m + 1))·N(m)/total, where N(m) =
Π(2(mDᵢ + eᵢ) + 1) is its number of points, and given the box the point is uniform. So each number
alone has symmetric unimodal noise, a mixture of uniform noise.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from leastnoise.core.exact import (
    count_bits,
    enclose_product,
    exponential,
    first_index,
    format_exact,
    sum_growing,
)
from leastnoise.core.lattice import Run
from leastnoise.core.noise.base import LatticeNoise
from leastnoise.core.noise.joint_marginal import JointMarginal
from leastnoise.core.noise.steps import DiscreteSteps
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import run_scheme
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported

if TYPE_CHECKING:
    from leastnoise.core.sampling import JointScheme

# Probabilities of boxes are in units of 2⁻¹²⁸, or smaller ones if they are compared with less.
_BITS = 128
# The weight of the last box, and the most boxes of bounded joint noise.
_WEIGHT_BITS, _MOST_BOXES = 64, 1 << 12
# The most numbers of joint noise, and the most work of an exact sum: numbers² · digits.
_MOST, _MOST_WORK = 256, 1 << 24


@dataclass(frozen=True)
class JointNoise:
    """Joint noise on a lattice; see the module.

    Attributes:
        steps: g, the step of each number.
        shifts: D, how many steps one unit can change each number, at least 1.
        edges: e, the half-widths of box 0, at least 0.
        ratio: b, 0 < b < 1: g(n + 1) is at least b·g(n) within the boxes.
    """

    steps: tuple[Fraction, ...]
    shifts: tuple[int, ...]
    edges: tuple[int, ...]
    ratio: Fraction

    def __post_init__(self) -> None:
        sizes = {len(self.steps), len(self.shifts), len(self.edges)}
        fits = sizes == {len(self.steps)} and self.steps
        if not fits or min(self.steps) <= 0 or min(self.shifts) < 1 or min(self.edges) < 0:
            raise InvalidParameter(
                "Joint noise needs a positive step and shift and an edge of at least 0 for each "
                "number",
                got=f"{len(self.steps)} steps, {len(self.shifts)} shifts, {len(self.edges)} edges",
                fix="Use calibrate_joint().",
            )
        if len(self.steps) > _MOST:
            raise Unsupported(
                f"Joint noise can be for at most {_MOST} numbers",
                got=f"{len(self.steps)}",
                fix="Release them in several parts, or with Gaussian noise.",
            )
        if not 0 < self.ratio < 1:
            raise InvalidParameter(
                "The ratio of joint noise must be between 0 and 1",
                got=format_exact(self.ratio),
                fix="Use calibrate_joint().",
            )
        if self.dimension**2 * count_bits(self.ratio) > _MOST_WORK:
            raise Unsupported(
                f"numbers² · digits of the ratio of joint noise may be at most {_MOST_WORK}",
                got="more",
                fix="Use a shorter ratio, or fewer numbers.",
            )

    @property
    def dimension(self) -> int:
        """The number of numbers."""
        return len(self.steps)

    @property
    @abstractmethod
    def scheme(self) -> "JointScheme":
        """The exact sampler of this noise."""

    @abstractmethod
    def marginal(self, place: int) -> LatticeNoise:
        """Return the noise of one number alone."""

    @abstractmethod
    def delta(self, epsilon: Fraction) -> Fraction | None:
        """Return the δ of the proposition at ε, or None if the weights fall faster than e^ε."""

    @abstractmethod
    def box_probability(self, boxes: int, bits: int = _BITS) -> Fraction:
        """Return P(the noise lies in box ``boxes`` − 1), or 0 for ``boxes`` = 0.

        For unbounded noise a lower bound, too small by at most 2¹⁻ᵇⁱᵗˢ.
        """

    @abstractmethod
    def mixture(self, rest: Fraction, most: int) -> list[tuple[int, Fraction]]:
        """Return groups of the boxes of the mixture, at most ``most``, in order.

        Each is its last box with a lower bound of its probability. The boxes beyond the last group
        have a probability of at most ``rest``.
        """

    def first_alike(self, place: int) -> int:
        """Return the first number with the step, shift and edge, so the marginal, of a number."""
        kinds = list(zip(self.steps, self.shifts, self.edges, strict=True))
        return kinds.index(kinds[place])

    def half_width(self, place: int, box: int) -> int:
        """Return the half-width of a box for one number, in steps."""
        return box * self.shifts[place] + self.edges[place]

    def count_points(self, box: int) -> int:
        """Return N(box), the number of points of a box."""
        return math.prod(2 * self.half_width(place, box) + 1 for place in range(self.dimension))

    def count_others(self, place: int, box: int) -> int:
        """Return the number of points of a box in all coordinates but one."""
        others = (i for i in range(self.dimension) if i != place)
        return math.prod(2 * self.half_width(i, box) + 1 for i in others)

    def check_privacy(self, privacy: Privacy, shifts: Sequence[int]) -> None:
        """Raise NotPrivate unless the noise satisfies ``privacy`` for shifts of so many steps."""
        if len(shifts) != self.dimension or any(
            shift > own for shift, own in zip(shifts, self.shifts, strict=True)
        ):
            raise NotPrivate(
                "This joint noise does not protect numbers that one person changes by so many "
                "steps",
                got=f"{list(shifts)} steps for {list(self.shifts)}",
                fix="Use calibrate_joint().",
            )
        delta = self.delta(privacy.epsilon)
        if delta is None or delta > privacy.delta:
            needs = "a larger ε" if delta is None else f"δ = {format_exact(delta)}"
            raise NotPrivate(
                f"This joint noise does not satisfy {privacy}: it needs {needs}",
                fix="Use calibrate_joint().",
            )


@dataclass(frozen=True)
class JointStaircase(JointNoise):
    """Unbounded joint noise: g(n) = bⁿ. It satisfies (ε, 0) for e^ε ≥ 1/b.

    For integers with D = 1 and e = 0 the probability of x is proportional to b^max|xᵢ|. With a
    single number this is geometric noise.

    >>> noise = JointStaircase((Fraction(1),) * 2, (1, 1), (0, 0), Fraction(1, 2))
    >>> noise.marginal(0).pmf(0), float(noise.box_probability(1))
    (0.17647058823529413, 0.058823529411764705)
    """

    @cached_property
    def scheme(self) -> "JointScheme":
        """The number of the box by inversion, then a uniform point."""
        from leastnoise.core.sampling import GrowingBoxes, JointScheme  # on first use

        boxes = GrowingBoxes(self.ratio, self.shifts, self.edges)
        return JointScheme(boxes, self.shifts, self.edges)

    def delta(self, epsilon: Fraction) -> Fraction | None:
        """See JointNoise."""
        return Fraction(0) if self.ratio * exponential(epsilon).lower >= 1 else None

    def box_probability(self, boxes: int, bits: int = _BITS) -> Fraction:
        """See JointNoise."""
        if not boxes:
            return Fraction(0)
        left, whole = (self._sum_from(n) for n in (boxes, 0))
        # Larger boxes of the mixture have points in this one too.
        inside = self.count_points(boxes - 1) * self._unit
        _, beyond = enclose_product(self.ratio, boxes, left - inside, whole, bits)
        return 1 - Fraction(beyond, 1 << bits)

    def mixture(self, rest: Fraction, most: int) -> list[tuple[int, Fraction]]:
        """See JointNoise."""
        whole, bits = self._sum_from(0), _BITS + rest.denominator.bit_length()
        one = 1 << bits

        def enclose_tail(first: int) -> tuple[int, int]:
            return enclose_product(self.ratio, first, self._sum_from(first), whole, bits)

        high = 1
        while enclose_tail(high)[1] > rest * one:
            high *= 2
        count = first_index(high // 2, high, lambda n: enclose_tail(n)[1] <= rest * one)
        ends = _group(count, most)
        tails = [(one, one), *map(enclose_tail, ends)]
        return [
            (end - 1, Fraction(max(0, before - after), one))
            for end, ((before, _), (_, after)) in zip(ends, pairwise(tails), strict=True)
        ]

    def marginal(self, place: int) -> JointMarginal:
        """See JointNoise."""
        return JointMarginal(self.steps[place], self.ratio, self.shifts, self.edges, place)

    def _sum_from(self, box: int) -> int:
        return sum_growing(self.ratio, self.count_points, self.dimension, box)

    @property
    def _unit(self) -> int:
        """The factor of :func:`sum_growing` times Σ bⁿ = 1/(1 − b)."""
        return sum_growing(self.ratio, lambda _: 1, self.dimension, 0)

    def __getstate__(self) -> dict[str, object]:
        """Omit the scheme: it has tables, and is built again on first use."""
        return {name: part for name, part in vars(self).items() if name != "scheme"}


@dataclass(frozen=True)
class BoundedJointStaircase(JointNoise):
    """Bounded joint noise, up to a last box M, with integer weights.

    g(M) = 2⁶⁴ and g(n) = ⌊g(n + 1)/b⌋.

    Attributes:
        last_box: M.
    """

    last_box: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.last_box <= _MOST_BOXES:
            raise Unsupported(
                f"Bounded joint noise can have at most {_MOST_BOXES} boxes",
                got=f"{self.last_box}",
                fix="Use a larger ε, or another noise.",
            )

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """g(0) … g(M)."""
        over, under = self.ratio.as_integer_ratio()
        weights = [1 << _WEIGHT_BITS]
        for _ in range(self.last_box):
            weights.append(weights[-1] * under // over)
        return tuple(reversed(weights))

    @cached_property
    def scheme(self) -> "JointScheme":
        """The number of the box by inversion, then a uniform point."""
        from leastnoise.core.sampling import JointScheme  # on first use

        runs = [Run(m, 1, weight) for m, weight in enumerate(self._box_weights) if weight]
        return JointScheme(run_scheme(tuple(runs)), self.shifts, self.edges)

    @cached_property
    def total(self) -> int:
        """The sum of the weights of all points."""
        return sum(self._box_weights)

    def delta(self, epsilon: Fraction) -> Fraction | None:
        """See JointNoise."""
        if self.ratio * exponential(epsilon).lower < 1:
            return None
        last = self.last_box
        sides = [2 * self.half_width(i, last) + 1 for i in range(self.dimension)]
        kept = math.prod(max(0, side - d) for side, d in zip(sides, self.shifts, strict=True))
        return Fraction(self.weights[-1] * (math.prod(sides) - kept), self.total)

    def box_probability(self, boxes: int, bits: int = _BITS) -> Fraction:  # noqa: ARG002 -- exact
        """See JointNoise."""
        inside = sum(self._box_weights[:boxes])
        # Larger boxes have points in this one too.
        beyond = sum(self._falls[boxes:]) * (self.count_points(boxes - 1) if boxes else 0)
        return Fraction(inside + beyond, self.total)

    def mixture(self, rest: Fraction, most: int) -> list[tuple[int, Fraction]]:  # noqa: ARG002 -- there is no rest
        """See JointNoise."""
        sums = [0, *accumulate(self._box_weights)]
        ends = _group(len(self._box_weights), most)
        pairs = zip([0, *ends], ends, strict=False)
        return [(end - 1, Fraction(sums[end] - sums[start], self.total)) for start, end in pairs]

    def marginal(self, place: int) -> DiscreteSteps:
        """See JointNoise."""
        rows = [fall * self.count_others(place, m) for m, fall in enumerate(self._falls)]
        levels = [*accumulate(reversed(rows))][::-1]  # the weight between box m − 1 and box m
        divisor = math.gcd(*levels)
        right, before = [], 0
        for m, level in enumerate(levels):
            half = self.half_width(place, m)
            if half > before:
                right.append(Run(before + 1, half - before, level // divisor))
            before = half
        left = [Run(-r.first - r.points + 1, r.points, r.weight) for r in reversed(right)]
        return DiscreteSteps(self.steps[place], (*left, Run(0, 1, levels[0] // divisor), *right))

    @cached_property
    def _falls(self) -> list[int]:
        """g(m) − g(m + 1) for each box."""
        return [before - after for before, after in pairwise((*self.weights, 0))]

    @cached_property
    def _box_weights(self) -> list[int]:
        """The weight of each box in the mixture."""
        return [fall * self.count_points(m) for m, fall in enumerate(self._falls)]

    def __getstate__(self) -> dict[str, object]:
        """Omit the scheme: it has tables, and is built again on first use."""
        return {name: part for name, part in vars(self).items() if name != "scheme"}


def _group(count: int, most: int) -> list[int]:
    """Return the ends of ``count`` items in order, in groups of about equal size."""
    groups = min(count, most)
    return [count * (i + 1) // groups for i in range(groups)]
