"""One promise shared among several answers: found in floats, proved in exact numbers."""

from leastnoise.planning.search.candidates import considered
from leastnoise.planning.search.refusal import impossible

__all__ = [
    "considered",
    "impossible",
]
