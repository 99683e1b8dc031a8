"""How private a noise is: δ as a function of ε, over every move of the true answer up to Δ."""

from leastnoise.core.profile.curve import Curve, Level, refine
from leastnoise.core.profile.piecewise import PiecewiseCurve, Shape, shape_of
from leastnoise.core.profile.promise import check_privacy, curve_of, is_unimodal, total_variation
from leastnoise.core.profile.smooth import LogConcaveCurve, RoundedLogConcaveCurve
from leastnoise.core.profile.staircase import StaircaseCurve, lattice_ratios, line_ratios

__all__ = [
    "Curve",
    "Level",
    "LogConcaveCurve",
    "PiecewiseCurve",
    "RoundedLogConcaveCurve",
    "Shape",
    "StaircaseCurve",
    "check_privacy",
    "curve_of",
    "is_unimodal",
    "lattice_ratios",
    "line_ratios",
    "refine",
    "shape_of",
    "total_variation",
]
