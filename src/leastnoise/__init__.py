"""leastnoise: differential privacy with little noise, and a proof of how little.

>>> import leastnoise as ln
>>> mechanism = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1)
>>> mechanism.noise
Uniform(radius=5, atom=0)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leastnoise import errors
    from leastnoise.accounting import Composition, Profile, compose
    from leastnoise.certificate import Certificate
    from leastnoise.core.privacy import Privacy
    from leastnoise.costs import Cost, l1, l2, lp, points, threshold
    from leastnoise.ledger import UNRECORDED, Ledger
    from leastnoise.mechanism import Answer, Answers, Mechanism, calibrate, calibrate_pair, hold
    from leastnoise.noise import (
        DiscreteUniform,
        Gaussian,
        Laplace,
        Noise,
        Staircase,
        Steps,
        TruncatedLaplace,
        Uniform,
    )
    from leastnoise.paper import Rearrangement, rearrange, symmetrised
    from leastnoise.planning import Comparison, Plan, Wanted, compare, plan, privacy_for
    from leastnoise.tables import Count, Histogram, Mean, Protected, Quantile, Sum, protect

__version__ = "0.6.0.dev0"

__all__ = [
    "UNRECORDED",
    "Answer",
    "Answers",
    "Certificate",
    "Comparison",
    "Composition",
    "Cost",
    "Count",
    "DiscreteUniform",
    "Gaussian",
    "Histogram",
    "Laplace",
    "Ledger",
    "Mean",
    "Mechanism",
    "Noise",
    "Plan",
    "Privacy",
    "Profile",
    "Protected",
    "Quantile",
    "Rearrangement",
    "Staircase",
    "Steps",
    "Sum",
    "TruncatedLaplace",
    "Uniform",
    "Wanted",
    "calibrate",
    "calibrate_pair",
    "compare",
    "compose",
    "errors",
    "hold",
    "l1",
    "l2",
    "lp",
    "plan",
    "points",
    "privacy_for",
    "protect",
    "rearrange",
    "symmetrised",
    "threshold",
]

# Where each name comes from, but for the table queries, which are registered. They are loaded when
# first asked for, so that `import leastnoise` is immediate, also inside programs that only catch
# its errors.
_HOMES = {
    "accounting": ("Composition", "Profile", "compose"),
    "certificate": ("Certificate",),
    "core.privacy": ("Privacy",),
    "costs": ("Cost", "l1", "l2", "lp", "points", "threshold"),
    "ledger": ("UNRECORDED", "Ledger"),
    "mechanism": ("Answer", "Answers", "Mechanism", "calibrate", "calibrate_pair", "hold"),
    "noise": (
        "DiscreteUniform",
        "Gaussian",
        "Laplace",
        "Noise",
        "Staircase",
        "Steps",
        "TruncatedLaplace",
        "Uniform",
    ),
    "paper": ("Rearrangement", "rearrange", "symmetrised"),
    "planning": ("Comparison", "Plan", "Wanted", "compare", "plan", "privacy_for"),
    "tables": ("Protected", "protect"),
}


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    if name == "errors":
        return import_module("leastnoise.errors")
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(import_module(f"leastnoise.{home}"), name)
            globals()[name] = found
            return found
    if not name.startswith("_"):
        from leastnoise.tables import QUERIES  # light: the names of the registered table queries

        for query in QUERIES.values():
            if query.class_name == name:
                return query.load()
    raise AttributeError(f"module 'leastnoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return [*__all__, "__version__"]
