"""The optimal noise on the integers at Δ = 1 for every cost: the canonical noise.

p_0 = (e^ε−1+2δ)/(e^ε+1) and p_k = p_0·e^(−εk) while mass remains, with the remainder on the next
two points (Awan and Vadhan 2023; Awan and Ramasethu 2023): the tails of
:mod:`leastnoise.certificate.canonical_bound` with equality. At ε = 0 it is uniform with a rim, at
δ = 0 the geometric noise.
"""

from fractions import Fraction
from itertools import count

from leastnoise.accounting import Profile
from leastnoise.calibration.problem import Problem, certify
from leastnoise.calibration.staircase import LONGEST_ON_LINE, find_geometric
from leastnoise.certificate import CanonicalBound, Certificate, build_at_epsilon_0, choose_bits
from leastnoise.core.exact import exponential
from leastnoise.core.noise import DiscreteSteps, Noise, Run, Staircase, Steps, outside
from leastnoise.core.privacy import Privacy
from leastnoise.errors import Unsupported

# The most steps of the noise on each side. With more steps, other noise in closed form is nearly as
# cheap, and the certificate states the difference.
LONGEST = 1_000


def prove_canonical(problem: Problem) -> tuple[Noise, Certificate]:
    """Return the canonical noise for ε > 0 and δ > 0, optimal for every cost, and its proof."""
    evidence = CanonicalBound(integer=True)
    bound = evidence.prove(problem.cost, problem.privacy, problem.sensitivity)
    source = "the canonical noise (Awan and Vadhan 2023)"
    return certify(problem, build_canonical(problem.privacy), source, evidence, bound)


def find_canonical(problem: Problem) -> Noise:
    """Return the canonical noise: on the integers as it is, on the line spread over cells of Δ.

    It is private for all shifts up to Δ, because H is linear between multiples of Δ. Awan and
    Vadhan 2023.
    """
    privacy, sensitivity = problem.privacy, problem.sensitivity
    counting = problem.integer and sensitivity == 1
    if not privacy.delta:
        if counting or not privacy.epsilon:
            return find_geometric(problem)
        if problem.integer:
            raise outside("canonical noise", "δ > 0 or Δ = 1 for integer answers", privacy)
        return Staircase(sensitivity, Fraction(1, 2), 1 / exponential(privacy.epsilon).lower)
    if not privacy.epsilon and counting:
        return build_at_epsilon_0(privacy.delta, sensitivity)
    if counting:
        return build_canonical(privacy)
    noise = build_canonical(privacy, LONGEST_ON_LINE)
    first = -Fraction(len(noise.runs), 2)
    spread = Steps(
        [(first + k) * sensitivity for k in range(len(noise.runs) + 1)],
        [Fraction(run.weight, noise.total) / sensitivity for run in noise.runs],
    )
    return spread.rounded(Fraction(1)) if problem.integer else spread


def build_canonical(privacy: Privacy, longest: int = LONGEST) -> DiscreteSteps:
    """Return the canonical noise in integer weights, rounded so that it satisfies the guarantee.

    Each weight is at least e^−ε of the one before, so only the rim falls short. The middle is made
    smaller by a few units until the shortfall is at most δ.
    """
    factor, total = exponential(privacy.epsilon).lower, 1 << choose_bits(privacy)
    middle = (factor - 1 + 2 * privacy.delta) / (factor + 1) * total // 1
    for attempt in count():
        noise = _build_from_middle(
            middle - (middle & 1) - ((1 << attempt) & ~1), factor, total, longest
        )
        if Profile(noise, sensitivity=1).at_factor(factor) <= privacy.delta:
            return noise
    raise AssertionError  # count never ends; the guarantee holds long before the middle is 0


def _build_from_middle(middle: int, factor: Fraction, total: int, longest: int) -> DiscreteSteps:
    """Return the noise with this even weight at 0 that falls as fast as the guarantee allows."""
    sides, left = [], (total - middle) // 2
    weight = middle
    while left:
        weight = min(left, -(-weight * factor.denominator // factor.numerator))
        sides.append(weight)
        left -= weight
        if len(sides) > longest:
            raise Unsupported(
                f"The canonical noise would have more than {longest} steps on each side",
                fix="Omit the family: other noise is nearly as cheap for this guarantee.",
            )
    runs = [Run(-k, 1, sides[k - 1]) for k in range(len(sides), 0, -1)]
    runs += [Run(0, 1, middle), *(Run(k, 1, w) for k, w in enumerate(sides, start=1))]
    return DiscreteSteps(Fraction(1), tuple(runs))
