"""Find the least noise: a promise, a sensitivity and a cost in, a noise and its certificate out.

Finders propose; what they propose is proved by :meth:`leastnoise.certificate.Certificate.check`,
which shares nothing with them but the law and the cost.
"""

from leastnoise.calibration.families import FAMILIES
from leastnoise.calibration.finder import find_noise
from leastnoise.calibration.lattice import (
    lattice_law,
    on_lattice,
    rounded,
    smooth_on_lattice,
    staircase_on_lattice,
    stretched,
)
from leastnoise.calibration.problem import (
    Effort,
    Problem,
    class_read,
    effort_read,
    sensitivity_read,
)

__all__ = [
    "FAMILIES",
    "Effort",
    "Problem",
    "class_read",
    "effort_read",
    "find_noise",
    "lattice_law",
    "on_lattice",
    "rounded",
    "sensitivity_read",
    "smooth_on_lattice",
    "staircase_on_lattice",
    "stretched",
]
