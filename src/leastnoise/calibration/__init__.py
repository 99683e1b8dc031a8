"""Find the least noise: a promise, a sensitivity and a cost in, a noise and its certificate out.

Finders propose; what they propose is proved by :meth:`leastnoise.certificate.Certificate.check`,
which shares nothing with them but the law and the cost.
"""

from leastnoise.calibration.families import FAMILIES
from leastnoise.calibration.finding import Effort, find
from leastnoise.calibration.lattice import (
    CELLS,
    lattice_for,
    on_lattice,
    rounded,
    smooth_on_lattice,
    staircase_on_lattice,
    stretched,
)
from leastnoise.calibration.question import Question

__all__ = [
    "CELLS",
    "FAMILIES",
    "Effort",
    "Question",
    "find",
    "lattice_for",
    "on_lattice",
    "rounded",
    "smooth_on_lattice",
    "staircase_on_lattice",
    "stretched",
]
