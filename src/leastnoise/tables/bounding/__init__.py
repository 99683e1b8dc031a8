"""Integers from rows: values clipped and rounded, contributions bounded, and sensitivities."""

from leastnoise.tables.bounding.bounding import Bounding, Summed
from leastnoise.tables.bounding.keys import among
from leastnoise.tables.bounding.lattice import Lattice, parse_bounds
from leastnoise.tables.bounding.sensitivity import ADD_REMOVE, REPLACE, Contribution

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "Bounding",
    "Contribution",
    "Lattice",
    "Summed",
    "among",
    "parse_bounds",
]
