"""Divide a guarantee among answers: a search in floats, then exact parts.

The search in floats only proposes shares. Guarantees are computed from the exact parts.
"""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.core.basic_composition import split_evenly, success_probability
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter

Curve = Callable[[float], float]

_ROUNDS = 200
# The relative step for slopes, the smallest relative gain of a step, and the smallest exponent.
_PART = 1e-4
_GAIN = 1e-10
_SLOWEST = 1e-2


def balance(
    costs: Sequence[Curve], least: Sequence[float], go_on: Callable[[], object] = lambda: True
) -> list[float]:
    """Return shares that add up to 1, none below its minimum, of nearly minimal total cost.

    At the minimum, all answers above their minimum share have the same slope of the cost. So each
    share is multiplied by a power of its slope: for costs a/xᵖ the exponent 1/(p+1) gives the
    optimum x ∝ a^(1/(p+1)) in one step. The exponent is halved after a step without gain. The best
    shares so far are returned as soon as ``go_on`` returns False.
    """
    rest = 1 - sum(least)
    shares = [low + rest / len(costs) for low in least]
    lowest, speed = _total(costs, shares), 0.5
    for _ in range(_ROUNDS):
        if not go_on():
            break
        slopes = [_slope(cost, share) for cost, share in zip(costs, shares, strict=True)]
        scaled = [share * slope**speed for share, slope in zip(shares, slopes, strict=True)]
        proposal = _normalize(scaled, least)
        if proposal is None:
            break
        total = _total(costs, proposal)
        if total < lowest * (1 - _GAIN):
            shares, lowest = proposal, total
        else:
            speed /= 2
        if speed < _SLOWEST:
            break
    return shares


def _total(costs: Sequence[Curve], shares: Sequence[float]) -> float:
    return sum(cost(share) for cost, share in zip(costs, shares, strict=True))


def _slope(cost: Curve, share: float) -> float:
    step = share * _PART
    return max(0.0, (cost(share - step) - cost(share + step)) / (2 * step)) if share else 0.0


def _normalize(parts: Sequence[float], least: Sequence[float]) -> list[float] | None:
    """Return shares in the ratio of the parts that add up to 1, none below its minimum."""
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


# The number of digits of exact parts.
_DIGITS = 7
# Below this, 1 − (1−δ)^x and xδ are the same in floats.
_SMALL = 1e-9


def make_guarantees(
    privacy: Privacy, epsilons: Sequence[float], deltas: Sequence[float]
) -> tuple[Privacy, ...]:
    """Return a guarantee for each answer by its shares of ε and of −ln(1−δ).

    The proposal in floats is rounded down to short decimals and checked: the ε add up to at most ε,
    and the product of all 1 − δᵢ is at least 1 − δ.
    """
    parts = apportion(privacy.epsilon, epsilons)
    failing = _apportion_delta(privacy.delta, deltas)
    while success_probability(failing) < 1 - privacy.delta:  # the floats were slightly too large
        failing = tuple(_down(part * (1 - Fraction(1, 10**_DIGITS))) for part in failing)
    return tuple(Privacy(e, d) for e, d in zip(parts, failing, strict=True))


def apportion(total: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return parts in about the ratio of the shares that add up exactly to the total."""
    whole = sum(shares)
    if not total or not whole:
        return (Fraction(0),) * len(shares)
    if max(shares) == min(shares):
        return (total / len(shares),) * len(shares)
    parts = [_down(total * Fraction(share) / Fraction(whole)) for share in shares]
    largest = parts.index(max(parts))
    parts[largest] += total - sum(parts)
    return tuple(parts)


def _apportion_delta(delta: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return about 1 − (1−δ)^share for each share; shares are scaled to add up to 1."""
    whole = sum(shares)
    if not delta or not whole:
        return (Fraction(0),) * len(shares)
    used = sum(1 for share in shares if share)
    if used == 1:
        return tuple(delta if share else Fraction(0) for share in shares)
    if len({share for share in shares if share}) == 1:
        each = split_evenly(Privacy(0, delta), used).delta
        return tuple(each if share else Fraction(0) for share in shares)
    if as_float(delta) < _SMALL:  # by Bernoulli's inequality xδ is never too large
        return tuple(_down(delta * Fraction(share) / Fraction(whole)) for share in shares)
    spent = math.log1p(-as_float(delta))
    return tuple(_down(Fraction(-math.expm1(spent * share / whole))) for share in shares)


def _down(number: Fraction) -> Fraction:
    return Fraction(format_rounded(number, _DIGITS, ROUND_FLOOR)) if number else number


# The default relative precision of amounts, and the largest number of doublings of a step.
_FINE = 1.002
_DOUBLINGS = 12


class TooLittle(InvalidParameter):
    """The guarantee is too small for the targets; ``needs`` is a total ε that may suffice."""

    def __init__(self, problem: str, needs: Fraction | None = None) -> None:
        super().__init__(problem, fix="Accept larger errors, or use a larger ε or δ.")
        self.needs = needs


def find_smallest(enough: Callable[[float], bool], guess: float, fine: float = _FINE) -> float:
    """Return a sufficient amount that is about the smallest one, starting from a guess.

    Raises:
        TooLittle: If no amount near the guess suffices.
    """

    def at(place: int) -> float:
        return guess * fine**place

    step, good, bad = 1, None, None
    place = 0
    for _ in range(_DOUBLINGS):
        if enough(at(place)):
            good = place
            if bad is not None:
                break
            place -= step
        else:
            bad = place
            if good is not None:
                break
            place += step
        step *= 2
    if good is None:
        raise TooLittle("a target is far below the error of its noise")
    while bad is not None and good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if enough(at(middle)) else (good, middle)
    return at(good)


def find_crossing(width: Callable[[float], float], target: float, most: float) -> float:
    """Return about the amount up to ``most`` at which a decreasing width equals a target."""
    low, high = most * 1e-12, most
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if width(middle) > target else (low, middle)
    return high
