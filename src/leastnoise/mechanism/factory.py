"""``calibrate``: find the noise, and build the mechanism that adds it."""

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
from leastnoise.mechanism.mechanism import Discretized, Mechanism


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
    """Find noise that satisfies a guarantee, and prove how near to the least cost it is.

    Where the optimal noise of the class is known in closed form it is returned: at ε = 0 GDGK19's
    noise (Theorems 2 and 3), or of any shape the comb; for integers at Δ = 1 the canonical noise.
    At δ = 0 it is a staircase, whose optimality is cited (Geng and Viswanath 2016). Else a linear
    program is solved until cost and lower bound meet within ``gap``; ``certificate`` says how near
    they came.

    Args:
        privacy: The guarantee.
        sensitivity: Δ, how much one person can change the true answer. It is never read from data.
        cost: The cost of an error; its expectation is minimized.
        integer: Whether true answers are integers. Then so are the released ones.
        shape: The class in which to look: ``"unimodal"`` for symmetric unimodal noise, whose
            density does not increase away from 0 and which is all noise in common use, or
            ``"any"``.
        family: A family of noise to be used whatever it costs, for instance ``"laplace"``,
            ``"gaussian"`` or ``"truncated_laplace"``; ``leastnoise.calibration.FAMILIES`` lists
            them. The certificate says how far from optimal it may be. Default: no restriction.
        solve: Whether to solve where no closed form is proved optimal. If not, the cheapest of the
            known families is returned at once, with a bound.
        gap: How far above the optimum the cost may be, relative to it.
        seconds: How long to search. If the gap is not reached by then, the best noise that was
            verified is returned. Closed forms are tried in any case. Default: 10.

    Raises:
        InvalidParameter: If an argument is invalid, or no noise satisfies the guarantee.

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
    """Do what :func:`calibrate` does, for a problem whose parts are read and checked."""
    noise, certificate = find_noise(problem, effort, family)
    delta = problem.sensitivity
    drawn = Discretized(noise.discretize(delta), problem.cost)
    return Mechanism(problem.privacy, delta, noise, certificate, drawn, problem.integer)
