"""The only source of bits. Everything random in leastnoise comes through this file.

Two tapes: one reads the operating system's generator for every word; one reads it once, for the
key of AES-256 in counter mode, and expands that for a single call. No state outlives a call, so a
forked or copied process never repeats noise.
"""

import os
from typing import Protocol

_KEY_BYTES = 32
_COUNTER_BYTES = 16


class Tape(Protocol):
    """A tape of independent fair bits, read from left to right."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits) from the next bits/8 bytes.

        The bytes are a little-endian two's-complement integer, shifted by 2^(bits−1): so numpy can
        read the same word as an int64 and centre it at no cost.
        """
        ...

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        ...


class SystemTape:
    """Bits straight from the operating system's cryptographic generator."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        return centred(os.urandom(bits // 8)) + (1 << (bits - 1))

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
        return centred(self._stream.update(bytes(bits // 8))) + (1 << (bits - 1))

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        if len(self._zeros) != len(buffer):
            self._zeros = bytes(len(buffer))
        self._stream.update_into(self._zeros, buffer)


def centred(word: bytes) -> int:
    """Read the bytes of a word as a signed integer."""
    return int.from_bytes(word, "little", signed=True)
