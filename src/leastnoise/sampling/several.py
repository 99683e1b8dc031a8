"""Several exact indices of one law: one by one, or with numpy where there are many."""

import sys

from leastnoise.noise import LatticeNoise
from leastnoise.sampling.draws import way
from leastnoise.sampling.entropy import SYSTEM

# From so many on arrays take less time; and from so many on even if numpy has to be loaded for it.
# The bits are the system's in either case: to load a cipher would take more memory than a query.
_MANY, _VERY_MANY = 200, 50_000


def several(law: LatticeNoise, count: int) -> list[int]:
    """Return so many independent indices, each with exactly the probability the law gives it."""
    if count >= (_MANY if "numpy" in sys.modules else _VERY_MANY):
        from leastnoise.sampling import bulk

        if bulk.fits(law):
            return bulk.whole(law, count, SYSTEM)
    drawn = way(law)
    return [drawn(SYSTEM) for _ in range(count)]
