"""How private a noise is: δ as a function of ε, over every move of the true answer up to Δ."""

from leastnoise.profiles.decreasing import never_rises, worst_distance
from leastnoise.profiles.profile import Profile
from leastnoise.profiles.promise import keeps

__all__ = ["Profile", "keeps", "never_rises", "worst_distance"]
