"""Many mechanisms side by side: compare them, or find the promise that an accuracy needs."""

from leastnoise.planning.accuracy import privacy_for
from leastnoise.planning.comparison import Comparison, compare
from leastnoise.planning.contender import Contender

__all__ = ["Comparison", "Contender", "compare", "privacy_for"]
