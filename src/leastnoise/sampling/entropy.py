"""The only source of bits. Everything random in leastnoise comes through this file.

Two tapes: one reads the operating system's generator for every word; one reads it once, for the
key of AES-256 in counter mode, and expands that for a single call. No state outlives a call, so a
forked or copied process never repeats noise.
"""

import os
from functools import lru_cache
from typing import Protocol

WORD = 64
_KEY_BYTES = 32
_COUNTER_BYTES = 16


class Tape(Protocol):
    """A tape of independent fair bits, read from left to right."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits) from the next bits/8 bytes.

        The bytes are a little-endian two's-complement integer, shifted by 2^(bits−1): so numpy can
        read the same word as an int64 and centre it at no cost. Read as an unsigned integer, it has
        its first bit flipped.
        """
        ...

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        ...


class SystemTape:
    """Bits straight from the operating system's cryptographic generator."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        return int.from_bytes(os.urandom(bits // 8), "little") ^ (1 << (bits - 1))

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        buffer[:] = os.urandom(len(buffer))


class CipherTape:
    """The key stream of AES-256-CTR under a key fresh from the operating system.

    As good as :class:`SystemTape` to anyone who cannot tell AES from a random permutation, and
    twenty times as fast. The key lives as long as this object and is never stored elsewhere.
    """

    def __init__(self) -> None:
        """Take a fresh key and a fresh counter from the operating system."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = algorithms.AES(os.urandom(_KEY_BYTES))
        self._stream = Cipher(key, modes.CTR(os.urandom(_COUNTER_BYTES))).encryptor()
        self._zeros = b""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        return int.from_bytes(self._stream.update(bytes(bits // 8)), "little") ^ (1 << (bits - 1))

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        if len(self._zeros) != len(buffer):
            self._zeros = bytes(len(buffer))
        self._stream.update_into(self._zeros, buffer)


def words(tape: Tape, count: int) -> int:
    """Return the next words of 64 bits in one integer, the first lowest: one call for all of them.

    Each is what :meth:`Tape.word` would have returned.
    """
    return tape.word(WORD * count) ^ _shifts(count - 1)


@lru_cache
def _shifts(count: int) -> int:
    """Return the first bits of so many words, which a longer word does not flip."""
    return sum(1 << (WORD * i - 1) for i in range(1, count + 1))
