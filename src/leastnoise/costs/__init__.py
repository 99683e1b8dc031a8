"""What an error costs: ``l1``, ``l2``, ``lp``, ``threshold``, ``points``, or any function.

A cost L is a function of the size |x| of an error x that never falls as the size grows
(GDGK19, Property 1). Each file states one kind of cost by its values and its integral; everything
else (expected costs, least noise, certificates) is computed from those two.
"""

from fractions import Fraction
from typing import Final

from leastnoise.costs.cost import Cost, added, as_cost
from leastnoise.costs.points import Points, points
from leastnoise.costs.power import Power, lp
from leastnoise.costs.tabled import Recording, Tabled
from leastnoise.costs.threshold import Threshold, threshold

l1: Final = Power(Fraction(1))
l2: Final = Power(Fraction(2))

__all__ = [
    "Cost",
    "Points",
    "Power",
    "Recording",
    "Tabled",
    "Threshold",
    "added",
    "as_cost",
    "l1",
    "l2",
    "lp",
    "points",
    "threshold",
]
