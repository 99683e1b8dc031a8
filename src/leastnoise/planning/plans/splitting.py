"""A promise cut into parts, exactly: what each answer may promise so that all keep the whole."""

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction

from leastnoise.exact import approximately, as_float, shortened_up
from leastnoise.planning.releases import split
from leastnoise.privacy import Privacy

# Parts are decimals of so many digits.
_DIGITS = 7
# Below this, 1 − (1−δ)^x is xδ as far as floats can tell.
_SMALL = 1e-9


def even(privacy: Privacy, answers: int) -> tuple[Privacy, ...]:
    """Return the same promise for each answer (:func:`leastnoise.planning.releases.split`)."""
    return (split(privacy, answers),) * answers


def promises(
    privacy: Privacy, epsilons: Sequence[float], deltas: Sequence[float]
) -> tuple[Privacy, ...]:
    """Return a promise for each answer by its shares of ε and of −ln(1−δ).

    What is proposed in floats is rounded down to short decimals, then checked: the ε add up to at
    most ε, and the product of all 1 − δᵢ is at least 1 − δ.
    """
    parts = apportioned(privacy.epsilon, epsilons)
    failing = _failing(privacy.delta, deltas)
    while kept(failing) < 1 - privacy.delta:  # floats were a hair above: then a hair less
        failing = tuple(_down(part * (1 - Fraction(1, 10**_DIGITS))) for part in failing)
    return tuple(Privacy(e, d) for e, d in zip(parts, failing, strict=True))


def together(parts: Iterable[Privacy], most: Fraction = Fraction(1)) -> Privacy:
    """Return what answers keep together that keep these promises: (Σεᵢ, 1 − Π(1−δᵢ)).

    Whatever keeps (εᵢ, δᵢ) can be had from an answer that with probability δᵢ tells all, and else
    changes the odds by at most e^εᵢ (Kairouz, Oh and Viswanath 2015, Theorem 3.5 with their
    ε̃ = Σεᵢ; of equal promises, Theorem 3.3). With probability Π(1−δᵢ) none of them tells all, and
    then the odds change by at most e^Σεᵢ; adaptively too, as the promises are fixed beforehand.
    A δ of very many digits is rounded up, but not beyond ``most`` if it is no more than that.

    >>> together([Privacy("0.5"), Privacy("0.25", "0.1"), Privacy(delta="0.1")])
    Privacy(epsilon=0.75, delta=0.19)
    """
    whole = list(parts)
    failing = 1 - kept(part.delta for part in whole)
    stated = shortened_up(failing) if failing else failing
    return Privacy(
        sum((part.epsilon for part in whole), Fraction(0)),
        min(stated, most) if failing <= most else stated,
    )


def apportioned(total: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return parts in about the ratio of the shares that add up to the total, exactly."""
    whole = sum(shares)
    if not total or not whole:
        return (Fraction(0),) * len(shares)
    if max(shares) == min(shares):
        return (total / len(shares),) * len(shares)
    parts = [_down(total * Fraction(share) / Fraction(whole)) for share in shares]
    largest = parts.index(max(parts))
    parts[largest] += total - sum(parts)
    return tuple(parts)


def kept(failing: Iterable[Fraction]) -> Fraction:
    """Return Π(1−δᵢ)."""
    return math.prod((1 - part for part in failing), start=Fraction(1))


def _failing(delta: Fraction, shares: Sequence[float]) -> tuple[Fraction, ...]:
    """Return about 1 − (1−δ)^share for each share, which are scaled to add up to 1."""
    whole = sum(shares)
    if not delta or not whole:
        return (Fraction(0),) * len(shares)
    used = sum(1 for share in shares if share)
    if used == 1:
        return tuple(delta if share else Fraction(0) for share in shares)
    if len({share for share in shares if share}) == 1:
        each = split(Privacy(0, delta), used).delta
        return tuple(each if share else Fraction(0) for share in shares)
    if as_float(delta) < _SMALL:  # by Bernoulli's inequality xδ is never too much
        return tuple(_down(delta * Fraction(share) / Fraction(whole)) for share in shares)
    spent = math.log1p(-as_float(delta))
    return tuple(_down(Fraction(-math.expm1(spent * share / whole))) for share in shares)


def _down(number: Fraction) -> Fraction:
    return Fraction(approximately(number, _DIGITS, ROUND_FLOOR)) if number else number
