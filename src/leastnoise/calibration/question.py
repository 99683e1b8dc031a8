"""What is asked of calibration: one value that every finder takes."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.privacy import Privacy


@dataclass(frozen=True, slots=True)
class Question:
    """The least noise that keeps ``privacy`` at ``sensitivity``, for a cost, in a class.

    ``integer`` asks for noise on the integers; ``among`` is ``"decreasing"`` or ``"any"``.
    """

    privacy: Privacy
    sensitivity: Fraction
    cost: Cost
    integer: bool
    among: str


def outside(noise: str, condition: str, privacy: Privacy) -> InvalidParameter:
    """Refuse parameters outside a theorem, by the name of its condition."""
    return InvalidParameter(
        f"{noise} needs {condition}; got {privacy}. Promise something else, or choose another "
        "family."
    )
