"""Find the optimal noise: a guarantee, a sensitivity and a cost in, noise and certificate out.

Finders propose; what they propose is proved by :meth:`leastnoise.certificate.Certificate.check`,
which shares nothing with them but the law and the cost.
"""

from leastnoise.calibration.families import FAMILIES, Approximation, Family, check_family, register
from leastnoise.calibration.finder import find_noise
from leastnoise.calibration.problem import (
    Effort,
    Problem,
    effort_read,
    parse_shape,
    sensitivity_read,
    whole_sensitivity,
)

__all__ = [
    "FAMILIES",
    "Approximation",
    "Effort",
    "Family",
    "Problem",
    "check_family",
    "effort_read",
    "find_noise",
    "parse_shape",
    "register",
    "sensitivity_read",
    "whole_sensitivity",
]
