"""Costs of an error, and the expected cost of noise."""

from leastnoise.costs.cost import Cost, as_cost, has_expectation
from leastnoise.costs.fit import are_well_formed, find_fitting
from leastnoise.costs.piecewise import Points, Threshold, piecewise_linear, threshold
from leastnoise.costs.power import Power, l1, l2, lp
from leastnoise.costs.recorded import RecordingCost, Tabled
from leastnoise.deprecation import renamed_names

__all__ = [
    "Cost",
    "Points",
    "Power",
    "RecordingCost",
    "Tabled",
    "Threshold",
    "are_well_formed",
    "as_cost",
    "find_fitting",
    "has_expectation",
    "l1",
    "l2",
    "lp",
    "piecewise_linear",
    "threshold",
]

__getattr__ = renamed_names(__name__, {"points": "leastnoise.costs:piecewise_linear"})
