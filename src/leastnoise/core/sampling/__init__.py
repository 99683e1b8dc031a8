"""Exact samplers: random bits from one source, and exact integers from random bits."""

from leastnoise.core.sampling.entropy import SYSTEM, WORD, CipherTape, Tape
from leastnoise.core.sampling.quantile import (
    BUCKET_BITS,
    LARGEST_REACH,
    Polynomials,
    QuantileScheme,
    quantile_scheme,
)
from leastnoise.core.sampling.schemes import (
    RunScheme,
    Scheme,
    TicketScheme,
    draw_exactly,
    run_scheme,
    uniform_below,
    word_bits,
)
from leastnoise.core.sampling.staircase import (
    DigitTable,
    StaircaseScheme,
    cell_scheme,
    geometric,
    staircase_scheme,
)

__all__ = [
    "BUCKET_BITS",
    "LARGEST_REACH",
    "SYSTEM",
    "WORD",
    "CipherTape",
    "DigitTable",
    "Polynomials",
    "QuantileScheme",
    "RunScheme",
    "Scheme",
    "StaircaseScheme",
    "Tape",
    "TicketScheme",
    "cell_scheme",
    "draw_exactly",
    "geometric",
    "quantile_scheme",
    "run_scheme",
    "staircase_scheme",
    "uniform_below",
    "word_bits",
]
