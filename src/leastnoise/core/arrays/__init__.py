"""The same indices for whole arrays: floats propose, exact numbers settle."""

from leastnoise.core.arrays.draw import draw_integers
from leastnoise.core.arrays.release import prepare_array, saturating_add
from leastnoise.core.arrays.selection import choose

__all__ = ["choose", "draw_integers", "prepare_array", "saturating_add"]
