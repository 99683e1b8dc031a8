"""Figures as Vega-Lite charts of Altair, one function each.

Save a chart with :func:`save`; a notebook shows it directly. Install Altair with
``pip install 'leastnoise[plots]'``.
"""

from leastnoise.deprecation import renamed_names
from leastnoise.plots.answers import answer
from leastnoise.plots.canvas import apply_style, load_altair, load_renderer, make_title, save
from leastnoise.plots.comparison import (
    cost_by_delta,
    cost_by_epsilon,
    density_by_family,
    save_comparison,
)
from leastnoise.plots.densities import Look, curves, density, distributions, layer_densities
from leastnoise.plots.panels import Mass, Panel, Piece, draw_panels
from leastnoise.plots.planning import plan_errors
from leastnoise.plots.spending import budget

__all__ = [
    "Look",
    "Mass",
    "Panel",
    "Piece",
    "answer",
    "apply_style",
    "budget",
    "cost_by_delta",
    "cost_by_epsilon",
    "curves",
    "density",
    "density_by_family",
    "distributions",
    "draw_panels",
    "layer_densities",
    "load_altair",
    "load_renderer",
    "make_title",
    "plan_errors",
    "save",
    "save_comparison",
]

__getattr__ = renamed_names(
    __name__,
    {
        "compared": "leastnoise.plots:density_by_family",
        "laws": "leastnoise.plots:distributions",
        "library": "leastnoise.plots:load_altair",
        "styled": "leastnoise.plots:apply_style",
        "titled": "leastnoise.plots:make_title",
    },
)
