"""Release two answers at once."""

from leastnoise.mechanism.pair.mechanism import PairAnswer, PairMechanism, calibrate_pair

__all__ = [
    "PairAnswer",
    "PairMechanism",
    "calibrate_pair",
]
