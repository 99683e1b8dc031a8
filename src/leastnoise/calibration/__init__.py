"""Find the optimal noise: a guarantee, a sensitivity and a cost in, noise and certificate out.

Finders propose noise, and :meth:`leastnoise.certificate.Certificate.verify` proves the proposals.
It shares nothing with the finders but the distribution and the cost.
"""

from leastnoise.calibration.families import FAMILIES, Approximation, Family, check_family, register
from leastnoise.calibration.finder import find_noise
from leastnoise.calibration.joint import find_joint
from leastnoise.calibration.problem import (
    Effort,
    Problem,
    parse_effort,
    parse_exact_sensitivity,
    parse_sensitivity,
    parse_shape,
)
from leastnoise.calibration.sources import format_source

__all__ = [
    "FAMILIES",
    "Approximation",
    "Effort",
    "Family",
    "Problem",
    "check_family",
    "find_joint",
    "find_noise",
    "format_source",
    "parse_effort",
    "parse_exact_sensitivity",
    "parse_sensitivity",
    "parse_shape",
    "register",
]
