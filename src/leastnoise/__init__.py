"""Differential privacy with certified noise: exact guarantees, and proved distance from optimal.

>>> import leastnoise as ln
>>> mechanism = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1)
>>> mechanism.noise
Uniform(radius=5, atom=0)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leastnoise import errors, noise
    from leastnoise import events as events
    from leastnoise import testing as testing
    from leastnoise.accounting import Profile, compose
    from leastnoise.certificate import Certificate
    from leastnoise.core.privacy import Privacy
    from leastnoise.costs import Cost, l1, l2, lp, piecewise_linear, threshold
    from leastnoise.ledger import UNRECORDED, Ledger
    from leastnoise.mechanism import Answer, Answers, Mechanism, calibrate
    from leastnoise.noise import Noise, Steps
    from leastnoise.planning import NumericQuery, compare, plan, privacy_for
    from leastnoise.tables import (
        ClippedShare,
        Count,
        EstimateBounds,
        Histogram,
        Max,
        Mean,
        Min,
        Quantile,
        Std,
        Sum,
        Variance,
        col,
        protect,
    )

__version__ = "0.6.0.dev0"

__all__ = [
    "UNRECORDED",
    "Answer",
    "Answers",
    "Certificate",
    "ClippedShare",
    "Cost",
    "Count",
    "EstimateBounds",
    "Histogram",
    "Ledger",
    "Max",
    "Mean",
    "Mechanism",
    "Min",
    "Noise",
    "NumericQuery",
    "Privacy",
    "Profile",
    "Quantile",
    "Std",
    "Steps",
    "Sum",
    "Variance",
    "calibrate",
    "col",
    "compare",
    "compose",
    "errors",
    "l1",
    "l2",
    "lp",
    "noise",
    "piecewise_linear",
    "plan",
    "privacy_for",
    "protect",
    "threshold",
]

# The module of each name, except for table queries, which are registered. A name is loaded on first
# use, so that `import leastnoise` is immediate, also in programs that only catch its errors.
_HOMES = {
    "accounting": ("Profile", "compose"),
    "certificate": ("Certificate",),
    "core.privacy": ("Privacy",),
    "costs": ("Cost", "l1", "l2", "lp", "piecewise_linear", "threshold"),
    "ledger": ("UNRECORDED", "Ledger"),
    "mechanism": ("Answer", "Answers", "Mechanism", "calibrate"),
    "noise": ("Noise", "Steps"),
    "planning": ("NumericQuery", "compare", "plan", "privacy_for"),
    "tables": ("col", "protect"),
}
_MODULES = ("errors", "noise")
_FOR_SERVICES = ("events", "testing")  # not in __all__: most programs need neither
# Names that were here up to 0.5.0, with their new places. Each use warns.
_MOVED = {
    "Comparison": "leastnoise.planning:Comparison",
    "Composition": "leastnoise.accounting:Composition",
    "DiscreteUniform": "leastnoise.noise:DiscreteUniform",
    "Gaussian": "leastnoise.noise:Gaussian",
    "Laplace": "leastnoise.noise:Laplace",
    "Plan": "leastnoise.planning:Plan",
    "Protected": "leastnoise.tables:ProtectedTable",
    "Rearrangement": "leastnoise.paper:Rearrangement",
    "Staircase": "leastnoise.noise:Staircase",
    "TruncatedLaplace": "leastnoise.noise:TruncatedLaplace",
    "Uniform": "leastnoise.noise:Uniform",
    "Wanted": "leastnoise:NumericQuery",
    "calibrate_pair": "leastnoise.mechanism:calibrate_pair",
    "hold": "leastnoise:Mechanism.from_noise",
    "points": "leastnoise:piecewise_linear",
    "rearrange": "leastnoise.paper:rearrange",
    "symmetrised": "leastnoise.paper:symmetrize",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    if name in (*_MODULES, *_FOR_SERVICES):
        return import_module(f"leastnoise.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"leastnoise.{home}"), name)
            globals()[name] = value
            return value
    if name in _MOVED:
        from leastnoise.deprecation import renamed_names

        return renamed_names(__name__, _MOVED)(name)
    if not name.startswith("_"):
        from leastnoise.tables import QUERIES  # loads only the names of the table queries

        for query in QUERIES.values():
            if query.class_name == name:
                return query.load()
    raise AttributeError(f"module 'leastnoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return [*__all__, "__version__"]
