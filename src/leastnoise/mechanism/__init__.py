"""Mechanisms: noise with its guarantee, and the answers that it releases."""

from leastnoise.mechanism.answer import Answer, Answers, farthest, half_width, recorded_as
from leastnoise.mechanism.factory import calibrate, calibrate_problem, hold
from leastnoise.mechanism.mechanism import Drawn, Mechanism, check_allow_exact, proving
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
    "calibrate_problem",
    "check_allow_exact",
    "farthest",
    "half_width",
    "hold",
    "proving",
    "recorded_as",
]
