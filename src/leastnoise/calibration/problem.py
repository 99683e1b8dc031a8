"""The problem that calibration solves, parsed before anything is computed."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from leastnoise.certificate import CLASSES, Certificate, Evidence
from leastnoise.core.exact import Number, as_float, format_exact, parse_positive, quote
from leastnoise.core.noise import Noise
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.costs import Cost, as_cost
from leastnoise.deprecation import warn_deprecated
from leastnoise.errors import INTEGER, InvalidParameter, parameter

Found = TypeVar("Found", bound=Noise)


@dataclass(frozen=True, slots=True)
class Problem:
    """Find the noise in a class that satisfies ``privacy`` at ``sensitivity`` at the smallest cost.

    ``integer`` means noise on the integers; ``shape`` is ``"unimodal"`` or ``"any"``.
    """

    privacy: Privacy
    sensitivity: Fraction
    cost: Cost
    integer: bool
    shape: str


def certify(
    problem: Problem,
    noise: Found,
    source: str,
    evidence: Evidence | None,
    lower_bound: Fraction | None,
) -> tuple[Found, Certificate]:
    """Return noise with its certificate for a problem; verify nothing yet."""
    certificate = Certificate.of(
        noise,
        problem.privacy,
        problem.sensitivity,
        problem.cost,
        source=source,
        lower_bound=lower_bound,
        evidence=evidence,
    )
    return noise, certificate


def parse_sensitivity(
    privacy: Privacy, sensitivity: Number, cost: Cost, *, integer: bool
) -> Fraction:
    """Check the arguments of a problem; return the sensitivity, exactly."""
    as_privacy(privacy, "Privacy(delta=0.1)")
    as_cost(cost)
    if not isinstance(integer, bool):
        raise InvalidParameter(
            parameter("integer") + " must be True or False",
            got=quote(integer),
            fix="Use True if true answers are integers.",
        )
    return parse_exact_sensitivity(sensitivity, integer=integer)


def parse_exact_sensitivity(sensitivity: Number, *, integer: bool) -> Fraction:
    """Return a sensitivity, exactly; reject a fraction for integer answers."""
    exact = parse_positive(sensitivity, "sensitivity")
    if integer and exact.denominator != 1:
        raise InvalidParameter(
            parameter("sensitivity") + " must be an integer for integer answers",
            got=format_exact(exact),
            fix="Round it up, or omit " + INTEGER + ".",
        )
    return exact


def parse_shape(shape: object) -> str:
    """Return the shape of a class of noise, or reject it."""
    if isinstance(shape, str) and shape in CLASSES:
        return shape
    if isinstance(shape, str) and shape == "decreasing":
        warn_deprecated('"decreasing"', '"unimodal"')
        return "unimodal"
    raise InvalidParameter(
        parameter("shape") + ' must be "unimodal" or "any"',
        got=quote(shape),
        fix='"unimodal" means symmetric noise whose density does not increase with |x|.',
    )


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of a search: whether to solve, the target gap, and the seconds it may take."""

    solve: bool = True
    gap: Fraction = Fraction(1, 1000)
    seconds: float = 10.0


def parse_effort(solve: object, gap: Number, seconds: Number) -> Effort:
    """Return an effort, or reject its parts."""
    if not isinstance(solve, bool):
        raise InvalidParameter(
            "solve must be True or False",
            got=quote(solve),
            fix="Use False to skip the linear program where no closed form is known.",
        )
    target_gap = parse_positive(gap, "gap")
    return Effort(solve, target_gap, as_float(parse_positive(seconds, "seconds")))
