"""Read random bits: the only source of them in leastnoise.

Two tapes: one reads the operating system's generator for every word; one reads it once, for the
key of AES-256 in counter mode, and expands that for a single call. No state outlives a call, so a
forked or copied process never repeats noise.
"""

from functools import lru_cache
from os import urandom
from typing import Protocol

WORD = 64
_KEY_BYTES = 32
_COUNTER_BYTES = 16
_FIRST_BIT = 1 << (WORD - 1)
_from_bytes = int.from_bytes  # looked up once, not for every word


class Tape(Protocol):
    """A tape of independent fair bits, read from left to right."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits) from the next bits/8 bytes.

        The bytes are a little-endian two's-complement integer, shifted by 2^(bits−1): so numpy can
        read the same word as an int64 and center it at no cost. Read as an unsigned integer, it has
        its first bit flipped.
        """
        ...

    def words(self, count: int) -> int:
        """Return the next ``count`` words of 64 bits in one integer, the first lowest."""
        ...

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with fresh bytes: the next ones, if it holds zeros."""
        ...


class SystemTape:
    """Bits straight from the operating system's cryptographic generator."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        if bits == WORD:
            return _from_bytes(urandom(8), "little") ^ _FIRST_BIT
        return _from_bytes(urandom(bits // 8), "little") ^ (1 << (bits - 1))

    def words(self, count: int) -> int:
        """Return the next words, the first lowest."""
        return _from_bytes(urandom(8 * count), "little") ^ _first_bits(count)

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        buffer[:] = urandom(len(buffer))


SYSTEM = SystemTape()  # it holds nothing, so that one is enough


class CipherTape:
    """The key stream of AES-256-CTR under a key fresh from the operating system.

    As good as :class:`SystemTape` to anyone who cannot tell AES from a random permutation, and
    twenty times as fast. The key lives as long as this object and is never stored elsewhere.
    """

    def __init__(self) -> None:
        """Take a fresh key and a fresh counter from the operating system."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = algorithms.AES(urandom(_KEY_BYTES))
        self._stream = Cipher(key, modes.CTR(urandom(_COUNTER_BYTES))).encryptor()

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        return int.from_bytes(self._stream.update(bytes(bits // 8)), "little") ^ (1 << (bits - 1))

    def words(self, count: int) -> int:
        """Return the next words, the first lowest."""
        return int.from_bytes(self._stream.update(bytes(8 * count)), "little") ^ _first_bits(count)

    def fill(self, buffer: bytearray) -> None:
        """Encrypt ``buffer`` in place: what is in it is known before the key stream that hides it.

        So the result is uniform whatever that was. Zeros of its own to encrypt would take up as
        much of the cache again, and a tenth more time.
        """
        self._stream.update_into(buffer, buffer)


@lru_cache
def _first_bits(count: int) -> int:
    """Return the first bit of each word, which words as they are stored have flipped."""
    return sum(1 << (WORD * i - 1) for i in range(1, count + 1))
