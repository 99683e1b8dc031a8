"""How private a noise is: the distance between it and itself moved, over every allowed move."""

from leastnoise.profiles.decreasing import keeps, worst_distance

__all__ = ["keeps", "worst_distance"]
