"""What is asked of calibration: one value that every finder takes."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.costs import Cost
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
