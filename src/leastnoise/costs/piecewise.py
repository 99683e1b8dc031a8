"""Piecewise costs: linear between points, or a threshold; and expectations of the linear ones."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import Interval, Number, format_exact, parse_rational, quote
from leastnoise.core.noise import BITS, Rounded, Smooth
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter, Words


class Points(Cost):
    """A piecewise linear cost, with exact integrals; :func:`piecewise_linear` returns it."""

    sizes: tuple[Fraction, ...]
    costs: tuple[Fraction, ...]
    _areas: tuple[Fraction, ...]

    def __init__(self, sizes: tuple[Fraction, ...], costs: tuple[Fraction, ...]) -> None:
        """Compute the area under each piece; sizes and costs must be exact and in order."""
        areas = [Fraction(0)]
        for (x, y), (x_next, y_next) in pairwise(zip(sizes, costs, strict=True)):
            areas.append(areas[-1] + (x_next - x) * (y + y_next) / 2)
        for name, numbers in (("sizes", sizes), ("costs", costs), ("_areas", tuple(areas))):
            object.__setattr__(self, name, numbers)

    def __repr__(self) -> str:
        return f"piecewise_linear({self._pairs()})"

    @property
    def stored_name(self) -> str:
        """The name in files: the one that the function had up to 0.5.0."""
        return f"points({self._pairs()})"

    def _pairs(self) -> str:
        pairs = zip(self.sizes, self.costs, strict=True)
        return f"[{', '.join(f'({format_exact(x)}, {format_exact(y)})' for x, y in pairs)}]"

    def value(self, size: Fraction) -> Interval:
        """Return the cost on the line through the two neighboring points."""
        return Interval.exact(self._line(size))

    def integral(self, size: Fraction) -> Interval:
        """Return the area under the lines."""
        piece = self._piece(size)
        span = size - self.sizes[piece]
        average = (self.costs[piece] + self._line(size)) / 2
        return Interval.exact(self._areas[piece] + span * average)

    def total(self, step: Fraction, terms: int) -> Interval:
        """Add an arithmetic series for each piece."""
        result = Fraction(0)
        # The lattice points of piece i are those after sizes[i], up to and with sizes[i + 1].
        last = [min(terms, size // step) for size in self.sizes[1:]] + [terms]
        for first, final in pairwise([0, *last]):
            if final > first:
                ends = self._line((first + 1) * step) + self._line(final * step)
                result += (final - first) * ends / 2
        return Interval.exact(result)

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the largest distance below the chord: it is at one of the points."""
        start, slope = self._line(low), (self._line(high) - self._line(low)) / (high - low)
        inside = self.sizes[bisect_right(self.sizes, low) : bisect_left(self.sizes, high)]
        below = (start + slope * (x - low) - self._line(x) for x in inside)
        return max([Fraction(0), *below])

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:  # noqa: ARG002 -- few bends
        """Return the largest sag of the cells that have one of the points inside."""
        cells = {size // step * step for size in self.sizes}
        return max(self.sag(low, low + step) for low in cells)

    @property
    def kinks(self) -> tuple[Fraction, ...]:
        """The points at which it bends."""
        return self.sizes[1:]

    @property
    def constant_beyond(self) -> Fraction:
        """The last size; beyond it the cost is constant."""
        return self.sizes[-1]

    def probe(self, reach: Fraction) -> None:
        """Accept: the points were checked when they were given."""

    def _piece(self, size: Fraction) -> int:
        return bisect_right(self.sizes, size) - 1

    def _line(self, size: Fraction) -> Fraction:
        piece = self._piece(size)
        if piece == len(self.sizes) - 1:
            return self.costs[-1]
        x, x_next = self.sizes[piece : piece + 2]
        y, y_next = self.costs[piece : piece + 2]
        return y + (size - x) * (y_next - y) / (x_next - x)


def piecewise_linear(pairs: Iterable[tuple[Number, Number]]) -> Points:
    """Return the cost that is linear between points.

    After the last point the cost is constant, as in ``numpy.interp``. Add a further point if it
    should go on rising.

    Args:
        pairs: Points (size, cost). The first size is 0, sizes increase, and costs never fall.

    Raises:
        InvalidParameter: If the points break these rules.

    >>> piecewise_linear([(0, 0), (1, 2), (5, 3)])(3)
    2.5
    """
    sizes, costs = _read(pairs)
    if not sizes or sizes[0] != 0:
        raise InvalidParameter(
            "The first point must have size 0, with the cost of no error",
            fix="Begin with a point such as (0, 0).",
        )
    for (x, y), (x_next, y_next) in pairwise(zip(sizes, costs, strict=True)):
        if x_next <= x:
            raise InvalidParameter(
                "The sizes of points must increase",
                got=f"{format_exact(x_next)} after {format_exact(x)}",
                fix="Sort the points and remove repetitions.",
            )
        if y_next < y:
            raise InvalidParameter(
                "A cost must never fall as the error grows",
                got=f"{format_exact(y)} at {format_exact(x)}, then {format_exact(y_next)} at "
                f"{format_exact(x_next)}",
                fix="Use costs that never fall.",
            )
    return Points(tuple(sizes), tuple(costs))


def _read(pairs: Iterable[tuple[Number, Number]]) -> tuple[list[Fraction], list[Fraction]]:
    try:
        split = [(x, y) for x, y in pairs]
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            Words("points must be pairs (size, cost)", "--cost points:… must have pairs X,Y"),
            got=Words(quote(pairs), "others"),
            fix="Use, for example, "
            + Words("[(0, 0), (1, 2), (5, 3)]", "points:0,0;1,2;5,3")
            + ".",
        ) from error
    return (
        [
            parse_rational(x, Words("the size of a cost's point", "X of --cost points:X,Y"))
            for x, _ in split
        ],
        [
            parse_rational(y, Words("the cost of a cost's point", "Y of --cost points:X,Y"))
            for _, y in split
        ],
    )


