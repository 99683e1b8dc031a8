"""The same indices for whole arrays: floats propose, exact numbers settle."""

from leastnoise.core.arrays.release import FloatRounding, added, releasing

__all__ = [
    "FloatRounding",
    "added",
    "releasing",
]
