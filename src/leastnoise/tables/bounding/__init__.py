"""Whole numbers from rows: clamped and rounded, of each unit so much, and what one can move."""

from leastnoise.tables.bounding.bounding import Bounding, Summed
from leastnoise.tables.bounding.keys import among
from leastnoise.tables.bounding.lattice import Lattice, bounds_read
from leastnoise.tables.bounding.sensitivity import ADD_REMOVE, REPLACE, Reach

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "Bounding",
    "Lattice",
    "Reach",
    "Summed",
    "among",
    "bounds_read",
]
