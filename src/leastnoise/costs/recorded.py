"""A cost known only by a table: the form in which a certificate stores a function."""

from fractions import Fraction

from leastnoise.core.exact import Interval
from leastnoise.costs.cost import CELLS, Cost
from leastnoise.costs.fit import Readings, find_fitting, find_gaps
from leastnoise.costs.piecewise import Points
from leastnoise.errors import InvalidParameter, Unsupported

# A table may be completed by so many values until a cost is found that fits it.
_MOST_VALUES = 1 << 15


class Tabled(Cost):
    """A cost that answers what it was asked before, and refuses everything else.

    What a certificate proves with it holds for every cost that never falls and fits the table.
    :meth:`find_cost` shows that there is one. Its name is what a file says, and is not verified.
    """

    readings: Readings

    def __init__(self, name: str, readings: Readings) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "readings", dict(readings))

    @property
    def name(self) -> str:
        """The name of the cost according to whoever wrote the table: a claim."""
        return self._name

    def __hash__(self) -> int:
        return hash((type(self), self._name, frozenset(self.readings.items())))

    def __repr__(self) -> str:
        return "the tabulated cost"

    def find_cost(self) -> Points | None:
        """Return a cost that fits the whole table, or None if none is found."""
        return find_fitting(self.readings)

    def value(self, size: Fraction) -> Interval:
        """Look L(size) up."""
        return self._look_up("value", size)

    def integral(self, size: Fraction) -> Interval:
        """Look the integral from 0 to ``size`` up."""
        return self._look_up("integral", size)

    def total(self, step: Fraction, terms: int) -> Interval:
        """Look L(step) + … + L(terms·step) up."""
        return self._look_up("total", step, Fraction(terms))

    def beyond(self, size: Fraction) -> Fraction:
        """Look the lower bound beyond a size up."""
        return self._look_up("beyond", size).lower

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Look the sag between two sizes up."""
        return self._look_up("sag", low, high).upper

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:
        """Look the largest sag up."""
        return self._look_up("largest_sag", step, reach).upper

    def probe(self, reach: Fraction) -> None:
        """Accept: there is nothing left to probe."""

    def _look_up(self, kind: str, *asked: Fraction) -> Interval:
        found = self.readings.get((kind, asked))
        if found is None:
            raise InvalidParameter(
                f"a cost known by a table must be asked only what is in it; this {kind} is not",
                fix="Give the function itself: pass cost=.",
            )
        return found


class Recording(Tabled):
    """A cost that passes every question on and keeps the answer."""

    def __init__(self, cost: Cost) -> None:
        super().__init__(repr(cost), {})
        object.__setattr__(self, "_cost", cost)

    _cost: Cost

    @property
    def recorded(self) -> Cost:
        """The cost that is asked."""
        return self._cost

    def _look_up(self, kind: str, *asked: Fraction) -> Interval:
        arguments = (asked[0], int(asked[1])) if kind == "total" else asked
        answer = getattr(self._cost, kind)(*arguments)
        kept = answer if isinstance(answer, Interval) else Interval.exact(answer)
        self.readings[kind, asked] = kept  # type: ignore[index]  # a dictionary, made above
        return kept

    def probe(self, reach: Fraction) -> None:
        """Sample the cost itself."""
        self._cost.probe(reach)

    def complete(self) -> None:
        """Record further values until a cost fits the table, as its reader will require.

        Values at the ends of integrals and sags, and at each point of a total that was added up
        point by point; then halfway between neighbors, where most room is left. That ends: the
        function's integrals are enclosed by sums over cells, and the straight lines through the
        corners of these cells lie between.
        """
        for place in sorted(self._places()):
            self.value(place)
        while self.find_cost() is None:
            known = sorted(
                (asked[0], at) for (kind, asked), at in self.readings.items() if kind == "value"
            )
            between = find_gaps([x for x, _ in known], [at.lower for _, at in known])
            if not between or len(known) + len(between) > _MOST_VALUES:
                raise Unsupported(
                    f"a cost in a certificate is stored by at most {_MOST_VALUES} of its values",
                    got="a function that needs more",
                    fix="Use l1, l2, lp, threshold or points.",
                )
            for place in between:
                self.value(place)

    def _places(self) -> set[Fraction]:
        """Return where the readings so far need a value."""
        places = {Fraction(0)}
        for kind, asked in self.readings:
            if kind in ("integral", "beyond"):
                places.add(asked[0])
            elif kind == "sag":
                places.update(asked)
            elif kind == "total" and asked[1] <= CELLS:
                places.update(asked[0] * j for j in range(1, int(asked[1]) + 1))
        return places
