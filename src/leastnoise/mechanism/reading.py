"""Read what callers write: refuse what is no question, before anything is computed."""

from fractions import Fraction

from leastnoise.calibration import Effort
from leastnoise.certificate import CLASSES
from leastnoise.costs import Cost, as_cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import Number, as_float, described, exactly, positive
from leastnoise.privacy import Privacy


def sensitivity_read(
    privacy: Privacy, sensitivity: Number, cost: Cost, *, integer: bool
) -> Fraction:
    """Refuse what is no question; return the sensitivity, exactly."""
    if not isinstance(privacy, Privacy):
        raise InvalidParameter(
            f"privacy must be a Privacy; got {described(privacy)}. Write Privacy(delta=0.1)."
        )
    as_cost(cost)
    if not isinstance(integer, bool):
        raise InvalidParameter(
            f"integer must be True or False; got {described(integer)}. "
            "Say whether true answers are whole numbers."
        )
    moved = positive(sensitivity, "sensitivity")
    if integer and moved.denominator != 1:
        raise InvalidParameter(
            "the sensitivity of a whole-number answer must be a whole number; "
            f"got {exactly(moved)}. Round it up, or leave out integer=True."
        )
    return moved


def class_read(among: object) -> str:
    """Refuse what is no class of noises."""
    if isinstance(among, str) and among in CLASSES:
        return among
    raise InvalidParameter(
        f'among must be "decreasing" or "any"; got {described(among)}. '
        "Say in which class of noises to look."
    )


def effort_read(solve: object, gap: Number, seconds: Number) -> Effort:
    """Refuse an effort that makes no sense."""
    if not isinstance(solve, bool):
        raise InvalidParameter(
            f"solve must be True or False; got {described(solve)}. "
            "Say whether a programme may be solved where no closed form is known."
        )
    wanted = positive(gap, "gap")
    return Effort(solve, wanted, as_float(positive(seconds, "seconds")))
