"""Figures as Vega-Lite charts of Altair, one function each.

Save a chart with :func:`save`; a notebook shows it directly. Install Altair with
``pip install 'leastnoise[plots]'``.
"""

from leastnoise.plots.canvas import library, save, styled, titled
from leastnoise.plots.comparison import compared, cost_by_delta, cost_by_epsilon, save_comparison
from leastnoise.plots.densities import Look, _laws, curves, density, laws
from leastnoise.plots.spending import budget

__all__ = [
    "Look",
    "_laws",
    "budget",
    "compared",
    "cost_by_delta",
    "cost_by_epsilon",
    "curves",
    "density",
    "laws",
    "library",
    "save",
    "save_comparison",
    "styled",
    "titled",
]
