"""Integers from rows: values clipped and rounded, contributions bounded, and sensitivities."""

from leastnoise.tables.bounding.bounding import Selection, Summed, among
from leastnoise.tables.bounding.cells import Cells, divide, is_read_as_double
from leastnoise.tables.bounding.lattice import Lattice, parse_bounds
from leastnoise.tables.bounding.sensitivity import ADD_REMOVE, REPLACE, Contribution

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "Cells",
    "Contribution",
    "Lattice",
    "Selection",
    "Summed",
    "among",
    "divide",
    "is_read_as_double",
    "parse_bounds",
]
