"""What the tests share: how Hypothesis runs, and tapes that replay chosen words."""

import os
import tempfile
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import Phase, settings

from leastnoise.core.arrays import prepare_array
from leastnoise.core.lattice import Grid
from leastnoise.core.noise import LatticeNoise
from tests.support.engines import duck, pg, pg_address, spark
from tests.support.faulty_ledgers import kept, kept_in_crashing, kept_in_database
from tests.support.postgres_servers import (
    place,
    places,
    postgres,
    postgres_of_its_own,
    quick_postgres,
)

# Fixtures, for every test.
__all__ = [
    "duck",
    "kept",
    "kept_in_crashing",
    "kept_in_database",
    "pg",
    "pg_address",
    "place",
    "places",
    "postgres",
    "postgres_of_its_own",
    "quick_postgres",
    "spark",
]

settings.register_profile("leastnoise", deadline=None, derandomize=True, max_examples=60)
# For the mutants, where a failure is wanted and its smallest example is not.
settings.register_profile(
    "first-failure",
    parent=settings.get_profile("leastnoise"),
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("leastnoise")

# Solutions are kept for one run of the tests, and never read from the cache of whoever runs them.
_CACHE = tempfile.TemporaryDirectory(prefix="leastnoise-")
os.environ["LEASTNOISE_CACHE"] = _CACHE.name


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


def released(values: Any, grid: Grid, noise: LatticeNoise, tape: Any, *, integer: bool) -> Any:
    """Release an array by a tape of one's own: checked, then drawn."""
    return prepare_array(values, grid, noise.scheme, tape, integer=integer)()


@pytest.fixture(scope="session")
def replay() -> type[Replay]:
    """The replaying tape."""
    return Replay
