"""Compute the privacy loss of one release and of several.

Composition is loaded on first use, because calibrating and releasing do not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from leastnoise.accounting.profile import Composable, Profile

if TYPE_CHECKING:
    from leastnoise.accounting.composition import Composition, compose
    from leastnoise.accounting.parts import has_loss_curve

__all__ = ["Composable", "Composition", "Profile", "compose", "has_loss_curve"]


def __getattr__(name: str) -> object:
    home = {"Composition": "composition", "compose": "composition", "has_loss_curve": "parts"}
    if name in home:
        return getattr(import_module(f"leastnoise.accounting.{home[name]}"), name)
    raise AttributeError(f"module 'leastnoise.accounting' has no attribute {name!r}")
