"""Pictures of what lies below: one function a picture, each a Vega-Lite chart by Altair.

Save one with :func:`save`; in a notebook a chart shows itself. Altair comes with the extra
``leastnoise[plots]``.
"""

from leastnoise.plots.budget import budget
from leastnoise.plots.canvas import save
from leastnoise.plots.comparison import compared, cost_by_delta, cost_by_epsilon, save_comparison
from leastnoise.plots.curves import Look, curves
from leastnoise.plots.laws import density, laws, rearrangement

__all__ = [
    "Look",
    "budget",
    "compared",
    "cost_by_delta",
    "cost_by_epsilon",
    "curves",
    "density",
    "laws",
    "rearrangement",
    "save",
    "save_comparison",
]
