"""A lower bound of what several selections cost together in an allocation.

The description of a selection states its ε and no noise. Its cost is that of randomized response at
ε, to which no release with this guarantee is inferior (Kairouz, Oh and Viswanath 2015), and so is
that of several. k randomized responses at εᵢ, of which each is right with probability
eᵉ/(1 + eᵉ), have the event that Σ ±εᵢ over right and wrong ones exceeds t. Its probabilities P and
Q for the two neighbors are sums over how many are right, so P − e^t·Q is at most the δ that the
selections need at ε = t.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, prod

# More selections than this are checked like this many, and the largest ε of all together.
_MOST, _MOST_OUTCOMES, _LARGEST_EPSILON = 64, 4096, 1000
# The multiples of this ε at which they are checked.
_PARTS = (Fraction(0), Fraction(1, 4), Fraction(1, 2))
_BITS = 96


def selections_exceed(
    selections: Mapping[Fraction, int], square: Fraction, failure: Fraction
) -> bool:
    """Return whether selections, a number for each ε, need more together than a cost (μ², γ)."""
    from leastnoise.core.gaussian_cost import GaussianCost

    counted: Counter[Fraction] = Counter()
    left, outcomes = _MOST, 1
    for epsilon in sorted(selections, reverse=True):  # fewer selections need no more
        number = min(selections[epsilon], left)
        if number and outcomes * (number + 1) <= _MOST_OUTCOMES:
            counted[epsilon] = number
            left, outcomes = left - number, outcomes * (number + 1)
    if sum(counted.elements()) > _LARGEST_EPSILON:
        return False
    granted = GaussianCost(square, failure)
    deltas = _bound_deltas(tuple(counted.items()))
    return any(delta > granted.delta(at) for at, delta in deltas)


@lru_cache(maxsize=256)
def _bound_deltas(selections: tuple[tuple[Fraction, int], ...]) -> list[tuple[Fraction, Fraction]]:
    """Return a few ε, with at most the δ that selections, (εᵢ, number) each, need at this ε."""
    from leastnoise.core.exact import exponential

    outcomes = list(_list_outcomes(selections))
    whole = sum((epsilon * number for epsilon, number in selections), Fraction(0))
    deltas = []
    for at in (part * whole for part in _PARTS):
        event = [(likely, unlikely) for loss, likely, unlikely in outcomes if loss > at]
        right = sum((likely for likely, _ in event), Fraction(0))
        wrong = sum((unlikely for _, unlikely in event), Fraction(0))
        deltas.append((at, right - exponential(at).upper * wrong))
    return deltas


def _list_outcomes(
    selections: tuple[tuple[Fraction, int], ...],
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Yield Σ ±εᵢ, at most its probability for one neighbor, and at least that for the other."""
    columns = [list(_list_numbers_right(epsilon, number)) for epsilon, number in selections]
    for parts in product(*columns):
        losses, likely, unlikely = zip(*parts, strict=True)
        yield sum(losses, Fraction(0)), prod(likely), prod(unlikely)


def _list_numbers_right(
    epsilon: Fraction, number: int
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    from leastnoise.core.exact import Interval, exponential

    odds = exponential(epsilon)
    right = Interval(odds.lower / (1 + odds.lower), odds.upper / (1 + odds.upper)).shortened(_BITS)
    low, high = right.lower, right.upper
    for j in range(number + 1):
        ways, off = comb(number, j), number - j
        yield (
            (2 * j - number) * epsilon,
            ways * low**j * (1 - high) ** off,
            ways * high**off * (1 - low) ** j,
        )
