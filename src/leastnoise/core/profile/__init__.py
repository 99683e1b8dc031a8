"""How private a noise is: δ as a function of ε, over every move of the true answer up to Δ."""

from leastnoise.core.profile.curve import Curve, Level, narrowed
from leastnoise.core.profile.piecewise import Finite, Shape, shape_of
from leastnoise.core.profile.promise import curve_of, keeps, never_rises, worst_distance
from leastnoise.core.profile.smooth import HalfLines, RoundedHalfLines
from leastnoise.core.profile.staircase import Ratios, lattice_ratios, line_ratios

__all__ = [
    "Curve",
    "Finite",
    "HalfLines",
    "Level",
    "Ratios",
    "RoundedHalfLines",
    "Shape",
    "curve_of",
    "keeps",
    "lattice_ratios",
    "line_ratios",
    "narrowed",
    "never_rises",
    "shape_of",
    "worst_distance",
]