def enclose_lines(noise: Smooth, cost: Points) -> Interval:
    """Enclose E L(X) for a piecewise linear cost: each slope times the area of its tails."""
    total = Interval.exact(cost.costs[0])
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        area = noise.tail_area(a) - noise.tail_area(b)
        total += area.scaled(2 * (high - low) / (b - a))
    return total


def enclose_rounded_lines(noise: Rounded, cost: Points) -> Interval:
    """Enclose E L(|R|g) for a piecewise linear cost.

    P(|R|g > x) = 2T((⌊x/g⌋ + ½)g) lies between 2T(x + g/2) and 2T(x − g/2), and is at most 1.
    """
    half = noise.step / 2
    lower = upper = cost.costs[0]
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        slope = 2 * (high - low) / (b - a)
        least = (_tail_area(noise, a + half) - _tail_area(noise, b + half)).lower
        lower += slope * max(Fraction(0), least)
        upper += slope * (_tail_area(noise, a - half) - _tail_area(noise, b - half)).upper
    return Interval(lower, upper)


def _tail_area(noise: Rounded, size: Fraction) -> Interval:
    """Enclose the integral of P(X > x) over x ≥ ``size``, with 1/2 instead for x < 0."""
    beyond = noise.noise.tail_area(max(size, Fraction(0)), BITS)
    return beyond + Interval.exact(max(-size, Fraction(0)) / 2)


class Threshold(Cost):
    """L(x) = 1{|x| > t}, whose expectation is P(|X| > t); :func:`threshold` returns it."""

    limit: Fraction

    def __init__(self, limit: Fraction) -> None:
        object.__setattr__(self, "limit", limit)

    def __repr__(self) -> str:
        return f"threshold({format_exact(self.limit)})"

    def value(self, size: Fraction) -> Interval:
        """Return 1 beyond the limit, else 0."""
        return Interval.exact(int(size > self.limit))

    def integral(self, size: Fraction) -> Interval:
        """Return the length beyond the limit."""
        return Interval.exact(max(Fraction(0), size - self.limit))

    def total(self, step: Fraction, terms: int) -> Interval:
        """Count the lattice points beyond the limit."""
        return Interval.exact(terms - min(terms, self.limit // step))

    def beyond(self, size: Fraction) -> Fraction:
        """Return 1 from the limit on: all errors beyond it are too large."""
        return Fraction(int(size >= self.limit))

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the height of the chord where L jumps: none if it does so at ``low``."""
        return (self.limit - low) / (high - low) if low <= self.limit < high else Fraction(0)

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:  # noqa: ARG002 -- one jump
        """Return the sag of the one cell in which L jumps."""
        low = self.limit // step * step
        return self.sag(low, low + step)

    @property
    def kinks(self) -> tuple[Fraction, ...]:
        """The limit."""
        return (self.limit,)

    @property
    def constant_beyond(self) -> Fraction:
        """The limit; beyond it the cost is 1."""
        return self.limit

    def probe(self, reach: Fraction) -> None:
        """Accept: it never falls."""


_THRESHOLD = Words("The threshold", "T of --cost threshold:T")


def threshold(limit: Number) -> Threshold:
    """Return the cost that is 1 for errors larger than a limit, and 0 for all others.

    Args:
        limit: The largest harmless error, at least 0.

    >>> threshold(10)
    threshold(10)
    """
    exact = parse_rational(limit, _THRESHOLD)
    if exact < 0:
        raise InvalidParameter(
            _THRESHOLD + " must be 0 or more",
            got=quote(limit),
            fix="Use the largest harmless error.",
        )
    return Threshold(exact)
