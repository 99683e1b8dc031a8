"""A cost known only by a table, which is how a certificate stores a function."""

from fractions import Fraction

from leastnoise.core.exact import Interval
from leastnoise.costs.cost import CELLS, Cost
from leastnoise.costs.fit import Readings, find_fitting, find_gaps
from leastnoise.costs.piecewise import Points
from leastnoise.errors import InvalidParameter, Unsupported

# The most values in a table that is completed until some cost fits it.
_MOST_VALUES = 1 << 15


class Tabled(Cost):
    """A cost known only by a table of recorded calls, which rejects every other call.

    A proof with this cost holds for every cost that never falls and fits the table.
    :meth:`find_cost` finds such a cost. The name comes from a file and is not verified.
    """

    readings: Readings

    def __init__(self, name: str, readings: Readings) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "readings", dict(readings))

    @property
    def name(self) -> str:
        """The name of the cost that the file states; it is not verified."""
        return self._name

    def __hash__(self) -> int:
        return hash((type(self), self._name, frozenset(self.readings.items())))

    def __repr__(self) -> str:
        return "the tabulated cost"

    def find_cost(self) -> Points | None:
        """Return a cost that fits the whole table, or None if the search fails."""
        return find_fitting(self.readings)

    def value(self, size: Fraction) -> Interval:
        """Look up L(size)."""
        return self._look_up("value", size)

    def integral(self, size: Fraction) -> Interval:
        """Look up the integral from 0 to ``size``."""
        return self._look_up("integral", size)

    def total(self, step: Fraction, terms: int) -> Interval:
        """Look up L(step) + … + L(terms·step)."""
        return self._look_up("total", step, Fraction(terms))

    def beyond(self, size: Fraction) -> Fraction:
        """Look up the lower bound beyond a size."""
        return self._look_up("beyond", size).lower

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Look up the sag between two sizes."""
        return self._look_up("sag", low, high).upper

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:
        """Look up the largest sag."""
        return self._look_up("largest_sag", step, reach).upper

    def probe(self, reach: Fraction) -> None:
        """Accept: there is nothing to sample."""

    def _look_up(self, kind: str, *arguments: Fraction) -> Interval:
        reading = self.readings.get((kind, arguments))
        if reading is None:
            raise InvalidParameter(
                f"The table of this cost does not have the {kind} that is needed",
                fix="Pass the function itself as cost=.",
            )
        return reading


class RecordingCost(Tabled):
    """A cost that forwards every call to another cost and records the result."""

    def __init__(self, cost: Cost) -> None:
        super().__init__(repr(cost), {})
        object.__setattr__(self, "_cost", cost)

    _cost: Cost

    @property
    def recorded(self) -> Cost:
        """The cost that receives the calls."""
        return self._cost

    def _look_up(self, kind: str, *arguments: Fraction) -> Interval:
        passed = (arguments[0], int(arguments[1])) if kind == "total" else arguments
        result = getattr(self._cost, kind)(*passed)
        reading = result if isinstance(result, Interval) else Interval.exact(result)
        self.readings[kind, arguments] = reading  # type: ignore[index]  # a dictionary, see Tabled.__init__
        return reading

    def probe(self, reach: Fraction) -> None:
        """Sample the cost itself."""
        self._cost.probe(reach)

    def complete(self) -> None:
        """Record further values until a cost fits the table, as its reader will require.

        It records values at the ends of integrals and sags, and at each point of a total that was
        added point by point; then halfway between neighbors where the cost is least certain. This
        terminates: sums over cells enclose the integrals of the function, and straight lines
        through the corners of these cells lie in between.
        """
        for place in sorted(self._places()):
            self.value(place)
        while self.find_cost() is None:
            values = sorted(
                (arguments[0], bounds)
                for (kind, arguments), bounds in self.readings.items()
                if kind == "value"
            )
            gaps = find_gaps([x for x, _ in values], [bounds.lower for _, bounds in values])
            if not gaps or len(values) + len(gaps) > _MOST_VALUES:
                raise Unsupported(
                    f"This certificate needs more than {_MOST_VALUES} values of the function that "
                    "is its cost",
                    fix="Use l1, l2, lp, threshold or piecewise_linear.",
                )
            for place in gaps:
                self.value(place)

    def _places(self) -> set[Fraction]:
        """Return the sizes at which the readings so far need a value."""
        places = {Fraction(0)}
        for kind, arguments in self.readings:
            if kind in ("integral", "beyond"):
                places.add(arguments[0])
            elif kind == "sag":
                places.update(arguments)
            elif kind == "total" and arguments[1] <= CELLS:
                places.update(arguments[0] * j for j in range(1, int(arguments[1]) + 1))
        return places
