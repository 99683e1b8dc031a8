"""Sample noise for study, into arrays of floats. No release uses this module."""

from __future__ import annotations

from hashlib import shake_256
from typing import TYPE_CHECKING

from leastnoise.core.arrays import draw_floats
from leastnoise.core.exact import parse_count, quote
from leastnoise.core.sampling import WORD, CipherTape, Scheme, Tape
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sampler = tuple[Scheme, Fraction, Fraction]

# The largest number of samples of one call: an array of 16 GiB.
LARGEST_SAMPLE = 2**31


def sample(n: int, sampler: Sampler) -> Floats:
    """Return ``n`` samples from the operating system's generator."""
    return _draw(n, sampler, CipherTape())


def sample_not_private(n: int, seed: int, sampler: Sampler) -> Floats:
    """Return ``n`` samples that anyone with ``seed`` can reproduce."""
    return _draw(n, sampler, SeededTape(parse_count(seed, "seed", least=0)))


class SeededTape:
    """A tape of bits that its seed determines: SHAKE-256 of the seed and the number of the read.

    It is not private: anyone with the seed can reproduce the noise.
    """

    def __init__(self, seed: int) -> None:
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


def _draw(n: int, sampler: Sampler, tape: Tape) -> Floats:
    size = parse_count(n, "n", least=0)
    if size > LARGEST_SAMPLE:
        raise InvalidParameter(
            f"n must be at most 2³¹ = {LARGEST_SAMPLE}",
            got=quote(n),
            fix="Sample in several calls.",
        )
    return draw_floats(*sampler, size=size, tape=tape)
