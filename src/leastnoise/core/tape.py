"""Tapes: the interface of random bits, and of the functions that sample noise with them."""

from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Tape(Protocol):
    """A tape of independent fair bits, read from left to right."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits) from the next bits/8 bytes.

        The bytes are a little-endian two's-complement integer, shifted by 2^(bits−1). So numpy can
        read the same word as a centered int64 at no cost. As an unsigned integer, the word has its
        first bit flipped.
        """
        ...

    def words(self, count: int) -> int:
        """Return the next ``count`` words of 64 bits in one integer, the first lowest."""
        ...

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with fresh bytes; if it holds zeros, with the next ones."""
        ...


class Draw(Protocol[T_co]):
    """A function that adds noise to true values which were checked before."""

    def __call__(self, tape: Tape | None = None) -> T_co:
        """Return noisy values, with the bits of a tape. Default: those of the operating system.

        Only :mod:`leastnoise.testing` has another tape.
        """
        ...
