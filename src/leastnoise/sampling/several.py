"""Several exact indices of one law: one by one, or with numpy where there are many."""

from leastnoise.noise import LatticeNoise
from leastnoise.sampling.draws import way
from leastnoise.sampling.entropy import SYSTEM, CipherTape

# From so many on, arrays take less time.
_MANY = 200


def several(law: LatticeNoise, count: int) -> list[int]:
    """Return so many independent indices, each with exactly the probability the law gives it."""
    if count >= _MANY:
        from leastnoise.sampling import bulk  # numpy, on first use

        if bulk.fits(law):
            return bulk.whole(law, count, CipherTape())
    drawn = way(law)
    return [drawn(SYSTEM) for _ in range(count)]
