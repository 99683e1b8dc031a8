"""``calibrate``: find noise for a guarantee, and build the mechanism that adds it."""

from fractions import Fraction

from leastnoise.calibration import (
    Effort,
    Problem,
    find_noise,
    parse_effort,
    parse_sensitivity,
    parse_shape,
)
from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import renamed_arguments
from leastnoise.mechanism.discretized import Discretized
from leastnoise.mechanism.mechanism import Mechanism


@renamed_arguments(among="shape")
def calibrate(
    privacy: Privacy,
    *,
    sensitivity: Number,
    cost: Cost = l1,
    integer: bool = False,
    shape: str = "unimodal",
    family: str | None = None,
    solve: bool = True,
    gap: Number = Fraction(1, 1000),
    seconds: Number = 10,
) -> Mechanism:
    """Find the cheapest noise for a guarantee, with a proof of how close to optimal it is.

    If the optimal noise of the class is known in closed form, it is returned: at ε = 0 the noise of
    GDGK19 (Theorems 2 and 3), or the comb among noise of any shape; for integers at Δ = 1 the
    canonical noise. At δ = 0 it is a staircase, whose optimality among all noise is cited, not
    certified (Geng and Viswanath 2016). Otherwise a linear program is solved until the cost and the
    lower bound meet within ``gap``. The certificate states the gap that was reached.

    For a vector of numbers that one person changes together, measured by its ℓ2 norm, use
    :func:`leastnoise.mechanism.calibrate_vector`.

    Args:
        privacy: The guarantee.
        sensitivity: Δ, how much one person can change the true answer. It is never read from data.
        cost: The cost of an error; its expectation is minimized. Default: ``l1``, |error|.
        integer: Whether true answers are integers; then released values are integers too. Default:
            False.
        shape: The class of noise: ``"unimodal"`` for symmetric unimodal noise (a density that does
            not increase with |x|, as all noise in common use), or ``"any"``. Default:
            ``"unimodal"``.
        family: A family of noise to use whatever it costs, such as ``"laplace"``, ``"gaussian"`` or
            ``"truncated_laplace"``; ``leastnoise.calibration.FAMILIES`` lists them. The certificate
            states how far from optimal it can be. Default: no restriction.
        solve: Whether to run the solver if no closed form is proved optimal. If False, the cheapest
            known family is returned at once, with a lower bound. Default: True.
        gap: The largest accepted excess of the cost over the lower bound, relative to it. Default:
            1/1000.
        seconds: The time limit of the solver. If it is reached first, the best verified noise is
            returned. Default: 10.

    Returns:
        A mechanism that releases answers with this noise.

    Raises:
        InvalidParameter: If an argument is invalid, or no noise satisfies the guarantee.
        Unsupported: If this version cannot compute the noise, for example of a family with too
            many steps.

    >>> mechanism = calibrate(Privacy(delta=0.1), sensitivity=1)
    >>> mechanism.noise, mechanism.cost
    (Uniform(radius=5, atom=0), Fraction(5, 2))
    >>> mechanism = calibrate(Privacy(1, "1e-6"), sensitivity=1)
    >>> print(mechanism.certificate)  # doctest: +ELLIPSIS
    within 0.0...% of optimal among symmetric unimodal noise (...)
    """
    delta = parse_sensitivity(privacy, sensitivity, cost, integer=integer)
    problem = Problem(privacy, delta, cost, integer, parse_shape(shape))
    return calibrate_problem(problem, parse_effort(solve, gap, seconds), family)


def calibrate_problem(problem: Problem, effort: Effort, family: str | None = None) -> Mechanism:
    """Do the same as :func:`calibrate` for a problem whose arguments are parsed and checked."""
    noise, certificate = find_noise(problem, effort, family)
    delta = problem.sensitivity
    discretized = Discretized(noise.discretize(delta), problem.cost)
    return Mechanism(problem.privacy, delta, noise, certificate, discretized, problem.integer)
