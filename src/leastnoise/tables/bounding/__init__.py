"""Bounded integer sums of rows: clipping, rounding, contribution bounds and sensitivities."""

from leastnoise.tables.bounding.bins import Bins, divide, is_read_as_double
from leastnoise.tables.bounding.bounding import Selection, Summed
from leastnoise.tables.bounding.lattice import Lattice, parse_bounds
from leastnoise.tables.bounding.names import among
from leastnoise.tables.bounding.round_bins import RoundBins
from leastnoise.tables.bounding.sensitivity import ADD_REMOVE, REPLACE, Contribution
from leastnoise.tables.bounding.squares import Squares

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "Bins",
    "Contribution",
    "Lattice",
    "RoundBins",
    "Selection",
    "Squares",
    "Summed",
    "among",
    "divide",
    "is_read_as_double",
    "parse_bounds",
]
