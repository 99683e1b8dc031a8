"""L(x) = 1 if |x| > t, else 0: an error counts only when it is too large."""

from fractions import Fraction

from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, Number, described, exactly, rational


class Threshold(Cost):
    """L(x) = 1{|x| > t}: its expectation is P(|X| > t). Made by :func:`threshold`."""

    limit: Fraction

    def __init__(self, limit: Fraction) -> None:
        """Keep the limit, which is exact already."""
        object.__setattr__(self, "limit", limit)

    def __repr__(self) -> str:
        """Print the cost the way it is written."""
        return f"threshold({exactly(self.limit)})"

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
    def settled(self) -> Fraction:
        """Beyond the limit the cost stays 1."""
        return self.limit

    def probe(self, reach: Fraction) -> None:
        """Accept: it never falls."""


def threshold(limit: Number) -> Threshold:
    """Return the cost that is 1 for errors larger than ``limit`` ≥ 0 and 0 for all others.

    >>> threshold(10)
    threshold(10)
    """
    exact = rational(limit, "a threshold")
    if exact < 0:
        raise InvalidParameter(
            f"a threshold must be 0 or more; got {described(limit)}. "
            "Give the largest harmless error."
        )
    return Threshold(exact)
