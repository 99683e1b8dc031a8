"""A noise with the promise it keeps, and the answers it gives."""

from leastnoise.mechanism.answer import Answer, Answers, farthest, half_width, recorded_as
from leastnoise.mechanism.factory import calibrate, hold
from leastnoise.mechanism.mechanism import Drawn, Mechanism, proving
from leastnoise.mechanism.pair import PairAnswer, PairMechanism, calibrate_pair
from leastnoise.mechanism.storage import NUMBERS

__all__ = [
    "NUMBERS",
    "Answer",
    "Answers",
    "Drawn",
    "Mechanism",
    "PairAnswer",
    "PairMechanism",
    "calibrate",
    "calibrate_pair",
    "farthest",
    "half_width",
    "hold",
    "proving",
    "recorded_as",
]
