"""A cost known only by a table: the form in which a certificate stores a function."""

from collections.abc import Mapping
from fractions import Fraction

from leastnoise.core.exact import Interval
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter

# What was asked (the name of a method and what it was given) and what the answer was.
Readings = Mapping[tuple[str, tuple[Fraction, ...]], Interval]


class Tabled(Cost):
    """A cost that answers what it was asked before, and refuses everything else.

    What a certificate proves with it holds for every cost that never falls and fits the table.
    """

    readings: Readings

    def __init__(self, name: str, readings: Readings) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "readings", dict(readings))

    @property
    def name(self) -> str:
        """What the cost was called."""
        return self._name

    def __hash__(self) -> int:
        return hash((type(self), self._name, frozenset(self.readings.items())))

    def __repr__(self) -> str:
        return f"a table of {self._name}"

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
                f"a cost known by a table must be asked only what is in it; this {kind} of "
                f"{self._name} is not",
                fix="Give the function itself: pass cost=.",
            )
        return found


class Recording(Tabled):
    """A cost that passes every question on and keeps the answer."""

    def __init__(self, cost: Cost) -> None:
        super().__init__(repr(cost), {})
        object.__setattr__(self, "_cost", cost)

    _cost: Cost

    def _look_up(self, kind: str, *asked: Fraction) -> Interval:
        arguments = (asked[0], int(asked[1])) if kind == "total" else asked
        answer = getattr(self._cost, kind)(*arguments)
        kept = answer if isinstance(answer, Interval) else Interval.exact(answer)
        self.readings[kind, asked] = kept  # type: ignore[index]  # a dictionary, made above
        return kept
