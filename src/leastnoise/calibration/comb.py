"""The optimal noise of any shape on the line, for squared errors at ε = 0 and large δ: the comb.

Mass a at 0, density h on |x| < w, and h more on u < |x| < Δ−u. At Δ = 1 and with the β of
4β³ + 3β = 1 it is u = (1−β)/2, w = (1+β)/2 + β², h = (1−δ)/(2β(1+β)), a = (δ(1+2β)−1)/2β, and it
costs (1−δ)(1+β²)/2, which is optimal among all noise (docs/theory/comb.md). The comb exists for
δ ≥ 1/(1+2β) = 0.6265…, where a ≥ 0.

β is irrational, but for every rational β > 0 with a ≥ 0 the same formulas make a distribution that
is exactly (0, δ)-private: an error in β costs accuracy, never privacy.
"""

from fractions import Fraction

from leastnoise.calibration.problem import Problem, certify
from leastnoise.calibration.sources import COMB
from leastnoise.certificate import Certificate, CombBound
from leastnoise.core.noise import Noise, Steps, outside
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l2

# A convergent of β's continued fraction, below it by less than 2⁻⁸⁴.
_BELOW_ROOT = Fraction(347_814_665_481, 1_167_023_033_197)


def least_comb(
    privacy: Privacy, sensitivity: Fraction, cost: Cost
) -> tuple[Steps, Certificate] | None:
    """Return the comb, optimal among all noise of any shape, or None if it does not exist.

    It exists for ε = 0, the cost l2 and δ ≥ 1/(1+2β). The last condition is decided in
    rationals: it holds if r = (1−δ)/2δ is at most β, that is 4r³ + 3r ≤ 1.
    """
    delta = privacy.delta
    if privacy.epsilon or cost != l2 or not delta:
        return None
    smallest = (1 - delta) / (2 * delta)  # at this β, the mass at 0 is 0
    if 4 * smallest**3 + 3 * smallest > 1:
        return None
    root = max(smallest, _BELOW_ROOT)
    problem = Problem(privacy, sensitivity, cost, integer=False, shape="any")
    bound = (1 - delta) * (1 + root**2) / 2 * sensitivity**2
    noise = _build_comb(root, delta, sensitivity)
    return certify(problem, noise, COMB, CombBound(root), bound)


def find_comb(problem: Problem) -> Noise:
    """Return the comb for the family ``comb``; for ε > 0 the comb of the same δ."""
    privacy = Privacy(delta=problem.privacy.delta)
    comb = None if problem.integer else least_comb(privacy, problem.sensitivity, problem.cost)
    if comb is None:
        raise outside(
            "the comb",
            "the cost l2, real answers and δ ≥ 0.62653…",
            problem.privacy,
        )
    return comb[0]


def prove_comb(problem: Problem) -> tuple[Noise, Certificate] | None:
    """Return the comb with the proof that it is optimal among all noise, or None."""
    if problem.integer:
        return None
    return least_comb(problem.privacy, problem.sensitivity, problem.cost)


def _build_comb(root: Fraction, delta: Fraction, sensitivity: Fraction) -> Steps:
    """Return the comb of any β > 0 with δ(1+2β) ≥ 1."""
    inner, outer = sensitivity * (1 - root) / 2, sensitivity * (1 + root) / 2
    width = outer + sensitivity * root**2
    level = (1 - delta) / (2 * root * (1 + root) * sensitivity)
    return Steps(
        [-width, -outer, -inner, inner, outer, width],
        [level, 2 * level, level, 2 * level, level],
        {0: (delta * (1 + 2 * root) - 1) / (2 * root)},
    )
