"""The least noise on the integers at Δ = 1: the canonical noise, whatever the cost.

p_0 = (e^ε−1+2δ)/(e^ε+1), p_k = p_0·e^(−εk) as far as the mass lasts, the remainder on the next two
points (Awan and Vadhan 2023; Awan and Ramasethu 2023): the tails of
:mod:`leastnoise.certificate.canonical_bound` with equality. At ε = 0 it is uniform with a rim, at
δ = 0 the geometric noise.
"""

from fractions import Fraction
from itertools import count

from leastnoise.calibration.question import Question
from leastnoise.certificate import CanonicalBound, Certificate
from leastnoise.certificate.canonical_bound import bits_for
from leastnoise.errors import Unsupported
from leastnoise.exact import exponential
from leastnoise.noise import DiscreteSteps, Noise, Run
from leastnoise.privacy import Privacy
from leastnoise.profiles import Profile

# How many steps the noise may have on each side. Beyond, other noises cost hardly more (the
# certificate says how much), and have a closed form.
LONGEST = 1_000


def least_canonical(asked: Question) -> tuple[Noise, Certificate]:
    """Return the canonical noise for ε > 0 and δ > 0, and its certificate: least for every cost."""
    noise = canonical(asked.privacy)
    evidence = CanonicalBound(integer=True)
    certificate = Certificate.of(
        noise,
        asked.privacy,
        asked.sensitivity,
        asked.cost,
        source="the canonical noise (Awan and Vadhan 2023)",
        lower_bound=evidence.proved(asked.cost, asked.privacy, asked.sensitivity),
        evidence=evidence,
    )
    return noise, certificate


def canonical(privacy: Privacy, longest: int = LONGEST) -> DiscreteSteps:
    """Return the canonical noise in whole weights, rounded so that the promise holds.

    Each weight is at least e^−ε of the one before, so that only the rim falls short. The middle is
    made smaller by a few units until the shortfall fits into δ.
    """
    factor, total = exponential(privacy.epsilon).lower, 1 << bits_for(privacy)
    middle = (factor - 1 + 2 * privacy.delta) / (factor + 1) * total // 1
    for attempt in count():
        noise = _from_middle(middle - (middle & 1) - ((1 << attempt) & ~1), factor, total, longest)
        if Profile(noise, sensitivity=1).at_factor(factor) <= privacy.delta:
            return noise
    raise AssertionError  # count never ends; the middle meets the promise long before it is empty


def _from_middle(middle: int, factor: Fraction, total: int, longest: int) -> DiscreteSteps:
    """Return the law that begins with this even weight at 0 and falls as slowly as it may."""
    sides, left = [], (total - middle) // 2
    weight = middle
    while left:
        weight = min(left, -(-weight * factor.denominator // factor.numerator))
        sides.append(weight)
        left -= weight
        if len(sides) > longest:
            raise Unsupported(
                f"the canonical noise may have at most {longest} steps on each side; got a promise "
                "that asks for more. Leave the family out: other noises cost hardly more there."
            )
    runs = [Run(-k, 1, sides[k - 1]) for k in range(len(sides), 0, -1)]
    runs += [Run(0, 1, middle), *(Run(k, 1, w) for k, w in enumerate(sides, start=1))]
    return DiscreteSteps(Fraction(1), tuple(runs))
