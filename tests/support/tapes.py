"""Tapes that replay chosen words, and releases whose noise comes from a given tape."""

from collections.abc import Iterable
from typing import Any

import pytest

from leastnoise.core.arrays.release import releasing


class Replay:
    """A tape that hands out given 64-bit words, then fails."""

    def __init__(self, words: Iterable[int]) -> None:
        # A word w is stored as the two's complement of w − 2⁶³, as entropy.Tape says.
        self._bytes = b"".join((w - (1 << 63)).to_bytes(8, "little", signed=True) for w in words)
        self.read = 0

    def _next(self, length: int) -> bytes:
        taken = self._bytes[self.read : self.read + length]
        if len(taken) != length:
            raise AssertionError("the tape has run out")
        self.read += length
        return taken

    def word(self, bits: int) -> int:
        """Return the next word, as production tapes do."""
        return int.from_bytes(self._next(bits // 8), "little", signed=True) + (1 << (bits - 1))

    def fill(self, buffer: bytearray) -> None:
        """Fill a buffer with the next bytes, as production tapes do."""
        buffer[:] = self._next(len(buffer))


def released(*arguments: Any, **options: Any) -> Any:
    """Release an array with noise from a given tape; takes what ``releasing`` takes."""
    return releasing(*arguments, **options)()


@pytest.fixture(scope="session")
def replay() -> type[Replay]:
    """Return the class of replaying tapes."""
    return Replay
