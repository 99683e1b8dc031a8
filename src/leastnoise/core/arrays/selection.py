"""Permute-and-flip: one of many candidates, chosen by coins that are flipped all at once."""

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
    """Return the place of a candidate: uniformly one of those whose coin lands.

    An error is an integer ≥ 0 of any size, and at least one is 0: that coin always lands.
    A word is read for each coin and one for the choice; a further one only where a coin is in doubt
    or a word is rejected, with a probability below 2⁻⁴⁵ each. All else is the same work for all
    errors.
    """
    landed = np.flatnonzero(flip(errors, coins, tape))
    return int(landed[uniform_below(len(landed), tape)])


def flip(errors: "NDArray[Any]", coins: Coins, tape: Tape) -> "NDArray[np.bool_]":
    """Flip a coin for each error n ≥ 0, which lands with probability e^(−rate·n) exactly.

    Floats take errors beyond ``coins.last`` for that one: no float tells their probabilities from
    it. A word so small that one of these coins could land is in doubt, and settled by n itself.
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
    """Return the probability of each coin of an error up to ``coins.last``, less than 2⁻⁴⁷ off."""
    first, *others = _tables(coins)
    digit = (1 << DIGIT_BITS) - 1
    found: Floats = first[errors & digit]
    for table in others:
        errors = errors >> DIGIT_BITS
        found *= table[errors & digit]
    return found


@lru_cache(maxsize=64)
def _tables(coins: Coins) -> "list[Floats]":
    return [np.array(table) for table in coins.tables]
