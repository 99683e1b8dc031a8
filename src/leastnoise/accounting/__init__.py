"""What many noises tell together: privacy losses on a grid, added up in exact integers."""

from leastnoise.accounting.composition import Composition, compose
from leastnoise.accounting.profile import Profile

__all__ = [
    "Composition",
    "Profile",
    "compose",
]
