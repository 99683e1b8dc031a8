"""Estimates for the choice of noise for several numbers: a split of ε and δ, Gaussian accounting.

The choice depends on these estimates in floats, and the guarantee does not: it is proved of the
noise that is sampled.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from leastnoise.core.exact import as_float, as_log
from leastnoise.core.gaussian_cost import GaussianCost, epsilon_within, find_caps
from leastnoise.core.privacy import Privacy
from leastnoise.planning import find_end
from leastnoise.tables.released_number import Divided, ReleasedNumber, divide_cost

# The part of δ that discovering groups gets: near the best for every number of groups.
_DISCOVERY = Fraction(1, 4)
# The largest exponent and the smallest number of a float.
_LARGEST_LOG = 700.0
_SMALLEST = 5e-324


def selects_within_cost(privacy: Privacy, numbers: Divided, rest: Privacy) -> bool:
    """Return whether Gaussian accounting is better for selections and numbers than a split of ε.

    They do if the product of all errors is smaller: the rank error of a selection is in proportion
    to 1/ε, and the error of noise is as in the choice between a split and Gaussian noise.

    Args:
        privacy: The guarantee of everything.
        numbers: All numbers with their parts, together 1.
        rest: The guarantee of the numbers with noise, if each selection gets its part of ε.
    """
    if not privacy.delta or sum(number.touched for number, _ in numbers) == 1:
        return False
    shares = gaussian_shares(privacy, numbers)
    gain = 0.0
    for (number, part), share in zip(numbers, shares, strict=True):
        if number.candidates is not None:
            pure = privacy.epsilon * part / number.touched
            within = epsilon_within(share.square)
            gain += as_log(within) - as_log(pure) if pure and within else -math.inf
    noisy = [
        (one, share)
        for one, share in zip(numbers, shares, strict=True)
        if one[0].candidates is None
    ]
    if noisy:
        total = sum((part for (_, part), _ in noisy), Fraction(0))
        own = [(number, part / total) for (number, part), _ in noisy]
        other = estimate_split(rest, own)
        if rest.delta:
            other = min(other, estimate_gaussian(rest, own))
        shared = _estimate_shares([(number, share) for (number, _), share in noisy])
        gain += len(noisy) * (math.log(max(other, _SMALLEST)) - math.log(max(shared, _SMALLEST)))
    return gain > 0


def gaussian_shares(privacy: Privacy, numbers: Divided) -> tuple[GaussianCost, ...]:
    """Return the cost that one release of each number may have."""
    deciding = any(number.decides for number, _ in numbers)
    caps = find_caps(privacy, privacy.delta * _DISCOVERY if deciding else Fraction(0))
    return divide_cost(caps, numbers)


def divide(privacy: Privacy, number: ReleasedNumber, part: Fraction) -> Privacy:
    """Return the guarantee of one release of a number."""
    share = part / number.touched
    return Privacy(privacy.epsilon * share, privacy.delta * share)


def estimate_gaussian(privacy: Privacy, numbers: Divided) -> float:
    """Return about the errors of Gaussian noise, as :func:`_estimate_shares` does."""
    shares = gaussian_shares(privacy, numbers)
    return _estimate_shares(
        [(number, share) for (number, _), share in zip(numbers, shares, strict=True)]
    )


def _estimate_shares(numbers: Sequence[tuple[ReleasedNumber, GaussianCost]]) -> float:
    """Return about the maximum errors of deciding counts, or else all expected errors, over Δ."""
    deciding = any(number.decides for number, _ in numbers)
    total = 0.0
    for number, share in numbers:
        mu = as_float(share.mu)
        if number.decides:
            total += (
                find_end(Fraction(number.shift) / share.mu, Fraction(number.shift), share.failure)
                / number.shift
            )
        elif not deciding:
            total += math.sqrt(2 / math.pi) / mu
    return total


def estimate_split(privacy: Privacy, numbers: Divided) -> float:
    """Return about the same of a split, by the formulas of the families.

    Truncated Laplace noise for deciding counts, else the smaller of geometric or staircase noise
    and uniform noise (docs/theory/families.md). Only the choice of noise depends on it.
    """
    deciding = any(number.decides for number, _ in numbers)
    total = 0.0
    for number, share in numbers:
        part = divide(privacy, number, share)
        epsilon = as_float(part.epsilon)
        if number.decides:
            total += _truncated_radius(epsilon, as_log(part.delta))
        elif not deciding:
            at_integers = number.integer and number.shift == 1
            slope = min(epsilon, _LARGEST_LOG)
            falling = math.sinh(slope) if at_integers else 2 * math.sinh(slope / 2)
            total += 1 / max(falling, as_float(4 * part.delta), _SMALLEST)
    return total


def _truncated_radius(epsilon: float, log_delta: float) -> float:
    """Return ln(1 + (e^ε − 1)/2δ)/ε, or 1/2δ at ε = 0: the ends of truncated Laplace noise."""
    if not epsilon:
        return math.exp(min(-log_delta, _LARGEST_LOG)) / 2
    ratio = math.log(math.expm1(min(epsilon, _LARGEST_LOG))) - math.log(2) - log_delta
    return (
        ratio + math.log1p(math.exp(-ratio)) if ratio > 0 else math.log1p(math.exp(ratio))
    ) / epsilon
