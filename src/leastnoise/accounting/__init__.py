"""What one release, and what several together, reveal."""

from leastnoise.accounting.composition import Composition, Releasing, compose
from leastnoise.accounting.parts import has_loss_curve
from leastnoise.accounting.profile import Profile

__all__ = ["Composition", "Profile", "Releasing", "compose", "has_loss_curve"]
