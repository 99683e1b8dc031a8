"""A noise with the promise it keeps, and the answers it gives."""

from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.drawn import Drawn
from leastnoise.mechanism.mechanism import Mechanism, calibrate, hold
from leastnoise.mechanism.pair import PairAnswer, PairMechanism, calibrate_pair

__all__ = [
    "Answer",
    "Answers",
    "Drawn",
    "Mechanism",
    "PairAnswer",
    "PairMechanism",
    "calibrate",
    "calibrate_pair",
    "hold",
]
