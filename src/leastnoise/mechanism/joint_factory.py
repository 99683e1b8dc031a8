"""``calibrate_joint``: find joint noise for several numbers that one person changes together."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from leastnoise.calibration import find_joint, parse_exact_sensitivity, parse_sensitivity
from leastnoise.core.exact import (
    Number,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, Power, l1
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.mechanism.joint import JointMechanism


def calibrate_joint(
    privacy: Privacy,
    *,
    sensitivity: Sequence[Number],
    integer: bool | Sequence[bool] = False,
    bounded: bool = False,
    cost: Cost = l1,
) -> "JointMechanism":
    """Find joint noise for several numbers, each of which one person changes by at most its Δ.

    Use it for numbers that are released together and that one person changes together: a count and
    a sum of the same rows. One guarantee covers all of them. For up to about 40 numbers the errors
    are half of those of independent noise, and the noise needs no δ. It is the K-norm mechanism
    (Hardt and Talwar 2010) for a cube, as a staircase: best known, and not claimed to be optimal.
    If instead the changes of all numbers add up to at most Δ, use :func:`calibrate_pair`.

    Args:
        privacy: The guarantee for all numbers together, with ε > 0. Only bounded noise uses δ.
        sensitivity: Δ of each number, never read from data.
        integer: Whether true numbers are integers, for all of them or one by one. Default: False.
        bounded: Whether the noise must be bounded, which requires δ > 0. Default: False.
        cost: The cost of the error of one number, for the shape of the noise and the reported cost.
            Default: ``l1``, |error|.

    Returns:
        A mechanism that releases all numbers at once.

    Raises:
        InvalidParameter: If an argument is invalid, or no such noise satisfies the guarantee.
        Unsupported: If there are more than 256 numbers, or ε is very small.

    >>> mechanism = calibrate_joint(Privacy(1), sensitivity=[1] * 10, integer=True)
    >>> float(mechanism.parts[0].cost)
    5.4874999851458846
    """
    deltas, integers = _parse_numbers(privacy, sensitivity, integer, cost)
    exponent = 2 if isinstance(cost, Power) and cost.p >= 2 else 1
    noise = find_joint(privacy, deltas, integers, bounded=bounded, exponent=exponent)
    return JointMechanism(privacy, deltas, integers, noise, cost)


def _parse_numbers(
    privacy: Privacy, sensitivity: object, integer: object, cost: Cost
) -> tuple[tuple[Fraction, ...], tuple[bool, ...]]:
    """Return the sensitivities and whether each number is an integer, checked."""
    if not isinstance(sensitivity, tuple | list) or not sensitivity:
        raise InvalidParameter(
            parameter("sensitivity") + " must be a list with the sensitivity of each number",
            got=quote(sensitivity),
            fix="Use for example [1, 50].",
        )
    given: list[Any] = (
        list(integer) if isinstance(integer, tuple | list) else [integer] * len(sensitivity)
    )
    if len(given) != len(sensitivity):
        raise InvalidParameter(
            parameter("integer") + " must be a boolean, or one for each number",
            got=f"{len(given)} for {len(sensitivity)} numbers",
            fix="Write for instance integer=[True, False].",
        )
    for each in given:
        parse_sensitivity(privacy, 1, cost, integer=each)  # checks all other arguments
    pairs = zip(sensitivity, given, strict=True)
    return tuple(parse_exact_sensitivity(d, integer=each) for d, each in pairs), tuple(given)
