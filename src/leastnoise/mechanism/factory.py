"""How a mechanism is made: ``calibrate`` finds its noise, ``hold`` is given it."""

from fractions import Fraction

from leastnoise.calibration import (
    Problem,
    class_read,
    effort_read,
    find_noise,
    sensitivity_read,
)
from leastnoise.certificate import Certificate
from leastnoise.core.exact import Number, quote
from leastnoise.core.noise import LineNoise, Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism.mechanism import Drawn, Mechanism


def calibrate(
    privacy: Privacy,
    *,
    sensitivity: Number,
    cost: Cost = l1,
    integer: bool = False,
    among: str = "decreasing",
    family: str | None = None,
    solve: bool = True,
    gap: Number = Fraction(1, 1000),
    seconds: Number = 10,
) -> "Mechanism":
    """Find the noise of least cost that keeps a promise, and prove both.

    Where the least noise of the class is known in closed form it is returned: at ε = 0 GDGK19's
    noise (Theorems 2 and 3), or of any shape the comb; for whole numbers at Δ = 1 the canonical
    noise. At δ = 0 it is a staircase (Geng and Viswanath 2016). Else a linear programme is solved
    until cost and lower bound meet within ``gap``; ``certificate`` says how near they came.

    Args:
        privacy: What is promised.
        sensitivity: Δ, how much one person can change the true answer. It is never read from data.
        cost: What an error costs; its expectation is made least.
        integer: Whether true answers are whole numbers. Then so are the released ones.
        among: The class in which to look: ``"decreasing"`` for symmetric noises that never rise
            away from 0, which is every noise in common use, or ``"any"``.
        family: A kind of noise to be used whatever it costs, for instance ``"laplace"``,
            ``"gaussian"`` or ``"truncated_laplace"``; ``leastnoise.calibration.FAMILIES`` lists
            them. The certificate says how far from the least of all it may be.
        solve: Whether to solve where no closed form is proved least. If not, the cheapest of the
            known families is returned at once, with a bound.
        gap: How far above the least the cost may be, relative to it.
        seconds: How long to solve. If the gap is not reached, the best that was found is returned.

    Raises:
        InvalidParameter: If the question is wrong or has no answer.

    >>> mechanism = calibrate(Privacy(delta=0.1), sensitivity=1)
    >>> mechanism.noise, mechanism.cost
    (Uniform(radius=5, atom=0), Fraction(5, 2))
    >>> mechanism = calibrate(Privacy(1, "1e-6"), sensitivity=1)
    >>> print(mechanism.certificate)  # doctest: +ELLIPSIS
    within 0.0... % of the least among symmetric noises that never rise away from 0 (...)
    """
    moved = sensitivity_read(privacy, sensitivity, cost, integer=integer)
    problem = Problem(privacy, moved, cost, integer, class_read(among))
    noise, certificate = find_noise(problem, effort_read(solve, gap, seconds), family)
    return Mechanism(
        privacy, moved, noise, certificate, Drawn(noise.discretize(moved), cost), integer
    )


def hold(
    noise: LineNoise, privacy: Privacy, *, sensitivity: Number, cost: Cost = l1
) -> "Mechanism":
    """Hold a noise of your own to a promise: check it over every move, then release with it.

    Args:
        noise: Any piecewise constant law with atoms, symmetric or not; a staircase; or a Laplace,
            TruncatedLaplace or Gaussian law.
        privacy: What is promised, any (ε, δ).
        sensitivity: Δ.
        cost: What an error costs; only to be able to say what the noise costs.

    Raises:
        NotPrivate: If it does not keep the promise, with the worst move.

    >>> from leastnoise import Steps
    >>> comb = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
    >>> hold(comb, Privacy(delta="1/2"), sensitivity=1, cost=l1).cost
    Fraction(1, 2)
    """
    # Callers without a type checker can pass anything.
    if not isinstance(noise, LineNoise) or isinstance(noise, Uniform):  # type: ignore[redundant-expr]
        raise InvalidParameter(
            "a noise of your own must be Steps, a Staircase, Laplace, TruncatedLaplace or Gaussian",
            got=quote(noise),
            fix="Give for instance Steps(breaks, heights), or calibrate.",
        )
    moved = sensitivity_read(privacy, sensitivity, cost, integer=False)
    certificate = Certificate.of(noise, privacy, moved, cost, source="given, not found")
    certificate.check()
    drawn = Drawn(noise.discretize(moved), cost)
    return Mechanism(privacy, moved, noise, certificate, drawn, integer=False)
