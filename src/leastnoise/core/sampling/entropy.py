"""Read random bits: the only source of them in leastnoise.

There are two tapes. One reads the operating system's generator for every word. The other reads it
once, for a key of AES-256 in counter mode, and expands the key for a single call. Random bits do
not outlive a call, so a forked or copied process never repeats noise.

Every read is checked, and a read that fails is never used (:class:`EntropyFailed`). A read begins
with 16 extra bytes, two words b and c. It fails if it is short, if b = c, as with constant bytes,
or if (b, c) equals that of one of the last 64 reads of the process, as with a generator that
repeats itself. This is the repetition count test of NIST SP 800-90B, section 4.4.1, with a cutoff
of 2; it also works if reads of other sizes come in between. A working generator fails with
probability at most 2⁻⁶⁴ + 128·2⁻¹²⁸ per read, which is less than 10⁻⁹ in 10¹⁰ reads. Whether a read
fails depends on b and c alone, which are not used for noise. So the check does not change the
distribution of noise.
"""

import struct
from collections.abc import Callable
from functools import lru_cache
from os import urandom
from typing import Protocol

from leastnoise.errors import EntropyFailed

WORD = 64
CHECK_BYTES = 16
REMEMBERED = 64  # reads, at least
_MANY = 2 * REMEMBERED  # reads, at most
_KEY_BYTES = 32
_COUNTER_BYTES = 16
_FIRST_BIT = 1 << (WORD - 1)
_from_bytes = int.from_bytes  # looked up once, because it is called for every word
_WORD_AND_CHECK = 8 + CHECK_BYTES
_unpack_word = struct.Struct("<QQQ").unpack
_SEEN: dict[
    int, int
] = {}  # b by c, for the last reads; never used for noise, so a fork may copy it


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


def read(size: int) -> bytes:
    """Return fresh bytes from the operating system's generator, after checking them.

    Raises:
        EntropyFailed: If the generator raises an error, or its bytes are too few, constant or
            repeated.
    """
    try:
        block: bytes
        once, twice, block = struct.unpack(f"<QQ{size}s", urandom(size + CHECK_BYTES))
    except Exception:  # noqa: BLE001 -- whatever it is, there are no bits
        raise _failed() from None
    if once == twice or (twice in _SEEN and _SEEN.get(twice) == once):
        raise _failed()
    _SEEN[twice] = once
    if len(_SEEN) >= _MANY:
        _forget()
    return block


class SystemTape:
    """Bits straight from the operating system's cryptographic generator."""

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        if bits != WORD:
            return _from_bytes(read(bits // 8), "little") ^ (1 << (bits - 1))
        try:  # what read does, in less time
            once, twice, word = _unpack_word(urandom(_WORD_AND_CHECK))
        except Exception:  # noqa: BLE001 -- whatever it is, there are no bits
            raise _failed() from None
        if once == twice or (twice in _SEEN and _SEEN.get(twice) == once):
            raise _failed()
        _SEEN[twice] = once
        if len(_SEEN) >= _MANY:
            _forget()
        return word ^ _FIRST_BIT  # type: ignore[no-any-return]

    def words(self, count: int) -> int:
        """Return the next words, the first lowest."""
        size, unpack, first_bits = _shape(count)
        try:  # what read does, in less time
            once, twice, words = unpack(urandom(size))
        except Exception:  # noqa: BLE001 -- whatever it is, there are no bits
            raise _failed() from None
        if once == twice or (twice in _SEEN and _SEEN.get(twice) == once):
            raise _failed()
        _SEEN[twice] = once
        if len(_SEEN) >= _MANY:
            _forget()
        return _from_bytes(words, "little") ^ first_bits

    def fill(self, buffer: bytearray) -> None:
        """Overwrite ``buffer`` with the next bytes."""
        buffer[:] = read(len(buffer))


SYSTEM = SystemTape()  # it has no state, so one instance is enough


class CipherTape:
    """The key stream of AES-256-CTR under a key fresh from the operating system.

    It is as good as :class:`SystemTape` against anyone who cannot distinguish AES from a random
    permutation, and twenty times as fast. Only this object stores the key.
    """

    def __init__(self) -> None:
        """Take a fresh key and a fresh counter from the operating system."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        seed = read(_KEY_BYTES + _COUNTER_BYTES)  # one read, so that a repetition is detected
        key, counter = algorithms.AES(seed[:_KEY_BYTES]), modes.CTR(seed[_KEY_BYTES:])
        self._stream = Cipher(key, counter).encryptor()

    def word(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits)."""
        return int.from_bytes(self._stream.update(bytes(bits // 8)), "little") ^ (1 << (bits - 1))

    def words(self, count: int) -> int:
        """Return the next words, the first lowest."""
        return int.from_bytes(self._stream.update(bytes(8 * count)), "little") ^ _shape(count)[2]

    def fill(self, buffer: bytearray) -> None:
        """Encrypt ``buffer`` in place.

        The content of the buffer is fixed before the key stream is read, so the result is uniform
        for every content. A separate buffer of zeros would use twice the cache, and take a tenth
        more time.
        """
        if self._stream.update_into(buffer, buffer) != len(buffer):
            raise _failed()


@lru_cache
def _shape(count: int) -> tuple[int, Callable[[bytes], tuple[int, int, bytes]], int]:
    """Return the size of a checked read of words, its parser, and the bits to flip.

    The bits to flip are the first bit of each word (:meth:`Tape.word`).
    """
    shape = struct.Struct(f"<QQ{8 * count}s")
    return shape.size, shape.unpack, sum(1 << (WORD * i - 1) for i in range(1, count + 1))


def _forget() -> None:
    """Forget the older half of the remembered reads; several threads may call this at once."""
    for old in list(_SEEN)[:-REMEMBERED]:
        _SEEN.pop(old, None)


def _failed() -> EntropyFailed:
    return EntropyFailed(
        "The operating system's random generator failed: it raised an error, or returned too few, "
        "constant or repeated bytes. Nothing was released. A charge in a ledger stands",
        fix="Fix the system, then repeat the query with the same key.",
    )
