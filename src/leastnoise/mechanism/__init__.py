"""Mechanisms: noise with its guarantee, and the answers that it releases."""

from leastnoise.mechanism.answer import (
    Answer,
    Answers,
    exact_release,
    farthest,
    format_errors,
    format_value,
    half_width,
    max_error_words,
    recorded_as,
    reused_line,
)
from leastnoise.mechanism.factory import calibrate, calibrate_problem, hold
from leastnoise.mechanism.mechanism import Drawn, Mechanism, check_allow_exact, proving
from leastnoise.mechanism.pair import PairAnswer, PairMechanism, calibrate_pair
from leastnoise.mechanism.selection import AnyMechanism, PermuteAndFlip, as_noise
from leastnoise.mechanism.storage import numbers

__all__ = [
    "Answer",
    "Answers",
    "AnyMechanism",
    "Drawn",
    "Mechanism",
    "PairAnswer",
    "PairMechanism",
    "PermuteAndFlip",
    "as_noise",
    "calibrate",
    "calibrate_pair",
    "calibrate_problem",
    "check_allow_exact",
    "exact_release",
    "farthest",
    "format_errors",
    "format_value",
    "half_width",
    "hold",
    "max_error_words",
    "numbers",
    "proving",
    "recorded_as",
    "reused_line",
]
