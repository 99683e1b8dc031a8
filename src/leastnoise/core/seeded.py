"""A tape of bits that a seed determines: for study and for tests, and never for a release."""

from hashlib import shake_256

from leastnoise.core.sampling import WORD


class SeededTape:
    """A tape of bits that its seed determines: SHAKE-256 of the seed and the number of the read.

    It is not private: anyone with the seed can compute every bit.
    """

    def __init__(self, seed: int | str) -> None:
        self._seed, self._reads = seed, 0

    def word(self, bits: int) -> int:
        """Return the next word; see Tape."""
        return int.from_bytes(self._next(bits // 8), "little") ^ (1 << (bits - 1))

    def words(self, count: int) -> int:
        """Return the next words, the first lowest; see Tape."""
        return sum(self.word(WORD) << (WORD * place) for place in range(count))

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes; see Tape."""
        buffer[:] = self._next(len(buffer))

    def _next(self, size: int) -> bytes:
        self._reads += 1
        return shake_256(f"leastnoise/{self._seed}/{self._reads}".encode()).digest(size)
