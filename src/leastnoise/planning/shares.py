"""Divide a budget among answers: shares in floats, then exact parts.

The floats only propose shares. Guarantees are computed from the exact parts.
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

_ROUNDS = 20
# The relative step for slopes, the smallest relative gain of a round, and the steps to try.
_PART = 1e-4
_GAIN = 1e-7
_STEPS = (1.0, 0.5, 0.2)
# The range and the halvings of the search for ln λ, and the largest exponent of a share.
_WIDEST = 300.0
_HALVINGS = 60
_DIGITS = 7


def balance(costs: Sequence[Curve], least: Sequence[float]) -> list[float]:
    """Return shares that add up to 1, none below its minimum, of nearly minimal total cost.

    At the minimum of ΣCᵢ(xᵢ) all slopes −Cᵢ′(xᵢ) above the minimum shares are equal to one λ
    (Lagrange). Near x a cost is about a·x^−q, which has the slope λ at the share (q·a/λ)^(1/(q+1)).
    For costs that are such powers the first round is exact. Others take a few rounds, and the
    search ends if the estimated total cost no longer falls. It starts at an even division.
    """
    rest = 1 - sum(least)
    shares = [low + rest / len(costs) for low in least]
    lowest = _total(costs, shares)
    for _ in range(_ROUNDS):
        proposal = _equalize(list(map(_tangent, costs, shares)), least)
        for step in _STEPS:
            tried = [x + step * (y - x) for x, y in zip(shares, proposal, strict=True)]
            total = _total(costs, tried)
            if total < lowest * (1 - _GAIN):
                shares, lowest = tried, total
                break
        else:
            break
    return shares


def _total(costs: Sequence[Curve], shares: Sequence[float]) -> float:
    return sum(cost(share) for cost, share in zip(costs, shares, strict=True))


def _tangent(cost: Curve, share: float) -> tuple[float, float]:
    """Return q and ln(q·a) of the power a·x^−q that touches a cost at a share."""
    value = cost(share)
    fall = (cost(share * (1 - _PART)) - cost(share * (1 + _PART))) / (2 * _PART)
    if fall <= 0 or value <= 0:
        return 1.0, -math.inf
    power = fall / value
    return power, math.log(fall) + power * math.log(share)


def _equalize(tangents: Sequence[tuple[float, float]], least: Sequence[float]) -> list[float]:
    """Return the shares at which all powers have one slope λ and that add up to 1."""

    def shares(log: float) -> list[float]:
        exponents = (min((level - log) / (power + 1), _WIDEST) for power, level in tangents)
        return [max(low, math.exp(e)) for low, e in zip(least, exponents, strict=True)]

    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) > 1 else (low, middle)
    parts = shares(high)
    above = [share - low for share, low in zip(parts, least, strict=True)]
    if not sum(above):
        above = [1.0] * len(above)
    scale = (1 - sum(least)) / sum(above)
    return [low + scale * more for low, more in zip(least, above, strict=True)]


def make_guarantees(
    privacy: Privacy, epsilons: Sequence[float], deltas: Sequence[float]
) -> tuple[Privacy, ...]:
    """Return a guarantee for each answer by its shares of ε and of −ln(1−δ).

    The ε add up to at most ε, and the product of all 1 − δᵢ is at least 1 − δ.
    """
    parts = apportion(privacy.epsilon, epsilons)
    failing = _apportion_delta(privacy.delta, deltas)
    return tuple(Privacy(e, d) for e, d in zip(parts, failing, strict=True))


def apportion(total: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return parts in about the ratio of the shares that add up exactly to the total."""
    whole = sum(map(Fraction, shares))
    if not total or not whole:
        return (Fraction(0),) * len(shares)
    used = sum(1 for share in shares if share)
    if len({share for share in shares if share}) == 1:
        return tuple(total / used if share else Fraction(0) for share in shares)
    parts = [round_down(total * Fraction(share) / whole) for share in shares]
    parts[parts.index(max(parts))] += total - sum(parts)
    return tuple(parts)


def _apportion_delta(delta: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return about 1 − (1−δ)^x for each share x; shares are scaled to add up to 1."""
    used, whole = sum(1 for share in shares if share), sum(shares)
    if not delta or not used:
        return (Fraction(0),) * len(shares)
    if len({share for share in shares if share}) == 1:
        each = split_evenly(Privacy(0, delta), used).delta
        return tuple(each if share else Fraction(0) for share in shares)
    spent = -math.log1p(-as_float(delta))
    parts = tuple(round_down(Fraction(-math.expm1(-spent * share / whole))) for share in shares)
    if success_probability(parts) >= 1 - delta and (all(parts) or not all(shares)):
        return parts
    # By Bernoulli's inequality parts that add up to δ are never too large.
    return apportion(delta, shares)


def round_down(number: Fraction) -> Fraction:
    """Return a short decimal that is at most a number ≥ 0."""
    return Fraction(format_rounded(number, _DIGITS, ROUND_FLOOR)) if number else number


# The relative precision of amounts, and the largest number of doublings of a step.
_FINE = 1.002
_DOUBLINGS = 12


class TooLittle(InvalidParameter):
    """The guarantee is too small for the targets.

    Attributes:
        epsilon: A total ε that may suffice; None if no ε is known to.
        factor: The factor by which wider targets may be met; None if it is unknown.
    """

    def __init__(
        self, problem: str, epsilon: Fraction | None = None, factor: float | None = None
    ) -> None:
        super().__init__(problem, fix="Accept larger errors, or use a larger ε or δ.")
        self.epsilon = epsilon
        self.factor = factor


def find_smallest(enough: Callable[[float], bool], guess: float) -> float:
    """Return a sufficient amount that is about the smallest one, starting from a guess.

    Raises:
        TooLittle: If no amount near the guess suffices.
    """

    def at(place: int) -> float:
        return guess * _FINE**place

    step, place, good, bad = 1, 0, None, None
    for _ in range(_DOUBLINGS):
        if enough(at(place)):
            good, place = place, place - step
        else:
            bad, place = place, place + step
        if good is not None and bad is not None:
            break
        step *= 2
    if good is None:
        raise TooLittle("a target is below the error of its noise")
    while bad is not None and good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if enough(at(middle)) else (good, middle)
    return at(good)
