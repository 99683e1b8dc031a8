"""Mechanisms: noise with a verified guarantee, and the answers that it releases."""

from leastnoise.core.joint_release import JointRows
from leastnoise.deprecation import renamed_names
from leastnoise.mechanism.answer import Answer, Answers, format_errors, format_value
from leastnoise.mechanism.answer_text import (
    ANOTHER_VALUE,
    format_brief,
    max_error_words,
    recorded_as,
    reused_facts,
    reused_lines,
)
from leastnoise.mechanism.discretized import Discretized
from leastnoise.mechanism.factory import calibrate, calibrate_problem
from leastnoise.mechanism.figures import (
    EXACT,
    INTERVAL,
    USE_ROWS,
    USUAL,
    Figure,
    Figures,
    Ratio,
    figures_to_json,
    float_above,
    float_below,
    float_near,
)
from leastnoise.mechanism.joint import JointMechanism, JointPart, find_blocks
from leastnoise.mechanism.joint_answers import JointAnswers
from leastnoise.mechanism.joint_factory import calibrate_joint
from leastnoise.mechanism.mechanism import Mechanism
from leastnoise.mechanism.mechanism_text import explain_exact_release, format_accuracy
from leastnoise.mechanism.pair import PairAnswer, PairMechanism, calibrate_pair
from leastnoise.mechanism.release_errors import (
    exact_release,
    farthest,
    half_width,
    interval_figures,
)
from leastnoise.mechanism.revealing import check_allow_exact, revealing_probability
from leastnoise.mechanism.selection import AnyMechanism, PermuteAndFlip, as_noise
from leastnoise.mechanism.storage import numbers
from leastnoise.mechanism.value_methods import ReleasedValue, document_head, json_text
from leastnoise.mechanism.vector import VectorAnswers, VectorMechanism, calibrate_vector

__all__ = [
    "ANOTHER_VALUE",
    "EXACT",
    "INTERVAL",
    "USE_ROWS",
    "USUAL",
    "Answer",
    "Answers",
    "AnyMechanism",
    "Discretized",
    "Figure",
    "Figures",
    "JointAnswers",
    "JointMechanism",
    "JointPart",
    "JointRows",
    "Mechanism",
    "PairAnswer",
    "PairMechanism",
    "PermuteAndFlip",
    "Ratio",
    "ReleasedValue",
    "VectorAnswers",
    "VectorMechanism",
    "as_noise",
    "calibrate",
    "calibrate_joint",
    "calibrate_pair",
    "calibrate_problem",
    "calibrate_vector",
    "check_allow_exact",
    "document_head",
    "exact_release",
    "explain_exact_release",
    "farthest",
    "figures_to_json",
    "find_blocks",
    "float_above",
    "float_below",
    "float_near",
    "format_accuracy",
    "format_brief",
    "format_errors",
    "format_value",
    "half_width",
    "interval_figures",
    "json_text",
    "max_error_words",
    "numbers",
    "recorded_as",
    "reused_facts",
    "reused_lines",
    "revealing_probability",
]

__getattr__ = renamed_names(
    __name__,
    {
        "Drawn": "leastnoise.mechanism:Discretized",
        "hold": "leastnoise.mechanism:Mechanism.from_noise",
    },
)
