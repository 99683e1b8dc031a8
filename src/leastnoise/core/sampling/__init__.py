"""Draw: bits from one source, one exact integer from bits, many of them with numpy."""

from leastnoise.core.sampling.entropy import SYSTEM, WORD, CipherTape, Tape
from leastnoise.core.sampling.geometric import Digit, geometric
from leastnoise.core.sampling.inversion import float_runs, inverted
from leastnoise.core.sampling.quantile import (
    BUCKET_BITS,
    Polynomials,
    fits,
    prepared,
    reach_of,
    rounded,
)
from leastnoise.core.sampling.sampler import both_sides, draw, ticket, way, word_bits

__all__ = [
    "BUCKET_BITS",
    "SYSTEM",
    "WORD",
    "CipherTape",
    "Digit",
    "Polynomials",
    "Tape",
    "both_sides",
    "draw",
    "fits",
    "float_runs",
    "geometric",
    "inverted",
    "prepared",
    "reach_of",
    "rounded",
    "ticket",
    "way",
    "word_bits",
]
