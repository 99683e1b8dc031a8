"""Privacy curves: δ as a function of ε, over every shift of the true answer up to Δ.

Each kind of noise has one curve here. A curve depends on the pieces, likelihood ratios or tails of
the noise, not on its family. A family builds its curve in :meth:`Noise.curve`.
"""

from leastnoise.core.profile.curve import Curve, Level, refine
from leastnoise.core.profile.log_concave import LogConcave, LogConcaveCurve, RoundedLogConcaveCurve
from leastnoise.core.profile.piecewise import (
    PiecewiseCurve,
    Shape,
    StaircaseCurve,
    check_periods,
    check_staircase_work,
)

__all__ = [
    "Curve",
    "Level",
    "LogConcave",
    "LogConcaveCurve",
    "PiecewiseCurve",
    "RoundedLogConcaveCurve",
    "Shape",
    "StaircaseCurve",
    "check_periods",
    "check_staircase_work",
    "refine",
]
