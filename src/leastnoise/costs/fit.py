"""Find a cost that fits a table, so that proofs with the table are true for some cost.

A proof reads a tabulated cost L only by its readings: bounds of L(x), of ∫₀ˣL, of the total L(h) +
… + L(nh), of L beyond x, and of the sag of L below its chords. Each step of the proof holds for
every non-decreasing L that has all of them. If no such L exists, the proof is vacuous. Therefore a
table is accepted only with a *witness*, an explicit non-decreasing L for which every reading is
recomputed exactly. Such an L suffices, however it was found.

The search. L(x) is the middle of the range that the values allow at x, from the largest lower bound
up to x to the smallest upper bound from x on. Neither bound ever falls, so the middle does not fall
either. If the bounds cross, no cost fits. Between neighbors a < b the witness is straight, or bends
once: at a + (1−λ)/2·(b−a), where it has risen by (1+λ)/2 of L(b) − L(a). It never falls for |λ| <
1, and adds λ/2·(b−a)·(L(b)−L(a)) to the area. All gaps between two integrals get the same λ, the
nearest to 0 that meets the second integral.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate, pairwise

from leastnoise.core.exact import Interval
from leastnoise.costs.piecewise import Points

# The name of a method and its arguments, with the result.
Readings = Mapping[tuple[str, tuple[Fraction, ...]], Interval]
Node = tuple[Fraction, Fraction]

# The most visits to a node or reading, on average. A proof reads a few lattices, and the sags of
# neighboring cells; a table of thousands of lattices would only slow down its verifier.
_MOST_VISITS = 8

# How many arguments each kind of reading has.
KINDS = {"value": 1, "integral": 1, "beyond": 1, "total": 2, "sag": 2, "largest_sag": 2}


def find_fitting(readings: Readings) -> Points | None:
    """Return a cost that never falls and has every reading; None if the search finds none."""
    nodes = _find_nodes(readings)
    if nodes is None:
        return None
    areas = {
        arguments[0]: bounds for (kind, arguments), bounds in readings.items() if kind == "integral"
    }
    bent_nodes = _bend(nodes, areas)
    if bent_nodes is None:
        return None
    cost = Points(tuple(x for x, _ in bent_nodes), tuple(y for _, y in bent_nodes))
    if _count_visits(cost, readings) > _MOST_VISITS * (len(bent_nodes) + len(readings)):
        return None
    return cost if _fits(cost, readings) else None


def are_well_formed(readings: Iterable[tuple[str, tuple[Fraction, ...], Interval]]) -> bool:
    """Return whether each reading is of a known kind, with arguments in its domain."""
    return all(
        bounds.lower <= bounds.upper
        and KINDS.get(kind) == len(arguments)
        and min(arguments) >= 0
        and _is_in_domain(kind, arguments)
        and ("sag" not in kind or bounds.lower >= 0)
        for kind, arguments, bounds in readings
    )


def _is_in_domain(kind: str, arguments: tuple[Fraction, ...]) -> bool:
    if kind == "total":
        return arguments[0] > 0 and arguments[1].denominator == 1
    if kind == "sag":
        return arguments[0] < arguments[1]
    return kind != "largest_sag" or arguments[0] > 0


def _find_nodes(readings: Readings) -> list[Node] | None:
    """Return L at all places with a value or an integral, in order; None if the values fall."""
    values = sorted(
        (arguments[0], bounds) for (kind, arguments), bounds in readings.items() if kind == "value"
    )
    if not values or values[0][0]:
        return None
    least = [*accumulate((bounds.lower for _, bounds in values), max)]
    most = [*accumulate((bounds.upper for _, bounds in reversed(values)), min)][::-1]
    if any(low > high for low, high in zip(least, most, strict=True)):
        return None
    sizes = tuple(x for x, _ in values)
    cost = Points(sizes, tuple((a + b) / 2 for a, b in zip(least, most, strict=True)))
    places = {arguments[0] for kind, arguments in readings if kind == "integral"}
    return [(x, cost.value(x).lower) for x in sorted({*sizes, *places})]


def _bend(nodes: list[Node], areas: Mapping[Fraction, Interval]) -> list[Node] | None:
    """Return the nodes with a bend in each gap, so that the areas are met; None if they cannot."""
    bent_nodes, first, area = nodes[:1], 0, Fraction(0)
    for last, (x, _) in enumerate(nodes):
        if x not in areas:
            continue
        gaps = [*pairwise(nodes[first : last + 1])]
        straight = area + sum((b - a) * (y + z) / 2 for (a, y), (b, z) in gaps)
        room = sum(((b - a) * (z - y) / 2 for (a, y), (b, z) in gaps), Fraction(0))
        area = min(max(straight, areas[x].lower), areas[x].upper)
        if area != straight and abs(area - straight) >= room:
            return None
        share = (area - straight) / room if area != straight else Fraction(0)
        for (a, y), (b, z) in gaps:
            if share and y < z:
                bent_nodes.append((a + (1 - share) / 2 * (b - a), y + (1 + share) / 2 * (z - y)))
            bent_nodes.append((b, z))
        first = last
    return bent_nodes + nodes[first + 1 :]


def _count_visits(cost: Points, readings: Readings) -> int:
    """Count the nodes that :func:`_fits` visits: all for a lattice, the inner ones for a sag."""
    steps = {arguments[0] for kind, arguments in readings if kind == "total"}
    lattices = len(steps) + sum(kind == "largest_sag" for kind, _ in readings)
    inside = (
        bisect_left(cost.sizes, arguments[1]) - bisect_right(cost.sizes, arguments[0])
        for kind, arguments in readings
        if kind == "sag"
    )
    return lattices * len(cost.sizes) + sum(inside)


def _fits(cost: Points, readings: Readings) -> bool:
    """Return whether a cost has every reading, by its exact values, areas, totals and sags."""
    totals: dict[Fraction, _Totals] = {}
    for (kind, arguments), bounds in readings.items():
        if kind == "total":
            totals.setdefault(arguments[0], _Totals(cost, arguments[0]))
            exact = totals[arguments[0]].upto(int(arguments[1]))
        elif kind in ("value", "integral"):
            exact = getattr(cost, kind)(*arguments).lower
        elif kind == "beyond":  # the infimum for a continuous cost
            if cost.value(arguments[0]).lower < bounds.lower:
                return False
            continue
        else:
            if _find_sag(cost, kind, *arguments) > bounds.upper:
                return False
            continue
        if not bounds.lower <= exact <= bounds.upper:
            return False
    return True


def _find_sag(cost: Points, kind: str, low: Fraction, high: Fraction) -> Fraction:
    """Return a sag, or the largest of all cells of a lattice that begin up to ``high``.

    The cost is below its chord only in cells where it bends.
    """
    if kind == "sag":
        return cost.sag(low, high)
    cells = {size // low * low for size in cost.sizes}
    return max((cost.sag(cell, cell + low) for cell in cells if cell <= high), default=Fraction(0))


class _Totals:
    """L(h) + … + L(nh) of a piecewise linear cost, for many n: an arithmetic series per piece."""

    def __init__(self, cost: Points, step: Fraction) -> None:
        self._cost, self._step = cost, step
        # The number of lattice points up to each node, and the total over them.
        self._counts = [int(size // step) for size in cost.sizes]
        parts = (self._series(a, b) for a, b in pairwise(self._counts))
        self._sums = [*accumulate(parts, initial=Fraction(0))]

    def upto(self, terms: int) -> Fraction:
        """Return the total of the first ``terms`` lattice points."""
        piece = bisect_right(self._counts, terms) - 1
        return self._sums[piece] + self._series(self._counts[piece], terms)

    def _series(self, before: int, last: int) -> Fraction:
        """Return L over the lattice points after ``before`` up to ``last``, all on one piece."""
        if last <= before:
            return Fraction(0)
        ends = self._cost.value((before + 1) * self._step) + self._cost.value(last * self._step)
        return (last - before) * ends.lower / 2


def find_gaps(sizes: list[Fraction], costs: list[Fraction]) -> list[Fraction]:
    """Return the middles of the gaps where a cost is least certain: the places to read next."""
    gaps = [*zip(pairwise(sizes), pairwise(costs), strict=True)]
    rooms = [(b - a) * (z - y) for (a, b), (y, z) in gaps]
    average = sum(rooms) / max(len(rooms), 1)
    pairs = zip(gaps, rooms, strict=True)
    return [(a + b) / 2 for ((a, b), _), room in pairs if room >= average > 0]
