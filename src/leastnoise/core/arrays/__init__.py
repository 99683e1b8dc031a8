"""Noise and selection for arrays: floats propose indices, exact numbers decide in doubt."""

from leastnoise.core.arrays.draw import draw_floats, draw_integers
from leastnoise.core.arrays.joint import draw_joint
from leastnoise.core.arrays.release import prepare_array, saturating_add
from leastnoise.core.arrays.selection import choose

__all__ = [
    "choose",
    "draw_floats",
    "draw_integers",
    "draw_joint",
    "prepare_array",
    "saturating_add",
]
