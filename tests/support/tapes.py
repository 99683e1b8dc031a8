"""Tapes that replay chosen words, and releases whose noise comes from a given tape."""

import struct
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest

from leastnoise.core.arrays import prepare_array
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.sampling.entropy import CHECK_BYTES


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

    def words(self, count: int) -> int:
        """Return the next words, as production tapes do."""
        return sum(self.word(64) << 64 * at for at in range(count))

    def fill(self, buffer: bytearray) -> None:
        """Fill a buffer with the next bytes, as production tapes do."""
        buffer[:] = self._next(len(buffer))


_CHECKS = count(1 << 32, 2)  # no two alike, whoever reads them


def with_checks(stream: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a generator of the system whose bytes are a stream's, and whose checks pass."""

    def urandom(size: int) -> bytes:
        number = next(_CHECKS)
        return struct.pack("<QQ", number, number + 1) + stream(size - CHECK_BYTES)

    return urandom


def released(values: Any, grid: Grid, noise: LatticeNoise, tape: Any, *, integer: bool) -> Any:
    """Release an array with noise from a given tape: checked, then drawn."""
    return prepare_array(values, grid, noise.scheme, tape, integer=integer)()


@pytest.fixture(scope="session")
def replay() -> type[Replay]:
    """Return the class of replaying tapes."""
    return Replay
