"""Exact samplers: random bits from one source, and exact integers from random bits.

Coins are loaded on first use, because only a selection flips them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from leastnoise.core.sampling.entropy import SYSTEM, WORD, CipherTape, Tape
from leastnoise.core.sampling.joint import GrowingBoxes, JointScheme, sum_growing
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
    ticket_if_accepted,
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

if TYPE_CHECKING:
    from leastnoise.core.sampling.coins import DIGIT_BITS, DOUBT, Coins, coins_of

__all__ = [
    "BUCKET_BITS",
    "DIGIT_BITS",
    "DOUBT",
    "LARGEST_REACH",
    "SYSTEM",
    "WORD",
    "CipherTape",
    "Coins",
    "DigitTable",
    "GrowingBoxes",
    "JointScheme",
    "Polynomials",
    "QuantileScheme",
    "RunScheme",
    "Scheme",
    "StaircaseScheme",
    "Tape",
    "TicketScheme",
    "cell_scheme",
    "coins_of",
    "draw_exactly",
    "geometric",
    "quantile_scheme",
    "run_scheme",
    "staircase_scheme",
    "sum_growing",
    "ticket_if_accepted",
    "uniform_below",
    "word_bits",
]


def __getattr__(name: str) -> object:
    if name in ("DIGIT_BITS", "DOUBT", "Coins", "coins_of"):
        return getattr(import_module("leastnoise.core.sampling.coins"), name)
    raise AttributeError(f"module 'leastnoise.core.sampling' has no attribute {name!r}")
