"""The interface of functions that sample noise with the bits of a tape."""

from typing import Protocol, TypeVar

from leastnoise.core.sampling import Tape

__all__ = ["Draw", "Tape"]

T_co = TypeVar("T_co", covariant=True)


class Draw(Protocol[T_co]):
    """A function that adds noise to true values which were checked before."""

    def __call__(self, tape: Tape | None = None) -> T_co:
        """Return noisy values, with the bits of a tape. Default: those of the operating system.

        Only :mod:`leastnoise.testing` has another tape.
        """
        ...
