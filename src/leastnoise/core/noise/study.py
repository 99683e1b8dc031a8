"""Sample noise for study, into arrays of floats. No release uses this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leastnoise.core.arrays import draw_floats
from leastnoise.core.exact import parse_count, quote
from leastnoise.core.sampling import CipherTape, Scheme, Tape
from leastnoise.core.seeded import SeededTape
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


def _draw(n: int, sampler: Sampler, tape: Tape) -> Floats:
    size = parse_count(n, "n", least=0)
    if size > LARGEST_SAMPLE:
        raise InvalidParameter(
            f"n must be at most 2³¹ = {LARGEST_SAMPLE}",
            got=quote(n),
            fix="Sample in several calls.",
        )
    return draw_floats(*sampler, size=size, tape=tape)
