"""Exact samplers: random bits from one source, and exact integers from random bits.

Coins and samplers of joint noise are loaded on first use: only selections, and releases of several
numbers, need them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
    from leastnoise.core.sampling.joint import GrowingBoxes, JointScheme, MarginalScheme

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
    "MarginalScheme",
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
    "ticket_if_accepted",
    "uniform_below",
    "word_bits",
]


_LATER = {
    "coins": ("DIGIT_BITS", "DOUBT", "Coins", "coins_of"),
    "joint": ("GrowingBoxes", "JointScheme", "MarginalScheme"),
}


def __getattr__(name: str) -> object:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"leastnoise.core.sampling.{module}"), name)
    raise AttributeError(f"module 'leastnoise.core.sampling' has no attribute {name!r}")
