"""Permute-and-flip with numpy: all coins are flipped at once."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.core.arrays.lookup import WordReader, to_unsigned
from leastnoise.core.sampling import DIGIT_BITS, DOUBT, WORD, Coins, Tape, uniform_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]


def choose(errors: "NDArray[Any]", coins: Coins, tape: Tape) -> int:
    """Pick uniformly among candidates whose coin landed; return the place of the pick.

    An error is an integer ≥ 0 of any size, and at least one is 0: that coin always lands.
    One word is read for each coin and one for the choice. A further word is read only if a coin is
    in doubt or a word is rejected, each with a probability below 2⁻⁴⁵. Otherwise the work does not
    depend on the errors.
    """
    landed = np.flatnonzero(flip(errors, coins, tape))
    return int(landed[uniform_below(len(landed), tape)])


def flip(errors: "NDArray[Any]", coins: Coins, tape: Tape) -> "NDArray[np.bool_]":
    """Flip a coin for each error n ≥ 0, which lands with probability e^(−rate·n) exactly.

    Floats replace errors beyond ``coins.last`` by ``coins.last``, because they cannot distinguish
    the probabilities. A word so small that one of these coins could land is in doubt, and is
    decided by n itself.
    """
    words = WordReader().read(tape, len(errors))
    near = np.minimum(errors, coins.last).astype(np.int64, copy=False)
    gaps = probabilities(near, coins) - (words * 2.0**-WORD + 0.5)
    landed: NDArray[np.bool_] = gaps > 0
    doubtful = np.flatnonzero(np.abs(gaps) < DOUBT)
    settled = zip(doubtful.tolist(), to_unsigned(words[doubtful]).tolist(), strict=True)
    for place, word in settled:
        landed[place] = coins.lands(int(errors[place]), word, tape)
    return landed


def probabilities(errors: "Integers", coins: Coins) -> "Floats":
    """Return the probability of the coin of each error ≤ ``coins.last``, to within 2⁻⁴⁷."""
    lowest, *higher = _tables(coins)
    digit = (1 << DIGIT_BITS) - 1
    products: Floats = lowest[errors & digit]
    for table in higher:
        errors = errors >> DIGIT_BITS
        products *= table[errors & digit]
    return products


@lru_cache(maxsize=64)
def _tables(coins: Coins) -> "list[Floats]":
    return [np.array(table) for table in coins.tables]
