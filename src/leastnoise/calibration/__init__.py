"""Find the optimal noise: a guarantee, a sensitivity and a cost in, noise and certificate out.

Finders propose; what they propose is proved by :meth:`leastnoise.certificate.Certificate.verify`,
which shares nothing with them but the law and the cost.
"""

from leastnoise.calibration.families import FAMILIES, Approximation, Family, check_family, register
from leastnoise.calibration.finder import find_noise
from leastnoise.calibration.problem import (
    Effort,
    Problem,
    parse_effort,
    parse_sensitivity,
    parse_shape,
    whole_sensitivity,
)

__all__ = [
    "FAMILIES",
    "Approximation",
    "Effort",
    "Family",
    "Problem",
    "check_family",
    "find_noise",
    "parse_effort",
    "parse_sensitivity",
    "parse_shape",
    "register",
    "whole_sensitivity",
]
