"""What a lower bound rests on, and how its check refuses."""

from fractions import Fraction
from typing import Protocol

from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.privacy import Privacy


class Evidence(Protocol):
    """A proof that no noise of a class costs less, which can be checked without its finder."""

    @property
    def among(self) -> str:
        """The class of noises it speaks of."""
        ...

    @property
    def integer(self) -> bool:
        """Whether it speaks of noises on the integers."""
        ...

    def proved(self, cost: Cost, privacy: Privacy, sensitivity: Fraction) -> Fraction:
        """Return the cost below which no noise of the class comes.

        Raises:
            InvalidParameter: If the evidence is not sound.
        """
        ...


def unproved(reason: str) -> InvalidParameter:
    """Say why a certificate is refused."""
    return InvalidParameter(
        f"a certificate must prove what it says; this one does not: {reason}. Calibrate again."
    )
