"""How much of what is there each answer gets: a search in floats, which proposes and no more."""

from collections.abc import Callable, Sequence

Curve = Callable[[float], float]

_ROUNDS = 200
# A slope is measured over this part of a share; a step that gains less than this part is none.
_PART = 1e-4
_GAIN = 1e-10
_SLOWEST = 1e-2


def balanced(
    costs: Sequence[Curve], least: Sequence[float], go_on: Callable[[], object] = lambda: True
) -> list[float]:
    """Return shares of 1, none below its least, whose costs add up to about as little as can be.

    Where a sum of costs is least, one more bit of the whole gains as much with one answer as with
    any other that has more than its least. Shares of which a bit gains more grow, by a power of how
    much more: for costs a/xᵖ and the power 1/(p+1) that is the optimum at once, x ∝ a^(1/(p+1)).
    The power is halved where a step does not help; the best that was seen is returned, as
    soon as ``go_on`` says no.
    """
    rest = 1 - sum(least)
    shares = [low + rest / len(costs) for low in least]
    lowest, speed = _total(costs, shares), 0.5
    for _ in range(_ROUNDS):
        if not go_on():
            break
        slopes = [_slope(cost, share) for cost, share in zip(costs, shares, strict=True)]
        moved = [share * slope**speed for share, slope in zip(shares, slopes, strict=True)]
        tried = _filled(moved, least)
        if tried is None:
            break
        total = _total(costs, tried)
        if total < lowest * (1 - _GAIN):
            shares, lowest = tried, total
        else:
            speed /= 2
        if speed < _SLOWEST:
            break
    return shares


def _total(costs: Sequence[Curve], shares: Sequence[float]) -> float:
    return sum(cost(share) for cost, share in zip(costs, shares, strict=True))


def _slope(cost: Curve, share: float) -> float:
    """Return how fast a cost falls as its share grows; 0 where it does not."""
    step = share * _PART
    return max(0.0, (cost(share - step) - cost(share + step)) / (2 * step)) if share else 0.0


def _filled(parts: Sequence[float], least: Sequence[float]) -> list[float] | None:
    """Return shares in the ratio of the parts that add up to 1, none below its least."""
    if not 0 < max(parts) < float("inf"):
        return None
    held: set[int] = set()
    while True:
        free = [i for i in range(len(parts)) if i not in held]
        left = 1 - sum(least[i] for i in held)
        whole = sum(parts[i] for i in free)
        if left <= 0 or whole <= 0:
            return None
        shares = [least[i] if i in held else left * parts[i] / whole for i in range(len(parts))]
        below = {i for i in free if shares[i] < least[i]}
        if not below:
            return shares
        held |= below
